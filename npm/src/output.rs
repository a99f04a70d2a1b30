//! Answers as JavaScript values.
//!
//! Each is made by serde-wasm-bindgen, object by object: maps are plain objects, times the numbers
//! that they are serialised as. Long lists go over as one JSON text, since JavaScript's own parser
//! makes them in less time than it takes to set their fields from here one by one.

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::{JsError, JsValue};

use crate::js;

/// An answer of a function that can also fail.
#[derive(Serialize)]
pub(crate) struct Answer<'a, T> {
    pub(crate) ok: bool,
    #[serde(flatten)]
    pub(crate) answer: &'a T,
}

/// As JSON has it: plain objects, and `null` for nothing.
const SERIALIZER: Serializer = Serializer::json_compatible();

/// A value as JavaScript sees it.
///
/// # Errors
/// The value has no form in JavaScript, which would be a mistake of this crate.
pub(crate) fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    // It refuses whole numbers that JavaScript cannot tell apart, such as the largest
    // `tolerationSeconds` that there are; JSON takes the nearest.
    value.serialize(&SERIALIZER).or_else(|_| list_to_js(value))
}

/// The same for a list that may be long.
///
/// # Errors
/// As [`to_js`].
pub(crate) fn list_to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    js::parse(&serde_json::to_string(value).map_err(JsError::from)?)
}
