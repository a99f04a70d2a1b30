//! The reports of three small clusters, worked out by hand.
//!
//! The clusters come to rest within 10 s, so that the fault comes at 10 s. A kubelet renewed its
//! lease last at its phase, between 0 and 10 s; the pass at 5 s or the one at 10 s saw that. With a
//! grace period of 50 s the node is not ready at 60 s or at 65 s: 50 s or 55 s after the fault. Its
//! NoExecute taint comes with the next pass, 5 s later, and pods are deleted 300 s after that.

use std::time::Duration;

use taintlab_core::command::Command;
use taintlab_core::kubelet::heartbeat::KubeletSettings;
use taintlab_core::report::{
    Cell, Domain, Effect, Fault, Finding, Millis, Plan, Remedy, Report, ReportOptions,
    ReportSource, RunResult, report,
};
use taintlab_core::scenario::{Scenario, Step};
use taintlab_core::simulator::HealthPassTime;
use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::{ImportOptions, import};

const NODES: &str = r#"
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {kubernetes.io/hostname: a}},
 status: {allocatable: {cpu: "1", pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {kubernetes.io/hostname: b}},
 status: {allocatable: {cpu: "1", pods: "10"}}}
"#;

/// A Deployment `web` of two pods, one on each node.
pub(super) fn web(cpu: &str) -> String {
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
pub(super) fn db() -> String {
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
pub(super) fn scenario(text: &str) -> Scenario {
    let import = import(text, "cluster.yaml", ImportOptions::default());
    assert!(!import.has_errors(), "{:?}", import.diagnostics);
    let mut scenario = import.into_scenario(Scenario::default());
    scenario.kubernetes.health_pass = Some(HealthPassTime::default());
    scenario
}

pub(super) fn all_runs(plan: &mut Plan) -> Vec<RunResult> {
    let (mut results, mut runs) = (Vec::new(), plan.runs());
    while !runs.is_empty() {
        results.extend(runs.iter().map(|run| plan.run(run).unwrap()));
        runs = plan.remedies(&results);
    }
    results
}

pub(super) fn report_of(scenario: Scenario, options: ReportOptions) -> Report {
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

pub(super) fn finding<'a>(report: &'a Report, subject: Option<&str>) -> &'a Finding {
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
    assert_eq!(report.workloads[0].score, Some(97));
    assert_eq!(
        report.workloads[0].arithmetic,
        "node a lost: 5m2s missing over all pods / 2 wanted + 0s with none = 2m31s; \
         100 − 100 × 2m31s / (2 × 1h0m0s) = 97"
    );
    assert_eq!(report.score.as_ref().unwrap().score, 97);
    assert_eq!(
        report.verdict.as_deref(),
        Some("Losing any one node is survived by the only workload.")
    );

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
        let alarm =
            all.find(|it| it.seconds == seconds && it.outage.0.as_secs() == outage).unwrap();
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
pub(super) fn two_of_a_kind() -> Scenario {
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
    let finding = finding(&report, Some("deployment/default/batch"));
    let effect = |is_it: &dyn Fn(&Remedy) -> bool| {
        finding.effects.iter().find(|effect| is_it(&effect.remedy)).unwrap()
    };
    let priority = effect(&|remedy| matches!(remedy, Remedy::Priority { .. }));
    assert!(priority.harm < finding.harm);
    let all = &priority.over_all;
    assert_eq!((all.failures, all.made_worse), (2, all.tried));
    assert!(all.after > all.before, "{all:?}");
    let worse = &all.worse[0];
    assert_eq!(worse.subject.to_string(), "deployment/default/web");
    let web = &cell(&report, "a", &Fault::Lost, "deployment/default/web");
    let of_a = all.worse.iter().find(|it| report.outline.domains[it.domain].name == "a").unwrap();
    assert_eq!(of_a.before, web.harm);
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

/// One node, or a zone that has all of them, is the worst that can fail.
#[test]
fn what_has_all_nodes_fails_too() {
    let mut cluster = scenario(&web("300m"));
    cluster.objects.nodes.truncate(1);
    let one = report_of(cluster, ReportOptions::default());
    assert_eq!(one.runs_made, 1);
    let web = &cell(&one, "a", &Fault::Lost, "deployment/default/web").worst;
    let gone = not_ready_after("a", 1);
    assert_eq!((web.least_ready, web.at_zero), (0, secs(3600 - gone)));
    assert_eq!(
        one.verdict.as_deref(),
        Some(
            "Losing node a is not survived by web. \
             Within 1h0m0s not whole again after some failure: web."
        )
    );
    let score = one.score.as_ref().unwrap();
    assert_eq!((score.score, score.arithmetic.as_str()), (1, "the score of the only workload"));
    // A second node is what helps.
    let effects = &finding(&one, Some("deployment/default/web")).effects;
    assert_eq!(effects[0].what, "one more node like a");
    assert!(effects[0].helps);

    let zone = "labels: {topology.kubernetes.io/zone: east, topology.kubernetes.io/region: eu, ";
    let all = report_of(scenario(&super_web(zone)), ReportOptions::default());
    let domains: Vec<_> = all.outline.domains.iter().map(Domain::to_string).collect();
    assert_eq!(domains, ["node a", "node b", "zone eu/east", "region eu"]);
    // The region has the nodes of the zone: one run is both.
    assert_eq!(all.outline.domains[3].same_nodes_as, Some(2));
    assert_eq!((all.runs_made, all.runs_planned), (3, 3));
    let [zone, region] = ["eu/east", "eu"]
        .map(|name| cell(&all, name, &Fault::Lost, "deployment/default/web").worst.clone());
    assert_eq!(zone, region);
    assert_eq!(
        all.verdict.unwrap(),
        "Losing any one node is survived by the only workload; losing zone eu/east, \
         which has all nodes, is not: web."
    );
    // It would be the worst of every workload: what counts is the loss of a part.
    assert_eq!(all.score.unwrap().score, 97);
    let last = all.failures.last().unwrap();
    assert_eq!((last.domain, last.harmed, last.down.len()), (3, 1, 1));
    assert!(all.outline.domains[3].whole_cluster && !all.outline.domains[1].whole_cluster);
}

/// The Deployment `web`, whose nodes have more labels.
fn super_web(labels: &str) -> String {
    web("300m").replace("labels: {kubernetes", &format!("{labels}kubernetes"))
}

/// They end with their node and come back with it, whoever else asks for them.
#[test]
fn static_pods_belong_to_their_node() {
    let mirror = |name: &str, more: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: kube-system, \
             {more}}}, spec: {{nodeName: a, tolerations: [{{operator: Exists}}]}}}}\n"
        )
    };
    let text = web("300m")
        + &mirror("etcd-a", "annotations: {kubernetes.io/config.mirror: abc}")
        + &mirror(
            "kube-proxy-a",
            "ownerReferences: [{apiVersion: v1, kind: Node, name: a, uid: u, controller: true}]",
        );
    let report = report_of(scenario(&text), ReportOptions::default());
    assert_eq!(report.outline.pods, 4);
    let subjects: Vec<_> = report.outline.subjects.iter().map(ToString::to_string).collect();
    assert_eq!(subjects, ["deployment/default/web"]);
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.score.unwrap().score, 97);
}

