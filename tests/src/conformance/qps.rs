//! `qps`: the rates of zones, and how a zone's limiter changes with its state.

use serde::Deserialize;
use taintlab_core::controllers::node_lifecycle::zone::{EvictionRates, ZoneState};
use taintlab_core::queue::flowcontrol::RateLimiter;
use taintlab_core::queue::rate_limited_timed_queue::RateLimitedTimedQueue;
use taintlab_core::time::Timestamp;

use super::{Outcome, compare, with_case};

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Case {
    Func {
        qps: f32,
        secondary_qps: f32,
        large_cluster_threshold: i32,
        size: usize,
        healthy_qps: f32,
        reduced_qps: f32,
    },
    SetLimiter {
        qps: f32,
        secondary_qps: f32,
        large_cluster_threshold: i32,
        size: usize,
        state: ZoneState,
        /// With or without it, the rates are the same.
        #[serde(rename = "taint_manager")]
        _taint_manager: bool,
        initial_qps: f32,
        initial_never: bool,
        result_qps: f32,
        result_never: bool,
    },
}

/// Runs one case.
pub fn run(line: &str) -> Outcome {
    with_case(line, |case: Case| match case {
        Case::Func {
            qps,
            secondary_qps,
            large_cluster_threshold,
            size,
            healthy_qps,
            reduced_qps,
        } => {
            let rates = rates(qps, secondary_qps, large_cluster_threshold);
            compare(&(healthy_qps, reduced_qps), &(rates.healthy_qps(), rates.reduced_qps(size)))
        }
        Case::SetLimiter {
            qps,
            secondary_qps,
            large_cluster_threshold,
            size,
            state,
            initial_qps,
            initial_never,
            result_qps,
            result_never,
            ..
        } => {
            let mut queue = if initial_never {
                RateLimitedTimedQueue::<String>::new(RateLimiter::Never)
            } else {
                RateLimitedTimedQueue::with_qps(initial_qps)
            };
            let rates = rates(qps, secondary_qps, large_cluster_threshold);
            if let Some(qps) = rates.qps(state, size) {
                queue.swap_limiter(Timestamp::ZERO, qps);
            }
            let limiter = queue.limiter();
            compare(&(result_qps, result_never), &(limiter.qps(), limiter.is_never()))
        }
    })
}

const fn rates(qps: f32, secondary_qps: f32, large_cluster_threshold: i32) -> EvictionRates {
    EvictionRates {
        node_eviction_rate: qps,
        secondary_node_eviction_rate: secondary_qps,
        large_cluster_size_threshold: large_cluster_threshold,
    }
}
