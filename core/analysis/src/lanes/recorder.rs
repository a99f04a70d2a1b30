//! Recording of lanes, moment by moment.
#![deny(clippy::wildcard_enum_match_arm, reason = "a new event is thought of here")]

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_engine::event::{Event, EventKind, RequestResult, RequestVerb};
use taintlab_engine::pod_state::{PodHealth, PodState, PodVerdict};
use taintlab_engine::simulator::{Simulator, device_eviction};
use taintlab_rules::api::{
    ConditionStatus, Node, NodeCondition, NodeName, PodKey, TaintEffect, node_condition_type,
};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::time::Timestamp;

use super::{Cause, Lane, LaneState, LaneSubject, Lanes, Segment};
use crate::scenario::{Player, ScenarioError};

/// Records the segments of zones, nodes and pods.
#[derive(Clone, Debug)]
pub struct LaneRecorder {
    /// Shared with copies of the recorder until one of them changes.
    lanes: OrderedMap<LaneSubject, Arc<Vec<Segment>>>,
    /// Number of events recorded.
    events: usize,
    forecast_from: Option<Timestamp>,
    last_change: Timestamp,
    /// Number of times that an object got a lane, or a pod its first node.
    places: usize,
}

/// Events of one moment, with the indexes of those about each zone, node and pod.
struct Happened<'a> {
    events: &'a [Event],
    zones: OrderedMap<&'a ZoneKey, Vec<usize>>,
    nodes: OrderedMap<&'a NodeName, Vec<usize>>,
    pods: OrderedMap<&'a PodKey, Vec<usize>>,
}

impl<'a> Happened<'a> {
    fn new(events: &'a [Event]) -> Self {
        let (mut zones, mut nodes, mut pods) =
            (OrderedMap::new(), OrderedMap::new(), OrderedMap::new());
        for (index, event) in events.iter().enumerate() {
            let of = event.what.subject();
            if let Some(zone) = of.zone.filter(|_| of.node.is_none()) {
                zones.entry(zone).or_insert_with(Vec::new).push(index);
            }
            if let Some(node) = of.node {
                nodes.entry(node).or_insert_with(Vec::new).push(index);
            }
            if let Some(pod) = of.pod {
                pods.entry(pod).or_insert_with(Vec::new).push(index);
            }
        }
        Self { events, zones, nodes, pods }
    }

    /// Events about an object, with their indexes.
    fn about(&self, subject: &LaneSubject) -> impl Iterator<Item = (usize, &'a Event)> {
        let found = match subject {
            LaneSubject::Zone { zone } => self.zones.get(zone),
            LaneSubject::Node { node } => self.nodes.get(node),
            LaneSubject::Pod { pod } => self.pods.get(pod),
        };
        let indexes = found.into_iter().flatten();
        indexes.filter_map(|index| Some((*index, self.events.get(*index)?)))
    }
}

/// Content of a segment, without times and causes.
struct Now {
    state: LaneState,
    reason: String,
    taints: Vec<String>,
    node: Option<NodeName>,
}

impl LaneRecorder {
    /// Starts with the current state of the simulation.
    #[must_use]
    pub fn new(simulator: &Simulator) -> Self {
        let mut recorder = Self {
            lanes: OrderedMap::new(),
            events: 0,
            forecast_from: None,
            last_change: Timestamp::ZERO,
            places: 0,
        };
        recorder.look_at(simulator, &recorder.all(simulator), &[]);
        recorder
    }

    /// Marks everything from this time on as a forecast.
    pub fn forecast_from(&mut self, at: Timestamp) {
        self.forecast_from = Some(at);
    }

    /// Plays the rest of a scenario.
    ///
    /// # Errors
    /// As [`Player::show_to_end`].
    pub fn play_to_end(
        &mut self,
        player: &mut Player,
        simulator: &mut Simulator,
    ) -> Result<(), ScenarioError> {
        player.show_to_end(simulator, |simulator, events| self.record(simulator, &events))
    }

