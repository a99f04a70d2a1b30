//! Warning about a lost control plane.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_rules::api::{Node, NodeName, well_known};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::Order;
use taintlab_rules::protocol::zone::ZoneKey;

use super::{Severity, Subject, Warning, WarningCode, some_of};

/// Label of control plane nodes by kubeadm before 1.24.
const MASTER: &str = "node-role.kubernetes.io/master";

/// Warns if all control plane nodes are lost, although their controllers are assumed to run.
pub(super) fn look(
    cluster: &Cluster,
    is_lost: impl Fn(&NodeName, &Node) -> bool,
    found: &mut Vec<Warning>,
) {
    let is_of = |node: &Node| {
        let labels = &node.metadata.labels;
        labels.contains_key(well_known::CONTROL_PLANE) || labels.contains_key(MASTER)
    };
    let nodes: Vec<_> = cluster.nodes().filter(|(_, node)| is_of(node)).collect();
    if nodes.is_empty() || !nodes.iter().all(|(name, node)| is_lost(name, node)) {
        return;
    }
    let names: Vec<_> = nodes.iter().map(|(name, _)| name.to_string()).collect();
    let mut subjects: Vec<_> =
        nodes.iter().map(|(name, _)| Subject::Node { name: (*name).clone() }).collect();
    let mut zones: Vec<_> =
        nodes.iter().map(|(_, node)| ZoneKey::of(&node.metadata.labels)).collect();
    zones.order();
    zones.dedup();
    subjects.extend(zones.into_iter().map(|name| Subject::Zone { name }));
    found.push(Warning {
        severity: Severity::Warning,
        code: WarningCode::ControlPlaneLost,
        subjects,
        field: String::new(),
        message: format!(
            "all control plane nodes are unreachable with {}; Taintlab still runs the controllers",
            some_of(&names)
        ),
        explanation: "kube-apiserver, kube-scheduler and kube-controller-manager usually run on \
                      the control plane nodes. While all of those are lost, nothing is tainted, \
                      evicted or scheduled, and pods go on as they are. Taintlab assumes that the \
                      controllers are reachable, as those of a managed control plane are, to show \
                      what they do about the other nodes."
            .into(),
        fix: None,
    });
}
