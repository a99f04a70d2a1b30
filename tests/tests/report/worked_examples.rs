//! The reports of three small clusters, worked out by hand.
//!
//! The clusters come to rest within 10 s, so that the fault comes at 10 s. A kubelet renewed its
//! lease last at its phase, between 0 and 10 s; the pass at 5 s or the one at 10 s saw that. With a
//! grace period of 50 s the node is not ready at 60 s or at 65 s: 50 s or 55 s after the fault. Its
//! NoExecute taint comes with the next pass, 5 s later, and pods are deleted 300 s after that.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::Value;
use taintlab_core::api::{Taint, WorkloadKey};
use taintlab_core::command::Command;
use taintlab_core::kubelet::heartbeat::KubeletSettings;
use taintlab_core::report::{
    Cell, Domain, Effect, Fault, Finding, Millis, Plan, Remedy, Report, ReportOptions,
    ReportSubject, Run, RunResult, WorkloadRun, report,
};
use taintlab_core::scenario::{Scenario, Step};
use taintlab_core::simulator::HealthPassTime;
use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::{ImportOptions, Limits, import, read_value};

const NODES: &str = r#"
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {kubernetes.io/hostname: a}},
 status: {allocatable: {cpu: "1", pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {kubernetes.io/hostname: b}},
 status: {allocatable: {cpu: "1", pods: "10"}}}
"#;

/// A Deployment `web` of two pods, one on each node.
fn web(cpu: &str) -> String {
    format!(
        r#"{NODES}---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}
"#
    )
}

/// A StatefulSet `db` of one pod that a budget keeps, and a pod of nobody on node `a`.
fn db() -> String {
    format!(
        r#"{NODES}---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db, namespace: default}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}}}
    spec: {{nodeSelector: {{kubernetes.io/hostname: a}}, containers: [{{name: c}}]}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: db, namespace: default}}
spec: {{minAvailable: 1, selector: {{matchLabels: {{app: db}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: debug, namespace: default, uid: debug-1}}
spec:
  nodeName: a
  tolerations:
  - {{key: node.kubernetes.io/not-ready, operator: Exists, tolerationSeconds: 300,
     effect: NoExecute}}
  - {{key: node.kubernetes.io/unreachable, operator: Exists, tolerationSeconds: 300,
     effect: NoExecute}}
"#
    )
}

/// With ideal clocks, so that times can be worked out by hand.
fn scenario(text: &str) -> Scenario {
    let import = import(text, "cluster.yaml", ImportOptions::default());
    assert!(!import.has_errors(), "{:?}", import.diagnostics);
    let mut scenario = import.into_scenario(Scenario::default());
    scenario.kubernetes.health_pass = Some(HealthPassTime::default());
    scenario
}

fn all_runs(plan: &mut Plan) -> Vec<RunResult> {
    let (mut results, mut runs) = (Vec::new(), plan.runs());
    while !runs.is_empty() {
        results.extend(runs.iter().map(|run| plan.run(run).unwrap()));
        runs = plan.remedies(&results);
    }
    results
}

fn report_of(scenario: Scenario, options: ReportOptions) -> Report {
    let mut plan = Plan::new(scenario, options).unwrap();
    let results = all_runs(&mut plan);
    report(plan.outline(), &results).unwrap()
}

fn cell<'a>(report: &'a Report, domain: &str, fault: &Fault, subject: &str) -> &'a Cell {
    let is_it = |cell: &&Cell| {
        report.outline.domains[cell.domain].name == domain
            && cell.fault == *fault
            && cell.worst.subject.to_string() == subject
    };
    report.cells.iter().find(is_it).unwrap_or_else(|| panic!("{subject} in {domain}: no cell"))
}

fn finding<'a>(report: &'a Report, subject: Option<&str>) -> &'a Finding {
    let is_it = |it: &&Finding| it.subject.as_ref().map(ToString::to_string).as_deref() == subject;
    report.findings.iter().find(is_it).unwrap()
}

/// How long after the fault the node is not ready, in seconds.
fn not_ready_after(node: &str, seed: u64) -> u64 {
    let settings = KubeletSettings { phase_seed: seed, ..KubeletSettings::default() };
    let phase = settings.phase(node);
    if phase > Timestamp::ZERO && phase <= Timestamp::from_secs(5) { 50 } else { 55 }
}

const fn secs(seconds: u64) -> Millis {
    Millis(seconds * 1000)
}

