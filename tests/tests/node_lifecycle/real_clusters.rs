//! What clusters with a real control plane showed, each as the smallest cluster that shows it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use taintlab_core::api::{Lease, Node, Pod, PodKey, TaintEffect};
use taintlab_core::command::Command;
use taintlab_core::controllers::node_lifecycle::DequeueOutcome;
use taintlab_core::event::{Event, EventKind, RequestVerb};
use taintlab_core::eviction_timeline::time_budget::{Moment, TermKind};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{
    HealthPassTime, InitialState, Simulator, SimulatorConfig, last_time_budget,
};
use taintlab_core::time::{Span, Time, Timestamp};
use taintlab_kubectl::{Context, run as kubectl};

fn release(minor: u8) -> KubernetesRelease {
    KubernetesRelease::new(minor).unwrap()
}

/// Nodes and pods in a whole control plane whose health passes take as long as real ones.
fn cluster(minor: u8, nodes: usize, pods: &[Value]) -> Simulator {
    let mut config = SimulatorConfig::with_control_plane(release(minor));
    config.health_pass = HealthPassTime::MEASURED;
    let nodes = (0..nodes).map(|number| -> Node {
        serde_json::from_value(json!({"metadata": {"name": format!("n{number}")}})).unwrap()
    });
    let pods = pods.iter().map(|pod| -> Pod { serde_json::from_value(pod.clone()).unwrap() });
    Simulator::new(config, nodes, pods).unwrap()
}

fn command(simulator: &mut Simulator, seconds: u64, command: Value) {
    let command: Command = serde_json::from_value(command).unwrap();
    simulator.handle_command(Timestamp::from_secs(seconds), command).unwrap();
}

/// All that happens until then.
fn run(simulator: &mut Simulator, seconds: u64) -> Vec<Event> {
    simulator.advance_to(Timestamp::from_secs(seconds)).unwrap();
    simulator.drain_events()
}

/// When the node's `Ready` becomes another.
fn unknown_at(events: &[Event], name: &str) -> f64 {
    let is_unknown = |event: &&Event| {
        matches!(&event.what, EventKind::NodeConditionChanged { node, condition, .. }
            if node.as_str() == name && condition == "Ready")
    };
    events.iter().find(is_unknown).unwrap().at.since_zero().as_secs_f64()
}

/// A pass that writes a status is longer than others. It still knows the heartbeats that the passes
/// before it saw of other nodes.
#[test]
fn a_node_that_is_lost_after_another_one_is_found_as_soon_as_alone() {
    for minor in [18, 20, 26, 31, 32, 35] {
        let found = |others: &[(&str, u64)]| {
            let mut simulator = cluster(minor, 4, &[]);
            for (node, at) in others {
                command(&mut simulator, *at, json!({"cutNetwork": {"node": node}}));
            }
            let events = run(&mut simulator, 150);
            (unknown_at(&events, "n2"), events)
        };
        for cut in [45, 50, 55, 60] {
            let (alone, _) = found(&[("n2", cut)]);
            let (after, events) = found(&[("n1", 28), ("n2", cut)]);
            assert!(unknown_at(&events, "n1") < after, "1.{minor} {cut}: {events:?}");
            assert!((after - alone).abs() < 0.1, "1.{minor} {cut}: {alone} alone, {after} after");
        }
    }
}

/// The passes of the garbage collector take some time, so the third one after a deletion comes when
/// the quarantine is over.
#[test]
fn pods_of_a_deleted_node_go_with_the_third_pass() {
    for minor in [18, 26, 35] {
        let pod = json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n0"}});
        let mut simulator = cluster(minor, 2, &[pod]);
        command(&mut simulator, 3, json!({"stopKubelet": {"node": "n0"}}));
        command(&mut simulator, 61, json!({"deleteNode": {"node": "n0"}}));
        let events = run(&mut simulator, 200);
        let gone = |event: &&Event| matches!(event.what, EventKind::PodDeleted { .. });
        let gone = events.iter().find(gone).unwrap().at;
        // It misses the node at 80 s, and again at 100 s and 120 s.
        assert_eq!(gone, Timestamp::from_secs(120), "1.{minor}");
    }
}

