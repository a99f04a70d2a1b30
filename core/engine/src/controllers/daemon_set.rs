//! DaemonSets: a pod on every node that takes it.

mod state;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::{Value, json};
use taintlab_rules::api::{
    DaemonSetStatus, LabelSelector, Node, NodeName, Pod, PodKey, PodPhase, SchedulingFields,
    Shared, Taint, TaintEffect, Toleration, Workload, WorkloadKey, WorkloadKind,
};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::policy::admission::{Addition, add_daemon_pod_tolerations};
use taintlab_rules::policy::matching::find_matching_untolerated_taint;
use taintlab_rules::release::KubernetesRelease;

use self::state::{Backoff, Counts, Plan, Step};
use super::workload::{
    REVISION_LABEL, Reconcile, Reconciler, WorkloadAction, comparable, generated_name,
    is_available, known_revision, template_changed,
};
use super::{Context, names};

/// Whether a DaemonSet wants a pod on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShouldRun {
    /// A pod is created if there is none.
    pub should_run: bool,
    /// A pod that is there stays.
    pub should_continue_running: bool,
}

/// The controller of DaemonSets. Mirrors `pkg/controller/daemon`, but looks only at nodes where
/// something has changed.
#[derive(Clone, Debug)]
pub struct DaemonSetController {
    reconciler: Reconciler<Step>,
    comparison_operators: bool,
    sets: OrderedMap<WorkloadKey, DaemonSetState>,
    /// Pods without a controller, which a DaemonSet may adopt.
    orphans: OrderedSet<PodKey>,
    /// In which order nodes get pods, by DaemonSet.
    orders: OrderedMap<String, VecDeque<NodeName>>,
}

/// What is known of a DaemonSet.
#[derive(Clone, Debug, Default)]
struct DaemonSetState {
    /// How many names it has made up.
    created: u64,
    /// Its pods by the node that each is for.
    by_node: OrderedMap<NodeName, OrderedSet<PodKey>>,
    /// Pods that it may adopt.
    orphans: OrderedSet<PodKey>,
    /// Nodes to look at.
    changed: OrderedSet<NodeName>,
    /// Pods whose node they may not stay on, as was seen when it changed. Others delete them as
    /// well.
    expelled: OrderedSet<PodKey>,
    /// What each node adds to the status, and the sum.
    counted: OrderedMap<NodeName, Counts>,
    counts: Counts,
    /// Whether there may be pods of another template, and those there are.
    outdated: bool,
    old: OrderedSet<PodKey>,
    /// The label of the pods of the present template.
    revision: Option<String>,
    /// Nodes on which a failed pod was deleted.
    backoff: OrderedMap<NodeName, Backoff>,
    /// As it was written last.
    status: Option<DaemonSetStatus>,
}

/// A DaemonSet whose template has been read.
struct Target {
    set: Arc<Workload>,
    /// Which pods it claims; all that name it, if nobody gave the object.
    selector: Option<LabelSelector>,
    node_name: String,
    tolerations: Shared<Vec<Toleration>>,
    fields: Option<SchedulingFields>,
}

impl Target {
    fn new(set: Arc<Workload>) -> Self {
        let spec = set.spec.template.spec.clone();
        let mut pod = Pod { spec, ..Pod::default() };
        add_tolerations(&mut pod);
        Self {
            selector: claims(&set),
            node_name: pod.spec.node_name.clone(),
            fields: SchedulingFields::of(&pod).ok(),
            tolerations: pod.spec.tolerations,
            set,
        }
    }

    fn selects(&self, pod: &Pod) -> bool {
        self.selector.as_ref().is_none_or(|selector| selector.matches(&pod.metadata.labels))
    }
}

impl DaemonSetController {
    /// A controller that knows nothing yet: tell it of all nodes, workloads and pods.
    /// `comparison_operators` is the gate `TaintTolerationComparisonOperators`.
    #[must_use]
    pub fn new(release: KubernetesRelease, comparison_operators: bool) -> Self {
        Self {
            reconciler: Reconciler::new(release, WorkloadKind::DaemonSet),
            comparison_operators,
            sets: OrderedMap::new(),
            orphans: OrderedSet::new(),
            orders: OrderedMap::new(),
        }
    }

    /// The order in which nodes get pods, each entry for one pod: by `namespace/name`. Upstream a
    /// new template goes to nodes in the order of a map.
    pub fn prefer(&mut self, orders: OrderedMap<String, Vec<NodeName>>) {
        self.orders = orders.into_iter().map(|(key, nodes)| (key, nodes.into())).collect();
    }

