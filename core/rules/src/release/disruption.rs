//! How budgets, evictions by the API and pod garbage collection differ between releases.

use super::KubernetesRelease;

since! {
    /// Whether budgets are served as `policy/v1`, where an empty selector selects all pods of the
    /// namespace, not none: since 1.21.
    has_policy_v1 = 21;
    /// Whether a pod that is not ready may be evicted as long as a budget has enough that are:
    /// since 1.20 (kubernetes#94381). Before, it counts as if it were ready.
    evicts_unready_pods_within_budgets = 20;
    /// Whether a budget over pods without a controller leaves them out where it needs the scale of
    /// controllers: since 1.22 (kubernetes#103414). Before, it cannot be worked out.
    leaves_out_unmanaged_pods = 22;
    /// Whether an event says so of such a budget: since 1.27 (kubernetes#115861).
    warns_of_unmanaged_pods = 27;
    /// Whether a budget over pods of Jobs or DaemonSets names the resource that has no scale, in
    /// place of *found no controllers*: since 1.21.
    names_missing_scale = 21;
    /// Whether budgets have the condition `DisruptionAllowed`: since 1.21 (kubernetes#98127).
    has_budget_conditions = 21;
    /// Whether a refused eviction says that a budget does not allow it now where enough pods are
    /// healthy, and that its last sync has failed if it has: since 1.35 (kubernetes#133097).
    /// Before, it always says how many healthy pods the budget needs.
    says_why_eviction_is_refused = 35;
    /// Whether an eviction that is forbidden by a status that cannot be has the cause
    /// `DisruptionBudget`, as other refusals do: since 1.37 (kubernetes#138003).
    tells_cause_of_forbidden_evictions = 37;
    /// Whether no event says that a budget's pods have a controller that is not there or has no
    /// scale: since 1.22, and in 1.21.1. `CalculateExpectedPodCountFailed` says it, too.
    omits_event_about_missing_controllers = 22;
    /// Whether budgets have `unhealthyPodEvictionPolicy`: since 1.27, where the gate
    /// `PDBUnhealthyPodEvictionPolicy` is on by default.
    has_unhealthy_pod_eviction_policy = 27;
    /// Whether the taint `node.kubernetes.io/out-of-service` frees the terminating pods and the
    /// volumes of a node that was shut down: since 1.26, where the gate
    /// `NodeOutOfServiceVolumeDetach` is on by default.
    has_out_of_service_taint = 26;
    /// Whether the garbage collector deletes pods that a kubelet has evicted before other pods that
    /// have ended: since 1.27.
    collects_evicted_pods_first = 27;
    /// Whether a volume is detached by force, six minutes after its pods are gone, only from a node
    /// that is not healthy: since 1.25 (kubernetes#110721, which late patches of 1.24 have too).
    /// Before, from any.
    detaches_by_force_from_unhealthy_nodes_only = 25;
}
