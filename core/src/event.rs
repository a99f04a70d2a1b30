//! What happens in a simulation: its output.

use alloc::string::String;
use core::time::Duration;

use serde::Serialize;

use crate::api::{NodeName, PodKey, Taint};
use crate::command::ApiErrorKind;
use crate::node_lifecycle::zone::ZoneKey;
use crate::taint_eviction::Decision;
use crate::time::Timestamp;

/// Something that happened, with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Happening {
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
        uid: String,
        /// What was asked.
        verb: RequestVerb,
        /// What came back.
        result: RequestResult,
    },
    /// The taint-eviction controller looked at a pod and decided.
    Decided(Decision),
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
}

/// A Kubernetes Event (`v1.Event`), as a component records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedEvent {
    /// The object it is about.
    pub involved_object: ObjectReference,
    /// `Normal` or `Warning`.
    #[serde(rename = "eventType")]
    pub type_: &'static str,
    /// Why, in one word.
    pub reason: &'static str,
    /// The message.
    pub message: String,
    /// `source.component`: who recorded it.
    pub component: &'static str,
}

/// `v1.ObjectReference`: the object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum ObjectReference {
    /// A pod.
    Pod {
        /// `apiVersion`, if the component fills it in.
        #[serde(skip_serializing_if = "str::is_empty")]
        api_version: &'static str,
        /// Namespace and name.
        pod: PodKey,
    },
    /// A node.
    Node {
        /// Its name.
        node: NodeName,
    },
}

/// What a controller asked of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RequestVerb {
    /// `GET` of a pod, before its status is patched.
    Get,
    /// `PATCH` of a pod's status: the condition `DisruptionTarget`.
    PatchStatus,
    /// `DELETE` of a pod.
    Delete,
}

/// What the API server answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase", tag = "answer", content = "error")]
pub enum RequestResult {
    /// Done.
    Ok,
    /// Accepted, but the pod was terminating already.
    AlreadyTerminating,
    /// 404.
    NotFound,
    /// It was made to fail.
    Error(ApiErrorKind),
}

impl RequestResult {
    /// Whether the request succeeded.
    #[must_use]
    pub fn is_ok(self) -> bool {
        matches!(self, Self::Ok | Self::AlreadyTerminating)
    }
}

/// The next moment at which a simulation or a controller wants to be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeout {
    /// When.
    pub at: Timestamp,
    /// What for.
    pub reason: TimeoutReason,
}

/// Why a moment matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TimeoutReason {
    /// Changes wait to be looked at: call at once.
    WorkQueued,
    /// A pod's tolerated time is over.
    EvictionDue {
        /// Which pod.
        pod: PodKey,
    },
    /// A failed delete is tried again.
    RetryDelete {
        /// Which pod.
        pod: PodKey,
        /// Which attempt just failed, from 1.
        attempt: u8,
    },
    /// A terminating pod's grace period ends.
    GracePeriodOver {
        /// Which pod.
        pod: PodKey,
        /// How long it was.
        grace: Duration,
    },
    /// The node lifecycle controller's health pass has something to do.
    MonitorNodeHealth,
    /// The node lifecycle controller tries once more to write the status of a node.
    RetryNodeStatus,
    /// The node lifecycle controller looks once more at a pod that was bound to a node.
    RetryPod {
        /// Which pod.
        pod: PodKey,
    },
    /// A zone has a token for a node that waits to be tainted (or drained).
    TaintingPass {
        /// The key of the zone.
        zone: ZoneKey,
    },
}
