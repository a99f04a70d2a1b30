//! The attach-detach controller: volumes go to the nodes whose pods use them, and away from the
//! others once their kubelets have unmounted them, or after six minutes.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{ConditionStatus, Node, NodeName, Pod, PodKey, TaintEffect, pod_claims};
use taintlab_rules::cluster::{Change, Cluster, VolumeChange, Volumes};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::protocol::{ObjectReference, RecordedEvent, RequestId, TimeoutReason};
use taintlab_rules::queue::timer_queue::{TimerId, TimerQueue};
use taintlab_rules::queue::work_queue::NumberedWorkQueue;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Timestamp;

use super::{Context, Controller, Machine, WorkTicket};

/// How long a volume stays attached that a node may have mounted and no pod uses any more. Mirrors
/// `ReconcilerMaxWaitForUnmountDuration`.
pub const MAX_WAIT_FOR_UNMOUNT: Duration = Duration::from_secs(6 * 60);
/// The taint by which an administrator says that a node is down for good.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// What the controller wants done. The result of none matters to it: what comes of it, a watch
/// tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachDetachAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// Attach a volume to a node.
    Attach {
        /// Which volume.
        volume: String,
        /// Which node.
        node: NodeName,
    },
    /// Detach a volume from a node.
    Detach {
        /// Which volume.
        volume: String,
        /// Which node.
        node: NodeName,
        /// Whether its kubelet may still have the volume mounted.
        forced: bool,
    },
}

/// The attach-detach controller. Mirrors `pkg/controller/volume/attachdetach`.
///
/// Drivers attach and detach at once. Upstream's reconciler looks around every 100 ms; here it
/// looks at a volume when something has changed that matters to it, or its time is over.
#[derive(Clone, Debug)]
pub struct AttachDetachController {
    release: KubernetesRelease,
    /// The pods that use each volume, with their nodes. Mirrors `DesiredStateOfWorld`.
    users: OrderedMap<String, OrderedMap<PodKey, NodeName>>,
    /// What each pod uses.
    used: OrderedMap<PodKey, OrderedSet<String>>,
    /// The pods on nodes whose volumes name a claim.
    pods_by_claim: OrderedMap<PodKey, OrderedSet<PodKey>>,
    /// Since when a volume is no longer wanted on a node.
    unwanted: OrderedMap<(String, NodeName), Unwanted>,
    /// Where it was said already that a volume is attached elsewhere.
    reported: OrderedSet<(String, NodeName)>,
    queue: NumberedWorkQueue<String>,
    timers: TimerQueue<String>,
    actions: VecDeque<AttachDetachAction>,
}

/// A volume that is attached where no pod uses it.
#[derive(Clone, Copy, Debug)]
struct Unwanted {
    since: Timestamp,
    timer: TimerId,
}

