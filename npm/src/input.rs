//! JavaScript values as values of the engine; a value of another type is a `TypeError`.

use js_sys::{Array, Number, TypeError};
use wasm_bindgen::{JsCast, JsValue};

#[cfg(feature = "simulator")]
use {
    crate::problem::{Problem, ProblemCode},
    core::time::Duration,
    js_sys::JSON,
    serde::de::DeserializeOwned,
    taintlab_core::time::{Timestamp, parse_duration},
    taintlab_manifest::{Limits, read_value},
};

/// An object or an array as a value of the engine. `what` is the name of the argument.
///
/// It is read as JSON text by the decoder that reads files, so that the errors are the same:
/// `taints[0].key: expected a string, found the number 5`.
///
/// # Errors
/// A `TypeError` that says which field is wrong and what was expected.
#[cfg(feature = "simulator")]
pub(crate) fn read<T: DeserializeOwned>(value: &JsValue, what: &str) -> Result<T, JsValue> {
    let text = json(value, what)?;
    read_value(&text, what, &Limits::default()).map_err(|diagnostics| {
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
/// It is neither, or cannot be written as JSON.
#[cfg(feature = "simulator")]
pub(crate) fn json(value: &JsValue, what: &str) -> Result<String, JsValue> {
    if !value.is_object() || value.is_function() {
        return Err(expected(what, "an object or an array", value));
    }
    // An object with a `toJSON` of its own may still be nothing.
    let text = JSON::stringify(value)?;
    text.as_string().ok_or_else(|| expected(what, "an object or an array", value))
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
    if !Array::is_array(value) {
        return Err(expected(what, "an array", value));
    }
    read(value, what)
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
    if Array::is_array(value) {
        return Err(expected(what, "an object", value));
    }
    read(value, what)
}

/// A text.
///
/// # Errors
/// It is none.
pub(crate) fn text(value: &JsValue, what: &str) -> Result<String, JsValue> {
    value.as_string().ok_or_else(|| expected(what, "a string", value))
}

/// A moment: milliseconds since the start, or Kubernetes' text for the time since then.
///
/// # Errors
/// A `TypeError` for anything else; inside, what is wrong with the text.
#[cfg(feature = "simulator")]
pub(crate) fn moment(value: &JsValue, what: &str) -> Result<Result<Timestamp, Problem>, JsValue> {
    if let Some(text) = value.as_string() {
        return Ok(match parse_duration(&text) {
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
pub(crate) fn expected(what: &str, expected: &str, found: &JsValue) -> JsValue {
    wrong_call(&format!("{what}: expected {expected}, found {}", describe(found)))
}

/// A `TypeError`.
pub(crate) fn wrong_call(message: &str) -> JsValue {
    TypeError::new(message).into()
}

/// What a value is, in words.
fn describe(value: &JsValue) -> String {
    if value.is_undefined() {
        return "nothing".into();
    }
    if value.is_null() {
        return "`null`".into();
    }
    if let Some(text) = value.as_string() {
        let short: String = text.chars().take(40).collect();
        return format!("the string `{short}`");
    }
    if let Some(number) = value.dyn_ref::<Number>() {
        // In JavaScript's own words.
        let number = number.to_string_with_radix(10).map(String::from).unwrap_or_default();
        return format!("the number `{number}`");
    }
    if let Some(truth) = value.as_bool() {
        return format!("`{truth}`");
    }
    if Array::is_array(value) {
        return "an array".into();
    }
    if value.is_function() {
        return "a function".into();
    }
    if value.is_object() { "an object".into() } else { "something else".into() }
}
