//! What the API server accepts, in its own words.
//!
//! Mirrors the parts of `k8s.io/kubernetes/pkg/apis/core/validation` and
//! `k8s.io/apimachinery/pkg/util/validation` that concern taints, tolerations, names and labels.
//! The texts are those of 1.20.

mod field_error;
mod workloads;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::num::IntErrorKind;

use crate::api::{
    Node, ObjectMeta, Pod, Taint, TaintEffect, Toleration, TolerationOperator, in_bytes,
};
use crate::order::Order;
use crate::policy::matching::is_canonical;
use crate::quote::go_quote;
use crate::release::{FeatureGate, FeatureGates, KubernetesRelease};

pub use crate::api::{
    is_dns1123_label, is_dns1123_subdomain, is_qualified_name, is_valid_label_value, label_words,
    validate_namespace_name, validate_node_name, validate_pod_name,
};
pub use field_error::{BadValue, FieldError, FieldErrorType};
pub use workloads::{validate_budget, validate_workload};

/// In what the API servers of different releases and settings differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValidationOptions {
    /// Whether the error for `operator: Exists` with a value shows the whole toleration (to 1.31)
    /// or only the value.
    pub exists_value_dump: bool,
    /// Whether the operators `Lt` and `Gt` may be used: the feature gate
    /// `TaintTolerationComparisonOperators`.
    pub comparison_operators: bool,
    /// Whether the error for `Lt` and `Gt` names them as supported where they may not be used
    /// (since 1.35).
    pub names_comparison_operators: bool,
    /// Whether errors about labels count bytes, not characters (since 1.35).
    pub counts_bytes_of_labels: bool,
    /// Whether errors show objects as JSON, not as Go literals (since 1.34).
    pub shows_json: bool,
    /// Whether a DaemonSet may have `maxSurge` (since 1.22). Before, the API server drops it.
    pub daemon_set_surge: bool,
    /// Whether a Job may have `backoffLimitPerIndex` and `maxFailedIndexes` (since 1.29, where they
    /// are on by default). Before, the API server drops them.
    pub backoff_limit_per_index: bool,
}

impl ValidationOptions {
    /// What a release with these feature gates does.
    #[must_use]
    pub fn new(release: KubernetesRelease, gates: &FeatureGates) -> Self {
        Self {
            exists_value_dump: release.validation_shows_whole_toleration(),
            comparison_operators: gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators),
            names_comparison_operators: release.validation_names_comparison_operators(),
            counts_bytes_of_labels: release.counts_bytes_of_labels(),
            shows_json: release.validation_shows_json(),
            daemon_set_surge: release.has_daemon_set_surge(),
            backoff_limit_per_index: release.has_backoff_limit_per_index(),
        }
    }

    /// Messages about a label's key or value in the words of the release.
    fn words(&self, messages: Vec<String>) -> Vec<String> {
        if self.counts_bytes_of_labels { in_bytes(messages) } else { messages }
    }
}

/// Checks the tolerations of a new pod; `path` is where they are, `spec.tolerations`. Mirrors
/// `ValidateTolerations`.
#[must_use]
pub fn validate_tolerations(
    tolerations: &[Toleration],
    path: &str,
    options: &ValidationOptions,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, toleration) in tolerations.iter().enumerate() {
        let mut found = Vec::new();
        if !toleration.key.is_empty() {
            found.extend(label_name(&toleration.key, "key", options));
        }
        if toleration.key.is_empty() && toleration.operator != TolerationOperator::Exists {
            found.push(FieldError::invalid(
                "operator",
                toleration.operator.as_str(),
                "operator must be Exists when `key` is empty, which means \"match all values and \
                 all keys\"",
            ));
        }
        if toleration.toleration_seconds.is_some() && toleration.effect != TaintEffect::NoExecute {
            found.push(FieldError::invalid(
                "effect",
                toleration.effect.as_str(),
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            ));
        }
        validate_operator(toleration, options, &mut found);
        if !toleration.effect.is_empty() {
            found.extend(validate_taint_effect(&toleration.effect));
        }
        errors.extend(within(path, index, found));
    }
    errors
}

