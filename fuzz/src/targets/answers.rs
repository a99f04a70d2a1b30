//! Arguments of the npm package in JSON: options, pods, nodes, scenarios.

use serde::Serialize;
use serde_json::Value;
use taintlab_answers::cluster::{cluster_of, read};
use taintlab_answers::options::SimulatorOptions;
use taintlab_answers::read::decode;
use taintlab_answers::scenario::{ScenarioOptions, open};
use taintlab_answers::simulation::Simulation;
use taintlab_answers::whatif::{WhenEvictedOptions, pod_source, when_evicted};
use taintlab_core::api::Node;

use super::policy::{REQUESTS, WORDS};
use super::seeds;
use crate::mutate::{Bytes, text};
use crate::show;

const OPTIONS: &[&str] = &[
    r#"{"release":"1.34","nodeLifecycle":true,"controlPlane":true,"start":"2024-01-01T00:00:00Z",
"controllerManagerFlags":{"node-monitor-grace-period":"40s","node-eviction-rate":"0.1"},
"kubelets":{"nodeStatusUpdateFrequency":"10s"},"startUpTime":"3s"}"#,
    r#"{"featureGates":{"TaintTolerationComparisonOperators":true},
"apiServerFlags":{"default-not-ready-toleration-seconds":"30"},
"kubeletConfiguration":{"evictionHard":{"memory.available":"100Mi"}},
"kubeletFlags":{"eviction-soft":"memory.available<1Gi"},
"descheduler":{},"healthPass":{"perNode":"350us"},"keepAll":true,"file":"f"}"#,
    r#"{"release":"1.18","files":{"a.yaml":"{}"},"until":"1m","file":"s.yaml"}"#,
];

/// Reads arguments and answers: every answer, and every problem, can be written as JSON.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    match bytes.below(4) {
        0 => {
            let options = text(&mut bytes, OPTIONS, WORDS, 2_000);
            show("options", &options);
            let Ok(options) = serde_json::from_str::<Value>(&options) else { return };
            let _ = decode::<ScenarioOptions>(&options, "options")
                .map(|options| open(&seeds::SCENARIOS[0], &options, &mut |_| Err("none".into())))
                .map(|opened| opened.map_err(|problems| written(&problems)));
            match decode::<SimulatorOptions>(&options, "options") {
                Ok(options) => cluster(&seeds::MANIFESTS[0], options),
                Err(wrong) => assert!(!wrong.0.is_empty()),
            }
        }
        1 => {
            let manifests = text(&mut bytes, &seeds::MANIFESTS, WORDS, 4_000);
            show("manifests", &manifests);
            cluster(&manifests, SimulatorOptions::default());
        }
        _ => {
            let request = text(&mut bytes, &REQUESTS[4..6], WORDS, 4_000);
            show("question", &request);
            let Ok(request) = serde_json::from_str::<Value>(&request) else { return };
            let of = |name: &str| request.get(name).cloned().unwrap_or_default();
            let Ok(pod) = pod_source(of("pod"), "pod") else { return };
            let Ok(node) = decode::<Node>(&of("node"), "node") else { return };
            let Ok(options) = decode::<WhenEvictedOptions>(&of("options"), "options") else {
                return;
            };
            match when_evicted(pod, node, options) {
                Ok(answer) => written(&answer),
                Err(problem) => written(&problem),
            }
        }
    }
}

/// Starts a cluster, and runs a few lines in it.
fn cluster(manifests: &str, options: SimulatorOptions) {
    match cluster_of(read(manifests, &options), options) {
        Ok(cluster) => {
            written(&cluster.imported);
            written(&cluster.problems);
            let mut simulation = Simulation::new(cluster.engine, &cluster.scenario, None);
            for line in ["kubectl get all -A", "kubectl get nodes,pods -A -o wide"] {
                let outcome = simulation.kubectl(line, "", None);
                assert!(outcome.is_ok_and(|outcome| outcome.commands.is_empty()), "{line}");
            }
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            written(&problems);
        }
    }
}

/// Checks that a value can be written.
fn written(value: &impl Serialize) {
    assert!(!serde_json::to_string(value).unwrap().is_empty());
}
