//! The examples of the node lifecycle controller in `docs/behaviours.md`: N with taints, L without.
//!
//! Health passes are at multiples of 5 s. A kubelet renews its lease every 10 s from zero, and the
//! pass at the same time sees it. "Unreachable at t" means that the last renewal was at t.

use std::collections::BTreeMap;

use taintlab_core::api::Toleration;
use taintlab_core::command::ApiErrorKind;
use taintlab_core::controllers::node_lifecycle::zone::{REGION_LABEL, ZONE_LABEL};
use taintlab_core::release::KubernetesRelease;
use taintlab_tests::lifecycle::{
    Config, Fault, InputCondition, InputNode, InputPod, Outcome, Post, Repeat, Scenario, World,
    Write,
};

fn release(minor: u8) -> KubernetesRelease {
    KubernetesRelease::new(minor).unwrap()
}

/// A ready node that was seen at zero and then is unreachable.
fn unreachable(name: &str) -> InputNode {
    let condition = |type_: &str, status: &str| InputCondition {
        type_: type_.into(),
        status: status.into(),
        last_heartbeat: 0,
        last_transition: -1000,
    };
    InputNode {
        name: name.into(),
        labels: BTreeMap::new(),
        created: -1000,
        join: 0,
        leave: -1,
        unschedulable: false,
        conditions: vec![
            condition("MemoryPressure", "False"),
            condition("DiskPressure", "False"),
            condition("PIDPressure", "False"),
            condition("Ready", "True"),
        ],
        taints: vec![],
        initial_lease: Some(0),
        leases: vec![],
        posts: vec![],
        _note: vec![],
    }
}

/// A node without any sign of life.
fn never_reported(name: &str, created: i64) -> InputNode {
    InputNode {
        created,
        join: created,
        conditions: vec![],
        initial_lease: None,
        ..unreachable(name)
    }
}

trait Acts: Sized {
    fn heartbeats(self, from: i64, n: i64) -> Self;
    fn posts(self, t: i64, ready: &str) -> Self;
    fn healthy(self) -> Self {
        self.heartbeats(0, 100_000)
    }
    fn zone(self, zone: &str) -> Self;
}

impl Acts for InputNode {
    fn heartbeats(mut self, from: i64, n: i64) -> Self {
        self.leases.push(Repeat { t: from, step: 10, n });
        self
    }
    fn posts(mut self, t: i64, ready: &str) -> Self {
        let (ready, calm) = (ready.to_owned(), || "False".to_owned());
        self.posts.push(Post {
            t,
            step: 0,
            n: 1,
            ready,
            memory: calm(),
            disk: calm(),
            pid: calm(),
        });
        self
    }
    fn zone(mut self, zone: &str) -> Self {
        self.labels.insert(ZONE_LABEL.into(), zone.into());
        self.labels.insert(REGION_LABEL.into(), "r".into());
        self
    }
}

fn back(name: &str, at: i64) -> InputNode {
    unreachable(name).heartbeats(at, 100_000).posts(at, "True")
}

fn numbered(prefix: &str, numbers: std::ops::RangeInclusive<u32>) -> impl Iterator<Item = String> {
    let prefix = prefix.to_owned();
    numbers.map(move |number| format!("{prefix}{number:02}"))
}

fn pod(name: &str, node: &str, t: i64, tolerations: Vec<Toleration>) -> InputPod {
    InputPod {
        namespace: "default".into(),
        name: name.into(),
        node: node.into(),
        t,
        ready: true,
        daemonset: false,
        grace: 0,
        tolerations,
    }
}

fn default_tolerations() -> Vec<Toleration> {
    ["not-ready", "unreachable"]
        .into_iter()
        .map(|key| Toleration {
            key: format!("node.kubernetes.io/{key}"),
            operator: "Exists".into(),
            effect: "NoExecute".into(),
            toleration_seconds: Some(300),
            ..Toleration::default()
        })
        .collect()
}

fn scenario(duration: u64, nodes: Vec<InputNode>) -> Scenario {
    Scenario { config: Config::default(), duration, nodes, pods: vec![] }
}

/// On 1.33, the last release in which a node waits for a second pass before it is queued.
fn play(scenario: Scenario) -> (Vec<Outcome>, World) {
    World::new(scenario, release(33)).unwrap().play()
}

