//! Objects and times that nobody means: the engine gives an error or a result, never a panic.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use taintlab_core::api::{Node, Pod, PodKey, Taint, Toleration};
use taintlab_core::command::{ApiErrorKind, Command, PodWrite};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::{Time, Timestamp};
use taintlab_kubectl::{Context, run};
use taintlab_manifest::{ImportOptions, read_scenario};

use super::check;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop_oneof![Just("a"), Just("b"), Just(""), Just("/"), Just("-0"), Just("NoExecute")]
            .prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => ".{0,4}",
        1 => Just("9".repeat(400)),
    ]
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(i64::MAX),
        Just(i64::MIN),
        Just(-1),
        Just(0),
        Just(1),
        Just(i64::MAX / 1_000_000_000),
        any::<i64>(),
    ]
}

fn time() -> impl Strategy<Value = Option<Time>> {
    prop_oneof![Just(None), number().prop_map(|seconds| Some(Time::from_unix_seconds(seconds)))]
}

fn taint() -> impl Strategy<Value = Taint> {
    let effect = prop_oneof![3 => Just("NoExecute".to_owned()), 1 => text()];
    (text(), text(), effect, time()).prop_map(|(key, value, effect, time_added)| Taint {
        key,
        value,
        effect: effect.as_str().into(),
        time_added,
    })
}

fn toleration() -> impl Strategy<Value = Toleration> {
    let operator = prop_oneof![
        Just("Exists".to_owned()),
        Just("Gt".to_owned()),
        Just("Lt".to_owned()),
        text(),
    ];
    (text(), operator, text(), text(), proptest::option::of(number())).prop_map(
        |(key, operator, value, effect, toleration_seconds)| Toleration {
            key,
            operator: operator.as_str().into(),
            value,
            effect: effect.as_str().into(),
            toleration_seconds,
        },
    )
}

fn node() -> impl Strategy<Value = Node> {
    let labels = btree_map(text(), text(), 0..3);
    (text(), vec(taint(), 0..4), labels).prop_map(|(name, taints, labels)| {
        let mut node = Node::default();
        node.metadata.name = name;
        node.metadata.labels = labels.into();
        node.spec.taints = taints;
        node
    })
}

fn pod() -> impl Strategy<Value = Pod> {
    let times = (time(), proptest::option::of(number()), proptest::option::of(number()));
    (text(), text(), text(), text(), vec(toleration(), 0..4), times).prop_map(
        |(namespace, name, uid, node, tolerations, (deleted, grace, generation))| {
            let mut pod = Pod::default();
            pod.metadata.namespace = namespace;
            pod.metadata.name = name;
            pod.metadata.uid = uid;
            pod.metadata.deletion_timestamp = deleted;
            if let Some(generation) = generation {
                pod.metadata.other.set("generation", generation.into());
            }
            pod.spec.node_name = node;
            pod.spec.tolerations = tolerations.into();
            pod.spec.termination_grace_period_seconds = grace;
            pod
        },
    )
}

fn command() -> impl Strategy<Value = Command> {
    let pod_key = || (text(), text()).prop_map(|(namespace, name)| PodKey::new(&namespace, &name));
    let node_name = || text().prop_map(|name| name.as_str().into());
    prop_oneof![
        node().prop_map(Command::CreateNode),
        node().prop_map(Command::UpdateNode),
        node_name().prop_map(|node| Command::DeleteNode { node }),
        (node_name(), vec(taint(), 0..3))
            .prop_map(|(node, taints)| Command::SetTaints { node, taints }),
        (node_name(), taint()).prop_map(|(node, taint)| Command::Taint { node, taint }),
        (node_name(), text()).prop_map(|(node, key)| Command::Untaint {
            node,
            key,
            effect: "".into()
        }),
        pod().prop_map(Command::CreatePod),
        pod().prop_map(Command::UpdatePod),
        (pod_key(), any::<bool>()).prop_map(|(pod, force)| Command::DeletePod {
            pod,
            force,
            grace_period_seconds: None
        }),
        (pod_key(), vec(toleration(), 0..3))
            .prop_map(|(pod, tolerations)| Command::SetTolerations { pod, tolerations }),
        (pod_key(), btree_map(text(), text(), 0..2))
            .prop_map(|(pod, labels)| Command::SetPodLabels { pod, labels }),
        (pod_key(), node_name()).prop_map(|(pod, node)| Command::BindPod { pod, node }),
        (pod_key(), any::<u32>()).prop_map(|(pod, times)| Command::FailPodWrites {
            pod,
            verb: PodWrite::Delete,
            times,
            error: ApiErrorKind::Forbidden,
        }),
        Just(Command::RestartTaintEvictionController),
    ]
}

