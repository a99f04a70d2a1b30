//! Volumes: what the scheduler says of them, where they are attached, and when they are detached.

use std::sync::Arc;

use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod, PodKey};
use taintlab_core::cluster::{Cluster, Volumes};
use taintlab_core::controllers::attach_detach::{AttachDetachAction, AttachDetachController};
use taintlab_core::controllers::{Context, Controller, Machine};
use taintlab_core::event::EventKind;
use taintlab_core::policy::scheduling::{SchedulerConfig, Snapshot};
use taintlab_core::queue::timer_queue::Sequence;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::{Simulator, StorageView};
use taintlab_core::time::{Time, Timestamp};
use taintlab_manifest::{Limits, import, read_scenario};

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn release(text: &str) -> KubernetesRelease {
    KubernetesRelease::parse(text).unwrap()
}

pub(crate) fn node(name: &str, zone: &str, ready: bool) -> Node {
    read(json!({
        "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}},
        "status": {"conditions": [
            {"type": "Ready", "status": if ready { "True" } else { "Unknown" }},
        ]},
    }))
}

fn pod(name: &str, on: &str, claim: &str) -> Pod {
    read(json!({
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": on,
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]},
        "status": {"phase": if on.is_empty() { "Pending" } else { "Running" }},
    }))
}

fn volume(name: &str, mode: &str, zone: Option<&str>, claim: Option<&str>) -> Value {
    let mut volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {"accessModes": [mode], "csi": {"driver": "disk", "volumeHandle": name}},
    });
    if let Some(zone) = zone {
        let term = json!({"matchExpressions":
            [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]});
        volume["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [term]}});
    }
    if let Some(claim) = claim {
        volume["spec"]["claimRef"] = json!({"namespace": "default", "name": claim});
    }
    volume
}

fn claim(name: &str, mode: &str, class: &str, volume: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"accessModes": [mode], "storageClassName": class, "volumeName": volume},
        "status": {"phase": if volume.is_empty() { "Pending" } else { "Bound" }},
    })
}

fn class(name: &str, provisioner: &str, mode: &str) -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "volumeBindingMode": mode})
}

fn volumes(objects: &[Value]) -> Volumes {
    let mut volumes = Volumes::default();
    for object in objects {
        match object["kind"].as_str().unwrap() {
            "PersistentVolume" => {
                volumes.put_persistent_volume(Arc::new(read(object.clone())));
            }
            "PersistentVolumeClaim" => {
                volumes.put_claim(Arc::new(read(object.clone())));
            }
            "StorageClass" => volumes.put_class(Arc::new(read(object.clone()))),
            other => panic!("{other}"),
        }
    }
    volumes
}

/// The first sentence of what the scheduler says of a pod with the claim `c` on two nodes, of the
/// zones a and b.
fn says(minor: &str, objects: &[Value], others: &[Pod]) -> String {
    let nodes = [node("a-1", "a", true), node("b-1", "b", true)];
    let config = SchedulerConfig::of(release(minor));
    let mut snapshot = Snapshot::new(config, &nodes, others).unwrap();
    snapshot.set_volumes(Some(Arc::new(volumes(objects))));
    let decision = snapshot.schedule(&pod("new", "", "c")).unwrap();
    let placed = snapshot.place(&pod("new", "", "c"), &mut 0).unwrap();
    assert_eq!(
        placed.first().map(|node| &**node),
        decision.node.as_deref(),
        "both ways find the same node"
    );
    match decision.node {
        Some(node) => node,
        None => decision.message.unwrap().split(". ").next().unwrap().trim_matches('.').to_owned(),
    }
}