    /// Number of events recorded.
    #[must_use]
    pub const fn events(&self) -> usize {
        self.events
    }

    /// Time of the last change.
    #[must_use]
    pub const fn last_change(&self) -> Timestamp {
        self.last_change
    }

    /// A number that changes whenever an object gets or loses its lane, or the first node of a
    /// pod's lane changes, so that a reader knows when to group the lanes again.
    #[must_use]
    pub const fn places(&self) -> usize {
        self.places
    }

    /// Objects with a lane, in the order of [`Lanes::lanes`].
    pub fn subjects(&self) -> impl Iterator<Item = &LaneSubject> {
        self.lanes.keys()
    }

    /// Segments of an object in the order of time; empty if it never existed. A segment that
    /// continues ends where it begins: its reader knows how far it reaches.
    #[must_use]
    pub fn segments(&self, subject: &LaneSubject) -> &[Segment] {
        self.lanes.get(subject).map_or(&[], |segments| segments.as_slice())
    }

    /// Chain of causes of a segment, the last one first: for an eviction the timer, the taint, the
    /// rate limiter, the health pass and the unreachable kubelet. Empty if none is known.
    #[must_use]
    pub fn causes(&self, subject: &LaneSubject, segment: usize) -> Vec<Cause> {
        let mut causes: Vec<Cause> = Vec::new();
        let mut seen = OrderedSet::new();
        let mut at = Some((subject.clone(), segment));
        while let Some((subject, index)) = at.take().filter(|at| seen.insert(at.clone())) {
            let Some(segment) = self.segments(&subject).get(index) else { break };
            for cause in [&segment.began, &segment.cause].into_iter().flatten() {
                if causes.iter().all(|known| known.event != cause.event) {
                    causes.push(Cause::clone(cause));
                }
            }
            at = self.segment_before(&subject, index, segment);
        }
        causes
    }

    /// The segment that led to another one: the one that its cause began, or for a node the one
    /// before.
    fn segment_before(
        &self,
        subject: &LaneSubject,
        index: usize,
        segment: &Segment,
    ) -> Option<(LaneSubject, usize)> {
        let node = segment.node.clone().map(|node| LaneSubject::Node { node });
        let began = segment.cause.as_ref().and_then(|cause| {
            [Some(subject), node.as_ref()].into_iter().flatten().find_map(|lane| {
                let begins = |it: &Segment| it.began.as_ref().map(|it| it.event);
                let mut segments = self.segments(lane).iter();
                let place = segments.position(|it| begins(it) == Some(cause.event))?;
                Some((lane.clone(), place))
            })
        });
        began.or_else(|| {
            let before = index.checked_sub(1)?;
            let earlier = self.segments(subject).get(before)?;
            let led = matches!(subject, LaneSubject::Node { .. })
                && segment.state != LaneState::Ready
                && earlier.to == segment.from;
            led.then(|| (subject.clone(), before))
        })
    }

    /// Forgets everything after a moment of this run. The simulation is back at that moment, after
    /// `events` events, and may continue differently.
    pub fn go_back(&mut self, simulator: &Simulator, events: usize) {
        let now = simulator.now();
        let later = |segment: &Segment| {
            let began = segment.began.as_ref();
            segment.from > now || began.is_some_and(|began| began.event >= events)
        };
        let ended = |segment: &Segment| !segment.goes_on && segment.to >= now;
        // Events of this moment after that point may have hidden the state before them.
        let mut unsure = OrderedSet::new();
        for (subject, segments) in &mut self.lanes {
            if segments.last().is_some_and(|last| !later(last) && !ended(last)) {
                continue;
            }
            let segments = Arc::make_mut(segments);
            let mut is_unsure = false;
            while let Some(popped) = segments.pop_if(|it| later(it)) {
                is_unsure |= popped.from == now;
            }
            if let Some(last) = segments.last_mut().filter(|it| ended(it)) {
                is_unsure |= last.to == now;
                (last.to, last.goes_on) = (last.from, true);
            }
            if is_unsure {
                unsure.insert(subject.clone());
            }
        }
        self.lanes.retain(|_, segments| !segments.is_empty());
        self.events = events;
        self.places += 1;
        self.last_change = self.last_change.min(now);
        // Reasons keep the text that they were recorded with.
        self.compare(simulator, &unsure, &[], Now::is_like);
    }

