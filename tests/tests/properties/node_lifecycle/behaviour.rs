//! What holds for every script.

use std::collections::BTreeMap;
use std::time::Duration;

use taintlab_core::event::{EventKind, TimeoutReason};
use taintlab_core::kubelet::NodeShutdownReport;
use taintlab_core::time::Timestamp;

use super::generate::{Faults, bytes, scripts};

/// How time is divided makes no difference, and the same script gives the same bytes.
#[test]
fn advance_to_is_independent_of_its_split() {
    scripts(300, Faults::All, |script, dice| {
        let expected = bytes(&script.play().drain_events());
        let mut simulator = script.simulator();
        for (at, command) in &script.commands {
            while simulator.now() < *at && !dice.one_in(4) {
                let step = Duration::from_millis(dice.roll() % 30_000);
                let to = simulator.now().saturating_add(step).min(*at);
                simulator.advance_to(to).unwrap();
            }
            // At zero the first look would come before the commands of that instant.
            let before = Timestamp::from_nanos(at.as_nanos().saturating_sub(1));
            if before > simulator.now() && dice.one_in(2) {
                simulator.advance_to(before).unwrap();
            }
            let _ = simulator.handle_command(*at, command.clone());
        }
        while simulator.now() < script.end {
            let step = Duration::from_millis(1 + dice.roll() % 90_000);
            let to = simulator.now().saturating_add(step).min(script.end);
            simulator.advance_to(to).unwrap();
        }
        assert!(bytes(&simulator.drain_events()) == expected);
    });
}

/// From deadline to deadline is the same as at once, and a deadline is never in the past.
#[test]
fn deadlines_are_honest() {
    scripts(300, Faults::All, |script, _| {
        let expected = bytes(&script.play().drain_events());
        let mut simulator = script.simulator();
        let (mut deadlines, mut idle) = (0, BTreeMap::<String, usize>::new());
        let mut events = Vec::new();
        let steps = script.commands.iter().map(|(at, command)| (*at, Some(command)));
        for (at, command) in steps.chain([(script.end, None)]) {
            while let Some(next) = simulator.poll_timeout().filter(|next| next.at < at) {
                assert!(next.at >= simulator.now());
                simulator.handle_timeout(next.at).unwrap();
                deadlines += 1;
                let happened = simulator.drain_events();
                if happened.is_empty() {
                    *idle.entry(format!("{:?}", next.reason)).or_default() += 1;
                }
                events.extend(happened);
            }
            match command {
                Some(command) => {
                    let _ = simulator.handle_command(at, command.clone());
                }
                None => simulator.advance_to(at).unwrap(),
            }
        }
        events.extend(simulator.drain_events());
        assert!(bytes(&events) == expected);
        // A pass may put what waits in order again; a kubelet may start behind a network that is
        // cut; what has changed may be what was.
        let quiet = ["MonitorNodeHealth", "WorkQueued", "RetryPod", "KubeletSt"];
        let others = idle.keys().filter(|reason| !quiet.iter().any(|r| reason.starts_with(r)));
        assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new(), "of {deadlines}");
    });
}

/// A snapshot leads back, any number of times.
#[test]
fn snapshots_lead_back() {
    scripts(200, Faults::All, |script, dice| {
        let expected = bytes(&script.play().drain_events());
        let taken = dice.below(script.commands.len() + 1);
        let mut simulator = script.simulator();
        for (at, command) in &script.commands[..taken] {
            let _ = simulator.handle_command(*at, command.clone());
        }
        let snapshot = simulator.snapshot();
        for _ in 0..2 {
            for (at, command) in &script.commands[taken..] {
                let _ = simulator.handle_command(*at, command.clone());
            }
            simulator.advance_to(script.end).unwrap();
            assert!(bytes(&simulator.drain_events()) == expected);
            simulator.restore(&snapshot);
        }
    });
}

