//! The state of kubelets at the beginning, and what they do at once.

use taintlab_core::api::{ConditionStatus, Lease, Node, NodeCondition};
use taintlab_core::command::Command;
use taintlab_core::event::EventKind;
use taintlab_core::eviction_timeline::time_budget::Moment;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::{Time, Timestamp};
use taintlab_tests::notation;

fn s(seconds: u64) -> Timestamp {
    Timestamp::from_secs(seconds)
}

fn wall(seconds: i64) -> Time {
    Time::from_unix_seconds(Time::DEFAULT_START.unix_seconds() + seconds)
}

/// Healthy nodes n1, n2, … with the flags given, on 1.31.
pub(crate) fn cluster(nodes: usize, flags: &[(&str, &str)]) -> Simulator {
    let release = KubernetesRelease::parse("1.31").unwrap();
    let mut config = SimulatorConfig::with_node_lifecycle(release);
    for (name, value) in flags {
        config.controller_manager_flags.insert((*name).into(), (*value).into());
    }
    let nodes = (1..=nodes).map(|number| notation::node(&format!("n{number}"), vec![]));
    Simulator::new(config, nodes, []).unwrap()
}

fn imported(name: &str, status: &str, heartbeat: i64) -> Node {
    let mut node = notation::node(name, vec![]);
    node.status.conditions = vec![NodeCondition {
        type_: "Ready".into(),
        status: status.into(),
        reason: "Imported".into(),
        message: "as it was".into(),
        last_heartbeat_time: Some(wall(heartbeat)),
        last_transition_time: Some(wall(-5_000)),
        ..NodeCondition::default()
    }];
    node
}

fn ready(simulator: &Simulator, name: &str) -> NodeCondition {
    simulator.node_as_served(name).unwrap().condition("Ready").unwrap().clone()
}

/// An imported node is taken to be as its conditions say, and its own words are kept.
fn with_lease<const N: usize>(
    config: SimulatorConfig,
    nodes: [Node; N],
    lease: Lease,
) -> Simulator {
    let begin = InitialState { leases: vec![lease], ..InitialState::default() };
    Simulator::beginning_with(config, nodes, [], begin).unwrap()
}

#[test]
fn imported_nodes_are_as_their_conditions_say() {
    let config = SimulatorConfig::with_node_lifecycle(KubernetesRelease::NEWEST);
    let nodes = [
        imported("up", "True", -100),
        imported("down", "False", -20),
        imported("gone", "Unknown", -300),
    ];
    let mut lease = Lease::default();
    lease.metadata.name = "up".into();
    lease.metadata.namespace = Lease::NODE_NAMESPACE.into();
    lease.spec.renew_time = Some(wall(-7));
    let mut simulator = with_lease(config, nodes, lease);
    simulator.advance_to(s(0)).unwrap();
    let view = simulator.node_view("up").unwrap();
    assert_eq!(view.lease_renewed_at, Some(Moment::of(wall(-7), wall(0))));
    // Renewed 7 s before the beginning, it is renewed 3 s after it; and posted 300 s after the
    // last post, at a heartbeat.
    assert_eq!((view.next_renewal, view.next_post), (Some(s(3)), Some(s(203))));
    assert_eq!(simulator.node_view("gone").unwrap().next_renewal, None);
    simulator.advance_to(s(3_600)).unwrap();
    let view = simulator.node_view("up").unwrap();
    assert_eq!(view.lease_renewed_at, Some(s(3_593).into()));
    assert_eq!(view.status_posted_at, Some(s(3_503).into()));
    let (up, down, gone) =
        (ready(&simulator, "up"), ready(&simulator, "down"), ready(&simulator, "gone"));
    assert_eq!((up.status, up.message.as_str()), (ConditionStatus::True, "as it was"));
    assert_eq!(up.last_heartbeat_time, Some(wall(3_503)));
    assert_eq!(up.last_transition_time, Some(wall(-5_000)));
    assert_eq!((down.status, down.message.as_str()), (ConditionStatus::False, "as it was"));
    assert_eq!(
        (gone.status, gone.last_heartbeat_time),
        (ConditionStatus::Unknown, Some(wall(-300)))
    );
    assert_eq!(simulator.lease("up").unwrap().spec.renew_time, Some(wall(3_593)));
    // What is unreachable comes back healthy.
    simulator.handle_command(s(3_600), Command::StartKubelet { node: "gone".into() }).unwrap();
    assert_eq!(ready(&simulator, "gone").status, ConditionStatus::True);
}

