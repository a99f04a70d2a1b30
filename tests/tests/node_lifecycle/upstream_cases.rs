//! Cases of `node_lifecycle_controller_test.go`, under the names they have there.

use std::collections::BTreeMap;

use taintlab_core::controllers::node_lifecycle::zone::{REGION_LABEL, ZONE_LABEL};
use taintlab_core::release::KubernetesRelease;
use taintlab_tests::lifecycle::{
    Config, InputCondition, InputNode, InputPod, Outcome, Post, Repeat, Scenario, World,
};

/// A node of a zone whose kubelet posted `ready` at zero, and posts `then` at `at` if that is
/// given. A healthy one sends heartbeats all the time.
fn node(name: &str, zone: &str, ready: &str, then: Option<(i64, &str)>) -> InputNode {
    let condition = |type_: &str, status: &str| InputCondition {
        type_: type_.into(),
        status: status.into(),
        last_heartbeat: 0,
        last_transition: -3600,
    };
    let posts = then.map(|(t, ready)| Post {
        t,
        step: 0,
        n: 1,
        ready: ready.into(),
        memory: "False".into(),
        disk: "False".into(),
        pid: "False".into(),
    });
    let heartbeats = ready == "True" || then.is_some_and(|(_, ready)| ready == "True");
    InputNode {
        name: name.into(),
        labels: BTreeMap::from([
            (REGION_LABEL.into(), "region1".into()),
            (ZONE_LABEL.into(), zone.into()),
        ]),
        created: -3600,
        join: 0,
        leave: -1,
        unschedulable: false,
        conditions: vec![condition("Ready", ready)],
        taints: vec![],
        initial_lease: Some(0),
        leases: heartbeats.then_some(Repeat { t: 0, step: 5, n: 1_000 }).into_iter().collect(),
        posts: posts.into_iter().collect(),
        _note: vec![],
    }
}

fn play(config: Config, nodes: Vec<InputNode>, minor: u8) -> (Vec<Outcome>, World) {
    let scenario = Scenario { config, duration: 300, nodes, pods: vec![] };
    let release = KubernetesRelease::new(minor).unwrap();
    World::new(scenario, release).unwrap().play()
}

/// The state that each zone had after a second.
fn states_at(outcomes: &[Outcome], second: u64) -> BTreeMap<String, String> {
    outcomes
        .iter()
        .filter(|outcome| outcome.kind == "zone_state" && outcome.t <= second * 1_000)
        .map(|outcome| {
            let zone = outcome.zone.clone().unwrap();
            (zone.rsplit('\0').next().unwrap()[1..].to_owned(), outcome.state.clone().unwrap())
        })
        .collect()
}

fn tainted_from(outcomes: &[Outcome], second: u64) -> Vec<String> {
    let is_taint = |outcome: &&Outcome| {
        outcome.kind == "taint_add" && outcome.effect.as_deref() == Some("NoExecute")
    };
    let late = outcomes.iter().filter(is_taint).filter(|outcome| outcome.t >= second * 1_000);
    late.map(|outcome| outcome.node.clone().unwrap()).collect()
}

const NORMAL: &str = "Normal";
const FULL: &str = "FullDisruption";
const PARTIAL: &str = "PartialDisruption";