/// What puts Events together is in the memory of a process: after a restart the same message is a
/// new Event.
#[test]
fn a_restarted_controller_manager_counts_its_events_anew() {
    for minor in [20, 35] {
        let mut simulator = cluster(minor, 1, &[]);
        let mut events = run(&mut simulator, 10);
        command(&mut simulator, 10, json!("restartControllerManager"));
        events.extend(run(&mut simulator, 30));
        let outcome = kubectl(&Context::new(&simulator, &events), "kubectl get events", None);
        let lines: Vec<&str> =
            outcome.stdout.lines().filter(|line| line.contains("RegisteredNode")).collect();
        assert_eq!(lines.len(), 2, "1.{minor}: {}", outcome.stdout);
        assert!(lines[0].starts_with("30s ") && lines[1].starts_with("20s "), "{lines:?}");
    }
}

/// The events of a run in which these nodes are cut off at the same time, until then.
fn cut(
    simulator: &mut Simulator,
    nodes: std::ops::Range<usize>,
    at: u64,
    until: u64,
) -> Vec<Event> {
    for node in nodes {
        command(simulator, at, json!({"cutNetwork": {"node": format!("n{node}")}}));
    }
    run(simulator, until)
}

/// When the first or the last event comes for which that holds.
fn moments(events: &[Event], holds: impl Fn(&EventKind) -> bool) -> (f64, f64) {
    let mut at = events.iter().filter(|event| holds(&event.what));
    let first = at.next().unwrap().at.since_zero().as_secs_f64();
    (first, at.next_back().map_or(first, |event| event.at.since_zero().as_secs_f64()))
}

fn pods_of(nodes: usize, pods: usize) -> Vec<Value> {
    let pod = |number: usize| {
        json!({"metadata": {"name": format!("p{number}")},
               "spec": {"nodeName": format!("n{}", number % nodes)}})
    };
    (0..nodes * pods).map(pod).collect()
}

/// When pods are marked as not ready: the first and the last.
fn marked(events: &[Event]) -> (f64, f64) {
    moments(events, |what| {
        matches!(what, EventKind::EventRecorded(event)
            if event.reason == "NodeNotReady" && event.message == "Node is not ready")
    })
}

/// The client of the node lifecycle controller sends 30 requests at once and then 20 a second. A
/// lost node takes 4, and 2 for each pod that it marks as not ready, serially.
#[test]
fn a_lost_node_with_many_pods_holds_up_the_pass_that_finds_it() {
    for minor in [20, 26, 32, 35] {
        let mut simulator = cluster(minor, 2, &pods_of(1, 110));
        let events = cut(&mut simulator, 0..1, 61, 200);
        let found = unknown_at(&events, "n0");
        let (_, last) = marked(&events);
        // (4 + 220 - 30) / 20 s, of which the last Event is nobody's delay.
        assert!((9.5..9.8).contains(&(last - found)), "1.{minor}: {found} {last}");
        let tainted = |what: &EventKind| matches!(what, EventKind::NodeDequeued { .. });
        let (tainted, _) = moments(&events, tainted);
        // Since 1.34 the same pass queues the node; before it is the next one, 5 s after its end.
        let expected = if minor < 34 { 14.5..15.2 } else { 0.0..0.7 };
        assert!(expected.contains(&(tainted - found)), "1.{minor}: {found} {tainted}");
    }
}

/// `--kube-api-qps` and `--kube-api-burst` are settings, and ideal clocks know neither.
#[test]
fn the_flags_of_the_client_count() {
    let last = |flags: &[(&str, &str)], pass: HealthPassTime| {
        let mut config = SimulatorConfig::with_control_plane(release(35));
        config.health_pass = pass;
        let flags = flags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        config.controller_manager_flags = flags.collect();
        let node = |name: &str| serde_json::from_value(json!({"metadata": {"name": name}}));
        let nodes = ["n0", "n1"].map(|name| node(name).unwrap());
        let pods = pods_of(1, 110).into_iter().map(|pod| serde_json::from_value(pod).unwrap());
        let mut simulator = Simulator::new(config, nodes, pods).unwrap();
        let events = cut(&mut simulator, 0..1, 61, 200);
        marked(&events).1 - unknown_at(&events, "n0")
    };
    let measured = HealthPassTime::MEASURED;
    assert_eq!(last(&[], HealthPassTime::default()), 0.0);
    let unlimited = last(&[("kube-api-qps", "-1")], measured);
    assert!((2.7..2.8).contains(&unlimited), "110 writes of 25 ms: {unlimited}");
    let fast = last(&[("kube-api-qps", "40")], measured);
    assert!((4.7..5.0).contains(&fast), "{fast}");
    let burst = last(&[("kube-api-burst", "130")], measured);
    assert!((4.4..5.0).contains(&burst), "{burst}");
}

