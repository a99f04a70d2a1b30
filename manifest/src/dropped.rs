//! Counts of dropped parts.

use std::fmt;
use std::ops::AddAssign;

use serde::Serialize;

use crate::fields::Rule;

/// Counts of what was dropped from objects because the engine does not read it; this keeps secrets
/// out.
///
/// Printed as a list: `12 fields, 3 annotations`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dropped {
    /// Fields, each with its whole content: `env`, `command`, probes, messages, `managedFields`;
    /// for kinds that the engine does not use, everything but the identity.
    pub fields: usize,
    /// Annotations.
    pub annotations: usize,
    /// Image names from which a user or a password was removed.
    pub credentials: usize,
}

impl Dropped {
    /// Whether nothing was dropped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts the field `key`, dropped from a mapping with that rule.
    pub(crate) fn count(&mut self, rule: Rule, key: &str) {
        match rule {
            // Every API server sets its own, and nobody misses it.
            Rule::Fields(_) if key == "resourceVersion" => {}
            Rule::Annotations => self.annotations += 1,
            _ => self.fields += 1,
        }
    }
}

impl AddAssign for Dropped {
    fn add_assign(&mut self, more: Self) {
        self.fields += more.fields;
        self.annotations += more.annotations;
        self.credentials += more.credentials;
    }
}

/// The counts that are not zero, separated by commas; `nothing` if all are zero.
impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (count, one, many) in [
            (self.fields, "field", "fields"),
            (self.annotations, "annotation", "annotations"),
            (self.credentials, "password of an image", "passwords of images"),
        ] {
            if count > 0 {
                write!(f, "{separator}{count} {}", if count == 1 { one } else { many })?;
                separator = ", ";
            }
        }
        if separator.is_empty() { f.write_str("nothing") } else { Ok(()) }
    }
}