#[test]
fn what_the_scheduler_says_of_volumes() {
    let rwo = "ReadWriteOnce";
    let bound = |zone| [volume("v", rwo, Some(zone), Some("c")), claim("c", rwo, "", "v")];
    let waiting =
        |provisioner| [claim("c", rwo, "k", ""), class("k", provisioner, "WaitForFirstConsumer")];
    let local = "kubernetes.io/no-provisioner";
    let unbound = [claim("c", rwo, "", "")];
    let mut kept = waiting(local).to_vec();
    kept.push(volume("v", rwo, Some("b"), None));
    kept[2]["spec"]["storageClassName"] = "k".into();
    let mut labelled = [volume("v", rwo, None, Some("c")), claim("c", rwo, "", "v")];
    labelled[0]["metadata"]["labels"] = json!({"topology.kubernetes.io/zone": "z"});
    let single =
        [volume("v", "ReadWriteOncePod", None, Some("c")), claim("c", "ReadWriteOncePod", "", "v")];
    let user = [pod("old", "b-1", "c")];
    let nothing: [Pod; 0] = [];
    let taken = "0/2 nodes are available: 2 node has pod using PersistentVolumeClaim with the same \
                 name and ReadWriteOncePod access mode";
    for (minor, objects, others, expected) in [
        ("1.31", &bound("b")[..], &nothing[..], "b-1"),
        (
            "1.31",
            &bound("c"),
            &nothing,
            "0/2 nodes are available: 2 node(s) had volume node affinity conflict",
        ),
        (
            "1.33",
            &bound("c"),
            &nothing,
            "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity",
        ),
        (
            "1.20",
            &unbound,
            &nothing,
            "0/2 nodes are available: 2 pod has unbound immediate PersistentVolumeClaims",
        ),
        (
            "1.31",
            &unbound,
            &nothing,
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims",
        ),
        ("1.31", &[], &nothing, "0/2 nodes are available: persistentvolumeclaim \"c\" not found"),
        (
            "1.31",
            &waiting(local),
            &nothing,
            "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind",
        ),
        ("1.31", &waiting("disk"), &nothing, "a-1"),
        ("1.31", &kept, &nothing, "b-1"),
        (
            "1.31",
            &labelled,
            &nothing,
            "0/2 nodes are available: 2 node(s) had no available volume zone",
        ),
        ("1.31", &single, &user, taken),
        ("1.26", &single, &user, "a-1"),
        // What is left of a node that was deleted.
        ("1.31", &single, &[pod("old", "gone", "c")], "a-1"),
    ] {
        assert_eq!(says(minor, objects, others), expected, "{minor}");
    }
}

/// What the controller does with a volume that is attached to `n`, as far as is known still
/// mounted, and used by no pod there: how many seconds later it is detached.
pub(crate) fn detached_after(
    release: KubernetesRelease,
    node: Option<Node>,
    mounted: bool,
) -> Option<u64> {
    let mut cluster = Cluster::default();
    let objects =
        [volume("v", "ReadWriteOnce", None, Some("c")), claim("c", "ReadWriteOnce", "", "v")];
    let mut volumes = volumes(&objects);
    volumes.put_attachment(Arc::new(read(json!({
        "metadata": {"name": "a"},
        "spec": {"nodeName": "n", "source": {"persistentVolumeName": "v"}},
        "status": {"attached": true},
    }))));
    volumes.set_in_use("v", &"n".into(), mounted);
    cluster.set_volumes(volumes);
    if let Some(node) = node {
        cluster.put_node(Arc::new(node));
    }
    let (start, mut sequence) = (Time::DEFAULT_START, Sequence::default());
    let mut controller = AttachDetachController::new(release);
    let mut now = Timestamp::ZERO;
    let mut context = Context { now, start, cluster: &cluster, sequence: &mut sequence };
    controller.bootstrap(&mut context);
    while let Some(next) = controller.poll_timeout(now) {
        now = next.at;
        let mut context = Context { now, start, cluster: &cluster, sequence: &mut sequence };
        controller.handle_timeout(&mut context);
        if let Some(action) = controller.poll_action(&mut context) {
            let (volume, node) = ("v".to_owned(), "n".into());
            assert_eq!(action, AttachDetachAction::Detach { volume, node, forced: mounted });
            return Some(now.as_nanos() / 1_000_000_000);
        }
    }
    None
}

#[test]
fn when_a_volume_is_detached() {
    let mut gone = node("n", "a", false);
    gone.spec.taints = vec![read(json!({
        "key": "node.kubernetes.io/out-of-service", "effect": "NoExecute",
    }))];
    for (minor, node, mounted, expected) in [
        // Unmounted, wherever.
        ("1.34", Some(node("n", "a", true)), false, Some(0)),
        ("1.34", Some(node("n", "a", false)), false, Some(0)),
        // The kubelet is lost.
        ("1.34", Some(node("n", "a", false)), true, Some(360)),
        ("1.20", Some(node("n", "a", false)), true, Some(360)),
        ("1.34", None, true, Some(360)),
        // Healthy, and yet not unmounted.
        ("1.24", Some(node("n", "a", true)), true, Some(360)),
        ("1.25", Some(node("n", "a", true)), true, None),
        // Out of service.
        ("1.26", Some(gone.clone()), true, Some(0)),
        ("1.25", Some(gone), true, Some(360)),
    ] {
        let after = detached_after(release(minor), node.clone(), mounted);
        assert_eq!(after, expected, "{minor} {node:?}");
    }
}

