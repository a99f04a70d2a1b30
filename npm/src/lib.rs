//! The engine for JavaScript: what the npm package `taintlab` is built from.
//!
//! Everything here converts, forwards and returns; every rule of Kubernetes is in
//! `taintlab_core`. The TypeScript declarations are made from the Rust types, by `wasm-bindgen` for
//! functions and classes and by `tsify` for the shapes of objects.
//!
//! - What a user can get wrong (a manifest, a command that does not fit the cluster) comes back as
//!   `{ ok: false, errors }`: [`problem`].
//! - A call that is wrong (an array where a text belongs) throws a `TypeError`: `input.rs`.
//! - Objects go over the boundary as one JSON text each way: `output.rs`. Taints and tolerations,
//!   which are small and asked about often, go property by property: `plain.rs`.

//!
//! Without the feature `simulator` only the questions are there that ask nothing of a cluster in
//! simulated time: that is `taintlab/lite`.

#[cfg(feature = "simulator")]
mod cluster;
mod explained;
#[cfg(feature = "simulator")]
mod holder;
mod input;
#[cfg(feature = "simulator")]
pub mod manifests;
pub mod options;
#[cfg(feature = "simulator")]
pub mod output;
mod panics;
mod plain;
pub mod problem;
pub mod questions;
#[cfg(feature = "simulator")]
pub mod ranking;
mod reading;
#[cfg(feature = "simulator")]
pub mod scenario;
#[cfg(feature = "simulator")]
pub mod simulator;
#[cfg(feature = "simulator")]
pub mod whatif;

use wasm_bindgen::prelude::wasm_bindgen;

/// Sets up what a panic does. The generated code calls it once, when the module is loaded.
#[wasm_bindgen(start, skip_typescript)]
pub fn start() {
    panics::report();
}
