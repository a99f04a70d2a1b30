//! Workloads from creation to eviction and back: timings by the numbers, and what must hold
//! whatever happens.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use taintlab_core::api::{
    Node, NodeName, Pod, PodDisruptionBudget, PodKey, Taint, TaintEffect, Workload, WorkloadKey,
    WorkloadKind,
};
use taintlab_core::command::{Cascade, Command, CommandError};
use taintlab_core::event::{Event, EventKind};
use taintlab_core::kubelet::pod_columns::PodColumns;
use taintlab_core::kubelet::pod_status::pod_as_served;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::{Span, Time, Timestamp};

pub(super) fn node(name: &str, zone: &str) -> Node {
    serde_json::from_value(json!({
        "metadata": { "name": name, "labels": { "topology.kubernetes.io/zone": zone } },
        "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "20" } },
    }))
    .unwrap()
}

pub(super) fn workload(kind: WorkloadKind, name: &str, replicas: u32, more: Value) -> Workload {
    let mut spec = json!({
        "replicas": replicas,
        "selector": { "matchLabels": { "app": name } },
        "template": {
            "metadata": { "labels": { "app": name } },
            "spec": { "containers": [
                { "name": "app", "resources": { "requests": { "cpu": "500m" } } }
            ] },
        },
    });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "kind": kind.as_str(), "metadata": { "name": name }, "spec": spec,
    }))
    .unwrap()
}

pub(super) fn key(text: &str) -> WorkloadKey {
    WorkloadKey::parse(text).unwrap()
}

pub(super) fn pod(text: &str) -> PodKey {
    PodKey::parse(text).unwrap()
}

pub(super) fn at(seconds: u64) -> Timestamp {
    Timestamp::from_secs(seconds)
}

pub(super) fn cluster(release: &str, nodes: u32, workloads: Vec<Workload>) -> Simulator {
    let release = KubernetesRelease::parse(release).unwrap();
    let nodes =
        (1..=nodes).map(|number| node(&format!("n{number}"), ["a", "b", "c"][number as usize % 3]));
    let begin = InitialState { workloads, ..InitialState::default() };
    let config = SimulatorConfig::with_control_plane(release);
    Simulator::beginning_with(config, nodes, [], begin).unwrap()
}

pub(super) fn messages(events: &[Event], reason: &str) -> Vec<String> {
    let recorded = events.iter().filter_map(|event| match &event.what {
        EventKind::EventRecorded(recorded) if recorded.reason == reason => {
            Some(recorded.message.clone())
        }
        _ => None,
    });
    recorded.collect()
}

/// `TestDeploymentController_reconcileNewReplicaSet` and its like, as one rollout: 10 replicas,
/// maxSurge 3, maxUnavailable 2 (25 % up and down).
#[test]
fn a_rolling_update_keeps_to_surge_and_unavailability() {
    let web = workload(WorkloadKind::Deployment, "web", 10, json!({}));
    let mut simulator = cluster("1.34", 6, vec![web.clone()]);
    simulator.advance_to(at(10)).unwrap();
    assert_eq!(simulator.workload_view(&key("deploy/web")).unwrap().ready, 10);
    simulator.drain_events();
    let mut changed = web;
    changed.spec.template.metadata.labels.insert("version".into(), "2".into());
    simulator.handle_command(at(10), Command::UpdateWorkload(Box::new(changed))).unwrap();
    for second in 10..60 {
        simulator.advance_to(at(second)).unwrap();
        let view = simulator.workload_view(&key("deploy/web")).unwrap();
        assert!(view.current <= 13, "{second}: {view:?}");
        assert!(view.available >= 8, "{second}: {view:?}");
    }
    let view = simulator.workload_view(&key("deploy/web")).unwrap();
    assert_eq!((view.current, view.updated, view.ready), (10, 10, 10));
    let scaled = messages(&simulator.drain_events(), "ScalingReplicaSet");
    assert!(scaled[0].ends_with(" from 0 to 3"), "{scaled:?}");
    assert!(scaled[1].ends_with(" from 10 to 8"), "{scaled:?}");
}

