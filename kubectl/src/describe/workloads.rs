//! `kubectl describe` of workloads, budgets and priority classes.

use serde_json::Value;
use taintlab_core::api::{OwnerReference, Pod, PodPhase};
use taintlab_core::order::Order;
use taintlab_manifest::typed;

use super::containers::template;
use super::{Page, Surroundings, rfc1123, volumes};
use crate::fields::{labels_of, number, string_map, text, time_at};
use crate::path::plain_text;
use crate::selector::{format_labels, format_selector, selector_text, selects};
use crate::table::human_duration;

fn whole(value: &Value, pointer: &str) -> i64 {
    number(value, pointer).unwrap_or(0)
}

fn name(value: &Value, page: &mut Page) {
    page.field("Name", text(value, "/metadata/name"));
    page.field("Namespace", text(value, "/metadata/namespace"));
}

fn created(value: &Value, page: &mut Page) {
    page.field("CreationTimestamp", rfc1123(time_at(value, "/metadata/creationTimestamp")));
}

fn controlled_by(value: &Value, page: &mut Page) {
    let owners = value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let mut owners = owners.into_iter().flatten();
    if let Some(owner) = owners.find(|owner| owner.get("controller") == Some(&Value::Bool(true))) {
        let owner = format!("{}/{}", text(owner, "/kind"), text(owner, "/name"));
        page.field("Controlled By", owner);
    }
}

fn conditions(value: &Value, page: &mut Page) {
    let conditions = value.pointer("/status/conditions").and_then(Value::as_array);
    let Some(conditions) = conditions.filter(|conditions| !conditions.is_empty()) else { return };
    page.line("Conditions:\n  Type\tStatus\tReason");
    page.line("  ----\t------\t------");
    for condition in conditions {
        let of = |pointer: &str| text(condition, pointer);
        page.line(format_args!("  {} \t{}\t{}", of("/type"), of("/status"), of("/reason")));
    }
}

/// Whether the reference names this object as the controller.
fn is_to(owner: &OwnerReference, value: &Value) -> bool {
    owner.controller == Some(true)
        && owner.uid == text(value, "/metadata/uid")
        && owner.name == text(value, "/metadata/name")
}

/// Writes the number of a controller's pods in each phase. Mirrors `getPodStatusForController`.
fn pods_status(value: &Value, surroundings: &Surroundings, page: &mut Page) {
    let is_its = |pod: &Pod| {
        pod.metadata.namespace == text(value, "/metadata/namespace")
            && selects(value.pointer("/spec/selector"), &pod.metadata.labels)
            && pod.metadata.owner_references.iter().any(|owner| is_to(owner, value))
    };
    let count = |phase: &PodPhase| {
        let pods = surroundings.pods.iter().filter(|pod| pod.status.phase == *phase);
        pods.filter(|pod| is_its(pod)).count()
    };
    page.field(
        "Pods Status",
        format_args!(
            "{} Running / {} Waiting / {} Succeeded / {} Failed",
            count(&PodPhase::Running),
            count(&PodPhase::Pending),
            count(&PodPhase::Succeeded),
            count(&PodPhase::Failed)
        ),
    );
}

/// Describes a Deployment. Mirrors `describeDeployment`.
pub(super) fn deployment(value: &Value, surroundings: &Surroundings, page: &mut Page) {
    name(value, page);
    created(value, page);
    page.metadata(value);
    page.field("Selector", selector_text(value.pointer("/spec/selector")));
    page.field(
        "Replicas",
        format_args!(
            "{} desired | {} updated | {} total | {} available | {} unavailable",
            number(value, "/spec/replicas").unwrap_or(1),
            whole(value, "/status/updatedReplicas"),
            whole(value, "/status/replicas"),
            whole(value, "/status/availableReplicas"),
            whole(value, "/status/unavailableReplicas")
        ),
    );
    // Absent fields have the API server's defaults.
    let recreates = text(value, "/spec/strategy/type") == "Recreate";
    page.field("StrategyType", if recreates { "Recreate" } else { "RollingUpdate" });
    page.field("MinReadySeconds", whole(value, "/spec/minReadySeconds"));
    if !recreates {
        let of = |field: &str| {
            let amount = value.pointer(&format!("/spec/strategy/rollingUpdate/{field}"));
            amount.map_or_else(|| "25%".to_owned(), plain_text)
        };
        let (unavailable, surge) = (of("maxUnavailable"), of("maxSurge"));
        page.field(
            "RollingUpdateStrategy",
            format_args!("{unavailable} max unavailable, {surge} max surge"),
        );
    }
    template(value, page);
    conditions(value, page);
    replica_sets_of(value, surroundings, page);
}

