//! A simple autoscaler of groups of nodes: pods for which the scheduler finds no node make a group
//! grow, if they would fit on its nodes. Mirrors `k8s.io/autoscaler/cluster-autoscaler` as of 1.34:
//! `core/scaleup/orchestrator`, `estimator` and `processors/status`.
//!
//! Groups only grow. Of several that would help, the first takes its turn (the expanders of
//! Kubernetes choose at random, or by what would lie idle); pods are placed on new nodes in the
//! order in which they were created.

use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::{ConditionStatus, Node, NodeName, Pod, PodKey, is_default};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::policy::scheduling::{SchedulerConfig, SchedulingError, Snapshot};
use taintlab_rules::policy::validation::{
    validate_labels, validate_node_name, validate_node_taints,
};
use taintlab_rules::protocol::{ObjectReference, RecordedEvent, RequestId, TimeoutReason};
use taintlab_rules::queue::timer_queue::{TimerId, TimerQueue};
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Span, Timestamp};

use super::{Context, Controller, Machine, WorkTicket};

/// Scans may not be closer than this.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);
/// The label that each node has with its own name.
const HOSTNAME: &str = "kubernetes.io/hostname";
/// What the keys of taints begin with that Kubernetes sets by itself.
const OF_NODES: &str = "node.kubernetes.io/";
/// Nodes of a group at most.
const MOST_NODES: u32 = 10_000;

/// How the autoscaler is set: flags of cluster-autoscaler by their own names, and the groups that a
/// cloud provider would tell of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct AutoscalerSettings {
    /// `--scan-interval`: how often it looks for pods that wait; 10s unless given. Scans are at
    /// multiples of it.
    pub scan_interval: Span,
    /// `--new-pod-scale-up-delay`: pods count once they are so old; 0s unless given.
    #[serde(skip_serializing_if = "is_default")]
    pub new_pod_scale_up_delay: Span,
    /// The groups, in the order in which they are asked.
    pub node_groups: Vec<AutoscaledGroup>,
}

/// A group of nodes that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AutoscaledGroup {
    /// What the names of new nodes begin with: `spot` makes `spot-1`, `spot-2` and so on.
    pub name: String,
    /// How many nodes it has at most, 1 to 10,000.
    pub max_size: u32,
    /// How long it takes from the decision until a new node registers; 2m0s unless given.
    #[serde(default = "default_provisioning_time")]
    pub provisioning_time: Span,
    /// What its nodes are like: labels, taints, `status.allocatable`. A node of the cluster is of
    /// the group if it has all these labels, or if its name is the group's with a number.
    #[serde(default)]
    #[cfg_attr(feature = "typescript-all", tsify(type = "KubernetesNode"))]
    pub template: Node,
}

const fn default_provisioning_time() -> Span {
    Span(Duration::from_secs(120))
}

impl Default for AutoscalerSettings {
    fn default() -> Self {
        Self {
            scan_interval: Span(Duration::from_secs(10)),
            new_pod_scale_up_delay: Span::default(),
            node_groups: Vec::new(),
        }
    }
}

impl AutoscalerSettings {
    /// # Errors
    /// Names the field that is wrong, and what would be valid.
    pub fn check(&self) -> Result<(), String> {
        let interval = self.scan_interval;
        if interval.0 < LEAST_INTERVAL {
            return Err(format!(
                "autoscaler.scanInterval: invalid value {interval}: must be 1s or more, for \
                 example `10s`"
            ));
        }
        let mut names = OrderedSet::new();
        for (index, group) in self.node_groups.iter().enumerate() {
            let field = |name: &str| format!("autoscaler.nodeGroups[{index}].{name}");
            if group.name.is_empty() {
                return Err(format!("{}: a group needs a name, such as `spot`", field("name")));
            }
            if !names.insert(&group.name) {
                let name = &group.name;
                return Err(format!("{}: another group is called `{name}`", field("name")));
            }
            check_max_size(group.max_size)
                .map_err(|wrong| format!("{}: {wrong}", field("maxSize")))?;
            let template = &group.template;
            let mut errors = validate_labels(&template.metadata.labels, "metadata.labels");
            errors.extend(validate_node_taints(&template.spec.taints, "spec.taints"));
            if let Some(error) = errors.first() {
                return Err(format!("{}.{error}", field("template")));
            }
            if let Some(error) = validate_node_name(&group.node_name(1)).first() {
                return Err(format!("{}: {error}", field("name")));
            }
            let snapshot = Snapshot::new(
                SchedulerConfig::of(KubernetesRelease::default()),
                [&group.template],
                [],
            );
            snapshot.map_err(|error| format!("{}.{}", field("template"), error.error))?;
        }
        Ok(())
    }
}

