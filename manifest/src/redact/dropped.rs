//! What was dropped, counted.

use std::fmt;
use std::ops::AddAssign;

use serde::Serialize;

/// What was dropped of objects because it may be secret, or because only one API server can use it.
///
/// The engine uses none of it. It prints as a list: `12 env values, data of 3 Secrets,
/// managedFields of 40 objects`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dropped {
    /// Values of environment variables: `env[].value`, or texts in a mapping `env`. The names stay,
    /// and so does `valueFrom`.
    pub env_values: usize,
    /// Secrets, and objects of other kinds with `Secret` in their name, of which only metadata and
    /// type stay.
    pub secrets: usize,
    /// ConfigMaps of which only metadata stays.
    pub config_maps: usize,
    /// `command` and `args` of containers, probes and hooks: passwords are given there.
    pub commands: usize,
    /// Values of other lists of name and value, such as HTTP headers and parameters.
    pub values: usize,
    /// Texts under names such as `password` and `token`, wherever they stand.
    pub passwords: usize,
    /// Annotations with such a name, and those that hold a document: JSON, several lines, or more
    /// than 256 bytes.
    pub annotations: usize,
    /// Annotations `kubectl.kubernetes.io/last-applied-configuration`, a copy of the object.
    pub last_applied: usize,
    /// Messages of containers that terminated: the end of their log.
    pub termination_messages: usize,
    /// Documents inside of objects of kinds that the engine does not use.
    pub documents: usize,
    /// `status` of objects of kinds that the engine does not use.
    pub statuses: usize,
    /// `metadata.managedFields`.
    pub managed_fields: usize,
}

impl Dropped {
    /// Whether nothing was dropped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn counts(&self) -> [(usize, &'static str, &'static str); 12] {
        [
            (self.env_values, "# env value", "# env values"),
            (self.secrets, "data of # Secret", "data of # Secrets"),
            (self.config_maps, "data of # ConfigMap", "data of # ConfigMaps"),
            (self.commands, "# command line", "# command lines"),
            (self.values, "# value of a header or parameter", "# values of headers and parameters"),
            (self.passwords, "# password or token", "# passwords and tokens"),
            (self.annotations, "# annotation", "# annotations"),
            (
                self.last_applied,
                "last-applied-configuration of # object",
                "last-applied-configuration of # objects",
            ),
            (self.termination_messages, "# termination message", "# termination messages"),
            (self.documents, "# long text", "# long texts"),
            (self.statuses, "status of # other object", "status of # other objects"),
            (self.managed_fields, "managedFields of # object", "managedFields of # objects"),
        ]
    }
}

impl AddAssign for Dropped {
    fn add_assign(&mut self, more: Self) {
        self.env_values += more.env_values;
        self.secrets += more.secrets;
        self.config_maps += more.config_maps;
        self.commands += more.commands;
        self.values += more.values;
        self.passwords += more.passwords;
        self.annotations += more.annotations;
        self.last_applied += more.last_applied;
        self.termination_messages += more.termination_messages;
        self.documents += more.documents;
        self.statuses += more.statuses;
        self.managed_fields += more.managed_fields;
    }
}

/// The counts that are not zero, separated by commas; `nothing` if there is none.
impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (count, one, many) in self.counts().into_iter().filter(|(count, ..)| *count > 0) {
            let words = if count == 1 { one } else { many };
            let (before, after) = words.split_once('#').unwrap_or((words, ""));
            write!(f, "{separator}{before}{count}{after}")?;
            separator = ", ";
        }
        if separator.is_empty() { f.write_str("nothing") } else { Ok(()) }
    }
}
