use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde_json::json;
use taintlab_rules::time::{Span, Timestamp};

use super::{Fault, Plan, ReportError, ReportOptions, ReportSubject, Run, report};
use crate::scenario::{Player, Scenario};

/// A Deployment with two pods on two nodes; each node has room for one of them only.
fn cluster() -> Scenario {
    let node = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name } },
            "status": { "allocatable": { "cpu": "1", "pods": "10" } },
        })
    };
    let container = json!({ "name": "c", "resources": { "requests": { "cpu": "600m" } } });
    let scenario = json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "objects": {
            "nodes": [node("a"), node("b")],
            "workloads": [{
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": { "name": "web", "namespace": "default" },
                "spec": {
                    "replicas": 2,
                    "selector": { "matchLabels": { "app": "web" } },
                    "template": {
                        "metadata": { "labels": { "app": "web" } },
                        "spec": { "containers": [container], "terminationGracePeriodSeconds": 5 },
                    },
                },
            }],
        },
        // These belong to another run: none of them may appear in the scenario of a run.
        "steps": [{ "at": "1s", "do": { "stopKubelet": { "node": "b" } } }],
        "bookmarks": [{ "at": "1s", "note": "b stops" }],
    });
    serde_json::from_value(scenario).unwrap()
}

#[test]
fn the_scenario_of_a_run_shows_its_worst_moment() {
    let faults = Vec::from([Fault::Lost, Fault::NetworkCut, Fault::ShutDown, Fault::Drained]);
    let options = ReportOptions { faults, seeds: 2, remedies: 0, ..ReportOptions::default() };
    let mut plan = Plan::new(cluster(), options).unwrap();
    let results: Vec<_> = plan.runs().iter().map(|run| plan.run(run).unwrap()).collect();
    let report = report(plan.outline(), &results).unwrap();
    let mut short = 0;
    for cell in &report.cells {
        let (seed, fault, domain) = (cell.seed, cell.fault.clone(), cell.domain);
        let run = Run { remedy: None, seed, fault, domain };
        let (scenario, begin) = plan.scenario_of(&run).unwrap();
        assert_eq!(scenario.steps.first().unwrap().at.timestamp(), begin);
        assert!(scenario.bookmarks.is_empty());
        let ReportSubject::Workload(workload) = &cell.worst.subject else { panic!("a pod") };

        let mut simulator = scenario.simulator().unwrap();
        let mut player = Player::new(&scenario);
        let just_before = Timestamp::from_nanos(begin.as_nanos() - 1);
        player.play_to(&mut simulator, just_before, usize::MAX).unwrap();
        assert_eq!(simulator.cluster().ready_pods(workload), 2, "before: {}", cell.fault);
        let worst = begin.saturating_add(Duration::from_millis(cell.worst.worst_at.0));
        player.play_to(&mut simulator, worst, usize::MAX).unwrap();
        let ready = simulator.cluster().ready_pods(workload);
        assert_eq!(ready, cell.worst.least_ready, "{} at {worst:?}", cell.fault);
        short += usize::from(ready < 2);
        // A step refused before the horizon would be an error.
        player.run_to_end(&mut simulator, usize::MAX).unwrap();
        assert_eq!(Some(Span(Duration::from_nanos(simulator.now().as_nanos()))), scenario.until);
    }
    assert_eq!(short, 8, "four faults of two nodes");
}

/// The kubelet of b is stopped, so that its pod waits for room on a, and a failure of a takes the
/// last one.
#[test]
fn a_report_of_a_later_moment_counts_the_steps_until_then() {
    let least = |after: Option<Duration>| {
        let after = after.map(Span);
        let options = ReportOptions { after, remedies: 0, ..ReportOptions::default() };
        let mut plan = Plan::new(cluster(), options).unwrap();
        let mut runs = plan.runs();
        runs.retain(|run| plan.outline().domains[run.domain].name == "a");
        let result = plan.run(&runs[0]).unwrap();
        let (scenario, at) = plan.scenario_of(&runs[0]).unwrap();
        let figures = &result.workloads[0];
        let mut simulator = scenario.simulator().unwrap();
        let mut player = Player::new(&scenario);
        let worst = at.saturating_add(Duration::from_millis(figures.worst_at.0));
        player.play_to(&mut simulator, worst, usize::MAX).unwrap();
        let ReportSubject::Workload(workload) = &figures.subject else { panic!("a pod") };
        assert_eq!(simulator.cluster().ready_pods(workload), figures.least_ready);
        (figures.least_ready, scenario.steps.len(), plan.outline().fault_at.0 / 1_000)
    };
    assert_eq!(least(None), (1, 1, 10));
    assert_eq!(least(Some(Duration::from_millis(999))), (1, 1, 10), "before the step");
    let (ready, steps, at) = least(Some(Duration::from_secs(60)));
    assert_eq!((ready, steps), (0, 2));
    assert!(at > 300, "after the eviction from b has come to rest: {at}");
}

/// Sharing between runs of one cluster changes none of the results.
#[test]
fn a_run_is_the_same_by_itself_and_after_others() {
    let scenario = || Scenario { steps: Vec::new(), ..cluster() };
    let mut plan = Plan::new(scenario(), ReportOptions::default()).unwrap();
    let mut results: Vec<_> = plan.runs().iter().map(|run| plan.run(run).unwrap()).collect();
    let runs = plan.remedies(&results);
    let outages = runs.iter().filter(|run| matches!(run.fault, Fault::PowerOff { .. }));
    assert!(outages.count() >= 20, "the sweep of tolerationSeconds");
    results.extend(runs.iter().map(|run| plan.run(run).unwrap()));
    let judged = plan.remedies(&results);
    assert!(!judged.is_empty(), "what helps is tried in other failures");
    for run in runs.iter().chain(&judged) {
        let mut alone = Plan::new(scenario(), ReportOptions::default()).unwrap();
        assert_eq!(alone.run(run).unwrap(), plan.run(run).unwrap(), "{run:?}");
    }
    results.extend(judged.iter().map(|run| plan.run(run).unwrap()));
    assert!(plan.remedies(&results).is_empty(), "nothing more to be known");
}

#[test]
fn the_largest_failures_come_first() {
    let mut scenario = cluster();
    for (node, zone) in scenario.objects.nodes.iter_mut().zip(["east", "west"]) {
        let labels = &mut Arc::make_mut(node).metadata.labels;
        labels.insert("topology.kubernetes.io/zone".to_string(), zone.to_string());
    }
    let mut third = scenario.objects.nodes[0].clone();
    Arc::make_mut(&mut third).metadata.name = "c".to_string();
    scenario.objects.nodes.push(third);
    let plan = Plan::new(scenario, ReportOptions::default()).unwrap();
    let domains = &plan.outline().domains;
    let sizes = plan.runs().into_iter().map(|run| domains[run.domain].nodes.len());
    // The zone `west` has the single node b, which fails once.
    assert_eq!(sizes.collect::<Vec<_>>(), [2, 1, 1, 1]);
    let same: Vec<_> = domains.iter().filter_map(|it| it.same_nodes_as).collect();
    assert_eq!(same.into_iter().map(|it| domains[it].name.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_run_of_another_plan_has_no_scenario() {
    let mut plan = Plan::new(cluster(), ReportOptions::default()).unwrap();
    let run = Run { remedy: None, seed: 1, fault: Fault::Lost, domain: 9 };
    let error = plan.scenario_of(&run).unwrap_err();
    assert!(matches!(error, ReportError::UnknownDomain { domain: 9, .. }), "{}", error.to_string());
}
