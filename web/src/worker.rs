//! The workers of the page: its own engine once more, on a thread of its own.

use js_sys::Array;
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    DedicatedWorkerGlobalScope, ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType,
};

#[wasm_bindgen]
extern "C" {
    /// The address of the script to which this module belongs.
    #[wasm_bindgen(thread_local_v2, js_namespace = ["import", "meta"], js_name = url)]
    static SCRIPT: String;
}

/// The scope of this worker; none on a page.
pub(crate) fn scope() -> Option<DedicatedWorkerGlobalScope> {
    js_sys::global().dyn_into().ok()
}

/// Hands the messages of the page to `receives`, as long as the worker lives.
pub(crate) fn listen(scope: &DedicatedWorkerGlobalScope, receives: impl FnMut(JsValue) + 'static) {
    let mut receives = receives;
    let onmessage = Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| receives(event.data()));
    scope.set_onmessage(Some(onmessage.as_ref().unchecked_ref()));
    onmessage.forget();
}

/// A worker, which ends when it is dropped.
pub(crate) struct Remote {
    worker: Worker,
    _onmessage: Closure<dyn FnMut(MessageEvent)>,
    _onerror: Closure<dyn FnMut(ErrorEvent)>,
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

impl Remote {
    /// Starts a worker of that name; `told` gets its messages, or the reason why it broke down.
    ///
    /// # Errors
    /// The browser lets the page have no worker.
    pub(crate) fn begin(
        name: &str,
        told: impl Fn(Result<JsValue, String>) + Clone + 'static,
    ) -> Result<Self, JsValue> {
        let script = SCRIPT.with(Clone::clone);
        let url = web_sys::Url::new_with_base("worker.js", &script)?.href();
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        options.set_name(name);
        let worker = Worker::new_with_options(&url, &options)?;
        let answered = told.clone();
        let onmessage =
            Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| answered(Ok(event.data())));
        let onerror = Closure::<dyn FnMut(_)>::new(move |event: ErrorEvent| {
            event.prevent_default();
            // A worker that could not be loaded gives no message.
            let said = js_sys::Reflect::get(&event, &"message".into());
            told(Err(said.ok().and_then(|it| it.as_string()).unwrap_or_default()));
        });
        worker.set_onmessage(Some(onmessage.as_ref().unchecked_ref()));
        worker.set_onerror(Some(onerror.as_ref().unchecked_ref()));
        let begin = js_sys::Object::new();
        js_sys::Reflect::set(&begin, &"script".into(), &script.into())?;
        js_sys::Reflect::set(&begin, &"module".into(), &wasm_bindgen::module())?;
        worker.post_message(&begin)?;
        Ok(Self { worker, _onmessage: onmessage, _onerror: onerror })
    }

    /// Sends a message to it; the values in `moved` are no longer here afterwards.
    pub(crate) fn say(&self, message: &JsValue, moved: &Array) {
        // The message is made of values that can be sent.
        let _ = self.worker.post_message_with_transfer(message, moved);
    }
}
