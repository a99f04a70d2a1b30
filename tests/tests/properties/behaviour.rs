//! What holds for every script, whatever Kubernetes does.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use taintlab_core::api::PodKey;
use taintlab_core::command::Command;
use taintlab_core::controllers::taint_eviction::EvictionDecision;
use taintlab_core::event::{Event, EventKind, ObjectReference, RequestResult, TimeoutReason};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

use super::check;
use super::generate::{Script, bytes, script};

/// (f) The same script gives the same bytes.
#[test]
fn two_runs_give_the_same_bytes() {
    check(500, script(), |script| {
        prop_assert_eq!(bytes(&script.run()), bytes(&script.run()));
        Ok(())
    });
}

/// (a) How time is divided makes no difference, and neither does when events are polled. Between
/// two commands of one instant time does not pass, so there is nothing to divide.
#[test]
fn advance_to_is_independent_of_its_split() {
    let cuts = vec((any::<Index>(), 0..2_500_u64, any::<bool>()), 0..40);
    check(1_000, (script(), cuts), |(script, cuts)| {
        let mut simulator = script.simulator();
        let mut events = Vec::new();
        let mut cuts = cuts.into_iter();
        let mut walk_to = |simulator: &mut Simulator, end: Timestamp| {
            // Most cuts are tiny steps, some jump to the end itself, some come twice.
            for (index, millis, twice) in cuts.by_ref() {
                let step = if index.index(3) == 0 { u64::MAX } else { millis * 1_000_000 };
                let to = simulator.now().as_nanos().saturating_add(step).min(end.as_nanos());
                for _ in 0..=u8::from(twice) {
                    simulator.advance_to(Timestamp::from_nanos(to)).unwrap();
                }
                if twice {
                    events.extend(simulator.drain_events());
                }
                if index.index(5) == 0 {
                    break;
                }
            }
            simulator.advance_to(end).unwrap();
        };
        for (index, (at, command)) in script.commands.iter().enumerate() {
            let first_of_instant = index == 0 || script.commands[index - 1].0 < *at;
            // At zero the first look would come before the commands of that instant.
            if first_of_instant && *at > Timestamp::ZERO {
                walk_to(&mut simulator, *at);
            }
            let _ = simulator.handle_command(*at, command.clone());
        }
        walk_to(&mut simulator, script.end);
        events.extend(simulator.drain_events());
        prop_assert_eq!(bytes(&events), bytes(&script.run()));
        Ok(())
    });
}

/// (b) A snapshot can be taken anywhere, leads back there any number of times, and is not changed
/// by what comes after it.
#[test]
fn snapshots_lead_back() {
    check(600, (script(), any::<Index>(), any::<Index>()), |(script, taken, left)| {
        let steps = script.commands.len() + 1;
        let (taken, left) = (taken.index(steps), left.index(steps));
        let play = |simulator: &mut Simulator, from: usize, to: usize| {
            for (at, command) in &script.commands[from..to] {
                let _ = simulator.handle_command(*at, command.clone());
            }
        };
        let mut simulator = script.simulator();
        play(&mut simulator, 0, taken);
        let snapshot = simulator.snapshot();
        // Somewhere else, and back; twice.
        for _ in 0..2 {
            play(&mut simulator, taken, left.max(taken));
            simulator.advance_to(script.end).unwrap();
            simulator.restore(&snapshot);
            let mut again = simulator.clone();
            play(&mut again, taken, script.commands.len());
            again.advance_to(script.end).unwrap();
            // The events of before the snapshot had not been polled, so they are there too.
            prop_assert_eq!(bytes(&again.drain_events()), bytes(&script.run()));
        }
        Ok(())
    });
}