/// Errors of an element of a list, in which fields are named from the element on. So the path of an
/// element is put together only if something is wrong with it.
fn within(path: &str, index: usize, found: Vec<FieldError>) -> impl Iterator<Item = FieldError> {
    found.into_iter().map(move |error| {
        let dot = if error.field.is_empty() { "" } else { "." };
        FieldError { field: format!("{path}[{index}]{dot}{}", error.field), ..error }
    })
}

/// Checks operator and value of a toleration.
fn validate_operator(
    toleration: &Toleration,
    options: &ValidationOptions,
    errors: &mut Vec<FieldError>,
) {
    let value = toleration.value.as_str();
    match toleration.operator {
        TolerationOperator::Empty | TolerationOperator::Equal => {
            let messages = options.words(is_valid_label_value(value));
            if !messages.is_empty() {
                errors.push(FieldError::invalid("operator", value, messages.join(";")));
            }
        }
        TolerationOperator::Exists => {
            if !value.is_empty() {
                let bad_value = if options.exists_value_dump {
                    BadValue::Toleration(toleration.clone())
                } else {
                    value.into()
                };
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.push(FieldError::invalid("operator", bad_value, detail));
            }
        }
        TolerationOperator::Lt | TolerationOperator::Gt if options.comparison_operators => {
            let mut invalid = |detail: &str| {
                errors.push(FieldError::invalid("value", value, detail));
            };
            if value.is_empty() {
                invalid("must be non-empty");
            } else if !is_canonical(value) {
                invalid("must be a valid decimal integer in canonical form");
            }
            if let Err(error) = value.parse::<i64>() {
                let why = match error.kind() {
                    IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                    _ => "invalid syntax",
                };
                invalid(&format!("strconv.ParseInt: parsing {}: {why}", go_quote(value)));
            }
        }
        TolerationOperator::Lt | TolerationOperator::Gt | TolerationOperator::Other(_) => {
            let is_known = !matches!(toleration.operator, TolerationOperator::Other(_));
            let supported: &[&str] = if is_known && options.names_comparison_operators {
                &["Equal", "Exists", "Lt", "Gt"]
            } else {
                &["Equal", "Exists"]
            };
            errors.push(FieldError::not_supported(
                "operator",
                toleration.operator.as_str(),
                supported.iter().copied(),
            ));
        }
    }
}

/// Checks an effect that is not empty. Mirrors `validateTaintEffect`.
fn validate_taint_effect(effect: &TaintEffect) -> Option<FieldError> {
    if TaintEffect::KNOWN.contains(effect) {
        return None;
    }
    let supported = TaintEffect::KNOWN.iter().map(TaintEffect::as_str);
    Some(FieldError::not_supported("effect", effect.as_str(), supported))
}

/// Checks the taints of a node, in the words of old releases. The API server's `path` is
/// `metadata.taints`, although the taints are in `spec.taints`. Mirrors `validateNodeTaints`.
#[must_use]
pub fn validate_node_taints(taints: &[Taint], path: &str) -> Vec<FieldError> {
    check_node_taints(taints, path, &ValidationOptions::default())
}

/// Validates the taints in the words of a release.
#[must_use]
pub fn check_node_taints(
    taints: &[Taint],
    path: &str,
    options: &ValidationOptions,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, taint) in taints.iter().enumerate() {
        let mut found = label_name(&taint.key, "key", options);
        let messages = options.words(is_valid_label_value(&taint.value));
        if !messages.is_empty() {
            found.push(FieldError::invalid("value", taint.value.as_str(), messages.join(";")));
        }
        if taint.effect.is_empty() {
            found.push(FieldError::required("effect", ""));
        } else {
            found.extend(validate_taint_effect(&taint.effect));
        }
        if taints.iter().take(index).any(|earlier| earlier.matches(taint)) {
            let bad_value = match options.shows_json {
                true => BadValue::TaintAsJson(taint.clone()),
                false => BadValue::Taint(taint.clone()),
            };
            let detail = "taints must be unique by key and effect pair";
            found.push(FieldError::duplicate("", bad_value, detail));
        }
        errors.extend(within(path, index, found));
    }
    errors
}

