//! The engine behind three functions that need no glue: bytes in, bytes out.
//!
//! Built for `wasm32-unknown-unknown` it must import nothing, neither a clock nor a random source.
//! The same code runs natively, in Node and in Chromium, and must write the same bytes.

use serde_json::{Value, json};
use taintlab_core::report::{Plan, ReportOptions, report as put_together};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::{Timestamp, format_duration};
use taintlab_manifest::{Limits, read_scenario};

/// Reads a scenario file, runs it and gives its events, one JSON value a line.
///
/// # Errors
/// The text is no scenario file, names other files, or cannot run.
pub fn events(text: &str) -> Result<String, String> {
    let scenario = read(text)?;
    let report = scenario.run().map_err(|error| format!("{}: {error}", error.path()))?;
    let mut lines = String::new();
    for event in &report.events {
        lines.push_str(&serde_json::to_string(event).map_err(|error| error.to_string())?);
        lines.push('\n');
    }
    Ok(lines)
}

/// The zones, and the time budget of each pod that has one, at some moments of a scenario, which
/// ascend.
///
/// # Errors
/// As [`events`].
pub fn views(
    text: &str,
    moments: impl IntoIterator<Item = Timestamp>,
) -> Result<Vec<Value>, String> {
    let scenario = read(text)?;
    let mut simulator = scenario.simulator().map_err(|error| error.to_string())?;
    let mut steps: Vec<_> = scenario.steps.iter().collect();
    steps.sort_by_key(|step| step.at);
    let mut steps = steps.into_iter().peekable();
    let mut views = Vec::new();
    for at in moments {
        while let Some(step) = steps.next_if(|step| step.at.timestamp() <= at) {
            let done = simulator.handle_command(step.at.timestamp(), step.command.clone());
            if step.refused.is_none() {
                done.map_err(|error| error.to_string())?;
            }
        }
        simulator.advance_to(at).map_err(|error| error.to_string())?;
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
        views.push(json!({ "at": at, "zones": simulator.zones(), "budgets": budgets }));
    }
    Ok(views)
}

/// The resilience report of the cluster of a scenario, as it is unless asked otherwise: JSON.
///
/// # Errors
/// As [`events`].
pub fn report(text: &str) -> Result<String, String> {
    let made = Plan::new(read(text)?, ReportOptions::default()).and_then(|mut plan| {
        let mut results = Vec::new();
        for run in plan.runs() {
            results.push(plan.run(&run)?);
        }
        for run in plan.remedies(&results) {
            results.push(plan.run(&run)?);
        }
        put_together(plan.outline(), &results)
    });
    let report = made.map_err(|error| error.to_string())?;
    serde_json::to_string(&report).map_err(|error| error.to_string())
}

fn read(text: &str) -> Result<Scenario, String> {
    let mut no_files = |_: &str| Err("a scenario that is compared stands alone".to_owned());
    let read = read_scenario(text, "scenario.yaml", &Limits::default(), &mut no_files);
    read.scenario.ok_or_else(|| {
        let errors = read.diagnostics.iter().map(ToString::to_string);
        errors.collect::<Vec<_>>().join("\n")
    })
}

/// Makes room for an input of `length` bytes, which is never freed: an instance runs one scenario.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    vec![0; length].leak().as_mut_ptr()
}

/// Runs the scenario in the room at `input`; gives where its [`events`] are: the address in the
/// upper half, the length in the lower. What cannot run gives `error: ` and the reason.
///
/// # Safety
/// `input` is of [`allocate`], called with this `length`, and filled with bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn run(input: *const u8, length: usize) -> u64 {
    // SAFETY: by this function's contract there are `length` initialised bytes, never freed.
    let input = unsafe { std::slice::from_raw_parts(input, length) };
    let output = match std::str::from_utf8(input) {
        Ok(scenario) => events(scenario).unwrap_or_else(|error| format!("error: {error}")),
        Err(error) => format!("error: {error}"),
    };
    let output: &'static str = output.leak();
    // An address has 32 bits in wasm, for which alone this is meant.
    ((output.as_ptr() as u64) << 32) | output.len() as u64
}
