//! Nodes and pods to measure with.

use taintlab_core::api::{Node, Pod, TaintEffect, Toleration, TolerationOperator, well_known};

/// That many nodes without taints.
pub(crate) fn nodes(count: usize) -> Vec<Node> {
    let node = |index| {
        let mut node = Node::default();
        node.metadata.name = format!("node-{index}");
        node
    };
    (0..count).map(node).collect()
}

/// Pods spread over nodes, with the two default tolerations.
pub(crate) fn pods(count: usize, nodes: usize, toleration_seconds: Option<i64>) -> Vec<Pod> {
    let tolerations = [well_known::NOT_READY, well_known::UNREACHABLE].map(|key| Toleration {
        key: key.into(),
        operator: TolerationOperator::Exists,
        effect: TaintEffect::NoExecute,
        toleration_seconds,
        ..Toleration::default()
    });
    let pod = |index| {
        let mut pod = Pod::default();
        pod.metadata.namespace = "default".into();
        pod.metadata.name = format!("web-7d4b9c6f5-{index:06}");
        pod.spec.node_name = format!("node-{}", index % nodes);
        pod.spec.tolerations = tolerations.to_vec().into();
        pod
    };
    (0..count).map(pod).collect()
}
