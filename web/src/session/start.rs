//! Changes of where a timeline begins.

use taintlab_core::release::{FeatureGate, GateStage, KubernetesRelease};
use taintlab_core::scenario::Scenario;

/// Chooses a release; settings of feature gates that it does not have are dropped.
pub(crate) fn set_release(start: &mut Scenario, release: KubernetesRelease) {
    start.kubernetes.release = Some(release);
    start.kubernetes.feature_gates.retain(|name, on| {
        let gate = FeatureGate::ALL.into_iter().find(|gate| gate.name() == name);
        gate.is_some_and(|gate| match gate.stage(release) {
            GateStage::Absent => false,
            GateStage::LockedOn => *on,
            GateStage::Off | GateStage::On => true,
        })
    });
}

/// Switches the scheduler and the controllers of workloads on, with the kubelets they need, or off.
pub(crate) fn run_control_plane(start: &mut Scenario, run: bool) {
    start.kubernetes.control_plane = Some(run);
    if run {
        start.kubernetes.node_lifecycle = Some(true);
    }
}
