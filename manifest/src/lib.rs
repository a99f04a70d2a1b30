//! Kubernetes manifests and Taintlab scenario files, in and out.
//!
//! This crate is pure: text in, values and text out. It opens no file; if a scenario names other
//! files, it asks a function of the caller for them. It holds no rule of Kubernetes:
//! `taintlab_core::policy::validation` decides what an API server refuses.
//!
//! ```text
//! bytes ─ text_from_bytes ─▶ text ─ yaml or json ─▶ builder ─▶ tree of one object
//!        ─ decode, by the table of fields that enter ─▶ Node, Pod or any other object
//!        ─ validation ─▶ Import + diagnostics
//! ```
//!
//! - [`import`] reads Kubernetes objects, [`export`] writes them; [`import_together`] reads several
//!   texts as one cluster, side by side or applied onto one another.
//! - [`read_scenario`] and [`write_scenario`] do the same for scenario files; [`is_scenario`] tells
//!   one from the other.
//! - A [`Diagnostic`] names the problem and its place: file, line, column, field, and what would be
//!   valid. One run reports all errors and still reads everything valid.
//! - Fields that the engine does not read are dropped, so that no secret enters: `fields.rs` is the
//!   table of those that enter, [`Dropped`] counts those left out, [`ImportOptions::keep_all`]
//!   keeps them, and [`redact_scenario`] cleans a scenario that is a value already.
//! - [`Import::into_scenario`] makes a scenario of an import. It begins with the release and the
//!   clock of the cluster that the import was taken from.
//! - [`timeline_svg`] draws the lanes of a run.
//! - [`demo`] turns a run into HTML and a recording for a page.
//! - [`Limits`] stop hostile texts.
//!
//! Objects are read one at a time, so that a list of many thousands needs no memory for all of
//! their trees.
//!
//! ```
//! use taintlab_manifest::{ImportOptions, import};
//!
//! let text = "
//! apiVersion: v1
//! kind: Node
//! metadata: {name: worker-1}
//! spec: {taints: [{key: example.com/maintenance, effect: NoExecute}]}
//! ";
//! let cluster = import(text, "cluster.yaml", ImportOptions::default());
//! assert!(cluster.diagnostics.is_empty());
//! assert_eq!(cluster.nodes[0].spec.taints[0].key, "example.com/maintenance");
//! ```

mod builder;
mod decode;
pub mod demo;
mod detect;
mod diagnostic;
mod dropped;
mod export;
mod fields;
mod foreign;
mod image;
mod import;
mod json;
mod json_writer;
mod limits;
pub mod memory;
mod near_miss;
mod newest;
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
pub use crate::dropped::Dropped;
pub use crate::export::{Format, Purpose, export, to_json, to_kubectl_yaml, to_yaml};
pub use crate::import::{
    Import, Sought, Text, import, import_in_slices, import_together, places_of,
};
pub use crate::limits::{ImportOptions, Limits};
pub use crate::redact::{
    Extent, LAST_APPLIED, redact_commands, redact_console_command, redact_scenario,
};
pub use crate::report::{Assumption, ObjectOutcome, ObjectReport};
pub use crate::scenario::{
    ScenarioFile, is_scenario, is_scenario_in_slices, read_from, read_scenario,
    read_scenario_in_slices, read_value, write_scenario,
};
pub use crate::source::{HOW_TO_GET_COMMAND, text_from_bytes};
pub use crate::svg::{SvgOptions, escape_xml, timeline_svg};
pub use crate::typed::{from_json, scenario_from_json, typed};
