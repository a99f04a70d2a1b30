//! A policy about the tolerations of one object.
//!
//! [`Settings`] configure it, [`judge`] finds the rules that an object breaks, and [`correct`] brings
//! its times within the bounds. [`policies`] writes the same rules as manifests for a
//! cluster: those of a ValidatingAdmissionPolicy and of Kyverno in CEL (see [`cel`]).
//!
//! Admission sees one object. It can say how long its pods stay on a lost node; the effect on a
//! service depends on all other objects, and only a report shows it.
//!
//! ```
//! use serde_json::json;
//! use taintlab_admission::{Rule, Settings, judge};
//!
//! let pod = json!({
//!     "apiVersion": "v1",
//!     "kind": "Pod",
//!     "metadata": { "name": "web-0" },
//!     "spec": { "tolerations": [{ "operator": "Exists" }] }
//! });
//! let findings = judge(&pod, &Settings::default()).map(|judgement| judgement.findings);
//! let findings = findings.unwrap_or_default();
//! assert_eq!(findings[0].rule, Rule::ToleratesEveryTaint);
//! ```

pub mod cel;
mod correct;
mod judge;
mod policies;
mod settings;
mod subject;

pub use taintlab_answers::fields::Misread;

pub use crate::correct::correct;
pub use crate::judge::{Finding, Judgement, LONGEST, Rule, judge};
pub use crate::policies::{Target, policies};
pub use crate::settings::{Bounds, Mode, Settings};