/// Eight nodes are looked at beside one another since 1.27. They share the client, and Events lag
/// behind.
#[test]
fn many_lost_nodes_share_one_client() {
    for (minor, least, most) in [(26, 7.5, 8.5), (35, 4.0, 6.5)] {
        let mut simulator = cluster(minor, 65, &pods_of(32, 1));
        let events = cut(&mut simulator, 0..32, 61, 200);
        let (first, _) = (unknown_at(&events, "n0"), ());
        let (_, last) = marked(&events);
        let took = last - first;
        assert!((least..most).contains(&took), "1.{minor}: {took}");
    }
}

/// When pods were deleted, in seconds: their names and moments in order.
fn deleted(events: &[Event]) -> Vec<(String, f64)> {
    let deletes = events.iter().filter_map(|event| match &event.what {
        EventKind::Request { pod, verb: RequestVerb::Delete, .. } => {
            Some((pod.name().to_owned(), event.at.since_zero().as_secs_f64()))
        }
        _ => None,
    });
    deletes.collect()
}

fn taint(node: &str) -> Value {
    json!({"taint": {"node": node, "taint": {"key": "example.com/a", "effect": "NoExecute"}}})
}

/// Since 1.34 the pass that writes Unknown queues the node. A tainting pass that comes before the
/// informer has heard of that takes the token in vain, and the next health pass queues it again: in
/// one of 32 recorded nodes, Unknown at 57.22 s and tainted at 67.29 s. The range knows.
#[test]
fn a_tainting_pass_before_the_informer_loses_its_token() {
    let tainted = |minor: u8, lag: u64| {
        let mut config = SimulatorConfig::with_control_plane(release(minor));
        config.health_pass.informer_lag = Span(Duration::from_millis(lag));
        let node = |name: &str| serde_json::from_value(json!({"metadata": {"name": name}}));
        let nodes = ["n0", "n1"].map(|name| node(name).unwrap());
        let pods = pods_of(1, 1).into_iter().map(|pod| serde_json::from_value(pod).unwrap());
        let mut simulator = Simulator::new(config, nodes, pods).unwrap();
        command(&mut simulator, 61, json!({"cutNetwork": {"node": "n0"}}));
        let forecast = simulator.look_ahead();
        let budget = forecast.time_budget(&PodKey::new("default", "p0")).unwrap();
        let range = budget.range.unwrap();
        let is_lost = minor > 33 && lag > 0;
        assert_eq!(range.text.contains("loses a token"), is_lost, "{}", range.text);
        let is_said = budget.terms.iter().any(|term| term.text.starts_with("a token is lost"));
        assert_eq!(is_said, is_lost, "1.{minor}");
        let bounds = range.earliest..=range.latest;
        let events = run(&mut simulator, 200);
        let outcomes: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.what {
                EventKind::NodeDequeued { outcome, .. } => Some(*outcome),
                _ => None,
            })
            .collect();
        let is_done = |what: &EventKind| {
            matches!(what, EventKind::NodeDequeued { outcome: DequeueOutcome::Done, .. })
        };
        let (done, _) = moments(&events, is_done);
        (outcomes, done - unknown_at(&events, "n0"), bounds)
    };
    let done = vec![DequeueOutcome::Done];
    for minor in [33, 34, 36] {
        let (outcomes, soon, bounds) = tainted(minor, 0);
        assert_eq!(outcomes, done, "1.{minor}");
        let (outcomes, later, lagging) = tainted(minor, 50);
        if minor == 33 {
            assert_eq!((outcomes, later, lagging), (done.clone(), soon, bounds));
            continue;
        }
        assert_eq!(outcomes, [DequeueOutcome::ReadyInCache, DequeueOutcome::Done], "1.{minor}");
        assert_eq!((soon, later), (0.0, 10.0), "1.{minor}");
        // The range of a cluster that lags begins with the other one's and ends later.
        assert_eq!(lagging.start(), bounds.start(), "1.{minor}");
        assert!(lagging.end().since(*bounds.end()).as_secs() >= 10, "1.{minor}");
    }
}

