//! What happens in a simulation: its output.

mod display;
mod visibility;

pub use self::display::EventSubject;
pub use self::visibility::EventVisibility;

use alloc::string::String;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::{ConditionStatus, NodeName, PodKey, Taint, Toleration, WorkloadKey};
use taintlab_rules::policy::admission::Addition;
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState};
use taintlab_rules::protocol::{ApiErrorKind, NodeWrite};
use taintlab_rules::time::Timestamp;

pub use taintlab_rules::protocol::{
    ObjectReference, RecordedEvent, RequestResult, RequestVerb, Timeout, TimeoutReason,
    UnreachableCause,
};

use crate::controllers::device_taint_eviction::DeviceEviction;
use crate::controllers::node_lifecycle::DequeueOutcome;
use crate::controllers::taint_eviction::Decision;

/// Something that happened, with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "SimulationEvent"))]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript-all", tsify(type = "EventKind"))]
    pub what: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EventKind {
    /// A component recorded a Kubernetes Event.
    EventRecorded(RecordedEvent),
    /// A node is there that was not.
    NodeAdded {
        /// Which one.
        node: NodeName,
    },
    /// A node has changed.
    NodeUpdated {
        /// Which one.
        node: NodeName,
    },
    /// A node is gone.
    NodeDeleted {
        /// Which one.
        node: NodeName,
    },
    /// A pod is there that was not.
    PodAdded {
        /// Which one.
        pod: PodKey,
        /// Its UID.
        uid: String,
    },
    /// A pod has changed.
    PodUpdated {
        /// Which one.
        pod: PodKey,
        /// Its UID.
        uid: String,
    },
    /// A pod is gone.
    PodDeleted {
        /// Which one.
        pod: PodKey,
        /// Its UID.
        uid: String,
    },
    /// A controller sent a request to the API server.
    Request {
        /// About which pod.
        pod: PodKey,
        /// The UID of the pod there; empty if there is none.
        #[serde(skip_serializing_if = "String::is_empty")]
        #[cfg_attr(feature = "typescript-all", tsify(optional))]
        uid: String,
        /// What was asked.
        verb: RequestVerb,
        /// What came back.
        result: RequestResult,
    },
    /// The taint-eviction controller looked at a pod and decided.
    Decided(Decision),
    /// The device taint eviction controller plans the eviction of a pod.
    DeviceEvictionPlanned {
        /// Which pod.
        pod: PodKey,
        /// The device whose taint evicts it, and when.
        eviction: DeviceEviction,
    },
    /// The taint-eviction controller looked at a node: the `NoExecute` taints it knows from now on.
    NodeEvaluated {
        /// Which node.
        node: NodeName,
        /// Which of the 8 workers does it.
        shard: u8,
        /// Its `NoExecute` taints.
        taints: alloc::vec::Vec<Taint>,
    },
    /// The taint-eviction controller restarted; this many timers were lost.
    TaintEvictionControllerRestarted {
        /// How many pending evictions were forgotten.
        timers_lost: usize,
    },
    /// kube-controller-manager restarted: its controllers know nothing any more.
    ControllerManagerRestarted,
    /// The API server no longer receives heartbeats of a node.
    HeartbeatLost {
        /// Which node.
        node: NodeName,
        /// Why.
        cause: UnreachableCause,
    },
    /// The API server receives heartbeats of a node again.
    HeartbeatResumed {
        /// Which node.
        node: NodeName,
    },
    /// A condition of a node has changed.
    NodeConditionChanged {
        /// Which node.
        node: NodeName,
        /// The type of the condition.
        condition: String,
        /// Its status before; empty if there was none.
        from: ConditionStatus,
        /// Its status now; empty if there is none any more.
        to: ConditionStatus,
        /// Why, in one word.
        reason: String,
    },
    /// The node lifecycle controller changed the taints of a node.
    NodeTaintsChanged {
        /// Which node.
        node: NodeName,
        /// The new ones.
        added: alloc::vec::Vec<Taint>,
        /// Those that are gone.
        removed: alloc::vec::Vec<Taint>,
    },
    /// The node lifecycle controller sent a request about a node to the API server, and it was
    /// refused.
    NodeWriteRefused {
        /// Which node.
        node: NodeName,
        /// What was to be written.
        write: NodeWrite,
        /// The error.
        error: ApiErrorKind,
    },
    /// All attempts to write the status of a node failed: this health pass leaves it out.
    NodeSkipped {
        /// Which node.
        node: NodeName,
    },
    /// A node waits to be tainted, or without the taint manager for its pods to be deleted.
    NodeQueued {
        /// Which node.
        node: NodeName,
        /// The zone whose queue it is in.
        zone: ZoneKey,
    },
    /// A node was dequeued.
    NodeDequeued {
        /// Which node.
        node: NodeName,
        /// The zone whose queue it was in.
        zone: ZoneKey,
        /// What came of it.
        #[cfg_attr(feature = "typescript-all", tsify(type = "DequeueOutcome"))]
        outcome: DequeueOutcome,
    },
    /// A zone came into another state.
    ZoneStateChanged {
        /// Which zone.
        zone: ZoneKey,
        /// The state before; absent for a zone that was not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<ZoneState>,
        /// The state now; absent for a zone whose nodes are all gone.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<ZoneState>,
        /// How many of its nodes are not ready.
        not_ready: usize,
        /// How many of its nodes count.
        total: usize,
    },
    /// The rate at which nodes of a zone are tainted has changed.
    ZoneRateChanged {
        /// Which zone.
        zone: ZoneKey,
        /// Nodes per second; zero if the zone is stopped.
        rate: NodesPerSecond,
    },
    /// The eviction manager of a kubelet did or saw something that no Kubernetes Event tells.
    KubeletEviction {
        /// Which node.
        node: NodeName,
        /// What.
        #[cfg_attr(feature = "typescript-all", tsify(type = "KubeletReport"))]
        report: crate::kubelet::EvictionManagerReport,
    },
    /// A node is shut down, is off, or has started again.
    NodeShutdown {
        /// Which node.
        node: NodeName,
        /// What.
        report: crate::kubelet::NodeShutdownReport,
    },
    /// No node of the cluster is ready: all evictions stop, and the `NoExecute` taints of the node
    /// lifecycle controller come off.
    MasterDisruptionEntered,
    /// Some node is ready again: evictions go on, and every node gets a new grace period.
    MasterDisruptionLeft,
    /// A workload is there that was not.
    WorkloadAdded {
        /// Which one.
        workload: WorkloadKey,
    },
    /// A workload has changed.
    WorkloadUpdated {
        /// Which one.
        workload: WorkloadKey,
    },
    /// A workload is gone.
    WorkloadDeleted {
        /// Which one.
        workload: WorkloadKey,
    },
    /// Pods name a workload as their controller that nobody gave. It is assumed to want as many
    /// pods as there are.
    #[serde(rename = "ownerAssumed")]
    OwnerInferred {
        /// Which one.
        workload: WorkloadKey,
        /// How many pods it is assumed to want.
        desired: i64,
    },
    /// Admission, or the DaemonSet controller, gave a new pod tolerations.
    PodAdmitted {
        /// Which pod.
        pod: PodKey,
        /// What was added, by whom and why.
        additions: alloc::vec::Vec<Addition<Toleration>>,
    },
    /// Admission gave a new node a taint.
    NodeAdmitted {
        /// Which node.
        node: NodeName,
        /// What was added, by whom and why.
        addition: Addition<Taint>,
    },
    /// A budget was created, changed or deleted.
    BudgetChanged {
        /// Which one, `namespace/name`.
        budget: PodKey,
        /// Whether it is gone.
        deleted: bool,
    },
    /// A `kubectl drain` began.
    DrainStarted {
        /// Its number.
        drain: u64,
    },
    /// A `kubectl drain` printed a line.
    DrainPrinted {
        /// Its number.
        drain: u64,
        /// Whether it goes to the standard error output.
        is_error: bool,
        /// The line.
        line: String,
    },
    /// A `kubectl drain` has ended.
    DrainEnded {
        /// Its number.
        drain: u64,
        /// Whether some node was not drained.
        failed: bool,
    },
    /// A volume was detached from a node.
    VolumeDetached {
        /// Which PersistentVolume.
        volume: String,
        /// Which node.
        node: NodeName,
        /// Whether the kubelet of the node may still have it mounted.
        forced: bool,
    },
    /// A controller deleted a pod that a budget protects. Whoever deletes does not ask budgets;
    /// only the eviction API does, and it would have refused.
    BudgetNotAsked {
        /// Which pod.
        pod: PodKey,
        /// Which budget.
        budget: PodKey,
    },
}

/// A rate as a flag gives it; never NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(transparent)]
pub struct NodesPerSecond(
    #[serde(serialize_with = "taintlab_rules::protocol::zone::as_flag")] pub f32,
);

/// Flags do not take NaN, so that every rate is equal to itself.
impl Eq for NodesPerSecond {}

impl core::fmt::Display for NodesPerSecond {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}
