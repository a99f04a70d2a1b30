//! The eviction API and the pod garbage collector on both sides of their differences.

use serde_json::json;
use taintlab_core::api::{BudgetStatus, JobStatus, Node, Pod, PodKey, WorkloadKey};
use taintlab_core::command::Command;
use taintlab_core::event::{EventKind, RequestResult};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;
use taintlab_kubectl::{Context, run};

fn pod(name: &str, ready: &str) -> Pod {
    serde_json::from_value(json!({
        "metadata": { "name": name, "labels": { "app": "web" } },
        "spec": { "nodeName": "n" },
        "status": {
            "phase": "Running",
            "conditions": [{ "type": "Ready", "status": ready }],
        },
    }))
    .unwrap()
}

/// A node with one pod that is ready and one that is not, and a budget that needs one.
fn cluster(release: &str) -> Simulator {
    let release = KubernetesRelease::parse(release).unwrap();
    cluster_with(SimulatorConfig::with_control_plane(release))
}

fn cluster_with(config: SimulatorConfig) -> Simulator {
    let node: Node = serde_json::from_value(json!({ "metadata": { "name": "n" } })).unwrap();
    let budget = serde_json::from_value(json!({
        "metadata": { "name": "web" },
        "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } },
    }));
    let begin = InitialState { budgets: vec![budget.unwrap()], ..InitialState::default() };
    let pods = [pod("ready", "True"), pod("unready", "False")];
    Simulator::beginning_with(config, [node], pods, begin).unwrap()
}

fn evict(simulator: &mut Simulator, name: &str) -> bool {
    let pod = PodKey::new("", name);
    let command = Command::EvictPod { pod, grace_period_seconds: None };
    simulator.handle_command(Timestamp::from_secs(1), command).is_ok()
}

fn reason(simulator: &Simulator, name: &str) -> String {
    let pod = simulator.cluster().get_pod(&PodKey::new("", name));
    let condition = pod.and_then(|pod| pod.condition("DisruptionTarget"));
    condition.map(|condition| condition.reason.clone()).unwrap_or_default()
}

#[test]
fn a_pod_that_is_not_ready_may_go_since_1_20() {
    for (release, granted) in [("1.19", false), ("1.20", true), ("1.34", true)] {
        let mut simulator = cluster(release);
        assert!(!evict(&mut simulator, "ready"), "{release}");
        assert_eq!(evict(&mut simulator, "unready"), granted, "{release}");
    }
}

#[test]
fn evictions_say_so_since_1_26() {
    for (release, expected) in [("1.25", ""), ("1.26", "EvictionByEvictionAPI")] {
        let mut simulator = cluster(release);
        assert!(evict(&mut simulator, "unready"), "{release}");
        assert_eq!(reason(&simulator, "unready"), expected, "{release}");
    }
    // 1.25 does with the gate.
    let release = KubernetesRelease::new(25).unwrap();
    let mut config = SimulatorConfig::with_control_plane(release);
    config.feature_gates.insert("PodDisruptionConditions".into(), true);
    let mut simulator = cluster_with(config);
    assert!(evict(&mut simulator, "unready"));
    assert_eq!(reason(&simulator, "unready"), "EvictionByEvictionAPI");
}

/// Whoever asks the eviction API, pods that it lets go are evicted, and counted once; what is
/// deleted is not.
#[test]
fn an_eviction_counts_whoever_asks_for_it() {
    let evict = json!({ "evictPod": { "pod": "default/unready" } });
    let delete = json!({ "deletePod": { "pod": "default/unready" } });
    let drain = |deletes: bool| {
        let options = json!({ "force": true, "disableEviction": deletes });
        json!({ "drain": { "nodes": ["n"], "options": options } })
    };
    for (command, control_plane, counted) in [
        (&evict, true, 1),
        (&delete, true, 0),
        (&drain(false), true, 1),
        (&drain(false), false, 2),
        (&drain(true), true, 0),
    ] {
        let mut config = SimulatorConfig::with_control_plane(KubernetesRelease::NEWEST);
        config.control_plane = control_plane;
        let mut simulator = cluster_with(config);
        let command: Command = serde_json::from_value(command.clone()).unwrap();
        simulator.handle_command(Timestamp::from_secs(1), command.clone()).unwrap();
        simulator.advance_to(Timestamp::from_secs(3)).unwrap();
        assert_eq!(simulator.evictions_until_now(), counted, "{command:?}, {control_plane}");
    }
}

