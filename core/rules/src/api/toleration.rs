//! Tolerations of a pod.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{TaintEffect, is_default, nullable, string_enum};

string_enum! {
    /// `v1.TolerationOperator`: how a toleration's value is compared with the taint's.
    ///
    /// Empty means `Equal` when matching, but is a different toleration for the API server.
    TolerationOperator {
        /// The values are the same, byte for byte.
        Equal = "Equal",
        /// Any value will do.
        Exists = "Exists",
        /// The taint's value is a number below the toleration's (alpha since 1.35).
        Lt = "Lt",
        /// The taint's value is a number above the toleration's (alpha since 1.35).
        Gt = "Gt",
    }
}

/// `v1.Toleration`: lets a pod stay on (or go to) a node with matching taints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    /// The taint key; empty stands for every key.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub key: String,
    /// How values are compared.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub operator: TolerationOperator,
    /// The value compared with the taint's.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub value: String,
    /// The taint effect; empty stands for every effect.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub effect: TaintEffect,
    /// For `NoExecute`: how many seconds the pod stays. Absent is forever; zero and less is not
    /// at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}

impl Toleration {
    /// Whether all fields but `tolerationSeconds` are the same. Mirrors
    /// `Toleration.MatchToleration`.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.key == other.key
            && self.effect == other.effect
            && self.operator == other.operator
            && self.value == other.value
    }
}

/// As `kubectl describe pod` prints it: `key=value:effect op=Exists for 300s`.
impl fmt::Display for Toleration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if !self.value.is_empty() {
            write!(f, "={}", self.value)?;
        }
        if !self.effect.is_empty() {
            write!(f, ":{}", self.effect)?;
        }
        // kubectl leaves the operator out unless it is one of these.
        if self.operator == TolerationOperator::Exists && self.value.is_empty() {
            if self.key.is_empty() && self.effect.is_empty() {
                f.write_str("op=Exists")?;
            } else {
                f.write_str(" op=Exists")?;
            }
        } else if matches!(self.operator, TolerationOperator::Lt | TolerationOperator::Gt) {
            write!(f, " op={}", self.operator)?;
        }
        match self.toleration_seconds {
            Some(seconds) => write!(f, " for {seconds}s"),
            None => Ok(()),
        }
    }
}
