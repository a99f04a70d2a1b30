//! What is to become of a pod, and why.

use alloc::string::String;

use serde::Serialize;
use taintlab_rules::api::PodKey;
use taintlab_rules::policy::matching::{Explanation, explain};
use taintlab_rules::release::FeatureGate;

use super::Simulator;
use crate::controllers::device_taint_eviction::DeviceEviction;
use crate::controllers::taint_eviction::ScheduledEviction;

/// What is to become of a pod, and why; the one value that the page, the package and the docs
/// show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct PodExplanation {
    /// Which pod.
    pub pod: PodKey,
    /// Its node; empty if it has none.
    pub node: String,
    /// Whether there is such a node.
    pub node_exists: bool,
    /// How the pod's tolerations answer the node's taints.
    pub matching: Explanation,
    /// The timer that will delete the pod, if one runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<ScheduledEviction>,
    /// The device whose taint will delete the pod, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub device: Option<DeviceEviction>,
    /// Whether the pod has been deleted and is still there until its grace period ends.
    pub terminating: bool,
    /// Whether it is, and stays so until its kubelet is connected again.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub awaits_kubelet: bool,
    /// Whether the controller remembers it as deleted (to 1.32).
    pub tombstone: bool,
}

impl PodExplanation {
    pub(super) fn of(simulator: &Simulator, pod: &PodKey) -> Option<Self> {
        let Simulator { api, nodes, .. } = simulator;
        let object = api.cluster.get_pod(pod)?;
        let node = api.cluster.get_node(&object.spec.node_name);
        let taints = node.map_or(&[][..], |node| &node.spec.taints);
        let gate = api.gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators);
        let worker = nodes.taint_eviction.scheduled_eviction(pod);
        Some(Self {
            pod: pod.clone(),
            node: object.spec.node_name.clone(),
            node_exists: node.is_some(),
            matching: explain(taints, &object.spec.tolerations, gate),
            timer: worker.map(|worker| ScheduledEviction {
                pod: pod.clone(),
                created_at: worker.created_at,
                fire_at: worker.fire_at,
            }),
            device: device_eviction(simulator, pod).cloned(),
            terminating: object.is_terminating(),
            awaits_kubelet: simulator.awaits_kubelet(pod),
            tombstone: nodes.taint_eviction.tombstones().contains(pod),
        })
    }
}

/// The planned eviction of a pod because of a taint of a device, if there is one.
#[must_use]
pub fn device_eviction<'a>(simulator: &'a Simulator, pod: &PodKey) -> Option<&'a DeviceEviction> {
    let controller = simulator.control.as_ref()?.device_taint_eviction.as_ref()?;
    controller.planned_eviction(pod, &simulator.api.cluster)
}