    /// The place of a node in that order.
    fn place(&self, set: &Workload, node: &NodeName) -> usize {
        let order = self.orders.get(&set.key().name.to_string());
        order.and_then(|order| order.iter().position(|other| other == node)).unwrap_or(usize::MAX)
    }

    /// Pods that are there are of the template that their DaemonSet has now, whatever its hash, unless
    /// its controller has not seen that yet: then they are replaced.
    pub fn bootstrap_revisions(&mut self, cluster: &Cluster) {
        for (key, set) in cluster.workloads().filter(|(key, _)| is_daemon_set(key)) {
            if set.is_unobserved() {
                self.sets.entry(key.clone()).or_default().outdated = true;
            } else if let Some(revision) = known_revision(cluster, key) {
                self.sets.entry(key.clone()).or_default().revision = Some(revision);
            }
        }
    }

    /// The label of pods of the present template, as a `ControllerRevision` has it. Pods with
    /// another label are replaced.
    pub fn set_revision(&mut self, key: &WorkloadKey, revision: &str) {
        let state = self.sets.entry(key.clone()).or_default();
        state.revision = Some(revision.into());
        state.outdated = true;
    }

    /// The label of pods of the present template, if it is known.
    #[must_use]
    pub fn revision(&self, key: &WorkloadKey) -> Option<&str> {
        self.sets.get(key)?.revision.as_deref()
    }

    /// The status of a DaemonSet, as it was written last.
    #[must_use]
    pub fn status(&self, key: &WorkloadKey) -> Option<DaemonSetStatus> {
        self.sets.get(key)?.status
    }

    /// Whether a DaemonSet wants a pod on a node. Mirrors `nodeShouldRunDaemonPod`.
    #[must_use]
    pub fn node_should_run(&self, set: &Workload, node: &Node) -> ShouldRun {
        self.should_run(&Target::new(Arc::new(set.clone())), node)
    }

    fn should_run(&self, target: &Target, node: &Node) -> ShouldRun {
        const NO: ShouldRun = ShouldRun { should_run: false, should_continue_running: false };
        let Some(fields) = &target.fields else { return NO };
        let (name, labels) = (&node.metadata.name, &node.metadata.labels);
        let fits = fields.node_selector.matches(labels)
            && (fields.required_node_terms.as_ref())
                .is_none_or(|terms| terms.iter().any(|term| term.matches(name, labels)));
        if !fits || !(target.node_name.is_empty() || target.node_name == *name) {
            return NO;
        }
        let tolerates = |effects: &[TaintEffect]| {
            let (taints, gate) = (&node.spec.taints, self.comparison_operators);
            find_matching_untolerated_taint(taints, &target.tolerations, gate, |taint| {
                effects.contains(&taint.effect)
            })
            .is_none()
        };
        ShouldRun {
            should_run: tolerates(&[TaintEffect::NoExecute, TaintEffect::NoSchedule]),
            should_continue_running: tolerates(&[TaintEffect::NoExecute]),
        }
    }

    /// A pod has changed: its DaemonSet looks at the node that it is for.
    fn observe_pod(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        let owner = |pod: Option<&Pod>| pod?.metadata.controller_key_of(WorkloadKind::DaemonSet);
        if let (Some(owner), Some(old)) = (owner(old), old) {
            let node = target_node(old);
            let state = self.sets.entry(owner.clone()).or_default();
            state.old.remove(key);
            if let Some(pods) = state.by_node.get_mut(&node) {
                pods.remove(key);
                if pods.is_empty() {
                    state.by_node.remove(&node);
                }
            }
            state.changed.insert(node);
            self.reconciler.enqueue(context, owner);
        }
        if let (Some(owner), Some(new)) = (owner(new), new) {
            let node = target_node(new);
            let state = self.sets.entry(owner.clone()).or_default();
            state.by_node.entry(node.clone()).or_default().insert(key.clone());
            state.changed.insert(node);
            self.reconciler.enqueue(context, owner);
        }
        if new.is_some_and(is_orphan) {
            self.orphans.insert(key.clone());
            for (owner, state) in &mut self.sets {
                let set = context.cluster.get_workload(owner);
                if set.is_some_and(|set| may_adopt(set, key, new)) {
                    state.orphans.insert(key.clone());
                    self.reconciler.enqueue(context, owner.clone());
                }
            }
        } else {
            self.orphans.remove(key);
        }
    }

