//! `native-answers SCENARIOS OUTPUT`: runs every scenario of a folder natively, and writes what the
//! engine must say as wasm too: its events, and what zones and time budgets are at some moments of
//! it; of some clusters also the resilience report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use serde_json::json;
use taintlab_core::event::Event;
use taintlab_core::report::{Plan, ReportOptions, report};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::{Timestamp, format_duration};
use taintlab_manifest::{Limits, read_scenario};

/// How many moments of a scenario are looked at.
const MOMENTS: u64 = 12;
/// Of these clusters there is a resilience report.
const REPORTS: [&str; 3] = ["sample-cluster", "recovery-storm", "service-in-an-outage"];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(scenarios), Some(output)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: native-answers SCENARIOS OUTPUT");
        return ExitCode::from(2);
    };
    match write_all(&scenarios, &output) {
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

/// Runs the scenarios; says how many there were.
fn write_all(scenarios: &Path, output: &Path) -> Result<usize> {
    fs::create_dir_all(output)?;
    let mut number = 0;
    for entry in fs::read_dir(scenarios)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            write(&path, output).map_err(|error| format!("{}: {error}", path.display()))?;
            number += 1;
        }
    }
    if number == 0 {
        return Err(format!("`{}` has no scenario", scenarios.display()).into());
    }
    Ok(number)
}

fn write(path: &Path, output: &Path) -> Result<()> {
    let mut no_files = |_: &str| Err("a scenario that is compared stands alone".to_owned());
    let read = read_scenario(&fs::read_to_string(path)?, "", &Limits::default(), &mut no_files);
    let scenario = read.scenario.ok_or("it is wrong: `npx taintlab test` says how")?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let events = scenario.run()?.events;
    fs::write(output.join(format!("{name}.events.json")), serde_json::to_string(&events)?)?;
    fs::write(output.join(format!("{name}.views.jsonl")), views(&scenario, &events)?)?;
    if REPORTS.contains(&&*name) {
        let report = resilience(scenario)?;
        fs::write(output.join(format!("{name}.report.json")), report)?;
    }
    Ok(())
}

/// The zones, and the time budget of each pod that has one, at some moments of a scenario.
fn views(scenario: &Scenario, events: &[Event]) -> Result<String> {
    let mut simulator = scenario.simulator()?;
    let mut steps: Vec<_> = scenario.steps.iter().collect();
    steps.sort_by_key(|step| step.at);
    let mut steps = steps.into_iter().peekable();
    let mut lines = String::new();
    for at in moments(events) {
        while let Some(step) = steps.next_if(|step| step.at.timestamp() <= at) {
            let done = simulator.handle_command(step.at.timestamp(), step.command.clone());
            if step.refused.is_none() {
                done?;
            }
        }
        simulator.advance_to(at)?;
        let budgets = simulator.records_and_forecasts().map(|(key, budget)| {
            let terms = budget.terms.iter().map(|term| json!([term.text, term.set_by]));
            json!({
                "pod": key,
                "record": budget.over,
                "evictedAt": budget.evicted_at.rounded().to_string(),
                "total": format_duration(budget.rounded_total()),
                "terms": terms.collect::<Vec<_>>(),
            })
        });
        let budgets: Vec<_> = budgets.collect();
        let view = json!({ "at": at, "zones": simulator.zones(), "budgets": budgets });
        lines += &format!("{view}\n");
    }
    Ok(lines)
}

/// Moments spread over the time in which things happen, in whole seconds as the page's slider has
/// them; at half a second, so that none is the instant of an event.
fn moments(events: &[Event]) -> impl Iterator<Item = Timestamp> {
    let seconds = events.last().map_or(0, |event| event.at.since_zero().as_secs());
    (0..MOMENTS).map(move |moment| {
        Timestamp::from_nanos(seconds * moment / MOMENTS * 1_000_000_000 + 500_000_000)
    })
}

/// The resilience report of the cluster of a scenario, as it is unless asked otherwise: JSON.
fn resilience(scenario: Scenario) -> Result<String> {
    let mut plan = Plan::new(scenario, ReportOptions::default())?;
    let (mut results, mut runs) = (Vec::new(), plan.runs());
    while !runs.is_empty() {
        for run in &runs {
            results.push(plan.run(run)?);
        }
        runs = plan.remedies(&results);
    }
    Ok(serde_json::to_string(&report(plan.outline(), &results)?)?)
}
