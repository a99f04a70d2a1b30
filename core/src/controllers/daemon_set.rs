//! DaemonSets: a pod on every node that takes it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::workload::{
    REVISION_LABEL, Reconcile, Reconciler, WorkloadAction, comparable, generated_name,
    known_revision, template_changed,
};
use super::{Context, WorkTicket, names};
use crate::api::{
    Node, NodeName, Pod, PodKey, PodPhase, SchedulingFields, TaintEffect, Toleration, Workload,
    WorkloadKey, WorkloadKind,
};
use crate::cluster::{Change, Cluster};
use crate::policy::admission::{Addition, add_daemon_pod_tolerations};
use crate::policy::matching::find_matching_untolerated_taint;
use crate::queue::work_queue::NumberedWorkQueue;
use crate::release::KubernetesRelease;

/// The controller of DaemonSets, which looks at one node at a time. Mirrors
/// `pkg/controller/daemon`.
#[derive(Clone, Debug)]
pub struct DaemonSetController {
    reconciler: Reconciler<Step>,
    comparison_operators: bool,
    /// Nodes that DaemonSets are to look at.
    nodes: NumberedWorkQueue<(WorkloadKey, NodeName)>,
    sets: BTreeMap<WorkloadKey, DaemonSetState>,
}

/// What is known of a DaemonSet.
#[derive(Clone, Debug, Default)]
struct DaemonSetState {
    /// How many names it has made up.
    created: u64,
    /// Its pods by the node that each is for, and the nodes that are to have one.
    by_node: BTreeMap<NodeName, BTreeSet<PodKey>>,
    wanted: BTreeSet<NodeName>,
    /// Whether there may be pods of another template.
    outdated: bool,
    /// The label of the pods of the present template.
    revision: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A pod that has failed is replaced.
    DeleteFailed(Arc<Workload>, NodeName, PodKey),
    Delete(Arc<Workload>, PodKey),
    Create(Arc<Workload>, NodeName),
    Update(Arc<Workload>),
}

/// What a daemon pod does on a node. Mirrors `NodeShouldRunDaemonPod`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Should {
    Run,
    /// It stays where it is, but none is created.
    Stay,
    Go,
}

impl DaemonSetController {
    /// A controller that knows nothing yet: tell it of all nodes, workloads and pods.
    /// `comparison_operators` is the gate `TaintTolerationComparisonOperators`.
    #[must_use]
    pub fn new(release: KubernetesRelease, comparison_operators: bool) -> Self {
        Self {
            reconciler: Reconciler::new(release, WorkloadKind::DaemonSet),
            comparison_operators,
            nodes: NumberedWorkQueue::default(),
            sets: BTreeMap::new(),
        }
    }

    /// Pods that are there are of the template that their DaemonSet has now, whatever its hash.
    pub fn adopt_revisions(&mut self, cluster: &Cluster) {
        for (key, _) in cluster.workloads().filter(|(key, _)| is_daemon_set(key)) {
            if let Some(revision) = known_revision(cluster, key) {
                self.sets.entry(key.clone()).or_default().revision = Some(revision);
            }
        }
    }

    /// The label of pods of the present template, if it is known.
    #[must_use]
    pub fn revision(&self, key: &WorkloadKey) -> Option<&str> {
        self.sets.get(key)?.revision.as_deref()
    }

    /// How many nodes are to have a pod.
    #[must_use]
    pub fn desired(&self, key: &WorkloadKey) -> i64 {
        self.sets.get(key).map_or(0, |set| i64::try_from(set.wanted.len()).unwrap_or(i64::MAX))
    }

