//! Listeners for keys, focus, history, pasting, dropping and leaving, anywhere on the page.

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::Window;
use yew::html::Scope;
use yew::prelude::*;

use super::{App, incoming};
use crate::messages::{Dispatch, Msg};
use crate::{browser, keyboard};

/// Listeners for keys, focus, history, pasting, dropping and leaving, anywhere on the page.
pub(super) fn all(app: &Scope<App>, dispatch: &Dispatch) -> Vec<EventListener> {
    let Some(window) = browser::window() else { return Vec::new() };
    let on = |event: &'static str, react: fn(&Event) -> Option<Msg>| {
        let dispatch = dispatch.clone();
        let options = EventListenerOptions::enable_prevent_default();
        EventListener::new_with_options(&window, event, options, move |event| {
            if let Some(msg) = react(event) {
                dispatch.emit(msg);
            }
        })
    };
    vec![
        on("keydown", |event| keyboard::pressed(event.dyn_ref()?)),
        on("focusin", |event| Some(Msg::Focused(event.target()?.dyn_into().ok()?))),
        on("popstate", |_| Some(Msg::WentBack)),
        on("paste", |event| incoming::pasted(event.dyn_ref()?)),
        on("dragover", |event| incoming::dragged(event.dyn_ref()?, true)),
        on("dragleave", |event| incoming::dragged(event.dyn_ref()?, false)),
        on("drop", |event| incoming::dropped(event.dyn_ref()?)),
        leaving(app, &window),
        asking_to_stay(app, &window),
        on("pagehide", |_| Some(Msg::Leave)),
        on("pageshow", |_| Some(Msg::Return)),
    ]
}

/// Notes the work when the page is left. A message would not do: a busy page handles messages in a
/// later task, and a page that is left has none.
fn leaving(app: &Scope<App>, window: &Window) -> EventListener {
    let app = app.clone();
    EventListener::new(window, "pagehide", move |_| {
        if let Some(app) = app.get_component() {
            app.record_work();
        }
    })
}

/// Lets the browser ask whether to leave while work would be lost by it.
fn asking_to_stay(app: &Scope<App>, window: &Window) -> EventListener {
    let app = app.clone();
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(window, "beforeunload", options, move |event| {
        if app.get_component().is_some_and(|app| app.needs_page()) {
            event.prevent_default();
        }
    })
}
