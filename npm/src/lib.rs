//! The engine for JavaScript: what the npm package `taintlab` is built from.
//!
//! Everything here converts, forwards and returns; every rule of Kubernetes is in
//! `taintlab_core`. The TypeScript declarations are made from the Rust types, by `wasm-bindgen` for
//! functions and classes and by `tsify` for the shapes of objects.
//!
//! - What a user can get wrong (a manifest, a command that does not fit the cluster) comes back as
//!   `{ ok: false, errors }`: [`problem`].
//! - A call that is wrong (an array where a text belongs) throws a `TypeError`: `input.rs`.
//! - Objects go over the boundary by serde-wasm-bindgen, whole clusters and long lists as one JSON
//!   text: `input.rs`, `output.rs`. Taints and tolerations, which are small and asked about often,
//!   are read and written field by field: `taint_js`.
//! - Whatever a caller gives, the module survives it: `boundary.js`.
//!
//! Without the feature `simulator` only the questions are there that ask nothing of a cluster in
//! simulated time: that is `taintlab/lite`.

#[cfg(feature = "simulator")]
mod cluster;
#[cfg(feature = "simulator")]
pub mod demo;
#[cfg(feature = "simulator")]
mod exclusive_cell;
mod input;
mod js;
mod kubernetes;
#[cfg(feature = "simulator")]
pub mod manifests;
pub mod options;
#[cfg(feature = "simulator")]
mod output;
mod panics;
pub mod problem;
pub mod questions;
#[cfg(feature = "simulator")]
pub mod ranking;
#[cfg(feature = "simulator")]
pub mod report;
#[cfg(feature = "simulator")]
pub mod scenario;
#[cfg(feature = "simulator")]
pub mod simulator;
mod taint_js;
#[cfg(feature = "simulator")]
pub mod whatif;

use wasm_bindgen::prelude::wasm_bindgen;

/// Makes the module ready. The generated code calls it once, when the module is loaded.
#[wasm_bindgen(start, skip_typescript)]
pub fn start() {
    js::attach(&wasm_bindgen::exports());
    panics::report();
}

/// Loads the module anew: what is called next begins with memory of its own, and what was before is
/// given back. Simulators and snapshots from before can no longer be used, and say so.
///
/// Nobody needs it but after an internal error, such as when memory runs out: a call that ends so
/// leaves the simulator that was at work unusable, and what that held allocated.
#[wasm_bindgen]
pub fn reset() {
    wasm_bindgen::handler::schedule_reinit();
}