impl AttachDetachController {
    /// A controller that knows nothing yet: tell it of all pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        Self {
            release,
            users: OrderedMap::new(),
            used: OrderedMap::new(),
            pods_by_claim: OrderedMap::new(),
            unwanted: OrderedMap::new(),
            reported: OrderedSet::new(),
            queue: NumberedWorkQueue::default(),
            timers: TimerQueue::default(),
            actions: VecDeque::new(),
        }
    }

    /// Tells it of the volumes that are attached at the beginning.
    pub fn bootstrap(&mut self, context: &mut Context<'_>) {
        let Some(volumes) = context.cluster.volumes() else { return };
        for ((volume, _), _) in volumes.attachments() {
            self.queue.push(context.sequence, volume.clone());
        }
    }

    fn observe_pod(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        let claims = |pod: Option<&Pod>| pod.map(pod_claims).unwrap_or_default();
        let (before, after) = (claims(old), claims(new.filter(|pod| uses_volumes(pod))));
        if before.is_empty() && after.is_empty() {
            return;
        }
        for claim in before {
            if let Some(pods) = self.pods_by_claim.get_mut(&claim) {
                pods.remove(key);
                if pods.is_empty() {
                    self.pods_by_claim.remove(&claim);
                }
            }
        }
        for claim in after {
            self.pods_by_claim.entry(claim).or_default().insert(key.clone());
        }
        self.update_pod(context, key);
    }

    /// What a pod uses, as it is now.
    fn update_pod(&mut self, context: &mut Context<'_>, key: &PodKey) {
        let Some(volumes) = context.cluster.volumes() else { return };
        let pod = context.cluster.get_pod(key).filter(|pod| uses_volumes(pod));
        let node = pod.map(|pod| NodeName::from(pod.spec.node_name.as_str()));
        let mut now = OrderedSet::new();
        if let Some(pod) = pod {
            now.extend(volumes.attachable_of(pod).map(|volume| volume.metadata.name.clone()));
        }
        let before = self.used.remove(key).unwrap_or_default();
        for volume in before.difference(&now) {
            if let Some(users) = self.users.get_mut(volume) {
                users.remove(key);
                if users.is_empty() {
                    self.users.remove(volume);
                }
            }
            self.queue.push(context.sequence, volume.clone());
        }
        for volume in &now {
            if let Some(node) = &node {
                let users = self.users.entry(volume.clone()).or_default();
                if users.insert(key.clone(), node.clone()).as_ref() != Some(node) {
                    self.queue.push(context.sequence, volume.clone());
                }
            }
        }
        if !now.is_empty() {
            self.used.insert(key.clone(), now);
        }
    }

    /// A node has changed: whether it is ready, or out of service.
    fn observe_node(&mut self, context: &mut Context<'_>, name: &NodeName) {
        let on_node = self.unwanted.keys().filter(|(_, node)| node == name);
        let volumes: Vec<String> = on_node.map(|(volume, _)| volume.clone()).collect();
        for volume in volumes {
            self.queue.push(context.sequence, volume);
        }
    }

    /// When a volume that no pod of a node uses is detached although it may be mounted there, if
    /// nothing happens before.
    #[must_use]
    pub fn forced_at(&self, cluster: &Cluster, volume: &str, node: &NodeName) -> Option<Timestamp> {
        let unwanted = self.unwanted.get(&(volume.to_string(), node.clone()))?;
        let is_healthy = cluster.get_node(node.as_str()).is_some_and(|node| is_ready(node))
            && self.release.detaches_by_force_from_unhealthy_nodes_only();
        (!is_healthy).then(|| unwanted.since.saturating_add(MAX_WAIT_FOR_UNMOUNT))
    }

    /// The pods on a node that use a volume, by name.
    pub fn users_on(&self, volume: &str, node: &NodeName) -> impl Iterator<Item = &PodKey> {
        let users = self.users.get(volume).into_iter().flatten();
        users.filter(move |(_, on)| *on == node).map(|(pod, _)| pod)
    }

    /// Looks at one volume: detaches first, so that it can go elsewhere. Mirrors
    /// `reconciler.reconcile`.
    fn reconcile(&mut self, context: &mut Context<'_>, volume: &str) {
        let Some(volumes) = context.cluster.volumes() else { return };
        let attached: Vec<NodeName> = volumes.nodes_of(volume).cloned().collect();
        for node in &attached {
            if self.users_on(volume, node).next().is_some() {
                self.forget_unwanted(volume, node);
            } else if self.consider_detaching(context, volumes, volume, node) {
                // What is under way is waited for; its end is a change.
                return;
            }
        }
        self.attach_where_wanted(volumes, volume, &attached);
    }

    fn forget_unwanted(&mut self, volume: &str, node: &NodeName) {
        if let Some(known) = self.unwanted.remove(&(volume.to_string(), node.clone())) {
            self.timers.stop(&known.timer);
        }
    }

    /// No pod uses the volume on the node any more; whether it is detached now.
    fn consider_detaching(
        &mut self,
        context: &mut Context<'_>,
        volumes: &Volumes,
        volume: &str,
        node: &NodeName,
    ) -> bool {
        let key = (volume.to_string(), node.clone());
        let since = self.unwanted.get(&key).map_or(context.now, |unwanted| unwanted.since);
        let object = context.cluster.get_node(node.as_str());
        let over = since.saturating_add(MAX_WAIT_FOR_UNMOUNT);
        let is_healthy = object.is_some_and(|node| is_ready(node))
            && self.release.detaches_by_force_from_unhealthy_nodes_only();
        let forced = over <= context.now && !is_healthy;
        let out_of_service = self.release.has_out_of_service_taint()
            && object.is_some_and(|node| is_out_of_service(node));
        let mounted = volumes.is_in_use(volume, node.as_str());
        if mounted && !forced && !out_of_service {
            if !self.unwanted.contains_key(&key) {
                let timer = self.timers.start(context.sequence, over, volume.to_string());
                self.unwanted.insert(key, Unwanted { since, timer });
            }
            return false;
        }
        self.forget_unwanted(volume, node);
        let (volume, node) = key;
        self.actions.push_back(AttachDetachAction::Detach { volume, node, forced: mounted });
        true
    }

    /// Mirrors `reconciler.attachDesiredVolumes`.
    fn attach_where_wanted(&mut self, volumes: &Volumes, volume: &str, attached: &[NodeName]) {
        let Some(object) = volumes.persistent_volume(volume) else { return };
        let wanted: OrderedSet<NodeName> =
            self.users.get(volume).into_iter().flat_map(OrderedMap::values).cloned().collect();
        for node in wanted.into_iter().filter(|node| !attached.contains(node)) {
            let here = (volume.to_string(), node.clone());
            if object.is_exclusive() && !attached.is_empty() {
                if self.reported.insert(here) {
                    self.report_multi_attach(volume, &node);
                }
                continue;
            }
            self.reported.remove(&here);
            let pods: Vec<PodKey> = self.users_on(volume, &node).cloned().collect();
            self.actions.push_back(AttachDetachAction::Attach { volume: here.0, node });
            // What the generated message has after the name of the volume is empty.
            let message = format!("AttachVolume.Attach succeeded for volume \"{volume}\" ");
            for pod in pods {
                self.record(pod, "Normal", "SuccessfulAttachVolume", message.clone());
            }
            if object.is_exclusive() {
                // The others see it attached.
                return;
            }
        }
    }

    /// Tells the pods on a node why their volume does not come. Mirrors `reportMultiAttachError`.
    fn report_multi_attach(&mut self, volume: &str, node: &NodeName) {
        let others: Vec<PodKey> = self
            .users
            .get(volume)
            .into_iter()
            .flatten()
            .filter(|(_, on)| *on != node)
            .map(|(pod, _)| pod.clone())
            .collect();
        let pods: Vec<PodKey> = self.users_on(volume, node).cloned().collect();
        for pod in pods {
            let here = others.iter().filter(|other| other.namespace() == pod.namespace());
            let here: Vec<&str> = here.map(PodKey::name).collect();
            let elsewhere = others.len() - here.len();
            let why = match (here.is_empty(), elsewhere) {
                (true, 0) => "Volume is already exclusively attached to one node and can't be \
                              attached to another"
                    .to_string(),
                (true, count) => {
                    format!("Volume is already used by {count} pod(s) in different namespaces")
                }
                (false, 0) => format!("Volume is already used by pod(s) {}", here.join(", ")),
                (false, count) => format!(
                    "Volume is already used by pod(s) {} and {count} pod(s) in different \
                     namespaces",
                    here.join(", ")
                ),
            };
            let message = format!("Multi-Attach error for volume \"{volume}\" {why}");
            self.record(pod, "Warning", "FailedAttachVolume", message);
        }
    }

    fn record(&mut self, pod: PodKey, type_: &'static str, reason: &'static str, message: String) {
        self.actions.push_back(AttachDetachAction::RecordEvent(RecordedEvent {
            involved_object: ObjectReference::Pod { api_version: "v1", pod },
            type_,
            reason,
            message,
            component: "attachdetach-controller",
        }));
    }
}

