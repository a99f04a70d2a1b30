//! How releases of Kubernetes differ: the one place that knows.
//!
//! A [`KubernetesRelease`] is a minor release; where patches of one minor differ, the doc of the
//! method says which patch is meant. Everything else in this crate asks a method here and never
//! compares release numbers.

/// Methods of [`KubernetesRelease`] that are true from a minor release on, and `SINCE`, the
/// [`Change`]s that they are. After the release stands `believed` where that is not certain.
macro_rules! since {
    ($($(#[doc = $doc:literal])+ $name:ident = $minor:literal $(, $basis:ident)?;)+) => {
        impl KubernetesRelease {
            $($(#[doc = $doc])+
            #[must_use]
            pub const fn $name(self) -> bool {
                self.minor >= $minor
            })+
        }

        pub(super) const SINCE: &[super::Change] = &[
            $(super::Change::new(
                stringify!($name), concat!($($doc),+), $minor, basis!($($basis)?)
            )),+
        ];
    };
}

/// Methods of [`KubernetesRelease`] that are true to a minor release, and `UNTIL`, the [`Change`]s
/// that come after it.
macro_rules! until {
    ($($(#[doc = $doc:literal])+ $name:ident = $minor:literal $(, $basis:ident)?;)+) => {
        impl KubernetesRelease {
            $($(#[doc = $doc])+
            #[must_use]
            pub const fn $name(self) -> bool {
                self.minor <= $minor
            })+
        }

        pub(super) const UNTIL: &[super::Change] = &[
            $(super::Change::new(
                stringify!($name), concat!($($doc),+), $minor + 1, basis!($($basis)?)
            )),+
        ];
    };
}

/// `CHANGES`: those of methods that are more than true or false.
macro_rules! changes {
    ($($name:ident = $minor:literal $(, $basis:ident)?: $text:literal;)+) => {
        pub(super) const CHANGES: &[super::Change] = &[
            $(super::Change::new(stringify!($name), $text, $minor, basis!($($basis)?))),+
        ];
    };
}

macro_rules! basis {
    () => {
        super::Basis::Read
    };
    (believed) => {
        super::Basis::Believed
    };
    (recorded) => {
        super::Basis::Recorded
    };
}

mod changes;
mod disruption;
mod feature_gates;
mod jobs;
mod kubectl;
mod kubelet;
mod node_lifecycle;
mod scheduling;
mod taint_eviction;
mod workloads;

use alloc::format;
use alloc::string::String;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::changes::{Basis, Change};
pub use self::feature_gates::{FeatureGate, FeatureGates, GateStage};
pub use self::jobs::JobBackoff;
pub use self::node_lifecycle::Requeue;
pub use self::scheduling::{AbsentNodes, PreemptedMessage, PreemptionMessage, TaintReason};
pub use self::workloads::ScalingMessage;

/// A minor release of Kubernetes, from 1.18 on.
///
/// `1.18` behaves as 1.18.6 and `1.20` as 1.20.2, whose running code was recorded; any other one
/// as its first patch. A patch can be given; it is what versions say and changes nothing else, so
/// that releases of one minor are equal.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "typescript",
    derive(tsify::Tsify),
    // A test of the package compares it with what `all` lists.
    tsify(type = "`${\"\" | \"v\"}1.${18 | 19 | 20 | 21 | 22 | 23 | 24 | 25 | 26 | 27 | 28 | 29 | \
        30 | 31 | 32 | 33 | 34 | 35 | 36 | 37}${\"\" | `${\".\" | \"+\" | \"-\"}${string}`}`")
)]
pub struct KubernetesRelease {
    minor: u8,
    /// The patch that was given.
    patch: Option<u8>,
}

/// The newest patch of each minor release, from [`KubernetesRelease::OLDEST`] on, that was run or
/// whose source was read.
const PATCHES: [u8; 20] = [6, 2, 2, 1, 6, 12, 14, 0, 1, 1, 2, 6, 1, 13, 5, 5, 2, 0, 2, 0];

impl PartialEq for KubernetesRelease {
    fn eq(&self, other: &Self) -> bool {
        self.minor == other.minor
    }
}

impl Eq for KubernetesRelease {}

impl PartialOrd for KubernetesRelease {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for KubernetesRelease {
    fn cmp(&self, other: &Self) -> Ordering {
        self.minor.cmp(&other.minor)
    }
}

impl Hash for KubernetesRelease {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.minor.hash(state);
    }
}

impl KubernetesRelease {
    /// The oldest release known here.
    pub const OLDEST: Self = Self::of(18);
    /// The newest release known here.
    pub const NEWEST: Self = Self::of(37);

    const fn of(minor: u8) -> Self {
        Self { minor, patch: None }
    }

    /// The release 1.`minor`, if it is known here.
    #[must_use]
    pub const fn new(minor: u8) -> Option<Self> {
        if minor < Self::OLDEST.minor || minor > Self::NEWEST.minor {
            None
        } else {
            Some(Self::of(minor))
        }
    }

    /// The release 1.`minor`, or the nearest one that is known here.
    #[must_use]
    pub fn nearest(minor: u32) -> Self {
        let (oldest, newest) = (Self::OLDEST.minor, Self::NEWEST.minor);
        Self::of(u8::try_from(minor).unwrap_or(u8::MAX).clamp(oldest, newest))
    }

    /// Whether this is one of the releases that hardly anybody runs any longer, before 1.29. They
    /// are kept since the oldest were recorded, and are offered apart.
    #[must_use]
    pub const fn is_older(self) -> bool {
        self.minor < 29
    }

    /// All releases known here, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (Self::OLDEST.minor..=Self::NEWEST.minor).map(Self::of)
    }

    /// Reads `1.30`, `v1.30` or a full version such as `v1.30.4+k3s1`.
    ///
    /// # Errors
    /// Says which releases there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a known Kubernetes release; use {} to {}",
                Self::OLDEST,
                Self::NEWEST
            )
        };
        let rest = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.").ok_or_else(wrong)?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let minor = rest.get(..end).and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?;
        let tail = rest.get(end..).unwrap_or_default();
        let tail_is_patch = tail.is_empty() || tail.starts_with(['.', '+', '-']);
        let digits = tail.strip_prefix('.').unwrap_or_default();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let patch = digits.get(..end).and_then(|digits| digits.parse().ok());
        let release = Self::new(minor).filter(|_| tail_is_patch).ok_or_else(wrong)?;
        Ok(Self { patch, ..release })
    }

    /// The text that [`parse`](Self::parse) reads: `1.20`, or `1.20.2` if a patch was given.
    #[must_use]
    pub fn text(self) -> String {
        match self.patch {
            Some(patch) => format!("{self}.{patch}"),
            None => format!("{self}"),
        }
    }

    /// The version that nodes and `kubectl version` say, such as `v1.20.2`: with the patch that was
    /// given, or the newest one that is known here.
    #[must_use]
    pub fn version(self) -> String {
        let known = PATCHES.get(usize::from(self.minor.saturating_sub(Self::OLDEST.minor)));
        let patch = self.patch.or(known.copied()).unwrap_or_default();
        format!("v{self}.{patch}")
    }
}

