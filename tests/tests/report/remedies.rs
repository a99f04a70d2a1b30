//! Each change does what it is said to do: it is made by its own YAML or command, as `kubectl` would
//! make it, and the report of the changed cluster has the same figures.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use taintlab_core::api::{NodeName, Taint};
use taintlab_core::command::Command;
use taintlab_core::report::{
    DomainKind, DomainList, Effect, Fault, Finding, MadeWorse, Millis, Plan, Remedy, ReportOptions,
    ReportSubject, Run, RunResult, WorkloadRun, report,
};
use taintlab_core::scenario::{Scenario, Step};
use taintlab_core::time::Timestamp;
use taintlab_manifest::{Limits, read_value};

use super::worked_examples::{all_runs, db, finding, report_of, scenario, two_of_a_kind, web};
use taintlab_tests::dice::Dice;

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

const CONSTRAINTS: &str = "topologySpreadConstraints";

/// The constraints of a pod after a patch: an item takes the place of the one with its key, as
/// `kubectl apply` merges it (by `topologyKey`) or the API server (by `whenUnsatisfiable` as well).
fn merged_constraints(spec: &Value, patch: &Value, keys: &[&str]) -> Vec<Value> {
    let mut all = spec[CONSTRAINTS].as_array().cloned().unwrap_or_default();
    for item in patch[CONSTRAINTS].as_array().into_iter().flatten() {
        match all.iter_mut().find(|old| keys.iter().all(|key| old[key] == item[key])) {
            Some(old) => merge(old, item),
            None => all.push(item.clone()),
        }
    }
    all
}

