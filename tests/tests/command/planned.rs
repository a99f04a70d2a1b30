//! `taintlab plan`: what becomes of a cluster while nodes are drained, replaced, taken away or tainted.

use std::io::Read as _;

use base64ct::{Base64UrlUnpadded, Encoding};
use flate2::read::DeflateDecoder;
use serde_json::Value;
use taintlab_core::api::{NodeName, WorkloadKey};
use taintlab_core::plan::{Act, NodeChoice, Procedure, Rehearsal, RehearsalOptions};
use taintlab_core::policy::drain::DrainOptions;
use taintlab_core::scenario::{Player, Scenario};
use taintlab_core::time::Span;
use taintlab_manifest::{Limits, read_scenario};

use super::host::{Ran, taintlab};

/// A node of the pool `blue` for four pods.
pub(super) fn node(name: &str, zone: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{pool: blue, \
         topology.kubernetes.io/zone: {zone}}}}}\nstatus: {{allocatable: {{cpu: \"4\", pods: \
         \"20\"}}}}\n---\n"
    )
}

const POD: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: NAME-NUMBER
  namespace: shop
  labels: {app: NAME}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: NAME, uid: NAME, controller: true}]
spec: {nodeName: ON, containers: [{name: c, resources: {requests: {cpu: \"1\"}}}]}
status:
  phase: Running
  conditions:
    - {type: PodScheduled, status: \"True\", lastTransitionTime: \"2026-01-01T00:00:00Z\"}
    - {type: Ready, status: \"True\", lastTransitionTime: \"2026-01-01T00:00:40Z\"}
---
";

const SET: &str = "\
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: NAME, namespace: shop, uid: NAME}
spec:
  replicas: NUMBER
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {containers: [{name: c, resources: {requests: {cpu: \"1\"}}}]}
---
";

/// Pods that their controller makes again, each with a processor, on these nodes.
pub(super) fn workload(name: &str, nodes: &[&str]) -> String {
    let filled = |text: &str, number: usize| {
        text.replace("NAME", name).replace("NUMBER", &number.to_string())
    };
    let pods = nodes.iter().enumerate().map(|(number, on)| filled(POD, number).replace("ON", on));
    filled(SET, nodes.len()) + &pods.collect::<String>()
}

fn budget(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {name}, namespace: \
         shop}}\nspec: {{{spec}, selector: {{matchLabels: {{app: {name}}}}}}}\n---\n"
    )
}

pub(super) fn nodes() -> String {
    node("a", "z1") + &node("b", "z1") + &node("c", "z2")
}

pub(super) fn plan(line: &str, cluster: &str) -> Ran {
    taintlab(&format!("plan {line} -f cluster.yaml"), &[("cluster.yaml", cluster)])
}

/// The plan as JSON, with the exit code.
pub(super) fn json(line: &str, cluster: &str) -> (Value, u8) {
    let ran = plan(&format!("{line} --json"), cluster);
    let value = serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {ran:?}"));
    (value, ran.code)
}

#[test]
fn a_drain_says_how_long_it_takes_and_what_falls_short() {
    let cluster = nodes() + &workload("db", &["a", "b"]) + &budget("db", "maxUnavailable: 1");
    let ran = plan("drain a b", &cluster);
    assert_eq!(ran.code, 0, "{ran:?}");
    // The second pod goes when the first is ready again, 40 s later, and has 30 s of grace.
    let said = "Drain a, b\nAll nodes are drained after 1m10s; 2 pods have left\n";
    assert!(ran.out.starts_with(said), "{}", ran.out);
    assert!(ran.out.contains("Start-up times of 1 workload are"), "{}", ran.out);
    assert!(ran.out.contains("\nreplicaset/shop/db   1 of 2"), "{}", ran.out);
    let command = "  kubectl drain a b --ignore-daemonsets --delete-emptydir-data\n";
    assert!(ran.out.ends_with(command), "{}", ran.out);
    let markdown = plan("drain a b --markdown", &cluster);
    assert!(markdown.out.starts_with("## Drain a, b\n\n- All nodes"), "{}", markdown.out);
    assert!(markdown.out.ends_with("--delete-emptydir-data\n```\n"), "{}", markdown.out);
}

#[test]
fn a_budget_that_never_lets_a_pod_go_is_to_blame_before_the_drain_begins() {
    let cluster = nodes()
        + &workload("db", &["a"])
        + &workload("web", &["b"])
        + &budget("db", "minAvailable: 100%");
    let ran = plan("drain a b", &cluster);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("It never ends: 2 of 2 nodes not drained"), "{}", ran.out);
    let blame = "a: pod shop/db-0: PodDisruptionBudget shop/db (minAvailable: 100%) never lets a pod \
        go: it wants 1 of 1 healthy\n";
    assert!(ran.out.contains(blame), "{}", ran.out);
    // The other node comes off at least if it is the first.
    assert!(ran.out.contains("A better order: b, a\nnodes left 2 → 1"), "{}", ran.out);
    // Whoever does not ask the budget gets through.
    assert_eq!(plan("drain a b --disable-eviction", &cluster).code, 0);
}

#[test]
fn a_budget_waits_for_a_pod_that_finds_no_node() {
    // Four pods fill the only other node.
    let cluster = node("a", "z1")
        + &node("b", "z1")
        + &workload("big", &["b", "b", "b", "b"])
        + &workload("db", &["a", "a"])
        + &budget("db", "maxUnavailable: 1");
    let ran = plan("drain a", &cluster);
    assert_eq!(ran.code, 1, "{ran:?}");
    let blame = "lets no pod go: it wants 1 healthy, there are 1; 1 pod without a node: 0/2 nodes are \
        available: 1 Insufficient cpu, 1 node(s) were unschedulable\n";
    assert!(ran.out.contains(blame), "{}", ran.out);
    assert!(ran.out.contains("It does not end"), "{}", ran.out);
    assert!(ran.out.contains("\nPods without a node in the end\n"), "{}", ran.out);
}

#[test]
fn a_finalizer_keeps_a_drain_waiting() {
    let pod = workload("web", &["n1"]).replacen(
        "  labels: {app: web}",
        "  finalizers: [example.com/backup]\n  labels: {app: web}",
        1,
    );
    let cluster = node("n1", "a") + &node("n2", "b") + &pod;
    let ran = taintlab("plan drain n1 -f c.yaml", &[("c.yaml", &cluster)]);
    let blame = "n1: pod shop/web-0: it is deleted, but nothing in the simulation takes its \
                 finalizers off: example.com/backup";
    assert!(ran.out.contains(blame), "{ran:?}");
}

#[test]
fn kubectl_refuses_pods_without_a_controller() {
    let bare = "apiVersion: v1\nkind: Pod\nmetadata: {name: bare, namespace: shop}\nspec: {nodeName: a, \
        containers: [{name: c}]}\n";
    let cluster = nodes() + bare;
    let ran = plan("drain a", &cluster);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("1 node could not be drained"), "{}", ran.out);
    assert!(ran.out.contains("use --force to override): shop/bare"), "{}", ran.out);
    let forced = plan("drain a --force", &cluster);
    assert_eq!(forced.code, 0);
    assert!(forced.out.contains("pod/shop/bare: it is gone"), "{}", forced.out);
}

#[test]
fn an_upgrade_replaces_the_nodes_of_a_pool() {
    let cluster = nodes() + &workload("db", &["a", "b", "c"]) + &budget("db", "maxUnavailable: 1");
    let pool = "upgrade --pool pool=blue --node-start-up 60s";
    let (surge, code) = json(pool, &cluster);
    assert_eq!(code, 0);
    let (missing, _) = json(&format!("{pool} --surge 0 --max-unavailable 1"), &cluster);
    let (faster, _) = json(&format!("{pool} --surge 1 --max-unavailable 2"), &cluster);
    let ended = |plan: &Value| plan["given"]["ended"].as_u64().unwrap();
    // Each node waits for the new one before, or after.
    assert!(ended(&surge) > 3 * 60_000 && ended(&missing) > 3 * 60_000, "{surge} {missing}");
    assert!(ended(&faster) < ended(&surge), "{faster}");
    let commands = surge["commands"].as_array().unwrap();
    assert!(commands[0].as_str().unwrap().contains(" && kubectl delete node "), "{surge}");
    let none = plan("upgrade --pool pool=red", &cluster);
    assert_eq!(
        none.err,
        "error: plan: nodes: no node has the label pool=red\nTry `taintlab --help`.\n"
    );
    assert_eq!(none.code, 2);
    let still = plan(&format!("{pool} --surge 0"), &cluster);
    assert!(
        still.err.starts_with("error: plan: max-unavailable: nothing can begin"),
        "{}",
        still.err
    );
}

#[test]
fn a_notice_is_long_enough_or_pods_are_cut_off() {
    let cluster = nodes() + &workload("db", &["a", "a"]);
    let (drained, code) = json("spot a --notice 2m", &cluster);
    assert_eq!(code, 0);
    assert_eq!(drained["given"]["nodes"][0]["pods"], 2);
    assert!(drained["given"]["nodes"][0].get("cutOff").is_none());
    let short = plan("spot a --notice 20s", &cluster);
    assert!(
        short.out.contains("2 pods are cut off, still there when the node was gone"),
        "{}",
        short.out
    );
    // Nobody acts: the pods are down with the machine, and come back when the node is seen to be lost.
    let (none, _) = json("spot a --notice 2m --handler none", &cluster);
    let figures = &none["given"]["workloads"][0];
    assert_eq!(figures["leastReady"], 0, "{none}");
    assert_eq!(figures["worstAt"], 120_000, "{none}");
    assert!(figures["atZero"].as_u64().unwrap() > 50_000, "{none}");
    assert!(figures["wholeAgain"].as_u64().unwrap() < 600_000, "{none}");
    let tainted = plan("spot a --handler taint=aws/spot:NoExecute", &cluster);
    assert!(tainted.out.contains("tainted aws/spot:NoExecute at the notice"), "{}", tainted.out);
    let wrong = plan("spot a --handler pray", &cluster);
    assert!(wrong.err.contains("--handler: expected drain, taint=TAINT or none, found `pray`"));
}

#[test]
fn a_taint_and_a_zone_are_planned_alike() {
    let cluster = nodes() + &workload("db", &["a", "b"]);
    let taint = plan("taint a b maintenance:NoExecute", &cluster);
    assert_eq!(taint.code, 0);
    assert!(taint.out.contains("\n2 pods have left, the last after 0s\n"), "{}", taint.out);
    let zone = plan("zone-evacuation z1 --parallel 2", &cluster);
    assert_eq!(zone.code, 0);
    assert!(zone.out.starts_with("Drain a, b, 2 at a time\n"), "{}", zone.out);
    let nowhere = plan("zone-evacuation z9", &cluster);
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.err.contains("there is no zone `z9`: there are z1, z2"), "{}", nowhere.err);
    let nobody = plan("drain a x", &cluster);
    assert!(nobody.err.contains("there is no node `x`: there are a, b, c"), "{}", nobody.err);
    assert!(plan("drain", &cluster).err.contains("plan drain: which node?"));
    let no_file = taintlab("plan drain a", &[]);
    assert!(no_file.err.contains("plan: --filename: which file?"), "{}", no_file.err);
}

#[test]
fn ready_pods_are_known_at_every_moment() {
    let cluster = nodes() + &workload("db", &["a", "a"]);
    let (plan, _) = json("drain a", &cluster);
    let course = &plan["given"]["workloads"][0];
    let ready: Vec<i64> = course["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["ready"].as_i64().unwrap())
        .collect();
    // Both leave, and are ready again, at the same moments.
    assert_eq!(ready, [0, 2]);
    assert_eq!(ready.iter().min().copied(), course["leastReady"].as_i64());
}

/// A plan as a scenario.
fn scenario(line: &str, cluster: &str) -> Scenario {
    let ran = plan(&format!("{line} --scenario"), cluster);
    assert_eq!(ran.code, 0, "{ran:?}");
    let load = &mut |_: &str| unreachable!("it names no file");
    let opened = read_scenario(&ran.out, "plan.yaml", &Limits::default(), load);
    opened.scenario.unwrap_or_else(|| panic!("{:?}", opened.diagnostics))
}

#[test]
fn a_plan_can_be_played_as_a_scenario() {
    let cluster = nodes() + &workload("db", &["a", "b"]) + &budget("db", "maxUnavailable: 1");
    let scenario = scenario("upgrade --pool pool=blue", &cluster);
    let mut simulator = scenario.simulator().unwrap();
    let until = scenario.until.unwrap().timestamp();
    Player::new(&scenario).play_to(&mut simulator, until, usize::MAX).unwrap();
    let nodes: Vec<&str> = simulator.cluster().nodes().map(|(name, _)| name.as_str()).collect();
    assert_eq!(nodes, ["a-new", "b-new", "c-new"]);
    let db = WorkloadKey::parse("replicaset/shop/db").unwrap();
    assert_eq!(simulator.cluster().ready_pods(&db), 2);
}

#[test]
fn a_plan_has_a_link_that_plays_it_from_its_beginning() {
    let cluster = nodes() + &workload("db", &["a", "b"]) + &budget("db", "maxUnavailable: 1");
    let line = "drain a b";
    let linked = format!("{line} --playground https://taintlab.example/");
    let told = plan(&linked, &cluster).out;
    let link = told.lines().find_map(|line| line.strip_prefix("See it: ")).unwrap();
    let (packed, at) = link
        .strip_prefix("https://taintlab.example/#d=")
        .and_then(|it| it.split_once("&t="))
        .unwrap_or_else(|| panic!("{link}"));
    let packed = Base64UrlUnpadded::decode_vec(packed).unwrap();
    let mut played = String::new();
    DeflateDecoder::new(packed.as_slice()).read_to_string(&mut played).unwrap();
    assert_eq!(played, plan(&format!("{line} --scenario"), &cluster).out);
    let first = scenario(line, &cluster).steps[0].at;
    assert_eq!(at, format!("{}s", first.0.as_secs_f64()));
    assert_eq!(json(&linked, &cluster).0["link"], link);
    assert!(plan(&format!("{linked} --markdown"), &cluster).out.contains(link));
}

#[test]
fn a_cluster_that_is_too_large_for_a_link_has_a_note() {
    let more = |number: usize| node(&format!("n{number:x}-{}", number * 7919), "z");
    let cluster = nodes() + &(0..2_000).map(more).collect::<String>();
    let told = plan("drain a --orders 1 --playground https://taintlab.example/", &cluster);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(
        told.out.contains("The cluster is too large for a link: use --scenario"),
        "{}",
        told.out
    );
    assert!(!told.out.contains("See it"), "{}", told.out);
}

fn permutations(nodes: &[NodeName]) -> Vec<Vec<NodeName>> {
    if nodes.len() <= 1 {
        return vec![nodes.to_vec()];
    }
    let mut all = Vec::new();
    for place in 0..nodes.len() {
        let mut rest = nodes.to_vec();
        let last = rest.remove(place);
        for mut order in permutations(&rest) {
            order.push(last.clone());
            all.push(order);
        }
    }
    all
}

/// Pods of several workloads, some with budgets, scattered by a number over the nodes.
fn scattered(seed: usize, nodes: &[&str]) -> String {
    let mut cluster: String =
        nodes.iter().enumerate().map(|(index, name)| node(name, ["z1", "z2"][index % 2])).collect();
    for index in 0..3 {
        let name = format!("w{index}");
        let places: Vec<&str> = (0..2 + (seed + index) % 3)
            .map(|pod| nodes[(seed * 7 + index * 5 + pod * (1 + seed % 3)) % nodes.len()])
            .collect();
        cluster += &workload(&name, &places);
        if (seed + index).is_multiple_of(2) {
            cluster += &budget(&name, ["maxUnavailable: 1", "minAvailable: 1"][seed % 2]);
        }
    }
    cluster
}

#[test]
fn the_best_order_of_four_nodes_is_that_of_brute_force() {
    let mut gains = 0;
    for seed in 0..6 {
        let cluster = scattered(seed, &["a", "b", "c", "d", "e"]);
        let options = DrainOptions { force: true, ..DrainOptions::default() };
        let (max_unavailable, surge, node_start_up) = (1, 0, Span::default());
        let act = Act::Upgrade { options, max_unavailable, surge, node_start_up };
        let names = ["a", "b", "c", "d"].map(NodeName::from).to_vec();
        let procedure = Procedure { nodes: NodeChoice::Named(names.clone()), act };
        let options = RehearsalOptions::default();
        let cluster = Scenario { steps: Vec::new(), ..scenario("taint e x:NoSchedule", &cluster) };
        let rehearsal = Rehearsal::new(cluster, &procedure, options).unwrap();
        let mut known = vec![rehearsal.run(rehearsal.order())];
        loop {
            let more = rehearsal.orders(&known, 40);
            if more.is_empty() {
                break;
            }
            known.extend(more.iter().map(|order| rehearsal.run(order)));
        }
        let best = known.iter().map(|it| it.cost()).min().unwrap();
        let all = permutations(&names);
        assert_eq!(all.len(), 24);
        let brute = all.iter().map(|order| rehearsal.run(order).cost()).min().unwrap();
        assert_eq!(best, brute, "seed {seed}");
        gains += usize::from(best < known[0].cost());
    }
    assert!(gains >= 2, "the order matters in {gains} of 6 clusters");
}