    /// A node has changed: every DaemonSet looks at it.
    fn observe_node(
        &mut self,
        context: &mut Context<'_>,
        name: &NodeName,
        old: Option<&Node>,
        new: Option<&Node>,
    ) {
        if let (Some(old), Some(new)) = (old, new)
            && old.spec == new.spec
            && old.metadata.labels == new.metadata.labels
        {
            return;
        }
        let taints = |node: Option<&Node>| node.map(|node| node.spec.taints.clone());
        let evicts = new.filter(|node| {
            let effects = |taint: &Taint| taint.effect == TaintEffect::NoExecute;
            taints(old) != taints(new) && node.spec.taints.iter().any(effects)
        });
        let keys: Vec<WorkloadKey> = self.sets.keys().cloned().collect();
        for key in keys {
            let Some(set) = context.cluster.get_workload(&key).cloned() else { continue };
            let overlooks =
                self.reconciler.release.daemon_sets_overlook_node_changes() && old.is_some();
            let changed = new.filter(|_| evicts.is_some() || overlooks);
            let should = changed.map(|node| self.should_run(&Target::new(set), node));
            let expels =
                evicts.is_some() && should.is_some_and(|should| !should.should_continue_running);
            let Some(state) = self.sets.get_mut(&key) else { continue };
            if expels {
                let pods = state.by_node.get(name).into_iter().flatten();
                let active = |pod: &&PodKey| {
                    context.cluster.get_pod(pod).is_some_and(|pod| !pod.is_terminating())
                };
                state.expelled.extend(pods.filter(active).cloned());
            }
            // The next look sees the node in any case.
            state.changed.insert(name.clone());
            let has = state.by_node.get(name).is_some_and(|pods| !pods.is_empty());
            let misscheduled = state.status.is_some_and(|status| status.number_misscheduled > 0);
            let matters = should.is_none_or(|should| {
                (should.should_run && !has)
                    || (has && (!should.should_continue_running || misscheduled))
            });
            if matters || !overlooks {
                self.reconciler.enqueue(context, key);
            }
        }
    }

    /// A DaemonSet is there or has changed, or time has passed: it looks at all nodes.
    fn look_everywhere(&mut self, context: &mut Context<'_>, key: WorkloadKey) {
        let state = self.sets.entry(key.clone()).or_default();
        let nodes = context.cluster.nodes().map(|(name, _)| name);
        let known = state.by_node.keys().chain(state.counted.keys());
        state.changed.extend(nodes.chain(known).cloned());
        self.reconciler.enqueue(context, key);
    }

    /// Pods without a controller become its own: which. Mirrors
    /// `BaseControllerRefManager.ClaimObject`.
    fn adopt(
        &mut self,
        cluster: &Cluster,
        target: &Target,
        state: &mut DaemonSetState,
    ) -> Vec<PodKey> {
        let mut adopted = Vec::new();
        for key in core::mem::take(&mut state.orphans) {
            let Some(pod) = cluster.get_pod(&key) else { continue };
            if may_adopt(&target.set, &key, Some(pod)) {
                let node = target_node(pod);
                state.by_node.entry(node.clone()).or_default().insert(key.clone());
                state.changed.insert(node);
                adopted.push(key.clone());
                let owner = Box::new(target.set.owner_reference());
                self.reconciler.push(WorkloadAction::AdoptPod { pod: key, owner });
            }
        }
        adopted
    }

