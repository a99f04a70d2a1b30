//! Forecasts beside the record: a pod that a taint evicted was deleted when the engine said that it
//! could be, as soon as the last thing was done before.

use taintlab_core::eviction_timeline::time_budget::Moment;
use taintlab_core::simulator::Simulator;

use super::recorded::Trace;
use super::seen::{LATENCY, Life};

/// The engine's forecast of a pod's eviction.
pub(super) struct Forecast {
    namespace: String,
    group: String,
    node: String,
    /// Time of the forecast and of the next action, in seconds.
    said: (f64, f64),
    /// The first and the last second in which the pod can be deleted.
    range: (f64, f64),
}

/// The forecasts of all pods, at a moment after which nothing is done until `next`; times are
/// seconds, and `lead` is that of 0. `group` gives what a pod is known by.
pub(super) fn of(
    simulator: &Simulator,
    (now, next): (f64, f64),
    lead: f64,
    group: impl Fn(&str) -> String,
) -> Vec<Forecast> {
    let seconds = |moment: Moment| moment.as_nanos() as f64 / 1e9 - lead;
    let ahead = simulator.records_and_forecasts().filter(|(_, budget)| !budget.over);
    ahead
        .map(|(pod, budget)| {
            let (first, last) = match &budget.range {
                Some(range) => (range.earliest, range.latest),
                None => (budget.evicted_at, budget.evicted_at),
            };
            Forecast {
                namespace: pod.namespace().to_owned(),
                group: group(pod.name()),
                node: budget.node.to_string(),
                said: (now, next),
                range: (seconds(first), seconds(last)),
            }
        })
        .collect()
}

/// Number of recorded evictions with a forecast, and those that every forecast excludes.
pub(super) fn compare(trace: &Trace, forecasts: &[Forecast]) -> (usize, Vec<String>) {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for life in trace.seen.pods.values() {
        let Some(deleted) = life.moments[3].filter(|at| is_evicted(trace, life, *at)) else {
            continue;
        };
        // A pod that came later, in the place of another one, had none.
        let created = life.moments[0].unwrap_or_default();
        let of_pod = forecasts.iter().filter(|it| it.said.0 + LATENCY > created).filter(|it| {
            (&it.namespace, &it.group, &it.node) == (&life.namespace, &life.group, &life.node)
                && (it.said.0..it.said.1).contains(&deleted)
        });
        let ranges: Vec<(f64, f64)> = of_pod.map(|it| it.range).collect();
        if ranges.is_empty() {
            continue;
        }
        compared += 1;
        let holds =
            |(first, last): &(f64, f64)| (first - LATENCY..=last + LATENCY).contains(&deleted);
        if !ranges.iter().any(holds) {
            wrong
                .push(format!("{} on {}: {deleted:.2}, not in {ranges:.2?}", life.name, life.node));
        }
    }
    (compared, wrong)
}

/// Whether the node of a pod had a `NoExecute` taint when the pod was deleted.
fn is_evicted(trace: &Trace, life: &Life, deleted: f64) -> bool {
    let states = trace.seen.nodes.get(&life.node).map_or(&[][..], Vec::as_slice);
    let state = states.iter().rfind(|state| state.at <= deleted);
    state.is_some_and(|state| state.text.contains(":NoExecute"))
}
