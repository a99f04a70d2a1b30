//! The states of pods, to look at.

use taintlab_rules::api::{Pod, PodKey};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::time::Timestamp;

use super::{Simulator, device_eviction};
use crate::pod_state::{PodCounts, PodState, PodTimer, PodVerdict};

/// The states of the pods of a simulation as it is now; see [`Simulator::pod_states`].
#[derive(Debug)]
pub struct PodStates<'a> {
    simulator: &'a Simulator,
    /// When the grace period of each pod that is being deleted ends.
    ends: OrderedMap<&'a PodKey, Timestamp>,
}

impl<'a> PodStates<'a> {
    pub(super) fn of(simulator: &'a Simulator) -> Self {
        let mut ends = OrderedMap::new();
        for (key, end) in simulator.terminations() {
            ends.insert(key, end);
        }
        Self { simulator, ends }
    }

    /// The state of a pod; `None` if there is no such pod.
    #[must_use]
    pub fn get(&self, key: &PodKey) -> Option<PodState> {
        let pod = self.simulator.api.cluster.get_pod(key)?;
        Some(self.state(key, pod))
    }

    /// All pods that are there with their states, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&'a PodKey, PodState)> + '_ {
        self.simulator.api.cluster.pods().map(|(key, pod)| (key, self.state(key, pod)))
    }

    /// How many pods there are of each verdict and each health, not counting those that are gone.
    #[must_use]
    pub fn counts(&self) -> PodCounts {
        let mut counts = PodCounts::default();
        for (_, state) in self.iter() {
            counts.add(state);
        }
        counts
    }

    fn state(&self, key: &PodKey, pod: &Pod) -> PodState {
        let state = PodState::at_rest(pod);
        if pod.is_terminating() {
            if self.simulator.awaits_kubelet(key) {
                return PodState { verdict: PodVerdict::Stuck, ..state };
            }
            let until = self.ends.get(key).copied().unwrap_or(self.simulator.api.now);
            let seconds = pod.metadata.deletion_grace_period_seconds.unwrap_or_default();
            let grace = Timestamp::from_secs(u64::try_from(seconds).unwrap_or_default());
            let since = Timestamp::ZERO.saturating_add(until - grace);
            let ends = !pod.has_foreign_finalizer();
            let timer = ends.then_some(PodTimer { since, until });
            return PodState { verdict: PodVerdict::Terminating, timer, ..state };
        }
        let worker = self.simulator.nodes.taint_eviction.scheduled_eviction(key);
        let worker =
            worker.map(|worker| PodTimer { since: worker.created_at, until: worker.fire_at });
        let device = device_eviction(self.simulator, key)
            .map(|planned| PodTimer { since: planned.created_at, until: planned.tolerated_until });
        // A pod that is to be deleted at once does not count down.
        let device = device.filter(|timer| timer.until > self.simulator.api.now);
        match worker.into_iter().chain(device).min_by_key(|timer| timer.until) {
            timer @ Some(_) => PodState { verdict: PodVerdict::Counting, timer, ..state },
            None if state.verdict == PodVerdict::Stays && self.has_lost_its_node(pod) => {
                PodState { verdict: PodVerdict::Orphaned, ..state }
            }
            None => state,
        }
    }

    /// Whether a pod is bound to a node that does not exist.
    fn has_lost_its_node(&self, pod: &Pod) -> bool {
        let node = &pod.spec.node_name;
        !node.is_empty() && self.simulator.api.cluster.get_node(node).is_none()
    }
}
