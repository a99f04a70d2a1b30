//! What a line shows of an imported cluster, and that nothing secret comes in by one.

#![expect(clippy::unwrap_used, reason = "a test says with a panic that it failed")]

use serde_json::{Value, json};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;
use taintlab_kubectl::{Context, run};
use taintlab_manifest::{Dropped, ImportOptions, import, redact_commands};

/// What must be found nowhere.
const MARKER: &str = "hunter2";

const CLUSTER: &str = "
apiVersion: v1
kind: Node
metadata: {name: a, creationTimestamp: 2021-03-01T08:00:00Z}
status:
  nodeInfo: {kubeletVersion: v1.21.1}
  conditions:
  - {type: Ready, status: 'True', lastHeartbeatTime: 2021-03-05T12:00:00Z}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: a, namespace: kube-node-lease}
spec: {holderIdentity: a, renewTime: '2021-03-05T14:00:05.250000+02:00'}
";

fn simulator(text: &str, base: Scenario) -> Simulator {
    import(text, "c", ImportOptions::default()).into_scenario(base).simulator().unwrap()
}

fn get(simulator: &Simulator, line: &str) -> String {
    run(&Context::new(simulator, &[]), line, None).stdout
}

#[test]
fn an_imported_cluster_shows_its_ages_versions_and_leases() {
    let mut base = Scenario::default();
    base.kubernetes.node_lifecycle = Some(true);
    let simulator = simulator(CLUSTER, base);
    assert_eq!(
        get(&simulator, "get nodes"),
        "NAME   STATUS   ROLES    AGE    VERSION\na      Ready    <none>   4d4h   v1.21.1\n"
    );
    let lease = get(&simulator, "get lease a -n kube-node-lease -o jsonpath={.spec.renewTime}");
    assert_eq!(lease, "2021-03-05T12:00:05.250000Z");
}

#[test]
fn a_node_without_time_is_as_old_as_the_simulation() {
    let node = "{apiVersion: v1, kind: Node, metadata: {name: a}}";
    let nodes = get(&simulator(node, Scenario::default()), "get nodes");
    assert!(nodes.ends_with("a      Unknown   <none>   0s    \n"), "{nodes}");
}

fn container() -> Value {
    json!({ "name": "app", "env": [{ "name": "P", "value": MARKER }], "args": [MARKER] })
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "default" },
        "spec": { "containers": [container()] },
    })
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": name, "namespace": "default" },
        "spec": {
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [container()] },
            },
        },
    })
}

fn list(items: &[Value]) -> String {
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

#[test]
fn no_secret_comes_in_through_the_console() {
    let mut simulator = Scenario {
        kubernetes: serde_json::from_value(json!({ "controlPlane": true })).unwrap(),
        ..Scenario::default()
    }
    .simulator()
    .unwrap();
    let overrides = json!({ "spec": { "containers": [container()] } });
    let template = json!({ "spec": { "template": overrides } });
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "n", "annotations": { "example.com/api-token": MARKER } },
    });
    let apply = list(&[node, pod("p"), deployment("d")]);
    let create = list(&[pod("p2"), deployment("d2")]);
    let replace = deployment("d2").to_string();
    for (line, stdin) in [
        ("kubectl apply -f -".to_owned(), Some(&apply)),
        ("kubectl create -f -".to_owned(), Some(&create)),
        ("kubectl replace -f -".to_owned(), Some(&replace)),
        (format!("kubectl patch deploy d -p '{template}'"), None),
        (format!("kubectl run r --image=i --overrides='{overrides}' -- {MARKER}"), None),
    ] {
        let outcome = run(&Context::new(&simulator, &[]), &line, stdin.map(String::as_str));
        assert_eq!(outcome.exit_code, 0, "{line}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains("Warning: not kept, since no simulation reads it: "),
            "{line}"
        );
        assert!(!format!("{outcome:?}").contains(MARKER), "{line}: {outcome:?}");
        for command in outcome.commands {
            simulator.handle_command(simulator.now(), command).unwrap();
        }
    }
    // What `apply` remembers is there, so that it knows later what to take away.
    let outcome = run(&Context::new(&simulator, &[]), "kubectl apply -f -", Some(&apply));
    assert!(!outcome.stderr.contains("is missing the"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("deployment.apps/d unchanged"), "{}", outcome.stdout);
    let mut commands: Vec<Command> =
        run(&Context::new(&simulator, &[]), "kubectl create deploy x --image=i", None).commands;
    assert_eq!(redact_commands(&mut commands).unwrap(), Dropped::default());
}

#[test]
fn the_console_leaves_alone_what_was_imported_with_everything() {
    let text = list(&[deployment("d")]);
    let kept = import(&text, "c", ImportOptions::keep_all());
    let simulator = kept.into_scenario(Scenario::default()).simulator().unwrap();
    let outcome = run(&Context::new(&simulator, &[]), "kubectl annotate deploy d a=b", None);
    assert_eq!(outcome.exit_code, 0, "{}", outcome.stderr);
    assert!(format!("{:?}", outcome.commands).contains(MARKER));
}

/// What a drain has printed since.
fn printed(simulator: &mut Simulator) -> Vec<String> {
    let events = simulator.drain_events().into_iter();
    let line = |event: Event| match event.what {
        EventKind::DrainPrinted { line, .. } => Some(line),
        _ => None,
    };
    events.filter_map(line).collect()
}

#[test]
fn a_drain_leaves_pods_alone_that_should_have_been_gone_for_long() {
    let node = "{apiVersion: v1, kind: Node, metadata: {name: worker-1}}";
    let pod = |name| {
        format!(
            "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, ownerReferences: [\
             {{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}}]}}, \
             spec: {{nodeName: worker-1, containers: [{{name: c, image: i}}], \
             terminationGracePeriodSeconds: 5}}}}\n"
        )
    };
    let mut base = Scenario::default();
    base.kubernetes.node_lifecycle = Some(true);
    let text = format!("{node}\n{}{}", pod("old"), pod("new"));
    let mut simulator = simulator(&text, base);
    let at = Timestamp::from_secs;
    simulator.handle_command(at(1), Command::StopKubelet { node: "worker-1".into() }).unwrap();
    simulator.advance_to(at(2)).unwrap();
    for command in run(&Context::new(&simulator, &[]), "delete pod old", None).commands {
        simulator.handle_command(at(2), command).unwrap();
    }
    // It should have been gone at 7 s; it is left alone when that was more than 10 s ago.
    simulator.advance_to(at(17)).unwrap();
    let line = "drain worker-1 --skip-wait-for-delete-timeout=10";
    let early = run(&Context::new(&simulator, &[]), &format!("{line} --dry-run=client"), None);
    assert!(early.stdout.contains("evicting pod default/old (dry run)\n"), "{}", early.stdout);
    simulator.advance_to(at(18)).unwrap();
    let outcome = run(&Context::new(&simulator, &[]), line, None);
    assert!(!outcome.stdout.contains("default/old"), "{}", outcome.stdout);
    for command in outcome.commands {
        simulator.handle_command(at(18), command).unwrap();
    }
    simulator.drain_events();
    // The other one should be gone at 23 s.
    simulator.advance_to(at(33)).unwrap();
    assert_eq!(printed(&mut simulator), [""; 0]);
    simulator.advance_to(at(34)).unwrap();
    assert_eq!(
        printed(&mut simulator),
        [
            "pod \"new\" has DeletionTimestamp older than 10 seconds, skipping",
            "node/worker-1 drained"
        ]
    );
}
