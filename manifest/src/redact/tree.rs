//! What the rule needs of a tree: those of texts that are being read, and JSON.

use serde_json::Value as Json;

use crate::scalar::{Scalar, resolve};
use crate::tree::{Spanned, Value};

/// A tree of mappings, lists and scalars.
pub(crate) trait Tree {
    /// Gives each entry of a mapping, with its key, to `keep`, and takes those out that it does not
    /// keep.
    fn retain_entries(&mut self, keep: &mut dyn FnMut(&str, &mut Self) -> bool);

    /// Gives each element of a list to `act`.
    fn each_item(&mut self, act: &mut dyn FnMut(&mut Self));

    /// The value of `key` in a mapping.
    fn get(&self, key: &str) -> Option<&Self>;

    /// The text of a string.
    fn text(&self) -> Option<&str>;

    /// Whether this is a list.
    fn is_list(&self) -> bool;

    /// Whether this is a text or a number, or a list of nothing else.
    fn is_words(&self) -> bool;

    /// Whether reading has left this out already.
    fn is_left_out(&self) -> bool;
}

impl Tree for Spanned<'_> {
    fn retain_entries(&mut self, keep: &mut dyn FnMut(&str, &mut Self) -> bool) {
        if let Value::Map(entries) = &mut self.value {
            entries.retain_mut(|entry| keep(&entry.key, &mut entry.value));
        }
    }

    fn each_item(&mut self, act: &mut dyn FnMut(&mut Self)) {
        if let Value::Seq(items) = &mut self.value {
            items.iter_mut().for_each(act);
        }
    }

    fn get(&self, key: &str) -> Option<&Self> {
        Spanned::get(self, key)
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn is_list(&self) -> bool {
        matches!(self.value, Value::Seq(_))
    }

    fn is_words(&self) -> bool {
        match &self.value {
            Value::Str(_) => true,
            Value::Plain(text) => !matches!(resolve(text), Scalar::Null | Scalar::Bool(_)),
            Value::Seq(items) => !items.is_empty() && items.iter().all(Tree::is_words),
            Value::Map(_) | Value::Removed => false,
        }
    }

    fn is_left_out(&self) -> bool {
        matches!(self.value, Value::Removed)
    }
}

impl Tree for Json {
    fn retain_entries(&mut self, keep: &mut dyn FnMut(&str, &mut Self) -> bool) {
        if let Self::Object(map) = self {
            map.retain(|key, value| keep(key, value));
        }
    }

    fn each_item(&mut self, act: &mut dyn FnMut(&mut Self)) {
        if let Self::Array(items) = self {
            items.iter_mut().for_each(act);
        }
    }

    fn get(&self, key: &str) -> Option<&Self> {
        Self::get(self, key)
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn is_list(&self) -> bool {
        self.is_array()
    }

    fn is_words(&self) -> bool {
        match self {
            Self::String(_) | Self::Number(_) => true,
            Self::Array(items) => !items.is_empty() && items.iter().all(Tree::is_words),
            _ => false,
        }
    }

    fn is_left_out(&self) -> bool {
        false
    }
}