/// Whoever asks for the end of a pod is refused as often as it was said, in the words of kubectl;
/// nothing is charged for that, and no budget is asked before.
#[test]
fn a_request_that_is_made_to_fail_is_refused_and_counts() {
    let fail = |times| {
        json!({ "failPodWrites": {
            "pod": "default/unready", "verb": "delete", "times": times, "error": "Conflict" } })
    };
    let words = "Operation cannot be fulfilled on pods \"unready\": the object has been modified; \
                 please apply your changes to the latest version and try again";
    for request in [
        json!({ "deletePod": { "pod": "default/unready" } }),
        json!({ "deletePod": { "pod": "default/unready", "force": true } }),
        json!({ "evictPod": { "pod": "default/unready" } }),
    ] {
        let mut simulator = cluster("1.34");
        let mut send = |command: &serde_json::Value| {
            let command = serde_json::from_value(command.clone()).unwrap();
            simulator.handle_command(Timestamp::from_secs(1), command)
        };
        send(&fail(2)).unwrap();
        for _ in 0..2 {
            let error = send(&request).unwrap_err();
            assert!(error.is_simulated());
            assert_eq!(error.to_string(), words);
        }
        send(&request).unwrap();
        let events = simulator.drain_events();
        let refused = events.iter().filter(|event| {
            matches!(&event.what, EventKind::Request { pod, result: RequestResult::Error(_), .. }
                if pod.name() == "unready")
        });
        assert_eq!(refused.count(), 2, "{request}");
        let marked = reason(&simulator, "unready");
        let evicted = request.get("evictPod").is_some();
        assert_eq!(marked, if evicted { "EvictionByEvictionAPI" } else { "" }, "{request}");
    }
    let mut simulator = cluster("1.34");
    let fails =
        json!({ "failPodWrites": { "pod": "default/ready", "verb": "delete", "times": 1 } });
    let fails = serde_json::from_value(fails).unwrap();
    simulator.handle_command(Timestamp::from_secs(1), fails).unwrap();
    let evict = Command::EvictPod { pod: PodKey::new("", "ready"), grace_period_seconds: None };
    let mut error = || {
        let now = simulator.now();
        simulator.handle_command(now, evict.clone()).unwrap_err().to_string()
    };
    assert_eq!(error(), "Internal error occurred: simulated");
    assert!(error().contains("disruption budget"), "the budget is asked now");
}

/// A line that was refused has sent its request: whoever applies its commands is refused, too, so
/// that the next line is not.
#[test]
fn kubectl_delete_tells_what_the_api_server_refuses() {
    let mut simulator = cluster("1.34");
    let fails =
        json!({ "failPodWrites": { "pod": "default/ready", "verb": "delete", "times": 1 } });
    let fails = serde_json::from_value(fails).unwrap();
    simulator.handle_command(Timestamp::from_secs(1), fails).unwrap();
    let line = "kubectl delete pod ready unready";
    let outcome = run(&Context::new(&simulator, &[]), line, None);
    assert_eq!(outcome.stdout, "pod \"unready\" deleted from default namespace\n");
    assert_eq!(
        outcome.stderr,
        "Error from server (InternalError): Internal error occurred: simulated\n"
    );
    assert_eq!((outcome.exit_code, outcome.commands.len()), (1, 2));
    let now = simulator.now();
    let mut results = outcome.commands.into_iter();
    let refused = simulator.handle_command(now, results.next().unwrap()).unwrap_err();
    assert!(refused.is_simulated());
    simulator.handle_command(now, results.next().unwrap()).unwrap();
    let again = run(&Context::new(&simulator, &[]), "kubectl delete pod ready", None);
    assert_eq!((again.stderr.as_str(), again.exit_code), ("", 0));
}

