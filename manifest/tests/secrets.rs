//! What the engine does not read does not enter a simulation, and so is in nothing that comes out.

#![expect(clippy::unwrap_used, reason = "a test says with a panic that it failed")]

use serde_json::{Value, json};
use taintlab_core::command::Command;
use taintlab_core::scenario::Scenario;
use taintlab_manifest::{
    Dropped, Extent, Format, Import, ImportOptions, LAST_APPLIED, Limits, Purpose, export, import,
    read_scenario, redact_commands, redact_scenario, to_yaml, write_scenario,
};

/// What must be found nowhere.
const MARKER: &str = "hunter2";

/// A pod spec with the marker wherever something secret may stand.
fn pod_spec() -> Value {
    let command = json!(["sh", "-c", format!("psql postgres://app:{MARKER}@db")]);
    let probe = json!({
        "exec": { "command": command },
        "httpGet": {
            "path": "/ready", "port": 80,
            "httpHeaders": [{ "name": "Authorization", "value": format!("Bearer {MARKER}") }],
        },
    });
    let container = json!({
        "name": "app",
        "image": "example.com/app:1.0",
        "command": command,
        "args": [format!("--password={MARKER}")],
        "env": [
            { "name": "PASSWORD", "value": MARKER },
            { "name": "EMPTY", "value": "" },
            { "name": "FROM", "valueFrom": {
                "secretKeyRef": { "name": "db", "key": "password" },
            } },
        ],
        "envFrom": [{ "secretRef": { "name": "db" } }],
        "livenessProbe": probe,
        "readinessProbe": probe,
        "startupProbe": probe,
        "lifecycle": { "postStart": { "exec": { "command": command } } },
        "resources": { "requests": { "cpu": "100m" } },
    });
    json!({
        "containers": [container],
        "initContainers": [container],
        "ephemeralContainers": [container],
        "imagePullSecrets": [{ "name": "registry" }],
        "automountServiceAccountToken": false,
        "volumes": [
            { "name": "v", "csi": { "driver": "d", "volumeAttributes": { "apiToken": MARKER } } },
            { "name": "s", "secret": { "secretName": "db" } },
        ],
    })
}

fn metadata(name: &str, namespace: Option<&str>) -> Value {
    let mut metadata = json!({
        "name": name,
        "labels": { "app": "web" },
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"a\":\"{MARKER}\"}}"),
            "example.com/api-token": MARKER,
            "example.com/copy": format!("{{\"spec\":\"{MARKER}\"}}"),
            "example.com/long": MARKER.repeat(60),
            "example.com/owner": "team-a",
        },
        "managedFields": [{ "manager": MARKER, "fieldsV1": { "f:spec": {} } }],
    });
    if let (Some(namespace), Some(map)) = (namespace, metadata.as_object_mut()) {
        map.insert("namespace".into(), namespace.into());
    }
    metadata
}

fn template() -> Value {
    json!({ "metadata": metadata("", None), "spec": pod_spec() })
}

fn node(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": metadata(name, None) })
}

fn pod(name: &str) -> Value {
    let terminated = json!({ "terminated": { "exitCode": 1, "message": MARKER } });
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata(name, Some("default")),
        "spec": pod_spec(),
        "status": {
            "phase": "Running",
            "containerStatuses": [{ "name": "app", "state": {}, "lastState": terminated }],
        },
    })
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(name, Some("default")),
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": { "app": "web" } },
            "template": { "metadata": metadata("x", None), "spec": pod_spec() },
        },
    })
}

fn budget(name: &str) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": metadata(name, Some("default")),
        "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } },
    })
}

/// Objects of kinds that the engine does not use.
fn others() -> Vec<Value> {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata("db", None),
        "data": { "password": MARKER }, "stringData": { "user": MARKER },
    });
    vec![
        secret.clone(),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("c", None),
            "data": { "a": MARKER }, "binaryData": { "b": MARKER },
        }),
        json!({
            "apiVersion": "bitnami.com/v1alpha1", "kind": "SealedSecret",
            "metadata": metadata("sealed", None), "spec": { "encryptedData": { "a": MARKER } },
        }),
        json!({
            "apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata("cron", None),
            "spec": { "schedule": "@daily", "jobTemplate": { "spec": { "template": template() } } },
        }),
        json!({
            "apiVersion": "example.com/v1", "kind": "Database", "metadata": metadata("x", None),
            "spec": {
                "replicas": 3,
                "adminPassword": MARKER,
                "passwords": [MARKER],
                "pin": 5, "userPassword": { "plain": { "token": MARKER } },
                "env": { "PLAIN": MARKER },
                "parameters": [{ "name": "p", "value": MARKER }],
                "values": format!("a: b\npassword: {MARKER}\n"),
                "podTemplate": template(),
                "embedded": [secret],
                "nested": [[{ "command": format!("run {MARKER}") }]],
            },
            "status": { "connection": MARKER },
        }),
    ]
}