#[test]
fn a_deployment_with_room_elsewhere() {
    let report = report_of(scenario(&web("300m")), ReportOptions::default());
    assert_eq!(report.outline.fault_at, secs(10));
    // All nodes together are no zone, since they have none; each fails by itself.
    let domains: Vec<_> = report.outline.domains.iter().map(Domain::to_string).collect();
    assert_eq!(domains, ["node a", "node b"]);
    for node in ["a", "b"] {
        let cell = cell(&report, node, &Fault::Lost, "deployment/default/web");
        let figures = &cell.worst;
        let gone = not_ready_after(node, 1);
        assert_eq!((figures.wanted, figures.least_ready), (2, 1));
        assert_eq!((figures.evicted, figures.moved, figures.stuck), (1, 1, 1));
        assert_eq!(figures.worst_at, secs(gone));
        // 300 s of toleration, 2 s to start.
        assert_eq!(figures.below, secs(302));
        assert_eq!(figures.longest_gap, secs(302));
        assert_eq!(figures.replica_time_lost, secs(302));
        assert_eq!(figures.at_zero, secs(0));
        assert_eq!(figures.whole_again, Some(secs(gone + 302)));
        assert_eq!(cell.harm, Millis(151_000));
    }
    assert_eq!(report.workloads[0].score.score, 97);
    assert_eq!(
        report.workloads[0].score.arithmetic,
        "node a, lost: 302.000 s missing over all pods / 2 wanted + 0.000 s with none = \
         151.000 s; 100 − 100 × 151.000 s / (2 × 3600.000 s) = 97"
    );
    assert_eq!(report.score.score, 97);

    let finding = finding(&report, Some("deployment/default/web"));
    let gone = not_ready_after("a", 1);
    assert_eq!(
        finding.what,
        format!(
            "node a lost: deployment/default/web is down to 1 of 2 ready, whole again after {}",
            secs(gone + 302)
        )
    );
    for (seconds, below) in [(0, 2), (30, 32), (60, 62)] {
        let tried = |remedy: &Remedy| {
            let Remedy::TolerationSeconds { seconds, .. } = remedy else { return None };
            Some(*seconds)
        };
        let mut effects = finding.effects.iter();
        let effect = effects.find(|effect| tried(&effect.remedy) == Some(seconds)).unwrap();
        assert_eq!(effect.figures.as_ref().unwrap().below, secs(below), "{seconds}");
    }
    // They have 300 s by default: nobody would learn anything from trying it.
    let tried = |effect: &Effect| effect.remedy.to_string().contains("tolerationSeconds 300");
    assert!(!finding.effects.iter().any(tried));
    let evicted = |seconds: Option<u32>, outage: u64| {
        let mut all = finding.false_alarms.iter();
        let alarm = all.find(|it| it.seconds == seconds && it.outage == secs(outage)).unwrap();
        alarm.evicted
    };
    // A node that is back before anybody saw that it was gone.
    assert_eq!([None, Some(0), Some(60)].map(|seconds| evicted(seconds, 30)), [0, 0, 0]);
    assert_eq!([Some(0), Some(30), None].map(|seconds| evicted(seconds, 120)), [1, 1, 0]);
    assert_eq!([None, Some(0), Some(60)].map(|seconds| evicted(seconds, 600)), [1, 1, 1]);
}

#[test]
fn a_deployment_without_room_elsewhere() {
    let report = report_of(scenario(&web("800m")), ReportOptions::default());
    let domain = &report.outline.domains[0];
    let cpu = domain.headroom.iter().find(|it| it.resource == "cpu").unwrap();
    // 200m are left on the other node.
    assert_eq!((cpu.needed, cpu.free, domain.fits()), (800, Some(200), false));
    assert_eq!(domain.runs_out_first.as_deref(), Some("cpu"));
    let figures = &cell(&report, "a", &Fault::Lost, "deployment/default/web").worst;
    let gone = not_ready_after("a", 1);
    assert_eq!(figures.below, secs(3600 - gone));
    assert_eq!((figures.whole_again, figures.never_whole_again()), (None, true));
    assert_eq!((figures.evicted, figures.moved, figures.stuck), (1, 0, 1));
    let [pending] = &figures.pending[..] else { panic!("{:?}", figures.pending) };
    assert_eq!(pending.pods, 1);
    assert!(pending.reason.contains("1 Insufficient cpu"), "{}", pending.reason);
    let finding = finding(&report, Some("deployment/default/web"));
    assert!(finding.why.contains("the rest has too little cpu"), "{}", finding.why);
    let best = &finding.effects[0];
    assert!(best.harm < finding.harm, "{}", best.what);
    let more = |remedy: &Remedy| matches!(remedy, Remedy::OneMoreNode { .. });
    let more = finding.effects.iter().find(|effect| more(&effect.remedy)).unwrap();
    assert_eq!(more.figures.as_ref().unwrap().below, secs(302));
    let priority = |remedy: &Remedy| matches!(remedy, Remedy::Priority { .. });
    let priority = finding.effects.iter().find(|effect| priority(&effect.remedy)).unwrap();
    assert_eq!(priority.harm, finding.harm, "there is nobody to make room");
}

