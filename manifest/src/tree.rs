//! Values with their positions.

use std::borrow::Cow;

use taintlab_core::policy::validation::FieldError;

use crate::diagnostic::{Position, Problem};
use crate::scalar::{Scalar, resolve};

/// A value and the position where it begins.
#[derive(Clone, Debug)]
pub(crate) struct Spanned<'t> {
    pub(crate) value: Value<'t>,
    pub(crate) position: Position,
}

/// A value. Its text is borrowed from the source where possible.
#[derive(Clone, Debug)]
pub(crate) enum Value<'t> {
    /// An unquoted scalar as written; [`resolve`] gives its meaning.
    Plain(Cow<'t, str>),
    /// A string.
    Str(Cow<'t, str>),
    Seq(Vec<Spanned<'t>>),
    Map(Vec<Entry<'t>>),
    /// A value that is left out from now on: wrong and reported, or dropped.
    Removed,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'t> {
    pub(crate) key: Cow<'t, str>,
    pub(crate) key_position: Position,
    pub(crate) value: Spanned<'t>,
}

impl<'t> Spanned<'t> {
    /// The value of `key` in a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => {
                entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
            }
            _ => None,
        }
    }

    /// The text of a scalar that is a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Str(text) => Some(text),
            Value::Plain(text) if resolve(text) == Scalar::Str => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Plain(text) if resolve(text) == Scalar::Null)
    }

    /// The cost of a copy of this tree: its nodes and its text.
    pub(crate) fn cost(&self) -> usize {
        let text = |text: &str| 1 + text.len() / 64;
        match &self.value {
            Value::Plain(plain) | Value::Str(plain) => text(plain),
            Value::Seq(items) => items.iter().map(Self::cost).fold(1, usize::saturating_add),
            Value::Map(entries) => entries
                .iter()
                .map(|entry| text(&entry.key).saturating_add(entry.value.cost()))
                .fold(1, usize::saturating_add),
            Value::Removed => 1,
        }
    }

    /// The node at a field path such as `spec.taints[0].effect`, or the last node on the way there.
    pub(crate) fn nearest(&self, path: &str) -> &Self {
        let mut node = self;
        for part in path.split('.').filter(|part| !part.is_empty()) {
            let (name, mut indexes) = part.split_once('[').unwrap_or((part, ""));
            if !name.is_empty() {
                match node.get(name) {
                    Some(child) => node = child,
                    None => return node,
                }
            }
            while let Some((index, rest)) = indexes.split_once(']') {
                let child = match (&node.value, index.parse::<usize>()) {
                    (Value::Seq(items), Ok(index)) => items.get(index),
                    _ => None,
                };
                match child {
                    Some(child) => node = child,
                    None => return node,
                }
                indexes = rest.trim_start_matches('[');
            }
        }
        node
    }

    /// The position of [`nearest`](Self::nearest).
    pub(crate) fn locate(&self, path: &str) -> Position {
        self.nearest(path).position
    }

    /// An error of the API server's validation, with its place in the text.
    pub(crate) fn refusal(&self, error: &FieldError) -> Problem {
        let text = error.to_string();
        let message = text.strip_prefix(&error.field).and_then(|text| text.strip_prefix(": "));
        // The API server names a field that does not exist: taints are under `spec`.
        let path = error.field.replacen("metadata.taints", "spec.taints", 1);
        Problem::new(self.locate(&path), message.unwrap_or(&text)).at(path)
    }
}

/// Appends `key` to a field path, in brackets if it could be read as several fields.
pub(crate) fn push_key(path: &mut String, key: &str) {
    if key.is_empty() || key.contains(['.', '[', ']', ' ', ':']) {
        path.push('[');
        path.push_str(key);
        path.push(']');
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
    }
}

/// Appends `index` to a field path.
pub(crate) fn push_index(path: &mut String, index: usize) {
    path.push('[');
    path.push_str(&index.to_string());
    path.push(']');
}

/// The place of an object in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A whole document.
    Document,
    /// An element of the `items` of a document.
    Item(usize),
    /// An element of a document that is a list.
    Element(usize),
    /// An element of a list in the `objects` of a scenario.
    Of(List),
}

/// A list in the `objects` of a scenario that can be long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Nodes,
    Pods,
    Workloads,
}

impl List {
    /// The long list of this name, if it is one.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "nodes" => Some(Self::Nodes),
            "pods" => Some(Self::Pods),
            "workloads" => Some(Self::Workloads),
            _ => None,
        }
    }
}

/// The parts of a document that the sink gets one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    /// No parts: the sink gets whole documents.
    Nothing,
    /// The elements of a list, and those of `items`.
    Items,
    /// The elements of the long lists of a scenario's `objects`.
    Scenario,
}

impl Place {
    /// The field path of the object in its document.
    pub(crate) fn path(self) -> String {
        match self {
            Self::Document | Self::Of(_) => String::new(),
            Self::Item(index) => format!("items[{index}]"),
            Self::Element(index) => format!("[{index}]"),
        }
    }
}

/// Receives the objects of a text one by one, so that only one is in memory.
pub(crate) trait Sink<'t> {
    /// Takes an object together with the problems already found in it; returns whether to read on.
    fn object(&mut self, place: Place, node: Spanned<'t>, problems: Vec<Problem>) -> bool;

    /// Takes an error of the text itself; returns whether to read on.
    fn problem(&mut self, problem: Problem) -> bool;
}
