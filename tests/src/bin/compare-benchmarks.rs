//! Shows what `cargo bench` has measured beside what Kubernetes' own Go code takes, and how much
//! memory a pod takes.
//!
//! `compare-benchmarks DIR`, with the folder that Criterion has written to.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use peak_alloc::PeakAlloc;
use serde_json::Value;
use taintlab_core::api::{Node, Pod, TaintEffect, Toleration, TolerationOperator, well_known};
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// What Kubernetes 1.20.2 takes, unmodified, by `go test -bench`: the median of three on two cores
/// of an Intel Xeon, in nanoseconds per operation, with Go 1.19.8 and with Go 1.27.3. Machines
/// differ, so a ratio tells the order of magnitude.
const GO: [(&str, f64, f64); 15] = [
    ("ComputeZoneState_5000", 4_378.0, 4_003.0),
    ("GetMatchingTolerations_3x5", 453.0, 448.0),
    ("GetMatchingTolerations_3x5_MinTime", 456.0, 447.0),
    ("HandleNodeUpdate_110pods/already_scheduled", 88_284.0, 50_271.0),
    ("HandleNodeUpdate_110pods/taint_then_untaint", 250_828.0, 168_248.0),
    ("MonitorNodeHealth_5000nodes/healthy_no_change_0pods", 29_071_071.0, 28_250_880.0),
    ("MonitorNodeHealth_5000nodes/healthy_no_change_30pods", 58_425_929.0, 66_677_968.0),
    ("MonitorNodeHealth_5000nodes/leases_renewed_0pods", 29_780_068.0, 26_119_415.0),
    ("MonitorNodeHealth_5000nodes/leases_renewed_30pods", 60_442_611.0, 72_065_263.0),
    ("ProcessPodOnNode/already_scheduled", 534.0, 514.0),
    ("ProcessPodOnNode/schedule_distinct_150k", 2_074.0, 1_614.0),
    ("ProcessPodOnNode/schedule_then_cancel", 1_557.0, 1_634.0),
    ("ProcessPodOnNode/tolerates_forever", 638.0, 641.0),
    ("TimedWorkerQueue_150k/add_all_cancel_all_per_entry", 1_472.0, 1_416.0),
    ("TimedWorkerQueue_150k/add_cancel_with_150k_pending", 999.0, 803.0),
];

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1) else {
        eprintln!("usage: compare-benchmarks DIR, the folder that Criterion has written to");
        return ExitCode::from(2);
    };
    let mut rows = Vec::new();
    collect(Path::new(&dir), &mut rows);
    if rows.is_empty() {
        eprintln!("error: no results in {}; run the benchmarks first", Path::new(&dir).display());
        return ExitCode::FAILURE;
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    println!("{:<54} {:>11} {:>11} {:>11}  Go / here", "median", "here", "Go 1.19.8", "Go 1.27.3");
    for (name, nanos) in rows {
        let here = format_nanos(nanos);
        match GO.iter().find(|(known, ..)| *known == name) {
            None => println!("{name:<54} {here:>11} {:>11} {:>11}", "-", "-"),
            Some((_, old, new)) => {
                let ratio = old.min(*new) / nanos;
                let (old, new) = (format_nanos(*old), format_nanos(*new));
                println!("{name:<54} {here:>11} {old:>11} {new:>11}  {ratio:.1} x");
            }
        }
    }
    println!();
    print_memory();
    ExitCode::SUCCESS
}

/// Finds `…/new/benchmark.json` and the `estimates.json` beside it.
fn collect(dir: &Path, rows: &mut Vec<(String, f64)>) {
    let read = |name: &str| -> Option<Value> {
        serde_json::from_slice(&fs::read(dir.join("new").join(name)).ok()?).ok()
    };
    if let (Some(benchmark), Some(estimates)) = (read("benchmark.json"), read("estimates.json"))
        && let Some(name) = benchmark["full_id"].as_str()
        && let Some(median) = estimates["median"]["point_estimate"].as_f64()
    {
        rows.push((name.to_owned(), median));
        return;
    }
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), rows);
        }
    }
}

/// Nanoseconds in the unit that fits.
fn format_nanos(nanos: f64) -> String {
    match nanos {
        ..1e3 => format!("{nanos:.1} ns"),
        ..1e6 => format!("{:.2} us", nanos / 1e3),
        ..1e9 => format!("{:.2} ms", nanos / 1e6),
        _ => format!("{:.2} s", nanos / 1e9),
    }
}

/// How much memory a pod with the two default tolerations takes: its object with its places in the
/// stores, and its timer.
fn print_memory() {
    const PODS: usize = 100_000;
    let pod = |index: usize| {
        let mut pod = Pod::default();
        pod.metadata.namespace = "default".into();
        pod.metadata.name = format!("web-7d4b9c6f5-{index:06}");
        pod.spec.node_name = format!("node-{}", index % 1_000);
        let keys = [well_known::NOT_READY, well_known::UNREACHABLE];
        pod.spec.tolerations.extend(keys.map(|key| Toleration {
            key: key.into(),
            operator: TolerationOperator::Exists,
            effect: TaintEffect::NoExecute,
            toleration_seconds: Some(300),
            ..Toleration::default()
        }));
        pod
    };
    let node = |index: usize| {
        let mut node = Node::default();
        node.metadata.name = format!("node-{index}");
        node.spec.taints.push(taintlab_core::api::Taint::new(
            well_known::NOT_READY,
            "",
            TaintEffect::NoExecute,
        ));
        node
    };
    let before = ALLOCATED.current_usage();
    let config = SimulatorConfig::default();
    let Ok(mut simulator) = Simulator::new(config, (0..1_000).map(node), (0..PODS).map(pod)) else {
        return;
    };
    let stored = ALLOCATED.current_usage() - before;
    // Time zero is not in the past of a new simulation.
    let _ = simulator.advance_to(Timestamp::ZERO);
    drop(simulator.drain_events());
    let counting = ALLOCATED.current_usage() - before;
    let snapshot = simulator.snapshot();
    let copied = ALLOCATED.current_usage() - before - counting;
    drop(snapshot);
    println!("memory per pod: {} bytes, {} with a timer", stored / PODS, counting / PODS);
    println!("memory per pod of a snapshot: {} bytes", copied / PODS);
}