/// Timers that fire at one moment run at once, and their requests wait for the client: an Event and
/// a DELETE for each pod, and since 1.26 a GET and a PATCH before.
#[test]
fn pods_that_are_due_at_once_wait_for_the_client() {
    let took = |minor: u8, pods: usize, pass: HealthPassTime, qps: &str| {
        let mut config = SimulatorConfig::with_control_plane(release(minor));
        config.health_pass = pass;
        config.controller_manager_flags.insert("kube-api-qps".into(), qps.into());
        let node = |name: &str| serde_json::from_value(json!({"metadata": {"name": name}}));
        let nodes = ["n0", "n1"].map(|name| node(name).unwrap());
        let pods = pods_of(1, pods).into_iter().map(|pod| serde_json::from_value(pod).unwrap());
        let mut simulator = Simulator::new(config, nodes, pods).unwrap();
        command(&mut simulator, 61, taint("n0"));
        let events = run(&mut simulator, 120);
        let deleted = deleted(&events);
        let (last, at) = deleted.last().unwrap().clone();
        let pod = PodKey::new("default", &last);
        let budget = simulator.time_budget(&pod).or_else(|| last_time_budget(&simulator, &pod));
        let terms = budget.unwrap().terms;
        let client = terms.into_iter().find(|term| term.kind == TermKind::Client);
        (deleted.len(), at - 61.0, client.map(|term| term.set_by))
    };
    let measured = HealthPassTime::MEASURED;
    for (minor, pods, expected) in [
        (20, 110, 4.0..4.6),
        (25, 110, 4.0..4.6),
        (26, 110, 15.0..16.0),
        (28, 110, 15.0..16.0),
        (29, 110, 15.0..16.0),
        (35, 110, 15.0..16.0),
    ] {
        let (count, last, client) = took(minor, pods, measured, "20");
        assert_eq!((count, client.as_deref()), (pods, Some("--kube-api-qps=20")), "1.{minor}");
        assert!(expected.contains(&last), "1.{minor}: {last}");
        assert_eq!(took(minor, pods, HealthPassTime::default(), "20"), (pods, 0.0, None));
        assert_eq!(took(minor, pods, measured, "-1"), (pods, 0.0, None));
        // The burst is enough for a few.
        assert_eq!(took(minor, 7, measured, "20"), (7, 0.0, None), "1.{minor}");
    }
    // To 1.28 the client is that of the node lifecycle controller, which a lost node keeps busy.
    for (minor, waits) in [(28, true), (29, false)] {
        let mut pods = pods_of(1, 110);
        pods.push(json!({"metadata": {"name": "other"}, "spec": {"nodeName": "n1"}}));
        let mut simulator = cluster(minor, 3, &pods);
        let mut events = cut(&mut simulator, 0..1, 61, 107);
        assert!(unknown_at(&events, "n0") < 104.0, "1.{minor}");
        command(&mut simulator, 107, taint("n1"));
        events.extend(run(&mut simulator, 108));
        let deleted = deleted(&events);
        let (_, at) = deleted.iter().find(|(name, _)| name == "other").unwrap();
        assert_eq!(*at > 107.0, waits, "1.{minor}: {at}");
    }
}

/// Loses the first nodes of a cluster in many phases, and checks that the range of each of some pods
/// holds the moments of all.
fn check_ranges(minor: u8, nodes: usize, lost: usize, pods: usize, phases: u64) {
    let tolerations = json!([{"key": "node.kubernetes.io/unreachable", "operator": "Exists",
                              "effect": "NoExecute", "tolerationSeconds": 300}]);
    let objects: Vec<Value> = { pods_of(lost, pods).into_iter() }
        .map(|mut pod| {
            pod["spec"]["tolerations"] = tolerations.clone();
            pod
        })
        .collect();
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    let (mut earliest, mut latest) = (i64::MIN, i64::MAX);
    for phase in 0..phases {
        let mut simulator = cluster(minor, nodes, &objects);
        let at = Timestamp::from_millis(61_003 + 10_000 * phase / phases);
        for node in 0..lost {
            let command = json!({"cutNetwork": {"node": format!("n{node}")}});
            simulator.handle_command(at, serde_json::from_value(command).unwrap()).unwrap();
        }
        let forecast = simulator.look_ahead();
        let start = i64::try_from(at.as_nanos()).unwrap();
        for pod in (0..lost * pods).step_by(7) {
            let pod = PodKey::new("default", &format!("p{pod}"));
            let budget = forecast.time_budget(&pod).unwrap();
            let range = budget.range.unwrap();
            let evicted = budget.evicted_at.as_nanos() - start;
            (least, most) = (least.min(evicted), most.max(evicted));
            earliest = earliest.max(range.earliest.as_nanos() - start);
            latest = latest.min(range.latest.as_nanos() - start);
        }
    }
    let text = format!("1.{minor}, {lost} nodes of {pods} pods: {least} {most} ns are not all in");
    assert!(earliest <= least && most <= latest, "{text} {earliest} {latest} ns");
}

