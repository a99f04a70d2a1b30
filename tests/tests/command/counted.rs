//! `taintlab plan … --by-count`: a row for each number of nodes.

use serde_json::Value;

use super::host::taintlab;
use super::planned::{json, node, nodes, plan, workload};

const CHAPTER: &str =
    include_str!("../../../docs/book/src/explanation/taints-that-others-write.md");

/// The scenario of this name in the chapter.
fn scenario_of_chapter(name: &str) -> &'static str {
    let mut fences = CHAPTER.split("```taintlab\n").skip(1).filter_map(|it| it.split("```").next());
    fences.find(|fence| fence.contains(&format!("\n  name: {name}\n"))).unwrap()
}

/// Rows of a curve, with the whole answer.
fn rows(line: &str, cluster: &str) -> (Vec<Value>, Value) {
    let (value, code) = json(&format!("{line} --by-count"), cluster);
    assert_eq!(code, 0, "{value}");
    (value["counts"].as_array().unwrap().clone(), value)
}

#[test]
fn the_chapter_shows_what_the_command_prints() {
    let (_, after) = CHAPTER.split_once("npx taintlab plan taint ").unwrap();
    let (line, after) = after.split_once("\n```\n").unwrap();
    let printed = after.split("```\n").nth(1).unwrap();
    let cluster = scenario_of_chapter("quarantine-at-once");
    let ran = taintlab(&format!("plan taint {line}"), &[("gpus.yaml", cluster)]);
    assert_eq!((ran.out.as_str(), ran.code), (printed, 0), "{}", ran.err);
}

#[test]
fn each_row_is_the_plan_for_its_nodes() {
    let cluster = nodes()
        + &workload("db", &["a", "a", "b"])
        + &workload("web", &["b", "c", "c"])
        + &workload("log", &["c"]);
    let (rows, whole) = rows("taint b a c x:NoExecute", &cluster);
    assert_eq!(rows.len(), 3);
    for (row, names) in rows.iter().zip(["b", "b a", "b a c"]) {
        let (one, _) = json(&format!("taint {names} x:NoExecute --horizon 1h"), &cluster);
        let given = &one["given"];
        assert_eq!(row["nodes"], names.split(' ').count(), "{row}");
        assert_eq!(row["last"].as_str(), names.split(' ').next_back());
        assert_eq!(row["left"], given["moved"], "{row}");
        let of_plan = |name: &Value| {
            let all = given["workloads"].as_array().unwrap();
            all.iter().find(|it| it["subject"] == *name).unwrap_or_else(|| panic!("{given}"))
        };
        let mut pending = 0;
        for workload in row["workloads"].as_array().unwrap() {
            let same = of_plan(&workload["subject"]);
            for figure in ["leastReady", "wanted", "atZero", "pending"] {
                assert_eq!(workload[figure], same[figure], "{figure}: {row}");
            }
            let groups = workload["pending"].as_array().into_iter().flatten();
            pending += groups.map(|it| it["pods"].as_u64().unwrap()).sum::<u64>();
            let last = same["steps"].as_array().unwrap().last().unwrap();
            assert_eq!(workload["atZeroInTheEnd"], last["ready"] == 0, "{row}");
        }
        assert_eq!(row["pending"], pending, "{row}");
    }
    // db is on a and b, web on b and c, log on c alone. On the one node that is left four of six fit.
    let first = whole["firstAtZero"].as_array().unwrap();
    let found: Vec<_> =
        first.iter().map(|it| (it["subject"].as_str().unwrap(), &it["nodes"])).collect();
    assert_eq!(
        found.iter().map(|(name, nodes)| (*name, nodes.as_u64().unwrap())).collect::<Vec<_>>(),
        [("replicaset/shop/db", 2), ("replicaset/shop/log", 3), ("replicaset/shop/web", 3)]
    );
    assert!(first.iter().all(|it| it["inTheEndFrom"] == 3), "{whole}");
    let ran = plan("taint b a c x:NoExecute --by-count", &cluster);
    let sum = "replicaset/shop/db is at zero from 2 nodes on, and stays so from 3 on: 3 ready - 1 on b \
        - 2 on a = 0\n";
    assert!(ran.out.contains(sum), "{}", ran.out);
    assert!(ran.out.contains("\nPods stay Pending from 2 nodes on: 2 pods without a node: 0/3 "));
}

#[test]
fn a_pod_that_tolerates_the_taint_is_never_at_zero() {
    let tolerant = workload("db", &["a", "b"]).replace(
        "containers:",
        "tolerations: [{key: x, operator: Exists, effect: NoExecute}], containers:",
    );
    let ran = plan("taint a b c x:NoExecute --by-count", &(nodes() + &tolerant));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("\nNo workload is at zero in any row\n"), "{}", ran.out);
    assert!(
        ran.out.contains("\n3       c          0            0         -         -\n"),
        "{}",
        ran.out
    );
}

