//! What an import says of each object, and of the cluster that the text was taken from.

use taintlab_core::api::Node;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Time;
use taintlab_manifest::{
    Assumption, Import, Limits, ObjectOutcome, ReleaseKnown, import, read_scenario,
};

fn read(text: &str) -> Import {
    import(text, "cluster.yaml", &Limits::default())
}

const MIXED: &str = "
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: worker-1}}
- apiVersion: v1
  kind: Pod
  metadata:
    name: web-1
    ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]
  spec: {nodeName: worker-1, containers: [{name: c, env: [{name: A, value: b}]}]}
- {apiVersion: v1, kind: Pod, metadata: {name: Bad_Name, namespace: team}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-1}}
- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
- {apiVersion: v1, kind: Node, metadata: {name: worker-2}, spec: {taints: [{key: 5}]}}
- a
";

#[test]
fn each_object_is_accounted_for() {
    let import = read(MIXED);
    let lines: Vec<String> = import.objects.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "Node worker-1 (line 5): read",
            "Pod default/web-1 (line 6): read; namespace default assumed; its owner \
             replicaset/default/web is not here and is inferred; dropped: 1 field",
            "Pod team/Bad_Name (line 12): left out",
            "Node worker-1 (line 13): left out",
            "PriorityClass high (line 14): kept for export",
            "Node worker-2 (line 15): left out",
            "the object without a name (line 16): left out",
        ]
    );
    assert_eq!((import.objects[1].line, import.objects[1].column), (6, 3));
    assert_eq!(import.nodes.len() + import.pods.len() + import.others.len(), 3);
    // What is left out has an error, and each error says what is left out.
    let left_out: Vec<&str> =
        import.diagnostics.iter().map(|d| d.consequence.as_deref().unwrap()).collect();
    assert_eq!(
        left_out,
        [
            "Pod team/Bad_Name is left out",
            "Node worker-1 is left out",
            "Node worker-2 is left out",
            "the object without a name is left out",
        ]
    );
    let object = import.diagnostics[0].object.as_ref().unwrap();
    assert_eq!((object.to_string().as_str(), object.left_out), ("Pod team/Bad_Name", true));
}

#[test]
fn items_whose_kind_the_list_says_are_reported_with_it() {
    let import = read("kind: NodeList\napiVersion: v1\nitems:\n- metadata: {name: a}\n");
    assert_eq!(import.objects[0].assumed, [Assumption::Kind]);
    assert_eq!(import.objects[0].outcome, ObjectOutcome::Read);
    // The list ends before it says what its items are.
    let import = read("{\"items\": [{\"metadata\": {\"name\": \"a\"}}], \"kind\": oops}");
    assert_eq!(import.objects.len(), 1);
    assert_eq!(import.objects[0].outcome, ObjectOutcome::LeftOut);
}

#[test]
fn nothing_is_left_out_without_a_word_however_much_is_wrong() {
    let mut text = String::new();
    for number in 0..2000 {
        text += &format!("- {{apiVersion: v1, kind: Node, metadata: {{name: Bad_{number}}}}}\n");
    }
    text += "- {apiVersion: v1, kind: Node, metadata: {name: good}}\n";
    let import = read(&text);
    assert_eq!((import.nodes.len(), import.objects.len()), (1, 2001));
    let last = import.diagnostics.last().unwrap();
    assert_eq!(last.message, "1500 more errors and warnings are not shown");
}

#[test]
fn the_end_of_reading_is_told() {
    let good = |name: &str| format!("{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}}}\n");
    let text = format!("{}---\na: [\n---\n{}", good("a"), good("b"));
    let import = read(&text);
    assert_eq!(import.nodes.len(), 2);
    let consequence = import.diagnostics[0].consequence.as_deref();
    assert_eq!(consequence, Some("the rest of this document is left out"));
    let broken = "a: [\n---\n".repeat(30) + &good("c");
    let import = read(&broken);
    let last = import.diagnostics.iter().rfind(|d| d.is_error()).unwrap();
    assert_eq!(last.message, "there are more than 20 documents with errors");
    assert_eq!(last.consequence.as_deref(), Some("the rest of the text is left out"));
}

fn nodes(versions: &[&str]) -> String {
    let mut text = String::new();
    for (number, version) in versions.iter().enumerate() {
        text += &format!(
            "- {{apiVersion: v1, kind: Node, metadata: {{name: n{number}}}, status: {{nodeInfo: \
             {{kubeletVersion: '{version}'}}}}}}\n"
        );
    }
    text
}