/// The pass is held up by its writes, and the pods are due at once in the end.
#[test]
fn the_range_holds_a_lost_node_with_many_pods() {
    for minor in [20, 26, 31, 35] {
        check_ranges(minor, 3, 1, 110, 20);
    }
}

/// A large failure: passes take minutes, and the last node waits for its token for longer.
#[test]
fn the_range_holds_a_hundred_lost_nodes() {
    for minor in [26, 35] {
        check_ranges(minor, 201, 100, 30, 3);
    }
}

/// While a pass marks pods, nodes that it has queued are tainted; it relieves nodes by the objects of
/// its beginning, so these keep their taint in a total outage and lose their pods.
#[test]
fn a_node_tainted_while_a_pass_marks_pods_keeps_its_taint_in_a_total_outage() {
    // Zone c is lost, then a and b but one node, and then that one.
    for (minor, pods, cuts) in [(26, 8, [45, 64, 67]), (26, 2, [50, 55, 60]), (20, 2, [50, 55, 60])]
    {
        // Leases are renewed at multiples of 10 s, and that of `n2` 5 s later.
        let mut config = SimulatorConfig::with_control_plane(release(minor));
        config.health_pass = HealthPassTime::MEASURED;
        let lease = |node: usize, ago: i64| -> Lease {
            let renewed = Time::from_unix_seconds(config.start.unix_seconds() - ago).to_string();
            let lease =
                json!({"metadata": {"name": format!("n{node}")}, "spec": {"renewTime": renewed}});
            serde_json::from_value(lease).unwrap()
        };
        let leases = [lease(0, 10), lease(1, 10), lease(2, 5), lease(3, 10)].into();
        let nodes = ["a", "b", "b", "c"].iter().enumerate().map(|(number, zone)| -> Node {
            let labels = json!({"topology.kubernetes.io/zone": zone});
            let node = json!({"metadata": {"name": format!("n{number}"), "labels": labels}});
            serde_json::from_value(node).unwrap()
        });
        let pods =
            pods_of(4, pods).into_iter().map(|pod| serde_json::from_value::<Pod>(pod).unwrap());
        let begin = InitialState { leases, ..InitialState::default() };
        let mut simulator = Simulator::beginning_with(config.clone(), nodes, pods, begin).unwrap();
        for (at, nodes) in cuts.into_iter().zip([&[3][..], &[0, 1], &[2]]) {
            for node in nodes {
                command(&mut simulator, at, json!({"cutNetwork": {"node": format!("n{node}")}}));
            }
        }
        let events = run(&mut simulator, 900);
        assert!(events.iter().any(|event| event.what == EventKind::MasterDisruptionEntered));
        for node in ["n0", "n1"] {
            let taints = &simulator.cluster().get_node(node).unwrap().spec.taints;
            let evicts = taints.iter().any(|taint| taint.effect == TaintEffect::NoExecute);
            assert!(evicts, "1.{minor} {cuts:?} {node}: {taints:?}");
        }
        let taints = &simulator.cluster().get_node("n2").unwrap().spec.taints;
        let stays = taints.iter().all(|taint| taint.effect == TaintEffect::NoSchedule);
        assert!(stays, "1.{minor} {cuts:?}: {taints:?}");
    }
}