    /// The pods of a DaemonSet for a node, those on the node before those that wait for the
    /// scheduler, the oldest first. What it does not select is released. Mirrors
    /// `getNodesToDaemonPods`.
    fn pods_for<'a>(
        &mut self,
        cluster: &'a Cluster,
        target: &Target,
        state: &mut DaemonSetState,
        node: &NodeName,
    ) -> Vec<&'a Pod> {
        let overlooks = self.reconciler.release.overlooks_deleted_daemon_pods_that_ended();
        let revision = state.revision.as_deref();
        let mut pods = Vec::new();
        for key in state.by_node.get(node).into_iter().flatten() {
            let Some(pod) = cluster.get_pod(key) else { continue };
            if !target.selects(pod) {
                self.reconciler.push(WorkloadAction::ReleasePod { pod: key.clone() });
                state.old.remove(key);
                continue;
            }
            if is_updated(pod, revision) {
                state.old.remove(key);
            } else {
                state.old.insert(key.clone());
            }
            let overlooked = overlooks && pod.is_terminating() && pod.has_ended();
            // A pod that says not where it wants to be is for no node.
            if !overlooked && !node.as_str().is_empty() {
                pods.push(pod.as_ref());
            }
        }
        pods.order_by_key(|pod| {
            let created = pod.metadata.creation_timestamp.map(|time| time.unix_seconds());
            (pod.spec.node_name.is_empty(), created, &pod.metadata.name)
        });
        pods
    }

    /// The DaemonSet looks at one node. Mirrors `podsShouldBeOnNode`.
    fn look_at(
        &mut self,
        context: &mut Context<'_>,
        target: &Target,
        state: &mut DaemonSetState,
        name: &NodeName,
        plan: &mut Plan,
    ) {
        let cluster = context.cluster;
        let pods = self.pods_for(cluster, target, state, name);
        let should = cluster.get_node(name.as_str()).map(|node| self.should_run(target, node));
        match should {
            // A pod on a node that is gone is the garbage collector's.
            None => {
                let waiting = pods.iter().filter(|pod| pod.spec.node_name.is_empty());
                plan.deletes.extend(waiting.map(|pod| pod.key()));
            }
            Some(should) if should.should_run && pods.is_empty() => {
                plan.creates.push(name.clone());
            }
            Some(should) if should.should_continue_running => {
                let active = pods.iter().filter(|pod| !pod.is_terminating());
                let (ended, running): (Vec<&Pod>, Vec<&Pod>) =
                    active.copied().partition(|pod| self.is_to_be_replaced(pod));
                for pod in ended {
                    self.replace(context, target, state, name, pod, plan);
                }
                // Beside pods that end there may be another one.
                if running.is_empty() && should.should_run && self.allows_surge(&target.set) {
                    plan.creates.push(name.clone());
                }
                plan.deletes.extend(self.surplus(context, target, state, &running));
            }
            Some(_) => {
                let active = pods.iter().filter(|pod| !pod.is_terminating());
                plan.deletes.extend(active.map(|pod| pod.key()));
            }
        }
        self.count_node(context, target, state, name, &pods);
    }

    /// Whether pods of a new template come before those of the old one go. Mirrors `AllowsSurge`.
    fn allows_surge(&self, set: &Workload) -> bool {
        let most = set.rolling_update("maxSurge").ok().flatten();
        self.reconciler.release.has_daemon_set_surge()
            && set.strategy() != "OnDelete"
            && most.is_some_and(|most| most.of(1, true) > 0)
    }

    /// Which of the pods that run on a node, the oldest first, are too many: all but one, or two
    /// while one of the new template is not available and one of an old template is ready. Mirrors
    /// the end of `podsShouldBeOnNode`.
    fn surplus(
        &self,
        context: &Context<'_>,
        target: &Target,
        state: &DaemonSetState,
        running: &[&Pod],
    ) -> Vec<PodKey> {
        let keys = |pods: &[&Pod]| pods.iter().map(|pod| pod.key()).collect();
        if running.len() < 2 || !self.allows_surge(&target.set) {
            return keys(running.get(1..).unwrap_or_default());
        }
        let revision = state.revision.as_deref();
        let (mut new, mut old): (Vec<&Pod>, Vec<&Pod>) =
            running.iter().copied().partition(|pod| is_updated(pod, revision));
        if let (Some(newest), Some(oldest)) = (new.first(), old.first())
            && oldest.has_ready_condition()
            && !is_ready_and_available(context, &target.set, newest)
        {
            new.remove(0);
            old.remove(0);
        } else if new.is_empty() {
            old.remove(0);
        } else {
            new.remove(0);
        }
        new.extend(old);
        keys(&new)
    }

    /// Of each node with pods, the pod of the present template and that of an older one which
    /// stay; `None` if there are more. Mirrors `findUpdatedPodsOnNode`.
    fn updates<'a>(
        &self,
        cluster: &'a Cluster,
        target: &Target,
        state: &'a DaemonSetState,
    ) -> Vec<(&'a NodeName, Option<[Option<&'a Pod>; 2]>)> {
        let overlooks = self.reconciler.release.overlooks_deleted_daemon_pods_that_ended();
        let revision = state.revision.as_deref();
        let mut nodes = Vec::new();
        for (name, keys) in &state.by_node {
            let pods = keys.iter().filter_map(|key| cluster.get_pod(key)).map(|pod| &**pod);
            let mut pods: Vec<&Pod> = pods.filter(|pod| target.selects(pod)).collect();
            pods.retain(|pod| !(overlooks && pod.is_terminating() && pod.has_ended()));
            if pods.is_empty() || name.as_str().is_empty() {
                continue;
            }
            pods.retain(|pod| !pod.is_terminating());
            let (new, old): (Vec<&Pod>, Vec<&Pod>) =
                pods.into_iter().partition(|pod| is_updated(pod, revision));
            let few = new.len() < 2 && old.len() < 2;
            nodes.push((name, few.then(|| [new.first().copied(), old.first().copied()])));
        }
        nodes
    }

    /// Pods of another template are replaced, as many at once as may be missing: a node is short
    /// of a pod whether the DaemonSet wants one there or not, unless it has one of an old template
    /// alone. Mirrors the first half of `rollingUpdate`.
    fn update(
        &self,
        context: &Context<'_>,
        target: &Target,
        state: &mut DaemonSetState,
        plan: &mut Plan,
    ) {
        if target.set.strategy() == "OnDelete" || !state.outdated {
            return;
        }
        state.outdated = !state.old.is_empty();
        let set = &target.set;
        let available = |pod: &Pod| is_ready_and_available(context, set, pod);
        let (mut missing, mut candidates) = (0, Vec::new());
        for (name, pods) in self.updates(context.cluster, target, state) {
            match pods {
                Some([None, Some(old)]) if available(old) => candidates.push((name, old.key())),
                Some([None, Some(old)]) => plan.deletes.push(old.key()),
                Some([Some(new), None]) if available(new) => {}
                _ => missing += 1,
            }
        }
        candidates.order_by_key(|(node, _)| self.place(set, node));
        let room = room(set, state, missing);
        plan.deletes.extend(candidates.into_iter().take(room).map(|(_, pod)| pod));
    }

    /// With `maxSurge`, a pod of the new template comes beside one of an old template, on as many
    /// nodes at once as may have two, and at once where the old one is not available; the old one
    /// goes when the new one is available. Mirrors the second half of `rollingUpdate`.
    fn surge(
        &self,
        context: &Context<'_>,
        target: &Target,
        state: &mut DaemonSetState,
        plan: &mut Plan,
    ) {
        state.outdated = !state.old.is_empty();
        let (set, cluster) = (&target.set, context.cluster);
        let most = set.rolling_update("maxSurge").ok().flatten();
        let most = most.map_or(0, |most| most.of(state.counts.desired, true));
        let available = |pod: &Pod| is_ready_and_available(context, set, pod);
        let asks_for_node = self.reconciler.release.daemon_set_surge_asks_for_node();
        let (mut surging, mut running) = (0, 0);
        let (mut candidates, mut leaving) = (Vec::new(), Vec::new());
        for (name, pods) in self.updates(cluster, target, state) {
            let node = cluster.get_node(name.as_str());
            if node.is_none() && !asks_for_node {
                continue;
            }
            let Some([new, old]) = pods else {
                // What is too many goes first.
                surging += 1;
                continue;
            };
            running += i64::from(old.or(new).is_some_and(available));
            let Some(old) = old else { continue };
            if let Some(new) = new {
                if available(new) {
                    plan.deletes.push(old.key());
                } else {
                    surging += 1;
                }
                continue;
            }
            let Some(node) = node else {
                // An error ends the update before anything is done.
                *plan = Plan::default();
                return;
            };
            match asks_for_node && !self.should_run(target, node).should_run {
                true if available(old) => leaving.push(old.key()),
                true => plan.deletes.push(old.key()),
                false if available(old) => candidates.push(name.clone()),
                false => plan.creates.push(name.clone()),
            }
        }
        candidates.order_by_key(|node| self.place(set, node));
        let room = usize::try_from(most - surging).unwrap_or(0);
        plan.creates.extend(candidates.into_iter().take(room));
        // One that is not to run where it is goes when it is not needed any longer.
        let spare = usize::try_from(running - state.counts.desired).unwrap_or(0);
        plan.deletes.extend(leaving.into_iter().take(spare));
    }

    /// What a node adds to the status. Mirrors `updateDaemonSetStatus` and
    /// `getUnavailableNumbers`.
    fn count_node(
        &self,
        context: &Context<'_>,
        target: &Target,
        state: &mut DaemonSetState,
        name: &NodeName,
        pods: &[&Pod],
    ) {
        let before = state.counted.remove(name).unwrap_or_default();
        state.counts.add(before, -1);
        let Some(node) = context.cluster.get_node(name.as_str()) else { return };
        let revision = state.revision.as_deref();
        let counts = if self.should_run(target, node).should_run {
            let available = |pod: &Pod| is_ready_and_available(context, &target.set, pod);
            let stays = pods.iter().any(|pod| !pod.is_terminating() && available(pod));
            let oldest = |test: &dyn Fn(&Pod) -> bool| {
                i64::from(pods.first().is_some_and(|oldest| test(oldest)))
            };
            Counts {
                desired: 1,
                current: oldest(&|_| true),
                misscheduled: 0,
                ready: oldest(&Pod::has_ready_condition),
                updated: oldest(&|pod| is_updated(pod, revision)),
                available: oldest(&available),
                missing: i64::from(!stays),
            }
        } else {
            Counts { misscheduled: i64::from(!pods.is_empty()), ..Counts::default() }
        };
        state.counts.add(counts, 1);
        state.counted.insert(name.clone(), counts);
    }

    fn is_to_be_replaced(&self, pod: &Pod) -> bool {
        pod.status.phase == PodPhase::Failed
            || pod.status.phase == PodPhase::Succeeded
                && self.reconciler.release.replaces_succeeded_daemon_pods()
    }

    /// A pod that has ended goes; after a failed one, others of the node that fail are let be for
    /// a while.
    fn replace(
        &mut self,
        context: &mut Context<'_>,
        target: &Target,
        state: &mut DaemonSetState,
        node: &NodeName,
        pod: &Pod,
        plan: &mut Plan,
    ) {
        if pod.status.phase == PodPhase::Failed {
            let last = state.backoff.get(node).copied();
            if let Some(last) = last.filter(|last| last.passed(context.now) < last.length) {
                let at = context.now.saturating_add(last.length);
                self.reconciler.retry_at(context, at, target.set.key());
                return;
            }
            state.backoff.insert(node.clone(), Backoff::next(last, context.now));
        }
        plan.ended.push((node.clone(), pod.key()));
    }

    fn create(&mut self, cluster: &Cluster, set: &Arc<Workload>, node: &NodeName) {
        let place = self.place(set, node);
        if let Some(order) = self.orders.get_mut(&set.key().name.to_string()) {
            order.remove(place);
        }
        let state = self.sets.entry(set.key()).or_default();
        let revision = state.revision.clone();
        let name = generated_name(cluster, set, &mut state.created);
        let (template, additions) = daemon_template(set, node.as_str());
        let generation = set.metadata.annotations.get(TEMPLATE_GENERATION).cloned();
        self.reconciler.create_pod(set, name, |pod| {
            pod.spec = template.spec;
            pod.metadata.labels.extend(revision.map(|revision| (REVISION_LABEL.into(), revision)));
            let generation = generation.map(|number| (TEMPLATE_GENERATION_LABEL.into(), number));
            pod.metadata.labels.extend(generation);
            additions
        });
    }

    fn delete_ended(&mut self, cluster: &Cluster, set: &Workload, node: &NodeName, pod: PodKey) {
        let phase = cluster.get_pod(&pod).map(|pod| &pod.status.phase);
        let (type_, reason, message) = if phase == Some(&PodPhase::Succeeded) {
            let message =
                format!("Found succeeded daemon pod {pod} on node {node}, will try to delete it");
            ("Normal", "SucceededDaemonPod", message)
        } else {
            let message =
                format!("Found failed daemon pod {pod} on node {node}, will try to kill it");
            ("Warning", "FailedDaemonPod", message)
        };
        self.reconciler.record(&set.key(), type_, reason, message);
        self.reconciler.delete_pod(set, pod);
    }
}

