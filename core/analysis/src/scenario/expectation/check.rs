//! Checks of expectations.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_engine::event::{
    Event, EventKind, ObjectReference, RecordedEvent, RequestResult, RequestVerb,
};
use taintlab_engine::kubelet::EvictionManagerReport;
use taintlab_engine::kubelet::pod_columns::PodColumns;
use taintlab_engine::kubelet::pod_status::pod_as_served;
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::{PodKey, Quantity, Taint};
use taintlab_rules::plural::count;
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::time::{Span, Timestamp};

use super::display::list;
use super::{
    AvailabilityExpectation, AvailableExpectation, ConditionExpectation, EventExpectation,
    Expectation, Outcome, PodsOnExpectation, RankingExpectation, RateExpectation,
    ReplicasExpectation, ScheduledExpectation, TaintExpectation, Window, ZoneExpectation,
};

/// Column STATUS of `kubectl get pods`; `None` if the pod does not exist.
fn kubectl_status(simulator: &Simulator, key: &PodKey) -> Option<String> {
    let cluster = simulator.cluster();
    let pod = cluster.get_pod(key)?;
    let node = cluster.get_node(pod.spec.node_name.as_str());
    let release = simulator.config().release;
    let served = pod_as_served(release, pod, node.map(AsRef::as_ref));
    Some(PodColumns::of(release, &served).status)
}

impl Expectation {
    /// Compares the expectation with a run.
    #[must_use]
    pub fn check(&self, events: &[Event], simulator: &Simulator) -> Outcome {
        let failure = match self {
            Self::Evicted(e) => within(e.window(), &evictions(events, &e.pod), "evicted"),
            Self::NotEvicted(e) => outside(e.window(), &evictions(events, &e.pod), "evicted"),
            Self::Gone(e) => within(e.window(), &removals(events, &e.pod), "gone"),
            Self::Present(e) => {
                let gone = simulator.cluster().get_pod(&e.pod).is_none();
                gone.then(|| times_text(&removals(events, &e.pod), "gone"))
            }
            Self::Event(e) => {
                let times = recorded(events, e);
                let hits = times.iter().filter(|time| e.window().contains(**time)).count();
                match e.times {
                    Some(times) if hits == times as usize => None,
                    Some(_) => Some(format!("it is recorded {}", count(hits, "time"))),
                    None => within(e.window(), &times, "recorded"),
                }
            }
            Self::NoEvent(e) => outside(e.window(), &recorded(events, e), "recorded"),
            Self::NodeTainted(e) => within(e.window(), &taint_changes(events, e, true), "tainted"),
            Self::NodeNotTainted(e) => {
                outside(e.window(), &taint_changes(events, e, true), "tainted")
            }
            Self::NodeUntainted(e) => {
                within(e.window(), &taint_changes(events, e, false), "untainted")
            }
            Self::NodeCondition(e) => within(e.window(), &conditions(events, e), "so"),
            Self::NoNodeCondition(e) => outside(e.window(), &conditions(events, e), "so"),
            Self::ZoneState(e) => within(e.window(), &zone_states(events, e), "so"),
            Self::NoZoneState(e) => outside(e.window(), &zone_states(events, e), "so"),
            Self::ZoneRate(e) => within(e.window(), &zone_rates(events, e), "so"),
            Self::Ranking(e) => ranking(e, simulator),
            Self::Available(e) => available(e, simulator),
            Self::ReadyReplicas(e) => replicas(e, simulator, true),
            Self::NoReadyReplicas(e) => replicas(e, simulator, false),
            Self::Availability(e) => availability(e, simulator),
            Self::Scheduled(e) => within(e.window(), &bindings(events, e), "scheduled"),
            Self::NotScheduled(e) => outside(e.window(), &bindings(events, e), "scheduled"),
            Self::PodsOn(e) => pods_on(e, simulator),
            Self::PodStatus(e) => match kubectl_status(simulator, &e.pod) {
                None => Some("it is gone".into()),
                Some(status) if status == e.status => None,
                Some(status) => Some(format!("it is {status}")),
            },
        };
        Outcome { expectation: self.to_string(), failure }
    }
}

impl Window {
    fn contains(self, time: Timestamp) -> bool {
        self.at.is_none_or(|at| time == at.timestamp())
            && self.by.is_none_or(|by| time <= by.timestamp())
            && self.from.is_none_or(|from| time >= from.timestamp())
    }
}

