//! The styles of elements.

use wasm_bindgen::JsValue;

/// A value for Yew's `~style`, which sets the property: the page's Content-Security-Policy forbids
/// the attribute. Outside the browser there are no properties, and this is empty.
pub(crate) fn style(text: String) -> JsValue {
    if cfg!(target_arch = "wasm32") { JsValue::from(text) } else { JsValue::NULL }
}