/// A command that is refused changes nothing.
#[test]
fn refused_commands_change_nothing() {
    scripts(200, Faults::All, |script, _| {
        let mut simulator = script.simulator();
        let mut accepted = script.clone();
        accepted.commands.clear();
        for (at, command) in &script.commands {
            if simulator.handle_command(*at, command.clone()).is_ok() {
                accepted.commands.push((*at, command.clone()));
            }
        }
        simulator.advance_to(script.end).unwrap();
        assert!(bytes(&simulator.drain_events()) == bytes(&accepted.play().drain_events()));
    });
}

/// A pod that is deleted gracefully goes only while its kubelet is connected, unless it has ended
/// already.
#[test]
fn only_a_kubelet_that_is_heard_confirms_deletions() {
    let seen = std::cell::Cell::new(0);
    scripts(300, Faults::All, |script, _| {
        let mut unreachable = BTreeMap::new();
        let nodes: BTreeMap<_, _> =
            script.pods.iter().map(|pod| (pod.key(), pod.spec.node_name.clone())).collect();
        let graceful = |pod: &taintlab_core::api::PodKey| {
            let pod = script.pods.iter().find(|known| known.key() == *pod).unwrap();
            pod.spec.termination_grace_period_seconds != Some(0)
        };
        let release = script.config.release;
        let mut ended = std::collections::BTreeSet::new();
        for event in script.play().drain_events() {
            match event.what {
                EventKind::NodeShutdown {
                    report: NodeShutdownReport::PodEnded { pod }, ..
                } => {
                    ended.insert(pod);
                }
                EventKind::NodeShutdown {
                    report: NodeShutdownReport::Killing { pod, .. }, ..
                } if !release.pods_fail_when_containers_have_ended() => {
                    ended.insert(pod);
                }
                EventKind::PodDeleted { pod, .. } if ended.contains(&pod) => {}
                EventKind::HeartbeatLost { node, .. } => drop(unreachable.insert(node, event.at)),
                EventKind::HeartbeatResumed { node } => drop(unreachable.remove(&node)),
                EventKind::PodDeleted { pod, .. } if graceful(&pod) => {
                    seen.set(seen.get() + 1);
                    assert!(!unreachable.contains_key(nodes[&pod].as_str()), "{} {pod}", event.at);
                }
                _ => {}
            }
        }
    });
    assert!(seen.get() > 100, "only {}", seen.get());
}

/// Once nothing changes, a healthy cluster has no deadline at all.
#[test]
fn a_healthy_cluster_is_quiet() {
    scripts(100, Faults::All, |script, _| {
        let mut quiet = script.clone();
        quiet.commands.clear();
        quiet.config.controller_manager_flags.clear();
        let mut simulator = quiet.simulator();
        simulator.advance_to(Timestamp::ZERO).unwrap();
        assert_eq!(simulator.poll_timeout(), None);
        simulator.drain_events();
        simulator.advance_to(Timestamp::from_secs(1_000_000)).unwrap();
        assert_eq!(simulator.drain_events(), []);
    });
}

/// The reasons that belong to kubelets name what they do.
#[test]
fn kubelets_give_reasons() {
    let mut simulator = super::kubelets::cluster(3, &[]);
    let flap = taintlab_core::command::Command::FlapKubelet {
        node: "n1".into(),
        down: "5s".parse_span(),
        up: "7s".parse_span(),
        times: None,
    };
    simulator.handle_command(Timestamp::from_secs(1), flap).unwrap();
    simulator.advance_to(Timestamp::from_secs(1)).unwrap();
    for (at, reason) in [
        (6, TimeoutReason::KubeletStarts { node: "n1".into() }),
        (13, TimeoutReason::KubeletStops { node: "n1".into() }),
        (18, TimeoutReason::KubeletStarts { node: "n1".into() }),
    ] {
        let next = simulator.poll_timeout().unwrap();
        assert_eq!((next.at, next.reason), (Timestamp::from_secs(at), reason));
        simulator.handle_timeout(next.at).unwrap();
    }
}

trait ParseSpan {
    fn parse_span(&self) -> taintlab_core::time::Span;
}

impl ParseSpan for str {
    fn parse_span(&self) -> taintlab_core::time::Span {
        taintlab_core::time::Span(taintlab_core::time::parse_duration(self).unwrap())
    }
}
