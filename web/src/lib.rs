//! The Taintlab playground: a page that shows a cluster, lets the user change it, and plays what
//! Kubernetes would evict, when, and why.
//!
//! The page holds no rule of Kubernetes: `taintlab-core` says what happens, `taintlab-manifest`
//! what files mean. The session is behind plain requests and updates, in a worker if the browser
//! lets the page have one. One component, `App`, shows its state; other components send messages to
//! `App`.

use std::cell::Cell;
use std::rc::Rc;

mod app;
mod board_keys;
mod browser;
mod components;
mod connection;
mod embed;
mod files;
mod focus;
#[cfg(test)]
mod fuzzed;
mod host;
mod keyboard;
mod link;
mod messages;
mod playback;
mod pod_animation;
mod protocol;
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
mod wire;
mod worker;

pub use worker::Port;

/// Serves the page at the other end of `port`, under one of two names: runs its session, or makes
/// the runs of its reports. This is the engine's program.
pub fn serve(name: &str, port: &Port) {
    match name {
        connection::NAME => connection::serve(port),
        _ => reporter::serve(port),
    }
}

/// The first state of the page, with the sample cluster, as the page reads it before the engine is
/// there.
#[must_use]
pub fn sample_picture() -> Vec<u8> {
    host::sample_picture()
}

/// Puts the playground on the page. This is the page's program, which reaches the engine's by
/// messages.
pub fn run() {
    // A bug must not leave a blank page, nor take the user's work with it.
    std::panic::set_hook(Box::new(|info| browser::show_crash(&info.to_string())));
    wasm_bindgen_futures::spawn_local(async {
        // Stored work is read first, so that nothing else is painted before.
        let initial = Rc::new(Cell::new(Some(Box::new(app::begin(tab::Tab::open()).await))));
        yew::Renderer::<app::App>::with_props(app::AppProps { initial }).render();
    });
}