/// Of nodes that a health pass has found any can be the first that is tainted: the forecast of a pod
/// says between which moments it goes, whether its node is queued already or not.
#[test]
fn a_node_that_waits_with_others_has_a_range() {
    for minor in [20, 26, 31, 35] {
        let mut simulator = cluster(minor, 8, &pods_of(3, 1));
        let events = cut(&mut simulator, 0..3, 61, 62);
        assert!(deleted(&events).is_empty());
        let mut events = Vec::new();
        let mut ranges = Vec::new();
        // Every 250 ms until the first is tainted, and once after that.
        for quarter in 250..520 {
            simulator.advance_to(Timestamp::from_millis(quarter * 250)).unwrap();
            events.extend(simulator.drain_events());
            let found = events.iter().any(|event| {
                matches!(&event.what, EventKind::NodeConditionChanged { condition, .. }
                    if condition == "Ready")
            });
            if !found || !deleted(&events).is_empty() {
                continue;
            }
            let forecast = simulator.look_ahead();
            for pod in 0..3 {
                let budget = forecast.time_budget(&PodKey::new("default", &format!("p{pod}")));
                let range = budget.unwrap().range.unwrap_or_else(|| panic!("1.{minor} {quarter}"));
                assert!(range.text.contains("can be tainted first"), "{}", range.text);
                ranges.push((range.earliest, range.latest));
            }
        }
        events.extend(run(&mut simulator, 300));
        let mut deleted = deleted(&events);
        // A pod that is terminating may be deleted again.
        let mut seen = BTreeSet::new();
        deleted.retain(|(pod, _)| seen.insert(pod.clone()));
        assert_eq!(deleted.len(), 3, "1.{minor}");
        let seconds = |moment: Moment| moment.as_nanos() as f64 / 1e9;
        for (earliest, latest) in ranges {
            let (earliest, latest) = (seconds(earliest), seconds(latest));
            for (pod, at) in &deleted {
                let holds = earliest <= *at + 0.01 && *at <= latest + 0.01;
                assert!(holds, "1.{minor} {pod}: {at} in {earliest} {latest}");
            }
            assert!(latest - earliest < 45.0, "1.{minor}: {earliest} {latest}");
        }
    }
}

/// Which of the nodes of one pass is tainted first is free upstream: each can be any.
#[test]
fn the_order_of_nodes_in_a_pass_is_one_of_several() {
    for minor in [18, 20, 26, 31, 35] {
        let taints = |order: &[&str]| {
            let mut config = SimulatorConfig::with_control_plane(release(minor));
            config.health_pass = HealthPassTime::MEASURED;
            config.kubelets.phase_seed = 0;
            let nodes = (0..8).map(|number| -> Node {
                serde_json::from_value(json!({"metadata": {"name": format!("n{number}")}})).unwrap()
            });
            let pass_orders = [order.iter().map(|name| (*name).into()).collect()].into();
            let begin = InitialState { pass_orders, ..InitialState::default() };
            let mut simulator = Simulator::beginning_with(config, nodes, [], begin).unwrap();
            let mut events = cut(&mut simulator, 0..3, 61, 90);
            let mut waiting = Vec::new();
            for second in 91..180 {
                let lifecycle = simulator.node_lifecycle().unwrap();
                let zone = lifecycle.zones(simulator.now()).remove(0);
                if zone.queue.len() == 3 {
                    waiting = zone.queue;
                }
                events.extend(run(&mut simulator, second));
            }
            let tainted = events.iter().filter_map(|event| match &event.what {
                EventKind::NodeDequeued { node, outcome: DequeueOutcome::Done, .. } => {
                    Some((node.to_string(), event.at))
                }
                _ => None,
            });
            let mut tainted: Vec<_> = tainted.collect();
            // Spare entries of 1.20 have turns, too.
            let mut seen = BTreeSet::new();
            tainted.retain(|(name, _)| seen.insert(name.clone()));
            (tainted, waiting)
        };
        let (by_name, waiting) = taints(&[]);
        let names = |tainted: &[(String, Timestamp)]| {
            tainted.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&by_name), "n0 n1 n2", "1.{minor}");
        let (other, _) = taints(&["n2", "n0", "n1"]);
        assert_eq!(names(&other), "n2 n0 n1", "1.{minor}");
        // What the queue says of each node holds every order.
        for node in waiting.into_iter().filter(|_| minor != 20) {
            assert_eq!(node.tied, 3, "1.{minor}");
            let text = node.order_text().unwrap();
            assert!(text.starts_with("one of 6 orders: first "), "{text}");
            for tainted in [&by_name, &other] {
                let at = tainted.iter().find(|(name, _)| node.node.as_str() == name).unwrap().1;
                let range = node.earliest_at.unwrap()..=node.latest_at.unwrap();
                assert!(range.contains(&at), "1.{minor} {}: {at} in {range:?}", node.node);
            }
        }
    }
}