    /// A daemon pod has changed: its DaemonSet looks at the node that it is for.
    fn observe_pod(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        let owner = |pod: Option<&Pod>| pod.and_then(|pod| pod.metadata.controller_key());
        let (before, after) = (owner(old), owner(new));
        if !before.as_ref().or(after.as_ref()).is_some_and(is_daemon_set) {
            return;
        }
        if let (Some(owner), Some(old)) = (before, old) {
            let node = target_node(old);
            let set = self.sets.entry(owner.clone()).or_default();
            if let Some(pods) = set.by_node.get_mut(&node) {
                pods.remove(key);
                if pods.is_empty() {
                    set.by_node.remove(&node);
                }
            }
            self.nodes.push(context.sequence, (owner, node));
        }
        if let (Some(owner), Some(new)) = (after, new) {
            let node = target_node(new);
            let set = self.sets.entry(owner.clone()).or_default();
            set.by_node.entry(node.clone()).or_default().insert(key.clone());
            self.nodes.push(context.sequence, (owner, node));
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
        let sets = context.cluster.workloads().map(|(key, _)| key);
        for set in sets.filter(|key| is_daemon_set(key)) {
            self.nodes.push(context.sequence, (set.clone(), name.clone()));
        }
    }

    /// The DaemonSet looks at one node. Mirrors `podsShouldBeOnNode`.
    fn reconcile_node(&mut self, context: &Context<'_>, key: &WorkloadKey, name: &NodeName) {
        let cluster = context.cluster;
        let Some(set) = cluster.get_workload(key) else { return };
        let (template, _) = daemon_template(set, name.as_str());
        let node = cluster.get_node(name.as_str());
        let should = node.map_or(Should::Go, |node| self.should_run(&template, node));
        self.set_wanted(key, name, node.is_some() && should == Should::Run);
        let known = self.sets.get(key).and_then(|known| known.by_node.get(name));
        let pods: Vec<PodKey> = known.into_iter().flatten().cloned().collect();
        let steps = &mut self.reconciler.steps;
        let mut running = 0;
        for pod in pods {
            let Some(object) = cluster.get_pod(&pod) else { continue };
            if object.is_terminating() {
                continue;
            }
            if object.status.phase == PodPhase::Failed {
                steps.push_back(Step::DeleteFailed(set.clone(), name.clone(), pod));
                continue;
            }
            running += 1;
            // A pod on a node that is gone is the garbage collector's; one too many goes.
            if node.is_some() && (should == Should::Go || running > 1) {
                steps.push_back(Step::Delete(set.clone(), pod));
            }
        }
        if running == 0 && should == Should::Run {
            steps.push_back(Step::Create(set.clone(), name.clone()));
        } else if running > 0 {
            steps.push_back(Step::Update(set.clone()));
        }
    }

    fn set_wanted(&mut self, key: &WorkloadKey, node: &NodeName, wanted: bool) {
        let state = self.sets.entry(key.clone()).or_default();
        if wanted {
            state.wanted.insert(node.clone());
        } else {
            state.wanted.remove(node);
        }
        let (workload, desired) = (key.clone(), self.desired(key));
        self.reconciler.push(WorkloadAction::ReportDesired { workload, desired });
    }

    fn should_run(&self, pod: &Pod, node: &Node) -> Should {
        let Ok(fields) = SchedulingFields::of(pod) else { return Should::Go };
        let labels = &node.metadata.labels;
        let name = &node.metadata.name;
        let terms = fields.required_node_terms.unwrap_or_default();
        if !fields.node_selector.matches(labels)
            || !terms.iter().any(|term| term.matches(name, labels))
        {
            return Should::Go;
        }
        let gate = self.comparison_operators;
        let untolerated = |effects: &[TaintEffect]| {
            let tolerations = &pod.spec.tolerations;
            find_matching_untolerated_taint(&node.spec.taints, tolerations, gate, |taint| {
                effects.contains(&taint.effect)
            })
            .is_some()
        };
        if untolerated(&[TaintEffect::NoExecute]) {
            Should::Go
        } else if untolerated(&[TaintEffect::NoSchedule]) {
            Should::Stay
        } else {
            Should::Run
        }
    }

    fn create(&mut self, cluster: &Cluster, set: &Arc<Workload>, node: &NodeName) {
        let state = self.sets.entry(set.key()).or_default();
        let revision = state
            .revision
            .get_or_insert_with(|| names::template_hash(&comparable(&set.spec.template)));
        let revision = revision.clone();
        let name = generated_name(cluster, set, &mut state.created);
        let (template, additions) = daemon_template(set, node.as_str());
        self.reconciler.create_pod(set, name, |pod| {
            pod.spec = template.spec;
            pod.metadata.labels.insert(REVISION_LABEL.into(), revision);
            additions
        });
    }

    fn delete_failed(&mut self, set: &Workload, node: &NodeName, pod: PodKey) {
        let message = format!("Found failed daemon pod {pod} on node {node}, will try to kill it");
        self.reconciler.record(&set.key(), "Warning", "FailedDaemonPod", message);
        self.reconciler.delete_pod(set, pod);
    }

    /// Pods of another template are replaced, as many at once as may be missing. Mirrors
    /// `rollingUpdate` without surge.
    fn update(&mut self, cluster: &Cluster, set: &Arc<Workload>) {
        let key = set.key();
        let desired = self.desired(&key);
        let Some(state) = self.sets.get_mut(&key) else { return };
        if set.strategy() == "OnDelete" || !state.outdated {
            return;
        }
        let owned = cluster.owned_pods(&key);
        let revision = state.revision.as_deref().unwrap_or_default();
        let unavailable = set.rolling_update("maxUnavailable").ok().flatten();
        let most = unavailable.map_or(1, |most| most.of(desired, true)).max(1);
        let mut room = most - (desired - owned.ready).max(0);
        state.outdated = false;
        for key in &owned.pods {
            let Some(pod) = cluster.get_pod(key) else { continue };
            let label = pod.metadata.labels.get(REVISION_LABEL);
            if !pod.is_active() || label.is_none_or(|label| *label == revision) {
                continue;
            }
            // One that is not ready is missed by nobody.
            let ready = pod.is_ready_replica();
            if ready && room <= 0 {
                state.outdated = true;
                continue;
            }
            room -= i64::from(ready);
            self.reconciler.steps.push_back(Step::Delete(set.clone(), key.clone()));
        }
    }
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
                if template_changed(old.as_deref(), Some(new)) {
                    (state.revision, state.outdated) = (None, true);
                }
                self.reconciler.enqueue(context, key.clone());
            }
            Change::Pod { key, old, new } => {
                self.observe_pod(context, key, old.as_deref(), new.as_deref());
            }
            Change::Node { name, old, new } => {
                self.observe_node(context, name, old.as_deref(), new.as_deref());
            }
            Change::Workload { .. } | Change::Budget { .. } | Change::Lease { .. } => {}
        }
    }

    /// All nodes are looked at again.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let cluster = context.cluster;
        let Some(set) = cluster.get_workload(key) else { return };
        for (node, _) in cluster.nodes() {
            self.nodes.push(context.sequence, (key.clone(), node.clone()));
        }
        for (name, node) in cluster.nodes() {
            let (template, _) = daemon_template(set, name.as_str());
            let wanted = self.should_run(&template, node) == Should::Run;
            self.set_wanted(key, name, wanted);
        }
    }

    fn step(&mut self, context: &mut Context<'_>, step: Step) {
        match step {
            Step::DeleteFailed(set, node, pod) => self.delete_failed(&set, &node, pod),
            Step::Delete(set, pod) => self.reconciler.delete_pod(&set, pod),
            Step::Create(set, node) => self.create(context.cluster, &set, &node),
            Step::Update(set) => self.update(context.cluster, &set),
        }
    }

    fn other_work(&self) -> Option<WorkTicket> {
        self.nodes.first().map(|number| (1, number))
    }

    fn do_other_work(&mut self, context: &mut Context<'_>) {
        if let Some((set, node)) = self.nodes.pop() {
            self.reconcile_node(context, &set, &node);
        }
    }
}

