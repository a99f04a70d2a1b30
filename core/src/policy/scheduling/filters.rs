//! Which nodes a pod fits on.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::Rejection;
use super::affinity::AffinityState;
use super::snapshot::{NodeInfo, PodInfo, Snapshot};
use super::spread::SpreadState;
use crate::api::{SelectorOperator, Taint, TaintEffect, well_known};
use crate::policy::matching::{find_matching_untolerated_taint, tolerations_tolerate_taint};
use crate::release::{KubernetesRelease, TaintReason};

/// A plugin that keeps pods off nodes, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub enum FilterPlugin {
    /// The node is cordoned.
    NodeUnschedulable,
    /// `spec.nodeName` names another.
    NodeName,
    /// A `NoSchedule` or `NoExecute` taint is not tolerated.
    TaintToleration,
    /// Node selector and required node affinity.
    NodeAffinity,
    /// What the pod requests, and the number of pods.
    NodeResourcesFit,
    /// Constraints with `DoNotSchedule`.
    PodTopologySpread,
    /// Required affinity and anti-affinity between pods.
    InterPodAffinity,
}

/// One pod being scheduled: what its filters need to know of all nodes, counted once.
pub(super) struct Cycle<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) pod: PodInfo,
    spread: SpreadState,
    affinity: AffinityState,
}

