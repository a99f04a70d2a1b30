//! Fields of objects in their JSON form.

use std::collections::BTreeMap;

use serde_json::Value;
use taintlab_core::api::Quantity;
use taintlab_core::order::tree;
use taintlab_core::time::Time;

use crate::path::plain_text;

/// The text at a JSON pointer; empty if there is none.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

/// The whole number at a JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

/// The time at a JSON pointer.
pub(crate) fn time_at(value: &Value, pointer: &str) -> Option<Time> {
    Time::parse(text(value, pointer)).ok()
}

/// The entries of a JSON object whose values are strings.
pub(crate) fn string_map(value: Option<&Value>) -> BTreeMap<String, String> {
    let map = value.and_then(Value::as_object);
    let pairs = map.into_iter().flatten();
    tree(pairs.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))))
}

/// The labels of an object.
pub(crate) fn labels_of(value: &Value) -> BTreeMap<String, String> {
    string_map(value.pointer("/metadata/labels"))
}

/// The items of a list in a field.
pub(crate) fn items<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// An amount in the canonical form in which the API server stores and prints it.
pub(crate) fn amount(value: &Value) -> String {
    let text = plain_text(value);
    Quantity::parse(&text).map_or(text, |quantity| quantity.to_string())
}