/// `TestMonitorNodeHealthEvictPodsWithDisruption`: the states before and after a change at 100 s,
/// and who is tainted after it.
#[test]
fn monitor_node_health_evict_pods_with_disruption() {
    let up = |name, zone| node(name, zone, "True", None);
    let down = |name, zone| node(name, zone, "Unknown", None);
    let fails = |name, zone| node(name, zone, "True", Some((100, "Unknown")));
    let recovers = |name, zone| node(name, zone, "Unknown", Some((100, "True")));
    for (description, nodes, before, after, tainted) in [
        (
            "Network Disruption: Only zone is down - eviction shouldn't take place.",
            vec![down("node0", "zone1"), down("node1", "zone1")],
            &[("zone1", FULL)][..],
            &[("zone1", FULL)][..],
            &[][..],
        ),
        (
            "Network Disruption: Both zones down - eviction shouldn't take place.",
            vec![down("node0", "zone1"), down("node1", "zone2")],
            &[("zone1", FULL), ("zone2", FULL)],
            &[("zone1", FULL), ("zone2", FULL)],
            &[],
        ),
        (
            "Network Disruption: One zone is down - eviction should take place.",
            vec![fails("node0", "zone1"), up("node1", "zone2")],
            &[("zone1", NORMAL), ("zone2", NORMAL)],
            &[("zone1", FULL), ("zone2", NORMAL)],
            &["node0"],
        ),
        (
            "Network Disruption: There is one zone, all nodes but the excluded master are down - \
             eviction shouldn't take place.",
            vec![down("node0", "zone1"), up("node-master", "zone1")],
            &[("zone1", FULL)],
            &[("zone1", FULL)],
            &[],
        ),
        (
            "Network Disruption: Initially both zones down, one comes back - eviction should take \
             place",
            vec![down("node0", "zone1"), recovers("node1", "zone2")],
            &[("zone1", FULL), ("zone2", FULL)],
            &[("zone1", FULL), ("zone2", NORMAL)],
            &["node0"],
        ),
        (
            "Network Disruption: Zone is partially disrupted - eviction should take place slower",
            vec![
                fails("node0", "zone1"),
                fails("node1", "zone1"),
                fails("node2", "zone1"),
                up("node3", "zone1"),
                up("node4", "zone1"),
            ],
            &[("zone1", NORMAL)],
            &[("zone1", PARTIAL)],
            &["node0", "node1"],
        ),
    ] {
        // The newest release counts masters by a label only; the case is of the older ones.
        let large = Config { large_cluster_threshold: 4, ..Config::default() };
        let (outcomes, _) = play(large, nodes, 20);
        let expected = |states: &[(&str, &str)]| -> BTreeMap<String, String> {
            states.iter().map(|(zone, state)| ((*zone).into(), (*state).into())).collect()
        };
        assert_eq!(states_at(&outcomes, 99), expected(before), "{description}");
        assert_eq!(states_at(&outcomes, 299), expected(after), "{description}");
        assert_eq!(tainted_from(&outcomes, 100), tainted, "{description}");
    }
}

/// Until 1.20 a node with the name of a master does not count; the label counts in all releases.
#[test]
fn who_does_not_count_by_release() {
    let nodes =
        |name| vec![node("node0", "zone1", "Unknown", None), node(name, "zone1", "True", None)];
    for (minor, name, state) in
        [(20, "node-master", FULL), (21, "node-master", NORMAL), (20, "node1", NORMAL)]
    {
        let (outcomes, _) = play(Config::default(), nodes(name), minor);
        assert_eq!(states_at(&outcomes, 299)["zone1"], state, "1.{minor} {name}");
    }
    for minor in [20, 21] {
        let mut nodes = nodes("node1");
        nodes[1].labels.insert("node.kubernetes.io/exclude-disruption".into(), "no".into());
        let (outcomes, _) = play(Config::default(), nodes, minor);
        assert_eq!(states_at(&outcomes, 299)["zone1"], FULL, "1.{minor}");
    }
}

/// `TestSwapUnreachableNotReadyTaints`: the swap waits for no token.
#[test]
fn swap_unreachable_not_ready_taints() {
    let mut swapped = node("node0", "zone1", "Unknown", Some((50, "False")));
    swapped.leases.push(Repeat { t: 0, step: 5, n: 1_000 });
    let nodes = vec![swapped, node("node1", "zone1", "True", None)];
    let config = Config { qps: 0.000_1, ..Config::default() };
    let (outcomes, world) = play(config, nodes, 35);
    let briefs: Vec<_> = outcomes
        .iter()
        .filter(|outcome| outcome.effect.as_deref() == Some("NoExecute"))
        .map(Outcome::brief)
        .collect();
    assert_eq!(
        briefs,
        [
            "0 node0 taint_add unreachable NoExecute",
            "50 node0 taint_add not-ready NoExecute",
            "50 node0 taint_del unreachable NoExecute",
        ]
    );
    assert_eq!(
        world.final_nodes()["node0"].taints,
        ["node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/not-ready:NoSchedule"]
    );
}