/// (c) After the end of a pod. While there is no pod of a name:
/// 1. the controller decides nothing about it but that the pod is gone;
/// 2. a pending deletion is cancelled at the instant at which the pod went, not later;
/// 3. every request about it is answered with 404;
/// 4. a deletion begins only at the instant at which the pod went (a timer that was due then), or
///    after an earlier request for the name had failed: the end of such a deletion takes away the
///    entry of a timer that came after it, so that nothing can cancel that timer;
/// 5. each deletion ends within 50 ms.
#[test]
fn what_follows_the_end_of_a_pod() {
    check(2_000, script(), |script| {
        let mut ended: BTreeMap<PodKey, Timestamp> = BTreeMap::new();
        let mut failed: BTreeSet<PodKey> = BTreeSet::new();
        let mut marked: BTreeMap<PodKey, Timestamp> = BTreeMap::new();
        let deletes: BTreeSet<_> = script
            .commands
            .iter()
            .filter(|(_, command)| matches!(command, Command::DeletePod { .. }))
            .filter_map(|(at, command)| Some((*at, command.pod()?)))
            .collect();
        for Event { at, what } in script.run() {
            match what {
                EventKind::PodAdded { pod, .. } => drop(ended.remove(&pod)),
                EventKind::PodDeleted { pod, .. } => drop(ended.insert(pod, at)),
                EventKind::Decided(decision) if ended.contains_key(&decision.pod) => {
                    let gone = matches!(decision.decision, EvictionDecision::PodGone { .. });
                    prop_assert!(gone, "{at}: {decision:?}");
                }
                EventKind::EventRecorded(event) => {
                    let ObjectReference::Pod { pod, .. } = event.involved_object else { continue };
                    let end = ended.get(&pod).copied();
                    if event.message.starts_with("Cancelling") {
                        prop_assert!(end.is_none_or(|end| end == at), "{at}: {}", event.message);
                    } else {
                        let allowed = end.is_none_or(|end| end == at) || failed.contains(&pod);
                        prop_assert!(allowed, "{at}: {}", event.message);
                        marked.insert(pod, at);
                    }
                }
                EventKind::Request { pod, result, .. } => {
                    if ended.contains_key(&pod) {
                        prop_assert_eq!(result, RequestResult::NotFound, "{}", at);
                    }
                    let refused = matches!(result, RequestResult::Error(_));
                    if refused && deletes.contains(&(at, pod.clone())) {
                        // Perhaps that of the user, which was not announced.
                        continue;
                    }
                    let begin = marked.get(&pod).copied().unwrap_or_default();
                    let limit = Timestamp::from_nanos(begin.as_nanos() + 50_000_000);
                    prop_assert!(at <= limit, "{at}: a request of {begin}");
                    if !result.is_ok() {
                        failed.insert(pod);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    });
}

/// Everything that is told about a pod, in order.
fn by_pod(events: &[Event]) -> BTreeMap<PodKey, Vec<&Event>> {
    let mut map: BTreeMap<PodKey, Vec<&Event>> = BTreeMap::new();
    for event in events {
        let pod = match &event.what {
            EventKind::EventRecorded(recorded) => match &recorded.involved_object {
                ObjectReference::Pod { pod, .. } => pod,
                _ => continue,
            },
            EventKind::PodAdded { pod, .. }
            | EventKind::PodUpdated { pod, .. }
            | EventKind::PodDeleted { pod, .. }
            | EventKind::Request { pod, .. } => pod,
            EventKind::Decided(decision) => &decision.pod,
            _ => continue,
        };
        map.entry(pod.clone()).or_default().push(event);
    }
    map
}

/// (d) Commands of one instant that are about different objects may come in any order: for each pod
/// the same happens. A restart of the controller is about all of them and stays where it is.
#[test]
fn commands_of_one_instant_can_change_places() {
    check(2_000, (script(), vec(any::<Index>(), 64)), |(script, choices)| {
        let mut choices = choices.into_iter().cycle();
        let mut shuffled = script.clone();
        shuffled.commands.clear();
        let restart =
            |command: &Command| matches!(command, Command::RestartTaintEvictionController);
        let together = |a: &(Timestamp, Command), b: &(Timestamp, Command)| {
            a.0 == b.0 && !restart(&a.1) && !restart(&b.1)
        };
        for group in script.commands.chunk_by(together) {
            // One queue per object; a random queue gives its first until all are empty.
            let mut queues: BTreeMap<String, Vec<(Timestamp, Command)>> = BTreeMap::new();
            for entry in group.iter().rev() {
                let object = match (entry.1.node(), entry.1.pod()) {
                    // Binding is about the pod; it does not matter whether the node is there.
                    (_, Some(pod)) => format!("pod {pod}"),
                    (node, None) => format!("node {node:?}"),
                };
                queues.entry(object).or_default().push(entry.clone());
            }
            while !queues.is_empty() {
                let choice = choices.next().unwrap().index(queues.len());
                let object = queues.keys().nth(choice).unwrap().clone();
                let queue = queues.get_mut(&object).unwrap();
                shuffled.commands.extend(queue.pop());
                if queue.is_empty() {
                    queues.remove(&object);
                }
            }
        }
        let (one, other) = (script.run(), shuffled.run());
        prop_assert_eq!(by_pod(&one), by_pod(&other));
        Ok(())
    });
}

/// (e) Nothing happens before the next deadline, and something at it. The one deadline without an
/// event is the end of the pause after the fifth failed attempt: the deletion is given up.
#[test]
fn deadlines_are_true() {
    check(1_000, script(), |script| {
        let mut simulator = script.simulator();
        let mut commands = script.commands.iter().peekable();
        loop {
            let next = simulator.poll_timeout();
            let command_at = commands.peek().map(|(at, _)| *at);
            match next {
                Some(next) if command_at.is_none_or(|at| next.at < at) => {
                    if next.at > simulator.now() {
                        let before = Timestamp::from_nanos(next.at.as_nanos() - 1);
                        simulator.advance_to(before).unwrap();
                        prop_assert_eq!(simulator.drain_events(), []);
                        prop_assert_eq!(simulator.poll_timeout(), Some(next.clone()));
                    }
                    simulator.handle_timeout(next.at).unwrap();
                    let happened = !simulator.drain_events().is_empty();
                    let given_up =
                        matches!(next.reason, TimeoutReason::RetryDelete { attempt: 5, .. });
                    let queued = matches!(next.reason, TimeoutReason::WorkQueued);
                    prop_assert!(happened || given_up || queued, "nothing at {next:?}");
                    prop_assert_ne!(simulator.poll_timeout(), Some(next));
                }
                _ => {
                    let Some((at, command)) = commands.next() else { break };
                    let _ = simulator.handle_command(*at, command.clone());
                    simulator.drain_events();
                }
            }
        }
        simulator.advance_to(Timestamp::MAX).unwrap();
        prop_assert_eq!(simulator.drain_events(), []);
        Ok(())
    });
}

/// (g) A refused command leaves everything as it was, to the last field, unless it was made to fail:
/// then that has happened once.
#[test]
fn refused_commands_change_nothing() {
    check(1_000, script(), |script| {
        let mut simulator = script.simulator();
        for (at, command) in &script.commands {
            if *at > simulator.now() {
                simulator.advance_to(*at).unwrap();
            }
            let before = format!("{simulator:?}");
            let refused = simulator.handle_command(*at, command.clone()).err();
            if refused.is_some_and(|error| !error.is_simulated()) {
                prop_assert_eq!(format!("{simulator:?}"), before);
            }
        }
        Ok(())
    });
}

/// The clock never goes back, and says so.
#[test]
fn the_past_is_refused() {
    check(200, script(), |script: Script| {
        let mut simulator = script.simulator();
        for (at, command) in &script.commands {
            let _ = simulator.handle_command(*at, command.clone());
        }
        simulator.advance_to(script.end).unwrap();
        let before = format!("{simulator:?}");
        let past = Timestamp::from_nanos(script.end.as_nanos() - 1);
        prop_assert!(simulator.advance_to(past).is_err());
        let restart = Command::RestartTaintEvictionController;
        prop_assert!(simulator.handle_command(past, restart).is_err());
        prop_assert_eq!(format!("{simulator:?}"), before);
        Ok(())
    });
}
