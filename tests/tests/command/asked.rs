//! `taintlab schedule`, `taintlab rank`, `taintlab when`, completions and man pages.

use serde_json::Value;

use super::host::taintlab;

const NODES: &str = "\
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {taints: [{key: example.com/gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: \"4\", memory: 4Gi, pods: \"10\"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: \"2\", memory: 4Gi, pods: \"10\"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {nodeName: n2, containers: [{name: c, resources: {requests: {cpu: 1500m, memory: 1Gi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {nodeName: n2, priority: 5, containers: [{name: c, resources: {requests: {memory: 100Mi}}}]}
";

fn pod(cpu: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: new}}\n\
         spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}\n"
    )
}

#[test]
fn a_pod_goes_somewhere_or_the_scheduler_says_why_nowhere() {
    let files = [("nodes.yaml", NODES), ("small.yaml", &pod("300m")), ("big.yaml", &pod("1"))];
    let small = taintlab("schedule small.yaml --nodes nodes.yaml", &files);
    assert_eq!((small.code, small.out.as_str()), (0, "default/new goes to n2\n"), "{small:?}");
    let big = taintlab("schedule big.yaml --nodes nodes.yaml", &files);
    assert_eq!(big.code, 1);
    let said = "default/new goes nowhere: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had \
        untolerated taint";
    assert!(big.out.starts_with(said), "{}", big.out);
    // Under an older release in its own words.
    let old = taintlab("schedule big.yaml --nodes nodes.yaml --release 1.20", &files);
    assert!(old.out.contains("that the pod didn't tolerate"), "{}", old.out);
}

#[test]
fn scores_are_told_on_request() {
    let files = [("nodes.yaml", NODES), ("small.yaml", &pod("300m"))];
    let ran = taintlab("schedule small.yaml --nodes nodes.yaml --scores", &files);
    let rows: Vec<&str> = ran.out.lines().skip(1).collect();
    assert!(rows[0].starts_with("NODE   TOTAL   WHY"), "{ran:?}");
    assert!(rows[1].starts_with("n1     -       TaintToleration: "), "{ran:?}");
    assert!(rows[2].contains("NodeResourcesFit ") && rows[2].contains("×1"), "{ran:?}");
    let json = taintlab("schedule small.yaml --nodes nodes.yaml --json", &files);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["node"], "n2");
    assert_eq!(json["verdicts"][0]["rejection"]["plugin"], "TaintToleration");
}

#[test]
fn a_workload_stands_for_its_pod_and_a_name_for_one_that_is_there() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  \
        selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    \
        spec:\n      nodeSelector: {disk: ssd}\n      containers: [{name: web}]\n";
    let files = [("nodes.yaml", NODES), ("web.yaml", deployment)];
    let web = taintlab("schedule web.yaml --nodes nodes.yaml", &files);
    assert_eq!(web.code, 1);
    assert!(web.out.starts_with("default/web-"), "{web:?}");
    assert!(web.out.contains("node affinity/selector"), "{web:?}");
    let named = taintlab("schedule default/a --nodes nodes.yaml", &files);
    let said = "default/a is on n2; if the scheduler had to place it now:\ndefault/a goes to n2\n";
    assert_eq!((named.code, named.out.as_str()), (0, said), "{named:?}");
    let nobody = taintlab("schedule default/nobody --nodes nodes.yaml", &files);
    assert_eq!((nobody.code, nobody.err.as_str()), (1, "default/nobody: error: no such file\n"));
}

