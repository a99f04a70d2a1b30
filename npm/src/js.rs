//! Functions that JavaScript provides: `boundary.js`, and `values.js` for all but `taintlab/lite`.
//!
//! All imports that can run code of a caller, or throw, are here, and their exceptions are caught.
//! No other import may do so, but one that takes a class of this crate stands beside that class;
//! `npm/tests/imports.test.mjs` checks the generated code.

use js_sys::{Array, JsString};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "./boundary.js")]
extern "C" {
    /// Says where the stack pointer of this module is.
    pub(crate) fn attach(exports: &JsValue);

    #[wasm_bindgen(catch)]
    pub(crate) fn records(list: &JsValue, names: &JsString) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch)]
    pub(crate) fn record(object: &JsValue, names: &JsString) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch)]
    pub(crate) fn entries(object: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = isWellFormed)]
    pub(crate) fn is_well_formed(text: &JsValue) -> Result<bool, JsValue>;

    #[wasm_bindgen(catch)]
    pub(crate) fn describe(value: &JsValue) -> Result<String, JsValue>;

    #[wasm_bindgen(catch)]
    pub(crate) fn append(list: &Array, value: &JsValue) -> Result<(), JsValue>;

    #[wasm_bindgen(catch)]
    pub(crate) fn object(
        names: &JsString,
        a: &JsValue,
        b: &JsValue,
        c: &JsValue,
        d: &JsValue,
        e: &JsValue,
        f: &JsValue,
        g: &JsValue,
    ) -> Result<JsValue, JsValue>;

    #[cfg(feature = "simulator")]
    #[wasm_bindgen(catch)]
    pub(crate) fn call(
        function: &JsValue,
        first: &JsValue,
        second: f64,
    ) -> Result<JsValue, JsValue>;
}

#[cfg(feature = "simulator")]
#[wasm_bindgen(raw_module = "./values.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    pub(crate) fn parse(text: &str) -> Result<JsValue, JsValue>;

    /// `undefined` for what has no JSON.
    #[wasm_bindgen(catch)]
    pub(crate) fn plain(value: &JsValue, what: &str) -> Result<JsValue, JsValue>;

    /// `undefined` for what has no JSON.
    #[wasm_bindgen(catch)]
    pub(crate) fn stringify(value: &JsValue, what: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = wrongCall)]
    pub(crate) fn wrong_call(message: &str) -> Result<JsValue, JsValue>;
}