/// A scenario of one pod `db` with the claim `c` on the node `old`, which is lost, and of another
/// pod on `new`.
fn scenario(objects: &[Value]) -> Scenario {
    let scenario = json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario", "metadata": {"name": "volumes"},
        "kubernetes": {"release": "1.34", "controlPlane": true},
        "objects": {
            "nodes": [node("old", "a", false), node("new", "a", true)],
            "others": objects,
        },
    });
    let text = scenario.to_string();
    let mut load = |_: &str| Err(String::new());
    let read = read_scenario(&text, "volumes.json", &Limits::default(), &mut load);
    assert!(read.scenario.is_some(), "{:?}", read.diagnostics);
    read.scenario.unwrap()
}

fn bound(mode: &str) -> [Value; 2] {
    [volume("v", mode, None, Some("c")), claim("c", mode, "", "v")]
}

/// The pods `db` on `old`, which runs, and `next` on `new`, which is to start.
fn simulator(objects: &[Value]) -> Simulator {
    let mut next = pod("next", "new", "c");
    next.status = read(json!({"phase": "Pending"}));
    let scenario = scenario(objects);
    let nodes = scenario.objects.nodes.clone();
    scenario
        .simulator_with(nodes.into_iter(), [pod("db", "old", "c"), next].map(Arc::new).into_iter())
        .unwrap()
}

fn runs(simulator: &Simulator) -> bool {
    let next = simulator.cluster().get_pod(&PodKey::new("default", "next")).unwrap();
    next.status.phase.as_str() == "Running"
}

#[test]
fn who_waits_for_a_volume() {
    let mut local = bound("ReadWriteOnce");
    local[0]["spec"]["local"] = json!({"path": "/disk"});
    local[0]["spec"].as_object_mut().unwrap().remove("csi");
    let bound_elsewhere = [claim("c", "ReadWriteOnce", "", "v")];
    for (objects, starts) in [
        (&bound("ReadWriteOnce")[..], false),
        (&bound("ReadWriteMany"), true),
        (&local, true),
        // Its volume was not given; nobody says that it can be attached twice.
        (&bound_elsewhere, false),
        // No claims were given at all: volumes do not take part.
        (&[volume("v", "ReadWriteOnce", None, Some("c"))], true),
        (&[class("k", "disk", "Immediate")], true),
        (&[], true),
    ] {
        let mut simulator = simulator(objects);
        simulator.advance_to(Timestamp::from_secs(30)).unwrap();
        assert_eq!(runs(&simulator), starts, "{objects:?}");
    }
}

#[test]
fn going_back_keeps_what_is_attached() {
    let mut simulator = simulator(&bound("ReadWriteOnce"));
    simulator.advance_to(Timestamp::from_secs(30)).unwrap();
    let words: Vec<String> =
        simulator.drain_events().iter().map(|event| event.what.to_string()).collect();
    let wanted = "attachdetach-controller: Multi-Attach error for volume \"v\" Volume is already \
                  used by pod(s) db";
    assert_eq!(words.iter().filter(|text| *text == wanted).count(), 1, "{words:?}");
    let snapshot = simulator.snapshot();
    let mut outcomes = Vec::new();
    for _ in 0..2 {
        simulator.restore(&snapshot);
        let pod = PodKey::new("default", "db");
        let command: taintlab_core::command::Command =
            read(json!({"deletePod": {"pod": pod, "force": true}}));
        simulator.handle_command(Timestamp::from_secs(60), command).unwrap();
        simulator.advance_to(Timestamp::from_secs(419)).unwrap();
        assert!(!runs(&simulator));
        simulator.advance_to(Timestamp::from_secs(423)).unwrap();
        assert!(runs(&simulator));
        let events = simulator.drain_events();
        let detached = events
            .iter()
            .find(|event| matches!(event.what, EventKind::VolumeDetached { forced: true, .. }));
        assert_eq!(detached.unwrap().at, Timestamp::from_secs(420));
        outcomes.push(format!("{events:?}"));
    }
    assert_eq!(outcomes[0], outcomes[1]);
}

