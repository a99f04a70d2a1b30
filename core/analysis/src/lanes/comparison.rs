//! Comparison of two runs: where they diverge, and their figures.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use taintlab_engine::event::{Event, EventKind, RequestResult, RequestVerb};
use taintlab_engine::kubelet::EvictionManagerReport;
use taintlab_engine::pod_state::{PodHealth, PodVerdict};
use taintlab_engine::simulator::{Availability, Gap, Simulator};
use taintlab_rules::api::{NodeName, PodKey, WorkloadKey};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::time::{Span, Timestamp};

use super::{LaneRecorder, LaneState, LaneSubject, Segment};

/// A run to compare with another one.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Name of the run.
    pub name: &'a str,
    /// The simulation at the end of the run.
    pub simulator: &'a Simulator,
    /// Lanes of the run.
    pub recorder: &'a LaneRecorder,
    /// All events of the run.
    pub events: &'a [Event],
}

/// Differences between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Names of the runs.
    pub names: [String; 2],
    /// End of the shorter run; later events of the longer one are not compared.
    pub until: Timestamp,
    /// The first difference; absent if there is none.
    pub divergence: Option<Divergence>,
    /// Objects with different lanes, in the order of lanes.
    pub subjects: Vec<LaneSubject>,
    /// Time of the eviction in each run, for each pod evicted in at least one, by key.
    pub evictions: Vec<(PodKey, [Option<Timestamp>; 2])>,
    /// Downtime in each run, for each workload that existed in at least one, by key.
    pub downtimes: Vec<(WorkloadKey, [Option<Downtime>; 2])>,
    /// Pods stuck `Terminating` at the end of each run.
    pub stuck: [usize; 2],
    /// Pods without a node at the end of each run.
    pub pending: [usize; 2],
}

/// The first difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Time of the difference.
    pub at: Timestamp,
    /// First object that differs: a node before its pods, and both before their zone.
    pub subject: LaneSubject,
    /// The difference in a sentence.
    pub text: String,
}

/// Downtime of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Downtime {
    /// Time that pods were missing, summed over all missing pods: replica-seconds.
    pub replica_time_lost: Span,
    /// Longest uninterrupted time with fewer ready pods than wanted.
    pub longest_gap: Span,
}

/// State of an object from a moment on; `None` if it does not exist.
type Point<'a> = (Timestamp, Option<Look<'a>>);

/// The compared part of a segment, which leaves out texts.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look<'a> {
    state: LaneState,
    taints: &'a [String],
    node: Option<&'a NodeName>,
}