/// The Deployment `web` and one like it, `batch`, of larger pods: a node has room for one of each.
fn two_of_a_kind() -> Scenario {
    let mut cluster = scenario(&web("400m"));
    let web = serde_json::to_string(&cluster.objects.workloads[0]).unwrap();
    let batch = web.replace("web", "batch").replace("400m", "500m");
    cluster.objects.workloads.push(serde_json::from_str(&batch).unwrap());
    cluster
}

/// A Deployment that gets a priority takes the room of another one, whichever node is lost.
#[test]
fn a_change_that_makes_others_worse_says_so() {
    let report = report_of(two_of_a_kind(), ReportOptions::default());
    let finding = finding(&report, Some("deployment/default/web"));
    let effect = |is_it: &dyn Fn(&Remedy) -> bool| {
        finding.effects.iter().find(|effect| is_it(&effect.remedy)).unwrap()
    };
    let priority = effect(&|remedy| matches!(remedy, Remedy::Priority { .. }));
    assert!(priority.harm < finding.harm);
    let all = &priority.over_all;
    assert_eq!((all.failures, all.made_worse), (2, all.tried));
    assert!(all.after > all.before, "{all:?}");
    let worse = &all.worse[0];
    assert_eq!(worse.subject.to_string(), "deployment/default/batch");
    let batch = &cell(&report, "a", &Fault::Lost, "deployment/default/batch");
    let of_a = all.worse.iter().find(|it| report.outline.domains[it.domain].name == "a").unwrap();
    assert_eq!(of_a.before, batch.harm);
    assert!(of_a.after > of_a.before);
    // One more node helps both and harms nobody: it comes first, and is tried with the other node.
    let more = effect(&|remedy| matches!(remedy, Remedy::OneMoreNode { .. }));
    assert!(matches!(finding.effects[0].remedy, Remedy::OneMoreNode { .. }));
    assert_eq!((more.over_all.tried, more.over_all.failures), (2, 2));
    assert_eq!(more.over_all.made_worse, 0, "{:?}", more.over_all);
    assert!(more.over_all.after < more.over_all.before);
}

#[test]
fn a_stateful_set_a_budget_and_a_pod_of_nobody() {
    let off = Fault::PowerOff { back_after: Span(Duration::from_secs(120)) };
    let faults = vec![Fault::Lost, Fault::Drained, off.clone()];
    let report = report_of(scenario(&db()), ReportOptions { faults, ..ReportOptions::default() });
    let gone = not_ready_after("a", 1);
    let lost = &cell(&report, "a", &Fault::Lost, "statefulset/default/db").worst;
    assert_eq!((lost.wanted, lost.least_ready, lost.stuck, lost.moved), (1, 0, 1, 0));
    assert_eq!(lost.at_zero, secs(3600 - gone));
    assert_eq!(lost.budgets_not_asked, 1);
    let debug = &cell(&report, "a", &Fault::Lost, "pod/default/debug").worst;
    assert_eq!((debug.lost, debug.evicted, debug.whole_again), (1, 1, None));
    // Down at once, started again after two minutes, and not evicted before.
    let off = &cell(&report, "a", &off, "statefulset/default/db").worst;
    assert_eq!((off.at_zero, off.evicted), (secs(122), 0));
    assert_eq!(off.whole_again, Some(secs(122)));
    // The budget holds up the drain forever; with one that lets a pod go it ends.
    let drain = finding(&report, None);
    assert_eq!(drain.what, "the drain of node a does not end within 1h0m0s");
    assert!(drain.why.contains("disruption budget"), "{}", drain.why);
    assert_eq!(report.runs.iter().filter(|run| run.drain.is_some()).count(), 2);
}