/// A step of a scenario is refused as it would be, and what comes after it happens.
#[test]
fn a_scenario_goes_on_after_a_request_that_was_made_to_fail() {
    let scenario = |refused: &serde_json::Value| -> Scenario {
        serde_json::from_value(json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "objects": { "nodes": [{ "metadata": { "name": "n" } }], "pods": [pod("p", "True")] },
            "steps": [
                { "at": "1s", "do": { "failPodWrites": {
                    "pod": "default/p", "verb": "delete", "times": 1 } } },
                { "at": "2s", "do": { "deletePod": { "pod": "default/p" } }, "refused": refused },
                { "at": "3s", "do": { "deletePod": { "pod": "default/p" } } },
            ],
            "expect": [{ "gone": { "pod": "default/p", "at": "33s" } }],
        }))
        .unwrap()
    };
    for refused in [json!(null), json!("Internal error occurred: simulated")] {
        let run = scenario(&refused).run().unwrap();
        assert!(run.passed(), "{refused}: {:?}", run.outcomes);
    }
    scenario(&json!("something else")).run().unwrap_err();
}

#[test]
fn pods_of_a_deleted_node_go_with_the_third_pass() {
    let mut simulator = cluster("1.34");
    let command = Command::DeleteNode { node: "n".into() };
    simulator.handle_command(Timestamp::from_secs(15), command).unwrap();
    let there = |simulator: &Simulator| simulator.cluster().pod_count();
    // Passes at 20, 40 and 60 s; that at 20 s misses the node first.
    simulator.advance_to(Timestamp::from_secs(59)).unwrap();
    assert_eq!(there(&simulator), 2);
    simulator.advance_to(Timestamp::from_secs(61)).unwrap();
    assert_eq!(there(&simulator), 0);
}

/// A machine whose passes are slow misses the end of the quarantine, and collects a pass later.
#[test]
fn a_quarantine_may_end_late() {
    for (quarantine_ends_late, passes) in [(false, 60), (true, 80)] {
        let begin = InitialState { quarantine_ends_late, ..InitialState::default() };
        let config = SimulatorConfig::with_control_plane(KubernetesRelease::NEWEST);
        let node: Node = serde_json::from_value(json!({ "metadata": { "name": "n" } })).unwrap();
        let pods = [pod("ready", "True")];
        let mut simulator = Simulator::beginning_with(config, [node], pods, begin).unwrap();
        let command = Command::DeleteNode { node: "n".into() };
        simulator.handle_command(Timestamp::from_secs(15), command).unwrap();
        simulator.advance_to(Timestamp::from_secs(passes - 1)).unwrap();
        assert_eq!(simulator.cluster().pod_count(), 1, "{passes}");
        simulator.advance_to(Timestamp::from_secs(passes)).unwrap();
        assert_eq!(simulator.cluster().pod_count(), 0, "{passes}");
    }
}

