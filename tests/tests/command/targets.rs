//! `taintlab report` with targets: of annotations, and of a file.

use serde_json::Value;

use super::host::{Ran, taintlab};

const NODES: &str = include_str!("pull-requests/nodes.yaml");
const WEB: &str = include_str!("pull-requests/web.yaml");
const BATCH: &str = include_str!("pull-requests/batch.yaml");

/// The shop, whose `web` is below for 32.1 s at most if a node is lost, and at zero for none.
fn annotated(targets: &str) -> String {
    let name = "  name: web\n  namespace: shop\n";
    let annotation = format!("{name}  annotations:\n    taintlab/targets: \"{targets}\"\n");
    let text = WEB.replacen(name, &annotation, 1);
    assert_ne!(text, WEB);
    text
}

fn report(web: &str, targets: &str, options: &str) -> Ran {
    let file = if targets.is_empty() { "" } else { "--targets targets.yaml" };
    let line = format!("report nodes.yaml web.yaml batch.yaml --remedies 0 {file} {options}");
    let files = [
        ("nodes.yaml", NODES),
        ("web.yaml", web),
        ("batch.yaml", BATCH),
        ("targets.yaml", targets),
    ];
    taintlab(&line, &files)
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn targets_are_met_missed_or_not_asked() {
    let web = annotated("node: atZero <= 0s, below <= 30s; zone: atZero≤5m; drain: atZero <= 0s");
    let ran = report(&web, "", "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let shown = "\
Targets: 2 met, 1 missed, 1 not asked
VERDICT                          WORKLOAD              TARGET                 WORST   IF
missed by 2.1s                   deployment/shop/web   node: below <= 30s     32.1s   node ";
    assert!(ran.out.starts_with(shown), "{}", ran.out);
    assert!(ran.out.contains("\nnot asked: nothing was drained   deployment/shop/web   drain: "));
    let drained = report(&web, "", "--fault drained --fault lost").out;
    assert!(drained.starts_with("Targets: 3 met, 1 missed\n"), "{drained}");
}

#[test]
fn the_score_is_about_targets_where_there_are_some() {
    let plain = json(&report(WEB, "", "--json"));
    assert_eq!(plain.get("targets"), None);
    let of = |json: &Value, subject: &str| {
        let rows = json["workloads"].as_array().unwrap();
        rows.iter().find(|row| row["subject"] == subject).unwrap().clone()
    };
    let met = json(&report(&annotated("node: below <= 1m"), "", "--json"));
    assert_eq!(met["targets"][0]["verdict"], "met", "{}", met["targets"]);
    assert_eq!(of(&met, "deployment/shop/web")["score"], 100, "whatever the harm");
    assert_ne!(of(&plain, "deployment/shop/web")["score"], 100);
    let missed = json(&report(&annotated("any: below <= 40s"), "", "--json"));
    let target = &missed["targets"][0];
    let (asked, failed) = (target["asked"].as_u64().unwrap(), target["missed"].as_u64().unwrap());
    assert!(failed > 0 && failed < asked, "{target}");
    let row = of(&missed, "deployment/shop/web");
    assert_eq!(row["score"], (asked - failed) * 100 / asked);
    assert!(row["arithmetic"].as_str().unwrap().contains("checks of its targets pass"), "{row}");
    // The mean of the cluster follows, and what has no target is as before.
    let batch = of(&missed, "deployment/shop/batch");
    assert_eq!(batch, of(&plain, "deployment/shop/batch"));
    let sum = row["score"].as_u64().unwrap() + batch["score"].as_u64().unwrap();
    assert_eq!(missed["score"]["score"], sum / 2, "{}", missed["score"]);
    let notes = missed["notes"].to_string();
    assert!(notes.contains("1 of 2 workloads judged by targets, "), "{notes}");
    assert!(notes.contains("; 1 other by default: 100 less its worst harm"), "{notes}");
}

#[test]
fn a_zone_that_has_all_nodes_is_asked_by_its_name() {
    let nodes = NODES.replace("zone: b}", "zone: a}").replace("zone: c}", "zone: a}");
    let files = [("nodes.yaml", nodes.as_str()), ("web.yaml", WEB)];
    for (targets, verdict) in [("zone: atZero <= 30m", "missed"), ("any: atZero <= 30m", "met")] {
        let text = format!("deployment/shop/web: \"{targets}\"\n");
        let files = [files[0], files[1], ("t.yaml", text.as_str())];
        let ran =
            taintlab("report nodes.yaml web.yaml --remedies 0 --targets t.yaml --json", &files);
        let target = &json(&ran)["targets"][0];
        assert_eq!(target["verdict"], verdict, "{target}");
        assert_eq!(target["endless"], verdict == "missed", "{target}");
    }
}

#[test]
fn a_time_that_does_not_end_meets_no_target() {
    // Without room elsewhere it is below to the end of the run, which is less than the target.
    let files =
        [("c.yaml", include_str!("edges/all-full.yaml")), ("t.yaml", "'*': 'node: below <= 2h'")];
    let ran = taintlab("report c.yaml --remedies 0 --targets t.yaml", &files);
    let row = "missed without end   deployment/shop/web   node: below <= 2h0m0s   59m";
    assert!(ran.out.contains(row) && ran.out.contains(" or more   node "), "{ran:?}");
}

#[test]
fn the_file_wins_and_of_its_names_the_longest() {
    let web = annotated("node: below <= 1s");
    let targets = "deployment/*: 'zone: atZero <= 1h'\ndeployment/shop/*: 'node: below <= 1m'\n";
    let found = json(&report(&web, targets, "--json"))["targets"].clone();
    let of_web: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["subject"] == "deployment/shop/web")
        .collect();
    assert_eq!(of_web.len(), 1, "{found}");
    assert_eq!(
        (&of_web[0]["target"], &of_web[0]["verdict"]),
        (&"node: below <= 1m0s".into(), &"met".into())
    );
}

#[test]
fn a_mistake_has_its_place() {
    for (web, targets, code, said) in [
        (
            annotated("node: below < 1s"),
            "",
            1,
            "error: deployment/shop/web: annotation taintlab/targets: `node: below < 1s` is no \
             target; write",
        ),
        (
            WEB.to_owned(),
            "'*': 'node: below <= 1m'\ndeployment/shop/wbe: 'node: below <= 1s'\n",
            1,
            "targets.yaml:2: error: deployment/shop/wbe: there is no such workload; there are ",
        ),
        (
            WEB.to_owned(),
            "# Ours\n\"deployment/shop/web\": 'rack: below <= 1s'\n",
            1,
            "targets.yaml:2: error: deployment/shop/web: there is no kind of failure `rack`; there \
             are node, ",
        ),
        (WEB.to_owned(), "- a\n", 1, "targets.yaml:1:1: error: "),
        (WEB.to_owned(), "web: {node: 30s}\n", 1, "targets.yaml:1:"),
    ] {
        let ran = report(&web, targets, "");
        assert!(ran.code == code && ran.err.contains(said), "{said}: {ran:?}");
    }
    let ran = report(&annotated("node"), "", "");
    assert!(ran.err.starts_with("web.yaml:"), "{ran:?}");
}

#[test]
fn a_gate_asks_for_targets() {
    let web = annotated("node: below <= 30s, atZero <= 0s; drain: atZero <= 0s");
    for (rule, code, said) in [
        (
            "deployment/shop/*:targetsMissed>0",
            1,
            "failed: deployment/shop/*:targetsMissed>0: deployment/shop/web: node: \
             below <= 30s missed by 2.1s: 32.1s (node ",
        ),
        ("targetsMissed>1", 0, ""),
        (
            "targetsNotAsked>0",
            1,
            "failed: targetsNotAsked>0: deployment/shop/web: drain: atZero <= 0s not \
             asked: nothing was drained\n",
        ),
        ("job/*:targetsMissed>0", 1, "failed: job/*:targetsMissed>0: "),
    ] {
        let ran = report(&web, "", &format!("--fail-if {rule}"));
        assert!(ran.code == code && ran.err.starts_with(said), "{rule}: {ran:?}");
    }
    // Without a target the rule would hold for ever.
    let ran = report(WEB, "", "--fail-if targetsMissed>0");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (1, "failed: targetsMissed>0: no such workload has a target\n")
    );
}