#[test]
fn a_kubelet_that_is_back_gives_the_volume_back() {
    let mut simulator = simulator(&bound("ReadWriteOnce"));
    let command = |value: Value| read::<taintlab_core::command::Command>(value);
    let delete = command(json!({"deletePod": {"pod": "default/db", "force": true}}));
    simulator.handle_command(Timestamp::from_secs(10), delete).unwrap();
    simulator.advance_to(Timestamp::from_secs(60)).unwrap();
    assert!(!runs(&simulator));
    let start = command(json!({"startKubelet": {"node": "old"}}));
    simulator.handle_command(Timestamp::from_secs(60), start).unwrap();
    simulator.advance_to(Timestamp::from_secs(70)).unwrap();
    assert!(runs(&simulator), "it was unmounted, and so nobody had to wait six minutes");
}

/// What is seen of volumes is what the controllers go by.
#[test]
fn volumes_are_seen_as_they_are() {
    let mut objects = bound("ReadWriteOnce").to_vec();
    objects[0]["spec"]["capacity"] = json!({"storage": "10Gi"});
    objects[0]["spec"]["nodeAffinity"] =
        volume("v", "", Some("a"), None)["spec"]["nodeAffinity"].clone();
    objects.push(claim("waits", "ReadWriteMany", "late", ""));
    objects.push(class("late", "disk", "WaitForFirstConsumer"));
    objects.push(class("none", "kubernetes.io/no-provisioner", ""));
    let mut simulator = simulator(&objects);
    let at = Timestamp::from_secs;
    simulator.advance_to(at(30)).unwrap();
    let seen = StorageView::of(&simulator).unwrap();
    let seen = serde_json::to_value(&seen).unwrap();
    assert_eq!(
        seen,
        json!({
            "volumes": [{
                "volume": "v", "phase": "Bound", "storageClass": "", "claim": "default/c",
                "capacity": "10Gi", "accessModes": ["ReadWriteOnce"], "reclaimPolicy": "Retain",
                "reachableFrom": ["new", "old"], "attachable": true, "exclusive": true,
            }],
            "claims": [
                {
                    "claim": "default/c", "phase": "Bound", "volume": "v",
                    "accessModes": ["ReadWriteOnce"], "waitsForFirstConsumer": false,
                    "terminating": false, "pods": ["default/db", "default/next"],
                },
                {
                    "claim": "default/waits", "phase": "Pending", "storageClass": "late",
                    "accessModes": ["ReadWriteMany"], "waitsForFirstConsumer": true,
                    "terminating": false, "pods": [],
                },
            ],
            "classes": [
                {
                    "storageClass": "late", "provisioner": "disk",
                    "volumeBindingMode": "WaitForFirstConsumer", "isDefault": false,
                },
                {
                    "storageClass": "none", "provisioner": "",
                    "volumeBindingMode": "Immediate", "isDefault": false,
                },
            ],
            "attachments": [{
                "volume": "v", "node": "old", "attached": true, "mounted": true,
                "pods": ["default/db"],
            }],
        })
    );
    let cluster = simulator.cluster();
    let next = StorageView::of_pod(&simulator, cluster.get_pod(&PodKey::new("", "next")).unwrap());
    let next = next.unwrap();
    let numbers = [next.volumes.len(), next.claims.len(), next.classes.len()];
    assert_eq!((numbers, next.attachments[0].node.as_str()), ([1, 1, 0], "old"));
    assert_eq!(StorageView::of_pod(&simulator, &Pod::default()), None);
    // Its pod is gone, and its kubelet says nothing.
    let delete = json!({"deletePod": {"pod": "default/db", "force": true}});
    simulator.handle_command(at(60), read(delete)).unwrap();
    simulator.advance_to(at(419)).unwrap();
    let attachment =
        |simulator: &Simulator| StorageView::of(simulator).unwrap().attachments.remove(0);
    let [there] = &StorageView::of(&simulator).unwrap().attachments[..] else { panic!() };
    assert_eq!((there.node.as_str(), &there.pods[..]), ("old", &[][..]));
    assert_eq!(there.forced_detach_at, Some(at(420).into()));
    simulator.advance_to(at(421)).unwrap();
    let there = attachment(&simulator);
    assert_eq!((there.node.as_str(), there.forced_detach_at), ("new", None));
    // Without claims, volumes take no part.
    let without = self::simulator(&[class("k", "disk", "Immediate")]);
    assert_eq!(StorageView::of(&without), None);
}

