//! Clusters to measure.

use std::sync::Arc;

use taintlab_core::api::{Node, PodKey, Taint, TaintEffect, well_known};
use taintlab_core::cluster::Cluster;
use taintlab_core::command::Command;
use taintlab_core::controllers::taint_eviction::TaintEvictionController;
use taintlab_core::release::{FeatureGates, KubernetesRelease};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

use super::objects::pods;

/// Keys as long as those of a Deployment's pods.
pub(crate) fn key_names(count: u32) -> Vec<PodKey> {
    (0..count).map(|index| PodKey::new("default", &format!("web-7d4b9c6f5-{index:06}"))).collect()
}

/// Taints every node at one moment.
pub(crate) fn taint_everything(simulator: &mut Simulator, at: Timestamp) {
    let names: Vec<_> = simulator.cluster().nodes().map(|(name, _)| name.clone()).collect();
    for node in names {
        let taint = Taint::new(well_known::UNREACHABLE, "", TaintEffect::NoExecute);
        simulator.handle_command(at, Command::Taint { node, taint }).expect("the node is there");
    }
}

/// A controller and a cluster of one node.
pub(crate) struct World {
    cluster: Cluster,
    controller: TaintEvictionController,
    clean: Arc<Node>,
    tainted: Arc<Node>,
    keys: Vec<PodKey>,
}

impl World {
    pub(crate) fn new(count: usize, toleration_seconds: Option<i64>) -> Self {
        let mut cluster = Cluster::default();
        let mut keys = Vec::with_capacity(count);
        for pod in pods(count, 1, toleration_seconds) {
            keys.push(pod.key());
            cluster.put_pod(&pod.key(), Arc::new(pod));
        }
        let mut node = Node::default();
        node.metadata.name = "node-0".into();
        let clean = Arc::new(node.clone());
        node.spec.taints.push(Taint::new(well_known::NOT_READY, "", TaintEffect::NoExecute));
        let gates = FeatureGates::default();
        let controller = TaintEvictionController::new(KubernetesRelease::NEWEST, &gates);
        Self { cluster, controller, clean, tainted: Arc::new(node), keys }
    }

    fn work(&mut self) {
        while self.controller.has_queued_work() {
            self.controller.handle_timeout(NOW, &self.cluster);
            while self.controller.poll_action().is_some() {}
        }
    }

    pub(crate) fn taint(&mut self) {
        self.cluster.put_node(self.tainted.clone());
        self.controller.handle_node_update(NOW, Some(&self.clean), Some(&self.tainted));
        self.work();
    }

    pub(crate) fn untaint(&mut self) {
        self.cluster.put_node(self.clean.clone());
        self.controller.handle_node_update(NOW, Some(&self.tainted), Some(&self.clean));
        self.work();
    }

    /// The controller learns of the node's taints without any pod being there.
    pub(crate) fn taint_without_pods(&mut self) {
        let cluster = std::mem::take(&mut self.cluster);
        self.taint();
        self.cluster = cluster;
        self.cluster.put_node(self.tainted.clone());
    }

    /// A notification about the node, as of a new one.
    pub(crate) fn touch(&mut self) {
        self.controller.handle_node_update(NOW, None, Some(&self.tainted));
        self.work();
    }

    /// A notification about a pod, as of a new one.
    pub(crate) fn look_at_pod(&mut self, index: usize) {
        let key = &self.keys[index];
        let pod = self.cluster.get_pod(key).cloned();
        self.controller.handle_pod_update(NOW, key, None, pod.as_deref());
        self.work();
    }
}

const NOW: Timestamp = Timestamp::from_secs(1);
