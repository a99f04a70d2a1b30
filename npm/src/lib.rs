//! The engine for JavaScript, from which the npm package `taintlab` is built.
//!
//! This crate converts, forwards and returns; every rule of Kubernetes is in `taintlab_core`. The
//! TypeScript declarations come from the Rust types: `wasm-bindgen` makes those of functions and
//! classes, `tsify` those of objects.
//!
//! - A user's mistake (a wrong manifest, a command that does not fit the cluster) comes back as
//!   `{ ok: false, errors }`: [`problem`].
//! - A wrong call (an array in place of a text) throws a `TypeError`: `input.rs`.
//! - Objects cross the boundary by serde-wasm-bindgen, whole clusters and long lists as one JSON
//!   text: `input.rs`, `output.rs`. Taints and tolerations, which are small and asked about often,
//!   are read and written field by field: `taint_js`.
//! - The module survives whatever a caller gives it: `boundary.js`.
//!
//! Without the feature `simulator` the crate answers only questions that need no cluster in
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