fn is_daemon_set(key: &WorkloadKey) -> bool {
    key.kind == WorkloadKind::DaemonSet
}

/// A daemon pod for a node, before admission, and what the controller adds to the template.
pub(super) fn daemon_template(set: &Workload, node: &str) -> (Pod, Vec<Addition<Toleration>>) {
    let mut pod = Pod { spec: set.spec.template.spec.clone(), ..Pod::default() };
    let host = pod.spec.other.get("hostNetwork").is_some_and(|host| *host == true);
    let additions = add_daemon_pod_tolerations(&mut pod.spec.tolerations, host);
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

/// The affinity of a template for one node. Mirrors `ReplaceDaemonSetPodNodeNameNodeAffinity`.
fn pinned(mut affinity: Value, node: &str) -> Value {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let field = json!([{ "key": "metadata.name", "operator": "In", "values": [node] }]);
    let terms = affinity
        .pointer(&format!("/nodeAffinity/{REQUIRED}/nodeSelectorTerms"))
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let pinned: Vec<Value> = if terms.is_empty() {
        Vec::from([json!({ "matchFields": field })])
    } else {
        let pin = |mut term: Value| {
            if let Some(term) = term.as_object_mut() {
                term.insert("matchFields".into(), field.clone());
            }
            term
        };
        terms.into_iter().map(pin).collect()
    };
    if let Some(affinity) = affinity.as_object_mut() {
        let node = affinity.entry("nodeAffinity").or_insert_with(|| json!({}));
        if let Some(node) = node.as_object_mut() {
            node.insert(REQUIRED.into(), json!({ "nodeSelectorTerms": pinned }));
        }
    }
    affinity
}