/// A cluster with a change, made as `kubectl` would make it.
fn changed_by(yaml: &str, mut scenario: Scenario) -> Scenario {
    let objects = &mut scenario.objects;
    let read = |text: &str| -> Value { read_value(text, "", &Limits::default()).unwrap() };
    // A patch of the command line replaces lists.
    let command = yaml.strip_prefix("kubectl patch ").map(|rest| {
        let (line, patch) = rest.split_once('\n').unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let [kind, name, "--namespace", _, "--type", "merge", "--patch-file", _, "<<'EOF'"] =
            words[..]
        else {
            panic!("{line}")
        };
        (kind, name, read(patch.strip_suffix("EOF\n").unwrap()))
    });
    if let Some((kind, name, patch)) = command {
        let mut workloads = objects.workloads.iter_mut();
        let is_it = |kind_of: &str| kind_of.eq_ignore_ascii_case(kind);
        let workload =
            workloads.find(|it| it.metadata.name == name && is_it(it.kind.as_str())).unwrap();
        let mut object = serde_json::to_value(&*workload).unwrap();
        merge(&mut object, &patch);
        *workload = serde_json::from_value(object).unwrap();
        return scenario;
    }
    for document in yaml.split("---\n") {
        let patch = read(document);
        let name = patch["metadata"]["name"].as_str().unwrap_or_default();
        match patch["kind"].as_str().unwrap() {
            "Deployment" | "StatefulSet" => {
                let mut workloads = objects.workloads.iter_mut();
                let workload = workloads.find(|it| it.metadata.name == name).unwrap();
                let mut object = serde_json::to_value(&*workload).unwrap();
                let spec = object.pointer_mut("/spec/template/spec").unwrap();
                let patch = &patch["spec"]["template"]["spec"];
                if patch[CONSTRAINTS].is_array() {
                    let strategic = merged_constraints(spec, patch, &["topologyKey"]);
                    let keys = ["topologyKey", "whenUnsatisfiable"];
                    assert_eq!(merged_constraints(spec, patch, &keys), strategic, "{yaml}");
                    spec[CONSTRAINTS] = strategic.into();
                } else {
                    merge(spec, patch);
                }
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

/// A changed cluster, in which failures are run as they are asked for.
struct Changed {
    plan: Plan,
    results: BTreeMap<Run, RunResult>,
}

impl Changed {
    fn new(cluster: Scenario, options: &ReportOptions) -> Self {
        let options = ReportOptions { remedies: 0, ..options.clone() };
        Self { plan: Plan::new(cluster, options).unwrap(), results: BTreeMap::new() }
    }

    /// By its name: a cluster with one more node has other domains.
    fn domain(&self, name: &str) -> usize {
        let mut domains = self.plan.outline().domains.iter();
        domains.position(|domain| domain.to_string() == name).unwrap()
    }

    fn nodes(&self, name: &str) -> &[NodeName] {
        &self.plan.outline().domains[self.domain(name)].nodes
    }

    fn run(&mut self, name: &str, fault: &Fault) -> RunResult {
        let domain = self.domain(name);
        // Domains of the same nodes share their runs.
        let domain = self.plan.outline().domains[domain].same_nodes_as.unwrap_or(domain);
        let run = Run { remedy: None, seed: 1, fault: fault.clone(), domain };
        let made = self.results.entry(run);
        made.or_insert_with_key(|run| self.plan.run(run).unwrap()).clone()
    }
}

/// Of a remedy its kind, and of what failed the kind of the domain.
type Checked = BTreeSet<(&'static str, DomainKind)>;

/// Applies each change to the cluster, runs the report again, and compares all that it was said to
/// do: which kinds of changes in which kinds of domains.
fn check_effects(cluster: &Scenario, options: &ReportOptions) -> Checked {
    let mut plan = Plan::new(cluster.clone(), options.clone()).unwrap();
    let results = all_runs(&mut plan);
    let report = report(plan.outline(), &results).unwrap();
    let domains = &report.outline.domains;
    let runs: BTreeSet<Run> = plan.runs().into_iter().collect();
    let made: BTreeSet<Run> = results.iter().map(|it| it.run.clone()).collect();
    let plain: Vec<RunResult> = results.into_iter().filter(|it| runs.contains(&it.run)).collect();
    let mut checked = Checked::new();
    let mut changed_by_yaml: BTreeMap<&str, Changed> = BTreeMap::new();
    let groups = report.groups.iter().take(options.remedies);
    let judged: BTreeSet<usize> = groups.map(|group| group.findings[0]).collect();
    for (index, finding) in report.findings.iter().enumerate() {
        let own = |it: &RunResult| {
            let mut figures = it.workloads.iter();
            figures.find(|it| Some(&it.subject) == finding.subject.as_ref()).cloned()
        };
        let harm = |it: &RunResult| {
            let subject = finding.subject.as_ref();
            subject.and_then(|subject| harms(it).get(subject).copied()).unwrap_or_default()
        };
        let is_reached = |it: &&RunResult| match &it.drain {
            _ if domains[it.run.domain].whole_cluster => false,
            Some(drain) if finding.subject.is_none() => {
                drain.ended.is_none() && drain.error.as_ref() == Some(&finding.why)
            }
            _ => own(it).is_some(),
        };
        let reached: Vec<&RunResult> = plain.iter().filter(is_reached).collect();
        let mut most_tried = false;
        for effect in &finding.effects {
            let kind = match &effect.remedy {
                Remedy::OutOfService { .. } => "out of service",
                Remedy::TolerationSeconds { .. } => "tolerationSeconds",
                Remedy::Spread { .. } => "spread",
                Remedy::OneMoreNode { .. } => "node",
                Remedy::Priority { .. } => "priority",
                Remedy::Budget { .. } => "budget",
            };
            let (what, all) = (&effect.what, &effect.over_all);
            checked.insert((kind, domains[finding.run.domain].kind));
            // It is no change of the cluster before anything fails.
            if matches!(effect.remedy, Remedy::OutOfService { .. }) {
                assert_eq!(all.failures, reached.len(), "{what}");
                most_tried |= all.tried >= all.failures.min(5);
                check_out_of_service(&mut plan, finding, effect);
                continue;
            }
            let changed = changed_by_yaml.entry(&effect.yaml).or_insert_with(|| {
                Changed::new(changed_by(&effect.yaml, cluster.clone()), options)
            });
            // A run is that of all domains of the same nodes. They are several failures where they
            // are several domains in the changed cluster: each is run there by its own name.
            let mut failures: Vec<(&RunResult, Run)> = Vec::new();
            for plain in &reached {
                let mut nodes = BTreeSet::new();
                for (domain, it) in domains.iter().enumerate() {
                    let run = &plain.run;
                    let shares = domain == run.domain || it.same_nodes_as == Some(run.domain);
                    if shares && nodes.insert(changed.nodes(&it.to_string()).to_vec()) {
                        failures.push((plain, Run { domain, ..run.clone() }));
                    }
                }
            }
            // That of the finding, then the others as they harm the workload.
            failures.sort_by_key(|(plain, run)| {
                (*run != finding.run, Reverse(harm(plain)), run.clone())
            });
            assert_eq!(failures[0].1, finding.run);
            assert_eq!(all.failures, failures.len(), "{what}");
            let result = changed.run(&domains[finding.run.domain].to_string(), &finding.run.fault);
            assert_eq!(own(&result), effect.figures, "{what}");
            assert_eq!(result.drain, effect.drain, "{what}");
            // A change may have been tried in more of them, for another finding.
            let is_tried = |(_, run): &&(&RunResult, Run)| {
                made.contains(&Run { remedy: Some(effect.remedy.clone()), ..run.clone() })
            };
            most_tried |= failures.iter().take(5).all(|it| is_tried(&it));
            let tried: Vec<_> = failures.iter().filter(is_tried).collect();
            assert_eq!(all.tried, tried.len(), "{what}");
            if !judged.contains(&index) {
                continue;
            }
            let (mut before, mut after, mut worse) = (0, 0, Vec::new());
            for (plain, run) in tried {
                checked.insert((kind, domains[run.domain].kind));
                let result = changed.run(&domains[run.domain].to_string(), &run.fault);
                let (old, new) = (harms(plain), harms(&result));
                before += old.values().sum::<u64>();
                after += new.values().sum::<u64>();
                for (subject, now) in new {
                    let then = old.get(subject).copied().unwrap_or_default();
                    if now > then {
                        worse.push((now - then, run.domain, subject.clone(), then, now));
                    }
                }
            }
            assert_eq!((all.before, all.after), (Millis(before), Millis(after)), "{what}");
            assert_eq!(all.made_worse, worse.len(), "{what}");
            let more = |it: &MadeWorse| it.after.0 - it.before.0;
            for it in &all.worse {
                let subject = it.subject.clone();
                let one = (more(it), it.domain, subject, it.before.0, it.after.0);
                assert!(worse.contains(&one), "{what}: {one:?}");
            }
            worse.sort_by_key(|(more, ..)| Reverse(*more));
            let most = worse.iter().take(5).map(|(more, ..)| *more);
            assert_eq!(all.worse.iter().map(more).collect::<Vec<_>>(), most.collect::<Vec<_>>());
        }
        if judged.contains(&index) && finding.effects.iter().any(|effect| effect.helps) {
            assert!(most_tried, "what helps most, in four others: {}", finding.what);
        }
    }
    checked
}

/// Puts the taint of the command on the nodes, a minute after they were lost.
fn check_out_of_service(plan: &mut Plan, finding: &Finding, effect: &Effect) {
    let command = effect.yaml.strip_prefix("kubectl taint nodes ").unwrap();
    let words: Vec<&str> = command.split_whitespace().collect();
    let (taint, names) = words.split_last().unwrap();
    let (key, effect_of) = taint.split_once(':').unwrap();
    let (key, value) = key.split_once('=').unwrap();
    let taint = json!({ "key": key, "value": value, "effect": effect_of });
    let taint: Taint = serde_json::from_value(taint).unwrap();
    let Some(ReportSubject::Workload(workload)) = &finding.subject else { panic!("a workload") };
    let (played, at) = plan.scenario_of(&finding.run).unwrap();
    let end = at.saturating_add(Duration::from_secs(3600));
    let mut simulator = played.simulator().unwrap();
    let after = |step: &Step| (step.at.timestamp(), step.command.clone());
    let mut steps: VecDeque<_> = played.steps.iter().map(after).collect();
    for name in names {
        let command = Command::Taint { node: (*name).into(), taint: taint.clone() };
        steps.push_back((at.saturating_add(Duration::from_secs(60)), command));
    }
    let (mut now, mut ready, mut wanted) = (Timestamp::ZERO, 0, 0);
    let (mut missing, mut zero) = (Duration::ZERO, Duration::ZERO);
    while now < end {
        let step = steps.front().map(|(at, _)| *at);
        let next = simulator.poll_timeout().map(|next| next.at);
        let next = next.into_iter().chain(step).chain([end]).min().unwrap();
        if next > at {
            let length = next.since_zero().saturating_sub(now.max(at).since_zero());
            missing += length * u32::try_from((wanted - ready).max(0)).unwrap();
            zero += length * u32::from(ready == 0 && wanted > 0);
        }
        // `kubectl` names all nodes in one line.
        while let Some((_, command)) = steps.pop_front_if(|(at, _)| *at <= next) {
            simulator.handle_command(next, command).unwrap();
        }
        simulator.advance_to(next).unwrap();
        simulator.drain_events();
        now = next;
        ready = simulator.cluster().ready_pods(workload);
        if now <= at {
            wanted = ready;
        }
    }
    let part = missing.as_millis() / u128::try_from(wanted).unwrap().max(1);
    let harm = u64::try_from(part + zero.as_millis()).unwrap();
    assert_eq!(effect.harm, Millis(harm), "{}: {}", finding.what, effect.what);
}

#[test]
fn each_change_does_what_it_is_said_to_do() {
    let all = ["node", "out of service", "priority", "spread", "tolerationSeconds"];
    let [elsewhere, nowhere] = [web("300m"), web("800m")].map(|text| scenario(&text));
    let faults = [Fault::Lost, Fault::NetworkCut, Fault::ShutDown];
    let check = |cluster: &Scenario, faults: &[Fault]| -> BTreeSet<&'static str> {
        let options = ReportOptions { faults: faults.into(), ..ReportOptions::default() };
        check_effects(cluster, &options).into_iter().map(|(kind, _)| kind).collect()
    };
    let without = |not: &str| all.into_iter().filter(|it| *it != not).collect::<BTreeSet<_>>();
    assert_eq!(
        check(&elsewhere, &faults),
        ["out of service", "spread", "tolerationSeconds"].into()
    );
    assert_eq!(check(&nowhere, &faults[1..2]), without("out of service"));
    assert_eq!(check(&two_of_a_kind(), &[Fault::Lost]), all.into());
    assert_eq!(check(&scenario(&db()), &[Fault::Drained]), ["budget"].into());
}

/// Three full nodes, each of which is a zone: one more node in a zone fails with the zone, and not
/// with the node that was there. The two fail together without it, and by themselves with it.
#[test]
fn one_more_node_tells_a_zone_from_its_only_node() {
    let mut text = String::new();
    for name in ["a", "b", "c"] {
        text += &format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{\
             kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: z{name}}}}}, \
             status: {{allocatable: {{cpu: \"1\", pods: \"10\"}}}}}}\n---\n"
        );
    }
    let web = web("800m").replace("replicas: 2", "replicas: 3");
    let cluster = scenario(&(text + &web[web.find("apiVersion: apps").unwrap()..]));
    let report = report_of(cluster.clone(), ReportOptions::default());
    assert_eq!(report.outline.domains.len(), 6);
    assert_eq!(report.runs_planned, 3);
    let finding = finding(&report, Some("deployment/default/web"));
    let is_node = |it: &&Effect| matches!(it.remedy, Remedy::OneMoreNode { .. });
    let effect = finding.effects.iter().find(is_node).unwrap();
    assert_eq!((effect.over_all.tried, effect.over_all.failures), (4, 4), "a, b, c, and a zone");
    assert!(effect.helps && effect.over_all.after < effect.over_all.before);
    assert!(effect.over_all.after > Millis(0), "{effect:?}");
    let checked = check_effects(&cluster, &ReportOptions::default());
    assert!(checked.contains(&("node", DomainKind::Zone)), "{checked:?}");
}

/// A cluster of 4 to 6 nodes in two or three zones with Deployments and StatefulSets, some of which
/// have to be spread and some of which a budget keeps. If it is full, no node has room for two pods.
fn cluster(dice: &mut Dice, is_full: bool) -> Scenario {
    let nodes = 4 + dice.below(3);
    let zones = 2 + dice.below(2);
    let mut text = String::new();
    for node in 0..nodes {
        let zone = if node < zones { node } else { dice.below(zones) };
        let pool = ["blue", "green"][if node < 2 { node } else { dice.below(2) }];
        text += &format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: n{node}, labels: {{\
             kubernetes.io/hostname: n{node}, topology.kubernetes.io/zone: z{zone}, \
             topology.kubernetes.io/region: r{}, pool: {pool}}}}}, \
             status: {{allocatable: {{cpu: \"1\", pods: \"10\"}}}}}}\n---\n",
            zone % 2,
        );
    }
    for app in 0..3 {
        let name = format!("app{app}");
        let kind = if dice.one_in(3) { "StatefulSet" } else { "Deployment" };
        let cpu = dice.pick(if is_full { &["600m", "800m"] } else { &["200m", "300m"] });
        let spread = if dice.one_in(3) {
            let key = dice.pick(&["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
            format!(
                "topologySpreadConstraints: [{{maxSkew: 1, topologyKey: {key}, \
                 whenUnsatisfiable: DoNotSchedule, minDomains: 2, \
                 labelSelector: {{matchLabels: {{app: {name}}}}}}}], "
            )
        } else {
            String::new()
        };
        let replicas = 1 + dice.below(3);
        text += &format!(
            "{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: {name}, namespace: default}}, \
             spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: {name}}}}}, \
             template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{{spread}\
             containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}}}}}\n---\n"
        );
        if dice.one_in(2) {
            text += &format!(
                "{{apiVersion: policy/v1, kind: PodDisruptionBudget, \
                 metadata: {{name: {name}, namespace: default}}, \
                 spec: {{minAvailable: {replicas}, selector: {{matchLabels: {{app: {name}}}}}}}}}\n\
                 ---\n"
            );
        }
    }
    scenario(text.trim_end_matches("---\n"))
}

/// Every kind of change in every kind of failure domain, on clusters made at random: with a node
/// that was added, zones, regions, pools and pairs of them are others.
#[test]
fn each_change_is_made_in_the_failure_domains_of_the_changed_cluster() {
    let remedies = ["budget", "node", "out of service", "priority", "spread", "tolerationSeconds"];
    // No change is tried against devices that fail.
    for kind in DomainKind::ALL.into_iter().filter(|kind| *kind != DomainKind::DevicePool) {
        let mut dice = Dice::new(kind as u64 + 1);
        let mut missing: Checked = remedies.map(|remedy| (remedy, kind)).into();
        for round in 0..12 {
            if missing.is_empty() {
                break;
            }
            let cluster = cluster(&mut dice, round % 3 != 2);
            let is = |other: DomainKind| kind == other;
            let labels = is(DomainKind::Label) || is(DomainKind::Pair) && round % 3 == 2;
            let nodes = vec!["n0".into(), "n1".into()];
            let list = DomainList { name: "rack".into(), nodes };
            let options = ReportOptions {
                // In every other round with nodes, which can be all there is of a zone.
                nodes: is(DomainKind::Node) || round % 2 == 1,
                zones: is(DomainKind::Zone) || is(DomainKind::Pair) && round % 3 < 2,
                regions: is(DomainKind::Region),
                labels: if labels { vec!["pool".into()] } else { Vec::new() },
                lists: if is(DomainKind::List) { vec![list] } else { Vec::new() },
                pairs: match kind {
                    DomainKind::Pair => vec![DomainKind::Node, DomainKind::Zone, DomainKind::Label],
                    _ => Vec::new(),
                },
                remedies: 1,
                ..ReportOptions::default()
            };
            let mut checked = check_effects(&cluster, &options);
            if missing.contains(&("budget", kind)) {
                // What a drain harms comes before what holds it up.
                let drained =
                    ReportOptions { faults: vec![Fault::Drained], remedies: 4, ..options };
                checked.extend(check_effects(&cluster, &drained));
            }
            missing.retain(|it| !checked.contains(it));
        }
        assert!(missing.is_empty(), "{missing:?}");
    }
}

/// What the workload has to be spread over already is made softer, and nothing else is changed.
#[test]
fn a_constraint_that_is_there_is_replaced_and_said_to_be() {
    let hard = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, \
                whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}, \
                {maxSkew: 2, topologyKey: disk, whenUnsatisfiable: ScheduleAnyway, \
                labelSelector: {matchLabels: {app: web}}}], containers:";
    let cluster = scenario(&web("300m").replace("containers:", hard));
    let report = report_of(cluster.clone(), ReportOptions::default());
    let finding = finding(&report, Some("deployment/default/web"));
    let is_spread = |it: &&Effect| matches!(it.remedy, Remedy::Spread { .. });
    let effect = finding.effects.iter().find(is_spread).unwrap();
    assert_eq!(
        effect.what,
        "ScheduleAnyway in place of DoNotSchedule where deployment/default/web is spread over \
         kubernetes.io/hostname"
    );
    let changed = changed_by(&effect.yaml, cluster);
    let template = serde_json::to_value(&changed.objects.workloads[0]).unwrap();
    let all = template["spec"]["template"]["spec"][CONSTRAINTS].as_array().unwrap();
    let said = |it: &Value| format!("{} {}", it["topologyKey"], it["whenUnsatisfiable"]);
    let said: Vec<String> = all.iter().map(said).collect();
    assert_eq!(
        said,
        [r#""disk" "ScheduleAnyway""#, r#""kubernetes.io/hostname" "ScheduleAnyway""#]
    );
    let line = finding.no_help.clone().unwrap_or_default();
    let unhelpful: Vec<_> = finding.effects.iter().filter(|it| !it.helps).collect();
    assert!(!unhelpful.is_empty() && unhelpful.iter().all(|it| line.contains(&it.what)), "{line}");
}
