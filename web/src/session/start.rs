//! Changes of the initial state of a timeline.

use std::collections::BTreeMap;

use taintlab_core::api::{Node, NodeName};
use taintlab_core::controllers::autoscaler::{AutoscaledGroup, AutoscalerSettings};
use taintlab_core::controllers::descheduler::DeschedulerSettings;
use taintlab_core::kubelet::heartbeat::KubeletSettings;
use taintlab_core::release::{FeatureGate, GateStage, KubernetesRelease};
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::HealthPassTime;

/// A change of the Kubernetes to begin with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StartChange {
    /// Another release.
    Release(KubernetesRelease),
    /// The scheduler and the controllers of workloads run, or do not.
    ControlPlane(bool),
    /// Kubelets and the node lifecycle controller run.
    NodeLifecycle,
    /// A feature gate is on or off.
    Gate(String, bool),
    /// The settings of the dialog.
    Settings(Box<StartSettings>),
}

/// The settings of the dialog.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StartSettings {
    /// The release.
    pub(crate) release: KubernetesRelease,
    /// The flags of kube-controller-manager.
    pub(crate) flags: BTreeMap<String, String>,
    /// Whether kubelets and the node lifecycle controller run.
    pub(crate) node_lifecycle: bool,
    /// The durations of health passes.
    pub(crate) health_pass: HealthPassTime,
    /// The settings of the kubelets.
    pub(crate) kubelets: KubeletSettings,
    /// The descheduler, if there is one.
    pub(crate) descheduler: Option<DeschedulerSettings>,
    /// The autoscaler, if there is one.
    pub(crate) autoscaler: Option<NodeGroups>,
}

/// The node groups of an autoscaler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeGroups {
    /// The present ones; with this maximum size if it is given.
    Present(Option<u32>),
    /// One whose nodes are like this one, with its maximum size.
    Like(NodeName, u32),
}

impl NodeGroups {
    /// The settings of the autoscaler; none if it has no such groups.
    fn settings(
        self,
        present: Option<AutoscalerSettings>,
        model: Option<&Node>,
    ) -> Option<AutoscalerSettings> {
        match self {
            Self::Present(most) => present.map(|mut settings| {
                let groups = settings.node_groups.iter_mut();
                groups.zip(most).for_each(|(group, most)| group.max_size = most);
                settings
            }),
            Self::Like(_, most) => model.map(|node| {
                let node_groups = vec![AutoscaledGroup::like(node, most)];
                AutoscalerSettings { node_groups, ..AutoscalerSettings::default() }
            }),
        }
    }
}

impl StartChange {
    /// The node that the nodes of an autoscaler are to be like.
    pub(crate) fn model(&self) -> Option<&NodeName> {
        match self {
            Self::Settings(settings) => match settings.autoscaler.as_ref()? {
                NodeGroups::Like(node, _) => Some(node),
                NodeGroups::Present(_) => None,
            },
            _ => None,
        }
    }

    /// Makes the change; `model` is the node of that name.
    pub(crate) fn apply(self, start: &mut Scenario, model: Option<&Node>) {
        match self {
            Self::Release(release) => set_release(start, release),
            Self::ControlPlane(run) => run_control_plane(start, run),
            Self::NodeLifecycle => start.kubernetes.node_lifecycle = Some(true),
            Self::Gate(name, on) => _ = start.kubernetes.feature_gates.insert(name, on),
            Self::Settings(settings) => settings.apply(start, model),
        }
    }
}

impl StartSettings {
    fn apply(self, start: &mut Scenario, model: Option<&Node>) {
        set_release(start, self.release);
        start.kubernetes.node_lifecycle = Some(self.node_lifecycle);
        start.kubernetes.controller_manager_flags = self.flags;
        let is_usual = self.health_pass == HealthPassTime::MEASURED;
        start.kubernetes.health_pass = (!is_usual).then_some(self.health_pass);
        let is_usual = self.kubelets == KubeletSettings::default();
        start.kubernetes.kubelets = (!is_usual).then_some(self.kubelets);
        // Both need the scheduler, and controllers that make other pods.
        if self.descheduler.is_some() || self.autoscaler.is_some() {
            run_control_plane(start, true);
        }
        start.kubernetes.descheduler = self.descheduler;
        let present = start.kubernetes.autoscaler.take();
        start.kubernetes.autoscaler = self.autoscaler.and_then(|it| it.settings(present, model));
    }
}

/// Sets a release, and drops feature gates that it does not have.
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

/// Switches the scheduler and the workload controllers on, with the kubelets they need, or off.
fn run_control_plane(start: &mut Scenario, run: bool) {
    start.kubernetes.control_plane = Some(run);
    if run {
        start.kubernetes.node_lifecycle = Some(true);
    }
}