#[test]
fn a_report_of_nothing_has_no_score() {
    let missing = |cluster: Scenario, options: ReportOptions| {
        let report = report_of(cluster, options);
        assert!(report.score.is_none() && report.verdict.is_none(), "{:?}", report.score);
        report.missing
    };
    let default = ReportOptions::default;
    let none = missing(Scenario::default(), default());
    assert_eq!(none[0], "the cluster has no node: nothing can fail");
    assert_eq!(none[1], "the cluster has no workload: nothing can be harmed");
    let nodes = scenario(NODES);
    assert_eq!(missing(nodes, default()), ["the cluster has no workload: nothing can be harmed"]);
    let off = ReportOptions { nodes: false, ..default() };
    assert_eq!(
        missing(scenario(&web("300m")), off),
        ["no node is in a failure domain of the kinds that were asked for"]
    );
    // No pod has room.
    let all = missing(scenario(&web("3")), default());
    assert_eq!(all, ["no workload has a ready pod before anything fails"]);
    // Half of the runs.
    let mut plan = Plan::new(scenario(&web("300m")), default()).unwrap();
    let half = [plan.run(&plan.runs()[0]).unwrap()];
    let half = report(plan.outline(), &half).unwrap();
    assert_eq!(half.missing, ["only 1 of 2 runs were made"]);
    assert!(half.score.is_none() && half.verdict.is_none());
}

