//! `--apply`: what a chart renders, onto a cluster.

use super::host::taintlab;

const CLUSTER: &str = "\
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: \"4\", pods: \"10\"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: d-1, labels: {team: red}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c}]}
";

/// Of another image, and without `replicas`, which an autoscaler sets.
const RENDERED: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: web:2}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
";

const FILES: [(&str, &str); 2] = [("cluster.yaml", CLUSTER), ("rendered.yaml", RENDERED)];

#[test]
fn an_object_that_is_there_is_changed_and_another_is_added() {
    let get = "run cluster.yaml --apply rendered.yaml --until 1m --kubectl";
    // A line of kubectl has blanks, which the words of this test do not.
    let ran = taintlab(&format!("{get}=get\u{a0}x"), &FILES);
    assert_eq!(ran.code, 1, "{ran:?}");
    let ran = taintlab("run cluster.yaml --apply rendered.yaml --until 1m", &FILES);
    assert_eq!(ran.code, 0, "{ran:?}");
    // The number of replicas stays that of the cluster.
    assert!(ran.out.contains("from 0 to 2"), "{}", ran.out);
    let report = taintlab("report cluster.yaml --apply rendered.yaml --remedies 0 --json", &FILES);
    assert!(report.out.contains("\"deployment/shop/web\""), "{report:?}");
}

#[test]
fn without_apply_it_is_an_error_with_its_own_line() {
    let ran = taintlab("run cluster.yaml rendered.yaml", &FILES);
    let said = "rendered.yaml:1:1: error: metadata.name: duplicate deployment `web`: first in \
        cluster.yaml\n";
    assert!(ran.err.starts_with(said), "{}", ran.err);
    assert_eq!(ran.code, 1);
}

#[test]
fn a_mistake_in_what_is_applied_has_its_own_line() {
    let wrong = RENDERED.replace("minAvailable: 1", "minAvailable: many");
    let files = [("cluster.yaml", CLUSTER), ("rendered.yaml", &wrong)];
    let ran = taintlab("run cluster.yaml --apply rendered.yaml", &files);
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with("rendered.yaml:13:"), "{}", ran.err);
}

#[test]
fn the_roll_out_is_simulated_or_settled() {
    let line = "run cluster.yaml --apply rendered.yaml --until 10s";
    let rolled = taintlab(line, &FILES);
    assert!(rolled.out.contains("SuccessfulCreate"), "{}", rolled.out);
    let settled = taintlab(&format!("{line} --settled"), &FILES);
    assert!(!settled.out.contains("SuccessfulCreate"), "{}", settled.out);
    let said = "the roll-out is over after 2s; --at and --until count from then, the times of events \
        from its beginning\n";
    assert!(settled.err.contains(said), "{}", settled.err);
    assert!(settled.out.ends_with("until 12s\n"), "{}", settled.out);
}

#[test]
fn several_are_applied_in_their_order() {
    let second = RENDERED.replace(
        "spec:\n  selector: {matchLabels: {app: web}}\n  t",
        "spec:\n  replicas: 5\n  selector: {matchLabels: {app: web}}\n  t",
    );
    let files = [FILES[0], FILES[1], ("second.yaml", &second)];
    let line = "run cluster.yaml --apply rendered.yaml --apply second.yaml --until 5s";
    let ran = taintlab(line, &files);
    assert!(ran.out.contains("from 0 to 5"), "{}", ran.out);
    let other = taintlab(
        &line.replace("rendered", "x").replace("second", "rendered").replace("x.", "second."),
        &files,
    );
    assert!(other.out.contains("from 0 to 5"), "replicas stay: {}", other.out);
}

#[test]
fn standard_input_is_read_once() {
    let ran = taintlab("run - --apply -", &[("-", CLUSTER)]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.starts_with("error: standard input, `-`, can be read once only\n"),
        "{}",
        ran.err
    );
}

/// A workload whose pod is of an older template, as far as its label says.
const AGENT: &str = "\
apiVersion: apps/v1
kind: KIND
metadata: {name: agent, namespace: shop, uid: agent, generation: 5}
STATUS
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: agent:2}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: agent-0
  namespace: shop
  labels: {app: agent, controller-revision-hash: old, statefulset.kubernetes.io/pod-name: agent-0}
  ownerReferences: [{apiVersion: apps/v1, kind: KIND, name: agent, uid: agent, controller: true}]
spec: {nodeName: a, containers: [{name: c}]}
status: {phase: Running, conditions: [{type: Ready, status: \"True\"}]}
";

#[test]
fn only_a_template_that_its_controller_has_not_seen_rolls_out() {
    for kind in ["DaemonSet", "StatefulSet"] {
        for (status, rolls_out) in [
            ("status: {observedGeneration: 4}", true),
            ("status: {observedGeneration: 5}", false),
            // Whoever left the status out knows no more.
            ("", false),
        ] {
            let (node, _) = CLUSTER.split_once("---\n").unwrap();
            let agent = AGENT.replace("STATUS", status).replace("KIND", kind);
            let text = format!("{node}---\n{agent}");
            let ran = taintlab("run cluster.yaml --until 5m", &[("cluster.yaml", &text)]);
            assert_eq!(ran.code, 0, "{ran:?}");
            let deleted = ran.out.contains("SuccessfulDelete");
            assert_eq!(deleted, rolls_out, "{kind}, {status}: {}", ran.out);
        }
    }
}