/// Of several budgets of a pod upstream looks at one, by lot: that which a record has, else at all.
#[test]
fn recorded_choices_say_which_of_several_budgets_is_looked_at() {
    for (choices, expected) in [(&[][..], [0, 0]), (&["one"], [0, 1]), (&["two"], [1, 0])] {
        let budgets = ["one", "two"].map(|name| {
            let spec =
                json!({ "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } });
            serde_json::from_value(json!({ "metadata": { "name": name }, "spec": spec })).unwrap()
        });
        let changed = Timestamp::from_secs(10);
        let chosen = choices.iter().map(|name| (changed, PodKey::new("default", name)));
        let begin = InitialState {
            budgets: budgets.into(),
            budget_choices: chosen.collect(),
            ..InitialState::default()
        };
        let config = SimulatorConfig::with_control_plane(KubernetesRelease::NEWEST);
        let node: Node = serde_json::from_value(json!({ "metadata": { "name": "n" } })).unwrap();
        let mut simulator =
            Simulator::beginning_with(config, [node], [pod("web", "True")], begin).unwrap();
        let mut unready = pod("web", "False");
        unready.metadata.namespace = "default".into();
        simulator.handle_command(changed, Command::UpdatePod(unready)).unwrap();
        simulator.advance_to(changed).unwrap();
        let healthy = ["one", "two"].map(|name| {
            let budget = simulator.cluster().get_budget(&PodKey::new("default", name)).unwrap();
            BudgetStatus::of(budget).current_healthy
        });
        assert_eq!(healthy, expected, "{choices:?}");
    }
}

/// Passes begin when the controller manager began them.
#[test]
fn the_first_collection_says_when_the_others_are() {
    let first_collection = Timestamp::from_secs(7);
    let begin = InitialState { first_collection, ..InitialState::default() };
    let config = SimulatorConfig::with_control_plane(KubernetesRelease::NEWEST);
    let node: Node = serde_json::from_value(json!({ "metadata": { "name": "n" } })).unwrap();
    let mut simulator =
        Simulator::beginning_with(config, [node], [pod("ready", "True")], begin).unwrap();
    let command = Command::DeleteNode { node: "n".into() };
    simulator.handle_command(Timestamp::from_secs(15), command).unwrap();
    // Passes at 7, 27, 47 and 67 s.
    for (second, pods) in [(66, 1), (67, 0)] {
        simulator.advance_to(Timestamp::from_secs(second)).unwrap();
        assert_eq!(simulator.cluster().pod_count(), pods, "{second}");
    }
}

/// The pods of a Deployment that was deleted have a controller that is not there. Since 1.21 a
/// budget tells that once, in the event of the failed count.
#[test]
fn a_budget_over_pods_of_a_deleted_deployment_tells_no_missing_controllers() {
    for (release, told) in [("1.20", true), ("1.22", false), ("1.35", false)] {
        let scenario: Scenario = serde_json::from_value(json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "kubernetes": { "release": release, "controlPlane": true },
            "objects": {
                "nodes": [{ "metadata": { "name": "n" } }],
                "workloads": [{
                    "kind": "Deployment", "metadata": { "name": "web" },
                    "spec": {
                        "replicas": 2, "selector": { "matchLabels": { "app": "web" } },
                        "template": {
                            "metadata": { "labels": { "app": "web" } },
                            "spec": { "containers": [{ "name": "web" }] },
                        },
                    },
                }],
                "budgets": [{
                    "metadata": { "name": "web" },
                    "spec": {
                        "maxUnavailable": 1, "selector": { "matchLabels": { "app": "web" } },
                    },
                }],
            },
            "steps": [
                { "at": "10s", "do": { "deleteWorkload": { "workload": "deployment/web" } } },
            ],
            "until": "30s",
        }))
        .unwrap();
        let events = scenario.run().unwrap().events;
        let says = |reason: &str| {
            events.iter().any(
                |event| matches!(&event.what, EventKind::EventRecorded(it) if it.reason == reason),
            )
        };
        assert!(says("CalculateExpectedPodCountFailed"), "{release}: {events:#?}");
        assert_eq!(says("NoControllers"), told, "{release}");
    }
}

