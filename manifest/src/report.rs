//! What became of each object of a text.

use std::fmt;

use serde::Serialize;

use crate::redact::Dropped;

/// What became of one object of a text.
///
/// It prints as a sentence: `Pod default/web-1 (line 12): read; namespace default assumed; dropped:
/// 2 env values`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReport {
    /// Its `kind`; empty if it has none.
    pub kind: String,
    /// Its namespace; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name; empty if it has none.
    pub name: String,
    /// The line on which it begins, counted from 1.
    pub line: u32,
    /// The column at which it begins, counted from 1, in characters.
    pub column: u32,
    /// What became of it.
    pub outcome: ObjectOutcome,
    /// What it did not say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<Assumption>,
    /// What of it was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Box<Dropped>>,
}

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ObjectOutcome {
    /// It takes part in the simulation.
    Read,
    /// The engine does not use objects of its kind; it is kept for export.
    Kept,
    /// It is left out, since something about it is wrong: a diagnostic says what.
    LeftOut,
}

/// Something that an object did not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Assumption {
    /// Its namespace: `default`.
    Namespace,
    /// Its `apiVersion` and `kind`, which the list around it says.
    Kind,
    /// The workload that it names as its controller is not in the text. The simulation infers one
    /// from its pods, for example `replicaset/default/web-7d4b9c6f5d`.
    Owner(String),
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace => f.write_str("namespace default assumed"),
            Self::Kind => f.write_str("kind taken from the list around it"),
            Self::Owner(owner) => write!(f, "its owner {owner} is not here and is inferred"),
        }
    }
}

impl fmt::Display for ObjectOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Kept => "kept for export",
            Self::LeftOut => "left out",
        })
    }
}

impl fmt::Display for ObjectReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name, line, outcome, assumed, dropped, .. } = self;
        write!(f, "{} (line {line}): {outcome}", title(kind, namespace, name))?;
        for assumption in assumed {
            write!(f, "; {assumption}")?;
        }
        match dropped {
            Some(dropped) => write!(f, "; dropped: {dropped}"),
            None => Ok(()),
        }
    }
}

/// An object in words: `Pod default/web-1`, `Node worker-1`.
pub(crate) fn title(kind: &str, namespace: &str, name: &str) -> String {
    let kind = if kind.is_empty() { "the object" } else { kind };
    match (namespace, name) {
        (_, "") => format!("{kind} without a name"),
        ("", name) => format!("{kind} {name}"),
        (namespace, name) => format!("{kind} {namespace}/{name}"),
    }
}