/// A recorded run says whose pods went: those go first among equals, and nobody goes who is ranked
/// behind others.
#[test]
fn recorded_scale_downs_decide_among_equals() {
    let left = |replicas: u32, scale_downs: &[&str], named: &str| -> Vec<String> {
        let nodes = (1..=3).map(|number| node(&format!("n{number}"), "a"));
        let preferred =
            scale_downs.iter().map(|node| (NodeName::from(*node), Time::from_unix_seconds(0)));
        let begin = InitialState {
            workloads: vec![workload(WorkloadKind::Deployment, "web", replicas, json!({}))],
            scale_downs: [(named.to_owned(), preferred.collect())].into(),
            ..InitialState::default()
        };
        let config = SimulatorConfig::with_control_plane(KubernetesRelease::parse("1.20").unwrap());
        let mut simulator = Simulator::beginning_with(config, nodes, [], begin).unwrap();
        simulator.advance_to(at(10)).unwrap();
        let scale = Command::Scale { workload: key("deploy/web"), replicas: replicas - 1 };
        simulator.handle_command(at(10), scale).unwrap();
        simulator.advance_to(at(10)).unwrap();
        let pods = simulator.cluster().pods().filter(|(_, pod)| !pod.is_terminating());
        let mut nodes: Vec<String> = pods.map(|(_, pod)| pod.spec.node_name.clone()).collect();
        nodes.sort();
        nodes
    };
    let shared = ["n1", "n2", "n3"];
    let by_name = left(3, &[], "default/web");
    for node in shared {
        let expected: Vec<&str> = shared.into_iter().filter(|other| *other != node).collect();
        assert_eq!(left(3, &[node], "default/web"), expected, "{node}");
        assert_eq!(left(3, &["nowhere", node], "default/web"), expected, "{node}");
        assert_eq!(left(3, &[node], "default/other"), by_name, "{node}");
        // A node that has two of them gives one away.
        assert_eq!(left(4, &[node], "default/web"), shared, "{node}");
    }
}

/// Where ages are of one order of magnitude UIDs decide, and so a recorded run says who went.
#[test]
fn recorded_scale_downs_decide_where_uids_would() {
    for created in [0, 40] {
        let config = SimulatorConfig::with_control_plane(KubernetesRelease::NEWEST);
        let preferred =
            (NodeName::from("n1"), config.start.saturating_add(at(created).since_zero()));
        let begin = InitialState {
            workloads: vec![workload(WorkloadKind::Deployment, "web", 1, json!({}))],
            scale_downs: [("default/web".to_owned(), vec![preferred])].into(),
            ..InitialState::default()
        };
        let mut simulator =
            Simulator::beginning_with(config, [node("n1", "a")], [], begin).unwrap();
        for (now, replicas) in [(40, 2), (400, 1)] {
            let scale = Command::Scale { workload: key("deploy/web"), replicas };
            simulator.handle_command(at(now), scale).unwrap();
        }
        simulator.advance_to(at(400)).unwrap();
        let start = simulator.config().start;
        let age = |pod: &Pod| pod.metadata.creation_timestamp.unwrap().since(start).as_secs();
        let ends = simulator.cluster().pods().filter(|(_, pod)| pod.is_terminating());
        assert_eq!(ends.map(|(_, pod)| age(pod)).collect::<Vec<_>>(), [created]);
    }
}

/// A DaemonSet updates its nodes in the order of a recorded run, with and without a surge.
#[test]
fn recorded_placements_say_which_node_a_daemon_set_updates_first() {
    for strategy in [json!({}), json!({ "maxSurge": 1, "maxUnavailable": 0 })] {
        let update = json!({ "updateStrategy": { "rollingUpdate": strategy } });
        let logs = workload(WorkloadKind::DaemonSet, "logs", 0, update);
        for order in [["n1", "n2", "n3"], ["n3", "n1", "n2"], ["n2", "n3", "n1"]] {
            let nodes = (1..=3).map(|number| node(&format!("n{number}"), "a"));
            let placed = ["n1", "n2", "n3"].iter().chain(&order).map(|node| NodeName::from(*node));
            let begin = InitialState {
                workloads: vec![logs.clone()],
                placements: [("default/logs".to_owned(), placed.collect())].into(),
                ..InitialState::default()
            };
            let config = SimulatorConfig::with_control_plane(KubernetesRelease::NEWEST);
            let mut simulator = Simulator::beginning_with(config, nodes, [], begin).unwrap();
            simulator.advance_to(at(10)).unwrap();
            simulator.drain_events();
            let mut changed = logs.clone();
            changed.spec.template.metadata.labels.insert("version".into(), "2".into());
            simulator.handle_command(at(10), Command::UpdateWorkload(Box::new(changed))).unwrap();
            simulator.advance_to(at(250)).unwrap();
            let said = messages(&simulator.drain_events(), "Scheduled");
            let nodes: Vec<&str> =
                said.iter().filter_map(|text| text.split(' ').next_back()).collect();
            assert_eq!(nodes, order, "{strategy}");
        }
    }
}

