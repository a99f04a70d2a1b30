//! JavaScript values as values of the engine; a value of another type is a `TypeError`.

use taintlab_answers::problem::bounded;
use wasm_bindgen::JsValue;

#[cfg(feature = "simulator")]
use {
    js_sys::Array,
    serde::de::{DeserializeOwned, Deserializer},
    taintlab_answers::problem::{Problem, ProblemCode},
    taintlab_answers::read::wrong_value,
    taintlab_core::time::{Timestamp, parse_duration},
    taintlab_manifest::{Diagnostic, Limits, read_from, read_value},
};

use crate::js;

/// Reads an object as a value of the engine. `what` is the name of the argument.
///
/// The decoder is the one that reads files, so the errors are the same, without what they say of
/// YAML: `taints[0].key: expected a string, found the number 5`.
///
/// # Errors
/// A `TypeError` that says which field is wrong and what was expected, or the exception of a
/// getter.
#[cfg(feature = "simulator")]
pub(crate) fn read<T: DeserializeOwned>(value: &JsValue, what: &str) -> Result<T, JsValue> {
    // A copy without getters and proxies, whose dates are texts. An object with its own `toJSON`
    // may turn into something else.
    let copy = if value.is_object() { js::plain(value, what)? } else { JsValue::UNDEFINED };
    if !copy.is_object() || Array::is_array(&copy) {
        return Err(expected(what, "an object", value));
    }
    decode(serde_wasm_bindgen::Deserializer::from(copy), what)
}

/// Reads any value that serde can read, as [`read`] does.
///
/// # Errors
/// Those of [`read`].
#[cfg(feature = "simulator")]
pub(crate) fn decode<'de, T: DeserializeOwned>(
    value: impl Deserializer<'de>,
    what: &str,
) -> Result<T, JsValue> {
    read_from(value, &Limits::default()).map_err(|wrong| wrong_fields(what, &wrong))
}

/// One function for all types, of which there are many.
#[cfg(feature = "simulator")]
fn wrong_fields(what: &str, wrong: &[Diagnostic]) -> JsValue {
    wrong_call(&wrong_value(what, wrong).0)
}

/// Reads an object that may be left out, as [`read`] does.
///
/// # Errors
/// Those of [`read`].
#[cfg(feature = "simulator")]
pub(crate) fn read_options<T: DeserializeOwned + Default>(
    value: &JsValue,
    what: &str,
) -> Result<T, JsValue> {
    let left_out = value.is_undefined() || value.is_null();
    if left_out { Ok(T::default()) } else { read(value, what) }
}

/// Reads an array of objects.
///
/// # Errors
/// The value is not an array, or one of its elements is wrong.
#[cfg(feature = "simulator")]
pub(crate) fn read_list<T: DeserializeOwned>(
    value: &JsValue,
    what: &str,
) -> Result<Vec<T>, JsValue> {
    // Read as one text: asking for each field of each element takes half as long again.
    let text = json(value, what, "an array", &['['])?;
    read_value(&text, what, &Limits::default()).map_err(|wrong| wrong_fields(what, &wrong))
}

/// JSON text, which must begin with one of `begins`; dates become RFC 3339 text, as Kubernetes
/// writes them.
#[cfg(feature = "simulator")]
fn json(value: &JsValue, what: &str, wanted: &str, begins: &[char]) -> Result<String, JsValue> {
    let text = if value.is_object() { js::stringify(value, what)?.as_string() } else { None };
    // An object with its own `toJSON` may turn into something else.
    text.filter(|text| text.starts_with(begins)).ok_or_else(|| expected(what, wanted, value))
}

/// A text, or an object or an array as JSON.
///
/// # Errors
/// The value is neither, or cannot be written as JSON, or one of its getters throws.
#[cfg(feature = "simulator")]
pub(crate) fn text_or_json(value: &JsValue, what: &str) -> Result<String, JsValue> {
    if value.is_string() {
        return text(value, what);
    }
    json(value, what, "an object or an array", &['{', '['])
}

/// A text.
///
/// # Errors
/// The value is not a text.
pub(crate) fn text(value: &JsValue, what: &str) -> Result<String, JsValue> {
    string(value, || what.to_owned())
}

/// A text; `path` names the value in errors.
///
/// # Errors
/// The value is not a text, or not Unicode.
pub(crate) fn string(value: &JsValue, path: impl Fn() -> String) -> Result<String, JsValue> {
    let Some(text) = value.as_string() else { return Err(expected(&path(), "a string", value)) };
    // The replacement character may also be meant, so ask JavaScript.
    if text.contains(char::REPLACEMENT_CHARACTER) && !js::is_well_formed(value)? {
        let message = "a string that is not well-formed Unicode: it has half of a surrogate pair";
        return Err(wrong_call(&format!("{}: {message}", path())));
    }
    Ok(text)
}

/// A moment: milliseconds since the start, or Kubernetes' text for the time since then.
///
/// # Errors
/// A `TypeError` for values of other types; the inner error says what is wrong with the text.
#[cfg(feature = "simulator")]
pub(crate) fn moment(value: &JsValue, what: &str) -> Result<Result<Timestamp, Problem>, JsValue> {
    if value.is_string() {
        return Ok(match parse_duration(&text(value, what)?) {
            Ok(since) => Ok(Timestamp::ZERO.saturating_add(since)),
            Err(error) => Err(Problem::new(ProblemCode::InvalidDuration, what, &error)),
        });
    }
    let moment = value.as_f64().filter(|millis| millis.is_finite());
    let moment = moment.and_then(Timestamp::from_fractional_millis);
    let wanted = "milliseconds since the start, or a text such as `5m0s`";
    moment.map(Ok).ok_or_else(|| expected(what, wanted, value))
}

/// A `TypeError` about an argument.
pub(crate) fn expected(what: &str, wanted: &str, value: &JsValue) -> JsValue {
    js::describe(value).map_or_else(|thrown| thrown, |text| found(what, wanted, &text))
}

/// A `TypeError` about an argument that is something else, described by `found`.
pub(crate) fn found(what: &str, wanted: &str, found: &str) -> JsValue {
    wrong_call(&format!("{what}: expected {wanted}, found {found}"))
}

/// A `TypeError`.
#[cfg(feature = "simulator")]
pub(crate) fn wrong_call(message: &str) -> JsValue {
    match js::wrong_call(&bounded(message)) {
        Ok(error) | Err(error) => error,
    }
}

/// A `TypeError`, where no decoder of files speaks of YAML.
#[cfg(not(feature = "simulator"))]
pub(crate) fn wrong_call(message: &str) -> JsValue {
    js_sys::TypeError::new(&bounded(message)).into()
}