/// Writes the old ReplicaSets of a Deployment and the one of its current template. Mirrors
/// `deploymentutil.GetAllReplicaSets`.
fn replica_sets_of(value: &Value, surroundings: &Surroundings, page: &mut Page) {
    let is_its = |set: &&Value| {
        let owners = set.pointer("/metadata/ownerReferences").map(typed);
        let owners: Vec<OwnerReference> = owners.and_then(Result::ok).unwrap_or_default();
        text(set, "/metadata/namespace") == text(value, "/metadata/namespace")
            && selects(value.pointer("/spec/selector"), &labels_of(set))
            && owners.iter().any(|owner| is_to(owner, value))
    };
    let mut sets: Vec<&Value> = surroundings.replica_sets.iter().filter(is_its).collect();
    sets.order_by_key(|set| {
        (time_at(set, "/metadata/creationTimestamp"), text(set, "/metadata/name"))
    });
    let template = without_hash(value);
    let new = sets.iter().find(|set| without_hash(set) == template).copied();
    let lists_empty = page.view.release.describe_lists_empty_replica_sets();
    let is_old = |set: &&Value| {
        new.is_none_or(|new| text(set, "/metadata/uid") != text(new, "/metadata/uid"))
            && (lists_empty || number(set, "/spec/replicas") != Some(0))
    };
    let old: Vec<&Value> = sets.into_iter().filter(is_old).collect();
    if old.is_empty()
        && new.is_none()
        && page.view.release.describe_leaves_out_absent_replica_sets()
    {
        return;
    }
    let line = |set: &Value| {
        format!(
            "{} ({}/{} replicas created)",
            text(set, "/metadata/name"),
            whole(set, "/status/replicas"),
            number(set, "/spec/replicas").unwrap_or(1)
        )
    };
    for (title, sets) in [("OldReplicaSets", old), ("NewReplicaSet", new.into_iter().collect())] {
        let lines: Vec<String> = sets.into_iter().map(line).collect();
        let lines = lines.join(", ");
        page.field(title, if lines.is_empty() { "<none>" } else { &lines });
    }
}

/// The template of a workload without the label that tells its ReplicaSets apart.
fn without_hash(value: &Value) -> Value {
    let mut template = value.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(Value::Object(labels)) = template.pointer_mut("/metadata/labels") {
        labels.remove("pod-template-hash");
    }
    template
}

/// Describes a ReplicaSet. Mirrors `describeReplicaSet`.
pub(super) fn replica_set(value: &Value, surroundings: &Surroundings, page: &mut Page) {
    name(value, page);
    page.field("Selector", format_selector(value.pointer("/spec/selector")));
    page.metadata(value);
    controlled_by(value, page);
    page.field(
        "Replicas",
        format_args!(
            "{} current / {} desired",
            whole(value, "/status/replicas"),
            number(value, "/spec/replicas").unwrap_or(1)
        ),
    );
    pods_status(value, surroundings, page);
    template(value, page);
    conditions(value, page);
}

