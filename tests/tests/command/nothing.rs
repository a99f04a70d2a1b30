//! Gates, tests and questions about nothing: none passes silently, and none says that all is well.

use super::host::{Ran, taintlab, taintlab_words};

const CLUSTER: &str = include_str!("pull-requests/nodes.yaml");
const WEB: &str = include_str!("pull-requests/web.yaml");
const BATCH: &str = include_str!("pull-requests/batch.yaml");

/// The service of `web`.
const SERVICE: &str = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n\
    spec: {selector: {app: web}}\n";

/// `web` with pods that no node has room for, and scaled to zero.
fn without_pods() -> [(String, &'static str); 2] {
    [
        (WEB.replace("cpu: \"1\"", "cpu: \"500\""), "no pod was ready before anything failed"),
        (WEB.replace("replicas: 3", "replicas: 0"), "it asked for no pod when things failed"),
    ]
}

fn report(web: &str, options: &[&str]) -> Ran {
    let words = ["report", "nodes.yaml", "new.yaml", "--domains", "node", "--remedies", "0"];
    let files = [("nodes.yaml", CLUSTER), ("web.yaml", WEB), ("new.yaml", web)];
    taintlab_words(&[&words, options].concat(), &files)
}

#[test]
fn a_workload_without_pods_is_worse_than_one_with_some() {
    let baseline = ["--baseline", "nodes.yaml", "--baseline", "web.yaml"];
    for (web, why) in without_pods() {
        let ran = report(&web, &baseline);
        let row = format!("deployment/shop/web   nothing fails   has ready pods   {why}\n");
        assert!(ran.out.contains(&row) && ran.out.contains(": 1 worse, "), "{}", ran.out);
        assert_eq!(ran.code, 1, "{}", ran.err);
        let line = "report nodes.yaml web.yaml batch.yaml --domains node --remedies 0 --baseline \
                    nodes.yaml --baseline new.yaml --baseline batch.yaml";
        let files =
            [("nodes.yaml", CLUSTER), ("web.yaml", WEB), ("new.yaml", &web), ("batch.yaml", BATCH)];
        let back = taintlab(line, &files);
        assert!(back.out.contains(": 1 better, "), "{}", back.out);
        assert_eq!(back.code, 0, "{}", back.err);
    }
}

#[test]
fn a_rule_about_a_workload_without_pods_is_broken() {
    for (web, why) in without_pods() {
        for rule in ["deployment/shop/web: zeroReady > 0s", "deployment/shop/web: score < 1"] {
            let ran = report(&web, &["--fail-if", rule]);
            assert_eq!(ran.code, 1, "{rule}: {}", ran.out);
            assert!(
                ran.err.contains(&format!("{rule}: deployment/shop/web: {why}")),
                "{}",
                ran.err
            );
        }
    }
}

#[test]
fn a_time_that_does_not_end_breaks_every_limit() {
    let once = WEB.replace("tolerationSeconds: 30", "tolerationSeconds: 3600");
    for (horizon, rule, code) in [
        ("2m", "below > 5m", 1),
        ("2m", "longestGap > 5m", 1),
        ("1h", "below > 2h", 1),
        ("2h", "below > 2h", 0),
    ] {
        let ran = report(&once, &["--horizon", horizon, "--fail-if", rule]);
        assert_eq!(ran.code, code, "{horizon}, {rule}: {}{}", ran.out, ran.err);
        assert_eq!(ran.err.contains(" or more, without end ("), code == 1, "{}", ran.err);
    }
}

#[test]
fn endpoints_are_those_of_a_service() {
    let rule = ["--fail-if", "deadEndpoints > 10m"];
    let without = report(WEB, &rule);
    assert!(without.err.contains("no Service has a ready pod of such a workload"), "{without:?}");
    assert_eq!(without.code, 1);
    assert_eq!(report(&format!("{WEB}{SERVICE}"), &rule).code, 0);
}

#[test]
fn a_test_that_expects_nothing_fails() {
    let scenario =
        "apiVersion: taintlab/v1\nkind: Scenario\nobjects:\n  nodes:\n  - metadata: {name: a}\n";
    for (reporter, fails) in [
        ("spec", "scenario.yaml: error: expect: nothing is expected"),
        ("tap", "not ok 1 - scenario.yaml: a file expects something"),
        ("junit", "failures=\"1\""),
    ] {
        let line = format!("test scenario.yaml --reporter {reporter}");
        let ran = taintlab(&line, &[("scenario.yaml", scenario)]);
        assert!(ran.out.contains(fails), "{}", ran.out);
        assert_eq!(ran.code, 1);
    }
}

#[test]
fn a_wish_needs_runs_that_are_longer_than_it() {
    let files = [("nodes.yaml", CLUSTER), ("web.yaml", WEB)];
    for (wish, horizon) in [
        ("no move if a node is away for 10m", "30s"),
        ("deployment/shop/web: atZero <= 10m if a node is lost", "10m"),
    ] {
        let words = ["solve", "nodes.yaml", "web.yaml", "--want", wish, "--horizon", horizon];
        let ran = taintlab_words(&words, &files);
        let why = " needs runs of more than 10m0s, not of ";
        assert!(ran.err.contains(why), "{ran:?}");
        assert_ne!(ran.code, 0);
    }
}

/// A pod on node `a`, with a grace period.
fn pod(grace: u8, phase: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: a}}\nstatus: {{allocatable: {{cpu: 4, pods: \
         20}}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{nodeName: a, \
         terminationGracePeriodSeconds: {grace}, containers: [{{name: c}}]}}\nstatus: {{phase: \
         {phase}}}\n"
    )
}

#[test]
fn a_pod_that_is_gone_at_once_is_evicted() {
    for text in [pod(0, "Running"), pod(30, "Succeeded")] {
        let files = [("p.yaml", text.as_str())];
        let ran = taintlab("when p -f p.yaml --fault tainted=x:NoExecute", &files);
        let said = "default/p: if a is tainted with x:NoExecute now, it is evicted after 0s\n";
        assert!(ran.out.starts_with(said), "{}", ran.out);
        assert!(ran.out.ends_with("its object is gone after 0s\n"), "{}", ran.out);
    }
    let text = pod(0, "Running");
    let ran = taintlab("plan taint a x:NoExecute -f p.yaml", &[("p.yaml", &text)]);
    assert!(ran.out.contains("\n1 pod has left, the last after 0s\n"), "{}", ran.out);
}