/// Pods of another template are replaced, as many at once as may be missing, in the order of
/// `place`. Mirrors `rollingUpdate` to 1.20.
fn rolling_update(
    place: &dyn Fn(&NodeName) -> usize,
    context: &Context<'_>,
    set: &Workload,
    state: &mut DaemonSetState,
    plan: &mut Plan,
) {
    if set.strategy() == "OnDelete" || !state.outdated {
        return;
    }
    state.outdated = !state.old.is_empty();
    let room = room(set, state, state.counts.missing);
    let old = state.old.iter().filter_map(|key| context.cluster.get_pod(key));
    let (mut available, others): (Vec<_>, Vec<_>) =
        old.partition(|pod| is_ready_and_available(context, set, pod));
    available.order_by_key(|pod| place(&target_node(pod)));
    // One that is not available is missed by nobody.
    let others = others.into_iter().filter(|pod| !pod.is_terminating());
    plan.deletes.extend(others.chain(available.into_iter().take(room)).map(|pod| pod.key()));
}

/// Number of further pods that may be missing.
fn room(set: &Workload, state: &DaemonSetState, missing: i64) -> usize {
    let most = set.rolling_update("maxUnavailable").ok().flatten();
    let most = most.map_or(1, |most| most.of(state.counts.desired, true));
    usize::try_from(most - missing).unwrap_or(0)
}

