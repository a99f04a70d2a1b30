//! How long pods take to become ready, as those of the cluster took.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use serde_json::Value;
use taintlab_rules::api::{ConditionStatus, Pod, START_UP_TIME_ANNOTATION, WorkloadKey};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::time::Span;

use crate::scenario::Scenario;

/// The longest time that counts: a pod that became ready later had been ready before.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// Time that the pods of each workload took from being bound to a node to being ready: the median of
/// `lastTransitionTime` of the conditions `PodScheduled` and `Ready`, over pods none of whose
/// containers has restarted. Whole seconds.
#[must_use]
pub fn measured_start_up_times(scenario: &Scenario) -> OrderedMap<WorkloadKey, Span> {
    let mut times: OrderedMap<WorkloadKey, Vec<Duration>> = OrderedMap::new();
    for pod in &scenario.objects.pods {
        if let (Some(owner), Some(time)) = (pod.metadata.controller_key(), start_up_time(pod)) {
            times.entry(owner).or_default().push(time);
        }
    }
    let medians = times.into_iter().map(|(owner, mut times)| {
        let middle = times.len() / 2;
        let (_, median, _) = times.select_nth_unstable(middle);
        (owner, Span(*median))
    });
    medians.collect()
}

fn start_up_time(pod: &Pod) -> Option<Duration> {
    let since = |type_: &str| {
        let condition = pod.condition(type_).filter(|it| it.status == ConditionStatus::True)?;
        condition.last_transition_time
    };
    let containers = pod.status.other.get("containerStatuses").and_then(Value::as_array);
    let has_restarted = containers.into_iter().flatten().any(|container| {
        container.get("restartCount").and_then(Value::as_u64).is_some_and(|count| count > 0)
    });
    let time = since("Ready")?.since(since("PodScheduled")?);
    (!has_restarted && !time.is_zero() && time <= LONGEST).then_some(time)
}

/// Gives every workload without a start-up time the one that was measured, and lists these.
pub(crate) fn give(scenario: &mut Scenario) -> Vec<(WorkloadKey, Span)> {
    let mut given = Vec::new();
    let times = measured_start_up_times(scenario);
    let workloads = &scenario.objects.workloads;
    let top = |owner: &WorkloadKey| {
        let known = workloads.iter().find(|it| it.key() == *owner)?;
        // A new ReplicaSet of the same Deployment has the same containers, more or less.
        Some(known.owner().filter(|top| workloads.iter().any(|it| it.key() == *top)))
            .map(|top| top.unwrap_or_else(|| owner.clone()))
    };
    let times: OrderedMap<WorkloadKey, Span> =
        times.iter().filter_map(|(owner, time)| Some((top(owner)?, *time))).collect();
    for workload in &mut scenario.objects.workloads {
        let key = workload.key();
        if let Some(time) = times.get(&key)
            && !workload.metadata.annotations.contains_key(START_UP_TIME_ANNOTATION)
        {
            let annotations = &mut workload.metadata.annotations;
            annotations.insert(START_UP_TIME_ANNOTATION.into(), time.to_string());
            given.push((key, *time));
        }
    }
    given
}