impl Comparison {
    /// Compares two runs from their beginning to the end of the shorter one.
    #[must_use]
    pub fn of(runs: [Run<'_>; 2]) -> Self {
        let [a, b] = runs;
        let until = a.simulator.now().min(b.simulator.now());
        let mut subjects = Vec::new();
        let mut first: Option<(Timestamp, u8, LaneSubject)> = None;
        let all: OrderedSet<_> = a.recorder.subjects().chain(b.recorder.subjects()).collect();
        for subject in all {
            let Some(at) = parts_at(runs, subject, until) else { continue };
            let key = (at, rank(subject), subject.clone());
            if first.as_ref().is_none_or(|first| key < *first) {
                first = Some(key);
            }
            subjects.push(subject.clone());
        }
        let divergence = first.map(|(at, _, subject)| Divergence {
            at,
            text: sentence(runs, &subject, at),
            subject,
        });
        Self {
            names: runs.map(|run| run.name.to_string()),
            until,
            divergence,
            subjects,
            evictions: both(runs.map(evictions)),
            downtimes: both(runs.map(|run| downtimes(run.simulator))),
            stuck: runs.map(|run| run.simulator.pod_states().counts().verdict(PodVerdict::Stuck)),
            pending: runs.map(|run| {
                let counts = run.simulator.pod_states().counts();
                counts.health(PodHealth::Pending) + counts.health(PodHealth::Unschedulable)
            }),
        }
    }

    /// Pods evicted in each run.
    #[must_use]
    pub fn evicted(&self) -> [usize; 2] {
        [0, 1].map(|run| {
            let times = self.evictions.iter().filter_map(|(_, times)| *times.get(run)?);
            times.count()
        })
    }

    /// The first difference in a sentence, or that there is none.
    #[must_use]
    pub fn sentence(&self) -> String {
        match &self.divergence {
            Some(divergence) => divergence.text.clone(),
            None => format!("Nothing differs until {}.", shown(self.until)),
        }
    }

    /// Figures as rows: a name, and the value in each run.
    #[must_use]
    pub fn rows(&self) -> Vec<[String; 3]> {
        let numbers = |what: &str, [a, b]: [usize; 2]| [what.into(), a.to_string(), b.to_string()];
        let mut rows = Vec::from([
            numbers("Pods evicted", self.evicted()),
            numbers("Stuck Terminating at the end", self.stuck),
            numbers("Without a node at the end", self.pending),
        ]);
        for (workload, runs) in &self.downtimes {
            let lost = |run: &Option<Downtime>| {
                run.map_or_else(|| "not there".into(), |run| run.to_string())
            };
            let [a, b] = runs;
            rows.push([format!("{workload}"), lost(a), lost(b)]);
        }
        for (pod, times) in &self.evictions {
            let [a, b] =
                times.map(|at| at.map_or_else(|| "stays".into(), |at| shown(at).to_string()));
            rows.push([format!("{pod} evicted"), a, b]);
        }
        rows
    }

    /// The comparison as Markdown, for an incident review.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let [a, b] = self.names.each_ref().map(|name| cell(name));
        let rows = self.rows().into_iter().map(|[what, a, b]| {
            let differs = if a == b { "" } else { "**" };
            format!("| {} | {differs}{}{differs} | {differs}{}{differs} |\n", cell(&what), a, b)
        });
        format!(
            "{}\n\n| until {} | {a} | {b} |\n|---|---|---|\n{}",
            self.sentence(),
            shown(self.until),
            rows.collect::<String>()
        )
    }
}

/// `240 replica-seconds, longest gap 2m0s`, or `no downtime`.
impl fmt::Display for Downtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return f.write_str("no downtime");
        }
        write!(
            f,
            "{} replica-seconds, longest gap {}",
            self.replica_time_lost.0.as_secs(),
            shown(self.longest_gap.timestamp())
        )
    }
}

/// A moment as the log shows it.
const fn shown(at: Timestamp) -> Timestamp {
    at.truncated_to_millis()
}

/// A text escaped for a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Rank of objects that differ from the same moment on: the lowest is named.
const fn rank(subject: &LaneSubject) -> u8 {
    match subject {
        LaneSubject::Node { .. } => 0,
        LaneSubject::Pod { .. } => 1,
        LaneSubject::Zone { .. } => 2,
    }
}

/// Moments at which an object changes.
fn points<'a>(recorder: &'a LaneRecorder, subject: &LaneSubject) -> Vec<Point<'a>> {
    let mut points: Vec<Point<'a>> = Vec::new();
    let mut ended = None;
    for segment in recorder.segments(subject) {
        if let Some(end) = ended.filter(|end| *end < segment.from) {
            points.push((end, None));
        }
        let look = Look::of(segment);
        // Segments that differ only in their texts share one point.
        if points.last().is_none_or(|(_, last)| *last != Some(look)) {
            points.push((segment.from, Some(look)));
        }
        ended = (!segment.goes_on).then_some(segment.to);
    }
    points.extend(ended.map(|end| (end, None)));
    points
}