/// Whether a group may have so many nodes.
///
/// # Errors
/// Says what is wrong, and what would be valid.
pub fn check_max_size(max_size: u32) -> Result<(), String> {
    match max_size {
        1..=MOST_NODES => Ok(()),
        size => Err(format!("invalid value {size}: must be 1 to {MOST_NODES}")),
    }
}

impl AutoscaledGroup {
    /// A group of nodes like this one: with its labels but that of its own name, with the taints
    /// that Kubernetes does not set by itself, and with what it has to give.
    #[must_use]
    pub fn like(node: &Node, max_size: u32) -> Self {
        let mut template = Node::default();
        template.metadata.labels.clone_from(&node.metadata.labels);
        template.metadata.labels.retain(|key, _| key != HOSTNAME);
        let taints = node.spec.taints.iter();
        template.spec.taints = taints.filter(|it| !it.key.starts_with(OF_NODES)).cloned().collect();
        for field in ["allocatable", "capacity"] {
            if let Some(amounts) = node.status.other.get(field) {
                template.status.other.set(field, amounts.clone());
            }
        }
        let name = node.metadata.name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '-');
        let name = if name.is_empty() { &node.metadata.name } else { name };
        let provisioning_time = default_provisioning_time();
        Self { name: name.to_owned(), max_size, provisioning_time, template }
    }

    fn node_name(&self, number: usize) -> String {
        format!("{}-{number}", self.name)
    }

    /// Whether a node of the cluster is of the group.
    fn has(&self, node: &Node) -> bool {
        let labels = &self.template.metadata.labels;
        let known = &node.metadata.labels;
        let labelled = labels.iter().all(|(key, value)| known.get(key) == Some(value));
        let name = node.metadata.name.strip_prefix(&self.name);
        let number = name.and_then(|rest| rest.strip_prefix('-'));
        let named = number.is_some_and(|number| number.parse::<u32>().is_ok());
        named || labelled && !labels.is_empty()
    }

    fn node(&self, name: String) -> Node {
        let mut node = self.template.clone();
        node.metadata.name = name;
        node
    }
}

/// What the autoscaler wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum AutoscalerAction {
    /// A new node registers.
    CreateNode(Node),
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
}

/// What a timer is for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Due {
    Scan,
    /// The node of that name registers, of the group with that index.
    Node(NodeName, usize),
}

/// The autoscaler. A scan is not planned where no pod waits.
#[derive(Clone, Debug)]
pub struct Autoscaler {
    settings: AutoscalerSettings,
    scheduler: SchedulerConfig,
    timers: TimerQueue<Due>,
    planned: bool,
    /// Pods for which the scheduler found no node.
    waiting: OrderedSet<PodKey>,
    /// Nodes that are under way, and their group.
    upcoming: OrderedMap<NodeName, usize>,
    /// Why no group grew for a pod, as it was said last.
    said: OrderedMap<PodKey, String>,
    actions: VecDeque<AutoscalerAction>,
}

/// How a group could grow.
struct Growth {
    group: usize,
    from: usize,
    /// The new nodes, and the pods that fit on them.
    nodes: Vec<String>,
    pods: Vec<PodKey>,
}

impl Autoscaler {
    /// An autoscaler that knows nothing yet.
    #[must_use]
    pub fn new(settings: AutoscalerSettings, scheduler: SchedulerConfig) -> Self {
        Self {
            settings,
            scheduler,
            timers: TimerQueue::default(),
            planned: false,
            waiting: OrderedSet::new(),
            upcoming: OrderedMap::new(),
            said: OrderedMap::new(),
            actions: VecDeque::new(),
        }
    }

    /// Plans the next scan, later than now.
    fn plan(&mut self, context: &mut Context<'_>) {
        if self.planned || self.settings.node_groups.is_empty() {
            return;
        }
        self.planned = true;
        let interval = self.settings.scan_interval.0.max(LEAST_INTERVAL).as_nanos();
        let next = (context.now.since_zero().as_nanos() / interval).saturating_add(1) * interval;
        let next = Timestamp::from_nanos(u64::try_from(next).unwrap_or(u64::MAX));
        self.timers.start(context.sequence, next, Due::Scan);
    }

    /// A scan. Mirrors `StaticAutoscaler.RunOnce`, without what takes nodes away.
    fn scan(&mut self, context: &mut Context<'_>) {
        let now = context.wall_clock();
        let delay = self.settings.new_pod_scale_up_delay.0;
        let is_old = |pod: &Arc<Pod>| {
            let created = pod.metadata.creation_timestamp;
            created.is_none_or(|created| created.saturating_add(delay) <= now)
        };
        let waiting = self.waiting.iter().filter_map(|key| context.cluster.get_pod(key)).cloned();
        let (mut old, young): (Vec<_>, Vec<_>) = waiting.partition(is_old);
        old.order_by_key(|pod| pod.metadata.creation_timestamp.map(|time| time.unix_seconds()));
        // What cannot be read, the scheduler has refused already.
        let grew = self.scale_up(context, old).unwrap_or(false);
        if grew || !young.is_empty() {
            self.plan(context);
        }
    }

