//! Two runs side by side: where they part, and what each costs.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::{LaneRecorder, LaneState, LaneSubject, Segment};
use crate::api::{NodeName, PodKey, WorkloadKey};
use crate::event::{Event, EventKind, RequestResult, RequestVerb};
use crate::kubelet::EvictionManagerReport;
use crate::order::Ordered;
use crate::pod_state::{PodHealth, PodVerdict};
use crate::simulator::{Availability, Gap, Simulator};
use crate::time::{Span, Timestamp};

/// A run that is compared with another one.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The simulation at its end.
    pub simulator: &'a Simulator,
    /// Its lanes.
    pub recorder: &'a LaneRecorder,
    /// Everything that happened.
    pub events: &'a [Event],
}

/// What differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// What they are called.
    pub names: [String; 2],
    /// How far both go: what comes later in the longer one is not compared.
    pub until: Timestamp,
    /// Where they part; absent if they are the same.
    pub divergence: Option<Divergence>,
    /// The objects whose lanes differ, in the order of lanes.
    pub subjects: Vec<LaneSubject>,
    /// Of each pod that is evicted in one of them, when it is in each, by key.
    pub evictions: Vec<(PodKey, [Option<Timestamp>; 2])>,
    /// Of each workload that was there in one of them, how it fared in each, by key.
    pub downtimes: Vec<(WorkloadKey, [Option<Downtime>; 2])>,
    /// How many pods are stuck `Terminating` at the end of each.
    pub stuck: [usize; 2],
    /// How many pods have no node at the end of each.
    pub pending: [usize; 2],
}

/// Where two runs part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// When.
    pub at: Timestamp,
    /// The object that shows it first: a node before its pods, and both before their zone.
    pub subject: LaneSubject,
    /// In a sentence.
    pub text: String,
}

/// How a workload fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Downtime {
    /// How long pods were missing, added up over all that were: replica-seconds.
    pub replica_time_lost: Span,
    /// The longest time with fewer ready pods than wanted.
    pub longest_gap: Span,
}

/// What an object is from a moment on; `None` if it is not there.
type Point<'a> = (Timestamp, Option<Look<'a>>);

/// What counts as a difference. Texts do not.
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
        let all: BTreeSet<_> = a.recorder.subjects().chain(b.recorder.subjects()).ordered_set();
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

    /// How many pods are evicted in each.
    #[must_use]
    pub fn evicted(&self) -> [usize; 2] {
        [0, 1].map(|run| {
            let times = self.evictions.iter().filter_map(|(_, times)| *times.get(run)?);
            times.count()
        })
    }

    /// In a sentence where they part, or that they do not.
    #[must_use]
    pub fn sentence(&self) -> String {
        match &self.divergence {
            Some(divergence) => divergence.text.clone(),
            None => format!("Nothing differs until {}.", shown(self.until)),
        }
    }

    /// What there is to say in numbers, as rows: what, and in each run.
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

    /// All of it as Markdown, for an incident review.
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

/// `4m0s of replicas, at most 2m0s at once`.
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

/// A moment, as the log shows it.
const fn shown(at: Timestamp) -> Timestamp {
    at.truncated_to_millis()
}

/// A text in a table of Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The order in which objects that differ from the same moment on are named.
const fn rank(subject: &LaneSubject) -> u8 {
    match subject {
        LaneSubject::Node { .. } => 0,
        LaneSubject::Pod { .. } => 1,
        LaneSubject::Zone { .. } => 2,
    }
}

/// The moments at which an object becomes something else.
fn points<'a>(recorder: &'a LaneRecorder, subject: &LaneSubject) -> Vec<Point<'a>> {
    let mut points: Vec<Point<'a>> = Vec::new();
    let mut ended = None;
    for segment in recorder.segments(subject) {
        if let Some(end) = ended.filter(|end| *end < segment.from) {
            points.push((end, None));
        }
        let look = Look::of(segment);
        // Of what differs in its text alone there is one point.
        if points.last().is_none_or(|(_, last)| *last != Some(look)) {
            points.push((segment.from, Some(look)));
        }
        ended = (!segment.goes_on).then_some(segment.to);
    }
    points.extend(ended.map(|end| (end, None)));
    points
}

/// When the lanes of an object part, if they do.
fn parts_at(runs: [Run<'_>; 2], subject: &LaneSubject, until: Timestamp) -> Option<Timestamp> {
    let [a, b] = runs.map(|run| points(run.recorder, subject));
    let mut pairs = a.iter().zip(&b);
    let same = pairs.by_ref().take_while(|(a, b)| a == b).count();
    let next = [a.get(same), b.get(same)];
    next.into_iter().flatten().map(|(at, _)| *at).min().filter(|at| *at <= until)
}

/// What an object is at a moment.
fn segment_at(run: Run<'_>, subject: &LaneSubject, at: Timestamp) -> Option<Segment> {
    let segments = run.recorder.segments(subject).iter().rev();
    let mut at_it = segments.filter(|it| it.from <= at && (it.goes_on || at < it.to));
    at_it.next().cloned()
}

/// How two runs part, in a sentence.
fn sentence(runs: [Run<'_>; 2], subject: &LaneSubject, at: Timestamp) -> String {
    let now = runs.map(|run| segment_at(run, subject, at));
    // The one in which something happens is told first.
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

/// When the second run comes to what the first one is at that moment.
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

/// When each pod is evicted first: the API server accepts a controller's `DELETE`, or its kubelet
/// kills it.
fn evictions(run: Run<'_>) -> BTreeMap<PodKey, Timestamp> {
    let mut found = BTreeMap::new();
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

/// How the workloads that nobody owns fared.
fn downtimes(simulator: &Simulator) -> BTreeMap<WorkloadKey, Downtime> {
    let all = simulator.cluster().workloads().filter(|(_, workload)| workload.owner().is_none());
    all.filter_map(|(key, _)| Some((key.clone(), Downtime::of(&simulator.availability(key)?))))
        .ordered_map()
}

impl Downtime {
    /// Of a workload.
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

/// What two maps say of each key of one of them.
fn both<K: Ord + Clone, V: Clone>(maps: [BTreeMap<K, V>; 2]) -> Vec<(K, [Option<V>; 2])> {
    let keys: BTreeSet<&K> = maps.iter().flat_map(BTreeMap::keys).ordered_set();
    let of = |key: &K| maps.each_ref().map(|map| map.get(key).cloned());
    keys.into_iter().map(|key| (key.clone(), of(key))).collect()
}
