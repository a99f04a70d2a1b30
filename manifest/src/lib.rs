//! Kubernetes manifests and Taintlab scenario files, in and out.
//!
//! This crate is pure: text in, values and text out. It opens no file; a scenario that names other
//! files asks a function of the caller for them. It holds no rule of Kubernetes: what an API server
//! refuses, `taintlab_core::policy::validation` decides.
//!
//! ```text
//! bytes ─ text_from_bytes ─▶ text ─ yaml or json ─▶ builder ─▶ tree of one object
//!        ─ decode, by the table of fields that enter ─▶ Node, Pod or any other object
//!        ─ validation ─▶ Import + diagnostics
//! ```
//!
//! - [`import`] reads Kubernetes objects, [`export`] writes them.
//! - [`read_scenario`] and [`write_scenario`] do the same for scenario files; [`is_scenario`] tells
//!   one from the other.
//! - A [`Diagnostic`] says what is wrong where: file, line, column, field, and what would be valid.
//!   One run reports all errors, and what is valid is read all the same.
//! - What the engine does not read does not enter, so that nothing secret does: the table is
//!   `fields.rs`, [`Dropped`] counts what was left out, [`ImportOptions::keep_all`] keeps it, and
//!   [`redact_scenario`] cleans what is a value already.
//! - [`Import::into_scenario`] makes a scenario of an import that begins with the release and the
//!   clock of the cluster that it was taken from.
//! - [`timeline_svg`] draws the lanes of a run.
//! - [`demo`] makes a run into what a page shows: HTML and a recording.
//! - [`Limits`] stop hostile texts.
//!
//! Objects go through one at a time, so that a list of many thousands does not need the memory of
//! their trees.

mod builder;
mod decode;
pub mod demo;
mod detect;
mod diagnostic;
mod export;
mod fields;
mod foreign;
mod import;
mod json;
mod json_writer;
mod limits;
pub mod memory;
mod near_miss;
mod redact;
mod report;
mod scalar;
mod scenario;
mod source;
mod storage;
mod svg;
mod tree;
mod typed;
#[cfg(feature = "yaml")]
mod yaml;
mod yaml_writer;

pub use crate::detect::{DetectedRelease, ReleaseKnown};
pub use crate::diagnostic::{DiagnosedObject, Diagnostic, Severity};
pub use crate::export::{Format, Purpose, export, to_json, to_kubectl_yaml, to_yaml};
pub use crate::import::{Import, import, import_in_slices};
pub use crate::limits::{ImportOptions, Limits};
pub use crate::redact::{
    Dropped, Extent, LAST_APPLIED, redact_commands, redact_console_command, redact_scenario,
};
pub use crate::report::{Assumption, ObjectOutcome, ObjectReport};
pub use crate::scenario::{
    ScenarioFile, is_scenario, is_scenario_in_slices, read_from, read_scenario,
    read_scenario_in_slices, read_value, write_scenario,
};
pub use crate::source::{HOW_TO_GET_COMMAND, text_from_bytes};
pub use crate::svg::{SvgOptions, escape_xml, timeline_svg};
pub use crate::typed::{from_json, scenario_from_json, typed};
