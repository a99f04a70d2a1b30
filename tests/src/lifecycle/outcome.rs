//! What is seen of a scenario.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taintlab_core::api::{Node, NodeName, PodKey, Taint, TaintEffect};
use taintlab_core::controllers::node_lifecycle::{NodeLifecycleController, PodStatusPatch};
use taintlab_core::event::{ObjectReference, RecordedEvent, RequestResult};
use taintlab_core::time::Timestamp;

use super::START;
use crate::nullable::nullable;

/// One thing that was seen, as it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// When, in milliseconds.
    pub t: u64,
    /// What.
    pub kind: String,
    /// The zone it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The node it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The pod it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// State of a zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Rate of a zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qps: Option<f32>,
    /// Whether a zone is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never: Option<bool>,
    /// Type of a condition.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "type")]
    pub type_: Option<String>,
    /// Status of a condition, value of a label, answer to a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Reason of a condition, a pod or an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Key of a taint or label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Effect of a taint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
}

impl Outcome {
    /// Zones, then nodes, then pods, each by name.
    pub(super) fn order(&self) -> (u64, u8, String) {
        let (class, name) = match (&self.zone, &self.node, &self.pod) {
            (Some(zone), ..) => (0, zone),
            (_, Some(node), _) => (1, node),
            (_, _, pod) => (2, pod.as_ref().unwrap_or(&self.kind)),
        };
        (self.t, class, name.clone())
    }

    /// In a few words, for tests: `45 n1 node_condition Ready Unknown`.
    #[must_use]
    pub fn brief(&self) -> String {
        let seconds = Timestamp::from_millis(self.t).as_secs_f64();
        let mut words = vec![seconds.to_string()];
        let zone = self.zone.as_ref().map(|zone| format!("zone({})", zone.replace('\0', "")));
        words.extend(zone.into_iter().chain(self.node.clone()).chain(self.pod.clone()));
        words.push(self.kind.clone());
        let key = self.key.as_ref().map(|key| key.rsplit('/').next().unwrap_or(key).to_owned());
        let rest = [&self.state, &self.type_, &self.status, &self.reason, &key, &self.effect];
        words.extend(rest.into_iter().flatten().filter(|word| !word.is_empty()).cloned());
        match (self.never, self.qps) {
            (Some(true), _) => words.push("never".into()),
            (_, Some(qps)) => words.push(qps.to_string()),
            _ => {}
        }
        words.join(" ")
    }
}

/// An outcome without its time.
pub(super) struct Kind(Outcome);

impl Kind {
    fn new(kind: &str) -> Self {
        Self(Outcome { kind: kind.into(), ..Outcome::default() })
    }

    fn node(kind: &str, node: &NodeName) -> Self {
        let mut this = Self::new(kind);
        this.0.node = Some(node.to_string());
        this
    }

    fn pod(kind: &str, pod: &PodKey) -> Self {
        let mut this = Self::new(kind);
        this.0.pod = Some(pod.to_string());
        this
    }

    pub(super) fn at(self, now: Timestamp) -> Outcome {
        Outcome { t: now.as_nanos() / 1_000_000, ..self.0 }
    }

    pub(super) fn of_event(event: &RecordedEvent) -> Option<Self> {
        let mut this = match &event.involved_object {
            ObjectReference::Node { node } => Self::node("node_event", node),
            ObjectReference::Pod { pod, .. } if event.reason == "TaintManagerEviction" => {
                let marking = event.message.starts_with("Marking");
                return Some(Self::pod(if marking { "marking" } else { "cancelling" }, pod));
            }
            ObjectReference::Pod { pod, .. } => Self::pod("pod_event", pod),
            ObjectReference::Budget { .. } | ObjectReference::Workload { .. } => return None,
        };
        this.0.reason = Some(event.reason.into());
        Some(this)
    }

    pub(super) fn of_patch(pod: &PodKey, patch: &PodStatusPatch) -> Self {
        match patch {
            PodStatusPatch::NotReady { .. } => {
                let mut this = Self::pod("pod_ready", pod);
                this.0.status = Some("False".into());
                this
            }
            PodStatusPatch::NodeLost { .. } => {
                let mut this = Self::pod("pod_reason", pod);
                this.0.reason = Some("NodeLost".into());
                this
            }
        }
    }

    pub(super) fn of_delete(pod: &PodKey, result: RequestResult) -> Self {
        let mut this = Self::pod("pod_delete", pod);
        let status = match result {
            RequestResult::Ok => "ok",
            RequestResult::AlreadyTerminating => "already_terminating",
            RequestResult::NotFound => "not_found",
            RequestResult::Error(_) => "error",
        };
        this.0.status = Some(status.into());
        this
    }

    fn of_taint(kind: &str, node: &NodeName, taint: &Taint) -> Self {
        let mut this = Self::node(kind, node);
        this.0.key = Some(taint.key.clone());
        this.0.effect = Some(taint.effect.as_str().into());
        this
    }
}

