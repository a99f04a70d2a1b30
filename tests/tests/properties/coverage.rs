//! Whether the random scripts meet the interesting cases: counted, so that a change of the
//! generator that loses one is noticed.

use std::cell::RefCell;
use std::collections::BTreeMap;

use taintlab_core::command::Command;
use taintlab_core::controllers::taint_eviction::EvictionDecision;
use taintlab_core::event::{Event, EventKind, RequestResult};

use super::check;
use super::generate::{Script, script};

const SCRIPTS: u32 = 6_000;

#[test]
fn scripts_meet_the_interesting_cases() {
    let counts = RefCell::new(BTreeMap::<String, usize>::new());
    check(SCRIPTS, script(), |script| {
        for case in cases(&script) {
            *counts.borrow_mut().entry(case).or_default() += 1;
        }
        Ok(())
    });
    let counts = counts.into_inner();
    for (case, count) in &counts {
        println!("{count:>7} {case}");
    }
    // Each of these comes at least a few dozen times.
    for case in [
        "decision NotTolerated",
        "decision ToleratedForNoTime",
        "decision Scheduled",
        "decision TimerKept",
        "decision AlreadyDeleted",
        "decision ToleratedForever",
        "decision ToleratedForeverTooLate",
        "decision TaintsRemoved, cancelled",
        "decision TaintsRemoved",
        "decision PodGone, cancelled",
        "decision PodGone",
        "request Delete Ok",
        "request Delete AlreadyTerminating",
        "request Delete NotFound",
        "request Delete Error",
        "request PatchStatus Ok",
        "request PatchStatus Error",
        "request Get NotFound",
        "command accepted",
        "command refused",
        "command of the same instant as the one before",
        "command at the instant of an event",
        "pod replaced by another in one update",
        "pod created again under its name",
        "deletion given up",
        "restart",
        "restart that loses timers",
        "node with several NoExecute taints",
        "two pods marked in one instant",
    ] {
        let count = counts.get(case).copied().unwrap_or(0);
        assert!(count >= 40, "`{case}` comes {count} times in {SCRIPTS} scripts");
    }
}

/// The cases that a script meets, one entry for each time.
fn cases(script: &Script) -> Vec<String> {
    let mut cases = Vec::new();
    let mut simulator = script.simulator();
    for (index, (at, command)) in script.commands.iter().enumerate() {
        let replaces = match command {
            Command::UpdatePod(pod) => simulator
                .cluster()
                .get_pod(&pod.key())
                .is_some_and(|old| old.metadata.uid != pod.metadata.uid),
            _ => false,
        };
        let accepted = simulator.handle_command(*at, command.clone()).is_ok();
        cases.push(format!("command {}", if accepted { "accepted" } else { "refused" }));
        if replaces && accepted {
            cases.push("pod replaced by another in one update".into());
        }
        if index > 0 && script.commands[index - 1].0 == *at {
            cases.push("command of the same instant as the one before".into());
        }
    }
    simulator.advance_to(script.end).unwrap();
    let events = simulator.drain_events();
    for event in &events {
        cases.extend(case(event));
    }
    for (at, _) in &script.commands {
        let coincides =
            |event: &Event| event.at == *at && matches!(event.what, EventKind::EventRecorded(_));
        if events.iter().any(coincides) {
            cases.push("command at the instant of an event".into());
        }
    }
    cases.extend(sequences(&events));
    cases
}

fn case(event: &Event) -> Option<String> {
    Some(match &event.what {
        EventKind::Decided(decision) => match &decision.decision {
            EvictionDecision::TaintsRemoved { timer_cancelled: true } => {
                "decision TaintsRemoved, cancelled".into()
            }
            EvictionDecision::PodGone { timer_cancelled: true } => {
                "decision PodGone, cancelled".into()
            }
            decision => {
                let text = format!("{decision:?}");
                let name = text.split([' ', '{']).next().unwrap_or_default();
                format!("decision {name}")
            }
        },
        EventKind::Request { verb, result, .. } => match result {
            RequestResult::Error(_) => format!("request {verb:?} Error"),
            result => format!("request {verb:?} {result:?}"),
        },
        EventKind::TaintEvictionControllerRestarted { timers_lost: 0 } => "restart".into(),
        EventKind::TaintEvictionControllerRestarted { .. } => "restart that loses timers".into(),
        EventKind::NodeEvaluated { taints, .. } if taints.len() > 1 => {
            "node with several NoExecute taints".into()
        }
        _ => return None,
    })
}

/// Cases that take more than one event.
fn sequences(events: &[Event]) -> Vec<String> {
    let mut cases = Vec::new();
    let mut gone = Vec::new();
    let mut last_mark = None;
    let mut failures: BTreeMap<String, u32> = BTreeMap::new();
    for event in events {
        match &event.what {
            EventKind::PodDeleted { pod, .. } => gone.push(pod.clone()),
            EventKind::PodAdded { pod, .. } if gone.contains(pod) => {
                cases.push("pod created again under its name".into());
            }
            EventKind::EventRecorded(recorded) if recorded.message.starts_with("Marking") => {
                if let Some((at, message)) = &last_mark
                    && *at == event.at
                    && *message != recorded.message
                {
                    cases.push("two pods marked in one instant".into());
                }
                last_mark = Some((event.at, recorded.message.clone()));
                failures.clear();
            }
            EventKind::Request { pod, result, .. } if !result.is_ok() => {
                let failures = failures.entry(pod.to_string()).or_default();
                *failures += 1;
                if *failures == 5 {
                    cases.push("deletion given up".into());
                }
            }
            _ => {}
        }
    }
    cases
}
