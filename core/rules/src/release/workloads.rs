//! How the controllers of workloads other than Jobs differ between releases.

use super::KubernetesRelease;

impl KubernetesRelease {
    /// How the event `ScalingReplicaSet` words it.
    #[must_use]
    pub const fn scaling_message(self) -> ScalingMessage {
        match self.minor {
            ..25 => ScalingMessage::To,
            25..32 => ScalingMessage::ToFrom,
            _ => ScalingMessage::FromTo,
        }
    }
}

changes! {
    scaling_message = 25:
        "The event `ScalingReplicaSet` says `to 3 from 1`, no longer `to 3`.";
    scaling_message = 32: "The event `ScalingReplicaSet` says `from 1 to 3`.";
}

since! {
    /// Whether `maxSurge` of a DaemonSet counts: since 1.22, where the gate `DaemonSetUpdateSurge`
    /// is on by default (kubernetes#96441 brought it with 1.21, switched off).
    has_daemon_set_surge = 22;
    /// Whether a roll-out of a DaemonSet counts as missing what it has not on nodes with pods of
    /// it, wanted there or not, and not pods of an old template that are not available: since 1.21,
    /// which is not certain (kubernetes#96441).
    counts_nodes_of_daemon_pods = 21, believed;
    /// Whether a DaemonSet that surges asks if it wants a pod on a node before it creates one
    /// there: since 1.29 (kubernetes#119317, which late patches of 1.26 to 1.28 have too).
    daemon_set_surge_asks_for_node = 29;
    /// Whether a daemon pod that has ended and is deleted does not keep its node occupied: since
    /// 1.28 (kubernetes#118716).
    overlooks_deleted_daemon_pods_that_ended = 28;
    /// Whether a daemon pod that has ended well is replaced, as one that has failed: since 1.28
    /// (kubernetes#117073, which late patches of 1.26 and 1.27 have too).
    replaces_succeeded_daemon_pods = 28;
    /// Whether a change of a node makes a DaemonSet look again only if a pod of it is to come or to
    /// go there, or a pod is where it is not wanted: since 1.33. Before, at every change.
    daemon_sets_overlook_node_changes = 33;
    /// Whether the events of a StatefulSet about its pods begin with a capital: since 1.35.
    stateful_set_events_have_capitals = 35;
    /// Whether the annotation `controller.kubernetes.io/pod-deletion-cost` says which pods go
    /// first: since 1.22.
    has_pod_deletion_cost = 22;
    /// Whether a ReplicaSet that has too many pods compares their ages only by the whole part of
    /// the binary logarithm, and then by UID, so that not always the youngest go: since 1.22, where
    /// the gate `LogarithmicScaleDown` is on by default (KEP-2185; kubernetes#99212 brought it with
    /// 1.21, switched off).
    scales_down_by_magnitude_of_age = 22;
    /// Whether the pods of a StatefulSet carry the label `apps.kubernetes.io/pod-index`: since
    /// 1.28.
    labels_pods_with_index = 28;
    /// Whether a StatefulSet can begin at another number than 0 (`spec.ordinals.start`): since
    /// 1.27.
    has_first_ordinal = 27;
    /// Whether `maxUnavailable` of a StatefulSet counts: since 1.37, where the gate
    /// `MaxUnavailableStatefulSet` is on by default. It was in 1.35 up to 1.35.3, too, which is not
    /// mirrored.
    has_stateful_set_max_unavailable = 37;
    /// Whether the status of a StatefulSet with the strategy `OnDelete` has the new revision as the
    /// current one when all pods are of it: since 1.37 (kubernetes#136833).
    completes_updates_on_delete = 37;
    /// Whether `minReadySeconds` of a StatefulSet counts: since 1.23, where the gate
    /// `StatefulSetMinReadySeconds` is on by default.
    has_stateful_set_min_ready_seconds = 23;
    /// Whether the status of a StatefulSet counts pods as they were when it was looked at, without
    /// those that it creates and with those that it deletes then: since 1.28 (kubernetes#117865,
    /// which late patches of 1.26 and 1.27 have too). An update is over when as many as
    /// `spec.replicas` are there.
    /// The release is not certain.
    counts_stateful_pods_as_seen = 28, believed;
    /// Whether a StatefulSet replaces a pod that has ended well, as one that has failed: since
    /// 1.29.
    recreates_succeeded_pods = 29;
    /// Whether the status of ReplicaSets and Deployments has `terminatingReplicas`: since 1.35,
    /// where the gate `DeploymentReplicaSetTerminatingReplicas` is on by default.
    counts_terminating_replicas = 35;
    /// Whether the event `ScalingReplicaSet` says of each ReplicaSet that it is scaled up or down:
    /// since 1.36. Before, where a Deployment with several ones is scaled, it says of all of them
    /// that they are scaled down unless pods are added altogether.
    says_which_way_each_set_is_scaled = 36;
    /// Whether conditions carry `observedGeneration`: since 1.34.
    sets_observed_generation = 34;
    /// Whether pods have `metadata.generation`, which counts the changes of their `spec` and their
    /// deletion: since 1.33, where it was recorded.
    counts_pod_generations = 33;
    /// Whether a pod gets the labels `topology.kubernetes.io/region` and `zone` of its node when it
    /// is bound, or created with a node: since 1.35, where the gate `PodTopologyLabelsAdmission` is
    /// on by default.
    labels_pods_with_topology = 35;
}

until! {
    /// Whether a StatefulSet says that it recreates a pod that has ended, deletes it even if it is
    /// terminating and creates the next at once: to 1.30 (kubernetes#123809).
    recreates_ended_pods_at_once = 30;
}

/// How the event `ScalingReplicaSet` words it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalingMessage {
    /// `Scaled up replica set NAME to 3`.
    To,
    /// `Scaled up replica set NAME to 3 from 1`.
    ToFrom,
    /// `Scaled up replica set NAME from 1 to 3`.
    FromTo,
}
