//! Kubernetes manifests and Taintlab scenario files, in and out.
//!
//! This crate is pure: text in, values and text out. It opens no file; a scenario that names other
//! files asks a function of the caller for them.

mod builder;
mod decode;
mod diagnostic;
mod export;
mod import;
mod json;
mod json_writer;
mod limits;
mod near_miss;
mod scalar;
mod scenario;
mod source;
mod tree;
mod yaml;
mod yaml_writer;

pub use crate::diagnostic::{Diagnostic, Severity};
pub use crate::export::{Format, Purpose, export, to_yaml};
pub use crate::import::{Import, import};
pub use crate::limits::Limits;
pub use crate::scenario::{ScenarioFile, is_scenario, read_scenario, read_value, write_scenario};
pub use crate::source::text_from_bytes;
