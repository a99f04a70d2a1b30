//! Commands to a cluster with workloads and budgets, beside the reference model.

use taintlab_core::command::Command;
use taintlab_core::event::Event;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;
use taintlab_tests::dice::Dice;
use taintlab_tests::models::workloads::{Memory, State, StateReader, Step, recorded};
use taintlab_tests::random::workloads::{command, world};

use super::taint_eviction::check_pods;
use crate::mutate::Bytes;
use crate::show;

/// Gives commands to a cluster: at every instant the model agrees, no pod is there twice, and the
/// eviction API never goes below a budget. A fork tells the same events.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut dice = Dice::new(bytes.number());
    let (minor, mut simulator) = world(&mut dice);
    let mut memory = Memory::default();
    let mut before = State { minor, ..State::default() };
    let mut at = Timestamp::ZERO;
    let mut told = Vec::new();
    simulator.advance_to(at).unwrap();
    compare(&mut simulator, &mut before, &mut memory, &mut told);
    let begin = simulator.snapshot();
    let mut done: Vec<(Timestamp, Option<Command>)> = Vec::new();
    told.clear();
    while !bytes.is_empty() {
        let mut dice = Dice::new(bytes.number());
        let pause: u64 = *dice.pick(&[0, 0, 500, 1_000, 2_000, 3_000, 10_000, 50_000]);
        at = Timestamp::from_nanos(at.as_nanos() + pause * 1_000_000);
        while let Some(next) = simulator.poll_timeout().filter(|next| next.at <= at) {
            simulator.handle_timeout(next.at).unwrap();
            compare(&mut simulator, &mut before, &mut memory, &mut told);
        }
        simulator.advance_to(at).unwrap();
        let command = command(&mut dice, &simulator);
        show("command", &(at, &command));
        if let Some(command) = command.clone() {
            give(&mut simulator, at, command);
        }
        done.push((at, command));
        simulator.advance_to(at).unwrap();
        compare(&mut simulator, &mut before, &mut memory, &mut told);
    }
    simulator.restore(&begin);
    let mut again = Vec::new();
    for (at, command) in done {
        simulator.advance_to(at).unwrap();
        if let Some(command) = command {
            let _ = simulator.handle_command(at, command);
        }
        simulator.advance_to(at).unwrap();
        again.extend(simulator.drain_events().iter().map(line));
    }
    assert_eq!(again, told, "events after a snapshot");
}

fn line(event: &Event) -> String {
    serde_json::to_string(event).unwrap()
}

/// Gives a command. A pod is evicted at a budget's expense only if the budget allows it.
fn give(simulator: &mut Simulator, at: Timestamp, command: Command) {
    let keys: Vec<_> = simulator.cluster().budgets().map(|(key, _)| key.clone()).collect();
    let status = |simulator: &Simulator, key| simulator.budget_status(key);
    let budgets = keys.iter().filter_map(|key| Some((key, status(simulator, key)?)));
    let budgets: Vec<_> = budgets.collect();
    let result = simulator.handle_command(at, command);
    assert!(result.is_ok() || result.is_err_and(|error| !error.to_string().is_empty()));
    for (key, before) in budgets {
        let Some(after) = status(simulator, key) else { continue };
        let spent = after.disrupted_pods.len() > before.disrupted_pods.len();
        assert!(!spent || before.disruptions_allowed > 0, "{key} is overdrawn: {before:?}");
        assert!(after.disruptions_allowed >= 0, "{key}: {after:?}");
    }
}

/// Compares the cluster with the model.
fn compare(
    simulator: &mut Simulator,
    before: &mut State,
    memory: &mut Memory,
    told: &mut Vec<String>,
) {
    let now = simulator.now();
    check_pods(simulator);
    let events = simulator.drain_events();
    told.extend(events.iter().map(line));
    let events = recorded(&events);
    let after = StateReader::default().read(simulator);
    let step = Step { before, after: &after, events: &events };
    let wrong = step.differences(memory);
    assert!(wrong.is_empty(), "1.{}, at {now}: {wrong:#?}\n{events:#?}", before.minor);
    *before = after;
}