/// Times after the beginning are those of another clock, and do no harm.
#[test]
fn heartbeats_of_the_future_do_no_harm() {
    let config = SimulatorConfig::with_node_lifecycle(KubernetesRelease::NEWEST);
    let year = 365 * 24 * 3_600;
    let mut lease = Lease::default();
    lease.metadata.name = "n".into();
    lease.spec.renew_time = Some(wall(year));
    let node = imported("n", "True", year);
    let mut simulator = with_lease(config, [node], lease);
    simulator.advance_to(s(100_000)).unwrap();
    let lost = |what: &EventKind| matches!(what, EventKind::NodeConditionChanged { .. });
    assert!(!simulator.drain_events().iter().any(|event| lost(&event.what)));
    assert_eq!(ready(&simulator, "n").status, ConditionStatus::True);
}

/// A status that somebody else wrote is put right with the next update, and nobody waits for it
/// before or after.
#[test]
fn a_kubelet_puts_its_status_right() {
    let mut simulator = cluster(2, &[]);
    simulator.advance_to(s(12)).unwrap();
    let mut node = Node::clone(simulator.cluster().get_node("n1").unwrap());
    node.status.conditions.iter_mut().for_each(|condition| condition.status = "Unknown".into());
    simulator.handle_command(s(12), Command::UpdateNode(node)).unwrap();
    simulator.advance_to(s(19)).unwrap();
    assert_eq!(ready(&simulator, "n1").status, ConditionStatus::Unknown);
    simulator.advance_to(s(20)).unwrap();
    assert_eq!(ready(&simulator, "n1").status, ConditionStatus::True);
    simulator.advance_to(s(30)).unwrap();
    assert_eq!(simulator.poll_timeout(), None);
}

/// The controller marks a pod by the health that its last pass found, which may be older than what
/// the kubelet posted meanwhile: the kubelet corrects that when its clock ticks next.
#[test]
fn a_pod_marked_after_its_node_is_ready_again_becomes_ready() {
    let mut simulator = cluster(3, &[]);
    let node = taintlab_core::api::NodeName::from("n1");
    let stop = Command::StopKubelet { node: node.clone() };
    simulator.handle_command(s(1), stop).unwrap();
    simulator.handle_command(s(101), Command::StartKubelet { node }).unwrap();
    simulator.advance_to(s(101)).unwrap();
    assert_eq!(ready(&simulator, "n1").status, ConditionStatus::True);
    // The next health pass is at 105 s.
    let key = taintlab_core::api::PodKey::new("d", "p");
    let pod = notation::pod(&key, "n1", notation::tolerations("*/inf").unwrap());
    simulator.handle_command(s(102), Command::CreatePod(pod)).unwrap();
    let is_ready = |simulator: &Simulator| {
        let pod = simulator.cluster().get_pod(&key).unwrap();
        pod.condition("Ready").unwrap().status.clone()
    };
    simulator.advance_to(s(102)).unwrap();
    assert_eq!(is_ready(&simulator), ConditionStatus::False);
    simulator.advance_to(s(112)).unwrap();
    assert_eq!(is_ready(&simulator), ConditionStatus::True);
    assert_eq!(simulator.poll_timeout(), None);
}

/// A grace period that is shorter than the time between two heartbeats makes healthy nodes flap, as
/// in a cluster that is set so.
#[test]
fn a_short_grace_period_makes_nodes_flap() {
    let flags = [("node-monitor-grace-period", "3s"), ("node-monitor-period", "1s")];
    let mut simulator = cluster(3, &flags);
    simulator.advance_to(s(60)).unwrap();
    let times: Vec<String> = simulator
        .drain_events()
        .into_iter()
        .filter_map(|event| match event.what {
            EventKind::NodeConditionChanged { node, condition, to, .. }
                if condition == "Ready" && node.as_str() == "n1" =>
            {
                Some(format!("{} {to}", event.at))
            }
            _ => None,
        })
        .collect();
    // The kubelet posts again at its next update; its new heartbeat drops the lease, so that the
    // next pass takes that for a sign of life.
    assert_eq!(times[..3], ["4s Unknown", "10s True", "14s Unknown"]);
}

