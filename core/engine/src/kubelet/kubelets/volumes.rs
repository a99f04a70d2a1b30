//! Volumes of the pods of a node: when they are there, pods start; what is mounted is said.

use alloc::string::String;
use alloc::vec::Vec;

use taintlab_rules::api::{NodeName, Pod, PodKey};
use taintlab_rules::order::OrderedSet;

use super::starts::{has_volumes, is_to_start};
use super::{KubeletAction, Kubelets, Step};
use crate::controllers::Context;

impl Kubelets {
    /// A volume was attached to a node: pods that waited for it alone start.
    pub(super) fn start_pods_with(
        &mut self,
        context: &mut Context<'_>,
        node: &NodeName,
        volume: &str,
    ) {
        let Some(volumes) = context.cluster.volumes() else { return };
        if !self.config.starts_pods || !self.is_connected(node.as_str()) {
            return;
        }
        let waits = |pod: &Pod| {
            is_to_start(pod)
                && has_volumes(context.cluster, pod)
                && volumes.attachable_of(pod).any(|known| known.metadata.name == volume)
        };
        let pods = context.cluster.pods_of(node.as_str()).filter(|(_, pod)| waits(pod));
        let pods: Vec<PodKey> = pods.map(|(key, _)| key.clone()).collect();
        for pod in pods {
            self.plan_start(context, &pod);
        }
    }

    /// A pod with volumes has come, ended or gone.
    pub(super) fn observe_volumes_of(
        &mut self,
        context: &Context<'_>,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        if context.cluster.volumes().is_none() {
            return;
        }
        let Some(pod) = new.or(old).filter(|pod| pod.spec.other.get("volumes").is_some()) else {
            return;
        };
        if new.is_none_or(Pod::has_ended) {
            let node = NodeName::from(pod.spec.node_name.as_str());
            self.then(&node, [Step::ReportVolumes]);
        }
    }

    /// Says which volumes are mounted, if the kubelet is connected: those that are attached and
    /// that a pod of the node uses. Mirrors `nodestatus.VolumesInUse`, which is posted at once
    /// here.
    pub(super) fn report_volumes(&mut self, context: &Context<'_>, node: &NodeName) {
        let Some(volumes) = context.cluster.volumes() else { return };
        if !self.is_connected(node.as_str()) {
            return;
        }
        let mut used: OrderedSet<String> = OrderedSet::new();
        for (_, pod) in context.cluster.pods_of(node.as_str()) {
            if !pod.has_ended() {
                used.extend(volumes.attachable_of(pod).map(|known| known.metadata.name.clone()));
            }
        }
        let here = volumes.attachments().filter(|((_, on), _)| on == node);
        let reports = here.filter_map(|((volume, _), _)| {
            let mounted = used.contains(volume);
            let (node, volume) = (node.clone(), volume.clone());
            (mounted != volumes.is_in_use(&volume, node.as_str()))
                .then_some(KubeletAction::ReportVolumeInUse { node, volume, mounted })
        });
        let reports: Vec<Step> = reports.map(Step::Act).collect();
        self.then(node, reports);
    }
}
