//! What good input gives.

use serde_json::json;
use taintlab_core::api::{Taint, TaintEffect};
use taintlab_core::slices::at_once;
use taintlab_manifest::{
    Import, ImportOptions, Limits, import, import_in_slices, is_scenario, read_scenario,
    text_from_bytes,
};

/// Imports a text, of which everything is kept, about which there is nothing to say.
fn clean(text: &str) -> Import {
    let import = import(text, "clean", ImportOptions::keep_all());
    assert_eq!(import.diagnostics, [], "{text}");
    import
}

fn names(import: &Import) -> Vec<String> {
    let nodes = import.nodes.iter().map(|node| node.metadata.name.clone());
    nodes.chain(import.pods.iter().map(|pod| pod.key().to_string())).collect()
}

const NODE: &str = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}"#;
const POD: &str = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}"#;

#[test]
fn all_shapes_of_a_file_give_the_same() {
    let bare = |text: &str| text.replace(r#""apiVersion": "v1", "kind": "#, r#""was": "#);
    for text in [
        format!("{NODE}\n---\n{POD}\n"),
        format!("---\n# first\n---\n{NODE}\n...\n---\n\n---\n{POD}\n---\n"),
        format!("{NODE}\n{POD}"),
        format!("[{NODE}, {POD}]"),
        format!("- {NODE}\n- {POD}\n"),
        format!("items:\n- {NODE}\n- {POD}\napiVersion: v1\nkind: List\n"),
        format!("{{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [{NODE}, {POD}]}}"),
        format!("{{kind: List, apiVersion: v1, items: [{NODE}, {POD}]}}"),
        format!(
            "items: [{}]\napiVersion: v1\nkind: NodeList\n---\n\
             apiVersion: v1\nkind: PodList\nitems:\n- {}\n",
            bare(NODE),
            bare(POD)
        ),
        format!("\u{feff}apiVersion: v1\r\nkind: List\r\nitems:\r\n- {NODE}\r\n- {POD}\r\n"),
        format!("kind: List\nitems: null\n---\n{NODE}\n---\n{POD}"),
    ] {
        assert_eq!(names(&clean(&text)), ["a", "default/p"], "{text}");
    }
}

#[test]
fn what_the_engine_does_not_read_is_kept_on_demand() {
    let import = clean(
        "
apiVersion: v1
kind: Pod
metadata:
  name: p
  resourceVersion: '5'
  creationTimestamp: null
  finalizers: [a/b]
  managedFields:
  - manager: kubelet
    fieldsV1: {f:status: {}, k: [[], {metadata: {managedFields: 1}}]}
  generateName: p-
spec:
  nodeName: ''
  containers:
  - {name: c, image: i, ports: [{containerPort: 8080}], resources: {limits: {cpu: 500m}}}
  volumes:
  - {name: v, secret: {defaultMode: 0644, optional: no}}
  priority: 1_000
status: null
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: d, resourceVersion: '7', managedFields: [{}]}
spec: {replicas: 3, paused: null, managedFields: kept}
---
apiVersion: v1
kind: Node
metadata: {name: a}
",
    );
    let pod = serde_json::to_value(&import.pods[0]).unwrap();
    assert_eq!(
        pod,
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "p", "namespace": "default", "finalizers": ["a/b"], "generateName": "p-",
                "managedFields": [{
                    "manager": "kubelet",
                    "fieldsV1": {
                        "f:status": {}, "k": [[], { "metadata": { "managedFields": 1 } }]
                    }
                }]
            },
            "spec": {
                "containers": [{
                    "name": "c", "image": "i", "ports": [{ "containerPort": 8080 }],
                    "resources": { "limits": { "cpu": "500m" } }
                }],
                "volumes": [{ "name": "v", "secret": { "defaultMode": 420, "optional": false } }],
                "priority": 1000
            }
        })
    );
    assert_eq!(
        import.others,
        [json!({
            "apiVersion": "apps/v1", "kind": "ControllerRevision",
            "metadata": { "name": "d", "managedFields": [{}] },
            "spec": { "replicas": 3, "paused": null, "managedFields": "kept" }
        })]
    );
    let kind = ("apps/v1".to_owned(), "ControllerRevision".to_owned());
    assert_eq!(import.other_kinds().into_iter().collect::<Vec<_>>(), [(kind, 1)]);
}

