//! Pods grouped by owner, and the facts about nodes that warnings need.

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{
    ConditionStatus, MIRROR_ANNOTATION, Node, Pod, PodKey, PodPhase, Taint, TaintEffect,
    Toleration, well_known,
};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::OrderedMap;
use taintlab_rules::plural::count;
use taintlab_rules::policy::taints::taints_of_kubernetes;
use taintlab_rules::quote::go_quote;

use super::{Index, PACE, Subject};

/// Controller of pods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner {
    pub(super) kind: String,
    pub(super) name: String,
}

/// Pods of one namespace and one owner with the same tolerations.
pub(super) struct Group<'a> {
    pub(super) namespace: &'a str,
    /// `None` for bare pods.
    pub(super) owner: Option<Owner>,
    pub(super) tolerations: &'a [Toleration],
    pub(super) pods: Vec<(&'a PodKey, &'a Pod)>,
}

impl Group<'_> {
    /// Whether a controller of this kind owns the pods.
    pub(super) fn is_of(&self, kind: &str) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.kind == kind)
    }

    /// Owner and pods, as subjects of a warning.
    pub(super) fn subjects(&self) -> Vec<Subject> {
        self.subjects_of(&self.pods)
    }

    /// Owner and some of its pods, as subjects of a warning.
    pub(super) fn subjects_of(&self, pods: &[(&PodKey, &Pod)]) -> Vec<Subject> {
        let owner = self.owner.as_ref().map(|owner| Subject::Owner {
            kind: owner.kind.clone(),
            name: PodKey::new(self.namespace, &owner.name),
        });
        let pods = pods.iter().map(|(key, _)| Subject::Pod { name: (*key).clone() });
        owner.into_iter().chain(pods).collect()
    }

    /// Name in a sentence: `Deployment shop/web (3 pods)`, `pod default/a`.
    pub(super) fn name(&self) -> String {
        self.name_of(&self.pods)
    }

    /// Name in a sentence about some of its pods.
    pub(super) fn name_of(&self, pods: &[(&PodKey, &Pod)]) -> String {
        let namespace = self.namespace;
        match (&self.owner, pods) {
            (_, [(key, _)]) => format!("pod {key}"),
            (Some(Owner { kind, name }), pods) => {
                format!("{kind} {namespace}/{name} ({})", count(pods.len(), "pod"))
            }
            (None, pods) => format!("{} of namespace {namespace}", count(pods.len(), "bare pod")),
        }
    }

    /// Verb that agrees with [`name_of`](Self::name_of): singular, or plural for several bare pods.
    pub(super) fn verb<'v>(
        &self,
        pods: &[(&PodKey, &Pod)],
        one: &'v str,
        several: &'v str,
    ) -> &'v str {
        if self.owner.is_some() || pods.len() == 1 { one } else { several }
    }
}

/// Pods of a cluster that have an author, by namespace, owner and tolerations.
///
/// Ended and static pods are left out: static pods mirror files on a node, their kubelet restarts
/// them, and no controller deletes them for good.
pub(super) async fn groups(cluster: &Cluster) -> Vec<Group<'_>> {
    let mut pace = PACE;
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known: OrderedMap<(&str, Option<Owner>, &[Toleration]), usize> = OrderedMap::new();
    for (key, pod) in cluster.pods() {
        pace.step().await;
        if has_ended(pod) || is_static(pod) {
            continue;
        }
        let owner = owner_of(cluster, pod);
        let tolerations = pod.spec.tolerations.as_slice();
        let index =
            *known.entry((key.namespace(), owner.clone(), tolerations)).or_insert_with(|| {
                let namespace = key.namespace();
                groups.push(Group { namespace, owner, tolerations, pods: Vec::new() });
                groups.len() - 1
            });
        if let Some(group) = groups.get_mut(index) {
            group.pods.push((key, pod.as_ref()));
        }
    }
    groups
}

fn has_ended(pod: &Pod) -> bool {
    matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed)
}

/// Whether a kubelet made the pod from a file.
fn is_static(pod: &Pod) -> bool {
    pod.metadata.annotations.contains_key(MIRROR_ANNOTATION)
        || pod.metadata.owner_references.iter().any(|owner| owner.kind == "Node")
}

