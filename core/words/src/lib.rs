//! Sentences and tables, worded once for the command and the page.
//!
//! ```
//! use taintlab_core::api::{Taint, TaintEffect, Toleration, TolerationOperator};
//! use taintlab_core::policy::matching::explain;
//!
//! let taint = Taint::new("example.com/maintenance", "", TaintEffect::NoExecute);
//! let toleration = Toleration {
//!     operator: TolerationOperator::Exists,
//!     effect: TaintEffect::NoExecute,
//!     toleration_seconds: Some(90),
//!     ..Toleration::default()
//! };
//! let explanation = explain(&[taint], &[toleration], false);
//! assert_eq!(
//!     taintlab_words::matching::verdict(&explanation.verdict),
//!     "a running pod is evicted after 1m30s: toleration 1 limits the time"
//! );
//! ```
#![no_std]

extern crate alloc;

pub mod matching;
pub mod outage;
mod parts;
pub mod plan;
pub mod report;
pub mod solve;
mod table;

pub use self::table::{Style, table};
