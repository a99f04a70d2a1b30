//! Random clusters with random faults, and invariants after every step (`taintlab_tests::soak`):
//! `cargo xtask soak`. A seed that fails is made smaller and written as a scenario.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use taintlab_manifest::write_scenario;
use taintlab_tests::soak::{Run, Tally, run, shrink};

/// Time in which a run that fails is made smaller.
const SHRINK_TIME: Duration = Duration::from_secs(30);
const YEAR: f64 = 365.25 * 24.0 * 3_600.0;

/// The command line.
#[derive(Parser)]
#[command(name = "cargo xtask soak", about = "Run random clusters with random faults", version)]
struct Options {
    /// The first seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Clusters to run, each with the next seed
    #[arg(long, default_value_t = 1)]
    clusters: u64,
    /// Simulated hours of each cluster
    #[arg(long, default_value_t = 720)]
    hours: u64,
    /// Real seconds after which no new cluster begins
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    seconds: u64,
    /// The folder for the scenarios of seeds that fail
    #[arg(long, default_value = "target/soak")]
    output: PathBuf,
}

fn main() -> ExitCode {
    match soak(&Options::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the clusters; says how many failed.
fn soak(options: &Options) -> Result<usize, String> {
    let started = Instant::now();
    let (mut tally, mut clusters, mut failed) = (Tally::default(), 0_u64, 0);
    for seed in options.seed..options.seed.saturating_add(options.clusters) {
        if started.elapsed() >= Duration::from_secs(options.seconds) {
            break;
        }
        let run = run(seed, Duration::from_secs(options.hours * 3_600));
        clusters += 1;
        tally.add(&run.tally);
        if run.violation.is_some() {
            failed += 1;
            tell(seed, &run, options)?;
        }
        if clusters.is_multiple_of(100) {
            summary(options.seed, clusters, &tally, failed, started);
        }
    }
    summary(options.seed, clusters, &tally, failed, started);
    Ok(failed)
}

fn summary(seed: u64, clusters: u64, tally: &Tally, failed: usize, started: Instant) {
    println!(
        "seed {seed}: {clusters} clusters, {:.2} simulated years, {} events, {} steps, {} commands, \
         {} recoveries, {failed} failed, {:.0} s",
        tally.simulated.as_secs_f64() / YEAR,
        tally.events,
        tally.steps,
        tally.commands,
        tally.recoveries,
        started.elapsed().as_secs_f64(),
    );
}

/// Makes a failed run smaller, writes it and says why it fails.
fn tell(seed: u64, run: &Run, options: &Options) -> Result<(), String> {
    let Some(violation) = &run.violation else { return Ok(()) };
    println!("seed {seed}: at {}, not so: {}", violation.at, violation.invariant);
    println!("  {}", violation.detail);
    let small = shrink(run, SHRINK_TIME);
    let mut scenario = small.scenario;
    if let Some(violation) = &small.violation {
        scenario.metadata.title = format!("At {}, not so: {}", violation.at, violation.invariant);
        scenario.metadata.answer.clone_from(&violation.detail);
    }
    let path = options.output.join(format!("seed-{seed}.yaml"));
    let written = fs::create_dir_all(&options.output)
        .and_then(|()| fs::write(&path, write_scenario(&scenario)));
    written.map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    let (steps, objects) = (scenario.steps.len(), &scenario.objects);
    println!(
        "  {} steps, {} nodes and {} workloads of {} steps, {} and {}: {}",
        steps,
        objects.nodes.len(),
        objects.workloads.len(),
        run.scenario.steps.len(),
        run.scenario.objects.nodes.len(),
        run.scenario.objects.workloads.len(),
        path.display()
    );
    Ok(())
}
