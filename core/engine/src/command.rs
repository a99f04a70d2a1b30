//! What a user, a fault or another component does to the cluster.

mod error;
mod subject;
mod usage;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::{
    ConditionStatus, DeviceKind, DeviceObject, Node, NodeName, Pod, PodDisruptionBudget, PodKey,
    Taint, TaintEffect, Toleration, Workload, WorkloadKey,
};
use taintlab_rules::policy::drain::DrainOptions;
use taintlab_rules::time::Span;

pub use self::error::CommandError;
pub use self::subject::{CommandSubject, Requirement};
pub use self::usage::{LoadedPod, NodeLoad, NodeResources};
pub use taintlab_rules::protocol::{ApiErrorKind, NodeWrite, PodWrite};

use crate::kubelet::{KubeletConfiguration, PodMatch, PodUsage};

/// One change of the cluster. Commands are all that ever happens to a simulation from outside;
/// the same commands at the same times give the same events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Command {
    /// Creates a node.
    CreateNode(#[cfg_attr(feature = "typescript-all", tsify(type = "KubernetesNode"))] Node),
    /// Replaces a node by another version of itself, as `kubectl replace` does.
    UpdateNode(#[cfg_attr(feature = "typescript-all", tsify(type = "KubernetesNode"))] Node),
    /// Deletes a node. Its pods stay, and so do their pending evictions.
    DeleteNode {
        /// Which node.
        node: NodeName,
    },
    /// Replaces all taints of a node.
    SetTaints {
        /// Which node.
        node: NodeName,
        /// The new taints, in order.
        taints: Vec<Taint>,
    },
    /// Adds a taint as `kubectl taint --overwrite` does: in front, in place of one with the same
    /// key and effect.
    Taint {
        /// Which node.
        node: NodeName,
        /// The taint.
        taint: Taint,
    },
    /// Removes taints by key, and by effect if one is given, as `kubectl taint KEY[:EFFECT]-`.
    Untaint {
        /// Which node.
        node: NodeName,
        /// The key of the taints.
        key: String,
        /// Their effect; absent for all effects.
        #[serde(default, skip_serializing_if = "TaintEffect::is_empty")]
        effect: TaintEffect,
    },
    /// Sets `spec.unschedulable`, as `kubectl cordon` and `kubectl uncordon` do.
    SetUnschedulable {
        /// Which node.
        node: NodeName,
        /// `true` to cordon.
        unschedulable: bool,
    },
    /// Replaces all labels of a node.
    SetNodeLabels {
        /// Which node.
        node: NodeName,
        /// The new labels.
        labels: BTreeMap<String, String>,
    },
    /// Creates a pod.
    CreatePod(Pod),
    /// Replaces a pod by another version of itself. A changed UID makes it another pod of the same
    /// name that the controllers see as one update.
    UpdatePod(Pod),
    /// Deletes a pod: gracefully, or at once.
    DeletePod {
        /// Which pod.
        pod: PodKey,
        /// `true` removes the pod at once, as `kubectl delete --force --grace-period=0`.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        force: bool,
        /// How many seconds it gets instead of its own `terminationGracePeriodSeconds`, as
        /// `kubectl delete --grace-period`. A pod that is terminating already can only get less.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grace_period_seconds: Option<u32>,
    },
    /// Asks the eviction API to delete a pod, as `kubectl drain` does: a budget may forbid it.
    EvictPod {
        /// Which pod.
        pod: PodKey,
        /// How many seconds it gets instead of its own `terminationGracePeriodSeconds`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grace_period_seconds: Option<u32>,
    },
    /// Drains nodes one after the other, as `kubectl drain` does once it has cordoned them: with
    /// [`SetUnschedulable`](Self::SetUnschedulable). It goes on in time, and tells of it
    /// ([`EventKind::DrainPrinted`](crate::event::EventKind::DrainPrinted)).
    Drain {
        /// Which nodes.
        nodes: Vec<NodeName>,
        /// The flags.
        #[serde(default, skip_serializing_if = "taintlab_rules::api::is_default")]
        options: DrainOptions,
    },
    /// Ends a drain that is under way, as Ctrl+C does. What it has begun goes on.
    CancelDrain {
        /// Its number.
        drain: u64,
    },
    /// Creates a Deployment, ReplicaSet, StatefulSet, DaemonSet or Job.
    CreateWorkload(Box<Workload>),
    /// Replaces a workload by another version of itself.
    UpdateWorkload(Box<Workload>),
    /// Deletes a workload.
    DeleteWorkload {
        /// Which one.
        workload: WorkloadKey,
        /// What becomes of what it owns; `background` unless given.
        #[serde(default, skip_serializing_if = "taintlab_rules::api::is_default")]
        cascade: Cascade,
    },
    /// Sets how many pods a workload has, as `kubectl scale`.
    Scale {
        /// Which one: a Deployment, ReplicaSet or StatefulSet.
        workload: WorkloadKey,
        /// How many.
        replicas: u32,
    },
    /// Sets how long the pods of a workload take from being bound to a node to being ready: the
    /// annotation `taintlab/start-up-time`.
    SetStartUpTime {
        /// Which one.
        workload: WorkloadKey,
        /// How long; those that are starting keep their time.
        time: Span,
    },
    /// Creates a PodDisruptionBudget.
    CreateBudget(Box<PodDisruptionBudget>),
    /// Replaces a budget by another version of itself.
    UpdateBudget(Box<PodDisruptionBudget>),
    /// Deletes a budget.
    DeleteBudget {
        /// Which one, `namespace/name`.
        budget: PodKey,
    },
    /// Deletes a PersistentVolumeClaim, as `kubectl delete`: it is gone when no pod on a node uses
    /// it any longer, and then its volume is released, or deleted if its reclaim policy says so.
    DeleteClaim {
        /// Which one, `namespace/name`.
        claim: PodKey,
    },
    /// Deletes a PersistentVolume, as `kubectl delete`: it is gone when no claim is bound to it any
    /// longer.
    DeleteVolume {
        /// Its name.
        volume: String,
    },
    /// Creates an object of `resource.k8s.io`: a ResourceSlice, ResourceClaim,
    /// ResourceClaimTemplate, DeviceClass or DeviceTaintRule.
    CreateDeviceObject(Box<DeviceObject>),
    /// Replaces such an object by another version of itself. The status of a rule stays.
    UpdateDeviceObject(Box<DeviceObject>),
    /// Deletes such an object.
    DeleteDeviceObject {
        /// Its kind.
        kind: DeviceKind,
        /// `namespace/name`, or `name` alone if the kind has no namespaces.
        name: PodKey,
    },
    /// Restarts kube-apiserver with other flags: those given replace their old values. Objects that
    /// exist stay as they are.
    SetApiServerFlags {
        /// Values by name without dashes.
        flags: BTreeMap<String, String>,
    },
    /// Replaces the tolerations of a pod.
    SetTolerations {
        /// Which pod.
        pod: PodKey,
        /// The new tolerations, in order.
        tolerations: Vec<Toleration>,
    },
    /// Replaces all labels of a pod.
    SetPodLabels {
        /// Which pod.
        pod: PodKey,
        /// The new labels.
        labels: BTreeMap<String, String>,
    },
    /// Binds a pod that has no node to a node.
    BindPod {
        /// Which pod.
        pod: PodKey,
        /// To which node.
        node: NodeName,
    },
    /// Makes the API server refuse writes to a pod with an error, a number of times. A `delete`
    /// that is refused is that of the taint-eviction controller, the node lifecycle controller, the
    /// scheduler that preempts, and of users, whether it is a `DELETE` or an eviction; an eviction
    /// of the descheduler, too. What is refused has not asked any budget.
    FailPodWrites {
        /// Which pod.
        pod: PodKey,
        /// Which kind of write.
        verb: PodWrite,
        /// How many times from now on; zero ends it.
        times: u32,
        /// With what error.
        #[serde(default)]
        error: ApiErrorKind,
    },
    /// Restarts the taint-eviction controller: its timers and its memory are lost, and it sees all
    /// nodes and pods as new.
    RestartTaintEvictionController,
    /// Stops the kubelet of a node: it sends no heartbeats and receives no changes, and pods that
    /// are deleted stay `Terminating`. Their containers keep running.
    StopKubelet {
        /// Which node.
        node: NodeName,
    },
    /// Starts the kubelet of a node: it posts the node's status, renews the lease, and catches up
    /// on missed changes. A node that is off starts first.
    StartKubelet {
        /// Which node.
        node: NodeName,
    },
    /// Restarts a kubelet that runs: as a start, so that it posts its status at once and its
    /// heartbeats count from now on.
    RestartKubelet {
        /// Which node.
        node: NodeName,
    },
    /// Stops and starts the kubelet of a node in turn, beginning with a stop.
    FlapKubelet {
        /// Which node.
        node: NodeName,
        /// How long it is down each time.
        down: Span,
        /// How long it is up in between.
        up: Span,
        /// How often it goes down; forever unless given, or until it is started or stopped by
        /// hand.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        times: Option<u32>,
    },
    /// Shuts the machine of a node down. If its kubelet is set so (`shutdownGracePeriod` and
    /// `shutdownGracePeriodByPodPriority` of its KubeletConfiguration), it posts that the node is
    /// not ready, refuses pods, and ends those there are first; else everything on the node ends
    /// with it and nothing is said, as when the power fails. The node stays off until its kubelet
    /// is started; then what is to run on it starts again.
    ShutDownNode {
        /// Which node.
        node: NodeName,
        /// `shutdownGracePeriod` if the kubelet's configuration has no period; absent to shut the
        /// node down at once then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shutdown_grace_period: Option<Span>,
        /// `shutdownGracePeriodCriticalPods` with that; 0s unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shutdown_grace_period_critical_pods: Option<Span>,
    },
    /// Cancels the shutdown of a node whose pods are ending. The kubelet ends them all the same,
    /// and then goes on.
    CancelShutdown {
        /// Which node.
        node: NodeName,
    },
    /// Cuts the power of a node: everything on it ends at once, whatever its kubelet is set to do.
    PowerOffNode {
        /// Which node.
        node: NodeName,
    },
    /// Cuts a node off the API server. Its kubelet runs on without a connection to the
    /// API server.
    CutNetwork {
        /// Which node.
        node: NodeName,
    },
    /// Ends [`CutNetwork`](Self::CutNetwork). The kubelet reports at once.
    RestoreNetwork {
        /// Which node.
        node: NodeName,
    },
    /// Cuts all nodes of a zone off the API server, also those that come into it later.
    CutZoneNetwork {
        /// Which zone: `region/zone`, or `zone` if that is the only one; empty for nodes without
        /// these labels.
        zone: String,
    },
    /// Ends [`CutZoneNetwork`](Self::CutZoneNetwork). Nodes that are cut off by themselves stay so.
    RestoreZoneNetwork {
        /// Which zone.
        zone: String,
    },
    /// Creates a node whose kubelet is not running: nobody posts its status.
    RegisterNode {
        /// The node.
        #[cfg_attr(feature = "typescript-all", tsify(type = "KubernetesNode"))]
        node: Node,
        /// How much later its kubelet starts; unless given, when it is told to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kubelet_starts_after: Option<Span>,
    },
    /// What the kubelet of a node finds about it from now on. If it can, it posts that at once;
    /// otherwise when it is back.
    SetNodeCondition {
        /// Which node.
        node: NodeName,
        /// The type, for example `Ready` or `MemoryPressure`.
        #[serde(rename = "type")]
        type_: String,
        /// `True`, `False` or `Unknown`.
        status: ConditionStatus,
        /// Why, in one word; Kubernetes' own unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Why, in a sentence; Kubernetes' own unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Restarts kube-controller-manager: the node lifecycle controller and the taint-eviction
    /// controller lose their timers, queues and memory, and see everything as new.
    RestartControllerManager,
    /// Says what a node has, so that its kubelet begins to watch over it.
    SetNodeResources(Box<NodeResources>),
    /// Makes the system of a node use something from now on, in place of what it used of that.
    LoadNode(NodeLoad),
    /// Says what some pods use, those there are and those to come, over the time since each
    /// started. Of several such commands the last one that matches a pod counts.
    SetPodUsage {
        /// Which pods.
        pods: PodMatch,
        /// What they use. A container without a name stands for the first one of a pod.
        usage: PodUsage,
    },
    /// Makes a running pod use something from now on, in place of what it used of that. Another
    /// pod that replaces it does not.
    LoadPod(LoadedPod),
    /// Restarts the kubelet of a node with other settings of eviction and of shutdowns.
    ConfigureKubelet {
        /// Which node.
        node: NodeName,
        /// Its KubeletConfiguration; that of the simulation unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        configuration: Option<Box<KubeletConfiguration>>,
        /// Its flags by name without dashes, for example `eviction-hard`; they count before the
        /// configuration.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        flags: BTreeMap<String, String>,
    },
    /// Makes the API server refuse writes of the node lifecycle controller to a node with an
    /// error, a number of times.
    FailNodeWrites {
        /// Which node.
        node: NodeName,
        /// Which kind of write.
        write: NodeWrite,
        /// How many times from now on; zero ends it.
        times: u32,
        /// With what error.
        #[serde(default)]
        error: ApiErrorKind,
    },
}

impl Command {
    /// Shuts a node down whose kubelet waits for its pods: unless its configuration says otherwise,
    /// 30 seconds, of which the last 10 are for critical pods, as in the documentation of
    /// Kubernetes ("Graceful node shutdown").
    #[must_use]
    pub const fn shut_down_gracefully(node: NodeName) -> Self {
        Self::ShutDownNode {
            node,
            shutdown_grace_period: Some(Span(Duration::from_secs(30))),
            shutdown_grace_period_critical_pods: Some(Span(Duration::from_secs(10))),
        }
    }
}

/// What becomes of the objects that a deleted workload owned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum Cascade {
    /// They are deleted after it.
    #[default]
    Background,
    /// They stay, without an owner.
    Orphan,
}
