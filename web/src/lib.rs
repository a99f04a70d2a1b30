//! The Taintlab playground: a page that shows a cluster, lets the user change it, and plays what
//! Kubernetes would evict, when, and why.
//!
//! It holds no rule of Kubernetes: what happens comes from `taintlab-core`, what files mean from
//! `taintlab-manifest`. One component, `App`, owns the session; it turns what the session does into
//! view models, which the components show. Components send messages to it.

use std::cell::Cell;
use std::rc::Rc;

mod app;
mod board_keys;
mod browser;
mod components;
mod embed;
mod files;
mod focus;
mod keyboard;
mod link;
mod messages;
mod playback;
mod pod_animation;
mod reporter;
mod samples;
mod saved;
mod session;
mod store;
mod streams;
mod tab;
mod test_id;
mod text;
mod theme;
mod view_models;

/// Puts the playground on the page; in a worker of the page, makes the runs of its reports.
pub fn run() {
    if let Some(scope) = reporter::scope() {
        return reporter::serve(&scope);
    }
    // A bug must not leave a blank page, nor take the user's work with it.
    std::panic::set_hook(Box::new(|info| browser::show_crash(&info.to_string())));
    wasm_bindgen_futures::spawn_local(async {
        // What is stored is read first, so that nothing else is painted before.
        let initial = Rc::new(Cell::new(Some(Box::new(app::begin(tab::Tab::open()).await))));
        yew::Renderer::<app::App>::with_props(app::AppProps { initial }).render();
    });
}
