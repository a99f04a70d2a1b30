//! `large-cluster [FILE] [ZONE]`: what the engine takes for a large cluster whose pods have owners,
//! natively: to read it, to put it in place, and to lose a zone and replace its pods. The text is
//! that of a file or, by `node tests/large-cluster.mjs | large-cluster`, of the input.
//!
//! Times are those of the processor where there is a `/proc`, so that other programs change little.

use std::io::Read;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use taintlab_core::api::{NodeName, Taint, TaintEffect};
use taintlab_core::command::Command;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::{ImportOptions, import, scenario_from_json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// How far an outage is played at the most, in seconds.
const DAY: u64 = 24 * 3_600;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    match measure(arguments.next(), &arguments.next().unwrap_or_else(|| "zone-0".to_owned())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the processor has spent on this program in user mode, in hundredths of a second.
fn spent() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(11)?.parse().ok()
}

/// The most memory that this program had, in MiB.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1_024)
}

/// Runs something, and prints how long it took.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), spent());
    let result = work();
    let user = spent().zip(before).map(|(after, before)| (after - before) as f64 / 100.0);
    let user = user.map_or_else(String::new, |user| format!("{user:7.2} s of the processor, "));
    let memory = memory().map_or_else(String::new, |most| format!(", {most} MiB at most"));
    println!("{what:34} {user}{:7.2} s{memory}", start.elapsed().as_secs_f64());
    result
}

fn measure(file: Option<String>, zone: &str) -> Result<()> {
    let mut text = String::new();
    match file {
        Some(file) => text = fs::read_to_string(file)?,
        None => _ = io::stdin().read_to_string(&mut text)?,
    }
    let read = timed("read", || import(&text, "cluster.json", ImportOptions::default()));
    if let Some(problem) = read.diagnostics.first() {
        return Err(problem.to_string().into());
    }
    let scenario = read.into_scenario(Scenario::default());
    let stored = timed("written to be stored", || serde_json::to_string(&scenario))?;
    let again = timed("read as it was stored", || scenario_from_json(&stored))?;
    drop((again, stored));
    let mut simulator = timed("put in place", || scenario.simulator())?;
    timed("its beginning", || simulator.advance_to(Timestamp::ZERO))?;
    simulator.drain_events();
    taint(&mut simulator)?;
    let mut simulator = timed("copied", || simulator.snapshot().simulator().clone());
    lose(&mut simulator, zone)
}

/// Taints a node; and undoes it.
fn taint(simulator: &mut Simulator) -> Result<()> {
    let first = simulator.cluster().nodes().next();
    let node: NodeName = first.ok_or("there is no node")?.0.clone();
    let before = timed("a copy", || simulator.snapshot());
    let taint = Taint::new("node.kubernetes.io/unreachable", "", TaintEffect::NoExecute);
    timed("a node is tainted", || -> Result<()> {
        simulator.handle_command(simulator.now(), Command::Taint { node, taint })?;
        simulator.advance_to(simulator.now())?;
        simulator.drain_events();
        Ok(())
    })?;
    timed("that is undone", || simulator.restore(&before));
    Ok(())
}

/// Loses a zone, and plays on until nothing happens for ten minutes.
fn lose(simulator: &mut Simulator, zone: &str) -> Result<()> {
    let (start, began) = (spent(), Instant::now());
    let cut = Command::CutZoneNetwork { zone: zone.into() };
    timed("a zone is cut off", || simulator.handle_command(Timestamp::from_secs(60), cut))?;
    let before = simulator.cluster().pod_count();
    let mut events = 0;
    let mut second = 60;
    let limit = 60 + DAY;
    let mut last = 60;
    while second < limit && second < last + 600 {
        second += 5;
        let (spent_before, count) = (spent(), events);
        simulator.advance_to(Timestamp::from_secs(second))?;
        events += simulator.drain_events().len();
        if events > count {
            last = second;
        }
        if let Some((after, before)) = spent().zip(spent_before)
            && after > before + 5
        {
            let took = Duration::from_millis(10 * (after - before));
            let (at, more) = (Span::from(Timestamp::from_secs(second)), events - count);
            println!("  until {at}: {:.2} s, {more} events", took.as_secs_f64());
        }
    }
    let pending =
        simulator.cluster().pods().filter(|(_, pod)| pod.spec.node_name.is_empty()).count();
    timed("(the end)", || ());
    let user = spent().zip(start).map(|(after, before)| (after - before) as f64 / 100.0);
    println!(
        "the outage: {:.2} s of the processor, {:.2} s; {events} events, {before} pods before, {} \
         after, {pending} of them without a node",
        user.unwrap_or_default(),
        began.elapsed().as_secs_f64(),
        simulator.cluster().pod_count(),
    );
    Ok(())
}
