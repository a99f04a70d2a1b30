//! How the node lifecycle controller differs between releases.

use super::KubernetesRelease;

impl KubernetesRelease {
    /// The default of `--node-monitor-grace-period` in seconds: 40, and 50 since 1.32
    /// (kubernetes#126287).
    #[must_use]
    pub const fn node_monitor_grace_period_seconds(self) -> u64 {
        if self.minor >= 32 { 50 } else { 40 }
    }

    /// How a node that waits to be tainted is queued again by the next health pass: not at all in
    /// 1.18, twice in 1.19 and 1.20 (kubernetes#89059), anew since 1.21 (kubernetes#96876, which
    /// late patches of the older ones have too).
    #[must_use]
    pub const fn requeue(self) -> Requeue {
        match self.minor {
            ..=18 => Requeue::KeepsPlace,
            19..=20 => Requeue::Duplicates,
            _ => Requeue::MovesBack,
        }
    }

    /// How many nodes a health pass works on beside one another: one, and eight since 1.27
    /// (`nodeUpdateWorkerSize`; kubernetes#114296).
    #[must_use]
    pub const fn node_health_workers(self) -> usize {
        if self.minor >= 27 { 8 } else { 1 }
    }

    /// The name of the node lifecycle controller in `--controllers`: `nodelifecycle`, and
    /// `node-lifecycle-controller` since 1.28, which takes the old name too.
    #[must_use]
    pub const fn node_lifecycle_controller_name(self) -> &'static str {
        if self.minor >= 28 { "node-lifecycle-controller" } else { "nodelifecycle" }
    }
}

changes! {
    requeue = 19:
        "A health pass queues a node that waits to be tainted once more, and no longer leaves \
         it where it is (kubernetes#89059).";
    requeue = 21:
        "A health pass moves a node that waits to be tainted to the end of its queue \
         (kubernetes#96876).";
    node_health_workers = 27:
        "A health pass writes the status of eight nodes beside one another, no longer of one after \
         another (kubernetes#114296).";
    node_lifecycle_controller_name = 28:
        "`--controllers` calls the node lifecycle controller `node-lifecycle-controller`, \
         besides `nodelifecycle`.";
    node_monitor_grace_period_seconds = 32:
        "The default of `--node-monitor-grace-period` is 50 s, no longer 40 s \
         (kubernetes#126287).";
}

since! {
    /// Whether eviction events name the `apiVersion` of their pod. It is absent to 1.28 and
    /// `v1` since 1.29, where the controller stands on its own.
    event_reference_has_api_version = 29;
    /// Whether the tainting pass waits for a queued node that has no Ready condition: since 1.30.
    /// Older releases run into a nil pointer there.
    awaits_missing_ready_condition = 30;
    /// Whether a health pass decides about the taints that make pods leave by the condition that it
    /// has just written: since 1.34 (kubernetes#120816). Before, by the one that it found, so that a
    /// node that is lost waits for the next pass, 5 s, before it is queued.
    taints_by_written_condition = 34;
}

until! {
    /// Whether nodes with the name of a master (`master`, `…-master-xyz`) do not count for the
    /// state of their zone: to 1.20 (the gate `LegacyNodeRoleBehavior`).
    excludes_masters_by_name = 20;
}

/// What a health pass does with a node that waits to be tainted already; see
/// [`KubernetesRelease::requeue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue {
    /// It keeps its place. A taint that is removed by hand never comes back.
    KeepsPlace,
    /// It is queued once more. The spare entries use up tokens, and those of a node that has
    /// recovered block its zone.
    Duplicates,
    /// It leaves its place and goes to the end, in the order of the pass.
    MovesBack,
}