/// (h) No panic: not while it runs, not when anything of it is shown.
#[test]
fn nothing_panics() {
    let gaps = prop_oneof![6 => 0..3_000_000_000_u64, 1 => Just(u64::MAX), 1 => any::<u64>()];
    let steps = vec((gaps, command()), 0..12);
    let cluster = (vec(node(), 0..3), vec(pod(), 0..4));
    let config = (18..36_u8, any::<bool>(), time());
    check(600, (config, cluster, steps), |((minor, stand_in, start), (nodes, pods), steps)| {
        let config = SimulatorConfig {
            start: start.unwrap_or(Time::DEFAULT_START),
            stand_in_api_server: stand_in,
            ..SimulatorConfig::of(KubernetesRelease::new(minor).unwrap())
        };
        let mut simulator = Simulator::new(config, nodes, pods).unwrap();
        let mut at = Timestamp::ZERO;
        for (gap, command) in steps {
            at = Timestamp::from_nanos(at.as_nanos().saturating_add(gap));
            if let Err(error) = simulator.handle_command(at, command) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
        for _ in 0..50 {
            let keys: Vec<PodKey> =
                simulator.cluster().pods().map(|(key, _)| key.clone()).collect();
            for key in keys {
                let explanation = simulator.explain(&key).unwrap();
                serde_json::to_string(&explanation).unwrap();
            }
            let Some(next) = simulator.poll_timeout() else { break };
            simulator.handle_timeout(next.at).unwrap();
            for event in simulator.drain_events() {
                serde_json::to_string(&event).unwrap();
            }
        }
        simulator.advance_to(Timestamp::MAX).unwrap();
        Ok(())
    });
}

/// The same as a scenario that was read from text: it runs, or says which step it was.
#[test]
fn scenarios_do_not_panic() {
    let steps = vec((0..100_u64, command()), 0..6);
    check(300, (vec(node(), 0..3), vec(pod(), 0..4), steps), |(nodes, pods, steps)| {
        let steps =
            steps.into_iter().map(|(at, command)| serde_json::json!({ "at": at, "do": command }));
        let text = serde_json::json!({
            "apiVersion": "taintlab/v1",
            "kind": "Scenario",
            "objects": { "nodes": nodes, "pods": pods },
            "steps": steps.collect::<Vec<_>>(),
            "until": "1h",
        })
        .to_string();
        // A pod without a name, for example, has no key that can be read.
        let Ok(scenario) = serde_json::from_str::<Scenario>(&text) else { return Ok(()) };
        if let Err(error) = scenario.run() {
            // Two objects of one name, or a step that cannot be carried out.
            let path = error.path();
            prop_assert!(path.starts_with("steps[") || path.starts_with("objects."), "{path}");
        }
        Ok(())
    });
}

/// Times whose year has not four digits could not be read again, and kubectl has no text for them.
#[test]
fn the_calendar_ends_with_the_year_9999() {
    let text = "
kubernetes: {controlPlane: true, nodeLifecycle: true}
start: 9999-12-31T23:59:58Z
objects:
  nodes: [{metadata: {name: worker-1}}]
  workloads:
  - kind: Deployment
    metadata: {name: web, namespace: default}
    spec:
      selector: {matchLabels: {app: web}}
      template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}
until: 10s
";
    let scenario = read(&format!("{HEAD}{text}")).unwrap();
    let simulator = scenario.run().unwrap().simulator;
    let outcome = run(&Context::new(&simulator, &[]), "kubectl describe nodes,pods,deploy", None);
    assert!(outcome.stdout.contains("Fri, 31 Dec 9999 23:59:59 +0000"), "{outcome:?}");
}

/// Go reads neither leap seconds nor years of five digits.
#[test]
fn times_that_go_does_not_read_are_refused() {
    for start in ["2016-12-31T23:59:60Z", "9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"]
    {
        let error = read(&format!("{HEAD}start: \"{start}\"\n")).unwrap_err();
        assert!(error.contains(&format!("`{start}` is not a time in RFC 3339")), "{error}");
    }
}

/// The fraction of a number that just fits must not make it a small one.
#[test]
fn a_duration_beyond_all_numbers_is_refused() {
    let until = "340282366920938463463374607431768211.999us";
    let error = read(&format!("{HEAD}until: \"{until}\"\n")).unwrap_err();
    assert!(error.contains("more than 292 years"), "{error}");
}

const HEAD: &str = "apiVersion: taintlab/v1\nkind: Scenario\n";

/// A scenario from text, or its first error.
fn read(text: &str) -> Result<Scenario, String> {
    let mut none = |_: &str| Err("no files here".to_owned());
    let read = read_scenario(text, "s", ImportOptions::default(), &mut none);
    read.scenario.ok_or_else(|| read.diagnostics[0].to_string())
}
