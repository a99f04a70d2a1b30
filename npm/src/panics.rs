//! Handling of panics in the engine.

use wasm_bindgen::JsError;

/// Turns a panic into an exception that says what happened.
///
/// The exception leaves the module immediately, without unwinding: a simulator that was at work
/// stays taken out of its cell forever, and everything else remains intact.
pub(crate) fn report() {
    std::panic::set_hook(Box::new(|info| {
        if cfg!(target_family = "wasm") {
            let message = format!("taintlab: internal error, please report it: {info}{CREATE}");
            wasm_bindgen::throw_val(JsError::new(&message).into());
        }
    }));
}

const CREATE: &str = if cfg!(feature = "simulator") {
    "; a simulator that was at work can no longer be used, create a new one"
} else {
    ""
};