/// Which node of a zone is tainted first is free upstream: the notes say how far apart the first and
/// the last can be, at the rate that is set.
#[test]
fn a_report_says_how_far_apart_nodes_of_a_zone_are_tainted() {
    let zones = |zones: &[&str]| {
        let node = |(number, zone): (usize, &&str)| {
            format!(
                "---\napiVersion: v1\nkind: Node\nmetadata: {{name: n{number}, labels: \
                 {{topology.kubernetes.io/zone: {zone}}}}}\n"
            )
        };
        zones.iter().enumerate().map(node).collect::<String>()
    };
    let noted = |nodes: &str, rate: Option<&str>, fault: Fault| {
        let mut cluster = scenario(nodes);
        if let Some(rate) = rate {
            let flags = &mut cluster.kubernetes.controller_manager_flags;
            flags.insert("node-eviction-rate".into(), rate.into());
        }
        let options =
            ReportOptions { faults: vec![fault], remedies: 0, ..ReportOptions::default() };
        let report = report_of(cluster, options);
        report.notes.into_iter().find(|note| note.contains("Go map"))
    };
    let three = zones(&["a", "a", "a", "b", "b"]);
    assert_eq!(
        noted(&three, None, Fault::Lost).unwrap(),
        "nodes of a zone that fail together are tainted one by one, in the order of a Go map \
         upstream and here by name: each up to 20s earlier or later (--node-eviction-rate)"
    );
    assert!(noted(&three, Some("0.2"), Fault::Lost).unwrap().contains("up to 10s "));
    assert_eq!(noted(&three, Some("0"), Fault::Lost), None);
    assert_eq!(noted(&three, None, Fault::Drained), None);
    assert_eq!(noted(&zones(&["a", "b", "c"]), None, Fault::Lost), None);
    // A total outage taints nobody.
    assert_eq!(noted(&zones(&["a", "a", "a"]), None, Fault::Lost), None);
}

/// What is only said of nodes whose containers may run on.
#[test]
fn it_is_said_that_the_pods_of_a_lost_node_count_for_a_while() {
    let notes = |fault: Fault| -> Vec<String> {
        let options =
            ReportOptions { faults: vec![fault], remedies: 0, ..ReportOptions::default() };
        report_of(scenario(&web("300m")), options).notes
    };
    let is_note = |note: &String| note.starts_with("lost: whether the containers of the node run");
    assert!(notes(Fault::Lost).iter().any(is_note));
    assert!(notes(Fault::NetworkCut).iter().any(is_note));
    let back_after = Span(Duration::from_secs(300));
    for fault in [Fault::PowerOff { back_after }, Fault::ShutDown, Fault::Drained] {
        assert!(!notes(fault).iter().any(is_note));
    }
    assert!(notes(Fault::Drained).iter().any(|note| note.starts_with("harm: the time without")));
}

