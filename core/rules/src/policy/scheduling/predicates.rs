//! Predicates of one node and one pod, whatever else there is in the cluster.

use super::info::{NodeInfo, PodInfo};
use crate::api::{ALL_ADDRESSES, HostPort, Taint, TaintEffect, well_known};
use crate::policy::matching::{find_matching_untolerated_taint, tolerations_tolerate_taint};

/// Whether the pod can go to a node that is cordoned.
pub(super) fn tolerates_cordon(pod: &PodInfo, comparison_operators: bool) -> bool {
    let taint = Taint::new(well_known::UNSCHEDULABLE, "", TaintEffect::NoSchedule);
    tolerations_tolerate_taint(&pod.tolerations, &taint, comparison_operators)
}

/// Whether a port that another pod has is one that the pod wants.
pub(super) fn wants_port(pod: &PodInfo, (other, other_protocol, other_port): &HostPort) -> bool {
    pod.fields.host_ports.iter().any(|(address, protocol, port)| {
        port == other_port
            && protocol == other_protocol
            && (address == ALL_ADDRESSES || other == ALL_ADDRESSES || address == other)
    })
}

/// The first taint of the node that keeps the pod off.
pub(super) fn untolerated_taint<'a>(
    pod: &PodInfo,
    node: &'a NodeInfo,
    comparison_operators: bool,
) -> Option<&'a Taint> {
    find_matching_untolerated_taint(&node.taints, &pod.tolerations, comparison_operators, |taint| {
        matches!(taint.effect, TaintEffect::NoSchedule | TaintEffect::NoExecute)
    })
}

/// Whether the node is as the pod requires. Mirrors `RequiredNodeAffinity.Match`.
pub(super) fn matches_node_affinity(pod: &PodInfo, node: &NodeInfo) -> bool {
    let fields = &pod.fields;
    fields.node_selector.matches(&node.labels)
        && fields
            .required_node_terms
            .as_ref()
            .is_none_or(|terms| terms.iter().any(|term| term.matches(&node.name, &node.labels)))
}
