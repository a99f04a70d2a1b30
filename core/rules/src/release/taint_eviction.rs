//! How taint eviction differs between releases.

use super::KubernetesRelease;

impl KubernetesRelease {
    /// The `source.component` of the eviction events: `taint-controller` to 1.28,
    /// `taint-eviction-controller` since the controller stands on its own (KEP-3902).
    #[must_use]
    pub const fn taint_eviction_component(self) -> &'static str {
        if self.has_taint_eviction_controller() {
            "taint-eviction-controller"
        } else {
            "taint-controller"
        }
    }
}

changes! {
    taint_eviction_component = 29:
        "The `source.component` of the eviction events is `taint-eviction-controller`, no \
         longer `taint-controller` (KEP-3902).";
}

since! {
    /// Whether a pod that tolerates its node's taints *forever now* has its pending eviction
    /// cancelled (kubernetes#93722: 1.20.0 and the patches 1.18.9 and 1.17.12; the patch of 1.19
    /// is not known, so 1.19 is taken as 1.19.0). Before, the timer ran on and the pod was deleted
    /// although it tolerated the taint.
    cancels_when_tolerated_forever = 20, recorded;
    /// Whether taint eviction is a controller of its own: since 1.29.
    has_taint_eviction_controller = 29;
    /// Whether the error for the operators `Lt` and `Gt` names them as supported although their
    /// gate is off: since 1.35.
    validation_names_comparison_operators = 35;
    /// Whether an error about a label's key or value counts `bytes`, no longer `characters`, and says
    /// `a valid label key`, no longer `a qualified name`: since 1.35.
    counts_bytes_of_labels = 35;
    /// Whether an error shows a value that is no text or number as JSON, no longer as a Go literal:
    /// since 1.34.
    validation_shows_json = 34;
}

until! {
    /// Whether the immediate eviction of a pod that does not tolerate a taint goes through a timer
    /// (of a few nanoseconds, from two reads of the clock), so that it counts as pending while its
    /// delete is tried: to 1.29.
    immediate_eviction_uses_timer = 29;
    /// Whether the queue remembers a pod after its delete succeeded (a `nil` entry, the
    /// *tombstone*), until the pod is really gone: to 1.32 (kubernetes#129577).
    keeps_tombstones = 32;
    /// Whether the error for `operator: Exists` with a value shows the whole toleration: to 1.31
    /// (kubernetes#128119).
    validation_shows_whole_toleration = 31;
    /// Whether nodes can be drained without taints, the *legacy path*, and so whether the flags
    /// `--enable-taint-manager` and `--pod-eviction-timeout` exist: to 1.26 (kubernetes#115840).
    has_enable_taint_manager_flag = 26;
}
