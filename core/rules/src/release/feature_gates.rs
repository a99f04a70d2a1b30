//! Feature gates, and what they are in each release.

use alloc::format;
use alloc::string::String;

use super::KubernetesRelease;

changes! {
    is_enabled = 20: "The gate `GracefulNodeShutdown` is there, off by default.";
    is_enabled = 21: "The gate `GracefulNodeShutdown` is on by default.";
    is_enabled = 23: "The gate `GracefulNodeShutdownBasedOnPodPriority` is there, off by default.";
    is_enabled = 24: "The gate `GracefulNodeShutdownBasedOnPodPriority` is on by default.";
    is_enabled = 25: "The gate `PodDisruptionConditions` is there, off by default.";
    is_enabled = 26: "The gate `PodDisruptionConditions` is on by default.";
    is_enabled = 31: "The gate `PodDisruptionConditions` is locked.";
    is_enabled = 26: "The gate `DynamicResourceAllocation` is there, off by default.";
    is_enabled = 33: "The gate `DRADeviceTaints` is there, off by default.";
    is_enabled = 34: "The gate `DynamicResourceAllocation` is on by default.";
    is_enabled = 35: "The gate `DynamicResourceAllocation` is locked.";
    is_enabled = 35: "The gate `DRADeviceTaintRules` is there, off by default; before, \
                      `DRADeviceTaints` stands for both.";
    is_enabled = 36: "The gate `DRADeviceTaints` is on by default.";
    is_enabled = 37: "The gate `DRADeviceTaintRules` is on by default.";
    is_enabled = 35, recorded: "The gate `TaintTolerationComparisonOperators` is there, off by default.";
}

/// A feature gate that changes what this engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeatureGate {
    /// Rules taint devices (KEP-5055): alpha in 1.35, beta in 1.36 and still off, on by default
    /// in 1.37. To 1.34 they are a part of [`DRADeviceTaints`](Self::DRADeviceTaints).
    DRADeviceTaintRules,
    /// Devices have taints (KEP-5055): alpha in 1.33, on by default in 1.36.
    DRADeviceTaints,
    /// Pods claim devices (KEP-4381): alpha in 1.26, on by default in 1.34, locked on in 1.35.
    DynamicResourceAllocation,
    /// Kubelets end their pods before their node is shut down (KEP-2000): alpha in 1.20, on by
    /// default in 1.21.
    GracefulNodeShutdown,
    /// They do so in the order of the pods' priority, as
    /// `shutdownGracePeriodByPodPriority` says (KEP-2712): alpha in 1.23, on by default in 1.24.
    GracefulNodeShutdownBasedOnPodPriority,
    /// Write the `DisruptionTarget` condition before deleting a pod (KEP-3329): alpha in 1.25, on
    /// by default in 1.26, locked on in 1.31.
    PodDisruptionConditions,
    /// Honour the toleration operators `Lt` and `Gt` (KEP-5471): alpha in 1.35.
    TaintTolerationComparisonOperators,
}

impl FeatureGate {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::DRADeviceTaintRules,
        Self::DRADeviceTaints,
        Self::DynamicResourceAllocation,
        Self::GracefulNodeShutdown,
        Self::GracefulNodeShutdownBasedOnPodPriority,
        Self::PodDisruptionConditions,
        Self::TaintTolerationComparisonOperators,
    ];

    /// The name, as in `--feature-gates`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DRADeviceTaintRules => "DRADeviceTaintRules",
            Self::DRADeviceTaints => "DRADeviceTaints",
            Self::DynamicResourceAllocation => "DynamicResourceAllocation",
            Self::GracefulNodeShutdown => "GracefulNodeShutdown",
            Self::GracefulNodeShutdownBasedOnPodPriority => {
                "GracefulNodeShutdownBasedOnPodPriority"
            }
            Self::PodDisruptionConditions => "PodDisruptionConditions",
            Self::TaintTolerationComparisonOperators => "TaintTolerationComparisonOperators",
        }
    }

    /// What the gate is in a release.
    #[must_use]
    pub const fn stage(self, release: KubernetesRelease) -> GateStage {
        match (self, release.minor) {
            (Self::DRADeviceTaintRules, 35 | 36)
            | (Self::DRADeviceTaints, 33..=35)
            | (Self::DynamicResourceAllocation, 26..=33) => GateStage::Off,
            (Self::DRADeviceTaintRules, 37..)
            | (Self::DRADeviceTaints, 36..)
            | (Self::DynamicResourceAllocation, 34) => GateStage::On,
            (Self::DynamicResourceAllocation, 35..) => GateStage::LockedOn,
            (Self::GracefulNodeShutdown, 20)
            | (Self::GracefulNodeShutdownBasedOnPodPriority, 23) => GateStage::Off,
            (Self::GracefulNodeShutdown, 21..)
            | (Self::GracefulNodeShutdownBasedOnPodPriority, 24..) => GateStage::On,
            (Self::PodDisruptionConditions, 25) => GateStage::Off,
            (Self::PodDisruptionConditions, 26..=30) => GateStage::On,
            (Self::PodDisruptionConditions, 31..) => GateStage::LockedOn,
            (Self::TaintTolerationComparisonOperators, 35..) => GateStage::Off,
            (
                Self::DRADeviceTaintRules
                | Self::DRADeviceTaints
                | Self::DynamicResourceAllocation
                | Self::GracefulNodeShutdown
                | Self::GracefulNodeShutdownBasedOnPodPriority
                | Self::PodDisruptionConditions
                | Self::TaintTolerationComparisonOperators,
                _,
            ) => GateStage::Absent,
        }
    }
}

