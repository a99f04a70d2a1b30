//! Every scenario of `examples/`: it reads without a word, runs, and all that it expects is true.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use taintlab_core::api::{Format, Quantity};
use taintlab_core::scenario::{Expectation, Scenario};
use taintlab_core::time::Span;
use taintlab_manifest::{Limits, read_scenario};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

/// The scenarios with the names of their files, in the order of names.
pub(crate) fn scenarios() -> Vec<(String, Scenario)> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths
        .iter()
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().into(), read(path)))
        .collect()
}

fn read(path: &Path) -> Scenario {
    let name = path.file_name().unwrap().to_str().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let mut load =
        |file: &str| fs::read_to_string(folder().join(file)).map_err(|error| error.to_string());
    let read = read_scenario(&text, name, &Limits::default(), &mut load);
    let shown: String =
        read.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect();
    assert!(shown.is_empty(), "{shown}");
    read.scenario.unwrap()
}

/// Where a person may just play.
fn is_playground(name: &str) -> bool {
    name == "sample-cluster"
}

#[test]
fn every_expectation_is_true() {
    let mut failures = String::new();
    for (name, scenario) in scenarios() {
        let report = scenario.run().unwrap_or_else(|error| panic!("{name}: {error}"));
        let number = report.outcomes.len();
        println!("{name}: {} ({number} expectations)", scenario.metadata.title);
        assert!(number > 0 || is_playground(&name), "{name} expects nothing");
        for outcome in report.outcomes {
            if let Some(failure) = outcome.failure {
                failures += &format!("{name}: {}, but {failure}\n", outcome.expectation);
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// The list is what the page shows.
#[test]
fn every_scenario_says_what_it_is_about() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 25, "only {} scenarios", scenarios.len());
    for (name, scenario) in scenarios {
        let metadata = &scenario.metadata;
        assert_eq!(metadata.name, name);
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
        );
        for text in [&metadata.title, &metadata.question, &metadata.answer] {
            assert!(!text.is_empty(), "{name}");
        }
        assert!(metadata.title.len() <= 70, "{name}: a long title");
        assert!(metadata.question.ends_with('?'), "{name}: no question");
        for thread in &metadata.threads {
            let (repository, number) = thread.split_once('#').unwrap();
            assert_eq!(repository.split('/').count(), 2, "{name}: {thread}");
            number.parse::<u32>().unwrap();
        }
        for object in scenario.objects.nodes.iter().map(|node| &node.metadata) {
            assert!(object.namespace.is_empty(), "{name}: a node has no namespace");
        }
    }
}

/// Each expectation matters: with another time, or turned into its opposite, it fails.
#[test]
fn a_broken_expectation_is_noticed() {
    let mut broken = 0;
    for (name, mut scenario) in scenarios() {
        let end = scenario.run().unwrap().simulator.now().into();
        let stated = scenario.expect.clone();
        scenario.expect = stated.iter().map(|expectation| opposite(expectation, end)).collect();
        let report = scenario.run().unwrap();
        assert_eq!(report.outcomes.len(), stated.len(), "{name}");
        for (expectation, outcome) in stated.iter().zip(&report.outcomes) {
            let noticed = outcome.failure.is_some();
            assert!(noticed, "{name}: {expectation} and its opposite are both true");
            broken += 1;
        }
    }
    assert!(broken >= 80, "only {broken}");
}

#[test]
fn pods_that_wait_are_on_no_node() {
    let (_, mut scenario) =
        scenarios().into_iter().find(|(name, _)| name == "nowhere-to-go").unwrap();
    let wrong =
        r#"[{ "podsOn": { "node": "worker-1", "workload": "deployment/web", "pods": 5 } }]"#;
    scenario.expect = serde_json::from_str(wrong).unwrap();
    scenario.until = Some(Span(Duration::from_secs(540)));
    let report = scenario.run().unwrap();
    let said = report.outcomes[0].failure.as_deref().unwrap();
    let nodes: Vec<_> = said.strip_prefix("they are on: ").unwrap().split(", ").collect();
    assert_eq!(nodes.iter().filter(|node| **node == "no node").count(), 1, "{said}");
}

/// Something that is false if the expectation is true.
fn opposite(expectation: &Expectation, end: Span) -> Expectation {
    let later = |at: Option<Span>| at.map(|at| Span(at.0 + std::time::Duration::from_millis(1)));
    match expectation.clone() {
        Expectation::Evicted(mut pod) if pod.at.is_some() => {
            pod.at = later(pod.at);
            Expectation::Evicted(pod)
        }
        Expectation::Gone(mut pod) if pod.at.is_some() => {
            pod.at = later(pod.at);
            Expectation::Gone(pod)
        }
        Expectation::Event(mut event) if event.times.is_some() => {
            event.times = event.times.map(|times| times + 1);
            Expectation::Event(event)
        }
        Expectation::Event(mut event) if event.at.is_some() => {
            event.at = later(event.at);
            Expectation::Event(event)
        }
        Expectation::Evicted(pod) => Expectation::NotEvicted(pod),
        Expectation::NotEvicted(pod) => Expectation::Evicted(pod),
        Expectation::Gone(pod) => Expectation::Present(pod),
        // Another pod of that name may have gone before.
        Expectation::Present(mut pod) => {
            pod.from = Some(end);
            Expectation::Gone(pod)
        }
        Expectation::Event(event) => Expectation::NoEvent(event),
        Expectation::NoEvent(event) => Expectation::Event(event),
        Expectation::NodeTainted(mut taint) if taint.at.is_some() => {
            taint.at = later(taint.at);
            Expectation::NodeTainted(taint)
        }
        Expectation::NodeTainted(taint) => Expectation::NodeNotTainted(taint),
        Expectation::NodeNotTainted(taint) => Expectation::NodeTainted(taint),
        Expectation::NodeUntainted(mut taint) => {
            taint.at = Some(Span(end.0 + std::time::Duration::from_millis(1)));
            Expectation::NodeUntainted(taint)
        }
        Expectation::NodeCondition(condition) => Expectation::NoNodeCondition(condition),
        Expectation::NoNodeCondition(condition) => Expectation::NodeCondition(condition),
        Expectation::ZoneState(zone) => Expectation::NoZoneState(zone),
        Expectation::NoZoneState(zone) => Expectation::ZoneState(zone),
        Expectation::ZoneRate(mut zone) => {
            zone.rate.0 += 1.0;
            Expectation::ZoneRate(zone)
        }
        Expectation::ReadyReplicas(ready) => Expectation::NoReadyReplicas(ready),
        Expectation::NoReadyReplicas(ready) => Expectation::ReadyReplicas(ready),
        Expectation::Availability(mut found) => {
            let longer = |span: Option<Span>| {
                let span = span.map_or_else(Default::default, |span| span.0);
                Some(Span(span + std::time::Duration::from_millis(1)))
            };
            found.longest_below = longer(found.longest_below);
            found.longest_at_zero = longer(found.longest_at_zero);
            found.replica_time_lost = longer(found.replica_time_lost);
            Expectation::Availability(found)
        }
        Expectation::Scheduled(pod) => Expectation::NotScheduled(pod),
        Expectation::NotScheduled(pod) => Expectation::Scheduled(pod),
        Expectation::PodsOn(mut pods) => {
            pods.pods += 1;
            Expectation::PodsOn(pods)
        }
        Expectation::Ranking(mut ranking) => {
            ranking.pods.reverse();
            Expectation::Ranking(ranking)
        }
        Expectation::Available(mut found) => {
            found.amount = Quantity::new(1, Format::DecimalSI);
            Expectation::Available(found)
        }
        Expectation::PodStatus(mut pod) => {
            pod.status.push('!');
            Expectation::PodStatus(pod)
        }
    }
}

/// Time by itself changes nothing in the sample, and every kind of workload is in it.
#[test]
fn the_sample_cluster_is_quiet() {
    let scenario = read(&folder().join("sample-cluster.yaml"));
    assert!(scenario.steps.is_empty());
    let report = scenario.run().unwrap();
    assert_eq!(report.simulator.poll_timeout(), None);
    let pods = &scenario.objects.pods;
    for kind in ["ReplicaSet", "StatefulSet", "DaemonSet", "Job"] {
        let owned = |owner: &taintlab_core::api::OwnerReference| owner.kind == kind;
        assert!(pods.iter().any(|pod| pod.metadata.owner_references.iter().any(owned)), "{kind}");
    }
    let zone = |node: &std::sync::Arc<taintlab_core::api::Node>| {
        node.metadata.labels["topology.kubernetes.io/zone"].clone()
    };
    let mut zones: Vec<String> = scenario.objects.nodes.iter().map(zone).collect();
    zones.sort();
    zones.dedup();
    assert_eq!(zones, ["eu-1a", "eu-1b", "eu-1c"]);
}
