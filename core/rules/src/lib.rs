//! The rules of Kubernetes as pure functions, and the words that they are about: objects, times,
//! releases, zones and queues. `taintlab-core` shows this crate together with those above it.
//!
//! ```
//! use taintlab_rules::api::{Taint, TaintEffect, Toleration, TolerationOperator};
//! use taintlab_rules::policy::matching::{min_toleration_time, tolerates};
//!
//! let taint = Taint::new("example.com/maintenance", "", TaintEffect::NoExecute);
//! let toleration = Toleration {
//!     operator: TolerationOperator::Exists,
//!     effect: TaintEffect::NoExecute,
//!     toleration_seconds: Some(90),
//!     ..Toleration::default()
//! };
//! assert!(tolerates(&toleration, &taint, false));
//! assert_eq!(min_toleration_time([&toleration]), 90_000_000_000);
//! ```
#![no_std]

extern crate alloc;

pub mod api;
pub mod cluster;
pub mod order;
pub mod plural;
pub mod policy;
pub mod protocol;
pub mod queue;
pub mod quote;
pub mod release;
pub mod slices;
pub mod time;
