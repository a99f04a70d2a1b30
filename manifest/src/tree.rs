//! Values with their positions.

use std::borrow::Cow;

use crate::diagnostic::{Position, Problem};
use crate::scalar::{Scalar, resolve};

/// A value and where it begins.
#[derive(Clone, Debug)]
pub(crate) struct Spanned<'t> {
    pub(crate) value: Value<'t>,
    pub(crate) position: Position,
}

/// A value. Text is borrowed from the source where that is possible.
#[derive(Clone, Debug)]
pub(crate) enum Value<'t> {
    /// An unquoted scalar as it is written; [`resolve`] says what it means.
    Plain(Cow<'t, str>),
    /// A string.
    Str(Cow<'t, str>),
    Seq(Vec<Spanned<'t>>),
    Map(Vec<Entry<'t>>),
    /// A value that was reported as wrong and is left out from now on.
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

    /// What a copy of this tree costs: its nodes, and its text.
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

    /// The node at a field path such as `spec.taints[0].effect`, or the last one on the way there.
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

    /// Where [`nearest`](Self::nearest) begins.
    pub(crate) fn locate(&self, path: &str) -> Position {
        self.nearest(path).position
    }
}

/// Appends `key` to a field path, in brackets if it could be taken for more than one field.
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

/// Where in the text an object stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is a whole document.
    Document,
    /// It is an element of the `items` of a document.
    Item(usize),
    /// It is an element of a document that is a list.
    Element(usize),
    /// It is an element of a list of the `objects` of a scenario.
    Of(List),
}

/// A list of the `objects` of a scenario that can be long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Nodes,
    Pods,
    Workloads,
}

impl List {
    /// The list of this name, if it can be long.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "nodes" => Some(Self::Nodes),
            "pods" => Some(Self::Pods),
            "workloads" => Some(Self::Workloads),
            _ => None,
        }
    }
}

/// Parts of a document that are given to the sink by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    /// None.
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

/// What takes the objects of a text, one by one, so that no more than one is in memory.
pub(crate) trait Sink<'t> {
    /// Takes an object together with what was wrong with it already; returns whether more is
    /// wanted.
    fn object(&mut self, place: Place, node: Spanned<'t>, problems: Vec<Problem>) -> bool;

    /// Takes an error of the text itself; returns whether more is wanted.
    fn problem(&mut self, problem: Problem) -> bool;
}
