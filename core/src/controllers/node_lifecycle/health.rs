//! When the last heartbeat of a node was seen.

use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;

use crate::api::node_condition_type::{DISK_PRESSURE, MEMORY_PRESSURE, PID_PRESSURE, READY};
use crate::api::{ConditionStatus, Node, NodeCondition};
use crate::time::Time;

/// What matters of a Ready condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReadyView"))]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// Whether the node is ready.
    pub status: ConditionStatus,
    /// `lastHeartbeatTime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Time>,
    /// `lastTransitionTime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<Time>,
}

impl Ready {
    /// That of a node, if it has one.
    #[must_use]
    pub fn of(node: &Node) -> Option<Self> {
        node.condition(READY).map(|ready| Self {
            status: ready.status.clone(),
            heartbeat: ready.last_heartbeat_time,
            transition: ready.last_transition_time,
        })
    }
}

/// What matters of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Renewal {
    /// `spec.renewTime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_time: Option<Time>,
}

/// What the controller remembers about a node, also after it is deleted. Mirrors
/// `nodelifecycle.nodeHealthData`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct NodeHealth {
    /// When a health pass saw a sign of life.
    pub probe_timestamp: Time,
    /// When a health pass saw the Ready condition change.
    pub ready_transition_timestamp: Time,
    /// The Ready condition in the status that was saved.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReadyView"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// The lease that was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Renewal>,
}

/// What a health pass sees of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct HealthSample<'a> {
    pub(super) ready: Option<&'a Ready>,
    /// `metadata.creationTimestamp`.
    pub(super) created: Time,
    pub(super) lease: Option<Renewal>,
}

impl NodeHealth {
    /// What is remembered after a pass at `now` has looked, before it judges. Mirrors the first
    /// part of `Controller.tryUpdateNodeHealth`, quirks included: any other heartbeat counts, even
    /// an older one, and drops the saved lease, so that the pass after it takes the lease for a
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
            // The status that is saved has no Ready condition any more.
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
        // The one that was saved before this pass, not what is left of it now.
        let saved_lease = known.and_then(|known| known.lease);
        if let Some(lease) = sight.lease
            && saved_lease.is_none_or(|saved| is_before(saved, lease))
        {
            health.lease = Some(lease);
            health.probe_timestamp = now;
        }
        health
    }

    /// Since when the pods of a node of that condition are lost, in the legacy path.
    pub(super) fn lost_since(&self, status: &ConditionStatus) -> Option<Time> {
        match status {
            ConditionStatus::False => Some(self.ready_transition_timestamp),
            ConditionStatus::Unknown => Some(self.probe_timestamp),
            _ => None,
        }
    }

    /// Whether a node that may send no heartbeat for `grace` counts as lost at `now`.
    pub(super) fn is_overdue(&self, grace: Duration, now: Time) -> bool {
        now > self.probe_timestamp.saturating_add(grace)
    }
}

/// Mirrors `metav1.MicroTime.Before`: nothing is before or after an absent time.
fn is_before(saved: Renewal, seen: Renewal) -> bool {
    match (saved.renew_time, seen.renew_time) {
        (Some(saved), Some(seen)) => saved < seen,
        _ => false,
    }
}

/// The conditions of a node that is taken for lost. Mirrors the second part of
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
