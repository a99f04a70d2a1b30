//! Runs a scenario file: `cargo run -p taintlab-manifest --example run_scenario -- FILE.yaml`.

use std::error::Error;
use std::fs;

use taintlab_manifest::{Limits, read_scenario};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    run(&fs::read_to_string(&path)?, &path)
}

fn run(text: &str, path: &str) -> Result<(), Box<dyn Error>> {
    // A scenario may name other files; this program gives it none.
    let mut load = |name: &str| Err(format!("`{name}` is not read"));
    let read = read_scenario(text, path, &Limits::default(), &mut load);
    for diagnostic in &read.diagnostics {
        eprintln!("{diagnostic}");
    }
    let report = read.scenario.ok_or("the scenario is not valid")?.run()?;
    for event in &report.events {
        println!("{:>8} {}", event.at.to_string(), event.what);
    }
    for outcome in &report.outcomes {
        let failure = outcome.failure.as_deref().unwrap_or("as expected");
        println!("{}: {failure}", outcome.expectation);
    }
    if report.passed() { Ok(()) } else { Err("an expectation is not met".into()) }
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    let text = include_str!("../../examples/why-345-seconds.yaml");
    run(text, "why-345-seconds.yaml")?;
    assert!(run(&text.replace("at: 345.1s", "at: 345s"), "wrong.yaml").is_err());
    Ok(())
}