#[test]
fn anchors_aliases_merge_keys_and_tags_work() {
    let import = clean(
        "
apiVersion: v1
kind: List
items:
- &first
  apiVersion: v1
  kind: Node
  metadata: {name: a}
  spec: &spec
    taints: &taints
    - &taint {key: k, value: !!str yes, effect: NoExecute}
- apiVersion: v1
  kind: Node
  metadata: {name: b}
  spec: *spec
- <<: *first
  metadata: {name: c}
- <<: [{metadata: {name: d}}, *first]
  spec:
    taints:
    - <<: *taint
      effect: NoSchedule
    - *taint
    - {<<: {effect: NoSchedule, key: x}, key: z, value: !!str 1.0}
- {apiVersion: v1, kind: ConfigMap, data: {'<<': quoted}}
",
    );
    assert_eq!(names(&import), ["a", "b", "c", "d"]);
    let taint = Taint::new("k", "yes", TaintEffect::NoExecute);
    for node in &import.nodes[..3] {
        assert_eq!(node.spec.taints, std::slice::from_ref(&taint), "{}", node.metadata.name);
    }
    assert_eq!(
        import.nodes[3].spec.taints,
        [
            Taint { effect: TaintEffect::NoSchedule, ..taint.clone() },
            taint,
            Taint::new("z", "1.0", TaintEffect::NoSchedule),
        ]
    );
    assert_eq!(import.others[0]["data"], json!({ "<<": "quoted" }));
}

#[test]
fn json_is_read_as_json() {
    let import = clean(
        "\t[\n{\"apiVersion\":\"v1\",\"kind\":\"\\u004eode\",\t\"metadata\":{\"name\":\"a\",\
         \"annotations\":{\"t\":\"\\ud83d\\ude00 \\/ \\\" \\\\ \\n 😀\",\"e\":\"\"}},\
         \"spec\":{\"x\":[1,-2,1.5,1e3,true,false,null,{},[]]}}]\r\n",
    );
    let node = &import.nodes[0];
    assert_eq!(node.metadata.annotations["t"], "😀 / \" \\ \n 😀");
    assert_eq!(
        node.spec.other.get("x"),
        Some(&json!([1, -2, 1.5, 1000, true, false, null, {}, []]))
    );
    let long = "k".repeat(5000);
    let text = format!("{{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"{long}\":\n\"v\"}}");
    let import = taintlab_manifest::import(&text, "clean", ImportOptions::keep_all());
    assert_eq!(import.others[0][&long], "v");
    for bad in [
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "[1,]",
        "{,}",
        "[,]",
        "{\"a\"}",
        "[}",
        "{]",
        "{\"a\":}",
        "[01]",
        "[+1]",
        "[.5]",
        "[1.]",
        "[tru]",
        "[NaN]",
        "[\"\\x\"]",
        "[\"\\ud83d\"]",
        "[\"a\tb\"]",
        "[\"a\nb\"]",
        "[\"a]",
        "[\"a\\",
        "{\"a\":1 \"b\":2}",
        "{1:2}",
        "]",
        "{",
        "[",
    ] {
        // Large enough that it is not tried as YAML.
        let text = format!("[{}{bad}]", "\n".repeat(1 << 20));
        let import = import_of(&text);
        assert!(import.has_errors(), "{bad}");
        assert_eq!(import.diagnostics.last().unwrap().line, (1 << 20) + 1, "{bad}");
    }
}

fn import_of(text: &str) -> Import {
    import(text, "text", &Limits::default())
}