/// Changes of `NoExecute` taints: `50 n1 +unreachable`.
fn no_execute(outcomes: &[Outcome]) -> Vec<String> {
    outcomes
        .iter()
        .filter(|outcome| outcome.effect.as_deref() == Some("NoExecute"))
        .map(|outcome| {
            let sign = match outcome.kind.as_str() {
                "taint_add" => "+",
                "taint_del" => "-",
                _ => "~",
            };
            let brief = outcome.brief();
            let words: Vec<_> = brief.split(' ').collect();
            format!("{} {} {sign}{}", words[0], words[1], words[3])
        })
        .collect()
}

fn of_kinds(outcomes: &[Outcome], kinds: &[&str]) -> Vec<String> {
    let wanted = outcomes.iter().filter(|outcome| kinds.contains(&outcome.kind.as_str()));
    wanted.map(Outcome::brief).collect()
}

/// The `NoExecute` taints of scenarios, on the newest behaviour with a grace of 40 s.
#[test]
fn no_execute_taints_come_and_go() {
    let a = |name: &str| unreachable(name).zone("a");
    let b = |name: &str| unreachable(name).zone("b");
    let healthy = |name: &str| unreachable(name).healthy();
    let excluded = {
        let mut node = unreachable("n1");
        node.labels.insert("node.kubernetes.io/exclude-disruption".into(), String::new());
        node
    };
    for (id, duration, nodes, expected) in [
        (
            "N1",
            200,
            vec![back("n1", 87), healthy("n2"), healthy("n3")],
            &["50 n1 +unreachable", "90 n1 -unreachable"][..],
        ),
        (
            "N3",
            60,
            vec![healthy("n1").posts(1, "False").posts(31, "True"), healthy("n2"), healthy("n3")],
            &["5 n1 +not-ready", "35 n1 -not-ready"],
        ),
        (
            "N5",
            80,
            vec![
                unreachable("n1").posts(1, "False").posts(71, "False"),
                healthy("n2"),
                healthy("n3"),
            ],
            &[
                "5 n1 +not-ready",
                "60 n1 -not-ready",
                "60 n1 +unreachable",
                "75 n1 +not-ready",
                "75 n1 -unreachable",
            ],
        ),
        (
            "N6",
            600,
            vec![
                unreachable("n1"),
                unreachable("n2"),
                unreachable("n3"),
                healthy("n4"),
                healthy("n5"),
            ],
            &[],
        ),
        (
            "N7",
            200,
            vec![
                back("n1", 101),
                unreachable("n2").heartbeats(0, 3),
                unreachable("n3").heartbeats(0, 3),
                healthy("n4"),
                healthy("n5"),
            ],
            &[
                "50 n1 +unreachable",
                "105 n1 -unreachable",
                "115 n2 +unreachable",
                "125 n3 +unreachable",
            ],
        ),
        (
            "N8",
            100,
            vec![a("a1").healthy(), a("a2").healthy(), b("b1"), b("b2")],
            &["50 b1 +unreachable", "60 b2 +unreachable"],
        ),
        (
            "N9",
            100,
            vec![unreachable("n1"), unreachable("n2"), healthy("n3")],
            &["50 n1 +unreachable", "60 n2 +unreachable"],
        ),
        ("N10", 200, vec![back("n1", 91)], &[]),
        (
            "N11",
            200,
            vec![
                a("a1").heartbeats(91, 900).posts(91, "True"),
                a("a2"),
                b("b1").heartbeats(142, 900).posts(142, "True"),
                b("b2"),
            ],
            &[
                "105 a2 +unreachable",
                "105 b1 +unreachable",
                "115 b2 +unreachable",
                "145 b1 -unreachable",
            ],
        ),
        (
            "N12",
            200,
            vec![
                a("a1").heartbeats(0, 3).heartbeats(101, 900).posts(101, "True"),
                a("a2").heartbeats(0, 3),
                b("b1"),
                b("b2").heartbeats(0, 3),
            ],
            &[
                "50 b1 +unreachable",
                "65 b1 -unreachable",
                "115 a2 +unreachable",
                "115 b1 +unreachable",
                "125 b2 +unreachable",
            ],
        ),
        (
            "N17",
            100,
            vec![never_reported("n1", 1), healthy("n2"), healthy("n3")],
            &["65 n1 +unreachable"],
        ),
        (
            "N18",
            60,
            vec![
                healthy("n1").posts(1, "False").posts(21, "True"),
                healthy("n2").posts(1, "False"),
            ],
            &["35 n2 +not-ready"],
        ),
        ("N19", 400, vec![never_reported("n1", 0).healthy(), healthy("n2"), healthy("n3")], &[]),
        ("N21", 60, vec![excluded, healthy("n2"), healthy("n3")], &["50 n1 +unreachable"]),
        (
            "N26",
            120,
            vec![
                InputNode { leave: 62, ..unreachable("n1") },
                never_reported("n1", 91),
                healthy("n2"),
                healthy("n3"),
            ],
            &["50 n1 +unreachable", "95 n1 +unreachable"],
        ),
    ] {
        let (outcomes, _) = play(scenario(duration, nodes));
        assert_eq!(no_execute(&outcomes), expected, "{id}");
    }
}

