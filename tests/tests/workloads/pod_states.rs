//! The state of pods in two words, and how a run ended: the same everywhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use taintlab_core::api::PodKey;
use taintlab_core::pod_state::{PodCounts, PodHealth, PodVerdict};
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::{OutcomeKind, RunOutcome, Simulator};
use taintlab_core::time::Timestamp;
use taintlab_manifest::{Limits, read_scenario};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");

fn scenario(name: &str) -> Scenario {
    let path = Path::new(EXAMPLES).join(format!("{name}.yaml"));
    let text = fs::read_to_string(&path).unwrap();
    let mut files = |file: &str| {
        fs::read_to_string(Path::new(EXAMPLES).join(file)).map_err(|error| error.to_string())
    };
    read_scenario(&text, name, &Limits::default(), &mut files).scenario.unwrap()
}

/// Runs a scenario to `until` or until nothing is due, and looks at each moment.
fn run(name: &str, until: u64, mut look: impl FnMut(&Simulator, usize)) -> Simulator {
    let scenario = scenario(name);
    let mut simulator = scenario.simulator().unwrap();
    let mut steps = scenario.steps.iter().peekable();
    let until = Timestamp::from_secs(until);
    let mut evictions = 0;
    loop {
        let due = simulator.poll_timeout().map(|next| next.at);
        let step = steps.peek().map(|step| step.at.timestamp());
        let Some(at) = due.into_iter().chain(step).min().filter(|at| *at <= until) else { break };
        while let Some(step) = steps.next_if(|step| step.at.timestamp() <= at) {
            let done = simulator.handle_command(step.at.timestamp(), step.command.clone());
            assert_eq!(done.is_err(), step.refused.is_some(), "{name}");
        }
        simulator.advance_to(at).unwrap();
        let events = simulator.drain_events();
        evictions += events.iter().filter(|event| event.what.is_eviction()).count();
        look(&simulator, evictions);
    }
    simulator
}

#[test]
fn counts_states_and_events_agree() {
    for name in [
        "default-tolerations",
        "stuck-terminating",
        "nowhere-to-go",
        "who-goes-first",
        "service-in-an-outage",
        "statefulset-waits-deployment-does-not",
        "bare-pod-vanishes",
    ] {
        let mut seen: BTreeMap<PodVerdict, usize> = BTreeMap::new();
        run(name, 900, |simulator, evictions| {
            let states = simulator.pod_states();
            let mut counts = PodCounts::default();
            for (key, state) in states.iter() {
                counts.add(state);
                assert_eq!(states.get(key), Some(state));
                *seen.entry(state.verdict).or_default() += 1;
                let pod = simulator.cluster().get_pod(key).unwrap();
                // What kubectl would call Terminating, and nothing else, is being deleted or stuck.
                let going = [PodVerdict::Terminating, PodVerdict::Stuck].contains(&state.verdict);
                assert_eq!(going, pod.is_terminating(), "{name}: {key}");
                let stuck = state.verdict == PodVerdict::Stuck;
                assert_eq!(stuck, simulator.awaits_kubelet(key), "{name}: {key}");
                let timed = state.timer.is_some();
                assert_eq!(timed, going && !stuck || state.verdict == PodVerdict::Counting);
            }
            assert_eq!(counts, states.counts(), "{name}");
            let all: usize = PodVerdict::ALL.into_iter().map(|v| counts.verdict(v)).sum();
            // A pod without a node does not stay anywhere.
            let waiting = states.iter().filter(|(_, state)| state.waits_for_a_node()).count();
            let all = all + waiting;
            let well: usize = PodHealth::ALL.into_iter().map(|h| counts.health(h)).sum();
            let pods = simulator.cluster().pod_count();
            assert_eq!((all, well), (pods, pods), "{name}");
            assert_eq!(simulator.evictions_until_now(), evictions, "{name}");
        });
        assert!(seen.len() > 1, "{name}: {seen:?}");
    }
}

#[test]
fn a_run_that_has_ended_says_how() {
    let mut early = false;
    let simulator = run("stuck-terminating", 3_000, |simulator, _| {
        early |= simulator.poll_timeout().is_some() && simulator.outcome().is_some();
    });
    assert!(!early, "it has not ended while something is due");
    let outcome = simulator.outcome().expect("nothing is due");
    let stuck: Vec<&PodKey> = outcome.stuck.iter().flat_map(|stuck| &stuck.pods).collect();
    let states = simulator.pod_states();
    assert_eq!(stuck.len(), states.counts().verdict(PodVerdict::Stuck));
    assert!(!stuck.is_empty());
    assert_eq!(
        outcome.to_string(),
        "Ended at 5m55.1s: 2 pods evicted; 2 stuck Terminating until worker-1 and worker-2 are back"
    );
    assert!(!outcome.is_uneventful());
    // Stuck pods are not ready, too: the others are told apart from them.
    let with = |pods: &[&PodKey]| {
        let not_ready = pods.iter().map(|pod| (*pod).clone()).collect();
        RunOutcome { not_ready, ..outcome.clone() }
    };
    assert!(with(&stuck[..1]).to_string().ends_with(" are back; 1 other not ready"));
    assert!(with(&stuck[..2]).to_string().ends_with(" are back; 2 others not ready"));
    let alone = RunOutcome { stuck: Vec::new(), ..with(&stuck[..2]) };
    assert!(alone.to_string().ends_with(" evicted; 2 not ready"));
}

#[test]
fn reasons_of_pods_that_cannot_be_scheduled_are_added_up() {
    let mut said = None;
    run("nowhere-to-go", 300, |simulator, _| {
        let states = simulator.pod_states();
        if states.counts().health(PodHealth::Unschedulable) > 0 {
            let mut alone = simulator.clone();
            // Nothing comes any more: the end of the run as it would be.
            while let Some(next) = alone.poll_timeout().filter(|next| next.at < Timestamp::MAX) {
                alone.handle_timeout(next.at).unwrap();
            }
            said = alone.outcome();
        }
    });
    let outcome = said.expect("a pod has nowhere to go");
    let parts = outcome.parts();
    let part = parts.iter().find(|part| part.kind == OutcomeKind::Unschedulable).unwrap();
    let pods: usize = outcome.unschedulable.iter().map(|group| group.pods.len()).sum();
    assert_eq!(part.pods, pods);
    assert!(part.text.starts_with(&format!("{pods} cannot be scheduled (0/")), "{}", part.text);
    assert!(!part.text.contains("preemption"), "{}", part.text);
}