/// Time of the first difference between the lanes of an object; `None` if there is none.
fn parts_at(runs: [Run<'_>; 2], subject: &LaneSubject, until: Timestamp) -> Option<Timestamp> {
    let [a, b] = runs.map(|run| points(run.recorder, subject));
    let mut pairs = a.iter().zip(&b);
    let same = pairs.by_ref().take_while(|(a, b)| a == b).count();
    let next = [a.get(same), b.get(same)];
    next.into_iter().flatten().map(|(at, _)| *at).min().filter(|at| *at <= until)
}

/// Segment of an object at a moment.
fn segment_at(run: Run<'_>, subject: &LaneSubject, at: Timestamp) -> Option<Segment> {
    let segments = run.recorder.segments(subject).iter().rev();
    let mut at_it = segments.filter(|it| it.from <= at && (it.goes_on || at < it.to));
    at_it.next().cloned()
}

/// The first difference of two runs in a sentence.
fn sentence(runs: [Run<'_>; 2], subject: &LaneSubject, at: Timestamp) -> String {
    let now = runs.map(|run| segment_at(run, subject, at));
    // The run in which something happens comes first.
    let happens = |it: &Option<Segment>| it.as_ref().is_none_or(|it| it.from == at);
    let turn = !happens(&now[0]) && happens(&now[1]);
    let (first, second) = if turn { (1, 0) } else { (0, 1) };
    let words = |side: usize| {
        let Some(segment) = now.get(side).and_then(Option::as_ref) else {
            return "is not there".to_string();
        };
        let node = segment.node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
        let reason = match segment.reason.as_str() {
            "" => String::new(),
            reason => format!(" ({reason})"),
        };
        format!("is {segment}{node}{reason}")
    };
    let name = |side: usize| runs.get(side).map_or("", |run| run.name);
    let later = later_so(runs, subject, at, [first, second]);
    let later =
        later.map(|at| format!(", until they match again at {}", shown(at))).unwrap_or_default();
    format!(
        "They diverge at {}: {subject} {} in “{}”, and {} in “{}”{later}.",
        shown(at),
        words(first),
        name(first),
        words(second),
        name(second),
    )
}

/// Time at which the second run reaches the state that the first one has at that moment.
fn later_so(
    runs: [Run<'_>; 2],
    subject: &LaneSubject,
    at: Timestamp,
    [first, second]: [usize; 2],
) -> Option<Timestamp> {
    let wanted = segment_at(*runs.get(first)?, subject, at);
    let wanted = wanted.as_ref().map(|segment| segment.state);
    let points = points(runs.get(second)?.recorder, subject);
    let mut later = points.into_iter().filter(|(from, _)| *from > at);
    later.find(|(_, look)| look.map(|look| look.state) == wanted).map(|(from, _)| from)
}

/// Time of each pod's first eviction: the API server accepts a controller's `DELETE`, or its
/// kubelet kills it.
fn evictions(run: Run<'_>) -> OrderedMap<PodKey, Timestamp> {
    let mut found = OrderedMap::new();
    for event in run.events {
        if let EventKind::Request {
            pod,
            verb: RequestVerb::Delete | RequestVerb::Evict,
            result: RequestResult::Ok,
            ..
        }
        | EventKind::KubeletEviction {
            report: EvictionManagerReport::Killing { pod, .. },
            ..
        } = &event.what
        {
            found.entry(pod.clone()).or_insert(event.at);
        }
    }
    found
}

/// Downtimes of the top-level workloads.
fn downtimes(simulator: &Simulator) -> OrderedMap<WorkloadKey, Downtime> {
    let all = simulator.cluster().workloads().filter(|(_, workload)| workload.owner().is_none());
    all.filter_map(|(key, _)| Some((key.clone(), Downtime::of(&simulator.availability(key)?))))
        .collect()
}

impl Downtime {
    /// Downtime of a workload.
    fn of(availability: &Availability) -> Self {
        Self {
            replica_time_lost: Span(availability.replica_time_lost),
            longest_gap: availability.longest_below.map(Gap::length).unwrap_or_default(),
        }
    }
}

impl<'a> Look<'a> {
    fn of(segment: &'a Segment) -> Self {
        Self { state: segment.state, taints: &segment.taints, node: segment.node.as_ref() }
    }
}

/// Values of two maps for each key of either.
fn both<K: Ord + Clone, V: Clone>(maps: [OrderedMap<K, V>; 2]) -> Vec<(K, [Option<V>; 2])> {
    let keys: OrderedSet<&K> = maps.iter().flat_map(OrderedMap::keys).collect();
    let of = |key: &K| maps.each_ref().map(|map| map.get(key).cloned());
    keys.into_iter().map(|key| (key.clone(), of(key))).collect()
}
