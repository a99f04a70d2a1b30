//! The player of scenarios: however it is driven, the same happens.

use serde_json::json;
use taintlab_core::event::Event;
use taintlab_core::scenario::{Ended, Expectation, NextWhat, Player, Scenario, ScenarioError};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

use super::examples::scenarios;

fn events(simulator: &mut Simulator) -> Vec<Event> {
    std::iter::from_fn(|| simulator.poll_event()).collect()
}

#[test]
fn one_moment_after_the_other_is_as_all_at_once() {
    for (name, scenario) in scenarios() {
        let report = scenario.run().unwrap();
        let mut simulator = scenario.simulator().unwrap();
        let mut player = Player::new(&scenario);
        while player.run_to_end(&mut simulator, 1).unwrap() == Ended::TooManyMoments {}
        assert!(events(&mut simulator) == report.events, "{name}");
        assert_eq!(simulator.now(), report.simulator.now(), "{name}");
    }
}

#[test]
fn a_copy_of_the_player_goes_on_from_where_it_was_made() {
    for (name, scenario) in scenarios() {
        let mut simulator = scenario.simulator().unwrap();
        let mut player = Player::new(&scenario);
        let half = scenario.run().unwrap().simulator.now().as_nanos() / 2;
        player.play_to(&mut simulator, Timestamp::from_nanos(half), usize::MAX).unwrap();
        events(&mut simulator);
        let (snapshot, copy) = (simulator.snapshot(), player.clone());
        player.run_to_end(&mut simulator, usize::MAX).unwrap();
        let once = events(&mut simulator);
        simulator.restore(&snapshot);
        player = copy;
        player.run_to_end(&mut simulator, usize::MAX).unwrap();
        assert!(events(&mut simulator) == once, "{name}");
    }
}

/// How many pods are ready at a moment to come is not known, though it may be what is seen now.
#[test]
fn what_is_expected_of_a_later_moment_is_not_true_yet() {
    let (_, scenario) =
        scenarios().into_iter().find(|(name, _)| name == "service-in-an-outage").unwrap();
    let mut simulator = scenario.simulator().unwrap();
    let mut player = Player::new(&scenario);
    let mut events = Vec::new();
    let later = scenario.expect.iter().find(|later| later.to_string().ends_with("3m45s")).unwrap();
    for (seconds, is_true) in [(120, false), (180, false), (224, false), (225, true), (300, true)] {
        let at = Timestamp::from_secs(seconds);
        player.play_to(&mut simulator, at, usize::MAX).unwrap();
        events.extend(self::events(&mut simulator));
        let outcome = later.check(&events, &simulator);
        assert_eq!(outcome.failure.is_none(), is_true, "at {at}: {outcome:?}");
        assert_eq!(later.is_open(at), !is_true, "at {at}");
        let mut from_then = later.clone();
        if let Expectation::ReadyReplicas(e) = &mut from_then {
            (e.at, e.from) = (None, e.at);
        }
        let outcome = from_then.check(&events, &simulator);
        assert_eq!(outcome.failure.is_none(), is_true, "from then on, at {at}: {outcome:?}");
    }
}

fn scenario(steps: serde_json::Value) -> Scenario {
    serde_json::from_value(json!({
        "apiVersion": "taintlab/v1",
        "kind": "Scenario",
        "objects": {"nodes": [{"metadata": {"name": "n-1"}}]},
        "steps": steps,
    }))
    .unwrap()
}

#[test]
fn steps_are_played_in_the_order_of_time_and_of_the_file() {
    let scenario = scenario(json!([
        {"at": "2s", "do": {"deleteNode": {"node": "n-2"}}},
        {"at": "1s", "do": {"createNode": {"metadata": {"name": "n-2"}}}},
        {"at": "2s", "do": {"createNode": {"metadata": {"name": "n-3"}}}},
    ]));
    let mut simulator = scenario.simulator().unwrap();
    let mut player = Player::new(&scenario);
    let mut times = Vec::new();
    while let Some(next) = player.next(&simulator) {
        if matches!(next.what, NextWhat::Step(_)) {
            times.push(next.at.as_nanos() / 1_000_000_000);
        }
        let at = next.at;
        player.play_to(&mut simulator, at, usize::MAX).unwrap();
    }
    assert_eq!(times, [1, 2], "both steps of an instant are played at once");
    let names: Vec<_> = simulator.cluster().nodes().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["n-1", "n-3"]);
}

#[test]
fn a_step_is_refused_where_it_says_so_and_only_there() {
    let error = scenario(json!([{"at": "1s", "do": {"deleteNode": {"node": "n-2"}}}])).run();
    let Err(ScenarioError::Step { index: 0, error }) = error else { panic!("it must be refused") };
    let step = |node: &str, refused: &str| {
        scenario(json!([{"at": "1s", "do": {"deleteNode": {"node": node}}, "refused": refused}]))
    };
    assert!(step("n-2", &error.to_string()).run().is_ok());
    let other = step("n-2", "another error").run().err();
    assert!(matches!(other, Some(ScenarioError::Step { index: 0, .. })), "{other:?}");
    let none = step("n-1", &error.to_string()).run().err();
    assert_eq!(none, Some(ScenarioError::NotRefused { index: 0 }));
}
