//! What callers can look at.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::Value;
use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{
    BudgetStatus, ConditionStatus, Lease, Node, NodeName, PodKey, WorkloadKey,
};
use taintlab_rules::order::OrderedSet;
use taintlab_rules::policy::scheduling::Decision;
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::time::Timestamp;

use super::{
    Availability, EvictionView, Forecast, NodeView, PodExplanation, PodStates, RunOutcome,
    Simulator, UsageSeries, WorkloadView, forecast,
};
use crate::command::NodeResources;
use crate::controllers::node_lifecycle::ZoneView;
use crate::event::UnreachableCause;
use crate::eviction_timeline::time_budget::TimeBudget;
use crate::kubelet::{Ranking, Signal, usage_by_status};

impl Simulator {
    /// What is to become of a pod, and why.
    #[must_use]
    pub fn explain(&self, pod: &PodKey) -> Option<PodExplanation> {
        PodExplanation::of(self, pod)
    }

    /// What is to become of each pod, and how each is doing.
    #[must_use]
    pub fn pod_states(&self) -> PodStates<'_> {
        PodStates::of(self)
    }

    /// The terminating pods and when the grace period of each ends, soonest first.
    pub fn terminations(&self) -> impl Iterator<Item = (&PodKey, Timestamp)> {
        self.kubelets.terminations()
    }

    /// Whether the pod is deleted and waits for a kubelet that is unreachable.
    #[must_use]
    pub fn awaits_kubelet(&self, pod: &PodKey) -> bool {
        self.kubelets.is_awaited(&self.api.cluster, pod)
    }

    /// How the run ended; `None` while something is due. A deadline at [`Timestamp::MAX`] never
    /// comes.
    #[must_use]
    pub fn outcome(&self) -> Option<RunOutcome> {
        RunOutcome::of(self)
    }

    /// How many times a pod was evicted until now, by a controller or by its kubelet.
    #[must_use]
    pub const fn evictions_until_now(&self) -> usize {
        self.api.tally.evictions
    }

    /// The pods that a controller has deleted or that a timer of the taint-eviction controller will
    /// delete, by key, and when each was or will be deleted.
    pub fn evictions(&self) -> impl Iterator<Item = (&PodKey, Timestamp)> {
        let evictions = self.nodes.records.sorted().into_iter();
        evictions.map(|(pod, eviction)| (pod, eviction.deleted_at.unwrap_or(eviction.fire_at)))
    }

    /// Why a pod was deleted when it was, or will be: `None` unless it was, or its time runs. Of
    /// pods that had one name after one another it is about the one that is there, or else about
    /// the last one; [`last_time_budget`](super::last_time_budget) is about the last one that went.
    /// [`forecast`](Self::forecast) tells of pods whose nodes are not tainted yet.
    #[must_use]
    pub fn time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        forecast::time_budget(self, pod)
    }

    /// The record of a pod that was deleted, or the forecast for one on a node that is tainted, not
    /// ready or unreachable, as far as [`look_ahead`](Self::look_ahead) reaches. That is kept in
    /// `ahead`, which holds until something is done to this simulation. It is what the page and the
    /// npm package show.
    #[must_use]
    pub fn record_or_forecast(
        &self,
        pod: &PodKey,
        ahead: &mut Option<Forecast>,
    ) -> Option<TimeBudget> {
        forecast::record_or_look_ahead(self, pod, ahead)
    }

    /// The forecast of a day, at most 10,000 to 40,000 deadlines far, by the number of pods: what the
    /// page and the packages show.
    #[must_use]
    pub fn look_ahead(&self) -> Forecast {
        self.forecast(self.api.now.saturating_add(forecast::AHEAD), forecast::deadlines(self))
    }

    /// The same for each pod that is there, by key, with one look ahead for all of them.
    pub fn records_and_forecasts(&self) -> impl Iterator<Item = (&PodKey, TimeBudget)> {
        let mut ahead = None;
        let mut budget = move |pod| forecast::record_or_look_ahead(self, pod, &mut ahead);
        self.api.cluster.pods().filter_map(move |(pod, _)| Some((pod, budget(pod)?)))
    }

    /// Runs a copy ahead to `until`, at most `steps` deadlines far, and tells what is to come. It
    /// holds until something is done to this simulation.
    ///
    /// What takes time is to run what happens, so ask once after a change rather than for each pod:
    /// the 6,000 pods of a lost zone of 200 nodes take less than a tenth of a second natively.
    #[must_use]
    pub fn forecast(&self, until: Timestamp, steps: usize) -> Forecast {
        Forecast::of(self, until, steps)
    }

    /// How a node is doing; `None` if there is no such node, or if there are no kubelets.
    #[must_use]
    pub fn node_view(&self, node: &str) -> Option<NodeView> {
        NodeView::of(self, node)
    }

    /// The zones as the node lifecycle controller sees them, by key; none if there is no such
    /// controller.
    #[must_use]
    pub fn zones(&self) -> Vec<ZoneView> {
        let Some(lifecycle) = &self.nodes.lifecycle else { return Vec::new() };
        let mut zones = lifecycle.zones(self.api.now);
        for zone in &mut zones {
            zone.network_cut = self.kubelets.is_zone_cut(&zone.key);
        }
        zones
    }

    /// Why the kubelet of a node is unreachable, if it is.
    #[must_use]
    pub fn unreachable_cause(&self, node: &NodeName) -> Option<UnreachableCause> {
        self.kubelets.unreachable_cause(&self.api.cluster, node)
    }

    /// A node as the API server would show it now: the heartbeats of its conditions are those of
    /// the last post, and a kubelet whose version nobody gave has that of the release. The objects
    /// of [`cluster`](Self::cluster) do not follow every post.
    #[must_use]
    pub fn node_as_served(&self, node: &str) -> Option<Arc<Node>> {
        let (time, cluster) = ((self.api.config.start, self.api.now), &self.api.cluster);
        let stored = cluster.get_node(node)?;
        let posted = self.kubelets.node_as_posted(time, cluster, node);
        let mut served = posted.map_or_else(|| stored.clone(), Arc::new);
        if served.kubelet_version().is_none() && self.kubelets.get(node).is_some() {
            let version = self.api.config.release.version();
            let status = &mut Arc::make_mut(&mut served).status;
            let info = status.other.get("nodeInfo").and_then(Value::as_object);
            let mut info = info.cloned().unwrap_or_default();
            info.insert("kubeletVersion".into(), version.into());
            status.other.set("nodeInfo", info.into());
        }
        Some(served)
    }

    /// The lease of a node as the API server would show it now, if there are kubelets and this one
    /// ever renewed it.
    #[must_use]
    pub fn lease(&self, node: &str) -> Option<Lease> {
        self.kubelets.lease(self.api.config.start, self.api.now, node)
    }

    /// What a node has and its system uses, as the command that would say so; `None` if there is no
    /// such node. Where nobody has said it, it is what the node's status tells.
    #[must_use]
    pub fn node_resources(&self, node: &str) -> Option<NodeResources> {
        let object = self.api.cluster.get_node(node)?;
        let known = self.kubelets.usage_of_node(node);
        let known = known.map(|(layout, usage)| (layout, usage.clone()));
        let (layout, usage) =
            known.unwrap_or_else(|| (Default::default(), usage_by_status(object)));
        Some(NodeResources {
            node: node.into(),
            capacity: usage.capacity,
            layout,
            system: usage.system,
            unused_containers: usage.unused_containers,
            unused_images: usage.unused_images,
        })
    }

    /// What the kubelet of a node makes of its resources; `None` if nobody has said what it has.
    #[must_use]
    pub fn eviction_view(&self, node: &str) -> Option<EvictionView> {
        self.kubelets.eviction_view(self.api.now, node)
    }

    /// The pods of a node in the order in which they would go if there were too little of
    /// something, and what would change that; `None` if nobody watches.
    #[must_use]
    pub fn eviction_ranking(&self, node: &str, signal: Signal) -> Option<Ranking> {
        self.kubelets.eviction_ranking(self.api.now, node, signal)
    }

    /// The settings of eviction of a node's kubelet: names of flags and their values, as the
    /// kubelet counts them. `None` if there is no kubelet.
    #[must_use]
    pub fn eviction_flags(&self, node: &str) -> Option<Vec<(&'static str, String)>> {
        self.kubelets.eviction_flags(node)
    }

    /// What is used of what a signal watches, over time: `points` moments from `from` to `to`, both
    /// included. What was before the last 200 changes of a node is not known any more. `None` if
    /// nobody has said what the node has.
    #[must_use]
    pub fn usage_series(
        &self,
        node: &str,
        signal: Signal,
        from: Timestamp,
        to: Timestamp,
        points: usize,
    ) -> Option<UsageSeries> {
        self.kubelets.usage_series(node, signal, from, to, points)
    }

    /// A workload and how its pods are doing; `None` if there is no such workload.
    #[must_use]
    pub fn workload_view(&self, key: &WorkloadKey) -> Option<WorkloadView> {
        self.control.as_ref()?.workload_view(&self.api, key)
    }

    /// The pods of a workload, those of its ReplicaSets included.
    #[must_use]
    pub fn pods_of_workload(&self, key: &WorkloadKey) -> OrderedSet<PodKey> {
        let control = self.control.as_ref();
        control.map(|_| self.api.cluster.pods_of_workload(key)).unwrap_or_default()
    }

    /// How a workload fared until now; `None` if it was never there. It is told of workloads that
    /// are gone, too.
    #[must_use]
    pub fn availability(&self, key: &WorkloadKey) -> Option<Availability> {
        self.control.as_ref()?.ready_history.availability(key, self.api.now)
    }

    /// What the scheduler would say now of every node, for a pod that waits for one; `None` if the
    /// pod does not wait for the scheduler.
    #[must_use]
    pub fn scheduling_decision(&self, pod: &PodKey) -> Option<Decision> {
        self.control.as_ref()?.scheduler.decision(self.api.cluster.get_pod(pod)?)
    }

    /// The status of a budget, as the disruption controller and the eviction API wrote it last;
    /// `None` if there is no such budget.
    #[must_use]
    pub fn budget_status(&self, key: &PodKey) -> Option<BudgetStatus> {
        self.control.as_ref()?;
        self.api.cluster.get_budget(key).map(|budget| BudgetStatus::of(budget))
    }
}

/// The zone of a node that is not ready, if the node lifecycle controller taints no node of it.
/// Mirrors `Controller.handleDisruption`.
#[must_use]
pub fn stopped_zone(simulator: &Simulator, node: &str) -> Option<ZoneView> {
    let node = simulator.api.cluster.get_node(node)?;
    let is_ready = node.condition(READY).is_some_and(|it| it.status == ConditionStatus::True);
    let key = ZoneKey::of(&node.metadata.labels);
    let zone = simulator.zones().into_iter().find(|zone| zone.key == key);
    zone.filter(|zone| !is_ready && zone.qps <= 0.0)
}