#[test]
fn positions_count_characters() {
    for text in [
        r#"[{"apiVersion": "v1", "kind": "Node", "metadata": {"labels": {"é😀": 5}}}]"#,
        "{apiVersion: v1, kind: Node, metadata: {labels: {é😀: 5}}}",
    ] {
        let column = text.chars().position(|c| c == '5').unwrap() + 1;
        let first = &import_of(text).diagnostics[0];
        assert_eq!((first.line, first.column as usize), (1, column), "{text}");
    }
}

#[test]
fn bytes_in_utf_8_and_utf_16_are_text() {
    let text = "apiVersion: v1\nname: é😀\n";
    let little = text.encode_utf16().flat_map(u16::to_le_bytes);
    let big = text.encode_utf16().flat_map(u16::to_be_bytes);
    let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(little).collect();
    let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(big).collect();
    for bytes in [text.as_bytes(), &little, &big] {
        assert_eq!(text_from_bytes(bytes, "f").unwrap(), text);
    }
    let error = text_from_bytes(b"a: b\nc: \xff\n", "f").unwrap_err();
    assert_eq!((error.line, error.column), (2, 4));
    assert!(text_from_bytes(&[0xff, 0xfe, 0x00, 0xd8], "f").is_err());
    let without_mark = import_of("a\0p\0i\0");
    assert!(without_mark.diagnostics[0].message.contains("UTF-16"));
}

#[test]
fn a_scenario_knows_where_its_parts_are() {
    let text = "
apiVersion: taintlab/v1
kind: Scenario
objects:
  nodes: [{metadata: {name: a}}]
  files: [more.yaml]
steps:
- at: 5s
  do: restartTaintEvictionController
- {at: 6, do: {restartTaintEvictionController: }}
- at: 1m30s
  do:
    taint: {node: gone, taint: {key: k, effect: NoExecute}}
";
    assert!(is_scenario(text) && !is_scenario(NODE));
    assert!(is_scenario("{\n  \"kind\" : \"Scenario\",\n"));
    assert!(!is_scenario("kind: Node\nmetadata:\n  name: Scenario-taintlab/v1\n"));
    let more = format!("{POD}\n---\napiVersion: apps/v1\nkind: ControllerRevision\n");
    let read = read_scenario(text, "s.yaml", &Limits::default(), &mut |name| {
        assert_eq!(name, "more.yaml");
        Ok(more.clone())
    });
    let scenario = read.scenario.as_ref().unwrap();
    assert_eq!(scenario.objects.pods[0].metadata.name, "p");
    assert_eq!(scenario.objects.others.len(), 1);
    assert_eq!(scenario.objects.files, [""; 0]);
    let error = scenario.run().unwrap_err();
    assert_eq!(
        read.error(&error.path(), error.to_string()).to_string(),
        "s.yaml:11:3: steps[2]: nodes \"gone\" not found"
    );
}

#[test]
fn taints_are_read_in_their_order() {
    let import = clean(
        "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec:\n  taints:\n  \
         - {key: b, effect: NoExecute, timeAdded: 2024-05-01T10:00:00Z}\n  \
         - {key: a, value: v, effect: NoSchedule}\n",
    );
    let taints = &import.nodes[0].spec.taints;
    assert!(taints[0].time_added.is_some());
    assert_eq!(taints[1], Taint::new("a", "v", TaintEffect::NoSchedule));
}

#[test]
fn of_a_long_text_it_is_told_how_many_objects_were_read() {
    let items: Vec<_> = (0..25_000)
        .map(|index| {
            let name = format!("n{index}");
            json!({ "kind": "Node", "apiVersion": "v1", "metadata": { "name": name } })
        })
        .collect();
    let text = json!({ "kind": "List", "apiVersion": "v1", "items": items }).to_string();
    let told = std::cell::RefCell::new(Vec::new());
    let watch = |objects| told.borrow_mut().push(objects);
    let options = ImportOptions::default();
    let read = at_once(import_in_slices(&text, "many.json", options, &watch));
    assert_eq!(read.nodes.len(), 25_000);
    assert_eq!(told.into_inner(), [10_000, 20_000]);
}
