//! Requests that fail, deadlines, and idle time.

mod differential;
mod promised;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::time::Duration;

use taintlab_rules::api::TaintEffect;
use taintlab_rules::api::{
    ConditionStatus, Node, NodeCondition, NodeName, Pod, PodCondition, PodKey,
};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::OrderedMap;
use taintlab_rules::protocol::ApiErrorKind;
use taintlab_rules::protocol::zone::ZoneState;
use taintlab_rules::protocol::{RequestResult, TimeoutReason};
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Time, Timestamp};

use super::*;

/// A cluster whose writes can be made to fail, with a log of actions.
struct World {
    controller: NodeLifecycleController,
    cluster: Cluster,
    /// Results of the next requests of a kind; later ones succeed.
    answers: OrderedMap<&'static str, Vec<RequestResult>>,
    log: Vec<String>,
    now: Timestamp,
}

const FAILED: RequestResult = RequestResult::Error(ApiErrorKind::InternalError);
const CONFLICT: RequestResult = RequestResult::Error(ApiErrorKind::Conflict);

fn at(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

fn wall(secs: u64) -> Time {
    Time::DEFAULT_START.saturating_add(at(secs).since_zero())
}

fn node(name: &str, ready: &str, heartbeat: u64) -> Node {
    let mut node = Node::default();
    node.metadata.name = name.into();
    node.metadata.creation_timestamp = Some(wall(0));
    node.status.conditions = vec![NodeCondition {
        type_: "Ready".into(),
        status: ready.into(),
        last_heartbeat_time: Some(wall(heartbeat)),
        last_transition_time: Some(wall(heartbeat)),
        ..NodeCondition::default()
    }];
    node
}

impl World {
    fn new(minor: u8, flags: &[(&str, &str)]) -> Self {
        Self::with_write_time(minor, flags, Duration::ZERO)
    }

    fn with_write_time(minor: u8, flags: &[(&str, &str)], write_time: Duration) -> Self {
        let release = KubernetesRelease::new(minor).unwrap();
        let mut config = NodeLifecycleConfig { write_time, ..NodeLifecycleConfig::of(release) };
        config.set_flag(release, "node-monitor-grace-period", "40s").unwrap();
        config.set_flag(release, "kube-api-qps", "-1").unwrap();
        for (name, value) in flags {
            config.set_flag(release, name, value).unwrap();
        }
        let start = Time::DEFAULT_START;
        Self {
            controller: NodeLifecycleController::new(release, config, start, at(0)),
            cluster: Cluster::default(),
            answers: OrderedMap::new(),
            log: Vec::new(),
            now: at(0),
        }
    }

    fn put(&mut self, node: Node) {
        let new = Arc::new(node);
        let old = self.cluster.put_node(new.clone());
        self.controller.handle_node_update(self.now, old.as_ref(), Some(&new));
    }

    fn put_pod(&mut self, name: &str, node: &str) {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.spec.node_name = node.into();
        let (type_, status) = ("Ready".into(), ConditionStatus::True);
        pod.status.conditions = vec![PodCondition { type_, status, ..PodCondition::default() }];
        self.store_pod(&pod.key(), pod);
    }

    fn store_pod(&mut self, key: &PodKey, pod: Pod) {
        let new = Arc::new(pod);
        let old = self.cluster.put_pod(key, new.clone());
        self.controller.handle_pod_update(self.now, key, old.as_deref(), Some(&new));
    }

    fn send_heartbeat(&mut self, name: &str) {
        let renewal = Renewal { renew_time: Some(self.controller.wall_clock(self.now)) };
        self.controller.handle_renewal(self.now, &name.into(), Some(renewal));
    }

    /// Advances to `secs`, deadline by deadline, and returns the log since the last call.
    fn run_to(&mut self, secs: u64) -> Vec<String> {
        self.run_until(at(secs));
        core::mem::take(&mut self.log)
    }

    fn run_until(&mut self, end: Timestamp) {
        while let Some(next) = self.controller.poll_timeout()
            && next.at <= end
        {
            self.now = self.now.max(next.at);
            self.controller.handle_timeout(self.now, &self.cluster);
            self.act();
        }
        self.now = end;
    }

    fn act(&mut self) {
        while let Some(action) = self.controller.poll_action() {
            let (kind, what) = match &action {
                NodeLifecycleAction::RecordEvent(event) => ("event", event.reason.to_string()),
                NodeLifecycleAction::PatchNodeStatus { node, .. } => ("status", node.to_string()),
                NodeLifecycleAction::PatchNodeTaints { node, patch, .. } => {
                    let (sign, taints) = match patch {
                        TaintPatch::AddOrUpdate(taints) => ('+', taints),
                        TaintPatch::Remove(taints) => ('-', taints),
                    };
                    let taints: Vec<_> = taints.iter().map(ToString::to_string).collect();
                    let taints = taints.join(",").replace("node.kubernetes.io/", "");
                    ("taints", format!("{node} {sign}{taints}"))
                }
                NodeLifecycleAction::PatchNodeLabels { node, .. } => ("labels", node.to_string()),
                NodeLifecycleAction::PatchPodStatus { pod, .. } => ("podstatus", pod.to_string()),
                NodeLifecycleAction::DeletePod { pod, .. } => ("delete", pod.to_string()),
                NodeLifecycleAction::Report(NodeLifecycleReport::NodeSkipped { node }) => {
                    ("skipped", node.to_string())
                }
                NodeLifecycleAction::Report(NodeLifecycleReport::Dequeued {
                    node,
                    outcome,
                    ..
                }) => ("turn", format!("{node} {outcome:?}")),
                NodeLifecycleAction::Report(_) => continue,
            };
            let queued = self.answers.get_mut(kind).filter(|queued| !queued.is_empty());
            let result = queued.map_or(RequestResult::Ok, |queued| queued.remove(0));
            let mark = if result.is_ok() { "" } else { " !" };
            self.log.push(format!("{} {kind} {what}{mark}", self.now));
            self.answer(action, result);
        }
    }

    fn answer(&mut self, action: NodeLifecycleAction, result: RequestResult) {
        let mut stored = None;
        let id = match action {
            NodeLifecycleAction::RecordEvent(_) | NodeLifecycleAction::Report(_) => return,
            NodeLifecycleAction::PatchNodeStatus { id, node, conditions } => {
                stored = self.cluster.get_node(node.as_str()).map(|node| Node::clone(node));
                stored.iter_mut().for_each(|node| node.status.conditions.clone_from(&conditions));
                id
            }
            NodeLifecycleAction::PatchNodeTaints { id, node, patch } => {
                stored = self.cluster.get_node(node.as_str()).map(|node| Node::clone(node));
                stored.iter_mut().for_each(|node| _ = patch.apply(node));
                id
            }
            NodeLifecycleAction::PatchNodeLabels { id, node, labels } => {
                stored = self.cluster.get_node(node.as_str()).map(|node| Node::clone(node));
                stored.iter_mut().for_each(|node| node.metadata.labels.extend(labels.clone()));
                id
            }
            NodeLifecycleAction::PatchPodStatus { id, pod, patch } => {
                if result.is_ok() {
                    let mut new = self.cluster.get_pod(&pod).map(|pod| Pod::clone(pod)).unwrap();
                    patch.apply(&mut new);
                    self.store_pod(&pod, new);
                }
                id
            }
            NodeLifecycleAction::DeletePod { id, pod } => {
                if result.is_ok() {
                    let old = self.cluster.remove_pod(&pod);
                    self.controller.handle_pod_update(self.now, &pod, old.as_deref(), None);
                }
                id
            }
        };
        if result.is_ok()
            && let Some(node) = stored
        {
            self.put(node);
        }
        self.controller.handle_action_result(self.now, id, result);
    }
}

/// A cluster at 44 s in which n1 has sent no heartbeat since zero, but n2 and n3 have.
fn unreachable_node(minor: u8, flags: &[(&str, &str)]) -> World {
    let mut world = World::new(minor, flags);
    for name in ["n1", "n2", "n3"] {
        world.put(node(name, "True", 0));
    }
    world.put_pod("p", "n1");
    world.run_to(30);
    world.send_heartbeat("n2");
    world.send_heartbeat("n3");
    world.run_to(44);
    world
}

#[test]
fn a_status_that_cannot_be_written_is_tried_five_times_20_ms_apart() {
    let mut world = unreachable_node(33, &[]);
    world.answers.insert("status", vec![CONFLICT; 4]);
    assert_eq!(
        world.run_to(46),
        [
            "45s status n1 !",
            "45.02s status n1 !",
            "45.04s status n1 !",
            "45.06s status n1 !",
            "45.08s status n1",
            "45.08s event NodeNotReady",
            "45.08s podstatus default/p",
            "45.08s event NodeNotReady",
            "45.08s taints n1 +unreachable:NoSchedule",
        ]
    );
    // The pause starts at the end of the pass.
    let zone = ["50.08s", "50.1s"];
    assert_eq!(world.controller.next_health_pass(world.now).to_string(), zone[0]);
    let expected = format!("{} taints n1 +unreachable:NoExecute", zone[1]);
    assert_eq!(world.run_to(51), [expected, format!("{} turn n1 Done", zone[1])]);
}

#[test]
fn after_five_failures_the_node_is_left_out_of_the_pass() {
    let mut world = unreachable_node(33, &[]);
    world.answers.insert("status", vec![FAILED; 5]);
    let log = world.run_to(46);
    assert_eq!(log[4..], ["45.08s status n1 !", "45.08s skipped n1"]);
    let zone = &world.controller.zones(world.now)[0];
    assert_eq!((zone.ready, zone.not_ready), (2, 0), "it is not counted");
    let log = world.run_to(51);
    assert_eq!(log[0], "50.08s status n1", "the next pass tries again");
    let zone = &world.controller.zones(world.now)[0];
    assert_eq!((zone.ready, zone.not_ready), (2, 1));
}

#[test]
fn other_work_goes_on_while_a_status_waits() {
    let mut world = unreachable_node(33, &[]);
    world.answers.insert("status", vec![FAILED]);
    world.now = at(45);
    // The request, and the continuation with its result.
    for _ in 0..2 {
        world.controller.handle_timeout(world.now, &world.cluster);
        world.act();
    }
    let next = world.controller.poll_timeout().unwrap();
    assert_eq!(next.reason, TimeoutReason::RetryNodeStatus);
    assert_eq!(next.at, Timestamp::from_millis(45_020));
    let mut cordoned = node("n2", "True", 0);
    cordoned.spec.unschedulable = true;
    world.put(cordoned);
    let log = world.run_to(46);
    assert_eq!(log[1], "45s taints n2 +unschedulable:NoSchedule");
    assert_eq!(log[2], "45.02s status n1");
}

/// A cluster in which `n001` is lost one pass before all `others`, and its log.
fn total_outage(minor: u8, write_time: u64, others: usize) -> (World, Vec<String>) {
    let mut world = World::with_write_time(minor, &[], Duration::from_millis(write_time));
    world.put(node("n001", "True", 0));
    let others = (2..2 + others).map(|number| format!("n{number:03}"));
    let others: Vec<_> = others.collect();
    for name in &others {
        world.put(node(name, "True", 0));
    }
    world.run_to(4);
    for name in &others {
        world.send_heartbeat(name);
    }
    let log = world.run_to(600);
    (world, log)
}

/// The pass that finds the whole cluster unreachable removes taints from nodes as they were at its
/// start.
#[test]
fn a_node_tainted_in_the_pass_that_finds_a_total_outage_keeps_its_taint() {
    // Since 1.27 eight nodes are written in parallel, so that more nodes are needed.
    for (minor, write_time, others, last_write, tainted) in [
        (26, 0, 4, "50s", false),
        (26, 25, 3, "50.075s", false),
        (26, 25, 4, "50.1s", true),
        (27, 25, 4, "50.025s", false),
        (27, 25, 24, "50.075s", false),
        (27, 25, 25, "50.1s", true),
    ] {
        let (world, log) = total_outage(minor, write_time, others);
        let n1: Vec<_> = log.iter().filter(|line| line.contains("n001")).collect();
        let last = format!("{last_write} status n{:03}", others + 1);
        assert!(log.contains(&last), "1.{minor}, {others}: {log:?}");
        let taint = "50.1s taints n001 +unreachable:NoExecute".to_owned();
        assert_eq!(log.contains(&taint), tainted, "1.{minor}, {others}: {n1:?}");
        assert!(!n1.iter().any(|line| line.contains("-unreachable")), "{n1:?}");
        let taints = &world.cluster.get_node("n001").unwrap().spec.taints;
        let evicting = taints.iter().filter(|taint| taint.effect == TaintEffect::NoExecute);
        assert_eq!(evicting.count(), usize::from(tainted), "{n1:?}");
    }
}

#[test]
fn a_swap_that_fails_waits_for_the_next_token() {
    let mut world = unreachable_node(33, &[]);
    world.run_to(49);
    world.answers.insert("taints", vec![FAILED]);
    assert_eq!(world.run_to(52), ["50s taints n1 +unreachable:NoExecute !", "50s turn n1 Failed",]);
    assert_eq!(
        world.run_to(61)[..2],
        ["1m0s taints n1 +unreachable:NoExecute", "1m0s turn n1 Done",]
    );
}

#[test]
fn a_taint_that_cannot_be_removed_keeps_the_node_in_the_queue() {
    let mut world = unreachable_node(33, &[]);
    world.run_to(51);
    let (mut back, old) = (node("n1", "True", 51), world.cluster.get_node("n1").unwrap().clone());
    back.spec.taints.clone_from(&old.spec.taints);
    world.answers.insert("taints", vec![RequestResult::Ok, FAILED]);
    world.put(back);
    assert_eq!(
        world.run_to(56),
        ["51s taints n1 -unreachable:NoSchedule", "55s taints n1 -unreachable:NoExecute !",]
    );
    assert_eq!(world.run_to(61), ["1m0s taints n1 -unreachable:NoExecute"]);
    assert_eq!(world.run_to(74), [""; 0]);
}

#[test]
fn pods_that_cannot_be_marked_are_tried_by_the_next_pass() {
    let mut world = unreachable_node(33, &[]);
    world.answers.insert("podstatus", vec![FAILED]);
    let log = world.run_to(46);
    let pods = ["45s podstatus default/p !", "45s event NodeNotReady"];
    assert!(pods.iter().all(|line| log.contains(&(*line).into())), "{log:?}");
    assert_eq!(world.controller.nodes_to_retry().len(), 1);
    let log = world.run_to(50);
    assert_eq!(log[0], "50s podstatus default/p");
    assert_eq!(log[1], "50s event NodeNotReady");
    assert_eq!(world.controller.nodes_to_retry().len(), 0);
    // A pod that is gone meanwhile counts as no failure, and has no event.
    let mut world = unreachable_node(33, &[]);
    world.answers.insert("podstatus", vec![RequestResult::NotFound]);
    let log = world.run_to(46);
    assert_eq!(log.iter().filter(|line| line.ends_with("event NodeNotReady")).count(), 1);
    assert_eq!(world.controller.nodes_to_retry().len(), 0);
}

const LEGACY: &[(&str, &str)] =
    &[("enable-taint-manager", "false"), ("pod-eviction-timeout", "20s")];

#[test]
fn the_legacy_path_tries_a_failed_eviction_with_the_next_token() {
    let mut world = unreachable_node(26, LEGACY);
    world.put_pod("q", "n1");
    world.run_to(49);
    // Writing the reason of `p` meets a conflict: `p` stays, `q` goes, and the turn counts as
    // failed.
    world.answers.insert("podstatus", vec![CONFLICT]);
    assert_eq!(
        world.run_to(51),
        [
            "50s event DeletingAllPods",
            "50s podstatus default/p !",
            "50s podstatus default/q",
            "50s event NodeControllerEviction",
            "50s delete default/q",
            "50s turn n1 Failed",
        ]
    );
    world.answers.insert("delete", vec![FAILED]);
    assert_eq!(
        world.run_to(61),
        [
            "1m0s event DeletingAllPods",
            "1m0s podstatus default/p",
            "1m0s event NodeControllerEviction",
            "1m0s delete default/p !",
            "1m0s turn n1 Failed",
        ]
    );
    let log = world.run_to(71);
    assert_eq!(
        log[1..],
        ["1m10s event NodeControllerEviction", "1m10s delete default/p", "1m10s turn n1 Done",]
    );
    let health = world.controller.node_health(world.now, "n1").unwrap();
    assert_eq!(health.eviction, Some(EvictionStatus::Evicted));
    // No pod is left, so that no pass has work to do.
    assert_eq!(world.controller.poll_timeout().map(|next| next.at), Some(at(75)));
    world.send_heartbeat("n2");
    world.send_heartbeat("n3");
    assert_eq!(world.controller.poll_timeout().map(|next| next.at), Some(at(120)));
    // A new pod is deleted immediately, without a token, and no longer exists to be marked as not
    // ready.
    world.put_pod("r", "n1");
    let log = world.run_to(72);
    assert_eq!(log.last().unwrap(), "1m11s delete default/r");
}

#[test]
fn a_pod_bound_to_an_unreachable_node_becomes_not_ready_and_waits_for_a_node_that_is_gone() {
    let mut world = unreachable_node(33, &[]);
    world.run_to(46);
    world.put_pod("late", "n1");
    assert_eq!(world.run_to(47), ["46s podstatus default/late", "46s event NodeNotReady"]);
    world.put_pod("ready", "n2");
    world.put_pod("nowhere", "n9");
    assert_eq!(world.run_to(48), [""; 0]);
    // The node is gone but remembered: the pod is looked at again, at growing intervals.
    let old = world.cluster.remove_node("n1");
    world.controller.handle_node_update(world.now, old.as_ref(), None);
    world.run_to(50);
    world.put_pod("orphan", "n1");
    world.controller.handle_timeout(world.now, &world.cluster);
    let mut times = Vec::new();
    for _ in 0..4 {
        let next = world.controller.poll_timeout().unwrap();
        assert!(matches!(&next.reason, TimeoutReason::RetryPod { pod } if pod.name() == "orphan"));
        times.push((next.at - at(50)).as_millis());
        world.now = next.at;
        world.controller.handle_timeout(next.at, &world.cluster);
    }
    assert_eq!(times, [5, 15, 35, 75]);
}

#[test]
fn an_idle_hour_has_one_deadline_which_heartbeats_move() {
    let mut world = World::new(35, &[]);
    for number in 0..20 {
        world.put(node(&format!("n{number:02}"), "True", 0));
    }
    world.run_to(0);
    let mut calls = 0;
    for second in 0..3_600 {
        for number in (0..20_u64).filter(|number| second % 10 == number % 10) {
            world.now = at(second);
            world.send_heartbeat(&format!("n{number:02}"));
        }
        while world.controller.poll_timeout().is_some_and(|next| next.at <= at(second)) {
            calls += 1;
            world.controller.handle_timeout(at(second), &world.cluster);
        }
    }
    assert_eq!(calls, 0);
    // The last heartbeats: 3590 … 3599, seen by 3590 to 3600; the first node is overdue at 3635.
    let next = world.controller.poll_timeout().unwrap();
    assert_eq!((next.at, next.reason), (at(3_635), TimeoutReason::MonitorNodeHealth));
    let health = world.controller.node_health(at(3_599), "n01").unwrap();
    assert_eq!(health.health.probe_timestamp, wall(3_595));
    assert_eq!(health.turns_unknown_at, Some(at(3_640)));
    assert_eq!(health.grace_flag, "node-monitor-grace-period");
}

#[test]
fn a_stopped_zone_is_idle_and_keeps_its_queue() {
    let mut world = World::new(35, &[]);
    for name in ["n1", "n2", "n3"] {
        world.put(node(name, "False", 0));
    }
    for name in ["n4", "n5"] {
        world.put(node(name, "True", 0));
    }
    world.run_to(1);
    let zone = &world.controller.zones(world.now)[0];
    assert_eq!(zone.state, Some(ZoneState::PartialDisruption));
    assert_eq!((zone.rate_source, zone.qps), (RateSource::SmallZoneStopped, 0.0));
    let queue: Vec<_> = zone.queue.iter().map(|q| (q.node.as_str(), q.expected_at)).collect();
    assert_eq!(queue, [("n1", None), ("n2", None), ("n3", None)]);
    // Only missed heartbeats are due, not the passes that would reorder the queue.
    assert_eq!(world.controller.poll_timeout().unwrap().at, at(45));
}

#[test]
fn the_queue_shows_when_each_node_has_its_turn() {
    let mut world = World::new(35, &[]);
    for name in ["n1", "n2", "n3"] {
        world.put(node(name, "False", 0));
    }
    for number in 0..5 {
        world.put(node(&format!("x{number}"), "True", 0));
    }
    // The health pass, without a tainting pass yet.
    while world.controller.zones(world.now).is_empty() || world.controller.has_queued_work() {
        world.controller.handle_timeout(world.now, &world.cluster);
        world.act();
    }
    let zone = &world.controller.zones(world.now)[0];
    assert_eq!(zone.rate_source, RateSource::NodeEvictionRate);
    let expected: Vec<_> = zone.queue.iter().map(|q| q.expected_at.unwrap()).collect();
    assert_eq!(expected, [at(0), at(10), at(20)]);
    let log = world.run_to(30);
    let turns = log.iter().filter(|line| line.contains("turn")).cloned().collect::<Vec<_>>();
    assert_eq!(turns, ["0s turn n1 Done", "10s turn n2 Done", "20s turn n3 Done"]);
}

#[test]
fn a_change_after_the_moment_is_over_waits_for_the_next_pass() {
    for (over, removed_at) in [(false, "30s"), (true, "35s")] {
        let mut world = World::new(35, &[]);
        world.put(node("n1", "False", 0));
        world.put(node("n2", "True", 0));
        world.run_to(30);
        if over {
            world.controller.end_instant(at(30));
        }
        let mut back = node("n1", "True", 30);
        back.spec.taints.clone_from(&world.cluster.get_node("n1").unwrap().spec.taints);
        world.put(back);
        let log = world.run_to(36);
        assert!(log.contains(&format!("{removed_at} taints n1 -not-ready:NoExecute")), "{log:?}");
    }
}

#[test]
fn a_late_caller_misses_no_tainting_pass() {
    let mut world = World::new(35, &[]);
    for name in ["n1", "n2"] {
        world.put(node(name, "False", 0));
    }
    world.put(node("n3", "True", 0));
    world.run_to(1);
    let next = world.controller.poll_timeout().unwrap();
    assert_eq!(next.at, at(10));
    world.now = Timestamp::from_millis(10_007);
    world.controller.handle_timeout(world.now, &world.cluster);
    world.act();
    assert_eq!(world.log, ["10.007s taints n2 +not-ready:NoExecute"]);
}

#[test]
fn the_node_of_a_turn_may_have_no_ready_condition() {
    for (minor, outcome) in [(35, "NoReadyCondition"), (20, "WouldCrash")] {
        let mut world = World::new(minor, &[]);
        for name in ["n1", "n2"] {
            world.put(node(name, "False", 0));
        }
        world.put(node("n3", "True", 0));
        world.run_to(1);
        world.put(Node { status: Default::default(), ..node("n2", "False", 0) });
        let log = world.run_to(11);
        assert!(log.contains(&format!("10s turn n2 {outcome}")), "1.{minor}: {log:?}");
    }
}

#[test]
fn zones_of_excluded_nodes_are_stable() {
    let mut world = World::new(35, &[]);
    let labels = |zone: &str, excluded: bool| -> BTreeMap<String, String> {
        let exclude = ("node.kubernetes.io/exclude-disruption".into(), String::new());
        let zone = (zone::ZONE_LABEL.into(), zone.into());
        [zone].into_iter().chain(excluded.then_some(exclude)).collect()
    };
    for (name, ready, zone, excluded) in
        [("a1", "False", "a", true), ("a2", "False", "a", true), ("b1", "True", "b", false)]
    {
        let mut node = node(name, ready, 0);
        node.metadata.labels = labels(zone, excluded).into();
        world.put(node);
    }
    let log = world.run_to(30);
    let turns: Vec<_> = log.iter().filter(|line| line.contains("turn")).collect();
    assert_eq!(turns, ["0s turn a1 Done", "10s turn a2 Done"]);
    let states: Vec<_> = world.controller.zones(world.now).iter().map(|z| z.state).collect();
    assert_eq!(states, [Some(ZoneState::Normal); 2]);
}

#[test]
fn unexpected_results_are_ignored() {
    let mut world = unreachable_node(33, &[]);
    world.controller.handle_action_result(at(44), RequestId(99), FAILED);
    assert!(!world.controller.has_queued_work());
    let name: NodeName = "n1".into();
    assert_eq!(world.controller.known_nodes().next().unwrap().0, &name);
}
