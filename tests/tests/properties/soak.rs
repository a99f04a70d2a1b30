//! Whole clusters with random faults, a few of those that `cargo xtask soak` runs.

use std::time::Duration;

use taintlab_tests::soak::{Tally, run, shrink};

/// Invariants hold in some clusters over some days, whatever is done to them.
#[test]
fn clusters_with_faults_keep_the_invariants() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (seed, times) = (number("TAINTLAB_SEED").unwrap_or(0), number("TAINTLAB_CASES"));
    let mut tally = Tally::default();
    for seed in (seed * 1_000 + 2..).take(4 * times.unwrap_or(1) as usize) {
        let run = run(seed, Duration::from_secs(24 * 3_600));
        tally.add(&run.tally);
        if let Some(violation) = &run.violation {
            let small = shrink(&run, Duration::from_secs(20)).scenario;
            panic!("seed {seed}: {violation:#?}\n{}", taintlab_manifest::write_scenario(&small));
        }
    }
    println!("{tally:?}");
    assert!(tally.steps > 300 && tally.commands > 100 && tally.recoveries > 6, "{tally:?}");
}
