//! The Taintlab playground: a page that shows a cluster, lets the user change it, and plays what
//! Kubernetes would evict, when, and why.
//!
//! It holds no rule of Kubernetes: what happens comes from `taintlab-core`, what files mean from
//! `taintlab-manifest`. One component, `App`, owns the session; everything else is a small
//! component with properties that are cheap to compare. `Shell` paints the first view and loads the
//! rest.

mod app;
mod browser;
mod components;
mod files;
mod fleet;
mod inspected;
mod later;
mod model;
mod moves;
mod playback;
mod sample;
mod samples;
mod saved;
mod scrub;
mod session;
mod shell;
mod text;
mod theme;
mod warned;
mod words;

/// Puts the playground on the page.
pub fn run() {
    // A bug must not leave a blank page, nor take the user's work with it.
    std::panic::set_hook(Box::new(|info| browser::show_crash(&info.to_string())));
    yew::Renderer::<shell::Shell>::new().render();
}
