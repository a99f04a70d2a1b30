//! `taintlab report --baseline`: pull requests, and what the gate says of them.

use serde_json::Value;

use super::host::taintlab;

const NODES: &str = include_str!("pull-requests/nodes.yaml");
const WEB: &str = include_str!("pull-requests/web.yaml");
const BATCH: &str = include_str!("pull-requests/batch.yaml");

/// A pull request: what it changes in the text of `web.yaml` or `batch.yaml`.
fn changed(from: &str, to: &str) -> (String, String) {
    assert!(WEB.contains(from) || BATCH.contains(from), "{from}");
    (WEB.replace(from, to), BATCH.replace(from, to))
}

/// With so many pods that want the same nodes.
fn compare_with(pods: u8, web: &str, batch: &str, options: &str) -> super::host::Ran {
    let with = |batch: &str| batch.replace("replicas: 6", &format!("replicas: {pods}"));
    let line = format!(
        "report nodes.yaml new/web.yaml new/batch.yaml --remedies 0 --baseline nodes.yaml \
         --baseline web.yaml --baseline batch.yaml {options}"
    );
    let files = [
        ("nodes.yaml", NODES),
        ("web.yaml", WEB),
        ("batch.yaml", &with(BATCH)),
        ("new/web.yaml", web),
        ("new/batch.yaml", &with(batch)),
    ];
    taintlab(&line, &files)
}

fn compare(web: &str, batch: &str, options: &str) -> super::host::Ran {
    compare_with(6, web, batch, options)
}

#[test]
fn the_same_manifests_are_as_before() {
    let ran = compare(WEB, BATCH, "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "Score 87 → 87: 4 as before\n"), "{ran:?}");
}

/// Pull requests that look harmless: each with what the gate says, of objects and of failures.
#[test]
fn pull_requests_that_make_it_worse_are_found_with_their_cause() {
    let toleration = "      tolerations:\n      - {key: node.kubernetes.io/unreachable, operator: Exists, \
        effect: NoExecute, tolerationSeconds: 30}\n";
    let spread =
        &WEB[WEB.find("      topologySpread").unwrap()..WEB.find("      containers").unwrap()];
    for (pods, from, to, options, worse, cause) in [
        (
            6,
            toleration,
            "",
            "",
            "deployment/shop/web, a node lost: below 59m14.9s, never whole again; before: below 32.1s",
            "new/web.yaml:12:7: Deployment shop/web: spec.template.spec.tolerations: \
             node.kubernetes.io/unreachable:NoExecute op=Exists for 30s went",
        ),
        (
            6,
            spread,
            "",
            "",
            "deployment/shop/web, a zone lost: below 42s, at zero 26.8s; before: ",
            "spec.template.spec.topologySpreadConstraints: ",
        ),
        (
            6,
            "maxUnavailable: 1",
            "minAvailable: 3",
            "--fault drained",
            "the drain, a node drained: does not end: error when evicting pods/",
            "PodDisruptionBudget shop/web: spec.minAvailable: 3 came",
        ),
        (
            6,
            "replicas: 3",
            "replicas: 1",
            "",
            "deployment/shop/web, a node lost: below 32s, at zero 32s; before: below 32.1s",
            "new/web.yaml:7:13: Deployment shop/web: spec.replicas: 3 → 1",
        ),
        (
            8,
            "value: 0",
            "value: 1000",
            "",
            "deployment/shop/web, a zone lost: below 54m4.9s, at zero 54m4.9s, never whole again; ",
            "new/batch.yaml:4:8: PriorityClass batch: value: 0 → 1000",
        ),
    ] {
        let (web, batch) = changed(from, to);
        let ran = compare_with(pods, &web, &batch, options);
        assert!(ran.code == 1 && ran.err.contains(&format!("failed: {worse}")), "{from}: {ran:?}");
        assert!(ran.out.contains(cause), "{from}: {}", ran.out);
        // One screen of a pull request.
        let markdown = compare_with(pods, &web, &batch, &format!("{options} --markdown")).out;
        assert!(markdown.lines().count() < 40 && markdown.contains("| Worse |"), "{markdown}");
    }
}

#[test]
fn a_gate_passes_on_no_baseline_of_nothing() {
    let files = [("nodes.yaml", NODES), ("web.yaml", WEB), ("batch.yaml", BATCH)];
    let report = "report nodes.yaml web.yaml batch.yaml --remedies 0";
    let ran = taintlab(&format!("{report} --baseline web.yaml --baseline batch.yaml"), &files);
    assert!(ran.code == 1 && ran.err.contains("failed: the baseline is not whole: "), "{ran:?}");
    let nodes = taintlab(&format!("{report} --domains node --json"), &files).out;
    let files = [files[0], files[1], files[2], ("nodes.json", nodes.as_str())];
    let ran = taintlab(&format!("{report} --domains zone --baseline nodes.json"), &files);
    let reason = "failed: the baseline is not whole: no kind of failure is in both reports\n";
    assert!(ran.code == 1 && ran.err.contains(reason), "{ran:?}");
    let github =
        taintlab(&format!("{report} --domains zone --baseline nodes.json --github"), &files);
    assert!(github.out.starts_with("::error title=taintlab worse-than-baseline::the baseline is"));
}

#[test]
fn what_got_better_fails_no_gate() {
    let (web, batch) = changed("tolerationSeconds: 30", "tolerationSeconds: 0");
    let ran = compare(&web, &batch, "");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.contains("BETTER"), "{ran:?}");
}

