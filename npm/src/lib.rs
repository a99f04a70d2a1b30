//! The engine for JavaScript: what the npm package `taintlab` is built from.
//!
//! Everything here converts, forwards and returns; every rule of Kubernetes is in
//! `taintlab_core`. The TypeScript declarations are made from the Rust types, by `wasm-bindgen` for
//! functions and classes and by `tsify` for the shapes of objects.
//!
//! - What a user can get wrong (a manifest, a command that does not fit the cluster) comes back as
//!   `{ ok: false, errors }`: [`problem`].
//! - A call that is wrong (an array where a text belongs) throws a `TypeError`: `input.rs`.
//! - Objects go over the boundary as one JSON text each way: [`output`].

mod holder;
mod input;
pub mod options;
pub mod output;
pub mod problem;
pub mod questions;
pub mod scenario;
pub mod simulator;

use wasm_bindgen::prelude::wasm_bindgen;

/// Sets up what a panic does. The generated code calls it once, when the module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    holder::report_panics();
}
