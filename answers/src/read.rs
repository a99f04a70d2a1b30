//! Values of questions, read with the decoder that reads files, so that errors are the same.

use serde::de::{DeserializeOwned, Deserializer};
use taintlab_manifest::{Diagnostic, Limits, read_from};

/// What is wrong with a call: a value of the wrong type, or a field that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongCall(pub String);

/// Reads any value that serde can read. `what` names it in errors:
/// `taints[0].key: expected a string, found the number 5`.
///
/// # Errors
/// Says which field is wrong and what was expected.
pub fn decode<'de, T: DeserializeOwned>(
    value: impl Deserializer<'de>,
    what: &str,
) -> Result<T, WrongCall> {
    read_from(value, &Limits::default()).map_err(|wrong| wrong_value(what, &wrong))
}

/// The first of the problems of a value.
#[must_use]
pub fn wrong_value(what: &str, diagnostics: &[Diagnostic]) -> WrongCall {
    let first = diagnostics.first();
    let path = first.map_or("", |diagnostic| diagnostic.path.as_str());
    let message = first.map_or("is wrong", |diagnostic| diagnostic.message.as_str());
    let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
    let help = first.and_then(|diagnostic| diagnostic.help.as_deref());
    let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
    WrongCall(format!("{what}{dot}{path}: {message}{help}"))
}
