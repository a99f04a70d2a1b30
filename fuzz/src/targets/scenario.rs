//! Scenario files as text.

use std::time::Duration;

use taintlab_core::scenario::Scenario;
use taintlab_core::time::Span;
use taintlab_manifest::{
    ImportOptions, is_scenario, read_scenario, scenario_from_json, write_scenario,
};

use super::manifest::VOCABULARY;
use super::{check_places, seeds};
use crate::mutate::{Bytes, text};
use crate::show;

/// The longest run of a scenario that was read.
const LONGEST: Duration = Duration::from_secs(600);

/// Reads a scenario; every diagnostic is about a place in it, and what was read is the same once it
/// is written and read again, as YAML and as JSON. A small one is run for ten minutes.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let keep_all = bytes.one_in(3);
    let text = text(&mut bytes, &seeds::SCENARIOS, VOCABULARY, 8_000);
    show("scenario", &text);
    let options = ImportOptions { keep_all, ..ImportOptions::default() };
    let mut none = |_: &str| Err("no files here".to_owned());
    let _ = is_scenario(&text);
    let mut read = read_scenario(&text, "s", options, &mut none);
    check_places(&read.diagnostics, &text, "s");
    let errors = read.diagnostics.iter().any(|diagnostic| diagnostic.is_error());
    assert_eq!(read.scenario.is_none(), errors, "{:?}", read.diagnostics);
    let Some(scenario) = read.scenario.take() else { return };

    let written = write_scenario(&scenario);
    let again = read_scenario(&written, "w", options, &mut none);
    assert_eq!(again.scenario.as_ref(), Some(&scenario), "{:?}\n{written}", again.diagnostics);
    let json = serde_json::to_string(&scenario).unwrap();
    assert_eq!(scenario_from_json(&json).as_ref(), Ok(&scenario), "{json}");

    if is_small(&scenario) {
        let result = shortened(scenario).run();
        if let Err(error) = result {
            let place = read.error(&error.path(), error.to_string());
            check_places(&[place], &text, "s");
        }
    }
}

/// Whether a scenario takes little time, whatever it says.
fn is_small(scenario: &Scenario) -> bool {
    let objects = &scenario.objects;
    let replicas = objects.workloads.iter().filter_map(|it| it.spec.replicas);
    objects.node_groups.is_empty()
        && objects.nodes.len() + objects.pods.len() <= 20
        && replicas.map(|it| it.clamp(0, 100)).sum::<i64>() <= 20
        && scenario.steps.iter().all(|step| step.at.0 <= LONGEST)
}

fn shortened(mut scenario: Scenario) -> Scenario {
    let until = scenario.until.map_or(LONGEST, |until| until.0.min(LONGEST));
    scenario.until = Some(Span(until));
    scenario
}