fn cluster() -> Vec<Value> {
    let mut objects = vec![node("worker-1"), pod("web-1"), deployment("web"), budget("web")];
    objects.extend(others());
    objects
}

fn list(objects: &[Value]) -> Value {
    json!({ "apiVersion": "v1", "kind": "List", "items": objects })
}

/// Everything that comes out of an import, as text.
fn exports(import: &Import) -> String {
    let mut out = format!("{import:?}");
    for purpose in [Purpose::State, Purpose::Apply] {
        for format in [Format::Yaml, Format::Json] {
            out += &export(&import.nodes, &import.pods, &import.others, purpose, format);
        }
    }
    for workload in &import.workloads {
        out += &to_yaml(workload).unwrap();
    }
    let scenario = import.clone().into_scenario(Scenario::default());
    out += &write_scenario(&scenario);
    out += &serde_json::to_string(&scenario).unwrap();
    out + &format!("{:?}", scenario.simulator().unwrap().snapshot())
}

#[test]
fn no_secret_is_in_any_export_whatever_the_shape_of_the_text() {
    let objects = cluster();
    let documents: Vec<String> = objects.iter().map(|object| to_yaml(object).unwrap()).collect();
    let mut texts = vec![
        list(&objects).to_string(),
        Value::from(objects.clone()).to_string(),
        to_yaml(&list(&objects)).unwrap(),
        documents.join("---\n"),
    ];
    texts.extend(documents);
    for text in &texts {
        assert!(text.contains(MARKER));
        let import = import(text, "cluster", &Limits::default());
        assert_eq!(import.diagnostics.iter().find(|d| d.is_error()), None, "{text}");
        let found = exports(&import);
        let at = found.find(MARKER);
        assert_eq!(at, None, "{:?}", at.map(|at| found.get(at.saturating_sub(200)..at + 50)));
        assert!(!import.dropped.is_empty());
    }
}

#[test]
fn an_import_says_what_it_dropped_together_and_of_each_object() {
    let read = import(&list(&cluster()).to_string(), "c", &Limits::default());
    let of = |name: &str, kind: &str| {
        let report = read.objects.iter().find(|o| o.name == name && o.kind == kind).unwrap();
        report.dropped.as_deref().copied().unwrap_or_default()
    };
    // Eight fields of each of two containers, and what else nobody reads.
    let pod = Dropped { fields: 2 * 8 + 7, annotations: 5, credentials: 0 };
    assert_eq!(of("web-1", "Pod"), pod);
    assert_eq!(of("db", "Secret").to_string(), "5 fields");
    assert_eq!(of("worker-1", "Node").to_string(), "5 annotations");
    assert!(read.dropped.fields > 60, "{}", read.dropped);
    let nothing =
        import("{apiVersion: v1, kind: Node, metadata: {name: a}}", "n", &Limits::default());
    assert_eq!(nothing.dropped.to_string(), "nothing");
}

#[test]
fn what_the_engine_reads_stays_and_of_other_kinds_the_identity() {
    let read = import(&list(&cluster()).to_string(), "c", &Limits::default());
    let spec = serde_json::to_value(&read.pods[0].spec).unwrap();
    let container = json!({
        "name": "app", "image": "example.com/app:1.0",
        "resources": { "requests": { "cpu": "100m" } },
    });
    assert_eq!(spec["containers"], json!([container]));
    assert_eq!(spec["volumes"], json!([{ "name": "v", "csi": {} }, { "name": "s", "secret": {} }]));
    let database = json!({
        "apiVersion": "example.com/v1", "kind": "Database", "metadata": { "name": "x" },
    });
    assert_eq!(read.others[4], database);
    // What such an object lacks would be taken from the cluster if it was applied.
    let applied = export(&[], &[], &read.others, Purpose::Apply, Format::Yaml);
    assert!(!applied.contains("Secret") && applied.contains("kind: CronJob"), "{applied}");
}

#[test]
fn everything_is_kept_on_demand() {
    let text = list(&cluster()).to_string();
    let kept = import(&text, "c", ImportOptions::keep_all());
    assert!(kept.dropped.is_empty());
    assert!(exports(&kept).matches(MARKER).count() > 100);
    assert!(kept.pods[0].metadata.other.get("managedFields").is_some());
}