impl<'a> Cycle<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, pod: PodInfo) -> Self {
        let spread = SpreadState::new(snapshot, &pod);
        let affinity = AffinityState::new(snapshot, &pod);
        Self { snapshot, pod, spread, affinity }
    }

    pub(super) fn release(&self) -> KubernetesRelease {
        self.snapshot.config.release
    }

    /// The filters in the release's order.
    pub(super) fn plugins(&self) -> [FilterPlugin; 7] {
        use FilterPlugin::{
            InterPodAffinity, NodeAffinity, NodeName, NodeResourcesFit, NodeUnschedulable,
            PodTopologySpread, TaintToleration,
        };
        let [second, third, fourth, fifth] = if self.release().filters_taints_before_resources() {
            [NodeName, TaintToleration, NodeAffinity, NodeResourcesFit]
        } else {
            [NodeResourcesFit, NodeName, NodeAffinity, TaintToleration]
        };
        [NodeUnschedulable, second, third, fourth, fifth, PodTopologySpread, InterPodAffinity]
    }

    /// The first filter that keeps the pod off the node, were `removed` of its pods gone.
    pub(super) fn first_rejection(
        &self,
        node: &NodeInfo,
        removed: &[&PodInfo],
    ) -> Option<Rejection> {
        self.plugins().into_iter().find_map(|plugin| self.filter(plugin, node, removed))
    }

    /// Whether no filter keeps the pod off the node; the same as no [`first_rejection`] without
    /// its words.
    ///
    /// [`first_rejection`]: Self::first_rejection
    pub(super) fn fits(&self, node: &NodeInfo) -> bool {
        let wanted = &self.pod.node_name;
        (wanted.is_empty() || *wanted == node.name)
            && (!node.unschedulable || self.unschedulable(node).is_empty())
            && untolerated_taint(self.snapshot, &self.pod, node).is_none()
            && matches_node_affinity(&self.pod, node)
            && self.has_room(node)
            && self.filter(FilterPlugin::PodTopologySpread, node, &[]).is_none()
            && self.filter(FilterPlugin::InterPodAffinity, node, &[]).is_none()
    }

    /// Whether nothing is insufficient.
    fn has_room(&self, node: &NodeInfo) -> bool {
        let pods = i64::try_from(node.pods.len()).unwrap_or(i64::MAX);
        if node.allocatable.get("pods").is_some_and(|most| pods >= *most) {
            return false;
        }
        self.pod.requests.iter().filter(|(_, wanted)| **wanted > 0).all(|(name, wanted)| {
            let most = match node.allocatable.get(name) {
                Some(most) => *most,
                None if NATIVE.contains(&name.as_str()) => return true,
                None => 0,
            };
            let used = node.requested.get(name).copied().unwrap_or_default();
            *wanted <= most.saturating_sub(used)
        })
    }

    /// The only nodes that the pod can go to, if its affinity names them. Mirrors the
    /// `PreFilterResult` of `NodeAffinity`.
    pub(super) fn named_nodes(&self) -> Option<BTreeSet<String>> {
        let terms = self.pod.fields.required_node_terms.as_ref()?;
        let mut names = BTreeSet::new();
        for term in terms {
            let field = term.match_fields.iter().find(|field| {
                field.key == "metadata.name" && field.operator == SelectorOperator::In
            })?;
            names.extend(field.values.iter().cloned());
        }
        Some(names)
    }

    /// What one filter says.
    pub(super) fn filter(
        &self,
        plugin: FilterPlugin,
        node: &NodeInfo,
        removed: &[&PodInfo],
    ) -> Option<Rejection> {
        let release = self.release();
        let (reasons, preemption_may_help) = match plugin {
            FilterPlugin::NodeUnschedulable => (self.unschedulable(node), false),
            FilterPlugin::NodeName => {
                let wanted = &self.pod.node_name;
                let other = !wanted.is_empty() && *wanted != node.name;
                (other.then(|| release.node_name_reason().to_owned()).into_iter().collect(), false)
            }
            FilterPlugin::TaintToleration => (self.untolerated(node), false),
            FilterPlugin::NodeAffinity => {
                let other = !matches_node_affinity(&self.pod, node);
                let reason = other.then(|| release.node_affinity_reason().to_owned());
                (reason.into_iter().collect(), false)
            }
            FilterPlugin::NodeResourcesFit => (self.insufficient(node, removed), true),
            FilterPlugin::PodTopologySpread => self.spread.filter(self.snapshot, node, removed),
            FilterPlugin::InterPodAffinity => {
                self.affinity.filter(self.snapshot, &self.pod, node, removed)
            }
        };
        (!reasons.is_empty()).then_some(Rejection { plugin, reasons, preemption_may_help })
    }

    /// Mirrors `nodeunschedulable.Filter`.
    fn unschedulable(&self, node: &NodeInfo) -> Vec<String> {
        let taint = Taint::new(well_known::UNSCHEDULABLE, "", TaintEffect::NoSchedule);
        let operators = self.snapshot.config.comparison_operators;
        let kept_off = node.unschedulable
            && !tolerations_tolerate_taint(&self.pod.tolerations, &taint, operators);
        kept_off.then(|| "node(s) were unschedulable".to_owned()).into_iter().collect()
    }

    /// Mirrors `tainttoleration.Filter`.
    fn untolerated(&self, node: &NodeInfo) -> Vec<String> {
        let taint = untolerated_taint(self.snapshot, &self.pod, node);
        let reason = |taint: &Taint| match self.release().untolerated_taint_reason() {
            TaintReason::DidNotTolerate => format!(
                "node(s) had taint {{{}: {}}}, that the pod didn't tolerate",
                taint.key, taint.value
            ),
            TaintReason::Untolerated => {
                format!("node(s) had untolerated taint {{{}: {}}}", taint.key, taint.value)
            }
            TaintReason::WithoutTaint => "node(s) had untolerated taint(s)".to_owned(),
        };
        taint.map(reason).into_iter().collect()
    }

    /// Mirrors `noderesources.fitsRequest`.
    fn insufficient(&self, node: &NodeInfo, removed: &[&PodInfo]) -> Vec<String> {
        let mut reasons = Vec::new();
        let pods = i64::try_from(node.pods.len() - removed.len()).unwrap_or(i64::MAX);
        if node.allocatable.get("pods").is_some_and(|most| pods >= *most) {
            reasons.push("Too many pods".to_owned());
        }
        let others: BTreeSet<&str> =
            self.pod.requests.keys().map(String::as_str).filter(|n| !NATIVE.contains(n)).collect();
        for name in NATIVE.into_iter().chain(others) {
            let Some(wanted) = self.pod.requests.get(name).filter(|wanted| **wanted > 0) else {
                continue;
            };
            let most = match node.allocatable.get(name) {
                Some(most) => *most,
                None if NATIVE.contains(&name) => continue,
                None => 0,
            };
            let freed: i64 = removed.iter().filter_map(|pod| pod.requests.get(name)).sum();
            let used = node.requested.get(name).copied().unwrap_or_default().saturating_sub(freed);
            if *wanted > most.saturating_sub(used) {
                reasons.push(format!("Insufficient {name}"));
            }
        }
        reasons
    }
}

/// The resources that every node has, in the order in which they are compared.
const NATIVE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// The first taint of the node that keeps the pod off.
pub(super) fn untolerated_taint<'a>(
    snapshot: &Snapshot,
    pod: &PodInfo,
    node: &'a NodeInfo,
) -> Option<&'a Taint> {
    let operators = snapshot.config.comparison_operators;
    find_matching_untolerated_taint(&node.taints, &pod.tolerations, operators, |taint| {
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