#[test]
fn the_release_is_that_of_the_newest_kubelet() {
    let newest = &KubernetesRelease::NEWEST.to_string();
    for (versions, release, known, words) in [
        (
            &["v1.29.9", "v1.30.4-gke.100", "v1.29.9", "", "v1.9.0"][..],
            "1.30",
            ReleaseKnown::Yes,
            "1 node reports v1.30.4-gke.100, 2 nodes report v1.29.9, 1 node reports v1.9.0, 1 node \
             reports none; the control plane is at least 1.30",
        ),
        (
            &["v1.16.3"],
            "1.18",
            ReleaseKnown::TooOld,
            "1 node reports v1.16.3; that is older than 1.18, the oldest known here and the nearest",
        ),
        (
            &["v1.99.0+k3s1"],
            newest,
            ReleaseKnown::TooNew,
            &format!(
                "1 node reports v1.99.0+k3s1; that is newer than {newest}, the newest known here \
                 and the nearest"
            ),
        ),
        (
            &["2.0"],
            newest,
            ReleaseKnown::TooNew,
            &format!(
                "1 node reports 2.0; that is newer than {newest}, the newest known here and the \
                 nearest"
            ),
        ),
    ] {
        let detected = read(&nodes(versions)).detected_release().unwrap();
        assert_eq!(detected.release, KubernetesRelease::parse(release).unwrap());
        assert_eq!((detected.known, detected.to_string().as_str()), (known, words));
    }
    assert_eq!(read(&nodes(&["", "unknown"])).detected_release(), None);
}

const TIMES: &str = "
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: a, creationTimestamp: 2021-03-01T08:00:00Z}
  spec: {taints: [{key: k, effect: NoSchedule, timeAdded: 2021-03-05T08:00:00Z}]}
  status:
    nodeInfo: {kubeletVersion: v1.21.1}
    conditions:
    - {type: Ready, status: 'True', lastHeartbeatTime: 2021-03-05T11:59:30Z,
       lastTransitionTime: 2021-03-01T08:00:10Z}
- apiVersion: v1
  kind: Pod
  metadata:
    {name: p, creationTimestamp: 2021-03-05T11:00:00Z, deletionTimestamp: 2021-03-05T12:30:00Z}
  spec: {nodeName: a}
- apiVersion: coordination.k8s.io/v1
  kind: Lease
  metadata: {name: a, namespace: kube-node-lease}
  spec: {holderIdentity: a, renewTime: '2021-03-05T14:00:05.250000+02:00'}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {startTime: 2030-01-01T00:00:00Z}}
";

#[test]
fn a_scenario_begins_with_the_release_and_the_clock_of_the_text() {
    let import = read(TIMES);
    let newest = Time::parse("2021-03-05T12:00:05.25Z").unwrap();
    assert_eq!(import.newest_time, Some(newest));
    let scenario = import.clone().into_scenario(Scenario::default());
    assert_eq!(scenario.start, Some(newest));
    assert_eq!(scenario.kubernetes.release, KubernetesRelease::new(21));
    let mut base = Scenario { start: Some(Time::DEFAULT_START), ..Scenario::default() };
    base.kubernetes.release = KubernetesRelease::new(30);
    base.kubernetes.node_lifecycle = Some(true);
    let scenario = import.clone().into_scenario(base.clone());
    assert_eq!(scenario.start, base.start);
    assert_eq!(scenario.kubernetes, base.kubernetes);

    // The pod has the rest of its grace period, and the lease goes on as it was.
    let mut base = Scenario::default();
    base.kubernetes.node_lifecycle = Some(true);
    let mut simulator = import.into_scenario(base).simulator().unwrap();
    let at = |seconds| taintlab_core::time::Timestamp::from_secs(seconds);
    simulator.advance_to(at(1790)).unwrap();
    assert_eq!(simulator.cluster().pods().count(), 1);
    simulator.advance_to(at(1796)).unwrap();
    assert_eq!(simulator.cluster().pods().count(), 0);
}

const TWO_GROUPS: &str = "
apiVersion: taintlab/v1
kind: Scenario
objects:
  nodes: [{metadata: {name: b-2}}, {metadata: {name: b-02}}, {metadata: {name: b-9}}]
  pods: [{metadata: {name: api-1-2}}, {metadata: {name: api-3-1}}]
  nodeGroups:
  - {name: a, count: 2, podsPerNode: 2, pod: {metadata: {name: web}}}
  - {name: b, count: 2, podsPerNode: 2, pod: {metadata: {name: web}}}
  - {name: c, count: 2, podsPerNode: 2, pod: {metadata: {name: web, namespace: other}}}
  - {name: d, count: 2, podsPerNode: 2, pod: {metadata: {name: api}}}
  - {name: a, count: 1}
";

