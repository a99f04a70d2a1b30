//! Lines of kubectl against a small cluster.

use std::time::Duration;

use taintlab_core::event::Event;
use taintlab_core::simulator::Simulator;
use taintlab_kubectl::{Context, Outcome, complete, run as run_line};
use taintlab_manifest::{ImportOptions, read_scenario};

use super::manifest::VOCABULARY;
use super::seeds;
use crate::mutate::{Bytes, text};
use crate::show;

/// A cluster of three nodes with workloads and a budget.
const CLUSTER: &str = "
apiVersion: taintlab/v1
kind: Scenario
kubernetes: {controlPlane: true, nodeLifecycle: true}
objects:
  nodes:
  - metadata: {name: worker-1, labels: {disk: ssd, topology.kubernetes.io/zone: a}}
    status: {allocatable: {cpu: \"4\", memory: 8Gi, pods: \"20\"}}
  - metadata: {name: worker-2, labels: {disk: hdd, topology.kubernetes.io/zone: b}}
    spec: {taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}
    status: {allocatable: {cpu: \"4\", memory: 8Gi, pods: \"20\"}}
  - metadata: {name: worker-3}
  pods:
  - metadata: {name: alone, namespace: default, labels: {app: alone}}
    spec: {nodeName: worker-1, containers: [{name: c, image: i}]}
  workloads:
  - kind: Deployment
    metadata: {name: web, namespace: default}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
  - kind: StatefulSet
    metadata: {name: db, namespace: shop}
    spec:
      replicas: 1
      selector: {matchLabels: {app: db}}
      template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c}]}}
  budgets:
  - metadata: {name: web, namespace: default}
    spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
";

thread_local! {
    static START: (Simulator, Vec<Event>) = start();
}

fn start() -> (Simulator, Vec<Event>) {
    let mut none = |_: &str| Err("no files here".to_owned());
    let read = read_scenario(CLUSTER, "", ImportOptions::default(), &mut none);
    let scenario = read.scenario.unwrap_or_else(|| panic!("{:?}", read.diagnostics));
    let mut simulator = scenario.simulator().unwrap();
    let at = simulator.now().saturating_add(Duration::from_secs(10));
    simulator.advance_to(at).unwrap();
    let events = simulator.drain_events();
    (simulator, events)
}

/// The cluster after ten seconds, and its events.
pub(super) fn cluster() -> (Simulator, Vec<Event>) {
    START.with(Clone::clone)
}

/// Runs a line, and checks what holds for each.
pub(super) fn run_checked(simulator: &Simulator, events: &[Event], line: &str) -> Outcome {
    let context = Context::new(simulator, events);
    let outcome = run_line(&context, line, Some(seeds::MANIFESTS[0].as_str()));
    assert!(outcome.exit_code <= 1);
    assert!(outcome.exit_code == 0 || !outcome.stderr.is_empty(), "no reason: {line}");
    assert_eq!(outcome.terminal.len(), outcome.stdout.len() + outcome.stderr.len());
    outcome
}

const FLAGS: &[&str] = &[
    "worker-1",
    "worker-2",
    "web",
    "db",
    "shop",
    "alone",
    "nodes",
    "pods",
    "deploy",
    "sts",
    "pdb",
    "-A",
    "-n",
    "-l",
    "-o",
    "wide",
    "yaml",
    "json",
    "name",
    "--all",
    "--force",
    "--overwrite",
    "--dry-run=client",
    "--dry-run=server",
    "--grace-period=0",
    "--ignore-daemonsets",
    "-f",
    "-",
    "--replicas=3",
    "--type=merge",
    "-p",
    "--sort-by=.metadata.name",
    "--show-labels",
    "--cascade",
    "taint",
    "drain",
    "cordon",
    "uncordon",
    "delete",
    "scale",
    "label",
    "annotate",
    "describe",
    "patch",
    "rollout",
    "restart",
    "create",
    "apply",
    "replace",
    "events",
    "--field-selector",
];

/// Runs up to three lines: an error code exactly where there is an error, the same outcome twice,
/// and commands that the cluster takes.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let (mut simulator, mut events) = cluster();
    let count = 1 + bytes.below(3);
    let cursor = bytes.below(80);
    let vocabulary = if bytes.one_in(3) { VOCABULARY } else { FLAGS };
    let texts = text(&mut bytes, &seeds::LINES, vocabulary, 2_000);
    for line in texts.splitn(count, '\n') {
        show("line", &line);
        let outcome = run_checked(&simulator, &events, line);
        assert_eq!(outcome, run_checked(&simulator, &events, line), "planning has an effect");
        for completion in complete(&Context::new(&simulator, &events), line, cursor) {
            let cursor = line.floor_char_boundary(cursor.min(line.len()));
            let word = line.get(completion.start..cursor);
            assert!(word.is_some_and(|word| completion.text.starts_with(word)), "{completion:?}");
        }
        let now = simulator.now();
        for command in outcome.commands {
            let result = simulator.handle_command(now, command);
            assert!(result.is_ok(), "{line}: {result:?}");
        }
        simulator.advance_to(now.saturating_add(Duration::from_secs(3))).unwrap();
        events.extend(simulator.drain_events());
    }
}