/// Describes a StatefulSet. Mirrors `describeStatefulSet`.
pub(super) fn stateful_set(value: &Value, surroundings: &Surroundings, page: &mut Page) {
    name(value, page);
    created(value, page);
    page.field("Selector", selector_text(value.pointer("/spec/selector")));
    page.metadata(value);
    let tells_policies = page.view.release.describe_tells_policies_of_stateful_set();
    // Absent fields have the API server's defaults.
    let or = |pointer: &str, default| match text(value, pointer) {
        "" => default,
        text => text,
    };
    if tells_policies {
        let service = text(value, "/spec/serviceName");
        if !service.is_empty() {
            page.field("Service Name", service);
        }
        page.field("Pod Management Policy", or("/spec/podManagementPolicy", "OrderedReady"));
    }
    page.field(
        "Replicas",
        format_args!(
            "{} desired | {} total",
            number(value, "/spec/replicas").unwrap_or(1),
            whole(value, "/status/replicas")
        ),
    );
    let type_ = text(value, "/spec/updateStrategy/type");
    page.field("Update Strategy", or("/spec/updateStrategy/type", "RollingUpdate"));
    let rolling = value.pointer("/spec/updateStrategy/rollingUpdate");
    if type_.is_empty() || rolling.is_some() {
        let partition = rolling.map_or(0, |rolling| whole(rolling, "/partition"));
        page.field("  Partition", partition);
        let unavailable = rolling.and_then(|rolling| rolling.get("maxUnavailable"));
        if let Some(unavailable) = unavailable {
            page.field("  MaxUnavailable", plain_text(unavailable));
        } else if page.view.release.has_stateful_set_max_unavailable() {
            page.field("  MaxUnavailable", 1);
        }
    }
    if tells_policies {
        page.line("Persistent Volume Claim Retention Policy:");
        for (title, field) in [("WhenDeleted", "whenDeleted"), ("WhenScaled", "whenScaled")] {
            let pointer = format!("/spec/persistentVolumeClaimRetentionPolicy/{field}");
            page.line(format_args!("  {title}:\t{}", or(&pointer, "Retain")));
        }
    }
    pods_status(value, surroundings, page);
    template(value, page);
    let claims = value.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    volumes::claim_templates(claims.map_or(&[], Vec::as_slice), page);
}

/// Describes a DaemonSet. Mirrors `describeDaemonSet`.
pub(super) fn daemon_set(value: &Value, surroundings: &Surroundings, page: &mut Page) {
    page.field("Name", text(value, "/metadata/name"));
    if page.view.release.describe_tells_namespace_of_daemon_set() {
        page.field("Namespace", text(value, "/metadata/namespace"));
    }
    page.field("Selector", selector_text(value.pointer("/spec/selector")));
    let node_selector = string_map(value.pointer("/spec/template/spec/nodeSelector"));
    page.field("Node-Selector", format_labels(&node_selector));
    page.metadata(value);
    for (title, field) in [
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ] {
        page.line(format_args!("{title}: {}", whole(value, &format!("/status/{field}"))));
    }
    pods_status(value, surroundings, page);
    template(value, page);
}