/// A StatefulSet makes its pods one after the other, and takes them down from the end.
#[test]
fn a_stateful_set_goes_in_order() {
    let db = workload(WorkloadKind::StatefulSet, "db", 3, json!({}));
    let mut simulator = cluster("1.34", 3, vec![db]);
    for (second, ready) in [(1, 0), (2, 1), (4, 2), (6, 3)] {
        simulator.advance_to(at(second)).unwrap();
        assert_eq!(simulator.workload_view(&key("sts/db")).unwrap().ready, ready, "{second}");
    }
    let scale = Command::Scale { workload: key("sts/db"), replicas: 1 };
    simulator.handle_command(at(10), scale).unwrap();
    simulator.advance_to(at(39)).unwrap();
    let status = |simulator: &Simulator, name: &str| {
        let release = simulator.config().release;
        let pod = simulator.cluster().get_pod(&pod(name));
        let shown = pod.map(|pod| pod_as_served(release, pod, None));
        shown.map(|pod| PodColumns::of(release, &pod).status)
    };
    assert_eq!(status(&simulator, "db-2").as_deref(), Some("Terminating"));
    assert_eq!(status(&simulator, "db-1").as_deref(), Some("Running"));
    simulator.advance_to(at(40)).unwrap();
    assert_eq!(status(&simulator, "db-2"), None);
    assert_eq!(status(&simulator, "db-1").as_deref(), Some("Terminating"));
}

#[test]
fn a_budget_allows_what_it_says_and_no_more() {
    let web = workload(WorkloadKind::Deployment, "web", 4, json!({}));
    for (budget, allowed, desired) in [
        (json!({ "minAvailable": 3 }), 1, 3),
        (json!({ "minAvailable": "50%" }), 2, 2),
        (json!({ "maxUnavailable": 1 }), 1, 3),
        (json!({ "maxUnavailable": "30%" }), 2, 2),
        (json!({ "maxUnavailable": 0 }), 0, 4),
    ] {
        let mut simulator = cluster("1.34", 3, vec![web.clone()]);
        let mut spec = budget.clone();
        spec["selector"] = json!({ "matchLabels": { "app": "web" } });
        let object: PodDisruptionBudget =
            serde_json::from_value(json!({ "metadata": { "name": "web" }, "spec": spec })).unwrap();
        simulator.handle_command(at(5), Command::CreateBudget(Box::new(object))).unwrap();
        simulator.advance_to(at(6)).unwrap();
        let status = simulator.budget_status(&pod("web")).unwrap();
        assert_eq!(
            (status.disruptions_allowed, status.desired_healthy),
            (allowed, desired),
            "{budget}"
        );
        let pods = simulator.workload_view(&key("deploy/web")).unwrap().pods;
        let mut evicted = 0;
        for name in pods {
            let evict = Command::EvictPod { pod: name, grace_period_seconds: None };
            match simulator.handle_command(at(6), evict) {
                Ok(()) => evicted += 1,
                Err(CommandError::DisruptionBudget { needs, .. }) => assert_eq!(needs, desired),
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(evicted, allowed, "{budget}");
    }
}

/// The owner was not imported: it is assumed to want the pods that are there.
#[test]
fn an_owner_that_is_not_there_is_assumed() {
    let named = |name: &str| -> Pod {
        serde_json::from_value(json!({
            "metadata": { "name": name, "labels": { "app": "web" }, "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "u",
                "controller": true,
            }] },
            "spec": { "nodeName": "n1" }, "status": { "phase": "Running" },
        }))
        .unwrap()
    };
    let config = SimulatorConfig::with_control_plane(KubernetesRelease::default());
    let pods = [named("web-1-a"), named("web-1-b")];
    let mut simulator = Simulator::new(config, [node("n1", "a"), node("n2", "b")], pods).unwrap();
    let taint = Taint::new("gone", "", TaintEffect::NoExecute);
    simulator.handle_command(at(1), Command::Taint { node: "n1".into(), taint }).unwrap();
    simulator.advance_to(at(60)).unwrap();
    let view = simulator.workload_view(&key("rs/web-1")).unwrap();
    assert!(view.inferred);
    assert_eq!((view.desired, view.current, view.ready), (2, 2, 2));
    let on = |name: &PodKey| simulator.cluster().get_pod(name).unwrap().spec.node_name.clone();
    assert!(view.pods.iter().all(|pod| on(pod) == "n2"), "{view:?}");
    let assumed = |event: &Event| matches!(event.what, EventKind::OwnerInferred { desired: 2, .. });
    assert_eq!(simulator.drain_events().iter().filter(|event| assumed(event)).count(), 1);
}