#[test]
fn the_kubelet_ranks_by_what_kubectl_top_says() {
    let top = "NAMESPACE   NAME   CPU(cores)   MEMORY(bytes)\ndefault   a   10m   900Mi\n\
        default   b   5m   300Mi\n";
    let files = [("nodes.yaml", NODES), ("top.txt", top), ("wrong.txt", "a b c\n")];
    let ran = taintlab("rank nodes.yaml --top top.txt --node n2", &files);
    let pods: Vec<&str> =
        ran.out.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)).collect();
    // `b` uses more than it asked for, `a` does not, whatever their priorities.
    assert_eq!(pods, ["default/b", "default/a"], "{ran:?}");
    assert!(ran.out.contains("its usage exceeds its request"), "{ran:?}");
    assert!(ran.out.contains("   300Mi   100Mi   "), "as `kubectl top` says it: {ran:?}");
    let without = taintlab("rank nodes.yaml --node n2 --json", &files);
    let json: Value = serde_json::from_str(&without.out).unwrap();
    assert_eq!(json["pods"][0]["pod"], "default/a", "the lower priority goes first");
    for (line, said) in [
        (
            "rank nodes.yaml --signal memory",
            "error: --signal: unsupported eviction signal memory; ",
        ),
        ("rank nodes.yaml --node n9", "error: rank: there is no pod on the node n9"),
        ("rank nodes.yaml --top wrong.txt", "wrong.txt:1:1: error: expected the table that"),
    ] {
        let ran = taintlab(line, &files);
        assert!(ran.code > 0 && ran.err.starts_with(said), "{line}: {ran:?}");
    }
}

#[test]
fn the_kubelet_of_one_node_ranks_its_own_pods() {
    let pod = |name: &str, node: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n\
             spec: {{nodeName: {node:?}, containers: [{{name: c}}]}}\n"
        )
    };
    let one = pod("p", "a") + &pod("q", "");
    let (two, none) = (pod("r", "b") + &one, pod("q", ""));
    let files = [("one.yaml", &*one), ("two.yaml", &*two), ("none.yaml", &*none)];
    let pods = |line: &str| {
        let ran = taintlab(line, &files);
        let rows = ran.out.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1));
        (rows.map(str::to_owned).collect::<Vec<_>>(), ran.err)
    };
    let (ranked, said) = pods("rank one.yaml");
    assert_eq!(
        (ranked.join(" "), &*said),
        ("default/p".into(), "left out: 1 pod without a node\n")
    );
    assert_eq!(pods("rank two.yaml --node b").0, ["default/r"]);
    assert_eq!(pods("rank none.yaml").0, ["default/q"], "as those of one node");
    let ran = taintlab("rank two.yaml", &files);
    let why =
        "error: rank: which --node? a kubelet evicts only its own pods, and these are on a, b\n";
    assert!(ran.code == 2 && ran.err.starts_with(why), "{ran:?}");
    let help = taintlab("rank --help", &[]).out;
    assert!(help.contains("containerfs.inodesFree"), "{help}");
}

#[test]
fn every_command_has_completions_and_a_man_page() {
    let bash = taintlab("completions bash", &[]).out;
    assert!(bash.contains("taintlab") && bash.contains("--fail-if"), "{bash}");
    for command in
        ["run", "test", "report", "explain", "lint", "schedule", "rank", "policy", "embed"]
    {
        let page = taintlab(&format!("man {command}"), &[]).out;
        assert!(page.contains(&format!(".TH taintlab-{command} 1")), "{page}");
    }
    assert_eq!(taintlab("man jump", &[]).code, 2);
    let version = env!("CARGO_PKG_VERSION");
    let page = taintlab("man plan", &[]).out;
    assert!(page.contains(&format!(".TH taintlab-plan 1  \"plan {version}\"")), "{page}");
    let page = taintlab("man plan drain", &[]).out;
    assert!(page.contains(".TH taintlab-plan-drain 1") && page.contains("The nodes, in"), "{page}");
}