#[test]
fn groups_of_nodes_whose_names_collide_are_refused_with_both_places() {
    let read =
        |text: &str| read_scenario(text, "s.yaml", &Limits::default(), &mut |_| Err("".into()));
    let found = read(TWO_GROUPS);
    assert_eq!(found.scenario, None);
    let messages: Vec<(u32, &str)> =
        found.diagnostics.iter().map(|d| (d.line, d.message.as_str())).collect();
    let twice = |object: &str, first: &str, second: &str| {
        format!("the {object} is defined twice: in objects.{first} and in objects.{second}")
    };
    let expected = [
        (9, twice("node `b-2`", "nodes[0]", "nodeGroups[1]")),
        (9, twice("pod `default/web-1-1`", "nodeGroups[0]", "nodeGroups[1]")),
        (11, twice("pod `default/api-1-2`", "pods[0]", "nodeGroups[3]")),
        (12, twice("node `a-1`", "nodeGroups[0]", "nodeGroups[4]")),
    ];
    assert_eq!(messages, expected.each_ref().map(|(line, text)| (*line, text.as_str())));

    // With names of their own all pods are there, 150,000 if need be.
    let text = "
apiVersion: taintlab/v1
kind: Scenario
objects:
  nodeGroups:
  - {name: a, count: 200, podsPerNode: 30, pod: {metadata: {name: web-a}}}
  - {name: b, count: 200, podsPerNode: 30, pod: {metadata: {name: web-b}}}
  - {name: c, count: 200, podsPerNode: 30}
";
    let mut scenario = read(text).scenario.unwrap();
    let simulator = scenario.simulator().unwrap();
    assert_eq!(
        (simulator.cluster().nodes().len(), simulator.cluster().pods().count()),
        (600, 18_000)
    );
    // The same of objects that did not come from a text.
    let groups = &mut scenario.objects.node_groups;
    groups[1].pod = groups[0].pod.clone();
    let error = scenario.simulator().unwrap_err();
    assert_eq!(error.path(), "objects.nodeGroups[1]");
    assert!(error.to_string().contains("in objects.nodeGroups[0]"), "{error}");
    let node = Node::default();
    scenario.objects.node_groups.clear();
    scenario.objects.nodes = vec![node.clone().into(), node.into()];
    assert_eq!(scenario.simulator().unwrap_err().path(), "objects.nodes[1]");
}

#[test]
fn half_of_a_surrogate_pair_is_refused() {
    let node = |label: &str| {
        let metadata =
            format!(r#"{{"name":"a","annotations":{{"kubernetes.io/config.source":"{label}"}}}}"#);
        format!(r#"{{"apiVersion":"v1","kind":"Node","metadata":{metadata}}}"#)
    };
    for half in ["\\ud800", "\\uDFFF", "x\\ud83dx", "\\ude00\\ud83d"] {
        let import = read(&node(half));
        assert!(import.nodes.is_empty(), "{half}");
        let error = &import.diagnostics[0];
        assert!(error.message.starts_with("a string holds half of a surrogate pair"), "{error}");
        assert!(error.column > 60, "{error}");
        // In a large text, which is not tried as YAML, it is the same.
        let text = "\n".repeat(1 << 20) + &node(half);
        assert!(read(&text).diagnostics[0].message.contains("surrogate"));
    }
    assert_eq!(
        read(&node("\\ud83d\\ude00 \\ufffd")).nodes[0].metadata.annotations["kubernetes.io/config.source"],
        "😀 \u{fffd}"
    );
}

#[test]
fn what_is_repeated_of_a_text_is_cut() {
    let long = "é".repeat(1 << 20);
    for text in [
        format!("{{apiVersion: v1, kind: Node, metadata: {{name: {long}}}}}"),
        format!("{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {long}}}}}"),
        format!("{{apiVersion: v1, kind: {long}, {long}: 1, {long}: 2}}"),
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: a}}, spec: {{taints: [{{key: {long}}}]}}}}"
        ),
        format!("{{apiVersion: v1, kind: Node, metadata: {{name: a, labels: {{{long}: 5}}}}}}"),
        format!("{{apiVersion: {long}, kind: Pods, metadata: {{name: a}}}}"),
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{nodeName: {long}}}}}\n---\n\
                 {{apiVersion: v1, kind: Node, metadata: {{name: a}}}}"
        ),
    ] {
        let import = read(&text);
        assert!(!import.diagnostics.is_empty());
        for diagnostic in &import.diagnostics {
            let length = diagnostic.to_string().chars().count();
            assert!(length < 5_000, "{length}: {}", diagnostic.message.get(..200).unwrap_or(""));
        }
        for object in &import.objects {
            assert!(object.to_string().len() < 1_000);
        }
    }
}