#[test]
fn every_output_has_them() {
    let web = annotated("node: below <= 30s, atZero <= 0s; drain: atZero <= 0s");
    let markdown = report(&web, "", "--markdown").out;
    assert!(
        markdown.starts_with("## Targets: 1 met, 1 missed, 1 not asked\n\n| Verdict | Workload")
    );
    assert!(markdown.contains("\n| met | deployment/shop/web | node: atZero <= 0s | 0s | - |\n"));
    assert!(markdown.contains("\n\n## Resilience: "), "{markdown}");
    let junit = report(&web, "", "--junit").out;
    let case = "name=\"deployment/shop/web, node: below &lt;= 30s\"><failure message=\"node: \
        below &lt;= 30s missed by 2.1s";
    assert!(junit.contains(case) && junit.contains(" failures=\"1\">"), "{junit}");
    assert!(junit.contains("drain: atZero &lt;= 0s\"><skipped/><system-out>"), "{junit}");
    let prometheus = report(&web, "", "--prometheus").out;
    for gauge in [
        "taintlab_target_met{workload=\"deployment/shop/web\",target=\"node: below <= 30s\"} 0\n",
        "taintlab_target_met{workload=\"deployment/shop/web\",target=\"node: atZero <= 0s\"} 1\n",
        "taintlab_target_seconds{workload=\"deployment/shop/web\",\
         target=\"node: atZero <= 0s\"} 0.000\n",
    ] {
        assert!(prometheus.contains(gauge), "{prometheus}");
    }
    assert!(!prometheus.contains("drain: "), "what was not asked has no figure: {prometheus}");
}

