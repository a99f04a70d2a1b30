//! DaemonSets: a pod on every node that takes it.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::super::Simulator;
use super::{names, track};
use crate::admission::add_daemon_pod_tolerations;
use crate::api::{
    Node, NodeName, Pod, PodKey, PodPhase, SchedulingFields, TaintEffect, Toleration, Workload,
    WorkloadKey, WorkloadKind,
};
use crate::matching::find_matching_untolerated_taint;
use crate::release::FeatureGate;

const REVISION_LABEL: &str = "controller-revision-hash";

/// What a daemon pod does on a node. Mirrors `NodeShouldRunDaemonPod`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Should {
    Run,
    /// It stays where it is, but none is created.
    Stay,
    Go,
}

impl Simulator {
    /// All nodes are looked at again.
    pub(super) fn reconcile_daemon_set(&mut self, set: &Arc<Workload>) {
        let nodes: Vec<NodeName> = self.cluster.nodes().map(|(name, _)| name.clone()).collect();
        let key = set.key();
        if let Some(control) = &mut self.control {
            for node in nodes {
                control.daemons.push((key.clone(), node));
            }
        }
        self.count_daemons(set);
    }

    /// A node has changed: every DaemonSet looks at it.
    pub(super) fn daemons_of_node(&mut self, old: Option<&Node>, new: Option<&Node>) {
        let same = match (old, new) {
            (Some(old), Some(new)) => {
                old.spec == new.spec && old.metadata.labels == new.metadata.labels
            }
            _ => false,
        };
        let Some(node) = new.or(old) else { return };
        if same {
            return;
        }
        let name: NodeName = node.metadata.name.as_str().into();
        let sets = self.cluster.workloads().map(|(key, _)| key);
        let sets = sets.filter(|key| key.kind == WorkloadKind::DaemonSet);
        let sets: Vec<WorkloadKey> = sets.cloned().collect();
        let Some(control) = &mut self.control else { return };
        for set in sets {
            control.daemons.push((set, name.clone()));
        }
    }

    /// The DaemonSet looks at one node. Mirrors `podsShouldBeOnNode`.
    pub(super) fn reconcile_daemon(&mut self, key: &WorkloadKey, name: &NodeName) {
        let Some(set) = self.cluster.get_workload(key).cloned() else { return };
        let (template, _) = self.daemon_template(&set, name.as_str());
        let node = self.cluster.get_node(name.as_str());
        let should = node.map_or(Should::Go, |node| self.should_run(&template, node));
        self.note_wanted(&set, name, node.is_some() && should == Should::Run);
        let pods = self.daemon_pods(key, name);
        let mut running = 0;
        for pod in pods {
            let Some(object) = self.cluster.get_pod(&pod).cloned() else { continue };
            if object.is_terminating() {
                continue;
            }
            if object.status.phase == PodPhase::Failed {
                let message =
                    format!("Found failed daemon pod {pod} on node {name}, will try to kill it");
                self.record(key, "Warning", "FailedDaemonPod", message);
                self.controller_deletes(&set, &pod);
                continue;
            }
            running += 1;
            // A pod on a node that is gone is the garbage collector's; one too many goes.
            let gone = self.cluster.get_node(name.as_str()).is_none();
            if !gone && (should == Should::Go || running > 1) {
                self.controller_deletes(&set, &pod);
            }
        }
        if running == 0 && should == Should::Run {
            self.create_daemon(&set, name);
        } else if running > 0 {
            self.update_daemon_set(&set);
        }
    }

    /// The pods of a DaemonSet for one node, also those that have not been bound to it yet.
    fn daemon_pods(&self, key: &WorkloadKey, node: &NodeName) -> Vec<PodKey> {
        let Some(tracked) = self.tracked(key) else { return Vec::new() };
        tracked.by_node.get(node).into_iter().flatten().cloned().collect()
    }

    fn note_wanted(&mut self, set: &Workload, node: &NodeName, wanted: bool) {
        let now = self.now;
        let control = self.control.as_mut();
        let tracked = control.and_then(|control| control.tracked.get_mut(&set.key()));
        let Some(tracked) = tracked else { return };
        if wanted {
            tracked.wanted.insert(node.clone());
        } else {
            tracked.wanted.remove(node);
        }
        tracked.desired = i64::try_from(tracked.wanted.len()).unwrap_or(i64::MAX);
        tracked.step(now);
    }