/// `TestNodeEventGeneration`: a node that goes leaves an event.
#[test]
fn node_event_generation() {
    let leaving = InputNode { leave: 7, ..node("node0", "zone1", "Unknown", None) };
    let (outcomes, _) = play(Config::default(), vec![leaving], 35);
    let events = outcomes.iter().filter(|outcome| outcome.kind == "node_event");
    let events: Vec<_> = events.map(Outcome::brief).collect();
    assert_eq!(events, ["0 node0 node_event RegisteredNode", "10 node0 node_event RemovingNode"]);
}

/// `TestMonitorNodeHealthUpdateStatus`: which conditions are written, and when.
#[test]
fn monitor_node_health_update_status() {
    let never = |created: i64| InputNode {
        created,
        join: 0,
        conditions: vec![],
        initial_lease: None,
        ..node("node0", "zone1", "True", None)
    };
    let unreachable = |mut node: InputNode| {
        node.leases.clear();
        node
    };
    for (description, node0, written) in [
        (
            "Node created long time ago, without status: Expect Unknown status posted from node \
             controller.",
            unreachable(never(-3600)),
            [(0, "NodeStatusNeverUpdated"); 4].to_vec(),
        ),
        (
            "Node created recently, without status. Expect no action from node controller (within \
             startup grace period).",
            unreachable(never(0)),
            [(65, "NodeStatusNeverUpdated"); 4].to_vec(),
        ),
        (
            "Node created long time ago, with status updated by kubelet exceeds grace period. \
             Expect Unknown status posted from node controller.",
            unreachable(node("node0", "zone1", "True", None)),
            // Its kubelet posted nothing but Ready.
            [[(45, "NodeStatusUnknown")].as_slice(), &[(45, "NodeStatusNeverUpdated"); 3]].concat(),
        ),
        (
            "Node created long time ago, with status updated recently. Expect no action from node \
             controller (within monitor grace period).",
            node("node0", "zone1", "True", None),
            vec![],
        ),
    ] {
        let nodes = vec![node0, node("node1", "zone1", "True", None)];
        let (outcomes, _) = play(Config::default(), nodes, 35);
        let conditions: Vec<_> = outcomes
            .iter()
            .filter(|outcome| outcome.kind == "node_condition")
            .map(|outcome| (outcome.t / 1_000, outcome.reason.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(conditions, written, "{description}");
    }
}

fn pod(name: &str, node: &str) -> InputPod {
    InputPod {
        namespace: "default".into(),
        name: name.into(),
        node: node.into(),
        t: 0,
        ready: true,
        daemonset: false,
        grace: 0,
        tolerations: vec![],
    }
}

/// `TestMonitorNodeHealthUpdateNodeAndPodStatusWithLease`: either sign of life will do, and a node
/// with neither is Unknown, and its pods are not ready.
#[test]
fn monitor_node_health_update_node_and_pod_status_with_lease() {
    let base = |lease: bool, posts: bool, ready: &str| {
        let mut node = node("node0", "zone1", ready, None);
        node.leases = lease.then_some(Repeat { t: 0, step: 10, n: 100 }).into_iter().collect();
        node.posts = posts
            .then_some(Post {
                t: 0,
                step: 10,
                n: 100,
                ready: ready.into(),
                memory: "False".into(),
                disk: "False".into(),
                pid: "False".into(),
            })
            .into_iter()
            .collect();
        node
    };
    let unknown: &[&str] = &["45 node0 node_condition Ready Unknown NodeStatusUnknown"];
    for (description, node0, expected, pods) in [
        ("status and lease are updated", base(true, true, "True"), &[][..], 0),
        ("the status is updated, the lease is not renewed", base(false, true, "True"), &[], 0),
        ("the lease is renewed, the status is not updated", base(true, false, "True"), &[], 0),
        ("neither is", base(false, false, "True"), unknown, 1),
        // Only a node that was ready has its pods marked.
        ("neither is, and it was not ready", base(false, false, "False"), unknown, 0),
    ] {
        let nodes = vec![node0, node("node1", "zone1", "True", None)];
        let pods_of = vec![pod("pod0", "node0"), pod("pod1", "node1")];
        let config = Config { qps: 0.0, ..Config::default() };
        let scenario = Scenario { config, duration: 120, nodes, pods: pods_of };
        let release = KubernetesRelease::new(31).unwrap();
        let (outcomes, _) = World::new(scenario, release).unwrap().play();
        let of_kind = |kind: &str| -> Vec<String> {
            outcomes.iter().filter(|o| o.kind == kind).map(Outcome::brief).collect()
        };
        let conditions: Vec<String> = of_kind("node_condition");
        let ready: Vec<&String> = conditions.iter().filter(|c| c.contains(" Ready ")).collect();
        assert_eq!(ready, expected.iter().collect::<Vec<_>>(), "{description}");
        assert_eq!(of_kind("pod_ready").len(), pods, "{description}");
    }
}

/// `TestMonitorNodeHealthMarkPodsNotReady`: pods of a node that this controller finds unreachable,
/// and of no other.
#[test]
fn monitor_node_health_mark_pods_not_ready() {
    let unreachable = {
        let mut node = node("node0", "zone1", "True", None);
        node.leases.clear();
        node
    };
    for (description, node0, marked) in [
        (
            "Node created recently, without status. Expect no action from node controller (within \
             startup grace period).",
            InputNode {
                created: 0,
                conditions: vec![],
                initial_lease: None,
                leases: vec![],
                ..unreachable.clone()
            },
            &[][..],
        ),
        (
            "Node created long time ago, with status updated recently. Expect no action from node \
             controller (within monitor grace period).",
            node("node0", "zone1", "True", None),
            &[],
        ),
        (
            "Node created long time ago, with status updated by kubelet exceeds grace period. \
             Expect pods status updated and Unknown node status posted from node controller",
            unreachable,
            &["45 default/pod0 pod_ready False"],
        ),
    ] {
        let nodes = vec![node0, node("node1", "zone1", "True", None)];
        let pods = vec![pod("pod0", "node0"), pod("pod1", "node1")];
        let scenario = Scenario { config: Config::default(), duration: 49, nodes, pods };
        let release = KubernetesRelease::new(31).unwrap();
        let (outcomes, _) = World::new(scenario, release).unwrap().play();
        let found = outcomes.iter().filter(|outcome| outcome.kind == "pod_ready");
        let found: Vec<String> = found.map(Outcome::brief).collect();
        assert_eq!(found, marked, "{description}");
    }
}

/// `TestApplyNoExecuteTaints` and `TestApplyNoExecuteTaintsToNodesEnqueueTwice`: a node that lost
/// its taint by hand is queued again once, and one that recovered is not tainted.
#[test]
fn apply_no_execute_taints_to_nodes_enqueue_twice() {
    let config = || Config { qps: 0.1, ..Config::default() };
    let nodes = || {
        vec![
            node("node0", "zone1", "Unknown", None),
            node("node1", "zone1", "True", None),
            node("node2", "zone1", "Unknown", Some((7, "True"))),
            node("node3", "zone1", "True", None),
        ]
    };
    for (minor, again) in [(18, false), (21, true), (31, true)] {
        let scenario = Scenario { config: config(), duration: 60, nodes: nodes(), pods: vec![] };
        let mut world = World::new(scenario, KubernetesRelease::new(minor).unwrap()).unwrap();
        for tick in 0..=600 {
            world.tick(tick, |world| {
                if tick == 155 {
                    world.remove_taints("node0");
                }
            });
        }
        let (outcomes, _) = world.finish();
        let tainted: Vec<String> = outcomes
            .iter()
            .filter(|o| o.kind == "taint_add" && o.effect.as_deref() == Some("NoExecute"))
            .map(Outcome::brief)
            .collect();
        let mut expected = vec!["0 node0 taint_add unreachable NoExecute"];
        // The pass at 20 s queues it; the bucket has filled since 0 s.
        expected.extend(again.then_some("20 node0 taint_add unreachable NoExecute"));
        assert_eq!(tainted, expected, "1.{minor}");
    }
}
