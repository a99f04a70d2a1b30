//! Kubelets that stop and start, restart and flap.

use alloc::sync::Arc;
use core::time::Duration;

use taintlab_rules::api::NodeName;
use taintlab_rules::cluster::Cluster;

use super::{Kubelet, KubeletAction, KubeletError, Kubelets, Step, Wake, posts};
use crate::controllers::Context;
use crate::kubelet::KubeletSetup;

/// How a kubelet goes down and up in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flap {
    down: Duration,
    up: Duration,
    /// How often it still goes down; `None` forever.
    left: Option<u32>,
}

impl Kubelet {
    /// It begins anew or ends: pods that are to end have all their time when it finds them again.
    fn forget_ends(&mut self) {
        for deletion in &mut self.unconfirmed {
            deletion.ends = None;
        }
    }
}

impl Kubelets {
    /// Starts or stops a kubelet, whatever was planned for it.
    pub(crate) fn run(&mut self, name: &NodeName, runs: bool) -> Result<(), KubeletError> {
        self.get_mut(name)?;
        self.forget_switch(name);
        self.then(name, [Step::Switch { runs }]);
        Ok(())
    }

    /// Replaces a kubelet by a new process, whatever was planned for it.
    pub(crate) fn restart(
        &mut self,
        context: &Context<'_>,
        name: &NodeName,
    ) -> Result<(), KubeletError> {
        self.get_mut(name)?;
        self.forget_switch(name);
        self.replace(context, name);
        Ok(())
    }

    /// Sets what the kubelet of a node goes by, which it reads when it starts.
    pub(crate) fn configure(
        &mut self,
        context: &Context<'_>,
        name: &NodeName,
        setup: KubeletSetup,
    ) -> Result<(), KubeletError> {
        let kubelet = self.get_mut(name)?;
        kubelet.setup = Some(Arc::new(setup));
        if kubelet.runs {
            self.replace(context, name);
        }
        Ok(())
    }

    /// A kubelet goes down now, and up and down again in turn.
    pub(crate) fn flap(
        &mut self,
        name: &NodeName,
        down: Duration,
        up: Duration,
        times: Option<u32>,
    ) -> Result<(), KubeletError> {
        self.get_mut(name)?;
        self.forget_switch(name);
        self.get_mut(name)?.flap = Some(Flap { down, up, left: times });
        self.flap_on(name, Wake::Stop);
        Ok(())
    }

    /// The kubelet of a node that was just registered does not run, and starts later if at all.
    pub(crate) fn start_later(&mut self, name: &NodeName, after: Option<Duration>) {
        if self.by_node.contains_key(name.as_str()) {
            self.forget_switch(name);
            let plan = after.map(|after| Step::PlanSwitch(after, Wake::Start));
            self.then(name, [Some(Step::Switch { runs: false }), plan].into_iter().flatten());
        }
    }

    /// Changes whether a kubelet runs. A start that is no resumption of the network begins anew.
    /// Who waits for a kubelet that ends waits no longer: a node that is being shut down is off.
    pub(super) fn switch(&mut self, context: &Context<'_>, name: &NodeName, runs: bool) {
        if !runs && self.is_shutting_down(name.as_str()) {
            self.then(name, [Step::PowerOff]);
            return;
        }
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        if kubelet.runs == runs {
            return;
        }
        kubelet.runs = runs;
        kubelet.forget_ends();
        if runs {
            (kubelet.origin, kubelet.status_origin) = (context.now, context.now);
            kubelet.phase_is_assumed = false;
            let booted = self.boot(name);
            self.then(name, [Step::Announce, Step::StartEvictionManager, Step::Connect]);
            self.then(name, booted);
        } else {
            self.then(name, [Step::StartEvictionManager, Step::Connect]);
        }
    }

    /// The event that a kubelet records when it starts; it reaches the API server if the kubelet is
    /// connected.
    pub(super) fn announce_start(
        &self,
        cluster: &Cluster,
        name: &NodeName,
    ) -> Option<KubeletAction> {
        let connected = self.can_connect(cluster, name);
        connected.then(|| posts::record_event(name, "Starting", "Starting kubelet.".into()))
    }

    /// A kubelet that runs is replaced by a new process; one that does not run starts.
    fn replace(&mut self, context: &Context<'_>, name: &NodeName) {
        if self.is_shutting_down(name.as_str()) {
            self.then(name, [Step::PowerOff]);
            return;
        }
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        if !kubelet.runs {
            self.then(name, [Step::Switch { runs: true }]);
            return;
        }
        (kubelet.origin, kubelet.status_origin) = (context.now, context.now);
        kubelet.phase_is_assumed = false;
        kubelet.forget_ends();
        if !kubelet.connected {
            self.then(name, [Step::StartEvictionManager]);
            return;
        }
        self.then(
            name,
            [
                Step::StartEvictionManager,
                Step::Announce,
                Step::SuspendTerminations,
                Step::PostFirst,
                Step::ConfirmDeletions,
                Step::ReadmitPods,
                Step::SendUnsent,
            ],
        );
    }

    /// Ends what was planned for a kubelet.
    pub(super) fn forget_switch(&mut self, name: &NodeName) {
        if let Some(kubelet) = self.by_node.get_mut(name.as_str()) {
            kubelet.flap = None;
            if let Some(timer) = kubelet.switch.take() {
                self.timers.stop(&timer);
            }
        }
    }

    pub(super) fn plan_switch(
        &mut self,
        context: &mut Context<'_>,
        name: &NodeName,
        after: Duration,
        wake: Wake,
    ) {
        if let Some(kubelet) = self.by_node.get_mut(name.as_str()) {
            let at = context.now.saturating_add(after);
            let timer = self.timers.start(context.sequence, at, (name.clone(), wake));
            kubelet.switch = Some(timer);
        }
    }

    fn flap_on(&mut self, name: &NodeName, wake: Wake) {
        let kubelet = self.by_node.get_mut(name.as_str());
        let Some(flap) = kubelet.and_then(|kubelet| kubelet.flap.as_mut()) else { return };
        let steps = match wake {
            Wake::Start => {
                let last = flap.left == Some(0);
                let up = Step::PlanSwitch(flap.up, Wake::Stop);
                [Step::Switch { runs: true }, if last { Step::ForgetSwitch } else { up }]
            }
            Wake::Stop | Wake::Post | Wake::UnmarkPods | Wake::EvictionManager | Wake::Shutdown => {
                flap.left = flap.left.map(|left| left.saturating_sub(1));
                [Step::Switch { runs: false }, Step::PlanSwitch(flap.down, Wake::Start)]
            }
        };
        self.then(name, steps);
    }

    /// What a kubelet was to be woken for is due.
    pub(super) fn wake(&mut self, context: &mut Context<'_>, name: &NodeName, wake: Wake) {
        if wake == Wake::EvictionManager {
            self.run_eviction_manager(context, name);
            return;
        }
        if wake == Wake::Shutdown {
            self.then(name, [Step::GoOnShuttingDown]);
            return;
        }
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        if wake == Wake::Post {
            kubelet.post = None;
            self.then(name, [Step::Post { renew: false }]);
            return;
        }
        if wake == Wake::UnmarkPods {
            self.unmark_pods(name);
            return;
        }
        kubelet.switch = None;
        if kubelet.flap.is_some() {
            self.flap_on(name, wake);
        } else {
            self.then(name, [Step::Switch { runs: wake == Wake::Start }]);
        }
    }
}
