//! What may look different in another simulation of the same cluster.

use alloc::sync::Arc;

use taintlab_rules::api::{NodeName, PodKey};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::time::Timestamp;

use super::Simulator;

/// The nodes and pods that may look different in two simulations; see
/// [`between`](Self::between).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The nodes, by name.
    pub nodes: OrderedSet<NodeName>,
    /// The pods, by namespace and name.
    pub pods: OrderedSet<PodKey>,
}

impl Differences {
    /// The nodes and pods that may look different in one simulation and another: they are only in
    /// one of the two, they are not the same object, their kubelets are unreachable for another
    /// reason, or another time runs for them. Whoever shows a simulation that went back looks again
    /// at these alone.
    ///
    /// Objects count as the same if they are shared, so that this is cheap between a simulation and
    /// its snapshots; others may be named although they are equal.
    #[must_use]
    pub fn between(one: &Simulator, other: &Simulator) -> Self {
        let (ours, theirs) = (&one.api.cluster, &other.api.cluster);
        let mut nodes = OrderedSet::new();
        for (name, node) in ours.nodes() {
            let same = theirs.get_node(name.as_str()).is_some_and(|it| Arc::ptr_eq(it, node));
            if !same || one.unreachable_cause(name) != other.unreachable_cause(name) {
                nodes.insert(name.clone());
            }
        }
        let new = theirs.nodes().filter(|(name, _)| ours.get_node(name.as_str()).is_none());
        nodes.extend(new.map(|(name, _)| name.clone()));

        if let (Some(ours), Some(theirs)) = (ours.devices(), theirs.devices()) {
            let pairs = ours.objects().zip(theirs.objects());
            let same = ours.objects().count() == theirs.objects().count();
            if !same || pairs.into_iter().any(|(one, other)| !Arc::ptr_eq(one, other)) {
                let slices = ours.slices().chain(theirs.slices());
                let names = slices.map(|slice| slice.node_name.as_str());
                nodes.extend(names.filter(|name| !name.is_empty()).map(Into::into));
            }
        }

        let mut pods = OrderedSet::new();
        ours.visit_different_pods(theirs, |pod| _ = pods.insert(pod.clone()));
        let mut differ = |pod: &PodKey| _ = pods.insert(pod.clone());
        let (a, b) = (&one.nodes.taint_eviction, &other.nodes.taint_eviction);
        visit_different(&a.timers(), &b.timers(), &mut differ);
        visit_different(&planned(one), &planned(other), &mut differ);
        visit_different(&ends(one), &ends(other), &mut differ);
        visit_different(&awaited(one), &awaited(other), &mut differ);
        Self { nodes, pods }
    }
}

/// Times at which pods will be evicted because of their devices.
fn planned(simulator: &Simulator) -> OrderedMap<&PodKey, Timestamp> {
    let control = simulator.control.as_ref();
    let controller = control.and_then(|control| control.device_taint_eviction.as_ref());
    controller.into_iter().flat_map(|it| it.planned_evictions()).collect()
}

/// When the grace periods of terminating pods end.
fn ends(simulator: &Simulator) -> OrderedMap<&PodKey, Timestamp> {
    simulator.terminations().collect()
}

/// The pods whose deletion an unreachable kubelet is to confirm.
fn awaited(simulator: &Simulator) -> OrderedMap<&PodKey, ()> {
    simulator.kubelets.unconfirmed().map(|pod| (pod, ())).collect()
}

/// Keys that have another value in one of the two maps, or none.
fn visit_different<V: PartialEq>(
    a: &OrderedMap<&PodKey, V>,
    b: &OrderedMap<&PodKey, V>,
    differ: &mut impl FnMut(&PodKey),
) {
    for (key, value) in a {
        if b.get(key) != Some(value) {
            differ(key);
        }
    }
    for key in b.keys().filter(|key| !a.contains_key(**key)) {
        differ(key);
    }
}