    /// Everything that has a lane or should have one.
    fn all(&self, simulator: &Simulator) -> OrderedSet<LaneSubject> {
        let cluster = simulator.cluster();
        let nodes = cluster.nodes().map(|(node, _)| LaneSubject::Node { node: node.clone() });
        let pods = cluster.pods().map(|(pod, _)| LaneSubject::Pod { pod: pod.clone() });
        let zones = simulator.zones().into_iter().map(|zone| LaneSubject::Zone { zone: zone.key });
        self.lanes.keys().cloned().chain(zones).chain(nodes).chain(pods).collect()
    }

    /// Records the events of one moment, with the simulation as it is after them.
    pub fn record(&mut self, simulator: &Simulator, events: &[Event]) {
        let mut subjects = OrderedSet::new();
        for event in events {
            let subject = event.what.subject();
            if let Some(node) = subject.node {
                subjects.insert(LaneSubject::Node { node: node.clone() });
                // A change of a node can change its pods without an event about them.
                let pods = simulator.cluster().pods_of(node.as_str());
                subjects.extend(pods.map(|(pod, _)| LaneSubject::Pod { pod: pod.clone() }));
            }
            subjects.extend(subject.pod.map(|pod| LaneSubject::Pod { pod: pod.clone() }));
            subjects.extend(subject.zone.map(|zone| LaneSubject::Zone { zone: zone.clone() }));
            if matches!(event.what, EventKind::ControllerManagerRestarted) {
                let zones = self.lanes.keys();
                let zones = zones.filter(|subject| matches!(subject, LaneSubject::Zone { .. }));
                subjects.extend(zones.cloned());
            }
            if matches!(event.what, EventKind::TaintEvictionControllerRestarted { .. }) {
                let pods = simulator.cluster().pods().map(|(pod, _)| pod.clone());
                subjects.extend(pods.map(|pod| LaneSubject::Pod { pod }));
            }
        }
        self.look_at(simulator, &subjects, events);
        self.events += events.len();
    }

    /// Lanes up to a moment.
    #[must_use]
    pub fn lanes(&self, until: Timestamp) -> Lanes {
        let lanes = self.lanes.iter().map(|(subject, segments)| {
            let mut segments = Vec::clone(segments);
            for segment in &mut segments {
                if segment.goes_on {
                    segment.to = until;
                }
            }
            Lane { subject: subject.clone(), segments }
        });
        let lanes = lanes.filter(|lane| !lane.segments.is_empty()).collect();
        Lanes { until, forecast_from: self.forecast_from, lanes }
    }

    /// Updates the lanes that may have changed: zones and nodes before the pods on them.
    fn look_at(
        &mut self,
        simulator: &Simulator,
        subjects: &OrderedSet<LaneSubject>,
        events: &[Event],
    ) {
        self.compare(simulator, subjects, events, Now::is);
    }

