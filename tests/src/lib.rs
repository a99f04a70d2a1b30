//! Shared pieces of the tests.

pub mod conformance;
pub mod dice;
pub mod kubelet;
pub mod kubelet_run;
pub mod lifecycle;
pub mod marked;
pub mod model;
pub mod models;
pub mod notation;
mod nullable;
pub mod random;
pub mod soak;
pub mod text;
