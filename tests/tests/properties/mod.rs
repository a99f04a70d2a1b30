//! Properties of the simulation, over random clusters and scripts.
//!
//! The same scripts are made each time. `TAINTLAB_SEED=NUMBER` makes others, and
//! `TAINTLAB_CASES=NUMBER` multiplies them.

mod behaviour;
mod coverage;
mod devices;
pub(crate) mod generate;
mod hostile;
mod kubectl;
mod kubelet;
mod model;
mod node_lifecycle;
mod ordered;
mod scheduler;
mod soak;
mod workloads;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Checks a property of `cases` values.
fn check<S: Strategy>(
    cases: u32,
    strategy: S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed: u64 = number("TAINTLAB_SEED").unwrap_or(0);
    let times = number("TAINTLAB_CASES").and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: cases.saturating_mul(times),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    if let Err(error) = TestRunner::new_with_rng(config, rng).run(&strategy, property) {
        panic!("{error}");
    }
}
