//! Questions and answers in JSON, shared by the windows that speak it.
//!
//! The types here only name and order what the engine answers; every rule of Kubernetes is in
//! `taintlab_core`. Without the feature `simulator` they are those of questions that need no cluster
//! in simulated time.
//!
//! ```
//! use serde_json::json;
//! use taintlab_answers::fields::Fields;
//!
//! let question = json!({ "taints": [{ "key": "example.com/maintenance", "effect": "NoExecute" }] });
//! let taints = Fields::of(&question, "question", &["taints"]).and_then(|it| it.taints());
//! assert_eq!(taints.map(|taints| taints.len()).ok(), Some(1));
//! ```

#[cfg(feature = "simulator")]
pub mod cluster;
pub mod fields;
pub mod options;
pub mod problem;
pub mod questions;
#[cfg(feature = "simulator")]
pub mod read;
#[cfg(feature = "simulator")]
pub mod scenario;
#[cfg(feature = "simulator")]
pub mod simulation;
#[cfg(feature = "simulator")]
pub mod whatif;
