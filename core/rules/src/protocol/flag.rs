//! Errors in flags of components.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::release::KubernetesRelease;

/// Error in a flag. The configuration stays as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagError {
    /// No flag has this name.
    Unknown {
        /// The name.
        name: String,
        /// Flags of this release.
        known: Vec<&'static str>,
    },
    /// The release does not have the flag.
    Absent {
        /// The name.
        name: &'static str,
        /// The release.
        release: KubernetesRelease,
    },
    /// The value is invalid.
    Value {
        /// The name.
        name: &'static str,
        /// The value.
        value: String,
        /// Description of valid values.
        expected: String,
    },
}

impl fmt::Display for FlagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                write!(
                    f,
                    "unknown flag: --{name}; the flags known here are --{}",
                    known.join(", --")
                )
            }
            Self::Absent { name, release } => {
                write!(
                    f,
                    "unknown flag: --{name}; Kubernetes {release} does not have it (1.26 was the last)"
                )
            }
            Self::Value { name, value, expected } => {
                write!(f, "invalid argument \"{value}\" for \"--{name}\" flag: must be {expected}")
            }
        }
    }
}

impl core::error::Error for FlagError {}