    /// As `look_at`, with the condition for a segment to continue.
    fn compare(
        &mut self,
        simulator: &Simulator,
        subjects: &OrderedSet<LaneSubject>,
        events: &[Event],
        goes_on: fn(&Now, &Segment) -> bool,
    ) {
        let states = simulator.pod_states();
        let zones: OrderedMap<_, _> =
            if subjects.iter().any(|one| matches!(one, LaneSubject::Zone { .. })) {
                let states = simulator.node_lifecycle().into_iter().flat_map(|it| it.zone_states());
                states.map(|(key, state, reason)| (key, (state, reason))).collect()
            } else {
                OrderedMap::new()
            };
        let at = simulator.now();
        let events = &Happened::new(events);
        for subject in subjects {
            let now = match subject {
                LaneSubject::Zone { zone } => {
                    zones.get(zone).map(|(state, reason)| Now::of((*state).into(), reason.clone()))
                }
                LaneSubject::Node { node } => simulator
                    .cluster()
                    .get_node(node.as_str())
                    .map(|it| Now::of_node(simulator, it)),
                LaneSubject::Pod { pod } => {
                    states.get(pod).map(|state| Now::of_pod(simulator, pod, state))
                }
            };
            self.change(at, subject, now, events, goes_on);
        }
    }

    /// Ends the segment of an object and begins another one, if its state has changed.
    fn change(
        &mut self,
        at: Timestamp,
        subject: &LaneSubject,
        now: Option<Now>,
        events: &Happened<'_>,
        goes_on: fn(&Now, &Segment) -> bool,
    ) {
        let open = self.lanes.get(subject).and_then(|segments| segments.last());
        let open = open.filter(|segment| segment.goes_on);
        match (open, &now) {
            (None, None) => return,
            (Some(segment), Some(now)) if goes_on(now, segment) => return,
            _ => {}
        }
        self.last_change = self.last_change.max(at);
        let began = self.began(subject, events);
        let segment = now.map(|now| Segment {
            from: at,
            to: at,
            goes_on: true,
            cause: self.cause(subject, &now, open, events),
            state: now.state,
            reason: now.reason,
            taints: now.taints,
            node: now.node,
            began,
        });
        let segments = Arc::make_mut(self.lanes.entry(subject.clone()).or_default());
        let first_node = |segments: &[Segment]| segments.iter().position(|it| it.node.is_some());
        let before = (segments.is_empty(), first_node(segments));
        if let Some(open) = segments.last_mut().filter(|segment| segment.goes_on) {
            (open.to, open.goes_on) = (at, false);
        }
        // A segment of zero length was visible to nobody.
        let _ = segments.pop_if(|segment| segment.from == segment.to);
        if segments.is_empty() {
            // Most objects never change, and a new list would reserve room for four.
            segments.reserve_exact(1);
        }
        segments.extend(segment);
        self.places += usize::from(before != (segments.is_empty(), first_node(segments)));
    }

    /// The event that says the most about a change of an object.
    fn began(&self, subject: &LaneSubject, events: &Happened<'_>) -> Option<Arc<Cause>> {
        self.most_telling(events.about(subject), |event| weight(&event.what))
    }

    /// Cause of the current state of an object.
    fn cause(
        &self,
        subject: &LaneSubject,
        now: &Now,
        before: Option<&Segment>,
        events: &Happened<'_>,
    ) -> Option<Arc<Cause>> {
        match subject {
            LaneSubject::Zone { .. } => self
                .most_telling(events.events.iter().enumerate(), |event| {
                    usize::from(matches!(event.what, EventKind::NodeConditionChanged { .. }))
                }),
            LaneSubject::Node { .. } => {
                let dequeued = self.most_telling(events.about(subject), |event| {
                    usize::from(matches!(event.what, EventKind::NodeDequeued { .. }))
                });
                let earlier = before.and_then(|before| {
                    let follows = now.state == LaneState::Unknown || !now.taints.is_empty();
                    before.began.clone().filter(|_| follows && before.state != LaneState::Ready)
                });
                dequeued.or(earlier)
            }
            LaneSubject::Pod { .. } => {
                let planned = self.most_telling(events.about(subject), |event| {
                    usize::from(matches!(event.what, EventKind::DeviceEvictionPlanned { .. }))
                });
                // The countdown begins with the plan, which follows from nothing else.
                if planned.is_some() {
                    return planned.filter(|_| now.state != LaneState::Counting);
                }
                if let Some(counting) = before.filter(|it| it.state == LaneState::Counting) {
                    return counting.began.clone();
                }
                let follows = matches!(
                    now.state,
                    LaneState::Counting
                        | LaneState::Terminating
                        | LaneState::Stuck
                        | LaneState::NotReady
                );
                let lane = LaneSubject::Node { node: now.node.clone().filter(|_| follows)? };
                let node = self.lanes.get(&lane).and_then(|segments| segments.last());
                node.filter(|node| node.goes_on && node.matters_to(now))
                    .and_then(|node| node.began.clone())
            }
        }
    }