/// With phases the heartbeats are spread, but nothing else is different for a healthy cluster.
#[test]
fn phases_spread_the_beats() {
    let mut config = SimulatorConfig::with_node_lifecycle(KubernetesRelease::NEWEST);
    config.kubelets.phase_seed = 3;
    let nodes = (0..20).map(|number| notation::node(&format!("n{number}"), vec![]));
    let mut simulator = Simulator::new(config, nodes, []).unwrap();
    simulator.advance_to(s(100)).unwrap();
    let renewals: std::collections::BTreeSet<_> = (0..20)
        .map(|number| simulator.node_view(&format!("n{number}")).unwrap().next_renewal.unwrap())
        .collect();
    assert!(renewals.len() > 15 && renewals.iter().all(|at| (s(100)..=s(110)).contains(at)));
    assert_eq!(simulator.poll_timeout(), None);
}

/// A zone that is cut takes nodes that come into it, and gives back those that leave.
#[test]
fn a_cut_zone_cuts_those_that_come_into_it() {
    let mut simulator = cluster(3, &[]);
    let label = |zone: &str| {
        let labels = [("topology.kubernetes.io/zone".to_owned(), zone.to_owned())].into();
        Command::SetNodeLabels { node: "n1".into(), labels }
    };
    simulator.handle_command(s(1), label("a")).unwrap();
    let cut = |zone: &str| Command::CutZoneNetwork { zone: zone.into() };
    simulator.handle_command(s(2), cut("a")).unwrap();
    assert!(simulator.node_view("n1").unwrap().unreachable.is_some());
    simulator.handle_command(s(3), label("b")).unwrap();
    assert_eq!(simulator.node_view("n1").unwrap().unreachable, None);
    simulator.handle_command(s(4), label("a")).unwrap();
    assert!(simulator.node_view("n1").unwrap().unreachable.is_some());
    assert!(simulator.node_view("n2").unwrap().unreachable.is_none());
}

/// A flag switches each controller off.
#[test]
fn controllers_can_be_switched_off() {
    let run = |release: &str, controllers: &str| {
        let mut config =
            SimulatorConfig::with_node_lifecycle(KubernetesRelease::parse(release).unwrap());
        config.controller_manager_flags.insert("controllers".into(), controllers.into());
        let key = taintlab_core::api::PodKey::new("d", "p");
        let nodes = ["n1", "n2", "n3"].map(|name| notation::node(name, vec![]));
        let pod = notation::pod(&key, "n1", vec![]);
        let mut simulator = Simulator::new(config, nodes, [pod]).unwrap();
        simulator.handle_command(s(1), Command::StopKubelet { node: "n1".into() }).unwrap();
        simulator.advance_to(s(100)).unwrap();
        let node = simulator.cluster().get_node("n1").unwrap();
        let tainted = node.spec.taints.iter().any(taintlab_core::api::Taint::is_no_execute);
        (tainted, simulator.cluster().get_pod(&key).unwrap().is_terminating())
    };
    assert_eq!(run("1.31", "*"), (true, true));
    assert_eq!(run("1.31", "*,-taint-eviction-controller"), (true, false));
    assert_eq!(run("1.31", "*,-node-lifecycle-controller"), (false, false));
    // To 1.28 it is part of the node lifecycle controller.
    assert_eq!(run("1.28", "*,-taint-eviction-controller"), (true, true));
    assert_eq!(run("1.26", "*,-nodelifecycle"), (false, false));
}

/// Without the node lifecycle nothing is there that was not before.
#[test]
fn without_the_node_lifecycle_there_are_no_kubelets() {
    let mut simulator =
        Simulator::new(SimulatorConfig::default(), [notation::node("n", vec![])], []).unwrap();
    simulator.advance_to(s(0)).unwrap();
    simulator.drain_events();
    simulator.advance_to(s(1_000)).unwrap();
    assert_eq!(simulator.drain_events(), []);
    assert!(simulator.cluster().get_node("n").unwrap().status.conditions.is_empty());
    assert!(simulator.node_view("n").is_none() && simulator.zones().is_empty());
}