impl Default for KubernetesRelease {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl fmt::Display for KubernetesRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

impl Serialize for KubernetesRelease {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for KubernetesRelease {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = KubernetesRelease;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a Kubernetes release in quotes, for example \"1.30\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<KubernetesRelease, E> {
                KubernetesRelease::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for KubernetesRelease {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "KubernetesRelease".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        use alloc::string::ToString;
        let all: alloc::vec::Vec<String> = Self::all().map(|release| release.to_string()).collect();
        schemars::json_schema!({ "type": "string", "examples": all, "pattern": "^v?1\\.[0-9]+" })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn releases_read_and_print() {
        for (text, printed) in
            [("1.18", "1.18"), ("v1.30", "1.30"), ("v1.29.3+k3s1", "1.29"), ("1.35.0-rc.1", "1.35")]
        {
            assert_eq!(KubernetesRelease::parse(text).unwrap().to_string(), printed);
        }
        for (text, version, json) in [
            ("1.20", "v1.20.2", "\"1.20\""),
            ("v1.20.15-gke.3", "v1.20.15", "\"1.20.15\""),
            ("1.35", "v1.35.0", "\"1.35\""),
        ] {
            let release = KubernetesRelease::parse(text).unwrap();
            assert_eq!(release.version(), version);
            assert_eq!(serde_json::to_string(&release).unwrap(), json);
            assert_eq!(serde_json::from_str::<KubernetesRelease>(json).unwrap().version(), version);
        }
        let given = KubernetesRelease::parse("1.20.15").unwrap();
        assert_eq!(given, KubernetesRelease::of(20), "the patch changes no rule");
        for bad in ["1.17", "1.99", "2.0", "1.", "1.20x", "", "1.300"] {
            let error = KubernetesRelease::parse(bad).unwrap_err();
            assert!(error.contains(&format!("1.18 to {}", KubernetesRelease::NEWEST)), "{error}");
        }
    }
}