#[test]
fn the_newest_time_is_one_of_those_that_enter() {
    let text = "{apiVersion: v1, kind: Node, metadata: {name: a, creationTimestamp: \
                '2021-03-01T08:00:00Z'}, status: {conditions: [{type: Ready, status: 'True', \
                lastHeartbeatTime: '2021-03-05T12:00:00Z'}]}}";
    for keep_all in [false, true] {
        let options = ImportOptions { keep_all, ..ImportOptions::default() };
        let newest = import(text, "n", options).newest_time.unwrap();
        assert_eq!(newest.to_string(), "2021-03-05T12:00:00Z");
    }
}

/// A scenario with objects in all places where there can be some.
fn scenario() -> Value {
    let step = |command: Value| json!({ "at": "1s", "do": command });
    json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "objects": {
            "nodes": [node("n1")], "pods": [pod("p1")], "workloads": [deployment("d1")],
            "budgets": [budget("b1")], "others": others(),
            "nodeGroups": [{ "name": "g", "count": 1, "podsPerNode": 1, "pod": pod("g") }],
            "files": ["more.yaml"],
        },
        "steps": [
            step(json!({ "createNode": node("n2") })),
            step(json!({ "updateNode": node("n2") })),
            step(json!({ "registerNode": { "node": node("n3") } })),
            step(json!({ "createPod": pod("p2") })),
            step(json!({ "updatePod": pod("p2") })),
            step(json!({ "createWorkload": deployment("d2") })),
            step(json!({ "updateWorkload": deployment("d2") })),
            step(json!({ "createBudget": budget("b2") })),
            step(json!({ "updateBudget": budget("b2") })),
        ],
    })
}

fn load(_: &str) -> Result<String, String> {
    Ok(to_yaml(&pod("from-file")).unwrap())
}

#[test]
fn no_secret_of_a_scenario_file_enters() {
    for text in [scenario().to_string(), to_yaml(&scenario()).unwrap()] {
        let read = read_scenario(&text, "s.yaml", &Limits::default(), &mut load);
        let scenario = read.scenario.unwrap_or_else(|| panic!("{:?}", read.diagnostics));
        assert_eq!(scenario.objects.pods.len(), 2);
        assert!(!write_scenario(&scenario).contains(MARKER));
        assert!(!format!("{scenario:?} {:?}", read.diagnostics).contains(MARKER));
        assert!(read.dropped.fields > 100, "{}", read.dropped);
        assert!(!format!("{:?}", scenario.simulator().unwrap()).contains(MARKER));
    }
}

#[test]
fn a_session_that_was_stored_with_secrets_is_cleaned_in_the_same_way() {
    let text = scenario().to_string();
    let options = ImportOptions::keep_all();
    let mut stored = read_scenario(&text, "s", options, &mut load).scenario.unwrap();
    assert!(write_scenario(&stored).contains(MARKER));
    let read = read_scenario(&text, "s", &Limits::default(), &mut load);
    let mut edits: Vec<Command> = stored.steps.iter().map(|step| step.command.clone()).collect();

    assert!(redact_scenario(&mut stored, Extent::Shown).unwrap().fields > 100);
    assert!(!write_scenario(&stored).contains(MARKER));
    assert_eq!(Some(&stored), read.scenario.as_ref());
    assert_eq!(redact_scenario(&mut stored, Extent::Shown).unwrap(), Dropped::default());

    assert!(redact_commands(&mut edits).unwrap().fields > 100);
    assert!(!serde_json::to_string(&edits).unwrap().contains(MARKER));
}

#[test]
fn a_copy_that_apply_made_is_reduced_as_its_object_is() {
    let mut object = pod("p");
    object["metadata"]["annotations"] =
        json!({ LAST_APPLIED: pod("p").to_string(), "example.com/a": "b" });
    let mut command = Command::CreatePod(serde_json::from_value(object).unwrap());
    redact_commands([&mut command]).unwrap();
    let Command::CreatePod(pod) = command else { panic!() };
    assert_eq!(pod.metadata.annotations.len(), 1);
    let copy = &pod.metadata.annotations[LAST_APPLIED];
    assert!(copy.contains("example.com/app:1.0") && !copy.contains(MARKER), "{copy}");
}

#[test]
fn a_field_for_people_is_not_in_what_a_run_depends_on() {
    let text = "{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {podCIDR: 10.0.0.0/24}, \
                status: {capacity: {cpu: 1}}}";
    let mut scenario = import(text, "n", &Limits::default()).into_scenario(Scenario::default());
    assert!(write_scenario(&scenario).contains("10.0.0.0"));
    redact_scenario(&mut scenario, Extent::Run).unwrap();
    let left = write_scenario(&scenario);
    assert!(!left.contains("10.0.0.0") && left.contains("cpu: 1"), "{left}");
}
