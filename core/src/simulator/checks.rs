//! What the API server refuses.
use super::Simulator;
use crate::api::{Node, Pod};
use crate::release::FeatureGate;
use crate::validation::{FieldError, ValidationOptions};
use alloc::vec::Vec;
impl Simulator {
    pub(super) fn validation_options(&self) -> ValidationOptions {
        ValidationOptions {
            exists_value_dump: self.config.release.validation_shows_whole_toleration(),
            comparison_operators: self
                .gates
                .is_enabled(FeatureGate::TaintTolerationComparisonOperators),
        }
    }
}
pub(super) fn validate_node(_: &Node, _: &ValidationOptions) -> Vec<FieldError> {
    Vec::new()
}
pub(super) fn validate_pod(_: &Pod, _: &ValidationOptions) -> Vec<FieldError> {
    Vec::new()
}
pub(super) fn validate_pod_update(_: &Pod, _: &Pod, _: &ValidationOptions) -> Vec<FieldError> {
    Vec::new()
}
