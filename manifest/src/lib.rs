//! Kubernetes manifests and Taintlab scenario files, in and out.
//!
//! This crate is pure: text in, values and text out. It opens no file; a scenario that names other
//! files asks a function of the caller for them. It holds no rule of Kubernetes: what an API server
//! would say about an object, `taintlab_core::validation` says.
//!
//! ```text
//! bytes ─ text_from_bytes ─▶ text ─ yaml or json ─▶ builder ─▶ tree of one object
//!        ─ decode ─▶ Node, Pod or any other object ─ validation ─▶ Import + diagnostics
//! ```
//!
//! - [`import`] reads Kubernetes objects, [`export`] writes them.
//! - [`read_scenario`] and [`write_scenario`] do the same for scenario files; [`is_scenario`] tells
//!   one from the other.
//! - [`kubectl`] runs lines of `kubectl` against a simulation.
//! - A [`Diagnostic`] says what is wrong where: file, line, column, field, and what would be valid.
//!   One run reports all errors, and what is right is taken all the same.
//! - [`Limits`] stop hostile texts.
//!
//! Objects go through one at a time, so that a list of many thousands does not need the memory of
//! their trees.

mod builder;
mod decode;
mod diagnostic;
mod export;
mod import;
mod json;
mod json_writer;
pub mod kubectl;
mod limits;
mod near_miss;
mod scalar;
mod scenario;
mod source;
mod tree;
#[cfg(feature = "yaml")]
mod yaml;
mod yaml_writer;

pub use crate::diagnostic::{Diagnostic, Severity};
pub use crate::export::{Format, Purpose, export, to_yaml};
pub use crate::import::{Import, import};
pub use crate::limits::Limits;
pub use crate::scenario::{ScenarioFile, is_scenario, read_scenario, read_value, write_scenario};
pub use crate::source::text_from_bytes;
