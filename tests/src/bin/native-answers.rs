//! `native-answers SCENARIOS OUTPUT`: runs every scenario of a folder natively, and writes what the
//! engine must say as wasm too: its events, and what zones and time budgets are at some moments of
//! it; of some clusters also the resilience report. For the policy module, whose hosts must say the
//! same, it writes requests made of recorded cases, and their answers.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};
use taintlab_core::event::Event;
use taintlab_core::report::{Plan, ReportOptions, report};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::{Timestamp, format_duration};
use taintlab_manifest::{Limits, read_scenario};

/// How many moments of a scenario are looked at.
const MOMENTS: u64 = 12;
/// Of these clusters there is a resilience report.
const REPORTS: [&str; 3] = ["sample-cluster", "recovery-storm", "service-in-an-outage"];

/// Families of recorded cases, and how many of each make requests of the policy module.
const POLICY: [(&str, usize); 5] = [
    ("matching", 250),
    ("matching_1.36", 100),
    ("tolerates-numeric", 150),
    ("zone_state", 100),
    ("validation", 200),
];

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
    let lite = recorded_requests()?;
    fs::write(output.join("policy-lite.jsonl"), answered(&lite)?)?;
    fs::write(output.join("policy.jsonl"), answered(&simulated_requests())?)?;
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

/// Requests of the policy module with their answers, each a text, so that bytes can be compared.
fn answered(requests: &[Value]) -> Result<String> {
    let mut lines = String::new();
    for request in requests {
        let request = request.to_string();
        let answer = String::from_utf8(taintlab_policy::call(request.as_bytes(), 0))?;
        lines += &format!("{}\n", json!({ "request": request, "answer": answer }));
    }
    Ok(lines)
}

/// Requests of the small policy module, made of recorded cases.
fn recorded_requests() -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for (family, number) in POLICY {
        let cases = read_family(family)?;
        let step = cases.len().div_ceil(number);
        all.extend(cases.iter().step_by(step).flat_map(|case| requests(family, case)));
    }
    Ok(all)
}

/// Requests that need a simulator: pods and workloads on nodes with each fault, and a cluster of
/// them all, under some releases.
fn simulated_requests() -> Vec<Value> {
    let spec = json!({ "containers": [{ "name": "c", "image": "i" }] });
    let toleration = json!({
        "key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 90,
    });
    let with = |name: &str, value: Value| {
        let mut spec = spec.clone();
        spec[name] = value;
        spec
    };
    let pod = |name: &str, spec: &Value| {
        let metadata = json!({ "name": name });
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec })
    };
    let workload = |kind: &str| {
        let labels = json!({ "app": kind });
        let template = json!({ "metadata": { "labels": labels }, "spec": spec });
        json!({
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": { "name": kind.to_lowercase() },
            "spec": { "selector": { "matchLabels": labels }, "template": template },
        })
    };
    let node = |name: &str, taints: Value| {
        let (metadata, spec) = (json!({ "name": name }), json!({ "taints": taints }));
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec })
    };
    let nodes = [
        node("n0", json!([])),
        node("n1", json!([{ "key": "a", "effect": "NoExecute" }])),
        node("n2", json!([{ "key": "a", "value": "b", "effect": "NoSchedule" }])),
    ];
    let pods = [
        pod("plain", &with("nodeName", json!("n1"))),
        pod("tolerant", &with("tolerations", json!([toleration]))),
        workload("Deployment"),
        workload("DaemonSet"),
    ];
    let cluster = json!(nodes.iter().chain(&pods).collect::<Vec<_>>());
    let mut requests = Vec::new();
    for release in ["1.18", "1.27", "1.34", "1.36"] {
        for fault in ["tainted", "lost", "notReady"] {
            let options = json!({ "nodeFault": fault, "release": release });
            for (pod, node) in pods.iter().flat_map(|pod| nodes.iter().map(move |node| (pod, node)))
            {
                requests.push(
                    json!({ "function": "when", "pod": pod, "node": node, "options": options }),
                );
            }
        }
        let options = json!({ "release": release });
        requests.push(json!({ "function": "lint", "manifests": cluster, "options": options }));
        requests.extend(["plain", "default/tolerant"].map(|pod| {
            json!({ "function": "explain", "manifests": cluster, "pod": pod, "options": options })
        }));
    }
    requests
}

/// The cases of a family in `tests/vectors`.
fn read_family(name: &str) -> Result<Vec<Value>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let file = MultiGzDecoder::new(File::open(folder.join(format!("{name}.jsonl.gz")))?);
    BufReader::new(file).lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

/// The requests that a recorded case makes.
fn requests(family: &str, case: &Value) -> Vec<Value> {
    let list = |name: &str| case.get(name).filter(|list| list.is_array()).cloned();
    let taints = list("taints").unwrap_or_else(|| json!([]));
    let tolerations = list("tolerations").unwrap_or_else(|| json!([]));
    match family {
        "tolerates-numeric" => {
            let on = case["enable_comparison_operators"] == true;
            let gates = json!({ "TaintTolerationComparisonOperators": on });
            vec![json!({
                "function": "match",
                "taints": [case["taint"]],
                "tolerations": [case["toleration"]],
                "options": { "release": "1.35", "featureGates": gates },
            })]
        }
        "zone_state" => {
            let node = |status: &str| {
                let ready = json!({ "type": "Ready", "status": status });
                json!({ "status": { "conditions": [ready] } })
            };
            let count = |name: &str| case[name].as_u64().unwrap_or_default();
            let mut nodes = vec![node("True"); usize::try_from(count("ready")).unwrap_or_default()];
            nodes.extend((0..count("not_ready")).map(|_| node("Unknown")));
            let threshold = &case["unhealthy_zone_threshold"];
            let options = json!({ "unhealthyZoneThreshold": threshold });
            vec![json!({ "function": "zone_state", "nodes": nodes, "options": options })]
        }
        "validation" if case["kind"] == "node_taints" => {
            vec![json!({ "function": "validate", "taints": taints })]
        }
        "validation" => {
            let options = json!({ "release": "1.20" });
            vec![json!({ "function": "validate", "tolerations": tolerations, "options": options })]
        }
        _ => vec![
            json!({ "function": "match", "taints": taints, "tolerations": tolerations }),
            json!({ "function": "toleration_time", "tolerations": tolerations }),
        ],
    }
}