/// A claim that is deleted is there while a pod uses it; its volume goes with it if it says so,
/// once it is detached, and nobody else gets one that is kept.
#[test]
fn a_claim_goes_when_nobody_uses_it() {
    for (policy, phase) in [(None, "Released"), (Some("Retain"), "Released"), (Some("Delete"), "")]
    {
        let mut objects = bound("ReadWriteOnce");
        if let Some(policy) = policy {
            objects[0]["spec"]["persistentVolumeReclaimPolicy"] = policy.into();
        }
        let scenario = scenario(&objects);
        let nodes = scenario.objects.nodes.clone();
        let pods = [pod("db", "new", "c")];
        let mut simulator =
            scenario.simulator_with(nodes.into_iter(), pods.into_iter().map(Arc::new)).unwrap();
        let command = |value: Value| read::<taintlab_core::command::Command>(value);
        let state = |simulator: &Simulator| {
            let volumes = simulator.cluster().volumes().unwrap();
            let claim = volumes.claim(&PodKey::new("default", "c")).is_some();
            let volume = volumes.persistent_volume("v");
            (claim, volume.map_or(String::new(), |volume| volume.status.phase.clone()))
        };
        let at = Timestamp::from_secs;
        let delete = json!({"deleteClaim": {"claim": "default/c"}});
        simulator.handle_command(at(10), command(delete)).unwrap();
        simulator.advance_to(at(60)).unwrap();
        assert_eq!(state(&simulator), (true, "Bound".to_owned()), "{policy:?}: in use");
        let delete = json!({"deletePod": {"pod": "default/db", "force": true}});
        simulator.handle_command(at(60), command(delete)).unwrap();
        simulator.advance_to(at(61)).unwrap();
        assert_eq!(state(&simulator), (false, phase.to_owned()), "{policy:?}");
        if !phase.is_empty() {
            let delete = json!({"deleteVolume": {"volume": "v"}});
            simulator.handle_command(at(70), command(delete)).unwrap();
            simulator.advance_to(at(70)).unwrap();
            assert_eq!(state(&simulator), (false, String::new()), "{policy:?}: deleted by hand");
        }
        let again = json!({"deleteClaim": {"claim": "default/c"}});
        let refused = simulator.handle_command(at(80), command(again)).unwrap_err();
        assert_eq!(refused.to_string(), "persistentvolumeclaims \"c\" not found");
    }
}

/// A volume that is deleted is there while a claim is bound to it.
#[test]
fn a_volume_goes_after_its_claim() {
    let mut simulator = simulator(&bound("ReadWriteMany"));
    let command = |value: Value| read::<taintlab_core::command::Command>(value);
    let at = Timestamp::from_secs;
    let delete = json!({"deleteVolume": {"volume": "v"}});
    simulator.handle_command(at(10), command(delete)).unwrap();
    simulator.advance_to(at(20)).unwrap();
    let is_there = |simulator: &Simulator| {
        simulator.cluster().volumes().unwrap().persistent_volume("v").is_some()
    };
    assert!(is_there(&simulator));
    for name in ["db", "next"] {
        let delete = json!({"deletePod": {"pod": format!("default/{name}"), "force": true}});
        simulator.handle_command(at(20), command(delete)).unwrap();
    }
    let delete = json!({"deleteClaim": {"claim": "default/c"}});
    simulator.handle_command(at(20), command(delete)).unwrap();
    simulator.advance_to(at(20)).unwrap();
    assert!(!is_there(&simulator));
}

#[test]
fn a_pasted_cluster_keeps_its_volumes() {
    let mut list = bound("ReadWriteOnce").to_vec();
    list.push(class("k", "disk", "WaitForFirstConsumer"));
    let text = json!({"apiVersion": "v1", "kind": "List", "items": list}).to_string();
    let import = import(&text, "volumes.json", &Limits::default());
    let kinds: Vec<&str> =
        import.others.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["PersistentVolume", "PersistentVolumeClaim", "StorageClass"]);
    let simulator = simulator(&import.others);
    let volumes = simulator.cluster().volumes().unwrap();
    assert!(volumes.claim(&PodKey::new("default", "c")).unwrap().is_bound());
    assert!(volumes.is_attached("v", "old"), "its pod runs there");
}
