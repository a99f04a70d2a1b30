//! JavaScript values as values of the engine; a value of another type is a `TypeError`.

use js_sys::TypeError;
use wasm_bindgen::JsValue;

#[cfg(feature = "simulator")]
use {
    crate::problem::{Problem, ProblemCode},
    core::time::Duration,
    serde::de::DeserializeOwned,
    taintlab_core::time::{Timestamp, parse_duration},
    taintlab_manifest::{Limits, read_value},
};

use crate::js;

/// An object or an array as a value of the engine. `what` is the name of the argument.
///
/// It is read as JSON text by the decoder that reads files, so that the errors are the same:
/// `taints[0].key: expected a string, found the number 5`.
///
/// # Errors
/// A `TypeError` that says which field is wrong and what was expected.
#[cfg(feature = "simulator")]
pub(crate) fn read<T: DeserializeOwned>(value: &JsValue, what: &str) -> Result<T, JsValue> {
    read_json(&json(value, what)?, what)
}

/// The same of JSON text.
///
/// # Errors
/// As [`read`].
#[cfg(feature = "simulator")]
pub(crate) fn read_json<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, JsValue> {
    read_value(text, what, &Limits::default()).map_err(|diagnostics| {
        let first = diagnostics.first();
        let path = first.map_or("", |diagnostic| diagnostic.path.as_str());
        let message = first.map_or("is wrong", |diagnostic| diagnostic.message.as_str());
        let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
        let help = first.and_then(|diagnostic| diagnostic.help.as_deref());
        let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
        wrong_call(&format!("{what}{dot}{path}: {message}{help}"))
    })
}

/// An object or an array as JSON; dates become RFC 3339 text, as Kubernetes writes them.
///
/// # Errors
/// It is neither, or cannot be written as JSON; or what a getter of it throws.
#[cfg(feature = "simulator")]
pub(crate) fn json(value: &JsValue, what: &str) -> Result<String, JsValue> {
    let wanted = "an object or an array";
    if !value.is_object() {
        return Err(expected(what, wanted, value));
    }
    // An object with a `toJSON` of its own may still be something else.
    let text = js::stringify(value)?.as_string();
    text.filter(|text| text.starts_with(['{', '['])).ok_or_else(|| expected(what, wanted, value))
}

/// The same for an array.
///
/// # Errors
/// It is none, or one of its elements is wrong.
#[cfg(feature = "simulator")]
pub(crate) fn read_list<T: DeserializeOwned>(
    value: &JsValue,
    what: &str,
) -> Result<Vec<T>, JsValue> {
    read_as(value, what, "an array", '[')
}

/// The same for an object that may be left out.
///
/// # Errors
/// It is something else, or one of its fields is wrong.
#[cfg(feature = "simulator")]
pub(crate) fn read_options<T: DeserializeOwned + Default>(
    value: &JsValue,
    what: &str,
) -> Result<T, JsValue> {
    if value.is_undefined() || value.is_null() {
        return Ok(T::default());
    }
    read_as(value, what, "an object", '{')
}

#[cfg(feature = "simulator")]
fn read_as<T: DeserializeOwned>(
    value: &JsValue,
    what: &str,
    wanted: &str,
    begins_with: char,
) -> Result<T, JsValue> {
    let text = if value.is_object() { json(value, what)? } else { String::new() };
    if text.starts_with(begins_with) {
        read_json(&text, what)
    } else {
        Err(expected(what, wanted, value))
    }
}

/// A text, or an object or an array as JSON.
///
/// # Errors
/// Those of [`text`] and [`json`].
#[cfg(feature = "simulator")]
pub(crate) fn text_or_json(value: &JsValue, what: &str) -> Result<String, JsValue> {
    if value.is_string() { text(value, what) } else { json(value, what) }
}

/// A text.
///
/// # Errors
/// It is none.
pub(crate) fn text(value: &JsValue, what: &str) -> Result<String, JsValue> {
    string(value, || what.to_owned())
}

/// A text of what `path` says.
///
/// # Errors
/// It is none, or not Unicode.
pub(crate) fn string(value: &JsValue, path: impl Fn() -> String) -> Result<String, JsValue> {
    let Some(text) = value.as_string() else { return Err(expected(&path(), "a string", value)) };
    // What stands in the place of a character that is none can also be meant.
    if text.contains(char::REPLACEMENT_CHARACTER) && !js::is_well_formed(value)? {
        let message = "a string that is not well-formed Unicode: it has half of a surrogate pair";
        return Err(wrong_call(&format!("{}: {message}", path())));
    }
    Ok(text)
}

/// A moment: milliseconds since the start, or Kubernetes' text for the time since then.
///
/// # Errors
/// A `TypeError` for anything else; inside, what is wrong with the text.
#[cfg(feature = "simulator")]
pub(crate) fn moment(value: &JsValue, what: &str) -> Result<Result<Timestamp, Problem>, JsValue> {
    if value.is_string() {
        return Ok(match parse_duration(&text(value, what)?) {
            Ok(since) => Ok(Timestamp::ZERO.saturating_add(since)),
            Err(error) => Err(Problem::new(ProblemCode::InvalidDuration, what, &error)),
        });
    }
    let wrong = || expected(what, "milliseconds since the start, or a text such as `5m0s`", value);
    let millis = value.as_f64().filter(|millis| *millis >= 0.0).ok_or_else(wrong)?;
    // In nanoseconds, rounded: the number that was nearest to them gives them back.
    let seconds = (millis / 1e3).floor();
    let rest = ((millis - seconds * 1e3) * 1e6).round() / 1e9;
    let whole = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    let nanos = Duration::try_from_secs_f64(rest).map_err(|_| wrong())?;
    Ok(Ok(Timestamp::ZERO.saturating_add(whole).saturating_add(nanos)))
}

/// A `TypeError` about an argument.
pub(crate) fn expected(what: &str, wanted: &str, value: &JsValue) -> JsValue {
    js::describe(value).map_or_else(|thrown| thrown, |text| found(what, wanted, &text))
}

/// A `TypeError` about an argument that is something else; what, is said in words.
pub(crate) fn found(what: &str, wanted: &str, found: &str) -> JsValue {
    wrong_call(&format!("{what}: expected {wanted}, found {found}"))
}

/// A `TypeError`.
pub(crate) fn wrong_call(message: &str) -> JsValue {
    TypeError::new(message).into()
}