/// What users and machines do to a small cluster.
#[derive(Clone, Debug)]
enum Act {
    Taint(u8, bool),
    Untaint(u8),
    Stop(u8),
    Start(u8),
    Cordon(u8, bool),
    DeleteNode(u8),
    CreateNode(u8),
    Scale(u8, u8),
    Update(u8),
    DeletePod(u8, bool),
    Evict(u8),
    DeleteWorkload(u8, bool),
    OutOfService(u8),
}

fn act() -> impl Strategy<Value = Act> {
    let n = 1..6_u8;
    prop_oneof![
        (n.clone(), any::<bool>()).prop_map(|(n, execute)| Act::Taint(n, execute)),
        n.clone().prop_map(Act::Untaint),
        n.clone().prop_map(Act::Stop),
        n.clone().prop_map(Act::Start),
        (n.clone(), any::<bool>()).prop_map(|(n, on)| Act::Cordon(n, on)),
        n.clone().prop_map(Act::DeleteNode),
        n.clone().prop_map(Act::CreateNode),
        (0..3_u8, 0..8_u8).prop_map(|(which, replicas)| Act::Scale(which, replicas)),
        (0..4_u8).prop_map(Act::Update),
        (any::<u8>(), any::<bool>()).prop_map(|(which, force)| Act::DeletePod(which, force)),
        any::<u8>().prop_map(Act::Evict),
        (0..4_u8, any::<bool>()).prop_map(|(which, orphan)| Act::DeleteWorkload(which, orphan)),
        n.prop_map(Act::OutOfService),
    ]
}

const NAMES: [&str; 4] = ["deploy/web", "sts/db", "sts/mq", "ds/logs"];

fn world() -> Simulator {
    let workloads = vec![
        workload(WorkloadKind::Deployment, "web", 5, json!({})),
        workload(WorkloadKind::StatefulSet, "db", 3, json!({})),
        workload(WorkloadKind::StatefulSet, "mq", 2, json!({ "podManagementPolicy": "Parallel" })),
        workload(WorkloadKind::DaemonSet, "logs", 0, json!({ "replicas": null })),
    ];
    cluster("1.34", 5, workloads)
}

fn command(simulator: &Simulator, act: &Act, step: usize) -> Command {
    let node = |number: u8| -> NodeName { format!("n{number}").as_str().into() };
    let some_pod = |number: u8| {
        let pods: Vec<PodKey> = simulator.cluster().pods().map(|(key, _)| key.clone()).collect();
        let index = usize::from(number) % pods.len().max(1);
        pods.get(index).cloned().unwrap_or_else(|| PodKey::new("", "none"))
    };
    let named = |which: u8| key(NAMES[usize::from(which) % NAMES.len()]);
    match act {
        Act::Taint(n, execute) => {
            let effect = if *execute { TaintEffect::NoExecute } else { TaintEffect::NoSchedule };
            Command::Taint { node: node(*n), taint: Taint::new("x", "", effect) }
        }
        Act::Untaint(n) => {
            Command::Untaint { node: node(*n), key: "x".into(), effect: TaintEffect::Empty }
        }
        Act::Stop(n) => Command::StopKubelet { node: node(*n) },
        Act::Start(n) => Command::StartKubelet { node: node(*n) },
        Act::Cordon(n, on) => Command::SetUnschedulable { node: node(*n), unschedulable: *on },
        Act::DeleteNode(n) => Command::DeleteNode { node: node(*n) },
        Act::CreateNode(n) => Command::CreateNode(self::node(&format!("n{n}"), "a")),
        Act::Scale(which, replicas) => {
            Command::Scale { workload: named(*which), replicas: (*replicas).into() }
        }
        Act::Update(which) => {
            let known = simulator.cluster().get_workload(&named(*which));
            let mut workload = known.map(|known| Workload::clone(known)).unwrap_or_default();
            let labels = &mut workload.spec.template.metadata.labels;
            labels.insert("version".into(), step.to_string());
            Command::UpdateWorkload(Box::new(workload))
        }
        Act::DeletePod(which, force) => {
            Command::DeletePod { pod: some_pod(*which), force: *force, grace_period_seconds: None }
        }
        Act::Evict(which) => {
            Command::EvictPod { pod: some_pod(*which), grace_period_seconds: None }
        }
        Act::DeleteWorkload(which, orphan) => Command::DeleteWorkload {
            workload: named(*which),
            cascade: if *orphan { Cascade::Orphan } else { Cascade::Background },
        },
        Act::OutOfService(n) => Command::Taint {
            node: node(*n),
            taint: Taint::new("node.kubernetes.io/out-of-service", "", TaintEffect::NoExecute),
        },
    }
}

