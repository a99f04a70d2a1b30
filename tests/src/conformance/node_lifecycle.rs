//! `node_lifecycle*`: the whole node lifecycle controller over recorded scenarios.

use std::collections::BTreeMap;

use serde::Deserialize;
use taintlab_core::release::KubernetesRelease;

use super::{Outcome, with_flagged_case};
use crate::lifecycle::{
    BEHAVIOUR_1_20, BEHAVIOUR_CURRENT, FinalNode, Outcome as Seen, Scenario, World,
};

#[derive(Deserialize)]
struct Case {
    behaviour: String,
    nondeterministic: bool,
    zone_vanished: bool,
    stale_write: bool,
    #[serde(flatten)]
    scenario: Scenario,
    outcomes: Vec<Seen>,
    final_nodes: BTreeMap<String, FinalNode>,
    final_zone_states: BTreeMap<String, String>,
}

/// Runs one case.
pub fn run(line: &str) -> Outcome {
    let is_flagged = |case: &Case| case.nondeterministic || case.zone_vanished || case.stale_write;
    with_flagged_case(line, is_flagged, play)
}

fn play(case: Case) -> Result<Outcome, String> {
    let minor = match case.behaviour.as_str() {
        "1.20.2" => BEHAVIOUR_1_20,
        "current" => BEHAVIOUR_CURRENT,
        "1.36.2" => 36,
        other => return Err(format!("unknown behaviour {other}")),
    };
    let release = KubernetesRelease::new(minor).ok_or("unknown release")?;
    let (outcomes, world) = World::new(case.scenario, release)?.play();
    if outcomes != case.outcomes {
        return Ok(first_difference(&case.outcomes, &outcomes));
    }
    let expected = (case.final_nodes, case.final_zone_states);
    Ok(super::compare(&expected, &(world.final_nodes(), world.final_zone_states())))
}

/// The first outcomes that differ, and a few before and after.
fn first_difference(expected: &[Seen], got: &[Seen]) -> Outcome {
    let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    let show = |list: &[Seen]| {
        let part = list.get(at.saturating_sub(3)..list.len().min(at + 8)).unwrap_or(&[]);
        part.iter().map(Seen::brief).collect::<Vec<_>>().join("; ")
    };
    Outcome::Differs { expected: show(expected), got: show(got) }
}