#[test]
fn n1_everything_that_happens_to_an_unreachable_node() {
    let nodes = vec![back("n1", 87), unreachable("n2").healthy(), unreachable("n3").healthy()];
    let mut scenario = scenario(200, nodes);
    scenario.pods = vec![pod("p", "n1", 0, default_tolerations())];
    let (outcomes, world) = play(scenario);
    let n1: Vec<_> = outcomes.iter().filter(|o| o.t > 0 && o.zone.is_none()).collect();
    assert_eq!(
        n1.iter().map(|outcome| outcome.brief()).collect::<Vec<_>>(),
        [
            "45 n1 node_event NodeNotReady",
            "45 n1 node_condition MemoryPressure Unknown NodeStatusUnknown",
            "45 n1 node_condition DiskPressure Unknown NodeStatusUnknown",
            "45 n1 node_condition PIDPressure Unknown NodeStatusUnknown",
            "45 n1 node_condition Ready Unknown NodeStatusUnknown",
            "45 n1 taint_add unreachable NoSchedule",
            "45 default/p pod_ready False",
            "45 default/p pod_event NodeNotReady",
            "50 n1 taint_add unreachable NoExecute",
            "87 n1 taint_del unreachable NoSchedule",
            "90 n1 taint_del unreachable NoExecute",
            "90 default/p cancelling",
        ]
    );
    // Health passes at 0, 45, 50 and 90, and the tainting pass at 50.
    assert_eq!(world.timers, 5, "only passes that do something are run");
}

#[test]
fn n2_the_grace_of_1_32_is_ten_seconds_more() {
    let nodes = vec![unreachable("n1"), unreachable("n2").healthy(), unreachable("n3").healthy()];
    for (minor, unknown, tainted) in [(31, "45", "50"), (32, "55", "60")] {
        let mut scenario = scenario(100, nodes.clone());
        let flags =
            taintlab_core::controllers::node_lifecycle::NodeLifecycleConfig::of(release(minor));
        scenario.config.monitor_grace = flags.node_monitor_grace_period.as_secs();
        let (outcomes, _) = World::new(scenario, release(minor)).unwrap().play();
        assert_eq!(no_execute(&outcomes), [format!("{tainted} n1 +unreachable")], "1.{minor}");
        let ready = format!("{unknown} n1 node_condition Ready Unknown NodeStatusUnknown");
        assert!(of_kinds(&outcomes, &["node_condition"]).contains(&ready), "1.{minor}");
    }
}

#[test]
fn n3_n4_a_kubelet_that_says_not_ready_makes_no_noise() {
    let n1 = unreachable("n1").healthy().posts(1, "False").posts(31, "True");
    let nodes = vec![n1, unreachable("n2").healthy(), unreachable("n3").healthy()];
    let mut scenario = scenario(60, nodes);
    scenario.pods = vec![pod("p", "n1", 0, default_tolerations())];
    let (outcomes, _) = play(scenario);
    let after: Vec<_> = outcomes.iter().filter(|o| o.t > 0).map(Outcome::brief).collect();
    assert_eq!(
        after,
        [
            "1 n1 taint_add not-ready NoSchedule",
            "5 n1 taint_add not-ready NoExecute",
            "31 n1 taint_del not-ready NoSchedule",
            "35 n1 taint_del not-ready NoExecute",
            "35 default/p cancelling",
        ]
    );
}

