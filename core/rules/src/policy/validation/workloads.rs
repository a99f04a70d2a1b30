//! Workloads and budgets.

use alloc::string::String;
use alloc::vec::Vec;

use super::{
    FieldError, ValidationOptions, validate_keys, validate_name, validate_namespace_name,
    validate_pod_name, validate_tolerations,
};
use crate::api::{
    IntOrPercent, ObjectMeta, PodDisruptionBudget, ResourceError, Workload, WorkloadKind,
};

/// Checks what every object in a namespace has: name, namespace, labels, annotations. An object
/// without a namespace is in `default`.
fn validate_metadata(metadata: &ObjectMeta, options: &ValidationOptions) -> Vec<FieldError> {
    let mut errors = validate_name(&metadata.name, validate_pod_name);
    let namespace = metadata.namespace.as_str();
    if !namespace.is_empty() {
        let invalid = |message| FieldError::invalid("metadata.namespace", namespace, message);
        errors.extend(validate_namespace_name(namespace).into_iter().map(invalid));
    }
    errors.extend(validate_keys(metadata, options));
    errors
}

/// What cannot be read is an invalid value there.
fn unreadable(error: ResourceError) -> FieldError {
    FieldError::invalid(error.field, "", error.message)
}

/// Checks a workload: its name, that its selector selects its template, the template's labels and
/// tolerations, numbers that cannot be negative. Mirrors `ValidateDeployment` and its like.
#[must_use]
pub fn validate_workload(workload: &Workload, options: &ValidationOptions) -> Vec<FieldError> {
    let mut errors = validate_metadata(&workload.metadata, options);
    let template = &workload.spec.template;
    let is_job = workload.kind == WorkloadKind::Job;
    match workload.selector() {
        Err(error) => errors.push(unreadable(error)),
        Ok(_) if workload.spec.selector.is_none() => {
            // A Job's is made for it.
            if !is_job {
                errors.push(FieldError::required("spec.selector", ""));
            }
        }
        Ok(selector) if selector.requirements.is_empty() && !is_job => {
            let detail = "empty selector is invalid for deployment";
            errors.push(FieldError::invalid("spec.selector", "", detail));
        }
        Ok(selector) => {
            if !selector.matches(&template.metadata.labels) {
                let detail = "`selector` does not match template `labels`";
                let labels: Vec<String> = template
                    .metadata
                    .labels
                    .iter()
                    .map(|(key, value)| alloc::format!("{key}={value}"))
                    .collect();
                let path = "spec.template.metadata.labels";
                errors.push(FieldError::invalid(path, labels.join(",").as_str(), detail));
            }
        }
    }
    for error in validate_keys(&template.metadata, options) {
        let field = alloc::format!("spec.template.{}", error.field);
        errors.push(FieldError { field, ..error });
    }
    let path = "spec.template.spec.tolerations";
    errors.extend(validate_tolerations(&template.spec.tolerations, path, options));
    let numbers = [
        ("replicas", workload.spec.replicas),
        ("minReadySeconds", workload.number("minReadySeconds")),
        ("completions", workload.number("completions")),
        ("parallelism", workload.number("parallelism")),
        ("backoffLimit", workload.number("backoffLimit")),
    ];
    for (name, number) in numbers {
        if let Some(number) = number.filter(|number| *number < 0) {
            let detail = "must be greater than or equal to 0";
            errors.push(FieldError::invalid(alloc::format!("spec.{name}"), number, detail));
        }
    }
    for name in ["maxSurge", "maxUnavailable", "partition"] {
        errors.extend(workload.rolling_update(name).err().map(unreadable));
    }
    if workload.kind == WorkloadKind::DaemonSet && workload.strategy() != "OnDelete" {
        errors.extend(validate_rolling_update_daemon_set(workload, options));
    }
    if is_job && options.backoff_limit_per_index && workload.text("completionMode") != "Indexed" {
        for name in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            let path = alloc::format!("spec.{name}");
            let wrong =
                |number| FieldError::invalid(path, number, "requires indexed completion mode");
            errors.extend(workload.number(name).map(wrong));
        }
    }
    errors
}

/// A DaemonSet takes pods away or lets pods come beside others, one of both. Mirrors
/// `ValidateRollingUpdateDaemonSet`, after the defaults of the API.
fn validate_rolling_update_daemon_set(
    set: &Workload,
    options: &ValidationOptions,
) -> Option<FieldError> {
    let of = |name, default| Some(set.rolling_update(name).ok()?.unwrap_or(default));
    let path = |name| alloc::format!("spec.updateStrategy.rollingUpdate.{name}");
    let unavailable = of("maxUnavailable", IntOrPercent::Int(1))?;
    let surge = match options.daemon_set_surge {
        true => of("maxSurge", IntOrPercent::Int(0))?,
        false => IntOrPercent::Int(0),
    };
    match (unavailable.is_zero(), surge.is_zero()) {
        (false, false) => {
            let detail = "may not be set when maxUnavailable is non-zero";
            Some(FieldError::invalid(path("maxSurge"), surge, detail))
        }
        (true, true) if options.daemon_set_surge => {
            Some(FieldError::required(path("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
        }
        (true, true) => {
            Some(FieldError::invalid(path("maxUnavailable"), unavailable, "cannot be 0"))
        }
        (true, false) | (false, true) => None,
    }
}

/// Checks a budget. Mirrors `ValidatePodDisruptionBudget`.
#[must_use]
pub fn validate_budget(
    budget: &PodDisruptionBudget,
    options: &ValidationOptions,
) -> Vec<FieldError> {
    let mut errors = validate_metadata(&budget.metadata, options);
    match budget.limits() {
        Ok([Some(_), Some(_)]) => errors.push(FieldError::invalid(
            "spec",
            "",
            "minAvailable and maxUnavailable cannot be both set",
        )),
        Ok(_) => {}
        Err(error) => errors.push(unreadable(error)),
    }
    errors.extend(budget.selector().err().map(unreadable));
    let policy = budget.spec.unhealthy_pod_eviction_policy.as_str();
    let known = ["AlwaysAllow", "IfHealthyBudget"];
    if !policy.is_empty() && !known.contains(&policy) {
        let path = "spec.unhealthyPodEvictionPolicy";
        errors.push(FieldError::not_supported(path, policy, known));
    }
    errors
}
