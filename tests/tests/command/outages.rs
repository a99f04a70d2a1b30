//! `taintlab smallest-outage`: the fewest faults that take a workload to zero, or a zone out of
//! `Normal`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use taintlab_core::api::{NodeName, PodKey, SchedulingFields, WorkloadKey, WorkloadKind};
use taintlab_core::command::Command;
use taintlab_core::event::EventKind;
use taintlab_core::policy::drain::DrainOptions;
use taintlab_core::protocol::zone::ZoneState;
use taintlab_core::report::{Plan, ReportOptions};
use taintlab_core::scenario::{Player, Scenario};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;
use taintlab_manifest::{Limits, read_scenario};

use super::host::{Ran, taintlab};

/// A cluster as a scenario: nodes with their zones and processors, and Deployments with replicas,
/// priority class and processors of a pod.
fn cluster(nodes: &[(&str, &str, u32)], deployments: &[(&str, u32, &str, u32)]) -> String {
    let mut text = "\
apiVersion: taintlab/v1
kind: Scenario
metadata: { name: cluster }
kubernetes:
  release: \"1.34\"
  controlPlane: true
objects:
  others:
    - { apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: { name: high }, value: 1000 }
    - { apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: { name: low }, value: 0 }
  nodes:
"
    .to_owned();
    for (name, zone, cpu) in nodes {
        text += &format!(
            "    - {{ metadata: {{ name: {name}, labels: {{ topology.kubernetes.io/zone: {zone} }} \
             }}, status: {{ allocatable: {{ cpu: \"{cpu}\", pods: \"20\" }} }} }}\n"
        );
    }
    text += "  workloads:\n";
    for (name, replicas, class, cpu) in deployments {
        text += &format!(
            "    - apiVersion: apps/v1
      kind: Deployment
      metadata: {{ name: {name}, namespace: shop }}
      spec:
        replicas: {replicas}
        selector: {{ matchLabels: {{ app: {name} }} }}
        template:
          metadata: {{ labels: {{ app: {name} }} }}
          spec:
            priorityClassName: {class}
            tolerations:
              - {{ key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, \
             tolerationSeconds: 60 }}
            containers: [{{ name: c, resources: {{ requests: {{ cpu: \"{cpu}\" }} }} }}]
"
        );
    }
    text
}

fn smallest(line: &str, cluster: &str) -> Ran {
    taintlab(&format!("smallest-outage {line} -f cluster.yaml"), &[("cluster.yaml", cluster)])
}

fn json_of(line: &str, cluster: &str) -> Value {
    let ran = smallest(&format!("{line} --json"), cluster);
    serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {ran:?}"))
}

fn scenario(text: &str) -> Scenario {
    let load = &mut |_: &str| unreachable!("it names no file");
    let opened = read_scenario(text, "cluster.yaml", &Limits::default(), load);
    opened.scenario.unwrap_or_else(|| panic!("{:?}", opened.diagnostics))
}

/// A fault as the test makes it.
#[derive(Clone, Debug)]
struct Made {
    json: Value,
    nodes: Vec<NodeName>,
    takes_power: bool,
}

/// What falls.
enum Falls<'a> {
    Workload(&'a WorkloadKey),
    Zone(&'a str),
}

/// A settled cluster, made by hand: at the time at which a report lets it fail.
struct ByHand {
    settled: Simulator,
    at: Timestamp,
    zones: BTreeMap<String, Vec<NodeName>>,
}

impl ByHand {
    fn new(text: &str) -> Self {
        let mut scenario = scenario(text);
        scenario.kubernetes.node_lifecycle = Some(true);
        let plan = Plan::new(scenario.clone(), ReportOptions::default()).unwrap();
        let at = Timestamp::ZERO.saturating_add(Duration::from_millis(plan.outline().fault_at.0));
        scenario.kubernetes.kubelets.get_or_insert_default().phase_seed = 1;
        let mut settled = scenario.simulator().unwrap();
        settled.advance_to(at).unwrap();
        settled.drain_events();
        let mut zones: BTreeMap<String, Vec<NodeName>> = BTreeMap::new();
        for (name, node) in settled.cluster().nodes() {
            let zone = &node.metadata.labels["topology.kubernetes.io/zone"];
            zones.entry(zone.clone()).or_default().push(name.clone());
        }
        Self { settled, at, zones }
    }

    /// All faults in reach in the documented order: those that hit what the goal needs, or a pod that
    /// may preempt, first.
    fn faults(&self, falls: &Falls<'_>, pause: &Value) -> Vec<Made> {
        let cluster = self.settled.cluster();
        let mut touched: BTreeSet<&str> = BTreeSet::new();
        match falls {
            Falls::Workload(key) => {
                let pods = cluster.pods_of_workload(key);
                for (pod_key, pod) in cluster.pods() {
                    let priority = SchedulingFields::of(pod).unwrap().priority;
                    if pods.contains(pod_key) || priority > 0 {
                        touched.insert(&pod.spec.node_name);
                    }
                }
            }
            Falls::Zone(zone) => touched.extend(self.zones[*zone].iter().map(NodeName::as_str)),
        }
        let of = |kind: &str, node: &NodeName| Made {
            json: json!({ "type": kind, "node": node }),
            nodes: vec![node.clone()],
            takes_power: kind == "nodeLost",
        };
        let names: Vec<&NodeName> = cluster.nodes().map(|(name, _)| name).collect();
        let mut all: Vec<Made> = names.iter().map(|node| of("nodeLost", node)).collect();
        for (zone, nodes) in &self.zones {
            if !matches!(falls, Falls::Zone(own) if own == zone) {
                let json = json!({ "type": "zoneLost", "zone": zone });
                all.push(Made { json, nodes: nodes.clone(), takes_power: true });
            }
        }
        all.extend(names.iter().map(|node| of("kubeletStopped", node)));
        all.extend(names.iter().map(|node| of("drained", node)));
        let json = json!({ "type": "controlPlanePaused", "time": pause });
        all.push(Made { json, nodes: Vec::new(), takes_power: false });
        let (mut first, rest): (Vec<Made>, Vec<Made>) = all.into_iter().partition(|made| {
            let drains_a_zone = matches!(falls, Falls::Zone(_)) && made.json["type"] == "drained";
            !drains_a_zone && made.nodes.iter().any(|node| touched.contains(node.as_str()))
        });
        first.extend(rest);
        first
    }

    fn commands(&self, made: &Made, at: Timestamp) -> Vec<(Timestamp, Command)> {
        let each = |make: &dyn Fn(NodeName) -> Command| -> Vec<(Timestamp, Command)> {
            made.nodes.iter().map(|node| (at, make(node.clone()))).collect()
        };
        match made.json["type"].as_str().unwrap() {
            "nodeLost" | "zoneLost" => each(&|node| Command::PowerOffNode { node }),
            "kubeletStopped" => each(&|node| Command::StopKubelet { node }),
            "drained" => {
                let mut all = each(&|node| Command::SetUnschedulable { node, unschedulable: true });
                let options = DrainOptions {
                    ignore_daemonsets: true,
                    delete_emptydir_data: true,
                    force: true,
                    ..DrainOptions::default()
                };
                all.push((at, Command::Drain { nodes: made.nodes.clone(), options }));
                all
            }
            _ => {
                let time = taintlab_core::time::parse_duration(made.json["time"].as_str().unwrap());
                let back = at.saturating_add(time.unwrap());
                let zones = || self.zones.keys().cloned();
                let mut all: Vec<_> =
                    zones().map(|zone| (at, Command::CutZoneNetwork { zone })).collect();
                all.extend(zones().map(|zone| (back, Command::RestoreZoneNetwork { zone })));
                all.push((back, Command::RestartControllerManager));
                all
            }
        }
    }

    /// Whether these faults, with their times, reach the goal.
    fn falls(&self, falls: &Falls<'_>, faults: &[(&Made, Duration)]) -> bool {
        let mut simulator = self.settled.clone();
        let end = self.at.saturating_add(Duration::from_secs(60 * 60));
        let mut commands: Vec<(Timestamp, Command, Option<&Made>)> = Vec::new();
        for (made, after) in faults {
            let all = self.commands(made, self.at.saturating_add(*after)).into_iter();
            commands.extend(all.map(|(at, command)| (at, command, Some(*made))));
        }
        commands.sort_by_key(|(at, ..)| *at);
        let mut off: BTreeSet<NodeName> = BTreeSet::new();
        // Pods without power, by UID: they were ready.
        let mut down: BTreeSet<(PodKey, String)> = BTreeSet::new();
        let mut zero_since: Option<Timestamp> = None;
        loop {
            let command = commands.first().map(|(at, ..)| *at);
            let next = command.into_iter().chain(simulator.poll_timeout().map(|it| it.at)).min();
            let Some(next) = next.filter(|next| *next <= end) else { return zero_since.is_some() };
            if zero_since.is_some_and(|since| since < next) {
                return true;
            }
            while commands.first().is_some_and(|(at, ..)| *at <= next) {
                let (at, command, made) = commands.remove(0);
                for node in made.filter(|made| made.takes_power).iter().flat_map(|it| &it.nodes) {
                    if off.insert(node.clone()) {
                        for (key, pod) in simulator.cluster().pods_of(node.as_str()) {
                            down.insert((key.clone(), pod.metadata.uid.clone()));
                        }
                    }
                }
                let _ = simulator.handle_command(at, command);
            }
            simulator.advance_to(next).unwrap();
            let events = simulator.drain_events();
            match falls {
                Falls::Zone(zone) => {
                    let disrupted = events.iter().any(|event| {
                        let EventKind::ZoneStateChanged { zone: of, to, .. } = &event.what else {
                            return false;
                        };
                        use ZoneState::{FullDisruption, PartialDisruption};
                        of.name() == *zone && matches!(to, Some(PartialDisruption | FullDisruption))
                    });
                    if disrupted {
                        return true;
                    }
                }
                Falls::Workload(key) => {
                    let cluster = simulator.cluster();
                    let pods = cluster.pods_of_workload(key);
                    let ready = pods.iter().filter(|key| {
                        let pod = cluster.get_pod(key).unwrap();
                        let is_down = down.contains(&((*key).clone(), pod.metadata.uid.clone()));
                        pod.is_ready_replica() && !is_down
                    });
                    zero_since = (ready.count() == 0).then(|| zero_since.unwrap_or(next));
                }
            }
        }
    }

    /// The first outage of up to two faults in the documented order, as JSON.
    fn first(&self, falls: &Falls<'_>, answer: &Value) -> Option<Value> {
        let pause = json!(PAUSE);
        let faults = self.faults(falls, &pause);
        let gaps: Vec<(Duration, Value)> = answer["gaps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|gap| {
                let text = gap["time"].as_str().unwrap();
                (taintlab_core::time::parse_duration(text).unwrap(), gap["time"].clone())
            })
            .collect();
        let timed = |made: &Made, after: &Value| {
            let mut json = json!({ "after": after });
            json.as_object_mut().unwrap().extend(made.json.as_object().unwrap().clone());
            json
        };
        let zero = json!("0s");
        for made in &faults {
            if self.falls(falls, &[(made, Duration::ZERO)]) {
                return Some(json!([timed(made, &zero)]));
            }
        }
        let pairs = || {
            faults.iter().enumerate().flat_map(|(place, one)| {
                faults.iter().skip(place + 1).map(move |other| (one, other))
            })
        };
        for (one, other) in pairs() {
            if self.falls(falls, &[(one, Duration::ZERO), (other, Duration::ZERO)]) {
                return Some(json!([timed(one, &zero), timed(other, &zero)]));
            }
        }
        for (one, other) in pairs() {
            for (first, second) in [(one, other), (other, one)] {
                for (gap, text) in &gaps {
                    if self.falls(falls, &[(first, Duration::ZERO), (second, *gap)]) {
                        return Some(json!([timed(first, &zero), timed(second, text)]));
                    }
                }
            }
        }
        None
    }
}

/// How long the control plane stands still: 50 s of grace since 1.32, less a renewal of the lease and
/// two passes.
const PAUSE: &str = "30s";

/// A small cluster, scattered by a number: some are full, so that pods are preempted.
fn scattered(seed: u32) -> String {
    let draw = |what: u32, of: u32| {
        let mixed = (seed * 31 + what * 17 + 7).wrapping_mul(2_654_435_761);
        (mixed >> 13) % of
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    let count = 4 + draw(1, 3);
    let zones = 2 + draw(5, 2);
    let nodes: Vec<(&str, &str, u32)> = (0..count)
        .zip(names)
        .map(|(index, name)| (name, ["z1", "z2", "z3"][(index % zones) as usize], 3))
        .collect();
    let (web, high, size) = (1 + draw(2, count), 1 + draw(3, 3), 1 + draw(4, 3));
    cluster(&nodes, &[("high", high, "high", size), ("web", web, "low", 1), ("rest", 2, "low", 1)])
}

#[test]
fn up_to_two_faults_are_those_of_brute_force() {
    let web = WorkloadKey::new(WorkloadKind::Deployment, "shop", "web");
    // A node of each zone for each pod: neither two nodes nor two zones are enough.
    let nodes = [("a", "z1", 4), ("b", "z2", 4), ("c", "z3", 4)];
    let three = cluster(&nodes, &[("high", 1, "high", 1), ("web", 3, "low", 2)]);
    // Sizes that were found, and outages in which a pod was preempted or a fault followed another.
    let (mut sizes, mut none, mut by_others) = (BTreeMap::new(), 0, 0);
    for text in [2, 5, 9, 10, 13, 14, 24].map(scattered).into_iter().chain([three]) {
        let hand = ByHand::new(&text);
        if hand.settled.cluster().ready_pods(&web) == 0 {
            continue;
        }
        let answer = json_of("shop/web --most-faults 2", &text);
        assert_eq!(answer["isComplete"], true, "{text}\n{answer}");
        let brute = hand.first(&Falls::Workload(&web), &answer);
        let found = answer["found"]["faults"].as_array().map(|it| Value::from(it.clone()));
        assert_eq!(found, brute, "{text}\n{answer}");
        match &found {
            Some(found) => {
                let faults = found.as_array().unwrap();
                *sizes.entry(faults.len()).or_insert(0) += 1;
                let cluster = hand.settled.cluster();
                let pods = cluster.pods_of_workload(&web);
                let on: BTreeSet<&str> = pods
                    .iter()
                    .map(|key| cluster.get_pod(key).unwrap().spec.node_name.as_str())
                    .collect();
                by_others +=
                    usize::from(faults.iter().any(|fault| {
                        fault["node"].as_str().is_some_and(|node| !on.contains(node))
                    }));
            }
            None => none += 1,
        }
    }
    assert!(sizes.len() == 2 && none > 0 && by_others > 0, "{sizes:?} {none} {by_others}");
}

#[test]
fn a_zone_leaves_normal_as_by_brute_force() {
    let nodes = [("a", "z1", 4), ("b", "z1", 4), ("c", "z2", 4), ("d", "z3", 4), ("e", "z3", 4)];
    let text = cluster(&nodes, &[("web", 2, "low", 1)]);
    let hand = ByHand::new(&text);
    for (zone, size) in [("z1", 2), ("z2", 1), ("z3", 2)] {
        let answer = json_of(&format!("--zone {zone} --most-faults 2"), &text);
        let brute = hand.first(&Falls::Zone(zone), &answer).unwrap();
        assert_eq!(answer["found"]["faults"], brute, "{zone}: {answer}");
        assert_eq!(brute.as_array().unwrap().len(), size);
    }
}

/// Nodes of three zones, in turn.
fn in_three_zones(count: usize) -> Vec<(String, &'static str, u32)> {
    (0..count).map(|index| (format!("n{index:02}"), ["z1", "z2", "z3"][index % 3], 8)).collect()
}

#[test]
fn a_planted_weak_point_is_found_at_three_faults() {
    let named = in_three_zones(12);
    let mut nodes: Vec<(&str, &str, u32)> =
        named.iter().map(|(name, zone, cpu)| (name.as_str(), *zone, *cpu)).collect();
    // Three nodes have room for the pods of `db`, of which each takes nearly all: no zone has two.
    for place in [1, 6, 11] {
        nodes[place].2 = 16;
    }
    let text = cluster(&nodes, &[("db", 3, "low", 14), ("web", 9, "low", 1)]);
    let answer = json_of("deployment/shop/db --faults node-lost,drained", &text);
    let lost = |node: &str| json!({ "after": "0s", "type": "nodeLost", "node": node });
    assert_eq!(
        answer["found"]["faults"],
        json!([lost("n01"), lost("n06"), lost("n11")]),
        "{answer}"
    );
    // The nodes that hit nothing are not tried.
    assert_eq!(answer["tried"], 1, "{answer}");
    assert_eq!(answer["isComplete"], true);
    assert_eq!(answer["found"]["at"], 0);
    assert_eq!(answer["found"]["atTheEnd"], true);
    let two = smallest("shop/db --most-faults 2", &text);
    let said = "No outage of up to 2 faults takes deployment/shop/db to zero ready pods\n0 outages \
        tried, the others are ruled out\n";
    assert_eq!((two.out.as_str(), two.code), (said, 0));
}

#[test]
fn a_pod_is_preempted_by_one_that_lost_its_node() {
    let nodes = [("a", "z1", 4), ("c", "z1", 4)];
    let text = cluster(&nodes, &[("important", 1, "high", 4), ("web", 4, "low", 1)]);
    let answer = json_of("shop/web", &text);
    // Either node alone: with that of `web`, or with that of the pod which comes in its place.
    let faults = &answer["found"]["faults"];
    assert_eq!(faults.as_array().unwrap().len(), 1, "{answer}");
    let by_text = smallest("shop/web", &text);
    assert!(by_text.out.starts_with("1 fault takes deployment/shop/web to zero"), "{by_text:?}");
    let drained = json_of("shop/web --faults drained", &text);
    assert_eq!(drained["found"]["faults"][0]["type"], "drained", "{drained}");
}

#[test]
fn a_stopped_kubelet_counts_from_the_grace_period_on() {
    let text = cluster(&[("a", "z1", 2), ("b", "z2", 2)], &[("web", 1, "low", 1)]);
    let answer = json_of("shop/web --faults kubelet-stopped", &text);
    let found = &answer["found"];
    assert_eq!(found["faults"][0]["type"], "kubeletStopped", "{answer}");
    // Ready until the node is seen to be lost, up to a renewal of its lease and a pass after 50 s.
    let at = found["at"].as_u64().unwrap();
    assert!((40_000..=60_000).contains(&at), "{answer}");
    assert_eq!(found["ready"].as_array().unwrap().len(), 3, "{answer}");
}

#[test]
fn an_outage_is_told_played_and_linked() {
    let nodes = [("a", "z1", 4), ("b", "z1", 4), ("c", "z2", 4)];
    let text = cluster(&nodes, &[("web", 2, "low", 4)]);
    let ran = smallest("shop/web --playground https://taintlab.example/", &text);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains(" take deployment/shop/web to zero ready pods\n"), "{}", ran.out);
    assert!(ran.out.contains("No smaller outage does; "), "{}", ran.out);
    assert!(ran.out.contains("See it: https://taintlab.example/#d="), "{}", ran.out);
    let link = ran.out.lines().last().unwrap();
    assert!(link.ends_with("s"), "{link}");
    let markdown = smallest("shop/web --markdown", &text).out;
    assert!(markdown.contains("\n| At | Fault |\n"), "{markdown}");
    assert_eq!(smallest("shop/web --fail", &text).code, 1);
    assert_eq!(smallest("shop/web --fail --most-faults 1 --faults drained", &text).code, 0);

    let played = smallest("shop/web --scenario", &text);
    let played = scenario(&played.out);
    let mut simulator = played.simulator().unwrap();
    let until = played.until.unwrap().timestamp();
    Player::new(&played).play_to(&mut simulator, until, usize::MAX).unwrap();
    let web = WorkloadKey::new(WorkloadKind::Deployment, "shop", "web");
    assert!(simulator.cluster().ready_pods(&web) < 2);
    assert!(!played.steps.is_empty());
}

#[test]
fn what_is_asked_is_checked() {
    let text = cluster(&[("a", "z1", 4)], &[("web", 1, "low", 1), ("late", 1, "low", 9)]);
    let err = |line: &str| {
        let ran = smallest(line, &text);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.err.lines().next().unwrap().to_owned()
    };
    assert!(
        err("").contains("of which workload, for example deployment/shop/web, or of which --zone?")
    );
    assert!(err("shop/web --zone z1").contains("expected a workload or a --zone, found both"));
    assert!(err("shop/db").contains(
        "there is no workload `shop/db`: there are deployment/shop/late, deployment/shop/web"
    ));
    assert!(err("shop/late").contains("deployment/shop/late has no ready pod before any fault"));
    assert!(err("--zone z9").contains("there is no zone `z9`: there are z1"));
    assert!(err("web --most-faults 5").contains("--most-faults: expected 1 to 4, found `5`"));
    assert!(err("web --faults fire").contains("--faults: expected one of node-lost, zone-lost,"));
    assert!(err("web --json --scenario").contains("cannot be used together"));
    let no_file = taintlab("smallest-outage web", &[]);
    assert!(no_file.err.contains("smallest-outage: --filename: which file?"), "{}", no_file.err);
}

#[test]
fn a_search_that_ends_early_says_so() {
    let nodes = [("a", "z1", 4), ("b", "z2", 4), ("c", "z3", 4), ("d", "z1", 4)];
    // Pods of a higher priority that have room elsewhere: everything is tried, in vain.
    let text = cluster(&nodes, &[("important", 1, "high", 1), ("web", 4, "low", 1)]);
    let line = "shop/web --most-faults 2 --faults node-lost";
    let whole = json_of(line, &text);
    assert_eq!(whole["isComplete"], true, "{whole}");
    let part = smallest(&format!("{line} --most-runs 3"), &text);
    assert!(
        part.out.contains("3 outages tried: not every one, so that a smaller outage may do"),
        "{}",
        part.out
    );
    assert_eq!(smallest(&format!("{line} --most-runs 3 --fail"), &text).code, 1);
}