#[test]
fn n5_the_last_status_delays_detection_by_one_more_pass() {
    let n1 = unreachable("n1").posts(1, "False").posts(71, "False");
    let nodes = vec![n1, unreachable("n2").healthy(), unreachable("n3").healthy()];
    let (outcomes, _) = play(scenario(80, nodes));
    let ready: Vec<_> = of_kinds(&outcomes, &["node_condition"]);
    assert!(ready.contains(&"55 n1 node_condition Ready Unknown NodeStatusUnknown".into()));
    assert_eq!(ready.len(), 4, "{ready:?}");
}

/// A zone of `size` nodes of which the first `lost` are unreachable from zero and `later` more from
/// twenty.
fn zone_of(size: u32, lost: u32, later: u32) -> Vec<InputNode> {
    numbered("n", 1..=size)
        .zip(1..)
        .map(|(name, number)| match number {
            _ if number <= lost => unreachable(&name),
            _ if number <= lost + later => unreachable(&name).heartbeats(0, 3),
            _ => unreachable(&name).healthy(),
        })
        .collect()
}

#[test]
fn n13_to_n16_large_and_small_zones() {
    for (id, size, lost, later, states, expected) in [
        ("N13", 50, 30, 0, &["45 zone() zone_state PartialDisruption"][..], &[][..]),
        (
            "N14",
            51,
            31,
            0,
            &["45 zone() zone_state PartialDisruption"],
            &["50 n01", "150.1 n02", "250.2 n03", "350.3 n04"],
        ),
        (
            "N15",
            60,
            20,
            20,
            &["65 zone() zone_state PartialDisruption"],
            &["50 n01", "60 n02", "165.1 n03", "265.2 n04"],
        ),
    ] {
        let (outcomes, _) = play(scenario(360, zone_of(size, lost, later)));
        let expected: Vec<_> =
            expected.iter().map(|taint| format!("{taint} +unreachable")).collect();
        assert_eq!(no_execute(&outcomes), expected, "{id}");
        assert_eq!(of_kinds(&outcomes, &["zone_state"])[1..], *states, "{id}");
    }
    // N16: the rate is that of the moment at which the state changed.
    let mut shrinking = zone_of(51, 31, 0);
    shrinking[50].leave = 60;
    let (outcomes, _) = play(scenario(160, shrinking));
    assert_eq!(no_execute(&outcomes), ["50 n01 +unreachable", "150.1 n02 +unreachable"], "N16");
    let mut growing = zone_of(51, 30, 0);
    growing[50].join = 60;
    let (outcomes, _) = play(scenario(600, growing));
    assert_eq!(no_execute(&outcomes), [""; 0], "N16");
}

#[test]
fn n17_a_node_that_never_reported() {
    let nodes =
        vec![never_reported("n1", 1), unreachable("n2").healthy(), unreachable("n3").healthy()];
    let (outcomes, _) = play(scenario(100, nodes));
    let n1: Vec<_> = outcomes.iter().filter(|o| o.node.as_deref() == Some("n1")).collect();
    assert_eq!(
        n1.iter().map(|outcome| outcome.brief()).collect::<Vec<_>>(),
        [
            "5 n1 node_event RegisteredNode",
            "65 n1 node_condition Ready Unknown NodeStatusNeverUpdated",
            "65 n1 node_condition MemoryPressure Unknown NodeStatusNeverUpdated",
            "65 n1 node_condition DiskPressure Unknown NodeStatusNeverUpdated",
            "65 n1 node_condition PIDPressure Unknown NodeStatusNeverUpdated",
            "65 n1 taint_add unreachable NoSchedule",
            "65 n1 taint_add unreachable NoExecute",
        ]
    );
}

/// Plays to `end` seconds and restarts both controllers at `at`.
fn play_with_restart(scenario: Scenario, at: u64, end: u64) -> Vec<Outcome> {
    let mut world = World::new(scenario, release(33)).unwrap();
    for tick in 0..=end * 10 {
        world.tick(tick, |world| {
            if tick == at * 10 {
                world.restart().unwrap();
            }
        });
    }
    world.finish().0
}