#[test]
fn what_holds_up_a_drain_and_what_lets_a_pod_go_is_found_by_running_it() {
    let options = ReportOptions { faults: vec![Fault::Drained], ..ReportOptions::default() };
    let report = report_of(scenario(&db()), options);
    let [effect] = &finding(&report, None).effects[..] else { panic!() };
    assert!(matches!(&effect.remedy, Remedy::Budget { budget } if budget.as_str() == "default/db"));
    assert!(effect.drain.as_ref().unwrap().ended.is_some());
    let lost = ReportOptions { faults: vec![Fault::Lost], ..ReportOptions::default() };
    let report = report_of(scenario(&db()), lost);
    let is_it = |remedy: &Remedy| matches!(remedy, Remedy::OutOfService { .. });
    let effects = &finding(&report, Some("statefulset/default/db")).effects;
    let taint = effects.iter().find(|effect| is_it(&effect.remedy)).unwrap();
    // The pod is gone, and its successor waits for the node that it asks for.
    assert_eq!(taint.figures.as_ref().unwrap().stuck, 0);
}

#[test]
fn parts_in_any_order_are_the_whole() {
    let options = ReportOptions {
        faults: vec![Fault::Lost, Fault::NetworkCut, Fault::ShutDown],
        seeds: 3,
        ..ReportOptions::default()
    };
    let whole = report_of(scenario(&web("300m")), options.clone());
    let mut results = Vec::new();
    for part in (0..3).rev() {
        let mut plan = Plan::new(scenario(&web("300m")), options.clone()).unwrap();
        for run in plan.runs().iter().skip(part).step_by(3) {
            let text = serde_json::to_string(&plan.run(run).unwrap()).unwrap();
            results.push(serde_json::from_str::<RunResult>(&text).unwrap());
        }
    }
    let mut plan = Plan::new(scenario(&web("300m")), options).unwrap();
    // Backwards, so that no run goes on from where another one was.
    let mut more = plan.remedies(&results);
    while !more.is_empty() {
        results.extend(more.iter().rev().map(|run| plan.run(run).unwrap()));
        more = plan.remedies(&results);
    }
    let merged = report(plan.outline(), &results).unwrap();
    let text = |report: &Report| serde_json::to_string(report).unwrap();
    assert_eq!(text(&merged), text(&whole));
    let again = cell(&whole, "a", &Fault::Lost, "deployment/default/web");
    let after: Vec<_> = (1..=3).map(|seed| secs(not_ready_after("a", seed) + 302)).collect();
    let spread = again.whole_again_spread.unwrap();
    assert_eq!(Some(&spread.min), after.iter().min());
    assert_eq!(Some(&spread.max), after.iter().max());
    // Two results of one run that differ are not of one cluster.
    let mut other = results[0].clone();
    other.evicted += 1;
    results.push(other);
    assert!(report(plan.outline(), &results).is_err());
}

/// RFC 7386: what a patch names is replaced.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    for (name, value) in patch {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(name);
        } else {
            merge(target.as_object_mut().unwrap().entry(name).or_insert(Value::Null), value);
        }
        if target[name].is_null() && value.is_object() {
            target[name] = value.clone();
        }
    }
}

/// A cluster with a change, made of its YAML as `kubectl` would make it.
fn changed_by(yaml: &str, mut scenario: Scenario) -> Scenario {
    let objects = &mut scenario.objects;
    for document in yaml.split("---\n") {
        let patch: Value = read_value(document, "", &Limits::default()).unwrap();
        let name = patch["metadata"]["name"].as_str().unwrap_or_default();
        match patch["kind"].as_str().unwrap() {
            "Deployment" | "StatefulSet" => {
                let mut workloads = objects.workloads.iter_mut();
                let workload = workloads.find(|it| it.metadata.name == name).unwrap();
                let mut object = serde_json::to_value(&*workload).unwrap();
                let spec = &patch["spec"]["template"]["spec"];
                merge(object.pointer_mut("/spec/template/spec").unwrap(), spec);
                *workload = serde_json::from_value(object).unwrap();
            }
            "PodDisruptionBudget" => {
                let mut budgets = objects.budgets.iter_mut();
                let budget = budgets.find(|it| it.metadata.name == name).unwrap();
                let mut object = serde_json::to_value(&*budget).unwrap();
                merge(&mut object, &patch);
                *budget = serde_json::from_value(object).unwrap();
            }
            "Node" => objects.nodes.push(serde_json::from_value(patch).unwrap()),
            "PriorityClass" => objects.others.push(patch),
            kind => panic!("{kind}"),
        }
    }
    scenario
}

