//! Problems as JavaScript values.

use wasm_bindgen::JsValue;

pub use taintlab_answers::problem::{Failure, Problem, ProblemCode};

use crate::taint_js::encode::failure;

/// The failure with these problems, for JavaScript.
pub(crate) fn fail(errors: Vec<Problem>) -> Result<JsValue, JsValue> {
    failure(&errors)
}