    /// The last of the events with the greatest weight; `None` if all have weight 0.
    fn most_telling<'a>(
        &self,
        events: impl Iterator<Item = (usize, &'a Event)>,
        weight: impl Fn(&Event) -> usize,
    ) -> Option<Arc<Cause>> {
        let weighed = events.map(|(index, event)| (weight(event), index, event));
        let (_, index, event) = weighed
            .filter(|(weight, ..)| *weight > 0)
            .max_by_key(|(weight, index, _)| (*weight, *index))?;
        let text = event.what.to_string();
        Some(Arc::new(Cause { at: event.at, event: self.events + index, text }))
    }
}

impl Segment {
    /// Whether this state of a node explains the current state of a pod on it.
    fn matters_to(&self, pod: &Now) -> bool {
        if pod.state == LaneState::Counting || pod.state == LaneState::Terminating {
            !self.taints.is_empty()
        } else {
            self.state != LaneState::Ready
        }
    }
}

fn reason_of(condition: Option<&NodeCondition>) -> String {
    condition.map(|condition| condition.reason.clone()).unwrap_or_default()
}

/// Weight of an event as an explanation of its object's change; 0 for none.
fn weight(what: &EventKind) -> usize {
    match what {
        EventKind::KubeletEviction { .. }
        | EventKind::NodeShutdown { .. }
        | EventKind::HeartbeatLost { .. }
        | EventKind::HeartbeatResumed { .. }
        | EventKind::NodeConditionChanged { .. }
        | EventKind::ZoneStateChanged { .. }
        | EventKind::NodeAdded { .. }
        | EventKind::NodeDeleted { .. }
        | EventKind::PodAdded { .. }
        | EventKind::PodDeleted { .. } => 5,
        EventKind::Request {
            verb: RequestVerb::Delete | RequestVerb::Evict,
            result: RequestResult::Ok,
            ..
        }
        | EventKind::NodeTaintsChanged { .. } => 4,
        EventKind::Decided(_)
        | EventKind::DeviceEvictionPlanned { .. }
        | EventKind::ZoneRateChanged { .. } => 3,
        EventKind::EventRecorded(_) => 2,
        EventKind::PodUpdated { .. } | EventKind::NodeUpdated { .. } => 1,
        EventKind::Request { .. }
        | EventKind::NodeEvaluated { .. }
        | EventKind::TaintEvictionControllerRestarted { .. }
        | EventKind::ControllerManagerRestarted
        | EventKind::NodeWriteRefused { .. }
        | EventKind::NodeSkipped { .. }
        | EventKind::NodeQueued { .. }
        | EventKind::NodeDequeued { .. }
        | EventKind::MasterDisruptionEntered
        | EventKind::MasterDisruptionLeft
        | EventKind::WorkloadAdded { .. }
        | EventKind::WorkloadUpdated { .. }
        | EventKind::WorkloadDeleted { .. }
        | EventKind::OwnerInferred { .. }
        | EventKind::PodAdmitted { .. }
        | EventKind::NodeAdmitted { .. }
        | EventKind::BudgetChanged { .. }
        | EventKind::DrainStarted { .. }
        | EventKind::DrainPrinted { .. }
        | EventKind::DrainEnded { .. }
        | EventKind::VolumeDetached { .. }
        | EventKind::BudgetNotAsked { .. } => 0,
    }
}