    /// Lets the first group grow that helps; whether one does. Mirrors
    /// `ScaleUpOrchestrator.ScaleUp`.
    fn scale_up(
        &mut self,
        context: &mut Context<'_>,
        pods: Vec<Arc<Pod>>,
    ) -> Result<bool, SchedulingError> {
        let mut snapshot = self.snapshot(context.cluster)?;
        let mut pending = Vec::new();
        for pod in pods {
            // Some will fit on nodes that are there by now, or under way.
            match snapshot.place(&pod, &mut 0)?.first() {
                Some(node) => snapshot.add_pod(&bound(&pod, node))?,
                None => pending.push(pod),
            }
        }
        for group in 0..self.settings.node_groups.len() {
            let growth = self.growth(context.cluster, &snapshot, group, &pending)?;
            if let Some(growth) = growth.filter(|growth| !growth.pods.is_empty()) {
                self.grow(context, growth);
                return Ok(true);
            }
        }
        for pod in pending {
            self.say_why_not(context.cluster, &snapshot, &pod)?;
        }
        Ok(false)
    }

    /// The cluster with the nodes that are under way.
    fn snapshot(&self, cluster: &Cluster) -> Result<Snapshot, SchedulingError> {
        let nodes = cluster.nodes().map(|(_, node)| node.as_ref());
        let pods = cluster.pods().map(|(_, pod)| pod.as_ref());
        let mut snapshot = Snapshot::new(self.scheduler, nodes, pods)?;
        snapshot.set_volumes(cluster.volumes().cloned());
        for (name, group) in &self.upcoming {
            if let Some(group) = self.settings.node_groups.get(*group) {
                snapshot.set_node(&group.node(name.as_str().to_owned()))?;
            }
        }
        Ok(snapshot)
    }

    /// How many nodes a group has, with those that are under way.
    fn size(&self, cluster: &Cluster, index: usize) -> usize {
        let Some(group) = self.settings.node_groups.get(index) else { return 0 };
        let there = cluster.nodes().filter(|(_, node)| group.has(node)).count();
        there + self.upcoming.values().filter(|of| **of == index).count()
    }

    /// How a group could grow for pods; `None` if it is as large as it may be. Mirrors
    /// `BinpackingNodeEstimator.Estimate`.
    fn growth(
        &self,
        cluster: &Cluster,
        snapshot: &Snapshot,
        index: usize,
        pods: &[Arc<Pod>],
    ) -> Result<Option<Growth>, SchedulingError> {
        let from = self.size(cluster, index);
        let Some(group) = self.settings.node_groups.get(index) else { return Ok(None) };
        let most = usize::try_from(group.max_size).unwrap_or(usize::MAX);
        let mut room = most.saturating_sub(from);
        if room == 0 {
            return Ok(None);
        }
        let mut snapshot = snapshot.clone();
        let mut growth = Growth { group: index, from, nodes: Vec::new(), pods: Vec::new() };
        let is_free = |name: &String| {
            cluster.get_node(name).is_none() && !self.upcoming.contains_key(name.as_str())
        };
        let mut free = (1..).map(|number| group.node_name(number)).filter(is_free).peekable();
        for pod in pods {
            let mut found = None;
            for name in &growth.nodes {
                if fits(&snapshot, pod, name)? {
                    found = Some(name.clone());
                    break;
                }
            }
            if found.is_none()
                && room > 0
                && let Some(name) = free.peek().cloned()
            {
                let mut larger = snapshot.clone();
                larger.set_node(&group.node(name.clone()))?;
                if fits(&larger, pod, &name)? {
                    snapshot = larger;
                    room -= 1;
                    growth.nodes.push(name.clone());
                    free.next();
                    found = Some(name);
                }
            }
            if let Some(name) = found {
                snapshot.add_pod(&bound(pod, &name))?;
                growth.pods.push(pod.key());
            }
        }
        Ok(Some(growth))
    }