#[test]
fn a_report_says_which_cluster_it_is_about_and_what_was_lost_before() {
    let step = Step {
        at: Span(Duration::from_secs(1)),
        command: Command::StopKubelet { node: "b".into() },
        refused: None,
    };
    let mut cluster = scenario(&web("800m"));
    cluster.steps.push(step);
    let source = ReportSource {
        context: Some("prod".into()),
        server: Some("v1.37.2".into()),
        namespace: Some("shop".into()),
        not_read: vec!["poddisruptionbudgets: forbidden".into()],
    };
    let after = Some(Span(Duration::from_secs(60)));
    let options = ReportOptions { after, source, remedies: 0, ..ReportOptions::default() };
    let later = report_of(cluster.clone(), options);
    let outline = &later.outline;
    assert_eq!(outline.lost_already, ["b".into()]);
    assert_eq!((outline.short_already[0].ready, outline.short_already[0].desired), (1, 2));
    assert_eq!(
        &later.notes[1..5],
        [
            "before anything fails: b is not ready",
            "before anything fails: deployment/default/web has 1 of 2 pods ready",
            "not read: poddisruptionbudgets: forbidden",
            "room on nodes is overstated: pods of other namespaces were not read",
        ]
    );
    let version = &outline.version;
    assert_eq!(
        later.heading,
        format!(
            "prod {} after its beginning: 2 nodes, 3 pods, Kubernetes {} (API server v1.37.2), \
             Taintlab {version}",
            outline.options.after.unwrap_or_default(),
            outline.release
        )
    );
    let options = ReportOptions { remedies: 0, ..ReportOptions::default() };
    let before = report_of(cluster.clone(), options.clone());
    assert_eq!(before.outline.cluster.digest, outline.cluster.digest);
    assert!(!before.outline.cluster.is_same(&outline.cluster), "it has another name");
    // What is edited on the way is the same cluster; another one is another.
    cluster.steps.clear();
    let same = report_of(cluster.clone(), options.clone());
    assert!(before.outline.cluster.is_same(&same.outline.cluster));
    cluster.objects.workloads[0].metadata.name = "api".into();
    let other = report_of(cluster, options);
    assert!(!before.outline.cluster.is_same(&other.outline.cluster));
}

/// Five Deployments that differ in their names: one group, and what would help is tried for one.
#[test]
fn findings_of_one_cause_are_one_group() {
    let mut cluster = scenario(&web("80m"));
    let web = serde_json::to_string(&cluster.objects.workloads[0]).unwrap();
    for number in 1..5 {
        let other = web.replace("web", &format!("web{number}"));
        cluster.objects.workloads.push(serde_json::from_str(&other).unwrap());
    }
    let report = report_of(cluster, ReportOptions::default());
    assert_eq!(report.findings.len(), 5);
    let members: usize = report.groups.iter().map(|group| group.findings.len()).sum();
    assert_eq!(members, 5);
    assert!(report.groups.len() <= 2, "{:?}", report.groups);
    for group in &report.groups {
        let harms = group.findings.iter().map(|index| report.findings[*index].harm.0);
        assert_eq!(group.harm, Millis(harms.sum()));
        // Of the others it is known what a change does that was tried for the first.
        let own = |index: &usize| {
            let effects = report.findings[*index].effects.iter();
            effects.filter(|it| it.what.contains("deployment/")).count()
        };
        assert!(own(&group.findings[0]) > 0);
        assert!(group.findings[1..].iter().all(|index| own(index) == 0), "{:?}", group.what);
    }
    let score = report.score.unwrap();
    let sum: u32 = report.workloads.iter().filter_map(|it| it.score).sum();
    assert_eq!(score.score, sum / 5);
    assert!(
        score.arithmetic.starts_with(&format!("mean of 5 workload scores: {sum} / 5 = ")),
        "{}",
        score.arithmetic
    );
}