/// Checks the tolerations of a pod that exists: old ones may change nothing but their
/// `tolerationSeconds`, new ones may come anywhere. Mirrors `validateOnlyAddedTolerations`.
#[must_use]
pub fn validate_only_added_tolerations(
    new: &[Toleration],
    old: &[Toleration],
    path: &str,
    options: &ValidationOptions,
) -> Vec<FieldError> {
    if !old.iter().all(|old| new.iter().any(|new| new.matches(old))) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        return Vec::from([FieldError::forbidden(path, detail)]);
    }
    validate_tolerations(new, path, options)
}

/// Checks a label key, which is also what a taint's key is, in the words of old releases. Mirrors
/// `ValidateLabelName`.
#[must_use]
pub fn validate_label_name(name: &str, path: &str) -> Vec<FieldError> {
    label_name(name, path, &ValidationOptions::default())
}

fn label_name(name: &str, path: &str, options: &ValidationOptions) -> Vec<FieldError> {
    let invalid = |message: String| FieldError::invalid(path, name, message);
    options.words(is_qualified_name(name)).into_iter().map(invalid).collect()
}

/// Checks labels, keys and values, in the words of old releases. Mirrors `ValidateLabels`.
#[must_use]
pub fn validate_labels(labels: &BTreeMap<String, String>, path: &str) -> Vec<FieldError> {
    check_labels(labels, path, &ValidationOptions::default())
}

fn check_labels(
    labels: &BTreeMap<String, String>,
    path: &str,
    options: &ValidationOptions,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in labels {
        errors.extend(label_name(key, path, options));
        for message in options.words(is_valid_label_value(value)) {
            errors.push(FieldError::invalid(path, value.as_str(), message));
        }
    }
    errors
}

/// Checks the name and the labels of a node, and its taints. Mirrors `ValidateNode`.
#[must_use]
pub fn validate_node(node: &Node, options: &ValidationOptions) -> Vec<FieldError> {
    let mut errors = validate_name(&node.metadata.name, validate_node_name);
    errors.extend(validate_keys(&node.metadata, options));
    errors.extend(check_node_taints(&node.spec.taints, "metadata.taints", options));
    errors
}

/// Checks the name, the namespace and the labels of a new pod, the node's name if there is one,
/// and the tolerations. Mirrors `ValidatePodCreate`.
#[must_use]
pub fn validate_pod(pod: &Pod, options: &ValidationOptions) -> Vec<FieldError> {
    let mut errors = validate_name(&pod.metadata.name, validate_pod_name);
    let namespace = pod.metadata.namespace.as_str();
    if namespace.is_empty() {
        errors.push(FieldError::required("metadata.namespace", ""));
    } else {
        let invalid = |message| FieldError::invalid("metadata.namespace", namespace, message);
        errors.extend(validate_namespace_name(namespace).into_iter().map(invalid));
    }
    errors.extend(validate_keys(&pod.metadata, options));
    let node = pod.spec.node_name.as_str();
    if !node.is_empty() {
        let invalid = |message| FieldError::invalid("spec.nodeName", node, message);
        errors.extend(validate_node_name(node).into_iter().map(invalid));
    }
    errors.extend(validate_tolerations(&pod.spec.tolerations, "spec.tolerations", options));
    errors.extend(validate_requests(pod));
    errors
}