/// Between the mark of the garbage collector and its request the StatefulSet controller sees a pod
/// that has failed, and deletes it.
#[test]
fn a_stateful_set_deletes_what_the_collector_has_marked() {
    for (release, deletes) in [("1.30", 0), ("1.31", 1), ("1.35", 1)] {
        let scenario: Scenario = serde_json::from_value(json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "kubernetes": { "release": release, "controlPlane": true },
            "objects": {
                "nodes": [{ "metadata": { "name": "n" } }, { "metadata": { "name": "m" },
                    "spec": { "unschedulable": true } }],
                "workloads": [{
                    "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": { "name": "db" },
                    "spec": {
                        "replicas": 1, "selector": { "matchLabels": { "app": "db" } },
                        "template": { "metadata": { "labels": { "app": "db" } },
                                      "spec": { "containers": [{ "name": "c" }] } },
                    },
                }],
            },
        }))
        .unwrap();
        let mut simulator = scenario.simulator().unwrap();
        simulator.advance_to(Timestamp::from_secs(15)).unwrap();
        let delete = Command::DeleteNode { node: "n".into() };
        simulator.handle_command(Timestamp::from_secs(15), delete).unwrap();
        simulator.advance_to(Timestamp::from_secs(120)).unwrap();
        let events = simulator.drain_events();
        let reasons = |wanted: &str| {
            let recorded = events.iter().filter(|event| match &event.what {
                EventKind::EventRecorded(recorded) => recorded.reason == wanted,
                _ => false,
            });
            recorded.count()
        };
        assert_eq!(reasons("SuccessfulDelete"), deletes, "{release}");
        assert_eq!(reasons("SuccessfulCreate"), 2, "{release}");
        let pod = simulator.cluster().get_pod(&PodKey::new("", "db-0"));
        assert!(pod.is_some_and(|pod| pod.spec.node_name.is_empty()), "{release}");
    }
}

/// Whoever collects the pods of a node that is gone says so in the pods before it deletes them,
/// which a Job reads: it does not count them, unless the gate is off.
#[test]
fn a_job_that_ignores_disruptions_ignores_collected_pods() {
    for (release, says_so, failed) in [
        ("1.26", true, ""),
        ("1.26", false, "BackoffLimitExceeded"),
        ("1.30", false, "BackoffLimitExceeded"),
        ("1.35", true, ""),
    ] {
        let release = KubernetesRelease::parse(release).unwrap();
        let node = |name| -> Node {
            serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap()
        };
        let mut config = SimulatorConfig::with_control_plane(release);
        if !says_so {
            config.feature_gates.insert("PodDisruptionConditions".into(), false);
        }
        let mut simulator = Simulator::new(config, [node("n")], []).unwrap();
        let on_condition = json!([{ "type": "DisruptionTarget", "status": "True" }]);
        let rule = json!({ "action": "Ignore", "onPodConditions": on_condition });
        let job = json!({ "createWorkload": {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "it" },
            "spec": {
                "backoffLimit": 0, "podFailurePolicy": { "rules": [rule] },
                "template": { "spec": {
                    "restartPolicy": "Never", "containers": [{ "name": "c" }],
                } },
            },
        } });
        let job = serde_json::from_value(job).unwrap();
        simulator.handle_command(Timestamp::from_secs(1), job).unwrap();
        simulator.handle_command(Timestamp::from_secs(5), Command::CreateNode(node("m"))).unwrap();
        let command = Command::DeleteNode { node: "n".into() };
        simulator.handle_command(Timestamp::from_secs(15), command).unwrap();
        simulator.advance_to(Timestamp::from_secs(200)).unwrap();
        let job = simulator.cluster().get_workload(&WorkloadKey::parse("job/it").unwrap()).unwrap();
        let status = job.status::<JobStatus>();
        let found = status.conditions.iter().find(|known| known.type_ == "Failed");
        let reason = found.map_or("", |known| known.reason.as_str());
        assert_eq!(reason, failed, "{release} {says_so}");
        let on_the_other = simulator.cluster().pods_of("m").count();
        assert_eq!(on_the_other, usize::from(failed.is_empty()), "{release} {says_so}");
    }
}
