//! A scenario with its run, and the values of the run that a chapter can name.

use std::collections::BTreeMap;
use std::time::Duration;

use taintlab_core::api::{ConditionStatus, PodKey, Taint, TaintEffect};
use taintlab_core::event::EventKind;
use taintlab_core::protocol::zone::ZoneState;
use taintlab_core::scenario::{Scenario, ScenarioRun};
use taintlab_core::simulator::Gap;
use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::demo::{Row, outcome, rounded, rows, terms};

/// Paths listed in an error at most.
const MOST_LISTED: usize = 30;

/// A scenario with its run, in which all expectations were met.
#[derive(Debug)]
pub(crate) struct Run {
    /// The scenario.
    pub(crate) scenario: Scenario,
    /// The text of the scenario: as in its file, unless it must be written anew to stand alone.
    pub(crate) text: String,
    /// The result of the run.
    pub(crate) report: ScenarioRun,
    /// The events of the run, for readers.
    pub(crate) rows: Vec<Row>,
    values: Values,
}

/// Values by path:
///
/// - `outcome`: the end of the run, in a sentence; `ended.at`: its time; `evictions`: their number;
///   `evicted.at`: the time of the first one;
/// - `events.N.at`, `events.N.text`: row N of the table of events, counted from 1;
/// - `pod.NAMESPACE/NAME.` with `evicted.at` and `gone.at` (the first time of each),
///   `evicted.last.at`, `evictions`, `budget.total` and `budget.N` (the terms of its time budget,
///   from 1);
/// - `node.NAME.` with `unreachable.at`, `unknown.at`, `tainted.at`, `untainted.at` and
///   `deleted.at` (the first time of each); the taints are `NoExecute`;
/// - `zone.NAME.STATE.at`: the time at which the zone entered that state from a state other than
///   `Initial`; nodes without a zone are in the zone `none`;
/// - `workload.KIND/NAMESPACE/NAME.` with `longestBelow`, `longestAtZero` and `replicaTimeLost`:
///   durations in which replicas were missing.
///
/// Times are rounded to the nearest millisecond and written as Kubernetes does, `5m50s`; with
/// `.seconds` appended, as a number: `350`.
#[derive(Debug, Default)]
struct Values(BTreeMap<String, String>);

impl Values {
    /// Sets a value, unless the path has one: the first value stays.
    fn put(&mut self, path: String, value: impl ToString) {
        self.0.entry(path).or_insert_with(|| value.to_string());
    }

    fn time(&mut self, path: String, span: Duration) {
        let span = rounded(span);
        self.put(format!("{path}.seconds"), span.as_secs_f64());
        self.put(path, Span(span));
    }

    fn moment(&mut self, path: String, at: Timestamp) {
        self.time(path, at.since_zero());
    }
}

impl Run {
    /// A scenario with the result of its run.
    pub(crate) fn new(scenario: Scenario, text: String, report: ScenarioRun) -> Self {
        let rows = rows(&scenario, &report);
        let mut run = Self { scenario, text, report, rows, values: Values::default() };
        run.values = run.all_values();
        run
    }

    /// The value at a path.
    ///
    /// # Errors
    /// The path has no value; the message lists paths that have one.
    pub(crate) fn value(&self, path: &str) -> Result<&str, String> {
        if let Some(value) = self.values.0.get(path) {
            return Ok(value);
        }
        let group = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
        let paths = || self.values.0.keys().filter(|path| !path.ends_with(".seconds"));
        let same: Vec<&str> = paths()
            .filter(|known| group(known) == group(path))
            .map(String::as_str)
            .take(MOST_LISTED)
            .collect();
        let listed = if same.is_empty() {
            let mut all: Vec<&str> = paths().map(String::as_str).collect();
            all.retain(|path| !path.starts_with("events."));
            all.truncate(MOST_LISTED);
            let events = format!("events.N.at for N from 1 to {}", self.rows.len());
            format!("{} and {events}", all.join(", "))
        } else {
            same.join(", ")
        };
        Err(format!("the run has no value `{path}`; it has {listed}, and times with `.seconds`"))
    }

