//! How fast the engine is, beside Kubernetes' own code: `cargo xtask bench [NAME]`.
//!
//! Names are those of the Go benchmarks where there is one.

mod harness;

use std::hint::black_box;

use harness::Harness;
use taintlab_core::api::{ConditionStatus, NodeCondition, Taint, TaintEffect, Toleration};
use taintlab_core::flowcontrol::TokenBucketRateLimiter;
use taintlab_core::matching::{explain, matching_tolerations, min_toleration_time};
use taintlab_core::node_lifecycle::zone::compute_zone_state;
use taintlab_core::rate_limited_timed_queue::RateLimitedTimedQueue;
use taintlab_core::time::Timestamp;

fn main() {
    let harness = Harness::from_args();
    matching(&harness);
    zone_state(&harness);
    limiter(&harness);
}

/// Three taints, answered by the third, fourth and fifth of five tolerations.
fn matching(harness: &Harness) {
    let taints = ["example.com/maintenance", "node.kubernetes.io/unreachable", "dedicated"]
        .map(|key| Taint::new(key, "yes", TaintEffect::NoExecute));
    let tolerations = [
        ("node.kubernetes.io/not-ready", "Exists", "", Some(300)),
        ("example.com/gpu", "Equal", "a100", None),
        ("example.com/maintenance", "Equal", "yes", Some(600)),
        ("node.kubernetes.io/unreachable", "Exists", "", Some(300)),
        ("dedicated", "Equal", "yes", None),
    ]
    .map(|(key, operator, value, toleration_seconds)| Toleration {
        key: key.into(),
        operator: operator.into(),
        value: value.into(),
        effect: TaintEffect::NoExecute,
        toleration_seconds,
    });
    let matching = || matching_tolerations(black_box(&taints), black_box(&tolerations), false);
    assert_eq!(matching().used, [2, 3, 4]);
    harness.time("GetMatchingTolerations_3x5", matching);
    harness.time("GetMatchingTolerations_3x5_MinTime", || {
        min_toleration_time(matching().used.iter().filter_map(|index| tolerations.get(*index)))
    });
    harness.time("explain_3x5", || explain(black_box(&taints), black_box(&tolerations), false));
}

/// Five thousand nodes, every tenth not ready.
fn zone_state(harness: &Harness) {
    let condition = |index| {
        let status = if index % 10 == 0 { ConditionStatus::Unknown } else { ConditionStatus::True };
        Some(NodeCondition { type_: "Ready".into(), status, ..NodeCondition::default() })
    };
    let conditions: Vec<_> = (0..5_000).map(condition).collect();
    harness.time("ComputeZoneState_5000", || {
        compute_zone_state(black_box(&conditions).iter().map(Option::as_ref), 0.55)
    });
}

fn limiter(harness: &Harness) {
    let mut limiter = TokenBucketRateLimiter::new(0.1, 1);
    let mut tick = 0;
    harness.time("TokenBucketRateLimiter/try_accept", || {
        tick += 100;
        limiter.try_accept(Timestamp::from_millis(tick))
    });
    let mut limiter = TokenBucketRateLimiter::new(0.1, 1);
    limiter.try_accept(Timestamp::ZERO);
    harness.time("TokenBucketRateLimiter/next_accept", || {
        black_box(&limiter).next_accept(Timestamp::from_secs(1))
    });
    let names: Vec<String> = (0..5_000).map(|index| format!("node-{index}")).collect();
    harness.time_each(
        "RateLimitedTimedQueue_5000/add_all_remove_all_per_entry",
        5_000,
        || RateLimitedTimedQueue::with_qps(0.1),
        |queue| {
            for name in &names {
                queue.add(Timestamp::ZERO, name.as_str(), "");
            }
            for name in &names {
                queue.remove(&name.as_str());
            }
        },
    );
}