/// What must hold at every moment.
fn check(simulator: &Simulator, events: &[Event], names: &mut BTreeMap<PodKey, String>) {
    for event in events {
        match &event.what {
            EventKind::PodAdded { pod, uid } => {
                assert_eq!(names.insert(pod.clone(), uid.clone()), None, "{pod} runs twice");
            }
            EventKind::PodDeleted { pod, .. } => {
                names.remove(pod);
            }
            _ => {}
        }
    }
    let cluster = simulator.cluster();
    for (workload, object) in cluster.workloads() {
        let view = simulator.workload_view(workload).unwrap();
        if workload.kind == WorkloadKind::ReplicaSet {
            assert!(view.current <= object.replicas(), "{view:?}");
        }
        // Counted as they change, and counted now; the status of a DaemonSet counts nodes.
        if workload.kind != WorkloadKind::DaemonSet {
            let curve = simulator.availability(workload).unwrap();
            assert_eq!(curve.steps.last().unwrap().ready, view.ready, "{workload}");
        }
        let places: BTreeSet<&str> = match workload.kind {
            WorkloadKind::DaemonSet => {
                let active = view.pods.iter().filter_map(|pod| cluster.get_pod(pod));
                let active: Vec<_> = active
                    .filter(|pod| !pod.is_terminating() && !pod.spec.node_name.is_empty())
                    .map(|pod| pod.spec.node_name.as_str())
                    .collect();
                let places: BTreeSet<&str> = active.iter().copied().collect();
                assert_eq!(places.len(), active.len(), "two on a node: {active:?}");
                places
            }
            _ => BTreeSet::new(),
        };
        assert!(places.len() <= 6);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// No name runs twice, no ReplicaSet has too many, a DaemonSet has one pod a node, counts
    /// agree, nothing is scheduled against a taint, and the same things happen however the time is
    /// divided and wherever a snapshot is taken.
    #[test]
    fn whatever_happens(acts in prop::collection::vec((act(), 0..90_u64), 1..25)) {
        let (mut whole, mut split) = (world(), world());
        let (mut all, mut parts) = (Vec::new(), Vec::new());
        let mut names = BTreeMap::new();
        let mut now = 0;
        for (step, (act, wait)) in acts.iter().enumerate() {
            let command = command(&whole, act, step);
            let done = whole.handle_command(at(now), command.clone()).is_ok();
            prop_assert_eq!(split.handle_command(at(now), command).is_ok(), done);
            for part in 0..=*wait {
                if part % 7 == 0 {
                    split.advance_to(at(now + part)).unwrap();
                }
                if part == 14 {
                    let snapshot = split.snapshot();
                    split.advance_to(at(now + wait)).unwrap();
                    split.restore(&snapshot);
                }
            }
            now += wait;
            split.advance_to(at(now)).unwrap();
            while let Some(next) = whole.poll_timeout().filter(|next| next.at <= at(now)) {
                whole.handle_timeout(next.at).unwrap();
                let events = whole.drain_events();
                check(&whole, &events, &mut names);
                for event in &events {
                    if let EventKind::EventRecorded(recorded) = &event.what
                        && recorded.reason == "Scheduled"
                    {
                        allowed(&whole, &recorded.message);
                    }
                }
                all.extend(events);
            }
            whole.advance_to(at(now)).unwrap();
            let events = whole.drain_events();
            check(&whole, &events, &mut names);
            all.extend(events);
            parts.extend(split.drain_events());
        }
        prop_assert_eq!(all, parts);
    }
}

/// A pod that was just bound tolerates the NoSchedule taints of its node.
fn allowed(simulator: &Simulator, message: &str) {
    let mut words = message.split(' ').skip(2);
    let (pod_name, node) = (words.next().unwrap(), words.nth(1).unwrap());
    let cluster = simulator.cluster();
    let Some(pod) = cluster.get_pod(&pod(pod_name)) else { return };
    let Some(node) = cluster.get_node(node) else { return };
    if pod.spec.node_name != node.metadata.name {
        return;
    }
    for taint in &node.spec.taints {
        let hard = taint.effect == TaintEffect::NoSchedule && taint.key == "x";
        let daemon = pod.metadata.owner_references.iter().any(|owner| owner.kind == "DaemonSet");
        assert!(!hard || daemon, "{message}: {taint}");
    }
}

#[test]
fn time_to_start_is_that_of_the_workload() {
    let web = workload(WorkloadKind::Deployment, "web", 1, json!({}));
    let mut simulator = cluster("1.34", 1, vec![web]);
    let time = Span(std::time::Duration::from_secs(30));
    let slow = Command::SetStartUpTime { workload: key("deploy/web"), time };
    simulator.handle_command(at(0), slow).unwrap();
    let ready =
        |simulator: &Simulator| simulator.workload_view(&key("deploy/web")).map(|view| view.ready);
    simulator.advance_to(at(29)).unwrap();
    assert_eq!(ready(&simulator), Some(0));
    simulator.advance_to(at(30)).unwrap();
    assert_eq!(ready(&simulator), Some(1));
}

#[test]
fn more_replicas_than_memory_holds_are_refused() {
    let web = workload(WorkloadKind::Deployment, "web", 1, json!({}));
    let mut simulator = cluster("1.34", 1, vec![web]);
    let scale = |replicas| Command::Scale { workload: key("deploy/web"), replicas };
    let error = simulator.handle_command(at(0), scale(2_000_000_000)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Deployment \"web\" is forbidden: 2000000000 replicas are more than fit: the workloads of a \
         simulation have at most 500000 together, so that this one can have 500000"
    );
    assert_eq!(simulator.workload_view(&key("deploy/web")).map(|view| view.desired), Some(1));

    let jobs = json!({ "parallelism": 499_999 });
    let job = Box::new(workload(WorkloadKind::Job, "many", 1, jobs));
    simulator.handle_command(at(0), Command::CreateWorkload(job)).unwrap();
    let error = simulator.handle_command(at(0), scale(2)).unwrap_err();
    assert!(error.to_string().ends_with("so that this one can have 1"), "{error}");
}

#[test]
fn a_pod_with_a_large_number_does_not_make_a_row_of_pods() {
    let owner = json!([{
        "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": true
    }]);
    let pod: Pod = serde_json::from_value(json!({
        "metadata": { "namespace": "default", "name": "db-2000000000", "ownerReferences": owner },
        "spec": { "nodeName": "a" },
    }))
    .unwrap();
    let config = SimulatorConfig::with_control_plane(KubernetesRelease::NEWEST);
    let simulator = Simulator::new(config, [], [pod]).unwrap();
    assert_eq!(simulator.workload_view(&key("sts/db")).map(|view| view.desired), Some(1));
}

/// Timers that come again and again would all be due at once where times saturate.
#[test]
fn time_has_an_end_and_nothing_happens_there_without_end() {
    let web = workload(WorkloadKind::Deployment, "web", 3, json!({}));
    let mut simulator = cluster("1.34", 3, vec![web]);
    simulator.advance_to(Timestamp::MAX).unwrap();
    assert_eq!(simulator.now(), Simulator::LAST_MOMENT);
    for name in ["n1", "n2"] {
        let stop = Command::StopKubelet { node: name.into() };
        simulator.handle_command(Timestamp::MAX, stop).unwrap();
        simulator.advance_to(Timestamp::MAX).unwrap();
    }
    assert_eq!(simulator.poll_timeout(), None);
    assert_eq!(simulator.now(), Simulator::LAST_MOMENT);
}