#[test]
fn a_policy_knows_the_taints_of_the_nodes() {
    let settings = "mode: deny\ntolerationSeconds: {max: 600}\n";
    let files = [
        ("nodes.yaml", NODES),
        ("settings.yaml", settings),
        ("wrong.yaml", "mode: log\n"),
        ("torn.yaml", "mode: [deny\n"),
        ("mutate.yaml", "mode: mutate\n"),
    ];
    let vap = taintlab("policy --settings settings.yaml --nodes nodes.yaml", &files);
    assert_eq!(vap.code, 0, "{vap:?}");
    assert!(vap.out.starts_with("apiVersion: admissionregistration.k8s.io/v1\n"), "{}", vap.out);
    let taint = "{'key': 'example.com/gpu', 'value': '', 'effect': 'NoSchedule'}";
    assert!(vap.out.contains(taint) && vap.out.contains("<= 600"), "{}", vap.out);
    assert!(vap.out.contains("\n---\n") && vap.out.ends_with("  - Deny\n"), "{}", vap.out);
    // Expressions are to be read, so they are in lines of their own.
    assert!(!vap.out.contains("\\n"), "{}", vap.out);
    for (name, kind) in [("kyverno", "ValidatingPolicy"), ("kubewarden", "ClusterAdmissionPolicy")]
    {
        let line = format!("policy --as {name} --settings settings.yaml --json");
        let list: Value = serde_json::from_str(&taintlab(&line, &files).out).unwrap();
        assert_eq!(list["items"][0]["kind"], kind);
    }
    for (line, code, said) in [
        (
            "policy --as opa",
            2,
            "error: --as: expected one of vap, kyverno, kubewarden, found `opa`",
        ),
        ("policy --settings mutate.yaml", 2, "error: --as: a ValidatingAdmissionPolicy changes no"),
        ("policy --settings wrong.yaml", 1, "wrong.yaml:1:7: error: mode: expected `warn`, `deny`"),
        ("policy --settings torn.yaml", 1, "torn.yaml:"),
        ("policy --settings none.yaml", 1, "none.yaml: error: "),
        ("policy --nodes settings.yaml", 1, "settings.yaml:"),
    ] {
        let ran = taintlab(line, &files);
        assert!(ran.code == code && ran.err.starts_with(said), "{line}: {ran:?}");
    }
}

/// Two nodes, and a pod on one of them.
const TWO: &str = "\
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {nodeName: n2, containers: [{name: c}]}
status: {phase: Running}
";

#[test]
fn a_pod_of_a_file_is_evicted_at_the_time_at_which_a_run_deletes_it() {
    let files = [("cluster.yaml", TWO)];
    let ran = taintlab("when default/a -f cluster.yaml --json", &files);
    assert_eq!(ran.code, 0, "{ran:?}");
    let when: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&when["pod"], &when["node"]), (&"default/a".into(), &"n2".into()));
    let cut = r#"{"cutNetwork":{"node":"n2"}}"#;
    let run = taintlab(&format!("run cluster.yaml --command {cut} --until 10m --json"), &files);
    let at = &when["budget"]["evictedAt"];
    let marked = run.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let deleted = marked.filter(|it| it["type"] == "eventRecorded" && it["at"] == *at);
    let deleted: Vec<String> = deleted.map(|it| it["reason"].to_string()).collect();
    assert!(deleted.contains(&"\"TaintManagerEviction\"".to_owned()), "{at}: {deleted:?}");
    let words = taintlab("why-evicted a -f cluster.yaml", &files);
    let head = "default/a: if n2 is unreachable from now on, it is evicted after ";
    assert!(words.out.starts_with(head), "{}", words.out);
    for (line, why, code) in [
        ("when p9 -f cluster.yaml", "error: there is no pod `default/p9`", 1),
        ("when -f cluster.yaml", "error: when: which pod?", 2),
        ("when a", "error: when: --filename: which file?", 2),
        ("when a -f cluster.yaml --fault boom", "error: --fault: expected lost, network-cut", 2),
    ] {
        let ran = taintlab(line, &files);
        assert!(ran.err.contains(why) && ran.code == code, "{line}: {ran:?}");
    }
}

/// A StatefulSet whose pods tolerate a lost node for an hour.
fn stateful_set(name: &str, replicas: u8) -> String {
    format!(
        "
    - apiVersion: apps/v1
      kind: StatefulSet
      metadata: {{name: {name}}}
      spec:
        replicas: {replicas}
        selector: {{matchLabels: {{app: {name}}}}}
        template:
          metadata: {{labels: {{app: {name}}}}}
          spec:
            containers: [{{name: c}}]
            tolerations:
              - key: node.kubernetes.io/unreachable
                operator: Exists
                effect: NoExecute
                tolerationSeconds: 3600"
    )
}

