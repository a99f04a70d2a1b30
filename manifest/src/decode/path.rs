//! Paths from an object to the nodes in it, as the indexes of children.

use crate::tree::{Spanned, Value, push_index, push_key};

/// The path from an object to a node.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Child { parent: &'p Path<'p>, index: usize },
}

impl Path<'_> {
    pub(super) fn to_vec(self) -> Vec<usize> {
        let mut indexes = Vec::new();
        let mut path = &self;
        while let Path::Child { parent, index } = path {
            indexes.push(*index);
            path = parent;
        }
        indexes.reverse();
        indexes
    }
}

pub(super) fn entry_name<'n>(
    root: &'n Spanned<'_>,
    path: &[usize],
    index: usize,
) -> Option<&'n str> {
    match &descend(root, path)?.value {
        Value::Map(entries) => Some(&entries.get(index)?.key),
        _ => None,
    }
}

pub(super) fn descend<'n, 't>(root: &'n Spanned<'t>, path: &[usize]) -> Option<&'n Spanned<'t>> {
    path.iter().try_fold(root, |node, index| match &node.value {
        Value::Seq(items) => items.get(*index),
        Value::Map(entries) => entries.get(*index).map(|entry| &entry.value),
        _ => None,
    })
}

pub(super) fn remove(node: &mut Spanned<'_>, path: &[usize]) {
    let child = match (path, &mut node.value) {
        ([], value) => {
            *value = Value::Removed;
            return;
        }
        ([index, ..], Value::Seq(items)) => items.get_mut(*index),
        ([index, ..], Value::Map(entries)) => entries.get_mut(*index).map(|e| &mut e.value),
        _ => None,
    };
    if let Some(child) = child {
        remove(child, path.get(1..).unwrap_or(&[]));
    }
}

/// The field path of the node at `path`, a list of child numbers.
pub(super) fn field_path(root: &Spanned<'_>, path: &[usize]) -> String {
    let mut text = String::new();
    let mut node = root;
    for index in path {
        let child = match &node.value {
            Value::Seq(items) => {
                push_index(&mut text, *index);
                items.get(*index)
            }
            Value::Map(entries) => entries.get(*index).map(|entry| {
                push_key(&mut text, &entry.key);
                &entry.value
            }),
            _ => None,
        };
        match child {
            Some(child) => node = child,
            None => break,
        }
    }
    text
}