impl TaintExpectation {
    fn matches(&self, taint: &Taint) -> bool {
        taint.effect == self.effect && (self.key.is_empty() || taint.key == self.key)
    }
}

impl EventExpectation {
    fn matches(&self, event: &RecordedEvent) -> bool {
        let about = match &event.involved_object {
            ObjectReference::Pod { pod, .. } => {
                self.node.is_none()
                    && self.workload.is_none()
                    && self.pod.as_ref().is_none_or(|wanted| wanted == pod)
            }
            ObjectReference::Node { node } => {
                let wanted = self.node.as_deref();
                self.pod.is_none()
                    && self.workload.is_none()
                    && wanted.is_none_or(|wanted| wanted == node.as_str())
            }
            ObjectReference::Budget { .. } => {
                self.pod.is_none() && self.node.is_none() && self.workload.is_none()
            }
            ObjectReference::Workload { workload } => {
                self.pod.is_none()
                    && self.node.is_none()
                    && self.workload.as_ref().is_none_or(|wanted| wanted == workload)
            }
        };
        about
            && self.reason.as_deref().is_none_or(|reason| reason == event.reason)
            && self.message.as_deref().is_none_or(|message| message == event.message)
    }
}

fn is_zone(zone: &ZoneKey, text: &str) -> bool {
    zone.name() == text || !text.is_empty() && zone.zone() == text
}

/// Times of matching events.
fn times(events: &[Event], is_it: impl Fn(&EventKind) -> bool) -> Vec<Timestamp> {
    events.iter().filter(|event| is_it(&event.what)).map(|event| event.at).collect()
}

/// Times at which the API server accepted a controller's `DELETE` for the pod, or its kubelet
/// killed it.
fn evictions(events: &[Event], wanted: &PodKey) -> Vec<Timestamp> {
    times(events, |what| {
        matches!(what,
            EventKind::Request {
                pod, verb: RequestVerb::Delete | RequestVerb::Evict, result: RequestResult::Ok, ..
            }
            | EventKind::KubeletEviction { report: EvictionManagerReport::Killing { pod, .. }, .. }
            if pod == wanted)
    })
}

fn removals(events: &[Event], wanted: &PodKey) -> Vec<Timestamp> {
    times(events, |what| matches!(what, EventKind::PodDeleted { pod, .. } if pod == wanted))
}

fn recorded(events: &[Event], wanted: &EventExpectation) -> Vec<Timestamp> {
    times(events, |what| matches!(what, EventKind::EventRecorded(event) if wanted.matches(event)))
}

fn taint_changes(events: &[Event], wanted: &TaintExpectation, new: bool) -> Vec<Timestamp> {
    times(events, |what| {
        let EventKind::NodeTaintsChanged { node, added, removed } = what else { return false };
        let taints = if new { added } else { removed };
        node.as_str() == wanted.node && taints.iter().any(|taint| wanted.matches(taint))
    })
}

fn conditions(events: &[Event], wanted: &ConditionExpectation) -> Vec<Timestamp> {
    times(events, |what| {
        matches!(what, EventKind::NodeConditionChanged { node, condition, to, .. }
            if node.as_str() == wanted.node && *condition == wanted.type_ && *to == wanted.status)
    })
}

fn zone_states(events: &[Event], wanted: &ZoneExpectation) -> Vec<Timestamp> {
    times(events, |what| {
        matches!(what, EventKind::ZoneStateChanged { zone, to, .. }
            if is_zone(zone, &wanted.zone) && *to == Some(wanted.state))
    })
}

fn zone_rates(events: &[Event], wanted: &RateExpectation) -> Vec<Timestamp> {
    times(events, |what| {
        matches!(what, EventKind::ZoneRateChanged { zone, rate }
            if is_zone(zone, &wanted.zone) && *rate == wanted.rate)
    })
}