impl Now {
    fn of(state: LaneState, reason: String) -> Self {
        Self { state, reason, taints: Vec::new(), node: None }
    }

    fn of_node(simulator: &Simulator, node: &Node) -> Self {
        let ready = node.condition(node_condition_type::READY);
        let watched = simulator.config().node_lifecycle;
        let unreachable = simulator.unreachable_cause(&node.metadata.name.as_str().into());
        let (state, reason) = match ready.map(|condition| &condition.status) {
            Some(ConditionStatus::True) | None if unreachable.is_some() => {
                (LaneState::Unreachable, unreachable.map_or_else(String::new, |it| it.to_string()))
            }
            Some(ConditionStatus::True) => (LaneState::Ready, String::new()),
            // Without kubelets no conditions are posted.
            None if !watched => (LaneState::Ready, String::new()),
            Some(ConditionStatus::False) => (LaneState::NotReady, reason_of(ready)),
            Some(_) | None => (LaneState::Unknown, reason_of(ready)),
        };
        let taints = node.spec.taints.iter();
        let taints = taints.filter(|taint| taint.effect == TaintEffect::NoExecute);
        Self { state, reason, taints: taints.map(ToString::to_string).collect(), node: None }
    }

    fn of_pod(simulator: &Simulator, key: &PodKey, it: PodState) -> Self {
        let state = match it.verdict {
            PodVerdict::Counting => LaneState::Counting,
            PodVerdict::Terminating | PodVerdict::Gone => LaneState::Terminating,
            PodVerdict::Stuck => LaneState::Stuck,
            PodVerdict::Evicted => LaneState::Evicted,
            PodVerdict::Stays | PodVerdict::Orphaned => match it.health {
                PodHealth::Pending => LaneState::Pending,
                PodHealth::Unschedulable => LaneState::Unschedulable,
                PodHealth::Starting => LaneState::Starting,
                PodHealth::Ready => LaneState::Ready,
                PodHealth::NotReady => LaneState::NotReady,
                PodHealth::Failed => LaneState::Failed,
                PodHealth::Succeeded => LaneState::Succeeded,
            },
        };
        let pod = simulator.cluster().get_pod(key);
        let reason = match it.verdict {
            PodVerdict::Stays if it.health == PodHealth::Unschedulable => pod
                .and_then(|pod| pod.condition("PodScheduled"))
                .map(|condition| condition.message.clone())
                .unwrap_or_default(),
            PodVerdict::Stuck => "until its kubelet is back".into(),
            PodVerdict::Counting => {
                let planned = device_eviction(simulator, key);
                let until = it.timer.map(|timer| timer.until);
                match planned.filter(|planned| Some(planned.tolerated_until) == until) {
                    Some(planned) => format!("{}: {planned}", it.verdict_text()),
                    None => it.verdict_text(),
                }
            }
            PodVerdict::Terminating | PodVerdict::Orphaned => it.verdict_text(),
            PodVerdict::Stays | PodVerdict::Gone | PodVerdict::Evicted => String::new(),
        };
        let node = pod.map(|pod| pod.spec.node_name.as_str()).filter(|node| !node.is_empty());
        Self { state, reason, taints: Vec::new(), node: node.map(NodeName::from) }
    }

    /// Whether state, taints and node are those of a segment, whatever its reason.
    fn is_like(&self, segment: &Segment) -> bool {
        self.state == segment.state && self.taints == segment.taints && self.node == segment.node
    }

    /// Whether a segment continues.
    fn is(&self, segment: &Segment) -> bool {
        // The scheduler's message about a pod changes with every node; the pod stays unschedulable.
        self.is_like(segment)
            && (self.reason == segment.reason || self.state == LaneState::Unschedulable)
    }
}