/// Owner that manages a pod; for a ReplicaSet of a Deployment, that Deployment.
fn owner_of(cluster: &Cluster, pod: &Pod) -> Option<Owner> {
    let references = &pod.metadata.owner_references;
    let managing = references.iter().find(|owner| owner.controller == Some(true));
    // Manifests written by hand often omit `controller`.
    let owner = managing.or_else(|| references.first().filter(|_| references.len() == 1))?;
    let workload = pod.metadata.controller_key();
    let above =
        workload.and_then(|key| cluster.get_workload(&key)).and_then(|workload| workload.owner());
    if let Some(above) = above {
        return Some(Owner { kind: above.kind.as_str().into(), name: above.name.name().into() });
    }
    let (mut kind, mut name) = (owner.kind.as_str(), owner.name.as_str());
    if kind == "ReplicaSet"
        && let Some(hash) = pod.metadata.labels.get("pod-template-hash")
        && let Some(deployment) = name.strip_suffix(hash).and_then(|rest| rest.strip_suffix('-'))
    {
        (kind, name) = ("Deployment", deployment);
    }
    Some(Owner { kind: kind.to_owned(), name: name.to_owned() })
}

/// Facts about nodes that warnings need.
pub(super) struct Nodes<'a> {
    /// Number of nodes.
    pub(super) count: usize,
    /// Taints of nodes and taints that Kubernetes sets, by key; the former with a node that has it.
    pub(super) taints: Index<'a, Vec<(Taint, Option<&'a str>)>>,
    /// Loosely written keys (see [`loosely`]), with the correct ones.
    pub(super) loosely: OrderedMap<String, &'a str>,
    /// `NoExecute` taints of the nodes that have some.
    pub(super) evicting: Index<'a, Vec<&'a Taint>>,
    /// Nodes with unreachable kubelets.
    pub(super) unreachable: Index<'a, &'a Arc<Node>>,
}

/// Loose form of a key, equal for common misspellings: its last part in lower case, without
/// separators.
pub(super) fn loosely(key: &str) -> String {
    let last = key.rsplit('/').next().unwrap_or_default();
    last.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl<'a> Nodes<'a> {
    /// Facts about the nodes of a cluster.
    pub(super) fn of(cluster: &'a Cluster) -> Self {
        let mut seen: OrderedMap<(&str, &str, &TaintEffect), &str> = OrderedMap::new();
        let mut nodes = Self {
            count: cluster.nodes().len(),
            taints: Index::new(),
            loosely: OrderedMap::new(),
            evicting: Index::new(),
            unreachable: Index::new(),
        };
        for (name, node) in cluster.nodes() {
            for taint in &node.spec.taints {
                seen.entry((&taint.key, &taint.value, &taint.effect)).or_insert(name.as_str());
                if taint.is_no_execute() {
                    nodes.evicting.entry(name.as_str()).or_default().push(taint);
                }
            }
            if is_unreachable(node) {
                nodes.unreachable.insert(name.as_str(), node);
            }
        }
        for ((key, value, effect), node) in seen {
            let taint = Taint::new(key, value, effect.clone());
            nodes.taints.entry(key).or_default().push((taint, Some(node)));
            nodes.loosely.entry(loosely(key)).or_insert(key);
        }
        for taint in taints_of_kubernetes() {
            // The list has constants for all keys but one, which is written here.
            let known = well_known::ALL.into_iter().find(|key| *key == taint.key);
            let key = known.unwrap_or("node-role.kubernetes.io/master");
            nodes.loosely.entry(loosely(key)).or_insert(key);
            nodes.taints.entry(key).or_default().push((taint, None));
        }
        nodes
    }

    /// `NoExecute` taints of a pod's node.
    pub(super) fn evicting(&self, pod: &Pod) -> &[&'a Taint] {
        self.evicting.get(pod.spec.node_name.as_str()).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Whether the control plane has reported the node's kubelet as unreachable.
pub(super) fn is_unreachable(node: &Node) -> bool {
    let tainted = node.spec.taints.iter().any(|taint| taint.key == well_known::UNREACHABLE);
    tainted || node.condition("Ready").is_some_and(|ready| ready.status == ConditionStatus::Unknown)
}

/// YAML of a toleration, as an entry of a list.
pub(super) fn yaml_of(toleration: &Toleration) -> String {
    let Toleration { key, operator, value, effect, toleration_seconds } = toleration;
    let mut fields = Vec::new();
    if !key.is_empty() {
        fields.push(format!("key: {}", go_quote(key)));
    }
    if !operator.is_empty() {
        fields.push(format!("operator: {operator}"));
    }
    if !value.is_empty() {
        fields.push(format!("value: {}", go_quote(value)));
    }
    if !effect.is_empty() {
        fields.push(format!("effect: {effect}"));
    }
    if let Some(seconds) = toleration_seconds {
        fields.push(format!("tolerationSeconds: {seconds}"));
    }
    format!("- {}\n", fields.join("\n  "))
}