/// What a feature gate is in one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateStage {
    /// The release does not know the gate; the feature is off.
    Absent,
    /// Off unless switched on.
    Off,
    /// On unless switched off.
    On,
    /// On, and cannot be switched off.
    LockedOn,
}

/// Which feature gates are on: the defaults of a release and what a user set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGates {
    enabled: [bool; FeatureGate::ALL.len()],
}

impl FeatureGates {
    /// The gates of `release` after the settings `name: on`.
    ///
    /// # Errors
    /// A gate that the release does not have, or that is locked; the message is that of
    /// `--feature-gates`.
    pub fn new<'a>(
        release: KubernetesRelease,
        settings: impl IntoIterator<Item = (&'a str, bool)>,
    ) -> Result<Self, String> {
        let mut enabled = FeatureGate::ALL
            .map(|gate| matches!(gate.stage(release), GateStage::On | GateStage::LockedOn));
        for (name, on) in settings {
            let known = FeatureGate::ALL
                .into_iter()
                .zip(&mut enabled)
                .find(|(gate, _)| gate.name() == name)
                .map(|(gate, enabled)| (gate.stage(release), enabled));
            match known {
                None => {
                    let names = FeatureGate::ALL.map(FeatureGate::name).join("`, `");
                    return Err(format!(
                        "unrecognized feature gate: {name}; the gates known here are `{names}`"
                    ));
                }
                Some((GateStage::Absent, _)) => {
                    return Err(format!(
                        "unrecognized feature gate: {name}; Kubernetes {release} does not have it"
                    ));
                }
                Some((GateStage::LockedOn, _)) if !on => {
                    return Err(format!(
                        "cannot set feature gate {name} to false, feature is locked to true"
                    ));
                }
                Some((_, enabled)) => *enabled = on,
            }
        }
        Ok(Self { enabled })
    }

    /// Whether devices have taints in that release.
    #[must_use]
    pub fn has_device_taints(&self) -> bool {
        self.is_enabled(FeatureGate::DynamicResourceAllocation)
            && self.is_enabled(FeatureGate::DRADeviceTaints)
    }

    /// Whether rules taint devices in that release.
    #[must_use]
    pub fn has_device_taint_rules(&self, release: KubernetesRelease) -> bool {
        let gate = match FeatureGate::DRADeviceTaintRules.stage(release) {
            GateStage::Absent => FeatureGate::DRADeviceTaints,
            GateStage::Off | GateStage::On | GateStage::LockedOn => {
                FeatureGate::DRADeviceTaintRules
            }
        };
        self.has_device_taints() && self.is_enabled(gate)
    }

    /// Whether `gate` is on.
    #[must_use]
    pub fn is_enabled(&self, gate: FeatureGate) -> bool {
        FeatureGate::ALL.iter().zip(self.enabled).any(|(known, on)| *known == gate && on)
    }
}

impl Default for FeatureGates {
    fn default() -> Self {
        let release = KubernetesRelease::default();
        Self {
            enabled: FeatureGate::ALL
                .map(|gate| matches!(gate.stage(release), GateStage::On | GateStage::LockedOn)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_have_their_stage_by_release() {
        let gates = |minor, settings: &[(&str, bool)]| {
            FeatureGates::new(KubernetesRelease::new(minor).unwrap(), settings.iter().copied())
        };
        let pdc = FeatureGate::PodDisruptionConditions;
        assert!(!gates(24, &[]).unwrap().is_enabled(pdc));
        assert!(!gates(25, &[]).unwrap().is_enabled(pdc));
        assert!(gates(25, &[(pdc.name(), true)]).unwrap().is_enabled(pdc));
        assert!(gates(26, &[]).unwrap().is_enabled(pdc));
        assert!(!gates(30, &[(pdc.name(), false)]).unwrap().is_enabled(pdc));
        assert!(gates(31, &[(pdc.name(), false)]).unwrap_err().contains("locked to true"));
        assert!(gates(24, &[(pdc.name(), true)]).unwrap_err().contains("1.24 does not have it"));
        assert!(gates(30, &[("Nope", true)]).unwrap_err().contains("unrecognized feature gate"));
        let (shutdown, by_priority) = (
            FeatureGate::GracefulNodeShutdown,
            FeatureGate::GracefulNodeShutdownBasedOnPodPriority,
        );
        for (gate, alpha) in [(shutdown, 20), (by_priority, 23)] {
            let absent = gates(alpha - 1, &[(gate.name(), true)]).unwrap_err();
            assert!(absent.contains("does not have it"), "{absent}");
            assert!(!gates(alpha, &[]).unwrap().is_enabled(gate));
            assert!(gates(alpha, &[(gate.name(), true)]).unwrap().is_enabled(gate));
            assert!(gates(alpha + 1, &[]).unwrap().is_enabled(gate));
            assert!(!gates(35, &[(gate.name(), false)]).unwrap().is_enabled(gate));
        }
        let lt = FeatureGate::TaintTolerationComparisonOperators;
        assert!(!gates(35, &[]).unwrap().is_enabled(lt));
        assert!(gates(35, &[(lt.name(), true)]).unwrap().is_enabled(lt));
    }
}
