//! The engine, reached from the page: in a worker of its own or, where the browser lets the page have
//! none, beside the page on its thread. Both are spoken to by messages.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Function, Reflect};
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{
    DedicatedWorkerGlobalScope, ErrorEvent, MessageChannel, MessageEvent, MessagePort, Worker,
};

#[wasm_bindgen]
extern "C" {
    /// An end of a line of messages: a worker, the scope in it, or a port.
    #[derive(Clone)]
    pub type Port;
    #[wasm_bindgen(method, catch, js_name = postMessage)]
    fn post_moved(this: &Port, message: &JsValue, moved: &Array) -> Result<(), JsValue>;
    #[wasm_bindgen(method, setter, js_name = onmessage)]
    fn set_onmessage(this: &Port, receives: &Function);

    /// Loads the engine once; gives its script and its module. Of `index.html`.
    #[wasm_bindgen(catch, js_name = loadEngine)]
    async fn load_engine() -> Result<JsValue, JsValue>;
    /// Begins a worker. Of `index.html`.
    #[wasm_bindgen(catch, js_name = beginWorker)]
    fn begin_worker(name: &str) -> Result<Worker, JsValue>;
    /// Lets the engine serve on the page's thread. Of `index.html`.
    #[wasm_bindgen(js_name = serveHere)]
    fn serve_here(name: &str, port: &MessagePort);
}

impl Port {
    /// Sends a message; the values in `moved` are no longer here afterwards.
    pub(crate) fn post(&self, message: &JsValue, moved: &Array) {
        // The other end lives as long as this one, and messages are made of values that can be sent.
        let _ = self.post_moved(message, moved);
    }

    /// Hands the messages of the page to `receives`, as long as the engine lives.
    pub(crate) fn listen(&self, receives: impl FnMut(JsValue) + 'static) {
        self.hear(receives).forget();
    }

    fn hear(&self, receives: impl FnMut(JsValue) + 'static) -> Closure<dyn FnMut(MessageEvent)> {
        let mut receives = receives;
        let onmessage =
            Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| receives(event.data()));
        self.set_onmessage(onmessage.as_ref().unchecked_ref());
        onmessage
    }
}

/// Whether this is the thread of a worker.
pub(crate) fn is_worker() -> bool {
    js_sys::global().is_instance_of::<DedicatedWorkerGlobalScope>()
}

/// A message and the values that are moved with it.
type Message = (JsValue, Array);

/// An engine, which ends when it is dropped.
pub(crate) struct Remote {
    port: Port,
    worker: Option<Worker>,
    /// The messages that wait until the engine is loaded.
    early: Rc<RefCell<Option<Vec<Message>>>>,
    _onmessage: Closure<dyn FnMut(MessageEvent)>,
    _onerror: Closure<dyn FnMut(ErrorEvent)>,
}

impl Drop for Remote {
    fn drop(&mut self) {
        match &self.worker {
            Some(worker) => worker.terminate(),
            None => self.port.unchecked_ref::<MessagePort>().close(),
        }
    }
}

impl Remote {
    /// Starts an engine that serves under that name, in a worker if `in_worker`; `told` gets its
    /// messages, or the reason why it broke down. If the engine cannot be loaded, the page says so.
    ///
    /// # Errors
    /// The browser lets the page have no worker.
    pub(crate) fn begin(
        name: &'static str,
        in_worker: bool,
        told: impl Fn(Result<JsValue, String>) + Clone + 'static,
    ) -> Result<Self, JsValue> {
        let failed = told.clone();
        let onerror = Closure::<dyn FnMut(_)>::new(move |event: ErrorEvent| {
            event.prevent_default();
            // A worker that could not be loaded gives no message.
            let said = Reflect::get(&event, &"message".into());
            failed(Err(said.ok().and_then(|it| it.as_string()).unwrap_or_default()));
        });
        let channel = MessageChannel::new()?;
        let worker = if in_worker { Some(worker(name, &onerror)?) } else { None };
        let port: Port = match &worker {
            Some(worker) => worker.clone().unchecked_into(),
            None => channel.port1().unchecked_into(),
        };
        let onmessage = port.hear(move |message| told(Ok(message)));
        let early = Rc::new(RefCell::new(Some(Vec::<Message>::new())));
        let (to, waiting) = (port.clone(), early.clone());
        spawn_local(async move {
            let Ok(engine) = load_engine().await else { return };
            match in_worker {
                true => to.post(&engine, &Array::new()),
                false => serve_here(name, &channel.port2()),
            }
            for (message, moved) in waiting.take().into_iter().flatten() {
                to.post(&message, &moved);
            }
        });
        Ok(Self { port, worker, early, _onmessage: onmessage, _onerror: onerror })
    }

    /// Sends a message to it; the values in `moved` are no longer here afterwards.
    pub(crate) fn say(&self, message: &JsValue, moved: &Array) {
        match &mut *self.early.borrow_mut() {
            Some(early) => early.push((message.clone(), moved.clone())),
            None => self.port.post(message, moved),
        }
    }
}

fn worker(name: &str, onerror: &Closure<dyn FnMut(ErrorEvent)>) -> Result<Worker, JsValue> {
    let worker = begin_worker(name)?;
    worker.set_onerror(Some(onerror.as_ref().unchecked_ref()));
    Ok(worker)
}