/// What was written to nodes.
pub(super) fn differences(
    before: &BTreeMap<NodeName, Arc<Node>>,
    after: &BTreeMap<NodeName, Arc<Node>>,
) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for (name, new) in after {
        let Some(old) = before.get(name).filter(|old| !Arc::ptr_eq(old, new)) else { continue };
        for condition in &new.status.conditions {
            let known = old.condition(&condition.type_);
            if known
                .is_none_or(|k| (&k.status, &k.reason) != (&condition.status, &condition.reason))
            {
                let mut kind = Kind::node("node_condition", name);
                kind.0.type_ = Some(condition.type_.clone());
                kind.0.status = Some(condition.status.as_str().into());
                kind.0.reason = Some(condition.reason.clone());
                kinds.push(kind);
            }
        }
        kinds.extend(taint_differences(name, &old.spec.taints, &new.spec.taints));
        for (key, value) in &new.metadata.labels {
            if old.metadata.labels.get(key) != Some(value) {
                let mut kind = Kind::node("label", name);
                kind.0.key = Some(key.clone());
                kind.0.status = Some(value.clone());
                kinds.push(kind);
            }
        }
    }
    kinds
}

/// By key and effect.
fn taint_differences(node: &NodeName, old: &[Taint], new: &[Taint]) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for taint in new {
        let known = old.iter().find(|known| known.matches(taint));
        if known.is_none() {
            kinds.push(Kind::of_taint("taint_add", node, taint));
        } else if known.is_some_and(|known| known.time_added != taint.time_added) {
            kinds.push(Kind::of_taint("taint_retime", node, taint));
        }
    }
    let gone = old.iter().filter(|taint| !new.iter().any(|known| known.matches(taint)));
    kinds.extend(gone.map(|taint| Kind::of_taint("taint_del", node, taint)));
    kinds.sort_by(|a, b| (&a.0.key, &a.0.effect).cmp(&(&b.0.key, &b.0.effect)));
    kinds
}

/// States and rates of the zones, as last seen.
#[derive(Clone, Default)]
pub(super) struct Sample {
    states: BTreeMap<String, String>,
    limiters: BTreeMap<String, (f32, bool)>,
}

impl Sample {
    /// What has changed since the last time.
    pub(super) fn take(&mut self, controller: &NodeLifecycleController) -> Vec<Kind> {
        let mut kinds = Vec::new();
        for key in controller.zone_keys() {
            let zone = key.to_string();
            let state = controller.zone_state(key.as_str()).map(|state| state.to_string());
            let state = state.unwrap_or_default();
            if self.states.get(&zone).is_none_or(|known| *known != state) {
                self.states.insert(zone.clone(), state.clone());
                let mut kind = Kind::new("zone_state");
                kind.0.zone = Some(zone.clone());
                kind.0.state = Some(state);
                kinds.push(kind);
            }
            // A limiter that is stopped says that its rate is 1.
            let limiter = match controller.zone_limiter(key.as_str()) {
                Some(Some(qps)) => (qps, false),
                Some(None) => (1.0, true),
                None => continue,
            };
            if self.limiters.insert(zone.clone(), limiter) != Some(limiter) {
                let mut kind = Kind::new("limiter");
                kind.0.zone = Some(zone);
                (kind.0.qps, kind.0.never) = (Some(limiter.0), Some(limiter.1));
                kinds.push(kind);
            }
        }
        kinds
    }
}

/// A node at the end.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FinalNode {
    /// Its conditions.
    #[serde(default, deserialize_with = "nullable")]
    pub conditions: Vec<FinalCondition>,
    /// Its taints as text.
    #[serde(default, deserialize_with = "nullable")]
    pub taints: Vec<String>,
}

/// A condition at the end.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FinalCondition {
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Its status.
    pub status: String,
    /// `lastHeartbeatTime`, in seconds.
    pub last_heartbeat: i64,
    /// `lastTransitionTime`, in seconds.
    pub last_transition: i64,
}

impl FinalNode {
    pub(super) fn of(node: &Node) -> Self {
        let second = |time: Option<taintlab_core::time::Time>| {
            time.map_or(0, |time| time.unix_seconds() - START.unix_seconds())
        };
        let conditions = node.status.conditions.iter().map(|condition| FinalCondition {
            type_: condition.type_.clone(),
            status: condition.status.as_str().into(),
            last_heartbeat: second(condition.last_heartbeat_time),
            last_transition: second(condition.last_transition_time),
        });
        let key = |taint: &Taint| match &taint.effect {
            TaintEffect::Empty => taint.key.clone(),
            effect => format!("{}:{effect}", taint.key),
        };
        let mut taints: Vec<String> = node.spec.taints.iter().map(key).collect();
        taints.sort();
        Self { conditions: conditions.collect(), taints }
    }
}
