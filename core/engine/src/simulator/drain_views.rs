//! What drains that are under way wait for.

use taintlab_rules::api::{NodeName, PodKey};
use taintlab_rules::policy::eviction::EvictionError;

use super::Simulator;

/// What the eviction API would answer now about a pod; `None` if it would let it go, or there is no
/// such pod.
pub fn eviction_refusal(simulator: &Simulator, key: &PodKey) -> Option<EvictionError> {
    let pod = simulator.api.cluster.get_pod(key)?;
    simulator.control.as_ref()?.ask_budgets(&simulator.api, pod, None).err()
}

/// Drains that are under way: the number of each, the node at which it is, and the pods that it is not
/// done with.
pub fn drains(
    simulator: &Simulator,
) -> impl Iterator<Item = (u64, &NodeName, impl Iterator<Item = &PodKey>)> {
    simulator.drains.running()
}