/// The garbage collector takes pods of two StatefulSets in one go while timers of theirs run.
#[test]
fn a_pod_does_not_inherit_the_timer_of_the_one_before_it() {
    let sets = stateful_set("db", 1) + &stateful_set("other", 2);
    let text = format!(
        "apiVersion: taintlab/v1
kind: Scenario
metadata: {{title: Two sets lose a node}}
kubernetes: {{controlPlane: true, nodeLifecycle: true}}
objects:
  nodes: [{{metadata: {{name: a}}}}, {{metadata: {{name: b}}}}]
  workloads: {sets}
steps:
  - {{at: 30s, do: {{stopKubelet: {{node: a}}}}}}
  - {{at: 140s, do: {{deleteNode: {{node: a}}}}}}
until: 3h
"
    );
    let ran = taintlab("run sets.yaml", &[("sets.yaml", &text)]);
    assert_eq!(ran.out.matches("Cancelling deletion of Pod").count(), 2, "{}", ran.out);
    assert!(!ran.out.contains("Marking for deletion"), "{}", ran.out);
}

/// A cluster in the middle of an outage: its timers have been running.
#[test]
fn a_timer_runs_since_the_taint_was_added() {
    let cluster = |pod: &str, more: &str| {
        format!(
            "apiVersion: v1
kind: Node
metadata: {{name: one}}
spec:
  taints:
  - {{key: node.kubernetes.io/unreachable, effect: NoExecute, timeAdded: \"2026-11-20T08:10:05Z\"}}{more}
status:
  conditions:
  - {{type: Ready, status: Unknown, lastTransitionTime: \"2026-11-20T08:14:05Z\"}}
---
apiVersion: v1
kind: Node
metadata: {{name: two}}
---
apiVersion: v1
kind: Pod
metadata: {{name: p, creationTimestamp: \"{pod}\"}}
spec:
  nodeName: one
  containers: [{{name: c}}]
  tolerations:
  - {{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}}
  - {{key: x, operator: Exists, effect: NoExecute, tolerationSeconds: 30}}
"
        )
    };
    let old = "2026-11-20T07:00:00Z";
    let later = "\n  - {key: x, effect: NoExecute, timeAdded: \"2026-11-20T08:12:05Z\"}";
    for (pod, more, evicted) in [
        (old, "", "1m0s"),
        // The pod came a minute after the taint.
        ("2026-11-20T08:11:05Z", "", "2m0s"),
        // A taint that comes while a timer runs does not make it shorter.
        (old, later, "1m0s"),
    ] {
        let text = cluster(pod, more);
        let ran = taintlab("when p -f c.yaml --fault none", &[("c.yaml", text.as_str())]);
        let head = format!("default/p: if nothing happens, it is evicted after {evicted}\n");
        assert!(ran.out.starts_with(&head), "{}{}", ran.out, ran.err);
        let since = "unreachable:NoExecute, 4m0s of it before the beginning";
        assert!(pod != old || ran.out.contains(since), "{}", ran.out);
    }
}

/// Where the node lifecycle controller stops, that is why nothing is evicted.
#[test]
fn a_pod_that_stays_since_the_controller_stops_says_so() {
    let node = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, \
             labels: {{topology.kubernetes.io/zone: z}}}}\n---\n"
        )
    };
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n\
               spec: {nodeName: n1, containers: [{name: c}]}\n";
    let ask = |nodes: &[&str], fault: &str| {
        let nodes: String = nodes.iter().map(|name| node(name)).collect();
        let line = format!("when p -f c.yaml --fault {fault}");
        taintlab(&line, &[("c.yaml", &(nodes + pod))]).out
    };
    let said = ask(&["n1"], "lost");
    let why = "default/p: if n1 is unreachable from now on, it is not evicted\n\
               a running pod stays: its zone is in FullDisruption, so that the node lifecycle \
               controller taints no node of it; eviction rate 0: no node of the cluster is ready\n";
    assert!(said.starts_with(why), "{said}");
    assert!(!ask(&["n1", "n2"], "lost").contains("not evicted"));
    assert!(ask(&["n1"], "none").contains("there is no NoExecute taint"));
}