/// Describes a Job. Mirrors `describeJob`.
pub(super) fn job(value: &Value, page: &mut Page) {
    let release = page.view.release;
    name(value, page);
    page.field("Selector", selector_text(value.pointer("/spec/selector")));
    page.metadata(value);
    controlled_by(value, page);
    let spec = |field: &str| number(value, &format!("/spec/{field}"));
    // Absent fields have the API server's defaults.
    page.field("Parallelism", spec("parallelism").unwrap_or(1));
    match spec("completions").or_else(|| spec("parallelism").is_none().then_some(1)) {
        Some(completions) => page.field("Completions", completions),
        None => page.field("Completions", "<unset>"),
    }
    let mode = Some(text(value, "/spec/completionMode")).filter(|mode| !mode.is_empty());
    let mode = mode.unwrap_or("NonIndexed");
    if release.describe_tells_completion_mode() {
        page.field("Completion Mode", mode);
    }
    if release.describe_tells_backoff_limit() {
        page.field("Suspend", value.pointer("/spec/suspend") == Some(&Value::Bool(true)));
        // The API server sets absent fields.
        let default = spec("backoffLimitPerIndex").map_or(6, |_| i64::from(i32::MAX));
        page.field("Backoff Limit", spec("backoffLimit").unwrap_or(default));
        if let Some(seconds) = spec("ttlSecondsAfterFinished") {
            page.field("TTL Seconds After Finished", seconds);
        }
    }
    let started = time_at(value, "/status/startTime");
    let completed = time_at(value, "/status/completionTime");
    for (title, time) in [("Start Time", started), ("Completed At", completed)] {
        if let Some(time) = time {
            page.field(title, time.to_rfc1123());
        }
    }
    if let (Some(started), Some(completed)) = (started, completed) {
        page.field("Duration", human_duration(completed.since(started)));
    }
    if let Some(seconds) = spec("activeDeadlineSeconds") {
        page.field("Active Deadline Seconds", format_args!("{seconds}s"));
    }
    let status = |field: &str| whole(value, &format!("/status/{field}"));
    let (active, succeeded, failed) = (status("active"), status("succeeded"), status("failed"));
    let running = if !release.describe_counts_active_pods() {
        format!("{active} Running")
    } else if let Some(ready) = number(value, "/status/ready") {
        format!("{active} Active ({ready} Ready)")
    } else {
        format!("{active} Active")
    };
    page.field(
        "Pods Statuses",
        format_args!("{running} / {succeeded} Succeeded / {failed} Failed"),
    );
    if mode == "Indexed" && release.describe_tells_completion_mode() {
        page.field("Completed Indexes", indexes(text(value, "/status/completedIndexes")));
    }
    template(value, page);
}

/// The first indexes of a list, about 50 characters and none cut in two. Mirrors
/// `capIndexesListOrNone`.
fn indexes(list: &str) -> String {
    let comma = list.bytes().skip(50).position(|byte| byte == b',');
    match comma.and_then(|comma| list.get(..comma + 51)) {
        Some(start) => format!("{start}..."),
        None if list.is_empty() => "<none>".to_owned(),
        None => list.to_owned(),
    }
}

/// Describes a PodDisruptionBudget. Mirrors `describePodDisruptionBudgetV1`.
pub(super) fn budget(value: &Value, page: &mut Page) {
    name(value, page);
    if let Some(amount) = value.pointer("/spec/minAvailable") {
        page.field("Min available", plain_text(amount));
    } else if let Some(amount) = value.pointer("/spec/maxUnavailable") {
        page.field("Max unavailable", plain_text(amount));
    }
    match value.pointer("/spec/selector") {
        Some(selector) => page.field("Selector", format_selector(Some(selector))),
        None => page.field("Selector", "<unset>"),
    }
    page.line("Status:");
    for (title, field) in [
        ("Allowed disruptions", "disruptionsAllowed"),
        ("Current", "currentHealthy"),
        ("Desired", "desiredHealthy"),
        ("Total", "expectedPods"),
    ] {
        page.line(format_args!("    {title}:\t{}", whole(value, &format!("/status/{field}"))));
    }
}

/// Describes a PriorityClass. Mirrors `describePriorityClass`.
pub(super) fn priority_class(value: &Value, page: &mut Page) {
    page.field("Name", text(value, "/metadata/name"));
    page.field("Value", whole(value, "/value"));
    page.field("GlobalDefault", value.get("globalDefault") == Some(&Value::Bool(true)));
    if page.view.release.describe_tells_preemption_policy() {
        let policy = Some(text(value, "/preemptionPolicy")).filter(|policy| !policy.is_empty());
        page.field("PreemptionPolicy", policy.unwrap_or("PreemptLowerPriority"));
    }
    page.field("Description", text(value, "/description"));
    page.field("Annotations", format_labels(&string_map(value.pointer("/metadata/annotations"))));
}