/// The settled cluster of *gpu-pool-in-quarantine*: two pods have the GPUs of one node, one pod that
/// of another. Their claims tolerate nothing.
#[test]
fn pools_of_devices_fail_where_pods_have_some() {
    let all = crate::scenarios::examples::scenarios();
    let (_, scenario) = all.into_iter().find(|(name, _)| name == "gpu-pool-in-quarantine").unwrap();
    let only = |devices: bool| ReportOptions {
        nodes: false,
        zones: false,
        device_pools: devices,
        ..ReportOptions::default()
    };
    let report = report_of(scenario.clone(), only(true));
    let rows: Vec<_> = report.rows.iter().map(|row| (row.name.as_str(), row.harmed)).collect();
    assert_eq!(
        rows,
        [
            ("device pool gpu.example.com/worker-1 tainted by its driver", 2),
            ("device pool gpu.example.com/worker-2 tainted by its driver", 1),
        ]
    );
    let domains = report.outline.domains.iter().map(|it| (it.pods, it.nodes.len()));
    assert_eq!(domains.collect::<Vec<_>>(), [(2, 1), (1, 1)]);
    let train =
        cell(&report, "gpu.example.com/worker-1", &Fault::DevicesTainted, "pod/team-a/train");
    assert_eq!((train.worst.evicted, train.worst.lost), (1, 1));

    // The scenario of a run has the slice with its taints, and shows the same.
    let mut plan = Plan::new(scenario.clone(), only(true)).unwrap();
    let run = plan.runs().into_iter().find(|run| run.domain == 0).unwrap();
    let (played, at) = plan.scenario_of(&run).unwrap();
    let step = played.steps.last().unwrap();
    assert!(
        matches!(&step.command, Command::UpdateDeviceObject(slice)
        if slice.metadata.name == "worker-1-gpu"),
        "{step:?}"
    );
    let simulator = played.run().unwrap().simulator;
    let evictions: Vec<_> = simulator.evictions().map(|(pod, _)| pod.to_string()).collect();
    assert_eq!(evictions, ["team-a/train", "team-b/serve"]);
    assert!(simulator.evictions().all(|(_, evicted)| evicted == at));

    // They are left out on request, and where devices have no taints.
    assert!(report_of(scenario.clone(), only(false)).rows.is_empty());
    let mut without = scenario;
    without.kubernetes.feature_gates.insert("DRADeviceTaints".into(), false);
    assert!(report_of(without, only(true)).rows.is_empty());
    let named = ReportOptions { faults: vec![Fault::DevicesTainted], ..ReportOptions::default() };
    let plain = taintlab_core::scenario::Scenario::default();
    assert!(Plan::new(plain, named).unwrap_err().to_string().contains("device pools"));
}

/// A Service of the pods of `web`.
const SERVICE: &str = "---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: default}, spec: {MORE selector: \
                       {app: web}}}
";

#[test]
fn a_service_sends_connections_to_a_dead_node_until_its_pods_are_not_ready() {
    let report = |service: &str, fault: Fault| {
        let text = web("400m") + service;
        let options =
            ReportOptions { faults: vec![fault], remedies: 0, ..ReportOptions::default() };
        report_of(scenario(&text), options)
    };
    let dead = |service: &str, fault: &Fault| {
        let report = report(service, fault.clone());
        cell(&report, "a", fault, "deployment/default/web").worst.dead_endpoints
    };
    let service = SERVICE.replace("MORE", "");
    let seconds = not_ready_after("a", 1);
    assert_eq!(dead(&service, &Fault::Lost), Millis(seconds * 1000));
    assert_eq!(dead(&service, &Fault::NetworkCut), Millis(seconds * 1000));
    // Nobody asks for it, or for other pods, or in another namespace.
    assert_eq!(dead("", &Fault::Lost), Millis(0));
    assert_eq!(dead(&service.replace("app: web", "app: db"), &Fault::Lost), Millis(0));
    let elsewhere = service.replace("namespace: default", "namespace: other");
    assert_eq!(dead(&elsewhere, &Fault::Lost), Millis(0));
    // A node that answers, and one that does so again after 20 s.
    assert_eq!(dead(&service, &Fault::Drained), Millis(0));
    let off = Fault::PowerOff { back_after: Span(Duration::from_secs(20)) };
    assert_eq!(dead(&service, &off), Millis(20_000));
    // Endpoints that are ready whatever their pods are stay until the pod is gone, which it is not.
    let always = SERVICE.replace("MORE", "publishNotReadyAddresses: true,");
    assert_eq!(dead(&always, &Fault::Lost), Millis(60 * 60 * 1000));

    let report = report(&service, Fault::Lost);
    let finding = finding(&report, Some("deployment/default/web"));
    let said = format!(", connections to a dead node for {}", Millis(seconds * 1000));
    assert!(finding.what.ends_with(&said), "{}", finding.what);
    let cell = cell(&report, "a", &Fault::Lost, "deployment/default/web");
    assert!(cell.worst.to_string().contains(&said), "{}", cell.worst);
    let json = serde_json::to_value(&cell.worst).unwrap();
    assert_eq!(json["deadEndpoints"], seconds * 1000);
}