impl Reconcile for DaemonSetController {
    type Step = Step;

    fn reconciler(&mut self) -> &mut Reconciler<Step> {
        &mut self.reconciler
    }

    fn reconciler_ref(&self) -> &Reconciler<Step> {
        &self.reconciler
    }

    fn observe(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Workload { key, old, new: Some(new) } if is_daemon_set(key) => {
                let state = self.sets.entry(key.clone()).or_default();
                if old.is_none() {
                    state.status = new.status.get();
                }
                if template_changed(old.as_deref(), Some(new)) {
                    (state.revision, state.outdated) = (None, true);
                }
                let cluster = context.cluster;
                let orphans = self.orphans.iter();
                state.orphans.extend(
                    orphans
                        .filter(|pod| may_adopt(new, pod, cluster.get_pod(pod).map(AsRef::as_ref)))
                        .cloned(),
                );
                self.look_everywhere(context, key.clone());
            }
            Change::Pod { key, old, new } => {
                self.observe_pod(context, key, old.as_deref(), new.as_deref());
            }
            Change::Node { name, old, new } => {
                self.observe_node(context, name, old.as_deref(), new.as_deref());
            }
            Change::Workload { .. }
            | Change::Budget { .. }
            | Change::Lease { .. }
            | Change::Volume(_)
            | Change::Device(_) => {}
        }
    }

    /// Mirrors `syncDaemonSet`.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let Some(set) = context.cluster.get_workload(key).cloned() else { return };
        if set.metadata.deletion_timestamp.is_some() {
            return;
        }
        let mut state = core::mem::take(self.sets.entry(key.clone()).or_default());
        let hash = || names::template_hash(&comparable(&set.spec.template));
        state.revision.get_or_insert_with(hash);
        let target = Target::new(set.clone());
        let adopted = self.adopt(context.cluster, &target, &mut state);
        let mut plan = Plan::default();
        for node in core::mem::take(&mut state.changed) {
            self.look_at(context, &target, &mut state, &node, &mut plan);
        }
        for pod in core::mem::take(&mut state.expelled) {
            if context.cluster.get_pod(&pod).is_some() && !plan.removes(&pod) {
                plan.deletes.push(pod);
            }
        }
        if plan.is_empty() && self.allows_surge(&set) {
            if state.outdated {
                self.surge(context, &target, &mut state, &mut plan);
            }
        } else if plan.is_empty() && self.reconciler.release.counts_nodes_of_daemon_pods() {
            self.update(context, &target, &mut state, &mut plan);
        } else if plan.is_empty() {
            let place = |node: &NodeName| self.place(&set, node);
            rolling_update(&place, context, &set, &mut state, &mut plan);
        }
        // Pods are claimed anew for the status, and those that are gone by then cannot be adopted.
        for pod in adopted.iter().filter(|pod| plan.removes(pod)) {
            let Some(node) = context.cluster.get_pod(pod).map(|pod| target_node(pod)) else {
                continue;
            };
            let mut pods = self.pods_for(context.cluster, &target, &mut state, &node);
            pods.retain(|pod| !(adopted.contains(&pod.key()) && plan.removes(&pod.key())));
            self.count_node(context, &target, &mut state, &node, &pods);
        }
        self.reconciler.steps.extend(plan.steps(&set));
        let status = state.counts.status(&set);
        let observed = state.status.map_or(0, |status| status.observed_generation);
        let newer = DaemonSetStatus {
            observed_generation: status.observed_generation.max(observed),
            ..status
        };
        if state.status != Some(newer) {
            state.status = Some(status);
            self.reconciler.steps.push_back(Step::UpdateStatus(key.clone(), status));
        }
        if status.number_ready != status.number_available {
            self.reconciler.await_availability(context, &set);
        }
        self.sets.insert(key.clone(), state);
    }

    fn step(&mut self, context: &mut Context<'_>, step: Step) {
        match step {
            Step::DeleteEnded(set, node, pod) => {
                self.delete_ended(context.cluster, &set, &node, pod);
            }
            Step::Delete(set, pod) => self.reconciler.delete_pod(&set, pod),
            Step::Create(set, node) => self.create(context.cluster, &set, &node),
            Step::UpdateStatus(workload, status) => {
                self.reconciler.push(WorkloadAction::UpdateDaemonSetStatus { workload, status });
            }
        }
    }

    fn woken(&mut self, context: &mut Context<'_>, key: WorkloadKey) {
        self.look_everywhere(context, key);
    }

    /// Other nodes are not concerned.
    fn refused(&mut self, _error: &str) {}
}

