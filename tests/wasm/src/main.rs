//! Runs every scenario of a folder natively and writes, for the wasm tests, a copy of the file and
//! its events, and what zones and time budgets are at some moments of it; of some clusters also the
//! resilience report: `taintlab-determinism SCENARIOS OUTPUT`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use taintlab_core::time::Timestamp;
use taintlab_determinism::{events, report, views};

/// How many moments of a scenario are looked at.
const MOMENTS: u64 = 12;
/// Of these clusters there is a resilience report.
const REPORTS: [&str; 3] = ["sample-cluster", "recovery-storm", "service-in-an-outage"];

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(scenarios), Some(output)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: taintlab-determinism SCENARIOS OUTPUT");
        return ExitCode::FAILURE;
    };
    match write_all(&scenarios, &output) {
        Ok(0) => {
            eprintln!("error: `{}` has no scenario", scenarios.display());
            ExitCode::FAILURE
        }
        Ok(number) => {
            println!("{number} scenarios run natively");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the scenarios in the order of their names; says how many there were.
fn write_all(scenarios: &Path, output: &Path) -> Result<usize, String> {
    let describe =
        |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let entries = fs::read_dir(scenarios).map_err(|error| describe(scenarios, &error))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| describe(scenarios, &error))?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            paths.push(path);
        }
    }
    paths.sort();
    for path in &paths {
        let scenario = fs::read_to_string(path).map_err(|error| describe(path, &error))?;
        let events = events(&scenario).map_err(|error| describe(path, &error))?;
        let views = views(&scenario, moments(&events)).map_err(|error| describe(path, &error))?;
        let views: String = views.iter().map(|view| format!("{view}\n")).collect();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if REPORTS.contains(&&*name) {
            let report = report(&scenario).map_err(|error| describe(path, &error))?;
            let path = output.join(format!("{name}.report.json"));
            fs::write(&path, report).map_err(|error| describe(&path, &error))?;
        }
        for (ending, text) in
            [("scenario.yaml", scenario), ("events.jsonl", events), ("views.jsonl", views)]
        {
            let path = output.join(format!("{name}.{ending}"));
            fs::write(&path, text).map_err(|error| describe(&path, &error))?;
        }
    }
    Ok(paths.len())
}

/// Moments spread over the time in which things happen, in whole seconds as the page's slider has
/// them; at half a second, so that none is the instant of an event.
fn moments(events: &str) -> impl Iterator<Item = Timestamp> {
    let last = events.lines().last().and_then(|line| line.strip_prefix("{\"at\":"));
    let millis = last.and_then(|line| line.split(',').next()).and_then(|at| at.parse().ok());
    let last = millis.and_then(Timestamp::from_fractional_millis).unwrap_or_default();
    let seconds = last.since_zero().as_secs();
    (0..MOMENTS).map(move |moment| {
        Timestamp::from_nanos(seconds * moment / MOMENTS * 1_000_000_000 + 500_000_000)
    })
}
