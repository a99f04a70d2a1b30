//! Heartbeats known in advance have the same effect as heartbeats reported one by one.

use core::time::Duration;

use super::*;

/// State of a kubelet in both worlds.
struct Sender {
    /// Start of its heartbeats, if it sends any.
    since: Option<u64>,
    /// Time of its last status post.
    posted: u64,
}

const LEASE: u64 = 10;
/// No multiple of `LEASE`, so that posts and renewals fall into different passes.
const REPORT: u64 = 93;

fn with_heartbeat(world: &World, name: &str, secs: u64) -> Option<Node> {
    let mut node = Node::clone(world.cluster.get_node(name)?);
    for condition in &mut node.status.conditions {
        condition.last_heartbeat_time = Some(wall(secs));
    }
    Some(node)
}

/// Health of nodes and state of zones.
fn knowledge(world: &World, secs: u64) -> String {
    let mut text = String::new();
    for name in world.controller.records.keys() {
        let health = world.controller.node_health(at(secs), name.as_str()).map(|view| view.health);
        text += &format!("{name} {health:?}\n");
    }
    for zone in world.controller.zones(at(secs)) {
        text += &format!("{:?} {} {} {}\n", zone.state, zone.ready, zone.not_ready, zone.qps);
    }
    text
}

/// Reports the heartbeats that a kubelet sends in this second.
fn tell(world: &mut World, name: &str, secs: u64, kubelet: &mut Sender) {
    let Some(since) = kubelet.since else { return };
    if (secs - since).is_multiple_of(LEASE) {
        world.send_heartbeat(name);
    }
    if secs - kubelet.posted >= REPORT {
        kubelet.posted = secs;
        if let Some(node) = with_heartbeat(world, name, secs) {
            world.put(node);
        }
    }
}

/// Changes the node, and starts or stops the heartbeats of its kubelet.
fn switch(told: &mut World, promised: &mut World, name: &str, secs: u64, kubelet: &mut Sender) {
    let heartbeat = |next: u64, period: u64, last: u64| PeriodicHeartbeat {
        last: Some(wall(last)),
        next: at(next),
        period: Duration::from_secs(period),
        jitter: None,
    };
    let key: NodeName = name.into();
    if kubelet.since.take().is_some() {
        let node = with_heartbeat(promised, name, kubelet.posted);
        node.into_iter().for_each(|node| promised.put(node));
        promised.controller.handle_heartbeats(at(secs), &key, None);
        return;
    }
    (kubelet.since, kubelet.posted) = (Some(secs), secs);
    for world in [&mut *told, &mut *promised] {
        let before = world.cluster.get_node(name).cloned();
        let mut fresh = node(name, "True", secs);
        let was_ready = before.as_ref().is_some_and(|before| {
            before.condition("Ready").is_some_and(|ready| ready.status == ConditionStatus::True)
        });
        if let Some(before) = before {
            let transition = before.status.conditions[0].last_transition_time;
            fresh.spec = before.spec.clone();
            fresh.metadata = before.metadata.clone();
            if was_ready {
                fresh.status.conditions[0].last_transition_time = transition;
            }
        }
        world.put(fresh);
    }
    told.send_heartbeat(name);
    let promise = HeartbeatSchedule {
        lease: heartbeat(secs + LEASE, LEASE, secs),
        status: heartbeat(secs + REPORT, REPORT, secs),
    };
    promised.controller.handle_heartbeats(at(secs), &key, Some(promise));
}

fn settle(world: &mut World) {
    while world.controller.has_queued_work() {
        world.controller.handle_timeout(world.now, &world.cluster);
        world.act();
    }
}

#[test]
fn heartbeats_known_in_advance_have_the_effect_of_reported_ones() {
    let short = ("node-monitor-grace-period", "7s");
    let cases: [(u8, &[(&str, &str)]); 7] = [
        (35, &[]),
        (35, &[("node-monitor-period", "7s")]),
        (35, &[("node-monitor-period", "1s"), ("node-monitor-grace-period", "12s")]),
        (35, &[("node-monitor-period", "60s")]),
        (35, &[short]),
        (35, &[short, ("node-monitor-period", "3s")]),
        (26, &[("enable-taint-manager", "false"), ("pod-eviction-timeout", "30s")]),
    ];
    for (minor, flags) in cases {
        for seed in 0..8 {
            let (mut told, mut promised) = (World::new(minor, flags), World::new(minor, flags));
            let mut numbers = differential::Numbers(seed);
            let mut kubelets: Vec<Sender> =
                (0..6).map(|_| Sender { since: None, posted: 0 }).collect();
            for secs in 0..700_u64 {
                for world in [&mut told, &mut promised] {
                    world.run_until(Timestamp::from_nanos(at(secs).as_nanos().saturating_sub(1)));
                    world.now = at(secs);
                }
                for (index, kubelet) in kubelets.iter_mut().enumerate() {
                    let name = format!("n{index}");
                    tell(&mut told, &name, secs, kubelet);
                    if secs == 0 || numbers.below(150) == 0 {
                        switch(&mut told, &mut promised, &name, secs, kubelet);
                    }
                }
                settle(&mut told);
                settle(&mut promised);
                let (expected, got) = (told.run_to(secs), promised.run_to(secs));
                assert_eq!(got, expected, "1.{minor} {flags:?} seed {seed} at {secs}");
                told.controller.end_instant(at(secs));
                promised.controller.end_instant(at(secs));
                let (expected, got) = (knowledge(&told, secs + 1), knowledge(&promised, secs + 1));
                assert_eq!(got, expected, "1.{minor} {flags:?} seed {seed} at {secs}");
            }
        }
    }
}

/// Heartbeats known in advance wake nobody.
#[test]
fn heartbeats_known_in_advance_are_no_deadlines() {
    let mut world = World::new(35, &[]);
    let mut told = World::new(35, &[]);
    for name in ["n1", "n2"] {
        let mut kubelet = Sender { since: None, posted: 0 };
        switch(&mut told, &mut world, name, 0, &mut kubelet);
    }
    world.run_to(20);
    assert_eq!(world.controller.poll_timeout(), None);
    let view = world.controller.node_health(at(100_000), "n1").unwrap();
    // The pass at 99990 s saw the renewal of that moment; the one at 99995 s saw none.
    assert_eq!(view.health.probe_timestamp, wall(99_990));
    assert_eq!(view.turns_unknown_at, None);
}