/// The harm to each workload.
fn harms(result: &RunResult) -> BTreeMap<&ReportSubject, u64> {
    let harm = |it: &WorkloadRun| {
        it.replica_time_lost.0 / u64::try_from(it.wanted).unwrap().max(1) + it.at_zero.0
    };
    result.workloads.iter().map(|it| (&it.subject, harm(it))).collect()
}

/// Applies each change to the cluster, runs the report again, and compares all that it was said to
/// do; the kinds of changes.
fn check_effects(cluster: &Scenario, faults: &[Fault]) -> BTreeSet<&'static str> {
    let options = ReportOptions { faults: faults.to_vec(), ..ReportOptions::default() };
    let report = report_of(cluster.clone(), options.clone());
    // The failures by name: a cluster with one more node has others.
    let run_again = |cluster: Scenario| -> BTreeMap<(String, Fault), RunResult> {
        let options = ReportOptions { remedies: 0, ..options.clone() };
        let mut plan = Plan::new(cluster, options).unwrap();
        let domains = plan.outline().domains.clone();
        let results = all_runs(&mut plan).into_iter();
        let named = |it: &RunResult| (domains[it.run.domain].name.clone(), it.run.fault.clone());
        results.map(|it| (named(&it), it)).collect()
    };
    let plain = run_again(cluster.clone());
    let mut kinds = BTreeSet::new();
    for finding in &report.findings {
        let own = |it: &RunResult| {
            let mut figures = it.workloads.iter();
            figures.find(|it| Some(&it.subject) == finding.subject.as_ref()).cloned()
        };
        let harm = |it: &RunResult| {
            let subject = finding.subject.as_ref();
            subject.and_then(|subject| harms(it).get(subject).copied()).unwrap_or_default()
        };
        let is_reached = |it: &&RunResult| match &it.drain {
            Some(drain) if finding.subject.is_none() => {
                drain.ended.is_none() && drain.error.as_ref() == Some(&finding.why)
            }
            _ => own(it).is_some(),
        };
        // That of the finding, then the others as they harm the workload.
        let mut reached: Vec<&RunResult> = plain.values().filter(is_reached).collect();
        reached.sort_by_key(|it| (it.run != finding.run, Reverse(harm(it)), &it.run));
        assert_eq!(reached[0].run, finding.run);
        let mut most_tried = 0;
        for effect in &finding.effects {
            kinds.insert(match &effect.remedy {
                // It is no change of the cluster before anything fails.
                Remedy::OutOfService { .. } => continue,
                Remedy::TolerationSeconds { .. } => "tolerationSeconds",
                Remedy::Spread { .. } => "spread",
                Remedy::OneMoreNode { .. } => "node",
                Remedy::Priority { .. } => "priority",
                Remedy::Budget { .. } => "budget",
            });
            let what = &effect.what;
            let changed = run_again(changed_by(&effect.yaml, cluster.clone()));
            let changed = |it: &RunResult| {
                let name = report.outline.domains[it.run.domain].name.clone();
                &changed[&(name, it.run.fault.clone())]
            };
            assert_eq!(own(changed(reached[0])), effect.figures, "{what}");
            assert_eq!(changed(reached[0]).drain, effect.drain, "{what}");
            let all = &effect.over_all;
            assert_eq!(all.failures, reached.len(), "{what}");
            let (mut before, mut after, mut worse) = (0, 0, Vec::new());
            for plain in &reached[..all.tried] {
                let (old, new) = (harms(plain), harms(changed(plain)));
                before += old.values().sum::<u64>();
                after += new.values().sum::<u64>();
                for (subject, now) in new {
                    let then = old.get(subject).copied().unwrap_or_default();
                    if now > then {
                        worse.push((now - then, subject.clone(), then, now));
                    }
                }
            }
            assert_eq!((all.before, all.after), (Millis(before), Millis(after)), "{what}");
            assert_eq!(all.made_worse, worse.len(), "{what}");
            worse.sort_by_key(|(more, ..)| Reverse(*more));
            let said = all.worse.iter().map(|it| (it.subject.clone(), it.before.0, it.after.0));
            let first = worse.into_iter().take(5).map(|(_, subject, old, new)| (subject, old, new));
            assert_eq!(said.collect::<BTreeSet<_>>(), first.collect(), "{what}");
            most_tried = most_tried.max(all.tried);
        }
        if !finding.effects.is_empty() {
            assert_eq!(most_tried, reached.len().min(5), "what helps most, in four others");
        }
    }
    kinds
}