#[test]
fn workloads_come_and_go() {
    let ran = compare(&WEB.replace("name: web", "name: shop"), BATCH, "--json");
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let changes = json["difference"]["changes"].as_array().unwrap();
    let verdict_of = |subject: &str| {
        changes.iter().find(|it| it["subject"] == subject).map(|it| it["verdict"].clone()).unwrap()
    };
    assert_eq!(verdict_of("deployment/shop/shop"), "new");
    assert_eq!(verdict_of("deployment/shop/web"), "gone");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let went = json["changed"].as_array().unwrap().iter().find(|it| it["what"] == "went").unwrap();
    assert_eq!(
        (&went["object"], &went["file"]),
        (&"Deployment shop/web".into(), &"web.yaml".into())
    );
}

#[test]
fn a_report_is_a_baseline_too() {
    let files = [("nodes.yaml", NODES), ("web.yaml", WEB), ("batch.yaml", BATCH)];
    let before = taintlab("report nodes.yaml web.yaml batch.yaml --remedies 0 --json", &files).out;
    let (web, _) = changed("replicas: 3", "replicas: 1");
    let torn = before.replacen("\"horizon\":", "\"horizont\":", 1);
    let files = [
        ("nodes.yaml", NODES),
        ("web.yaml", web.as_str()),
        ("batch.yaml", BATCH),
        ("before.json", before.as_str()),
        ("torn.json", torn.as_str()),
    ];
    let report = "report nodes.yaml web.yaml batch.yaml --remedies 0";
    let ran = taintlab(&format!("{report} --baseline before.json"), &files);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out.contains("\nthe baseline is a report: with its manifests, what"),
        "{}",
        ran.out
    );
    // What was written is the next baseline.
    let next = taintlab(&format!("{report} --baseline before.json --json"), &files).out;
    let files = [files[0], files[1], files[2], ("next.json", next.as_str())];
    let ran = taintlab(&format!("{report} --baseline next.json"), &files);
    assert_eq!(ran.code, 0, "{ran:?}");
    let other = taintlab(&format!("{report} --release 1.30 --baseline next.json"), &files).out;
    assert!(
        other.contains("\nthe baseline is about Kubernetes 1.37, this report is not\n"),
        "{other}"
    );
    let files = [files[0], files[1], files[2], files[3], ("torn.json", torn.as_str())];
    for (options, code, said) in [
        ("--baseline torn.json", 1, "torn.json: error: this report is damaged: "),
        ("--baseline none.json", 1, "none.json: error: "),
        (
            "--horizon 2h --baseline next.json",
            1,
            "next.json: error: its runs were watched for 1h0m0s",
        ),
        ("--github", 2, "error: --github says what got worse; it needs --baseline"),
        ("--sarif", 2, "error: --sarif says what got worse; it needs --baseline"),
        ("--json --prometheus", 2, "error: --json and --prometheus cannot be used together"),
        ("--shard 1/2 --baseline torn.json", 2, "error: --shard prints a part as JSON"),
    ] {
        let ran = taintlab(&format!("{report} {options}"), &files);
        assert!(ran.code == code && ran.err.starts_with(said), "{options}: {ran:?}");
    }
}

#[test]
fn other_programs_read_it() {
    let (web, batch) = changed("replicas: 3", "replicas: 1");
    let github = compare(&web, &batch, "--github").out;
    let first =
        "::error file=new/web.yaml,line=7,col=13,title=taintlab worse-than-baseline::deployment/";
    assert!(github.starts_with(first), "{github}");
    let sarif: Value = serde_json::from_str(&compare(&web, &batch, "--sarif").out).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "worse-than-baseline");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
    let junit = compare(&web, &batch, "--junit").out;
    assert!(junit.contains("name=\"deployment/shop/web\"><failure message="), "{junit}");
    let prometheus = compare(&web, &batch, "--prometheus").out;
    let gauge = "taintlab_zero_ready_seconds{workload=\"deployment/shop/web\",kind=\"node\",\
        fault=\"lost\"} 31.976\n";
    assert!(prometheus.contains(gauge), "{prometheus}");
    assert!(prometheus.lines().all(|line| line.starts_with(['#', 't'])), "{prometheus}");
}
