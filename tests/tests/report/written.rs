//! Reports as they are written: in a terminal, as Markdown, JUnit and a page.
//!
//! `BLESS=1 cargo test -p taintlab-tests report::written` writes the files in `tests/reports`.

use std::fs;
use std::path::Path;

use taintlab_core::lanes::Lanes;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::report::{Plan, Report, ReportOptions, RunResult, report};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;
use taintlab_manifest::{SvgOptions, timeline_svg};
use taintlab_words::Style;
use taintlab_words::report::{Broken, Picture, Rule, html, junit, markdown, terminal};

use super::worked_examples::{all_runs, scenario, web};
use crate::scenarios::examples::scenarios;

/// Compares with a file, or writes it with `BLESS=1`.
fn check(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports").join(name);
    if std::env::var_os("BLESS").is_some() {
        return fs::write(&path, got).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, wanted, "{name}: BLESS=1 writes it anew");
}

fn check_all(name: &str, report: &Report, broken: &[Broken]) {
    check(&format!("{name}.txt"), &terminal(report, Style::Plain));
    check(&format!("{name}.md"), &markdown(report));
    check(&format!("{name}.xml"), &junit(report, &[], broken));
    let lanes = Lanes { until: Timestamp::ZERO, forecast_from: None, lanes: Vec::new() };
    let svg = timeline_svg(&lanes, &SvgOptions::default());
    let picture = Picture { what: "1 < 2".into(), svg };
    check(&format!("{name}.html"), &html(report, &[], &[picture]));
}

/// A report of some of the runs, of a release and a version that stay.
fn written(
    release: &str,
    mut scenario: Scenario,
    options: ReportOptions,
    some: fn(&mut Vec<RunResult>),
) -> Report {
    scenario.kubernetes.release = Some(KubernetesRelease::parse(release).unwrap());
    let mut plan = Plan::new(scenario, options).unwrap();
    let mut results = all_runs(&mut plan);
    some(&mut results);
    let mut outline = plan.outline().clone();
    outline.version = "0.0.0".into();
    report(&outline, &results).unwrap()
}

fn example(name: &str) -> Scenario {
    scenarios().into_iter().find(|(known, _)| known == name).unwrap().1
}

fn broken(rules: &[&str], report: &Report) -> Vec<Broken> {
    rules.iter().flat_map(|rule| Rule::parse(rule).unwrap().broken(report, &[])).collect()
}

#[test]
fn the_sample_cluster() {
    let report = written("1.35", example("sample-cluster"), ReportOptions::default(), |_| {});
    let rules = ["below > 5m", "deployment/*: zeroReady >= 1m", "score < 98", "pod/a/b: lost > 0"];
    check_all("sample-cluster", &report, &broken(&rules, &report));
}

#[test]
fn a_pool_of_devices() {
    // Taints of devices are on by default since 1.36.
    let report = written("1.36", example("gpu-fails"), ReportOptions::default(), |_| {});
    let broken = broken(&["wholeAgain > 30m"], &report);
    assert!(broken.iter().any(|it| {
        it.text.ends_with("(device pool gpu.example.com/worker-1 tainted by its driver)")
    }));
    check_all("device-pool", &report, &broken);
}

#[test]
fn three_seeds_and_an_interruption() {
    let options = || ReportOptions { seeds: 3, ..ReportOptions::default() };
    let whole = written("1.35", scenario(&web("300m")), options(), |_| {});
    check_all("three-seeds", &whole, &broken(&["evicted > 0", "below > 1h"], &whole));
    let part = written("1.35", scenario(&web("300m")), options(), |results| results.truncate(2));
    let why: Vec<_> = part.missing.iter().map(|reason| Broken::not_whole(reason)).collect();
    assert_eq!(why.len(), 1);
    check_all("interrupted", &part, &why);
}
