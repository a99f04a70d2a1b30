//! What is added to objects when they are created.

use alloc::borrow::ToOwned;

use crate::api::{TaintEffect, Toleration, TolerationOperator, well_known};

/// The default of `--default-not-ready-toleration-seconds` and of
/// `--default-unreachable-toleration-seconds`.
pub const DEFAULT_TOLERATION_SECONDS: i64 = 300;

/// The tolerations that a pod gets which has none of its own, in their order: for nodes that are
/// not ready, and for nodes that are unreachable. Mirrors the admission plugin
/// `DefaultTolerationSeconds`.
#[must_use]
pub fn default_tolerations() -> [Toleration; 2] {
    [well_known::NOT_READY, well_known::UNREACHABLE].map(|key| Toleration {
        key: key.to_owned(),
        operator: TolerationOperator::Exists,
        effect: TaintEffect::NoExecute,
        toleration_seconds: Some(DEFAULT_TOLERATION_SECONDS),
        ..Toleration::default()
    })
}
