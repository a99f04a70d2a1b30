//! Kubelets that stop and start, restart and flap.

use core::time::Duration;

use super::{Flap, Wake};
use crate::api::NodeName;
use crate::simulator::Simulator;

impl Simulator {
    /// Changes whether a kubelet runs. A start that is no resumption of the network begins anew.
    pub(in super::super) fn switch_kubelet(&mut self, name: &NodeName, runs: bool) {
        let now = self.api.now;
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if kubelet.runs == runs {
            return;
        }
        kubelet.runs = runs;
        if runs {
            kubelet.origin = now;
            // It finds its pods anew, and those that are to end have all their time.
            for deletion in &mut kubelet.unconfirmed {
                deletion.ends = None;
            }
            self.announce_start(name);
        } else {
            for deletion in &mut kubelet.unconfirmed {
                deletion.ends = None;
            }
        }
        self.start_eviction_manager(name);
        self.update_kubelet(name);
    }

    /// The event that a kubelet records when it starts; it reaches the API server if that hears it.
    fn announce_start(&mut self, name: &NodeName) {
        if self.can_connect(name) {
            self.record_kubelet_event(name, "Starting", "Starting kubelet.");
        }
    }

    /// A kubelet that runs is replaced by a new process.
    pub(in super::super) fn restart_kubelet(&mut self, name: &NodeName) {
        let now = self.api.now;
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if !kubelet.runs {
            self.switch_kubelet(name, true);
            return;
        }
        kubelet.origin = now;
        for deletion in &mut kubelet.unconfirmed {
            deletion.ends = None;
        }
        let connected = kubelet.connected;
        self.start_eviction_manager(name);
        if connected {
            self.announce_start(name);
            self.suspend_terminations(name, false);
            self.post_status(name, true);
            self.confirm_deletions(name);
            self.eviction_manager_reconnects(name);
        }
    }

    /// Ends what was planned for a kubelet.
    pub(in super::super) fn forget_switch(&mut self, name: &NodeName) {
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
            kubelet.flap = None;
            if let Some(timer) = kubelet.switch.take() {
                self.kubelets.timers.remove(&timer);
            }
        }
    }

    pub(in super::super) fn plan_switch(&mut self, name: &NodeName, after: Duration, wake: Wake) {
        let timer = (self.api.now.saturating_add(after), self.next_sequence());
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
            kubelet.switch = Some(timer);
            self.kubelets.timers.insert(timer, (name.clone(), wake));
        }
    }

    /// A kubelet goes down now, and up and down again as `flap` says.
    pub(in super::super) fn begin_flapping(&mut self, name: &NodeName, flap: Flap) {
        self.forget_switch(name);
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
            kubelet.flap = Some(flap);
        }
        self.flap(name, Wake::Stop);
    }

    pub(super) fn flap(&mut self, name: &NodeName, wake: Wake) {
        let kubelet = self.kubelets.by_node.get_mut(name.as_str());
        let Some(flap) = kubelet.and_then(|kubelet| kubelet.flap.as_mut()) else { return };
        let (down, up) = (flap.down, flap.up);
        match wake {
            Wake::Start => {
                let again = flap.left != Some(0);
                self.switch_kubelet(name, true);
                if again {
                    self.plan_switch(name, up, Wake::Stop);
                } else {
                    self.forget_switch(name);
                }
            }
            Wake::Stop | Wake::Post | Wake::EvictionManager => {
                flap.left = flap.left.map(|left| left.saturating_sub(1));
                self.switch_kubelet(name, false);
                self.plan_switch(name, down, Wake::Start);
            }
        }
    }
}