/// Requests of what cannot be overcommitted must be limits too. Mirrors
/// `ValidateResourceRequirements`.
fn validate_requests(pod: &Pod) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for list in ["initContainers", "containers"] {
        let containers = pod.spec.other.get(list).and_then(serde_json::Value::as_array);
        for (index, container) in containers.into_iter().flatten().enumerate() {
            let amounts =
                |field: &str| container.pointer(field).and_then(|value| value.as_object());
            let limits = amounts("/resources/limits");
            let requests = amounts("/resources/requests").into_iter().flatten();
            for (name, _) in requests {
                let native = !name.contains('/') || name.contains("kubernetes.io/");
                let overcommits = native && !name.starts_with("hugepages-");
                if !overcommits && limits.is_none_or(|limits| !limits.contains_key(name)) {
                    errors.push(FieldError::required(
                        format!("spec.{list}[{index}].resources.limits"),
                        "Limit must be set for non overcommitable resources",
                    ));
                }
            }
        }
    }
    errors
}

/// Checks what changes when `old` becomes `new`: the labels, the tolerations, the finalizers of a
/// pod that is being deleted, and the node, which only a binding may set. `Lt` and `Gt` are accepted
/// too if the old pod has them. Mirrors `ValidatePodUpdate` and, for these operators,
/// `GetValidationOptionsFromPodSpecAndMeta`.
#[must_use]
pub fn validate_pod_update(new: &Pod, old: &Pod, options: &ValidationOptions) -> Vec<FieldError> {
    let mut errors = validate_keys(&new.metadata, options);
    let compares = |toleration: &Toleration| {
        matches!(toleration.operator, TolerationOperator::Lt | TolerationOperator::Gt)
    };
    let comparison_operators =
        options.comparison_operators || old.spec.tolerations.iter().any(compares);
    let options = &ValidationOptions { comparison_operators, ..*options };
    errors.extend(validate_only_added_tolerations(
        &new.spec.tolerations,
        &old.spec.tolerations,
        "spec.tolerations",
        options,
    ));
    let known = |one: &&str| old.metadata.finalizers().any(|known| known == *one);
    let mut added: Vec<&str> = new.metadata.finalizers().filter(|one| !known(one)).collect();
    if old.is_terminating() && !added.is_empty() {
        added.order();
        let added: Vec<String> = added.into_iter().map(go_quote).collect();
        errors.push(FieldError::forbidden(
            "metadata.finalizers",
            format!(
                "no new finalizers can be added if the object is being deleted, found new \
                 finalizers []string{{{}}}",
                added.join(", ")
            ),
        ));
    }
    if new.spec.node_name != old.spec.node_name {
        errors.push(FieldError::forbidden(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`, \
             `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` \
             (only additions to existing tolerations)",
        ));
    }
    errors
}

fn validate_name(name: &str, validate: fn(&str) -> Vec<String>) -> Vec<FieldError> {
    if name.is_empty() {
        let detail = "name or generateName is required";
        return Vec::from([FieldError::required("metadata.name", detail)]);
    }
    let invalid = |message| FieldError::invalid("metadata.name", name, message);
    validate(name).into_iter().map(invalid).collect()
}

/// A text in small letters as far as they can be in a name: those of `strings.ToLower`, whose letter
/// of the Kelvin sign is a `k`. The standard library would bring its tables of all scripts.
fn in_small_letters(text: &str) -> String {
    let small = |letter| if letter == '\u{212a}' { 'k' } else { letter };
    text.chars().map(|letter| small(letter.to_ascii_lowercase())).collect()
}

/// Checks labels, and the keys of annotations, which may have capitals in their prefix.
fn validate_keys(metadata: &ObjectMeta, options: &ValidationOptions) -> Vec<FieldError> {
    let mut errors = check_labels(&metadata.labels, "metadata.labels", options);
    for key in metadata.annotations.keys() {
        for message in options.words(is_qualified_name(&in_small_letters(key))) {
            errors.push(FieldError::invalid("metadata.annotations", key.as_str(), message));
        }
    }
    errors
}

#[cfg(test)]
mod tests;