fn is_daemon_set(key: &WorkloadKey) -> bool {
    key.kind == WorkloadKind::DaemonSet
}

/// Which pods a DaemonSet claims. Of one that nobody gave the selector is not known: its pods are
/// those that name it.
fn claims(set: &Workload) -> Option<LabelSelector> {
    set.selector().ok().filter(|_| !set.inferred)
}

fn is_orphan(pod: &Pod) -> bool {
    pod.metadata.controller().is_none() && !pod.is_terminating()
}

/// The annotation of DaemonSets that counts their templates, and the label of their pods that tells
/// of which they are. Mirrors `CreatePodTemplate`.
pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";
const TEMPLATE_GENERATION_LABEL: &str = "pod-template-generation";

fn may_adopt(set: &Workload, key: &PodKey, pod: Option<&Pod>) -> bool {
    set.key().name.namespace() == key.namespace()
        && pod.is_some_and(|pod| {
            is_orphan(pod) && claims(set).is_some_and(|own| own.matches(&pod.metadata.labels))
        })
}

/// Whether a pod is of the present template. A label that it lacks tells nothing. Mirrors
/// `IsPodUpdated`.
fn is_updated(pod: &Pod, revision: Option<&str>) -> bool {
    let label = pod.metadata.labels.get(REVISION_LABEL);
    revision.is_none_or(|revision| label.is_none_or(|label| label == revision))
}

