//! The controllers of workloads and budgets against a second opinion (`models::workloads`): random
//! clusters in time, compared after every step.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;
use taintlab_tests::dice::Dice;
use taintlab_tests::models::workloads::{Memory, State, StateReader, Step, recorded};
use taintlab_tests::random::workloads::{command, world};

use super::check;

#[test]
fn workloads_and_model_agree() {
    let steps_in_all = Cell::new(0_u64);
    let said = RefCell::new(BTreeMap::new());
    let script = (any::<u64>().no_shrink(), vec(any::<u64>().no_shrink(), 0..40));
    check(60, script, |(seed, steps)| {
        let mut dice = Dice::new(seed);
        let (minor, mut simulator) = world(&mut dice);
        let mut memory = Memory::default();
        let mut reader = StateReader::default();
        let mut before = State { minor, ..State::default() };
        let mut compare = |simulator: &mut Simulator, what: &str| {
            let events = recorded(&simulator.drain_events());
            let after = reader.read(simulator);
            let step = Step { before: &before, after: &after, events: &events };
            let wrong = step.differences(&mut memory);
            steps_in_all.set(steps_in_all.get() + 1);
            prop_assert!(
                wrong.is_empty(),
                "seed {seed}, 1.{minor}, at {}, after {what}: {wrong:#?}\n{events:#?}",
                simulator.now()
            );
            before = after;
            Ok(())
        };
        simulator.advance_to(Timestamp::ZERO).unwrap();
        compare(&mut simulator, "the beginning")?;
        let mut at = Timestamp::ZERO;
        for (number, roll) in steps.iter().enumerate() {
            let mut dice = Dice::new(*roll);
            let pause: u64 = *dice.pick(&[0, 0, 500, 1_000, 2_000, 3_000, 10_000, 50_000]);
            at = Timestamp::from_nanos(at.as_nanos() + pause * 1_000_000);
            while let Some(next) = simulator.poll_timeout().filter(|next| next.at <= at) {
                simulator.handle_timeout(next.at).unwrap();
                compare(&mut simulator, &format!("{:?}", next.reason))?;
            }
            simulator.advance_to(at).unwrap();
            let Some(command) = command(&mut dice, &simulator) else { continue };
            let what = format!("command {number}: {command:?}");
            let _ = simulator.handle_command(at, command);
            simulator.advance_to(at).unwrap();
            compare(&mut simulator, &what)?;
        }
        let mut all = said.borrow_mut();
        for (rule, times) in memory.said {
            *all.entry(rule).or_insert(0) += times;
        }
        Ok(())
    });
    println!("{} steps, {:?}", steps_in_all.get(), said.borrow());
}