#[test]
fn each_change_does_what_it_is_said_to_do() {
    let all = ["node", "priority", "spread", "tolerationSeconds"];
    let [elsewhere, nowhere] = [web("300m"), web("800m")].map(|text| scenario(&text));
    let faults = [Fault::Lost, Fault::NetworkCut, Fault::ShutDown];
    assert_eq!(check_effects(&elsewhere, &faults), ["spread", "tolerationSeconds"].into());
    assert_eq!(check_effects(&nowhere, &faults[..2]), all.into());
    assert_eq!(check_effects(&two_of_a_kind(), &[Fault::Lost]), all.into());
    assert_eq!(check_effects(&scenario(&db()), &[Fault::Drained]), ["budget"].into());
}

/// The out-of-service taint of the YAML, put on the node a minute after it was lost.
#[test]
fn the_taint_of_a_node_that_is_out_of_service_does_what_it_is_said_to_do() {
    let selector = "nodeSelector: {kubernetes.io/hostname: a}, ";
    let mut cluster = scenario(&db().replace(selector, "").replace("replicas: 1", "replicas: 2"));
    cluster.objects.pods.clear();
    let mut plan = Plan::new(cluster, ReportOptions::default()).unwrap();
    let results = all_runs(&mut plan);
    let report = report(plan.outline(), &results).unwrap();
    let finding = finding(&report, Some("statefulset/default/db"));
    let is_it = |effect: &&Effect| matches!(effect.remedy, Remedy::OutOfService { .. });
    let effect = finding.effects.iter().find(is_it).unwrap();
    let patch: Value = read_value(&effect.yaml, "", &Limits::default()).unwrap();
    let taint: Taint = serde_json::from_value(patch["spec"]["taints"][0].clone()).unwrap();
    let db = WorkloadKey::parse("statefulset/default/db").unwrap();
    let runs = plan.runs();
    // The time without one of the two pods; there is always the other.
    let mut harm = |run: &Run, taint: Option<&Taint>| {
        let (played, at) = plan.scenario_of(run).unwrap();
        let end = at.saturating_add(Duration::from_secs(3600));
        let mut simulator = played.simulator().unwrap();
        let after = |step: &Step| (step.at.timestamp(), step.command.clone());
        let mut steps: VecDeque<_> = played.steps.iter().map(after).collect();
        let node = plan.outline().domains[run.domain].nodes[0].clone();
        if let Some(taint) = taint.cloned() {
            let at = at.saturating_add(Duration::from_secs(60));
            steps.push_back((at, Command::Taint { node, taint }));
        }
        let (mut now, mut ready, mut missing) = (Timestamp::ZERO, 2, Duration::ZERO);
        while now < end {
            let step = steps.front().map(|(at, _)| *at);
            let next = simulator.poll_timeout().map(|next| next.at);
            let next = next.into_iter().chain(step).chain([end]).min().unwrap();
            if next > at {
                let length = next.since_zero().saturating_sub(now.max(at).since_zero());
                missing += length * (2 - ready);
            }
            if let Some((_, command)) = steps.pop_front_if(|(at, _)| *at <= next) {
                simulator.handle_command(next, command).unwrap();
            }
            simulator.advance_to(next).unwrap();
            simulator.drain_events();
            now = next;
            ready = u32::try_from(simulator.cluster().ready_pods(&db)).unwrap();
        }
        u64::try_from(missing.as_millis() / 2).unwrap()
    };
    let all = &effect.over_all;
    let mut sum = |taint| Millis(runs.iter().map(|run| harm(run, taint)).sum());
    assert_eq!((all.tried, all.failures, all.made_worse), (2, 2, 0));
    assert_eq!((all.before, all.after), (sum(None), sum(Some(&taint))));
    assert!(all.after < all.before);
}

#[test]
fn options_that_cannot_be_are_refused() {
    for (options, expected) in [
        (ReportOptions { seeds: 0, ..ReportOptions::default() }, "seeds: expected 1 to 1000"),
        (ReportOptions { faults: vec![], ..ReportOptions::default() }, "faults: expected at least"),
        (
            ReportOptions { labels: vec!["rack".into()], ..ReportOptions::default() },
            "labels: no node has the label `rack`",
        ),
        (
            ReportOptions { faults: vec![Fault::Lost, Fault::Lost], ..ReportOptions::default() },
            "faults: `lost` is given twice",
        ),
    ] {
        let error = Plan::new(scenario(&web("300m")), options).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
