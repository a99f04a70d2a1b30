//! The recorded answers as something that others use: the index, the page, and the runner for Rust,
//! which asks the engine here.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};
use taintlab_core::api::{NodeCondition, Taint, Toleration};
use taintlab_core::policy::admission::{AdmissionConfig, add_default_tolerations};
use taintlab_core::policy::matching::{matching_tolerations, min_toleration_time, tolerates};
use taintlab_core::protocol::zone::compute_zone_state;
use taintlab_core::queue::flowcontrol::TokenBucketRateLimiter;
use taintlab_core::time::Timestamp;

#[path = "../../vectors/runners/vectors.rs"]
mod vectors;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

fn index() -> Vec<Value> {
    let text = fs::read(folder().join("index.json")).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["families"].as_array().unwrap().clone()
}

fn names(family: &Value, member: &str) -> Vec<String> {
    let list = family[member].as_array().into_iter().flatten();
    list.map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_index_is_about_all_files_and_all_their_members() {
    let mut families = BTreeSet::new();
    for family in index() {
        let name = family["family"].as_str().unwrap();
        families.insert(format!("{name}.jsonl.gz"));
        let file = fs::File::open(folder().join(format!("{name}.jsonl.gz"))).unwrap();
        let mut members = BTreeSet::new();
        let mut cases = 0;
        for line in BufReader::new(GzDecoder::new(file)).lines() {
            let case: Map<String, Value> = serde_json::from_str(&line.unwrap()).unwrap();
            members.extend(case.keys().cloned());
            cases += 1;
        }
        assert_eq!(family["cases"], cases, "{name}");
        let [answer, notes, uncertain] =
            ["answer", "notes", "uncertain"].map(|member| names(&family, member));
        let steps = family["steps"].as_object().into_iter().flatten();
        assert!(!answer.is_empty() || steps.count() > 0, "{name}");
        assert!(family["release"].is_string(), "{name}");
        for member in answer.iter().chain(&notes).chain(&uncertain) {
            assert!(members.contains(member), "{name} has no `{member}`");
        }
        let input = members.iter().filter(|it| !answer.contains(it) && !notes.contains(it));
        assert!(input.count() > 0, "{name} asks nothing");
    }
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let files = files.map(|name| name.into_string().unwrap());
    assert_eq!(files.filter(|name| name.ends_with(".gz")).collect::<BTreeSet<_>>(), families);
}

/// `BLESS=1` writes the table.
#[test]
fn the_page_has_the_families_of_the_index() {
    let mut table =
        String::from("| family | cases | release | upstream | asks |\n|---|--:|---|---|---|\n");
    for it in index() {
        let text = |member: &str| it[member].as_str().unwrap().to_owned();
        table += &format!(
            "| `{}` | {} | {} | {} | {} |\n",
            text("family"),
            it["cases"],
            text("release"),
            text("upstream"),
            text("asks")
        );
    }
    let path = folder().join("README.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- families -->\n").unwrap();
    let (found, after) = rest.split_once("<!-- end of families -->").unwrap();
    if std::env::var_os("BLESS").is_some() {
        let page = format!("{before}<!-- families -->\n{table}<!-- end of families -->{after}");
        fs::write(path, page).unwrap();
    } else {
        assert_eq!(found, table);
    }
}

fn list<T: serde::de::DeserializeOwned>(value: &Value) -> Vec<T> {
    if value.is_null() { Vec::new() } else { serde_json::from_value(value.clone()).unwrap() }
}

/// Answer of the engine, as an entry in Rust gives it.
fn engine(family: &str, case: &Value) -> Value {
    // Before there was a gate for them, the operators did not exist.
    let numbers = case["enable_comparison_operators"] == true;
    match family.split('_').next().unwrap().split('-').next().unwrap() {
        "tolerates" => {
            let toleration: Toleration =
                serde_json::from_value(case["toleration"].clone()).unwrap();
            let taint: Taint = serde_json::from_value(case["taint"].clone()).unwrap();
            json!({"tolerates": tolerates(&toleration, &taint, numbers)})
        }
        "matching" => {
            let (taints, tolerations) =
                (list::<Taint>(&case["taints"]), list::<Toleration>(&case["tolerations"]));
            let found = matching_tolerations(&taints, &tolerations, numbers);
            let used: Vec<&Toleration> =
                found.used.iter().map(|index| &tolerations[*index]).collect();
            let nanos = min_toleration_time(used.iter().copied());
            let whole = nanos == -1 || nanos % 1_000_000_000 == 0;
            let seconds = if nanos == -1 { -1 } else { nanos / 1_000_000_000 };
            json!({
                "all_tolerated": found.all_tolerated, "used": used, "min_ns": nanos,
                "infinite": nanos < 0, "min_seconds": whole.then_some(seconds),
            })
        }
        "zone" => {
            let count = |name: &str| case[name].as_u64().unwrap();
            let kinds = list::<String>(&case["not_ready_kinds"]);
            let with = |status: &str| NodeCondition { status: status.into(), ..Default::default() };
            let ready = (0..count("ready")).map(|_| Some(with("True")));
            let not_ready = (0..count("not_ready")).map(|index| {
                let kind =
                    kinds.get(usize::try_from(index).unwrap()).map_or("False", String::as_str);
                (kind != "nil").then(|| with(kind))
            });
            let nodes: Vec<Option<NodeCondition>> = ready.chain(not_ready).collect();
            let threshold = case["unhealthy_zone_threshold"].as_f64().unwrap() as f32;
            let (number, state) = compute_zone_state(nodes.iter().map(Option::as_ref), threshold);
            json!({"result_not_ready": number, "result_state": state})
        }
        "token" => {
            let qps = case["qps"].as_f64().unwrap() as f32;
            let burst = i32::try_from(case["burst"].as_i64().unwrap()).unwrap();
            let mut bucket = TokenBucketRateLimiter::new(qps, burst);
            let calls = case["calls"].as_array().unwrap().iter().map(|call| {
                let now = Timestamp::from_nanos(call["t"].as_u64().unwrap());
                json!({"ok": bucket.try_accept(now)})
            });
            json!({"calls": calls.collect::<Value>()})
        }
        "defaulttolerations" => {
            let mut tolerations = list::<Toleration>(&case["tolerations"]);
            add_default_tolerations(&AdmissionConfig::default(), &mut tolerations);
            json!({"result": tolerations})
        }
        other => panic!("no entry for {other}"),
    }
}

#[test]
fn the_engine_is_one_of_the_entries() {
    for family in [
        "tolerates",
        "tolerates-numeric",
        "tolerates_1.36",
        "matching",
        "matching_1.36",
        "zone_state",
        "token_bucket",
        "defaulttolerations_1.20",
    ] {
        let report = vectors::run(&folder(), family, |case| engine(family, case)).unwrap();
        assert!(report.agrees() && report.agreed > 100, "{report}");
    }
}

#[test]
fn a_wrong_entry_is_shown() {
    let wrong = |case: &Value| json!({"tolerates": case["toleration"]["operator"] == "Exists"});
    let report = vectors::run(&folder(), "tolerates", wrong).unwrap();
    assert!(!report.agrees() && report.differences.len() == 3, "{report}");
    // The page shows the first difference and the summary.
    let text = report.to_string();
    let page = fs::read_to_string(folder().join("README.md")).unwrap();
    let summary = text.lines().last().unwrap();
    assert!(page.contains(&format!("{}\n{summary}\n", report.differences[0])), "{text}");
    assert!(vectors::run(&folder(), "nothing", wrong).is_err());
}