#[test]
fn n20_n25_a_restart_takes_the_taints_off() {
    let two_of_five: Vec<_> = zone_of(5, 2, 0);
    let outcomes = play_with_restart(scenario(0, two_of_five), 100, 120);
    assert_eq!(
        no_execute(&outcomes),
        [
            "50 n01 +unreachable",
            "60 n02 +unreachable",
            "100 n01 -unreachable",
            "100 n01 +unreachable",
            "100 n02 -unreachable",
            "110 n02 +unreachable",
        ],
        "N20"
    );
    let registered = of_kinds(&outcomes, &["node_event"]);
    let again = registered.iter().filter(|event| event.starts_with("100 "));
    assert_eq!(again.count(), 5, "{registered:?}");

    let mut all: Vec<_> = zone_of(3, 2, 1);
    for node in &mut all[..2] {
        node.labels.insert(ZONE_LABEL.into(), "other".into());
    }
    let outcomes = play_with_restart(scenario(0, all), 100, 200);
    let after: Vec<_> = no_execute(&outcomes).into_iter().filter(|t| t.starts_with('1')).collect();
    assert_eq!(after, [""; 0], "N25: nothing is tainted while no node is ready");
    let states = of_kinds(&outcomes, &["zone_state"]);
    let full = |state: &String| state.starts_with("100 ") && state.ends_with("FullDisruption");
    assert_eq!(states.iter().filter(|state| full(state)).count(), 2, "N25 {states:?}");
}

#[test]
fn n22_a_deleted_node_costs_its_turn() {
    let mut nodes = vec![unreachable("n1"), unreachable("n2"), unreachable("n3")];
    nodes.extend(numbered("x", 1..=6).map(|name| unreachable(&name).healthy()));
    nodes[1].leave = 52;
    let (outcomes, _) = play(scenario(100, nodes));
    assert_eq!(no_execute(&outcomes), ["50 n1 +unreachable", "70 n3 +unreachable"]);
    assert!(of_kinds(&outcomes, &["node_event"]).contains(&"55 n2 node_event RemovingNode".into()));
}

fn legacy(duration: u64, nodes: Vec<InputNode>, pods: Vec<InputPod>) -> Vec<Outcome> {
    let mut scenario = Scenario { pods, ..scenario(duration, nodes) };
    scenario.config.taint_manager = false;
    let (outcomes, _) = World::new(scenario, release(26)).unwrap().play();
    assert_eq!(no_execute(&outcomes), [""; 0], "the legacy path taints nobody");
    outcomes
}

fn with_two_healthy(node: InputNode) -> Vec<InputNode> {
    vec![node, unreachable("n2").healthy(), unreachable("n3").healthy()]
}

/// What the legacy path does to pods, and its events about nodes.
fn evictions(outcomes: &[Outcome]) -> Vec<String> {
    let kinds = ["pod_delete", "pod_reason", "pod_event", "node_event"];
    let mut briefs = of_kinds(outcomes, &kinds);
    briefs.retain(|brief| !brief.contains("RegisteredNode"));
    briefs
}

#[test]
fn l1_pods_of_an_unreachable_node_are_deleted_after_the_timeout() {
    let pods = vec![pod("p1", "n1", 0, vec![]), pod("p2", "n1", 400, vec![])];
    let outcomes = legacy(450, with_two_healthy(unreachable("n1")), pods);
    assert_eq!(
        evictions(&outcomes),
        [
            "45 n1 node_event NodeNotReady",
            "45 default/p1 pod_event NodeNotReady",
            "305 n1 node_event DeletingAllPods",
            "305 default/p1 pod_reason NodeLost",
            "305 default/p1 pod_event NodeControllerEviction",
            "305 default/p1 pod_delete ok",
            "400 n1 node_event DeletingAllPods",
            "400 default/p2 pod_reason NodeLost",
            "400 default/p2 pod_event NodeControllerEviction",
            "400 default/p2 pod_delete ok",
        ]
    );
}

