//! The scheduler's filters by their names, and sets of them.

use core::ops::BitOr;

use serde::Serialize;

use super::Decision;

/// A plugin that keeps pods off nodes, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub enum FilterPlugin {
    /// The node is cordoned.
    NodeUnschedulable,
    /// `spec.nodeName` names another.
    NodeName,
    /// A `NoSchedule` or `NoExecute` taint is not tolerated.
    TaintToleration,
    /// Node selector and required node affinity.
    NodeAffinity,
    /// A port of the node that a container wants is taken.
    NodePorts,
    /// Requests of the pod, and the number of pods.
    NodeResourcesFit,
    /// A claim for one pod alone is taken.
    VolumeRestrictions,
    /// A claim that is not there, or has no volume, keeps the pod off all nodes; a volume that
    /// cannot be reached, or be had, off one.
    VolumeBinding,
    /// A volume has the label of another zone.
    VolumeZone,
    /// Constraints with `DoNotSchedule`.
    PodTopologySpread,
    /// Required affinity and anti-affinity between pods.
    InterPodAffinity,
    /// A resource claim that is not there, or cannot get devices, keeps the pod off all nodes; one
    /// whose devices are elsewhere off one.
    DynamicResources,
}

impl FilterPlugin {
    pub(super) const ALL: [Self; 12] = [
        Self::NodeUnschedulable,
        Self::NodeName,
        Self::TaintToleration,
        Self::NodeAffinity,
        Self::NodePorts,
        Self::NodeResourcesFit,
        Self::VolumeRestrictions,
        Self::VolumeBinding,
        Self::VolumeZone,
        Self::PodTopologySpread,
        Self::InterPodAffinity,
        Self::DynamicResources,
    ];
}

/// The plugins that kept a pod off nodes. Mirrors `Diagnosis.UnschedulablePlugins`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejectors(pub(super) u16);

impl BitOr for Rejectors {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Rejectors {
    pub(super) const NONE: Self = Self(0);
    /// Plugins that ask about volumes.
    pub(super) const VOLUMES: Self = Self::all(&[
        FilterPlugin::VolumeRestrictions,
        FilterPlugin::VolumeBinding,
        FilterPlugin::VolumeZone,
    ]);
    /// Plugins that ask about other pods.
    pub(super) const COMPANY: Self =
        Self::all(&[FilterPlugin::PodTopologySpread, FilterPlugin::InterPodAffinity]);
    /// Plugins that ask about taints.
    pub(super) const TAINTS: Self =
        Self::all(&[FilterPlugin::NodeUnschedulable, FilterPlugin::TaintToleration]);
    /// Plugins that another pod can make reject.
    pub(super) const ON_PODS: Self = Self::all(&[
        FilterPlugin::NodeResourcesFit,
        FilterPlugin::NodePorts,
        FilterPlugin::VolumeRestrictions,
        FilterPlugin::PodTopologySpread,
        FilterPlugin::InterPodAffinity,
    ]);

    /// Plugins that ask about devices.
    pub const DEVICES: Self = Self::of(FilterPlugin::DynamicResources);

    pub(super) const fn of(plugin: FilterPlugin) -> Self {
        Self(1 << plugin as u16)
    }

    pub(super) const fn all(plugins: &[FilterPlugin]) -> Self {
        let (mut all, mut rest) = (0, plugins);
        while let [first, others @ ..] = rest {
            all |= Self::of(*first).0;
            rest = others;
        }
        Self(all)
    }

    /// The plugins that a decision tells of; none if no node was asked.
    pub fn of_decision(decision: &Decision) -> Self {
        if let Some(refusal) = &decision.refusal {
            return Self::of(refusal.plugin);
        }
        let verdicts = decision.verdicts.iter();
        let rejections = verdicts.filter_map(|verdict| verdict.rejection.as_ref());
        rejections.fold(Self::NONE, |all, rejection| all | Self::of(rejection.plugin))
    }

    /// Whether both sets have a plugin in common.
    #[must_use]
    pub const fn any_of(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether the end of another pod may help; also where no plugin rejected the pod.
    pub const fn are_on_pods(self) -> bool {
        self.0 == 0 || self.any_of(Self::ON_PODS)
    }
}