    fn grow(&mut self, context: &mut Context<'_>, growth: Growth) {
        let Some(group) = self.settings.node_groups.get(growth.group) else { return };
        let to = growth.from + growth.nodes.len();
        let (name, most) = (&group.name, group.max_size);
        let message =
            format!("pod triggered scale-up: [{{{name} {}->{to} (max: {most})}}]", growth.from);
        let at = context.now.saturating_add(group.provisioning_time.0);
        for pod in growth.pods {
            self.said.remove(&pod);
            self.actions.push_back(event(pod, "TriggeredScaleUp", message.clone()));
        }
        for name in growth.nodes {
            let name = NodeName::from(name.as_str());
            self.timers.start(context.sequence, at, Due::Node(name.clone(), growth.group));
            self.upcoming.insert(name, growth.group);
        }
    }

    /// Says why no group grows for a pod, unless that was said. Mirrors
    /// `EventingScaleUpStatusProcessor`.
    fn say_why_not(
        &mut self,
        cluster: &Cluster,
        snapshot: &Snapshot,
        pod: &Pod,
    ) -> Result<(), SchedulingError> {
        let mut reasons: OrderedMap<String, usize> = OrderedMap::new();
        for (index, group) in self.settings.node_groups.iter().enumerate() {
            if self.size(cluster, index) >= usize::try_from(group.max_size).unwrap_or(usize::MAX) {
                *reasons.entry("max node group size reached".into()).or_default() += 1;
                continue;
            }
            let name = group.node_name(0);
            let mut snapshot = snapshot.clone();
            snapshot.set_node(&group.node(name.clone()))?;
            let verdicts = snapshot.explain(pod, &name)?;
            if let Some(rejection) = verdicts.into_iter().find_map(|verdict| verdict.rejection) {
                for reason in rejection.reasons {
                    *reasons.entry(reason).or_default() += 1;
                }
            }
        }
        let reasons = reasons.into_iter().map(|(reason, count)| format!("{count} {reason}"));
        let message =
            format!("pod didn't trigger scale-up: {}", reasons.collect::<Vec<_>>().join(", "));
        let key = pod.key();
        if self.said.get(&key) != Some(&message) {
            self.said.insert(key.clone(), message.clone());
            self.actions.push_back(event(key, "NotTriggerScaleUp", message));
        }
        Ok(())
    }
}

impl Machine for Autoscaler {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        let matters = match change {
            Change::Pod { key, new, .. } => {
                let waits = new.as_ref().is_some_and(|pod| is_unschedulable(pod));
                if waits {
                    self.waiting.insert(key.clone());
                } else if self.waiting.remove(key) {
                    self.said.remove(key);
                }
                waits
            }
            // A group may have room again, or a node that is there is full.
            Change::Node { old, new, .. } => {
                old.is_none() != new.is_none() && !self.waiting.is_empty()
            }
            Change::Lease { .. }
            | Change::Workload { .. }
            | Change::Budget { .. }
            | Change::Volume(_)
            | Change::Device(_) => false,
        };
        if matters {
            self.plan(context);
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        match self.timers.pop_due(context.now) {
            Some(Due::Scan) => {
                self.planned = false;
                self.scan(context);
            }
            Some(Due::Node(name, group)) => {
                self.upcoming.remove(&name);
                if let Some(group) = self.settings.node_groups.get(group) {
                    let node = group.node(name.as_str().to_owned());
                    self.actions.push_back(AutoscalerAction::CreateNode(node));
                }
            }
            None => {}
        }
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.timers.next()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        self.timers.peek().map(|due| match due {
            Due::Scan => TimeoutReason::ScaleUp,
            Due::Node(node, _) => TimeoutReason::NodeProvisioned { node: node.clone() },
        })
    }

    fn next_work(&self) -> Option<WorkTicket> {
        None
    }
}

impl Controller for Autoscaler {
    type Action = AutoscalerAction;
    type Answer = ();

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<AutoscalerAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(&mut self, _: &mut Context<'_>, _: RequestId, (): ()) {}
}

/// Whether the scheduler found no node for a pod.
fn is_unschedulable(pod: &Pod) -> bool {
    let scheduled = pod.condition("PodScheduled");
    pod.spec.node_name.is_empty()
        && pod.is_active()
        && scheduled
            .is_some_and(|it| it.status == ConditionStatus::False && it.reason == "Unschedulable")
}

fn fits(snapshot: &Snapshot, pod: &Pod, node: &str) -> Result<bool, SchedulingError> {
    Ok(snapshot.explain(pod, node)?.iter().all(|verdict| verdict.rejection.is_none()))
}

fn bound(pod: &Pod, node: &str) -> Pod {
    let mut pod = pod.clone();
    pod.spec.node_name = node.to_string();
    pod
}

fn event(pod: PodKey, reason: &'static str, message: String) -> AutoscalerAction {
    AutoscalerAction::RecordEvent(RecordedEvent {
        involved_object: ObjectReference::Pod { api_version: "v1", pod },
        type_: "Normal",
        reason,
        message,
        component: "cluster-autoscaler",
    })
}
