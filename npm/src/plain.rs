//! Plain objects of JavaScript, property by property.
//!
//! Getters and setters are in line in the generated code, so that a small object crosses in less time
//! than it takes to write and read it as JSON, and without the code that does so.

use std::cell::RefCell;

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen]
extern "C" {
    /// An object with the properties that are read and written here.
    pub(crate) type Plain;

    #[wasm_bindgen(method, getter)]
    pub(crate) fn key(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn operator(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn value(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn effect(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = timeAdded)]
    pub(crate) fn time_added(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = tolerationSeconds)]
    pub(crate) fn toleration_seconds(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn status(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn conditions(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = type)]
    pub(crate) fn type_(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn release(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = featureGates)]
    pub(crate) fn feature_gates(this: &Plain) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = unhealthyZoneThreshold)]
    pub(crate) fn unhealthy_zone_threshold(this: &Plain) -> JsValue;
    /// What a date is in JSON; an error if the object has no such method.
    #[wasm_bindgen(method, catch, js_name = toJSON)]
    pub(crate) fn to_json(this: &Plain) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_key(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_operator(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_value(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_effect(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter, js_name = tolerationSeconds)]
    pub(crate) fn set_toleration_seconds(this: &Plain, to: f64);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_tolerations(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_taints(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_taint(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter, js_name = noExecute)]
    pub(crate) fn set_no_execute(this: &Plain, to: bool);
    #[wasm_bindgen(method, setter, js_name = answeredBy)]
    pub(crate) fn set_answered_by(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_consequence(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_outcomes(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_outcome(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_test(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_toleration(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_verdict(this: &Plain, to: &JsValue);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_after(this: &Plain, to: f64);
    #[wasm_bindgen(method, setter)]
    pub(crate) fn set_overflowed(this: &Plain, to: &JsValue);
}

/// A new object.
pub(crate) fn plain() -> Plain {
    Object::new().unchecked_into()
}

/// Sets a property that is not worth a setter of its own.
pub(crate) fn set(on: &Plain, name: &'static str, to: &JsValue) {
    // A plain object takes every property.
    let _ = Reflect::set(on, &word(name), to);
}

thread_local! {
    /// The words that were said already, as JavaScript has them: to make a text takes longer than the
    /// rest of an answer.
    static WORDS: RefCell<Vec<(&'static str, JsValue)>> = const { RefCell::new(Vec::new()) };
}

/// A text that is said again and again.
pub(crate) fn word(word: &'static str) -> JsValue {
    WORDS.with_borrow_mut(|words| {
        if let Some((_, known)) = words.iter().find(|(text, _)| core::ptr::eq(*text, word)) {
            return known.clone();
        }
        let new = JsValue::from_str(word);
        words.push((word, new.clone()));
        new
    })
}
