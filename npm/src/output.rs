//! Answers as JavaScript values.
//!
//! serde-wasm-bindgen makes each answer, object by object: maps become plain objects, and times
//! become the numbers that they are serialised as. Long lists cross as one JSON text, since
//! JavaScript's own parser builds them faster than their fields can be set one by one from here.

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::{JsError, JsValue};

use crate::js;

/// A successful answer of a function that can also fail.
#[derive(Serialize)]
pub(crate) struct Answer<'a, T> {
    pub(crate) ok: bool,
    #[serde(flatten)]
    pub(crate) answer: &'a T,
}

/// Follows JSON: plain objects, and `null` for nothing.
const SERIALIZER: Serializer = Serializer::json_compatible();

/// Converts a value to JavaScript.
///
/// # Errors
/// The value has no form in JavaScript, which would be a mistake of this crate.
pub(crate) fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    // The serializer refuses whole numbers too large to be exact in JavaScript, such as the largest
    // `tolerationSeconds`; JSON takes the nearest number.
    value.serialize(&SERIALIZER).or_else(|_| list_to_js(value))
}

/// Converts a list that may be long.
///
/// # Errors
/// Those of [`to_js`].
pub(crate) fn list_to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    js::parse(&serde_json::to_string(value).map_err(JsError::from)?)
}