#[test]
fn a_zone_changes_where_nodes_are_not_ready_and_never_for_a_taint() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let cluster = names.map(|name| node(name, "z1")).concat() + &workload("db", &["e"]);
    let all = names.join(" ");
    let (tainted, _) = rows(&format!("taint {all} x:NoExecute"), &cluster);
    assert!(tainted.iter().all(|row| row["zones"].as_array().unwrap().is_empty()), "{tainted:?}");
    let ran = plan(&format!("taint {all} x:NoExecute --by-count"), &cluster);
    let why =
        "No zone changes its state, and no rate limit applies: nodes with the taint stay Ready\n";
    assert!(ran.out.contains(why), "{}", ran.out);
    let spot = format!("spot {all} --handler none");
    let (rows, _) = rows(&spot, &cluster);
    let first_state = |row: &Value| row["zones"][0]["state"].as_str().unwrap_or("-").to_owned();
    let states: Vec<String> = rows.iter().map(first_state).collect();
    // Two nodes are too few for a disruption of a part. A node is deleted soon after it is seen not to
    // be ready, so that more than three have to be lost before three are not ready together.
    let from = states.iter().position(|state| state != "-").unwrap();
    assert!(from >= 2, "{states:?}");
    assert!(states[from..8].iter().all(|state| state == "PartialDisruption"), "{states:?}");
    let is_full = |row: &Value| row["zones"].to_string().contains("FullDisruption");
    assert_eq!(rows.iter().position(is_full), Some(8), "{rows:?}");
    let ran = plan(&format!("{spot} --by-count"), &cluster);
    let said = format!("\nZones change from {} nodes on: z1 PartialDisruption at ", from + 1);
    assert!(ran.out.contains(&said), "{}", ran.out);
    // The pod of db is on e, the fifth.
    assert!(ran.out.contains("   CUT OFF   "), "{}", ran.out);
    let cut_off: Vec<_> = rows.iter().map(|row| row["cutOff"].as_u64().unwrap()).collect();
    assert_eq!(cut_off, [0, 0, 0, 0, 1, 1, 1, 1, 1]);
}

#[test]
fn many_nodes_have_rows_in_steps_and_the_answer_says_so() {
    let names: Vec<String> = (0..130).map(|number| format!("n{number}")).collect();
    let cluster: String = names.iter().map(|name| node(name, "z1")).collect();
    let cluster = cluster + &workload("db", &["n0", "n3"]);
    let line = format!("taint {} x:NoExecute", names.join(" "));
    let (rows, whole) = rows(&line, &cluster);
    let counts: Vec<u64> = rows.iter().map(|row| row["nodes"].as_u64().unwrap()).collect();
    assert_eq!(counts[..4], [1, 3, 6, 9]);
    assert_eq!(counts.last(), Some(&130));
    assert!(counts.len() <= 60, "{counts:?}");
    // Both pods are on the first four nodes: 3 are too few, and 6 the next that were tried.
    assert_eq!(
        (&whole["firstAtZero"][0]["nodes"], &whole["firstAtZero"][0]["notAt"]),
        (&6.into(), &3.into())
    );
    let ran = plan(&format!("{line} --by-count"), &cluster);
    assert!(ran.out.contains("\n45 of 130 numbers are planned, evenly spaced\n"), "{}", ran.out);
    let from =
        "db is at zero from 6 nodes on, if not before: 3 are too few, and stays so from 130 on: ";
    assert!(ran.out.contains(from), "{}", ran.out);
    // Up to 60 nodes have a row each.
    let (rows, _) = self::rows(&format!("taint {} x:NoExecute", names[..60].join(" ")), &cluster);
    assert_eq!(rows.len(), 60);
}

#[test]
fn a_curve_is_refused_where_it_has_no_meaning() {
    let cluster = nodes() + &workload("db", &["a"]);
    let one_run = plan("taint a b x:NoExecute --by-count --scenario", &cluster);
    assert_eq!(one_run.code, 2);
    let why = "--by-count and --scenario cannot be used together";
    assert!(one_run.err.contains(why), "{}", one_run.err);
    let in_turn = plan("drain a b --by-count", &cluster);
    assert_eq!(in_turn.code, 2);
    assert!(in_turn.err.contains("'--by-count'"), "{}", in_turn.err);
}

#[test]
fn markdown_has_the_curve_as_a_table() {
    let cluster = nodes() + &workload("db", &["a"]);
    let ran = plan("taint a b x:NoExecute --by-count --markdown", &cluster);
    assert!(
        ran.out.starts_with("## Taint a, b x:NoExecute: by number of nodes\n\n- "),
        "{}",
        ran.out
    );
    assert!(
        ran.out.ends_with("\n| 2 | b | 1 | 0 | 1, for 40s | replicaset/shop/db 0 of 1 |\n"),
        "{}",
        ran.out
    );
}
