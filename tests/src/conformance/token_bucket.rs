//! `token_bucket`: when a rate limiter grants.

use serde::{Deserialize, Serialize};
use taintlab_core::queue::flowcontrol::TokenBucketRateLimiter;
use taintlab_core::time::Timestamp;

use super::{Outcome, compare, with_case};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "id")]
    _id: u64,
    qps: f32,
    qps_f64: f64,
    burst: i32,
    calls: Vec<Call>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Call {
    t: u64,
    ok: bool,
}

/// Runs one case; what is said about the next grant must hold at every call.
pub fn run(line: &str) -> Outcome {
    with_case(line, |case: Case| {
        if case.qps_f64 as f32 != case.qps {
            return Outcome::Failed("qps and qps_f64 are not the same rate".to_owned());
        }
        let mut limiter = TokenBucketRateLimiter::new(case.qps, case.burst);
        let mut got = Vec::with_capacity(case.calls.len());
        let mut predicted = Vec::with_capacity(case.calls.len());
        let mut next = limiter.next_accept(Timestamp::ZERO);
        for call in &case.calls {
            let now = Timestamp::from_nanos(call.t);
            predicted.push(Call { ok: next.is_some_and(|next| next <= now), ..*call });
            let ok = limiter.try_accept(now);
            got.push(Call { ok, ..*call });
            if ok {
                next = limiter.next_accept(now);
            }
        }
        compare(&(&case.calls, &case.calls), &(&got, &predicted))
    })
}