fn is_ready_and_available(context: &Context<'_>, set: &Workload, pod: &Pod) -> bool {
    pod.has_ready_condition() && is_available(context, set, pod)
}

/// What the controller adds to the tolerations of a daemon pod.
fn add_tolerations(pod: &mut Pod) -> Vec<Addition<Toleration>> {
    let host = pod.spec.other.get("hostNetwork").is_some_and(|host| *host == true);
    add_daemon_pod_tolerations(&mut pod.spec.tolerations, host)
}

/// A daemon pod for a node, before admission, and what the controller adds to the template.
pub(super) fn daemon_template(set: &Workload, node: &str) -> (Pod, Vec<Addition<Toleration>>) {
    let mut pod = Pod { spec: set.spec.template.spec.clone(), ..Pod::default() };
    let additions = add_tolerations(&mut pod);
    let affinity = pod.spec.other.get("affinity").cloned().unwrap_or_else(|| json!({}));
    pod.spec.other.set("affinity", pinned(affinity, node));
    (pod, additions)
}

/// The node that a daemon pod is for: where it is, or where its affinity sends it. Mirrors
/// `GetTargetNodeName`.
fn target_node(pod: &Pod) -> NodeName {
    if !pod.spec.node_name.is_empty() {
        return pod.spec.node_name.as_str().into();
    }
    let terms = SchedulingFields::of(pod).ok().and_then(|fields| fields.required_node_terms);
    let fields = terms.iter().flatten().flat_map(|term| &term.match_fields);
    let mut names = fields.filter(|field| field.key == "metadata.name");
    names.find_map(|field| field.values.first()).map_or("", String::as_str).into()
}

/// The affinity of a template for one node, in place of what it requires of nodes. Mirrors
/// `ReplaceDaemonSetPodNodeNameNodeAffinity`.
fn pinned(mut affinity: Value, node: &str) -> Value {
    let field = json!([{ "key": "metadata.name", "operator": "In", "values": [node] }]);
    if let Some(affinity) = affinity.as_object_mut() {
        let node = affinity.entry("nodeAffinity").or_insert_with(|| json!({}));
        if let Some(node) = node.as_object_mut() {
            let terms = json!({ "nodeSelectorTerms": [{ "matchFields": field }] });
            node.insert("requiredDuringSchedulingIgnoredDuringExecution".into(), terms);
        }
    }
    affinity
}