    fn all_values(&self) -> Values {
        let mut values = Values::default();
        let simulator = &self.report.simulator;
        values.put("outcome".into(), outcome(simulator));
        values.put("evictions".into(), simulator.evictions_until_now());
        values.moment("ended.at".into(), simulator.now());
        for (index, row) in self.rows.iter().enumerate() {
            let path = format!("events.{}", index + 1);
            values.moment(format!("{path}.at"), row.at);
            values.put(format!("{path}.text"), &row.text);
        }
        let mut evictions: BTreeMap<&PodKey, Vec<Timestamp>> = BTreeMap::new();
        for event in &self.report.events {
            let at = event.at;
            if event.what.is_eviction()
                && let Some(pod) = event.what.pod()
            {
                values.moment("evicted.at".into(), at);
                evictions.entry(pod).or_default().push(at);
            }
            if let Some(path) = moment_of(&event.what) {
                values.moment(path, at);
            }
            if let EventKind::NodeTaintsChanged { node, added, removed } = &event.what {
                for (taints, word) in [(added, "tainted"), (removed, "untainted")] {
                    if taints.iter().any(is_no_execute) {
                        values.moment(format!("node.{node}.{word}.at"), at);
                    }
                }
            }
        }
        for (pod, times) in evictions {
            values.put(format!("pod.{pod}.evictions"), times.len());
            if let (Some(first), Some(last)) = (times.first(), times.last()) {
                values.moment(format!("pod.{pod}.evicted.at"), *first);
                values.moment(format!("pod.{pod}.evicted.last.at"), *last);
            }
            if let Some(budget) = taintlab_core::simulator::last_time_budget(simulator, pod) {
                values.time(format!("pod.{pod}.budget.total"), budget.rounded_total());
                for (index, term) in terms(&budget).enumerate() {
                    let path = format!("pod.{pod}.budget.{}", index + 1);
                    values.time(path, term.rounded_duration());
                }
            }
        }
        for (workload, _) in simulator.cluster().workloads() {
            let Some(found) = simulator.availability(workload) else { continue };
            let length = |gap: Option<Gap>| gap.map_or(Duration::ZERO, |gap| gap.length().0);
            let path = |field: &str| format!("workload.{workload}.{field}");
            values.time(path("longestBelow"), length(found.longest_below));
            values.time(path("longestAtZero"), length(found.longest_at_zero));
            values.time(path("replicaTimeLost"), found.replica_time_lost);
        }
        values
    }
}

/// The path of an event's time, if it has one.
fn moment_of(event: &EventKind) -> Option<String> {
    if let EventKind::PodDeleted { pod, .. } = event {
        return Some(format!("pod.{pod}.gone.at"));
    }
    if let EventKind::HeartbeatLost { node, .. } = event {
        return Some(format!("node.{node}.unreachable.at"));
    }
    if let EventKind::NodeConditionChanged { node, condition, to, .. } = event
        && condition == "Ready"
        && *to == ConditionStatus::Unknown
    {
        return Some(format!("node.{node}.unknown.at"));
    }
    if let EventKind::NodeDeleted { node } = event {
        return Some(format!("node.{node}.deleted.at"));
    }
    // Every zone leaves `Initial` for its first state at the beginning.
    if let EventKind::ZoneStateChanged { zone, from: Some(from), to: Some(to), .. } = event
        && *from != ZoneState::Initial
    {
        let name = if zone.zone().is_empty() { "none" } else { zone.zone() };
        return Some(format!("zone.{name}.{}.at", to.as_str()));
    }
    None
}

fn is_no_execute(taint: &Taint) -> bool {
    taint.effect == TaintEffect::NoExecute
}