/// Whether a pod uses its volumes where it is: until its containers have ended, which is long after
/// it was deleted if its kubelet is lost. Mirrors `DetermineVolumeAction`.
fn uses_volumes(pod: &Pod) -> bool {
    !pod.spec.node_name.is_empty() && !pod.has_ended()
}

/// Mirrors `nodeutil.IsNodeReady`, as `nodeIsHealthy` asks it.
fn is_ready(node: &Node) -> bool {
    node.condition("Ready").is_some_and(|ready| ready.status == ConditionStatus::True)
}

/// Mirrors `taintutils.TaintKeyExists`, as `hasOutOfServiceTaint` asks it.
fn is_out_of_service(node: &Node) -> bool {
    node.spec.taints.iter().any(|taint| {
        taint.key == OUT_OF_SERVICE
            && matches!(taint.effect, TaintEffect::NoExecute | TaintEffect::NoSchedule)
    })
}

impl Machine for AttachDetachController {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        if context.cluster.volumes().is_none() {
            return;
        }
        match change {
            Change::Node { name, .. } => self.observe_node(context, name),
            Change::Pod { key, old, new } => {
                self.observe_pod(context, key, old.as_deref(), new.as_deref());
            }
            Change::Volume(VolumeChange::Claim(claim)) => {
                for pod in self.pods_by_claim.get(claim).cloned().unwrap_or_default() {
                    self.update_pod(context, &pod);
                }
            }
            Change::Volume(
                VolumeChange::PersistentVolume(volume)
                | VolumeChange::Attachment { volume, .. }
                | VolumeChange::InUse { volume, .. },
            ) => self.queue.push(context.sequence, volume.clone()),
            Change::Workload { .. }
            | Change::Lease { .. }
            | Change::Budget { .. }
            | Change::Device(_) => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        if let Some(volume) = self.timers.pop_due(context.now) {
            self.reconcile(context, &volume);
        } else if let Some(volume) = self.queue.pop() {
            self.reconcile(context, &volume);
        }
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.timers.next()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        Some(TimeoutReason::DetachVolume { volume: self.timers.peek()?.clone() })
    }

    /// After the scheduler, which decides where volumes are wanted.
    fn next_work(&self) -> Option<WorkTicket> {
        self.queue.first().map(|number| (3, number))
    }
}

impl Controller for AttachDetachController {
    type Action = AttachDetachAction;
    type Answer = ();

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<AttachDetachAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(&mut self, _: &mut Context<'_>, _: RequestId, (): ()) {}
}
