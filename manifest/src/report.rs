//! The outcome of reading each object of a text.

use std::fmt;

use serde::Serialize;

use crate::dropped::Dropped;

/// The outcome of reading one object of a text.
///
/// Printed as a sentence:
/// `Pod default/web-1 (line 12): read; namespace default assumed; dropped: 2 fields`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReport {
    /// The object's `kind`; empty if it has none.
    pub kind: String,
    /// The object's namespace; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The object's name; empty if it has none.
    pub name: String,
    /// The line on which the object begins, counted from 1.
    pub line: u32,
    /// The column at which the object begins, counted from 1, in characters.
    pub column: u32,
    /// The outcome.
    pub outcome: ObjectOutcome,
    /// Values that the object did not state and that were assumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<Assumption>,
    /// Counts of what was dropped from the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Box<Dropped>>,
}

/// The outcome of reading an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ObjectOutcome {
    /// The object takes part in the simulation.
    Read,
    /// The engine does not use objects of this kind; the object is kept for export.
    Kept,
    /// The object is left out because of an error; a diagnostic says which.
    LeftOut,
}

/// An assumption for something that an object did not state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Assumption {
    /// The namespace `default`.
    Namespace,
    /// `apiVersion` and `kind` of an element, taken from the list around it.
    Kind,
    /// A controller that an object names and that is not in the text. The simulation infers it from
    /// its pods, for example `replicaset/default/web-7d4b9c6f5d`.
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
