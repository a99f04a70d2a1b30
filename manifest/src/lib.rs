//! Kubernetes manifests and Taintlab scenario files, in and out.
//!
//! This crate is pure: text in, values and text out. It opens no file; a scenario that names other
//! files asks a function of the caller for them.

mod decode;
mod diagnostic;
mod import;
mod json;
mod limits;
mod near_miss;
mod scalar;
mod source;
mod tree;
mod yaml;

pub use crate::diagnostic::{Diagnostic, Severity};
pub use crate::import::{Import, import};
pub use crate::limits::Limits;
pub use crate::source::text_from_bytes;