/// Checks the intervals with this number of ready pods.
fn replicas(e: &ReplicasExpectation, simulator: &Simulator, wanted: bool) -> Option<String> {
    let Some(curve) = simulator.availability(&e.workload) else {
        return Some(format!("there is no {}", e.workload));
    };
    // Later states are unknown, unless nothing more is due.
    let goes_on = simulator.poll_timeout().is_some();
    let known = if goes_on {
        simulator.now().saturating_add(Duration::from_nanos(1))
    } else {
        Timestamp::MAX
    };
    let ends = curve.steps.iter().skip(1).map(|step| step.at).chain([known]);
    let (window, replicas) = (e.window(), i64::from(e.replicas));
    let earliest = window.from.map_or(Timestamp::ZERO, Span::timestamp);
    let latest = window.by.map_or(simulator.now(), Span::timestamp);
    let hit = curve.steps.iter().zip(ends).any(|(step, end)| {
        let inside = match window.at.map(Span::timestamp) {
            Some(at) => step.at <= at && at < end,
            None => step.at <= latest && earliest < end,
        };
        inside && step.ready == replicas
    });
    let steps = curve.steps.iter().map(|step| format!("{} from {}", step.ready, step.at));
    (hit != wanted).then(|| format!("ready are {}", steps.collect::<Vec<_>>().join(", ")))
}

fn availability(e: &AvailabilityExpectation, simulator: &Simulator) -> Option<String> {
    let Some(found) = simulator.availability(&e.workload) else {
        return Some(format!("there is no {}", e.workload));
    };
    let long = |gap: Option<taintlab_engine::simulator::Gap>| {
        gap.map_or(Span::default(), |gap| gap.length())
    };
    let values =
        [long(found.longest_below), long(found.longest_at_zero), Span(found.replica_time_lost)];
    let wrong: Vec<String> = e
        .fields()
        .into_iter()
        .zip(values)
        .filter(|((_, wanted), value)| wanted.is_some_and(|wanted| wanted != *value))
        .map(|((name, _), value)| format!("{name} is {value}"))
        .collect();
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

fn bindings(events: &[Event], wanted: &ScheduledExpectation) -> Vec<Timestamp> {
    times(events, |what| {
        let EventKind::EventRecorded(event) = what else { return false };
        let to = event.message.rsplit(' ').next().unwrap_or_default();
        event.reason == "Scheduled"
            && matches!(
                &event.involved_object,
                ObjectReference::Pod { pod, .. } if *pod == wanted.pod
            )
            && (wanted.node.is_empty() || wanted.node == to)
    })
}

fn pods_on(e: &PodsOnExpectation, simulator: &Simulator) -> Option<String> {
    let Some(view) = simulator.workload_view(&e.workload) else {
        return Some(format!("there is no {}", e.workload));
    };
    let node = |key: &PodKey| {
        let node = simulator.cluster().get_pod(key).map(|pod| pod.spec.node_name.clone());
        node.filter(|node| !node.is_empty()).unwrap_or_else(|| "no node".into())
    };
    let nodes: Vec<String> = view.pods.iter().map(node).collect();
    let found = nodes.iter().filter(|node| **node == e.node).count();
    (found != e.pods as usize).then(|| match nodes.is_empty() {
        true => "it has no pods".into(),
        false => format!("they are on: {}", nodes.join(", ")),
    })
}

fn ranking(wanted: &RankingExpectation, simulator: &Simulator) -> Option<String> {
    let Some(ranking) = simulator.eviction_ranking(&wanted.node, wanted.signal) else {
        return Some("the kubelet has no ranking for this signal".into());
    };
    let pods: Vec<PodKey> = ranking.pods.into_iter().map(|pod| pod.candidate.pod).collect();
    (!pods.starts_with(&wanted.pods)).then(|| format!("it is {}", list(&pods)))
}

fn available(wanted: &AvailableExpectation, simulator: &Simulator) -> Option<String> {
    let view = simulator.eviction_view(&wanted.node);
    let signals = view.iter().flat_map(|view| &view.signals);
    let Some(found) = signals.into_iter().find(|known| known.signal == wanted.signal) else {
        return Some("the amount is unknown".into());
    };
    let amount = Quantity::new(found.available, taintlab_rules::api::Format::BinarySI);
    (amount.compare(&wanted.amount).is_ne()).then(|| format!("it is {amount}"))
}

fn within(window: Window, times: &[Timestamp], what: &str) -> Option<String> {
    let hit = times.iter().any(|time| window.contains(*time));
    (!hit).then(|| times_text(times, what))
}

fn outside(window: Window, times: &[Timestamp], what: &str) -> Option<String> {
    let hits: Vec<Timestamp> =
        times.iter().copied().filter(|time| window.contains(*time)).collect();
    (!hits.is_empty()).then(|| times_text(&hits, what))
}

fn times_text(times: &[Timestamp], what: &str) -> String {
    if times.is_empty() {
        return format!("it is never {what}");
    }
    let times: Vec<String> = times.iter().map(ToString::to_string).collect();
    format!("it is {what} at {}", times.join(", "))
}
