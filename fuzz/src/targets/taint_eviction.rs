//! Commands to the simulator around taints: a script, divided and forked.

use std::collections::BTreeSet;

use taintlab_core::event::Event;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;
use taintlab_tests::dice::Dice;
use taintlab_tests::random::{Script, bytes as lines, script};

use crate::mutate::Bytes;
use crate::show;

/// Runs a script: how time is divided changes nothing, a snapshot leads back, and no pod is there
/// twice.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let (cluster, cuts) = (bytes.number(), bytes.number());
    let mut steps = Vec::new();
    while !bytes.is_empty() {
        steps.push(bytes.number());
    }
    let script = script(cluster, &steps);
    show("script", &script);
    let whole = lines(&script.run());
    assert_eq!(lines(&divided(&script, &mut Dice::new(cuts))), whole, "time was divided");
    forked(&script, &mut Dice::new(cuts), &whole);
}

/// The events of a script in which time passes in small steps.
fn divided(script: &Script, dice: &mut Dice) -> Vec<Event> {
    let mut simulator = script.simulator();
    let mut events = Vec::new();
    let mut walk_to = |simulator: &mut Simulator, end: Timestamp| {
        for _ in 0..dice.below(4) {
            let to = simulator.now().as_nanos() + dice.below(2_500) as u64 * 1_000_000;
            simulator.advance_to(Timestamp::from_nanos(to.min(end.as_nanos()))).unwrap();
            if dice.one_in(2) {
                events.extend(simulator.drain_events());
            }
        }
        simulator.advance_to(end).unwrap();
        check_pods(simulator);
    };
    let mut last = Timestamp::ZERO;
    for (at, command) in &script.commands {
        // At zero the first look would come before the commands of that instant.
        if *at > last {
            walk_to(&mut simulator, *at);
            last = *at;
        }
        let _ = simulator.handle_command(*at, command.clone());
    }
    walk_to(&mut simulator, script.end);
    events.extend(simulator.drain_events());
    events
}

/// Takes a snapshot somewhere, goes on, comes back, and goes on again.
fn forked(script: &Script, dice: &mut Dice, whole: &str) {
    let taken = dice.below(script.commands.len() + 1);
    let mut simulator = script.simulator();
    let (before, after) = script.commands.split_at(taken);
    for (at, command) in before {
        let _ = simulator.handle_command(*at, command.clone());
    }
    let snapshot = simulator.snapshot();
    simulator.advance_to(script.end).unwrap();
    simulator.restore(&snapshot);
    for (at, command) in after {
        let _ = simulator.handle_command(*at, command.clone());
    }
    simulator.advance_to(script.end).unwrap();
    assert_eq!(lines(&simulator.drain_events()), whole, "after a snapshot");
}

/// Checks that the indexes of the cluster know each pod once.
pub(super) fn check_pods(simulator: &Simulator) {
    let cluster = simulator.cluster();
    let mut uids = BTreeSet::new();
    for (key, pod) in cluster.pods() {
        assert_eq!(pod.key(), *key);
        let uid = &pod.metadata.uid;
        assert!(uid.is_empty() || uids.insert(uid.clone()), "two pods with the uid {uid}");
    }
}