    /// How many pods it wants, as the nodes are now.
    fn count_daemons(&mut self, set: &Arc<Workload>) {
        let nodes: Vec<Arc<Node>> = self.cluster.nodes().map(|(_, node)| node.clone()).collect();
        for node in nodes {
            let name: NodeName = node.metadata.name.as_str().into();
            let (template, _) = self.daemon_template(set, name.as_str());
            let wanted = self.should_run(&template, &node) == Should::Run;
            self.note_wanted(set, &name, wanted);
        }
    }

    /// A daemon pod for a node, before admission.
    fn daemon_template(
        &self,
        set: &Workload,
        node: &str,
    ) -> (Pod, Vec<crate::admission::Addition<Toleration>>) {
        let mut pod = Pod { spec: set.spec.template.spec.clone(), ..Pod::default() };
        let host = pod.spec.other.get("hostNetwork").is_some_and(|host| *host == true);
        let additions = add_daemon_pod_tolerations(&mut pod.spec.tolerations, host);
        let affinity = pod.spec.other.get("affinity").cloned().unwrap_or_else(|| json!({}));
        pod.spec.other.set("affinity", pinned(affinity, node));
        (pod, additions)
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
        let gate = self.gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators);
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

    fn create_daemon(&mut self, set: &Arc<Workload>, node: &NodeName) {
        let key = set.key();
        let revision = self.daemon_revision(set);
        let (template, additions) = self.daemon_template(set, node.as_str());
        let name = loop {
            let number = self.next_number(&key);
            let suffix = names::suffix(&format!("{key}"), number);
            let name = format!("{}-{suffix}", set.metadata.name);
            let name = PodKey::new(&set.metadata.namespace, &name);
            if self.cluster.get_pod(&name).is_none() {
                break name;
            }
        };
        self.create_pod_of(set, &name, |pod| {
            pod.spec = template.spec;
            pod.metadata.labels.insert(REVISION_LABEL.into(), revision);
            additions
        });
    }

    fn daemon_revision(&mut self, set: &Workload) -> String {
        let known = self.tracked(&set.key()).map(|tracked| tracked.revision.clone());
        if let Some(known) = known.filter(|known| !known.is_empty()) {
            return known;
        }
        let template = super::deployments::comparable(&set.spec.template);
        let hash = names::template_hash(&template);
        self.set_revision(&set.key(), &hash);
        hash
    }

    /// Pods of another template are replaced, as many at once as may be missing. Mirrors
    /// `rollingUpdate` without surge.
    fn update_daemon_set(&mut self, set: &Arc<Workload>) {
        let key = set.key();
        let Some(tracked) = self.tracked(&key) else { return };
        if set.strategy() == "OnDelete" || !tracked.outdated {
            return;
        }
        let (desired, ready, revision) = (tracked.desired, tracked.ready, tracked.revision.clone());
        let unavailable = set.rolling_update("maxUnavailable").ok().flatten();
        let most = unavailable.map_or(1, |most| most.of(desired, true)).max(1);
        let mut room = most - (desired - ready).max(0);
        let pods: Vec<PodKey> = tracked.pods.iter().cloned().collect();
        let mut left = false;
        for key in pods {
            let Some(pod) = self.cluster.get_pod(&key) else { continue };
            let label = pod.metadata.labels.get(REVISION_LABEL);
            if !track::is_active(pod) || label.is_none_or(|label| *label == revision) {
                continue;
            }
            // One that is not ready is missed by nobody.
            let ready = track::is_ready(pod);
            if ready && room <= 0 {
                left = true;
                continue;
            }
            room -= i64::from(ready);
            self.controller_deletes(set, &key);
        }
        if let Some(tracked) =
            self.control.as_mut().and_then(|control| control.tracked.get_mut(&key))
        {
            tracked.outdated = left;
        }
    }
}

/// The node that a daemon pod is for: where it is, or where its affinity sends it. Mirrors
/// `GetTargetNodeName`.
pub(super) fn target_node(pod: &Pod) -> NodeName {
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