#[test]
fn a_baseline_is_judged_by_the_same_targets() {
    let web = annotated("node: below <= 30s");
    let file = "deployment/shop/web: 'node: below <= 10s'\n";
    let ran = report(&web, file, "--baseline nodes.yaml --baseline web.yaml --baseline batch.yaml");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("Targets: 0 met, 1 missed\n"), "{}", ran.out);
    let (_, scores) = ran.out.split_once("\nScore ").unwrap();
    let (before, rest) = scores.split_once(" → ").unwrap();
    assert!(rest.starts_with(&format!("{before}: 4 as before\n")), "{scores}");
}

#[test]
fn parts_keep_their_targets() {
    let web = annotated("node: below <= 30s; zone: atZero <= 1m");
    let whole = report(&web, "", "--json").out;
    let parts: Vec<String> =
        ["1/2", "2/2"].iter().map(|it| report(&web, "", &format!("--shard {it}")).out).collect();
    let files = [("1.json", parts[0].as_str()), ("2.json", parts[1].as_str())];
    let merged = taintlab("report merge 1.json 2.json --json", &files);
    assert_eq!(merged.out, whole, "{}", merged.err);
    let other = report(WEB, "", "--shard 2/2").out;
    let files = [files[0], ("2.json", other.as_str())];
    let merged = taintlab("report merge 1.json 2.json", &files);
    assert!(merged.err.starts_with("2.json: error: it was made of another cluster"), "{merged:?}");
}

/// The targets that the book shows, and what it says is printed of them.
#[test]
fn the_book_shows_what_is_printed() {
    let book = include_str!("../../../docs/book/src/how-to/report-resilience.md");
    let fence = |info: &str| {
        let (_, rest) = book.split_once(&format!("\n```{info}\n")).unwrap();
        rest.split_once("```\n").unwrap().0
    };
    let sample = include_str!("../../../examples/sample-cluster.yaml");
    let files = [("sample-cluster.yaml", sample), ("targets.yaml", fence("yaml targets"))];
    let line = "report sample-cluster.yaml --domains node,zone --targets targets.yaml --remedies 0";
    let ran = taintlab(line, &files);
    let mut rest = ran.out.as_str();
    for part in fence("text targets").split("…\n") {
        let Some((_, after)) = rest.split_once(part) else {
            panic!("{part}\nis not in\n{}", ran.out)
        };
        rest = after;
    }
}