#[test]
fn l2_the_timeout_of_a_node_that_says_not_ready_begins_when_it_is_seen() {
    let n1 = unreachable("n1").healthy().posts(1, "False");
    let outcomes = legacy(320, with_two_healthy(n1), vec![pod("p1", "n1", 0, vec![])]);
    let deletes = of_kinds(&outcomes, &["pod_delete"]);
    assert_eq!(deletes, ["310 default/p1 pod_delete ok"]);
}

#[test]
fn l3_a_node_that_comes_back_keeps_its_pods() {
    let pods = vec![pod("p1", "n1", 0, vec![])];
    let outcomes = legacy(900, with_two_healthy(back("n1", 200)), pods);
    assert_eq!(of_kinds(&outcomes, &["pod_delete"]), [""; 0]);
}

#[test]
fn l4_pods_of_daemon_sets_and_terminating_ones_are_left() {
    let mut pods = vec![pod("daemon", "n1", 0, vec![]), pod("stuck", "n1", 0, vec![])];
    pods[0].daemonset = true;
    pods[1].grace = -1;
    let outcomes = legacy(316, with_two_healthy(unreachable("n1")), pods);
    let evictions = evictions(&outcomes);
    assert_eq!(
        evictions[3..],
        [
            "305 n1 node_event DeletingAllPods",
            "305 default/daemon pod_reason NodeLost",
            "305 default/stuck pod_reason NodeLost",
            "305 default/stuck pod_event NodeControllerEviction",
            "305 default/stuck pod_delete ok",
            "310 n1 node_event DeletingAllPods",
            "315 n1 node_event DeletingAllPods",
        ]
    );
}

/// How waiting nodes are queued again (Q14, Q15), by release.
#[test]
fn queueing_again_by_release() {
    // n1 to n3 wait; n3 is back at 12, n2 at 27: all by their kubelets' word.
    let says = |name: &str, back: i64| {
        let node = unreachable(name).healthy().posts(0, "False");
        if back > 0 { node.posts(back, "True") } else { node }
    };
    let nodes = |n3: i64| {
        let mut nodes = vec![says("n1", 0), says("n2", 27), says("n3", n3)];
        nodes.extend(numbered("x", 1..=6).map(|name| unreachable(&name).healthy()));
        nodes
    };
    let taints = |minor: u8| {
        let (outcomes, _) = World::new(scenario(60, nodes(12)), release(minor)).unwrap().play();
        no_execute(&outcomes)
    };
    let good = ["0 n1 +not-ready", "10 n2 +not-ready", "30 n2 -not-ready"];
    assert_eq!(taints(18), good);
    assert_eq!(taints(21), good);
    let bad = ["0 n1 +not-ready", "10 n2 +not-ready", "20 n2 ~not-ready", "30 n2 -not-ready"];
    assert_eq!(taints(19), bad);
    assert_eq!(taints(20), bad);
}

/// Q15: who removes the taint of a node that is not ready by hand.
#[test]
fn a_taint_that_is_removed_by_hand_by_release() {
    for (minor, expected) in [
        (18, &["0 n1 +not-ready"][..]),
        (20, &["0 n1 +not-ready", "10 n1 +not-ready"]),
        (21, &["0 n1 +not-ready", "10 n1 +not-ready"]),
    ] {
        let nodes = with_two_healthy(unreachable("n1").healthy().posts(0, "False"));
        let mut world = World::new(scenario(0, nodes), release(minor)).unwrap();
        for tick in 0..=400 {
            world.tick(tick, |world| {
                if tick == 70 {
                    world.remove_taints("n1");
                }
            });
        }
        let (outcomes, _) = world.finish();
        let taints: Vec<_> = no_execute(&outcomes);
        assert_eq!(taints, expected, "1.{minor}");
    }
}

/// N1 with a write that the API server refuses: the token is spent, so the next one comes at 60.
#[test]
fn n1_a_refused_taint_waits_for_the_next_token() {
    let nodes = with_two_healthy(unreachable("n1"));
    let mut world = World::new(scenario(0, nodes), release(33)).unwrap();
    for tick in 0..=700 {
        world.tick(tick, |world| {
            if tick == 460 {
                let (object, error) = ("n1".into(), ApiErrorKind::InternalError);
                world.fail(Fault { object, write: Write::NodeTaints, times: 1, error });
            }
        });
    }
    assert_eq!(no_execute(&world.finish().0), ["60 n1 +unreachable"]);
}
