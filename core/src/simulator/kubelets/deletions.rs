//! Deletions that a kubelet which is not heard cannot confirm, until it is heard again.

use alloc::vec::Vec;

use super::Unconfirmed;
use crate::api::{NodeName, PodKey};
use crate::simulator::{Simulator, Terminating};
use crate::time::Timestamp;

impl Simulator {
    /// What a deletion waits for: the end of the grace period, or a kubelet that is not heard.
    pub(in super::super) fn await_kubelet(&mut self, pod: &Terminating, node: &str) -> bool {
        match self.kubelets.by_node.get_mut(node) {
            Some(kubelet) if !kubelet.connected => {
                kubelet.unconfirmed.push(Unconfirmed { pod: pod.clone(), ends: None });
                true
            }
            _ => false,
        }
    }

    /// The deletions of a node that were to be confirmed wait; if the kubelet `runs`, containers
    /// end all the same.
    pub(super) fn suspend_terminations(&mut self, name: &NodeName, runs: bool) {
        let of_node = |terminating: &Terminating| {
            let pod = self.api.cluster.get_pod(&terminating.pod);
            pod.is_some_and(|pod| pod.spec.node_name == name.as_str())
        };
        let found = self.terminating.iter().filter(|(_, terminating)| of_node(terminating));
        let found: Vec<(Timestamp, u64)> = found.map(|(timer, _)| *timer).collect();
        for timer in found {
            if let Some(pod) = self.terminating.remove(&timer)
                && let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str())
            {
                let ends = runs.then_some(timer.0);
                kubelet.unconfirmed.push(Unconfirmed { pod, ends });
            }
        }
    }

    /// The kubelet is back: what has ended is confirmed, and what it had not heard of ends when its
    /// grace period does.
    pub(super) fn confirm_deletions(&mut self, name: &NodeName) {
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        for Unconfirmed { pod, ends } in core::mem::take(&mut kubelet.unconfirmed) {
            if !self.is_terminating(&pod) {
                continue;
            }
            match ends {
                Some(ends) if ends <= self.api.now => self.grace_period_over(&pod),
                _ => {
                    let ends = ends.unwrap_or_else(|| self.api.now.saturating_add(pod.grace));
                    let sequence = self.next_sequence();
                    self.terminating.insert((ends, sequence), pod);
                }
            }
        }
    }

    /// The kubelet of a pod's node need not confirm its deletion as it is.
    pub(in super::super) fn forget_unconfirmed(&mut self, key: &PodKey) {
        let node = self.api.cluster.get_pod(key).map(|pod| pod.spec.node_name.clone());
        if let Some(kubelet) = node.and_then(|node| self.kubelets.by_node.get_mut(node.as_str())) {
            kubelet.unconfirmed.retain(|deletion| deletion.pod.pod != *key);
        }
    }

    /// Whether the pod is deleted and waits for a kubelet that is not heard.
    #[must_use]
    pub fn awaits_kubelet(&self, key: &PodKey) -> bool {
        let pod = self.api.cluster.get_pod(key).filter(|pod| pod.is_terminating());
        let kubelet = pod.and_then(|pod| self.kubelets.by_node.get(pod.spec.node_name.as_str()));
        kubelet.is_some_and(|kubelet| {
            kubelet.unconfirmed.iter().any(|deletion| deletion.pod.pod == *key)
        })
    }
}
