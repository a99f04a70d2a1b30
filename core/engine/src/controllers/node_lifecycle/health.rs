//! Health of nodes, as health passes observe it.

use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_rules::api::node_condition_type::{
    DISK_PRESSURE, MEMORY_PRESSURE, PID_PRESSURE, READY,
};
use taintlab_rules::api::{ConditionStatus, Node, NodeCondition};
use taintlab_rules::time::Time;

/// Relevant part of a Ready condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReadyView"))]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// Status of the condition.
    pub status: ConditionStatus,
    /// `lastHeartbeatTime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Time>,
    /// `lastTransitionTime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<Time>,
}

impl Ready {
    /// Ready condition of a node; `None` if it has none.
    #[must_use]
    pub fn of(node: &Node) -> Option<Self> {
        node.condition(READY).map(|ready| Self {
            status: ready.status.clone(),
            heartbeat: ready.last_heartbeat_time,
            transition: ready.last_transition_time,
        })
    }
}

/// Relevant part of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Renewal {
    /// `spec.renewTime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_time: Option<Time>,
}

/// State that the controller keeps about a node, even after its deletion. Mirrors
/// `nodelifecycle.nodeHealthData`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct NodeHealth {
    /// Time at which a health pass last saw a heartbeat.
    pub probe_timestamp: Time,
    /// Time at which a health pass last saw the Ready condition change.
    pub ready_transition_timestamp: Time,
    /// Ready condition of the saved status.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReadyView"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// The saved lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Renewal>,
}

/// A node as a health pass sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HealthSample<'a> {
    pub(super) ready: Option<&'a Ready>,
    /// `metadata.creationTimestamp`.
    pub(super) created: Time,
    pub(super) lease: Option<Renewal>,
}

impl NodeHealth {
    /// Health after a pass at `now` has observed the node, before it decides. Mirrors the first
    /// part of `Controller.tryUpdateNodeHealth`, quirks included: any different heartbeat counts,
    /// even an older one, and drops the saved lease, so that the next pass treats the lease as a
    /// new one.
    pub(super) fn observe(known: Option<&Self>, sight: HealthSample<'_>, now: Time) -> Self {
        let saved = known.and_then(|known| known.ready.as_ref());
        let mut health = match (known, sight.ready, saved) {
            (None, None, _) => Self {
                probe_timestamp: sight.created,
                ready_transition_timestamp: sight.created,
                ready: None,
                lease: None,
            },
            // The saved status has lost its Ready condition.
            (Some(known), None, _) => Self { ready: None, ..known.clone() },
            (Some(known), Some(ready), Some(saved)) if saved.heartbeat == ready.heartbeat => {
                known.clone()
            }
            (Some(known), Some(ready), Some(saved)) if saved.transition == ready.transition => {
                Self {
                    probe_timestamp: now,
                    ready: Some(ready.clone()),
                    lease: None,
                    ready_transition_timestamp: known.ready_transition_timestamp,
                }
            }
            (_, Some(ready), _) => Self {
                probe_timestamp: now,
                ready_transition_timestamp: now,
                ready: Some(ready.clone()),
                lease: None,
            },
        };
        // The lease saved before this pass, even if the code above has dropped it.
        let saved_lease = known.and_then(|known| known.lease);
        if let Some(lease) = sight.lease
            && saved_lease.is_none_or(|saved| is_before(saved, lease))
        {
            health.lease = Some(lease);
            health.probe_timestamp = now;
        }
        health
    }

    /// Time from which the pods of a node with this status count as lost, in the legacy path.
    pub(super) fn lost_since(&self, status: &ConditionStatus) -> Option<Time> {
        match status {
            ConditionStatus::False => Some(self.ready_transition_timestamp),
            ConditionStatus::Unknown => Some(self.probe_timestamp),
            _ => None,
        }
    }

    /// Whether a node with the grace period `grace` counts as lost at `now`.
    pub(super) fn is_overdue(&self, grace: Duration, now: Time) -> bool {
        now > self.probe_timestamp.saturating_add(grace)
    }
}

/// Mirrors `metav1.MicroTime.Before`: no time is before or after an absent one.
fn is_before(saved: Renewal, seen: Renewal) -> bool {
    match (saved.renew_time, seen.renew_time) {
        (Some(saved), Some(seen)) => saved < seen,
        _ => false,
    }
}

/// Conditions of a node that is considered lost. Mirrors the second part of
/// `Controller.tryUpdateNodeHealth`.
pub(super) fn conditions_of_unreachable_node(
    node: &Node,
    created: Time,
    now: Time,
) -> Vec<NodeCondition> {
    let mut conditions = node.status.conditions.clone();
    for type_ in [READY, MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE] {
        match conditions.iter_mut().find(|condition| condition.type_ == type_) {
            Some(condition) if condition.status == ConditionStatus::Unknown => {}
            Some(condition) => {
                condition.status = ConditionStatus::Unknown;
                condition.reason = "NodeStatusUnknown".into();
                condition.message = "Kubelet stopped posting node status.".into();
                condition.last_transition_time = Some(now);
            }
            None => conditions.push(NodeCondition {
                type_: type_.into(),
                status: ConditionStatus::Unknown,
                reason: "NodeStatusNeverUpdated".into(),
                message: "Kubelet never posted node status.".into(),
                last_heartbeat_time: Some(created),
                last_transition_time: Some(now),
                ..NodeCondition::default()
            }),
        }
    }
    conditions
}
