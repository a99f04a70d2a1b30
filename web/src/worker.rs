//! Workers of the page: its own engine once more, on a thread of its own.

use js_sys::Array;
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    DedicatedWorkerGlobalScope, ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType,
};

#[wasm_bindgen]
extern "C" {
    /// Where the script is that this module belongs to.
    #[wasm_bindgen(thread_local_v2, js_namespace = ["import", "meta"], js_name = url)]
    static SCRIPT: String;
}

/// The scope of this worker; nothing on a page.
pub(crate) fn scope() -> Option<DedicatedWorkerGlobalScope> {
    js_sys::global().dyn_into().ok()
}

/// Gives a worker what the page says, for good.
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
    /// Begins a worker of that name; `told` gets what it says, or why it broke down.
    ///
    /// # Errors
    /// The browser lets the page have none.
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
            // One that could not be loaded says nothing.
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

    /// Says something to it; what is in `moved` is no longer here.
    pub(crate) fn say(&self, message: &JsValue, moved: &Array) {
        // It is made of what can be sent.
        let _ = self.worker.post_message_with_transfer(message, moved);
    }
}
