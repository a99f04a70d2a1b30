//! TypeScript declarations of Kubernetes' fields that the engine does not read.
//!
//! The types are closed, so that a misspelt field does not compile: every field of Kubernetes is
//! named, and those that the engine only keeps are `unknown`.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(typescript_custom_section)]
const NODES: &str = include_str!("kubernetes/nodes.d.ts");

#[cfg(feature = "simulator")]
#[wasm_bindgen(typescript_custom_section)]
const PODS: &str = include_str!("kubernetes/pods.d.ts");
