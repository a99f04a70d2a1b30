//! The scheduler against a second opinion (`models::scheduler`): random clusters asked at once, and
//! random clusters in time, compared after every step.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use taintlab_core::api::{
    LabelSelector, Node, NodeName, PersistentVolume, PersistentVolumeClaim, Pod, PodKey,
    PriorityClass, StorageClass, TaintEffect,
};
use taintlab_core::cluster::Volumes;
use taintlab_core::command::Command;
use taintlab_core::event::{EventKind, ObjectReference};
use taintlab_core::policy::scheduling::{
    BudgetOfVictims, Decision, FilterPlugin, NodeVerdict, SchedulerConfig, Snapshot,
};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;
use taintlab_tests::models::scheduler::{Budget, Storage, World};
use taintlab_tests::models::{is_terminating, list, name, selects};

use super::check;
use taintlab_tests::dice::Dice;

const MINORS: [u8; 20] =
    [18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37];
const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";
const CLASSES: [(&str, i64); 3] = [("low", -5), ("high", 100), ("higher", 1000)];

fn release(minor: u8) -> KubernetesRelease {
    KubernetesRelease::new(minor).unwrap()
}

// ---- random objects ---------------------------------------------------------------------------

fn taint(dice: &mut Dice) -> Value {
    let effect = dice.pick(&["NoSchedule", "NoSchedule", "PreferNoSchedule", "PreferNoSchedule"]);
    json!({ "key": dice.pick(&["a", "b"]), "value": dice.pick(&["x", "y"]), "effect": effect })
}

fn node(dice: &mut Dice, number: usize) -> Value {
    let name = format!("n{number}");
    let mut labels = BTreeMap::new();
    if !dice.one_in(8) {
        labels.insert(HOSTNAME, name.clone());
    }
    if !dice.one_in(6) {
        labels.insert("zone", (*dice.pick(&["z1", "z2", "z3"])).to_owned());
    }
    if dice.one_in(3) {
        labels.insert(ZONE, (*dice.pick(&["z1", "z2", "z3"])).to_owned());
    }
    if dice.one_in(2) {
        labels.insert("disk", (*dice.pick(&["ssd", "hdd"])).to_owned());
    }
    let mut taints: Vec<Value> = Vec::new();
    for _ in 0..*dice.pick(&[0, 0, 0, 0, 1, 2]) {
        let new = taint(dice);
        let same = |old: &Value| old["key"] == new["key"] && old["effect"] == new["effect"];
        if !taints.iter().any(same) {
            taints.push(new);
        }
    }
    json!({
        "metadata": { "name": name, "labels": labels },
        "spec": { "taints": taints, "unschedulable": dice.one_in(10) },
        "status": { "allocatable": {
            "cpu": dice.pick(&["1", "2", "2500m", "4"]),
            "memory": dice.pick(&["1Gi", "2Gi", "3000Mi"]),
            "pods": dice.pick(&["3", "10", "10", "10"]),
            "example.com/gpu": dice.pick(&["0", "1", "4"]),
        } },
    })
}

fn selector(dice: &mut Dice) -> Value {
    match dice.below(5) {
        0 => json!({ "matchExpressions": [
            { "key": "app", "operator": "In", "values": ["a", "b"] }] }),
        1 => json!({ "matchExpressions": [{ "key": "app", "operator": "Exists" }] }),
        _ => json!({ "matchLabels": { "app": dice.pick(&["a", "a", "b"]) } }),
    }
}

fn affinity_term(dice: &mut Dice) -> Value {
    json!({ "labelSelector": selector(dice), "topologyKey": dice.pick(&["zone", HOSTNAME]) })
}

fn weighted(dice: &mut Dice) -> Value {
    json!({ "weight": dice.pick(&[1, 7, 50, 100]), "podAffinityTerm": affinity_term(dice) })
}

fn node_expression(dice: &mut Dice) -> Value {
    let key = *dice.pick(&["disk", "disk", "zone"]);
    let operator = *dice.pick(&["In", "In", "NotIn", "Exists", "DoesNotExist"]);
    let values: &[&str] = match (operator, key) {
        ("Exists" | "DoesNotExist", _) => &[],
        (_, "disk") => &["ssd"],
        _ => &["z1", "z2"],
    };
    json!({ "key": key, "operator": operator, "values": values })
}

fn toleration(dice: &mut Dice) -> Value {
    let (key, effect) =
        (*dice.pick(&["a", "b", "a"]), *dice.pick(&["", "NoSchedule", "PreferNoSchedule"]));
    match dice.below(8) {
        0 => json!({ "operator": "Exists" }),
        1 => json!({ "key": "node.kubernetes.io/unschedulable", "operator": "Exists" }),
        2..5 => json!({ "key": key, "operator": "Exists", "effect": effect }),
        _ => json!({ "key": key, "value": dice.pick(&["x", "y"]), "effect": effect }),
    }
}

/// A pod whose priority is that of a class.
fn pod(dice: &mut Dice, name: &str) -> Value {
    let mut requests = BTreeMap::new();
    if !dice.one_in(4) {
        requests.insert("cpu", *dice.pick(&["100m", "300m", "500m", "1", "2", "0"]));
    }
    if !dice.one_in(4) {
        requests.insert("memory", *dice.pick(&["64Mi", "300Mi", "1Gi", "0"]));
    }
    if dice.one_in(8) {
        requests.insert("example.com/gpu", *dice.pick(&["1", "2"]));
    }
    let mut container = json!({ "name": "c", "image": "i", "resources": { "requests": requests } });
    if dice.one_in(5) {
        let port = *dice.pick(&[80, 81]);
        let mut port = json!({ "containerPort": port, "hostPort": port });
        if dice.one_in(3) {
            port["hostIP"] = (*dice.pick(&["10.0.0.1", "10.0.0.2"])).into();
        }
        if dice.one_in(3) {
            port["protocol"] = "UDP".into();
        }
        container["ports"] = json!([port]);
    }
    let mut spec = json!({ "containers": [container] });
    if dice.one_in(8) {
        spec["nodeSelector"] = json!({ "disk": dice.pick(&["ssd", "hdd"]) });
    }
    let some = |dice: &mut Dice, one_in: usize, make: &dyn Fn(&mut Dice) -> Value| -> Vec<Value> {
        if !dice.one_in(one_in) {
            return Vec::new();
        }
        (0..*dice.pick(&[1, 1, 2])).map(|_| make(dice)).collect()
    };
    let mut affinity = json!({});
    let terms = some(dice, 8, &|dice| {
        let all = (0..*dice.pick(&[1, 1, 2])).map(|_| node_expression(dice));
        json!({ "matchExpressions": all.collect::<Vec<_>>() })
    });
    if !terms.is_empty() {
        affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!({ "nodeSelectorTerms": terms });
    }
    let terms = some(dice, 6, &|dice| {
        json!({ "weight": dice.pick(&[1, 10, 100]),
            "preference": { "matchExpressions": [node_expression(dice)] } })
    });
    if !terms.is_empty() {
        affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = terms.into();
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let terms = some(dice, 7, &affinity_term);
        if !terms.is_empty() {
            affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"] = terms.into();
        }
        let terms = some(dice, 6, &weighted);
        if !terms.is_empty() {
            affinity[kind]["preferredDuringSchedulingIgnoredDuringExecution"] = terms.into();
        }
    }
    spec["affinity"] = affinity;
    let mut pairs = Vec::new();
    let constraints = some(dice, 4, &|dice| {
        let when = *dice.pick(&["DoNotSchedule", "ScheduleAnyway"]);
        let mut it = affinity_term(dice);
        it["maxSkew"] = (*dice.pick(&[1, 1, 2])).into();
        it["whenUnsatisfiable"] = when.into();
        if when == "DoNotSchedule" && dice.one_in(4) {
            it["minDomains"] = (*dice.pick(&[2, 3, 4])).into();
        }
        it
    });
    // No two of the same key and effect.
    let fresh = |it: &Value| {
        let pair = (it["topologyKey"].clone(), it["whenUnsatisfiable"].clone());
        let new = !pairs.contains(&pair);
        pairs.push(pair);
        new
    };
    spec["topologySpreadConstraints"] = constraints.into_iter().filter(fresh).collect();
    spec["tolerations"] = some(dice, 3, &toleration).into();
    if dice.one_in(2) {
        let (class, value) = *dice.pick(&CLASSES);
        spec["priorityClassName"] = class.into();
        spec["priority"] = value.into();
    }
    let app = *dice.pick(&["a", "a", "b", "c"]);
    json!({ "metadata": { "name": name, "namespace": "default", "uid": format!("uid-{name}"),
        "labels": { "app": app } }, "spec": spec })
}

/// Volumes, claims and classes, in pairs: the claim of a volume that is taken is bound to it.
fn storage(dice: &mut Dice) -> Storage {
    let size = |dice: &mut Dice| *dice.pick(&["1Gi", "2Gi", "3Gi", "5Gi"]);
    let mode = |dice: &mut Dice| *dice.pick(&["ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany"]);
    let mut volumes = Vec::new();
    let mut claims = Vec::new();
    for number in 0..dice.below(6) {
        let mut spec = json!({
            "storageClassName": dice.pick(&["", "wait", "local", "local"]),
            "accessModes": ["ReadWriteOnce", mode(dice), "ReadWriteOncePod"],
            "capacity": { "storage": size(dice) },
        });
        let expression = match dice.below(4) {
            0 => None,
            1 => Some(json!({ "key": HOSTNAME, "operator": "In",
                "values": [format!("n{}", dice.below(4))] })),
            _ => Some(json!({ "key": "zone", "operator": "In",
                "values": [dice.pick(&["z1", "z2", "z3"]), "z9"] })),
        };
        if let Some(expression) = expression {
            let term = json!({ "matchExpressions": [expression] });
            spec["nodeAffinity"] = json!({ "required": { "nodeSelectorTerms": [term] } });
        }
        let mut labels = json!({});
        if dice.one_in(4) {
            labels[ZONE] = (*dice.pick(&["z1", "z2", "z1__z3"])).into();
        }
        let mut phase = *dice.pick(&["Available", "Available", "Available", "Released"]);
        if dice.one_in(2) {
            let name = format!("c{}", claims.len());
            spec["claimRef"] = json!({ "namespace": "default", "name": name });
            phase = "Bound";
            let mut claim = claim(dice, &name);
            claim["spec"]["volumeName"] = format!("v{number}").into();
            claim["status"]["phase"] = "Bound".into();
            claims.push(claim);
        } else if dice.one_in(6) {
            // Kept for a claim that may come.
            spec["claimRef"] = json!({ "namespace": "default",
                "name": format!("c{}", dice.below(6)) });
        }
        volumes.push(json!({ "metadata": { "name": format!("v{number}"), "labels": labels },
            "spec": spec, "status": { "phase": phase } }));
    }
    for _ in 0..dice.below(4) {
        let name = format!("c{}", claims.len());
        let mut claim = claim(dice, &name);
        claim["spec"]["storageClassName"] =
            (*dice.pick(&["wait", "wait", "local", "local", "now", "none"])).into();
        claim["spec"]["resources"] = json!({ "requests": { "storage": size(dice) } });
        if dice.one_in(8) {
            claim["spec"]["volumeName"] = "v0".into();
        }
        claims.push(claim);
    }
    let class = |name: &str, provisioner: &str, mode: &str, zones: Value| {
        json!({ "metadata": { "name": name }, "provisioner": provisioner,
            "volumeBindingMode": mode, "allowedTopologies": zones })
    };
    let zones = match dice.below(3) {
        0 => json!([{ "matchLabelExpressions": [{ "key": "zone",
            "values": [dice.pick(&["z1", "z2"]), "z9"] }] }]),
        _ => json!([]),
    };
    let late = "WaitForFirstConsumer";
    let classes = vec![
        class("wait", "disk", late, zones),
        class("local", "kubernetes.io/no-provisioner", late, json!([])),
        class("now", "disk", "Immediate", json!([])),
    ];
    Storage { volumes, claims, classes }
}

/// Services and workloads, which select pods by labels.
fn selectors(dice: &mut Dice) -> Vec<Value> {
    let all = [
        ("Service", "a", json!({ "app": "a" })),
        ("Service", "x", json!({ "tier": "x" })),
        ("ReplicaSet", "a", json!({ "app": "a" })),
        ("ReplicaSet", "b", json!({ "app": "b", "tier": "x" })),
        ("StatefulSet", "a", json!({ "app": "a", "tier": "y" })),
    ];
    let object = |(kind, name, labels): (&str, &str, Value)| {
        json!({ "kind": kind, "metadata": { "name": name },
            "spec": { "selector": { "matchLabels": labels } } })
    };
    all.into_iter().filter(|_| dice.one_in(2)).map(object).collect()
}

/// Gives a pod a label more and, where one selects it, an owner.
fn own(dice: &mut Dice, pod: &mut Value, selectors: &[Value]) {
    pod["metadata"]["labels"]["tier"] = (*dice.pick(&["x", "y"])).into();
    let may = |object: &&Value| {
        object["kind"] != "Service" && selects(object.pointer("/spec/selector"), pod)
    };
    let owners: Vec<&Value> = selectors.iter().filter(may).collect();
    if !owners.is_empty() && !dice.one_in(3) {
        let owner = owners[dice.below(owners.len())];
        pod["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1",
            "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": "u",
            "controller": true }]);
    }
}

fn claim(dice: &mut Dice, name: &str) -> Value {
    let mode = *dice.pick(&["ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"]);
    let mut metadata = json!({ "name": name, "namespace": "default" });
    if dice.one_in(12) {
        metadata["deletionTimestamp"] = "2026-01-01T00:01:00Z".into();
    }
    json!({ "metadata": metadata, "spec": { "accessModes": [mode] },
        "status": { "phase": "Pending" } })
}

/// Lets a pod use up to two claims, which need not be there.
fn use_claims(dice: &mut Dice, pod: &mut Value, claims: usize) {
    let mut names: Vec<String> = Vec::new();
    for _ in 0..*dice.pick(&[0, 0, 1, 1, 1, 2]) {
        let known = claims.max(1) + usize::from(dice.one_in(8));
        names.push(format!("c{}", dice.below(known)));
    }
    names.dedup();
    let volume = |name: &String| {
        let claim = json!({ "claimName": name });
        json!({ "name": format!("data-{name}"), "persistentVolumeClaim": claim })
    };
    let volumes: Vec<Value> = names.iter().map(volume).collect();
    pod["spec"]["volumes"] = volumes.into();
}

fn volumes_of(storage: &Storage) -> Volumes {
    let mut volumes = Volumes::default();
    for volume in typed::<PersistentVolume>(&storage.volumes) {
        volumes.put_persistent_volume(Arc::new(volume));
    }
    for claim in typed::<PersistentVolumeClaim>(&storage.claims) {
        volumes.put_claim(Arc::new(claim));
    }
    for class in typed::<StorageClass>(&storage.classes) {
        volumes.put_class(Arc::new(class));
    }
    volumes
}

// ---- comparing --------------------------------------------------------------------------------

/// Feasible nodes, reasons, message and scores.
fn compare(world: &World, pod: &Value, decision: &Decision) -> Result<(), TestCaseError> {
    let what = || format!("1.{}: pod {pod:#}\nengine {decision:#?}", world.minor);
    for (verdict, node) in decision.verdicts.iter().zip(&world.nodes) {
        prop_assert_eq!(&verdict.node, name(node));
        let model = world.rejection(pod, node);
        let engine = verdict.rejection.as_ref();
        let same = match (&model, engine) {
            (None, None) => true,
            (Some(model), Some(engine)) => {
                let mut sorted = (model.reasons.clone(), engine.reasons.clone());
                sorted.0.sort();
                sorted.1.sort();
                sorted.0 == sorted.1 && model.unresolvable != engine.preemption_may_help
            }
            _ => false,
        };
        prop_assert!(same, "{}: model {:?}, engine {:?}\n{}", verdict.node, model, engine, what());
    }
    let scores = world.scores(pod);
    let Some(chosen) = &decision.node else {
        prop_assert!(scores.is_empty());
        let message = decision.message.clone().unwrap_or_default();
        let mut expected = world.message(pod);
        if world.minor >= 24 && !world.nodes.is_empty() {
            if !decision.preemptable.is_empty() {
                // What is said of preemption goes to nobody if it helps.
                prop_assert!(message.starts_with(&expected), "{message}\n{expected}\n{}", what());
                return Ok(());
            }
            let dra = if world.minor >= 34 { "no new claims to deallocate, " } else { "" };
            expected = match world.minor >= 34 && world.is_refused(pod) {
                true => format!("{expected} not found"),
                false => format!("{expected} {dra}{}", world.preemption_message(pod)),
            };
            if (26..=28).contains(&world.minor) {
                expected.push('.');
            }
        }
        prop_assert_eq!(message, expected, "{}", what());
        return Ok(());
    };
    // Plugins that say the same of every node may be left out: totals count from the best.
    let best = scores.iter().map(|(_, total)| *total).max().unwrap_or(0);
    let feasible = decision.verdicts.iter().filter(|verdict| verdict.rejection.is_none());
    let engine: Vec<_> = feasible.map(|it| (it.node.clone(), it.total)).collect();
    let engine_best = engine.iter().map(|(_, total)| *total).max().unwrap_or(0);
    let distance = |scores: &[(String, i64)], best: i64| -> Vec<(String, i64)> {
        scores.iter().map(|(node, total)| (node.clone(), best - total)).collect()
    };
    let (model, engine) = (distance(&scores, best), distance(&engine, engine_best));
    prop_assert_eq!(model.clone(), engine, "points behind the best; {}", what());
    let behind = model.iter().find(|(node, _)| node == chosen).map(|(_, behind)| *behind);
    prop_assert_eq!(behind, Some(0), "{} is not among the best: {:?}", chosen, model);
    Ok(())
}

fn typed<T: serde::de::DeserializeOwned>(values: &[Value]) -> Vec<T> {
    values.iter().map(|value| serde_json::from_value(value.clone()).unwrap()).collect()
}

// ---- one question of a random cluster ---------------------------------------------------------

fn world(dice: &mut Dice) -> (World, Vec<Budget>) {
    let nodes: Vec<Value> = (0..*dice.pick(&[1, 2, 3, 4, 5])).map(|n| node(dice, n)).collect();
    let mut pods = Vec::new();
    for number in 0..dice.below(3 * nodes.len() + 1) {
        let mut pod = pod(dice, &format!("p{number}"));
        let node = format!("n{}", dice.below(nodes.len()));
        if dice.one_in(8) {
            pod["status"]["nominatedNodeName"] = node.into();
        } else {
            // No two with the same host port: upstream keeps a set of ports, which forgets both.
            let ports = |pod: &Value| pod["spec"]["containers"][0].get("ports").is_some();
            let taken = |other: &Value| other["spec"]["nodeName"] == node && ports(other);
            if pods.iter().any(taken) {
                pod["spec"]["containers"][0].as_object_mut().unwrap().remove("ports");
            }
            pod["spec"]["nodeName"] = node.into();
            let seconds = *dice.pick(&[10, 20, 30]);
            pod["status"]["startTime"] = format!("2026-01-01T00:00:{seconds}Z").into();
        }
        if dice.one_in(8) && pod["spec"].get("nodeName").is_some() {
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z".into();
        }
        if dice.one_in(10) {
            pod["status"]["phase"] = (*dice.pick(&["Succeeded", "Failed"])).into();
        }
        pods.push(pod);
    }
    let selectors = if dice.one_in(2) { selectors(dice) } else { Vec::new() };
    for pod in &mut pods {
        own(dice, pod, &selectors);
    }
    let storage = dice.one_in(2).then(|| storage(dice));
    if let Some(storage) = &storage {
        for pod in &mut pods {
            use_claims(dice, pod, storage.claims.len());
        }
    }
    let budget = |dice: &mut Dice| {
        let allowed = *dice.pick(&[0, 0, 1]);
        Budget { selector: selector(dice), allowed }
    };
    let budgets = (0..*dice.pick(&[0, 1, 2])).map(|_| budget(dice)).collect();
    let minor = *dice.pick(&MINORS);
    (World { minor, nodes, pods, taken_away: Vec::new(), storage, selectors }, budgets)
}

fn preempts_alike(
    world: &World,
    pod: &Value,
    budgets: &[Budget],
    snapshot: &Snapshot,
) -> Result<(), TestCaseError> {
    let of = |budget: &Budget| BudgetOfVictims {
        namespace: "default".into(),
        selector: LabelSelector::read("selector", Some(&budget.selector)).unwrap().unwrap(),
        disruptions_allowed: budget.allowed,
        disrupted_pods: taintlab_core::order::OrderedSet::new(),
    };
    let budgets_of_victims: Vec<_> = budgets.iter().map(of).collect();
    let object: Pod = serde_json::from_value(pod.clone()).unwrap();
    let engine = snapshot.preempt(&object, &budgets_of_victims).unwrap();
    let model = world.candidates(pod, budgets);
    let victims = |candidate: &taintlab_core::policy::scheduling::Candidate| {
        let mut names: Vec<_> = candidate.victims.iter().map(|it| it.name().to_owned()).collect();
        names.sort();
        (candidate.node.clone(), names)
    };
    let candidates: Vec<_> = engine.candidates.iter().map(victims).collect();
    let expected: Vec<_> = model.iter().map(|it| (it.node.clone(), it.victims.clone())).collect();
    prop_assert_eq!(expected, candidates, "1.{}: candidates of {:#}", world.minor, pod);
    let best: Vec<_> =
        engine.best.iter().map(|index| engine.candidates[*index].node.as_str()).collect();
    prop_assert_eq!(World::best(&model), best, "1.{}: {:#?}", world.minor, model);
    Ok(())
}

#[test]
fn scheduler_and_model_agree_at_once() {
    let (asked, refused, preempting) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let (with_claims, kept_off, owned) = (Cell::new(0), Cell::new(0), Cell::new(0));
    check(700, any::<u64>().no_shrink(), |seed| {
        let mut dice = Dice::new(seed);
        let (world, budgets) = world(&mut dice);
        let config = SchedulerConfig::of(release(world.minor));
        let (nodes, pods): (Vec<Node>, Vec<Pod>) = (typed(&world.nodes), typed(&world.pods));
        let mut snapshot = Snapshot::new(config, &nodes, &pods).unwrap();
        if let Some(storage) = &world.storage {
            snapshot.set_volumes(Some(Arc::new(volumes_of(storage))));
        }
        for object in &world.selectors {
            let (kind, selector) = (object["kind"].as_str().unwrap(), &object["spec"]["selector"]);
            if kind == "Service" {
                let labels = serde_json::from_value(selector["matchLabels"].clone()).unwrap();
                snapshot.set_service("default", name(object), Some(&labels));
            } else {
                let read = LabelSelector::read("selector", Some(selector)).unwrap().unwrap();
                snapshot.set_workload_selector(kind, "default", name(object), read);
            }
        }
        for number in 0..3 {
            let mut pod = pod(&mut dice, &format!("new-{number}"));
            own(&mut dice, &mut pod, &world.selectors);
            owned.set(owned.get() + u64::from(pod["metadata"].get("ownerReferences").is_some()));
            if let Some(storage) = &world.storage {
                use_claims(&mut dice, &mut pod, storage.claims.len());
                with_claims
                    .set(with_claims.get() + u64::from(!list(&pod, "/spec/volumes").is_empty()));
            }
            let object = serde_json::from_value(pod.clone()).unwrap();
            let decision = snapshot.schedule(&object).unwrap();
            let all = || format!("seed {seed}, pod {number}, nodes {:#?}", world);
            let result = compare(&world, &pod, &decision);
            let result = result.and_then(|()| match decision.node {
                Some(_) => Ok(()),
                None => preempts_alike(&world, &pod, &budgets, &snapshot),
            });
            result.map_err(|error| TestCaseError::fail(format!("{error}\n{}", all())))?;
            asked.set(asked.get() + 1);
            refused.set(refused.get() + u64::from(decision.node.is_none()));
            let by_volumes = |verdict: &NodeVerdict| {
                let plugin = verdict.rejection.as_ref().map(|rejection| rejection.plugin);
                use FilterPlugin::{VolumeBinding, VolumeRestrictions, VolumeZone};
                matches!(plugin, Some(VolumeBinding | VolumeRestrictions | VolumeZone))
            };
            let here = decision.verdicts.iter().any(by_volumes);
            kept_off.set(kept_off.get() + u64::from(here));
            let helps = !decision.preemptable.is_empty();
            preempting.set(preempting.get() + u64::from(helps));
        }
        Ok(())
    });
    println!("{} asked, {} refused, {} preempt", asked.get(), refused.get(), preempting.get());
    let (with_claims, kept_off, owned) = (with_claims.get(), kept_off.get(), owned.get());
    println!("{with_claims} with claims, {kept_off} kept off by them, {owned} with owners");
    assert!(owned > asked.get() / 20);
    assert!(with_claims > asked.get() / 5 && kept_off > asked.get() / 10);
    assert!(refused.get() > asked.get() / 20 && preempting.get() > asked.get() / 100);
}

// ---- random clusters in time ------------------------------------------------------------------

fn simulation(dice: &mut Dice) -> (u8, Simulator) {
    let minor = *dice.pick(&MINORS);
    let config = SimulatorConfig::with_control_plane(release(minor));
    let class = |(name, value): &(&str, i64)| {
        serde_json::from_value::<PriorityClass>(
            json!({ "metadata": { "name": name }, "value": value }),
        )
        .unwrap()
    };
    let mut begin = InitialState {
        priority_classes: CLASSES.iter().map(class).collect(),
        ..InitialState::default()
    };
    let nodes = (0..*dice.pick(&[2, 3, 4])).map(|number| node(dice, number)).collect::<Vec<_>>();
    if dice.one_in(2) {
        let storage = storage(dice);
        begin.volumes.persistent_volumes = typed(&storage.volumes);
        begin.volumes.claims = typed(&storage.claims);
        begin.volumes.classes = typed(&storage.classes);
    }
    (minor, Simulator::beginning_with(config, typed::<Node>(&nodes), [], begin).unwrap())
}

fn command(dice: &mut Dice, simulator: &Simulator, number: usize) -> Option<Command> {
    let index = dice.below(4);
    let node_name: NodeName = format!("n{index}").as_str().into();
    let pods: Vec<PodKey> = simulator.cluster().pods().map(|(key, _)| key.clone()).collect();
    Some(match dice.below(20) {
        0 => Command::SetUnschedulable { node: node_name, unschedulable: dice.one_in(2) },
        1 => Command::SetTaints { node: node_name, taints: typed(&[taint(dice)]) },
        2 => Command::Untaint { node: node_name, key: "a".into(), effect: TaintEffect::Empty },
        3 => {
            let of = simulator.cluster().get_node(node_name.as_str())?;
            let mut labels = BTreeMap::clone(&of.metadata.labels);
            labels.insert("zone".into(), (*dice.pick(&["z1", "z2"])).to_owned());
            Command::SetNodeLabels { node: node_name, labels }
        }
        4 if dice.one_in(2) => Command::DeleteNode { node: node_name },
        5 if dice.one_in(2) => {
            Command::CreateNode(serde_json::from_value(node(dice, index)).unwrap())
        }
        6..9 if !pods.is_empty() => {
            let pod = pods[dice.below(pods.len())].clone();
            Command::DeletePod { pod, force: dice.one_in(2), grace_period_seconds: Some(3) }
        }
        _ => {
            let mut pod = pod(dice, &format!("p{number}"));
            if let Some(volumes) = simulator.cluster().volumes() {
                use_claims(dice, &mut pod, volumes.claims().count());
            }
            let mut pod: Pod = serde_json::from_value(pod).unwrap();
            pod.spec.termination_grace_period_seconds = Some(3);
            Command::CreatePod(pod)
        }
    })
}

fn world_of(minor: u8, simulator: &Simulator) -> World {
    fn json<T: serde::Serialize>(object: &T) -> Value {
        serde_json::to_value(object).unwrap()
    }
    let cluster = simulator.cluster();
    let storage = cluster.volumes().map(|volumes| Storage {
        volumes: volumes.persistent_volumes().map(|volume| json(&**volume)).collect(),
        claims: volumes.claims().map(|(_, claim)| json(&**claim)).collect(),
        classes: volumes.classes().map(|class| json(&**class)).collect(),
    });
    World {
        minor,
        nodes: cluster.nodes().map(|(_, node)| json(&**node)).collect(),
        pods: cluster.pods().map(|(_, pod)| json(&**pod)).collect(),
        taken_away: Vec::new(),
        storage,
        selectors: Vec::new(),
    }
}

/// What the scheduler decides from: not statuses of nodes, nor of pods but where they are.
fn inputs(world: &World) -> (Vec<Value>, BTreeMap<String, Value>) {
    let nodes = world.nodes.iter().map(|node| {
        json!([name(node), node["metadata"]["labels"], node["spec"], node["status"]["allocatable"]])
    });
    let pods = world.pods.iter().map(|pod| {
        let ended = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        let parts = json!([
            pod["metadata"]["uid"],
            pod["spec"]["nodeName"],
            is_terminating(pod),
            ended,
            pod["status"]["nominatedNodeName"]
        ]);
        (name(pod).to_owned(), parts)
    });
    (nodes.collect(), pods.collect())
}

/// Bindings and preemptions of a step, each checked against what there was before it.
fn follow(
    before: &World,
    after: &World,
    events: &[EventKind],
    checked: &Cell<u64>,
) -> Result<(), TestCaseError> {
    let about = |reason: &str| -> Vec<String> {
        let names = events.iter().filter_map(|event| match event {
            EventKind::EventRecorded(it) if it.reason == reason => match &it.involved_object {
                ObjectReference::Pod { pod, .. } => Some(pod.to_string()),
                _ => None,
            },
            _ => None,
        });
        names.map(|name| name.rsplit('/').next().unwrap_or_default().to_owned()).collect()
    };
    let (scheduled, preempted) = (about("Scheduled"), about("Preempted"));
    let find =
        |world: &World, wanted: &str| world.pods.iter().find(|pod| name(pod) == wanted).cloned();
    // Who preempted is nominated where its victims were, and none of them is as important.
    for victim in &preempted {
        let Some(victim) = find(before, victim) else { continue };
        let on = &victim["spec"]["nodeName"];
        let priority = |pod: &Value| pod["spec"]["priority"].as_i64().unwrap_or(0);
        let by = after.pods.iter().any(|pod| {
            pod["status"]["nominatedNodeName"] == *on && priority(pod) > priority(&victim)
        });
        prop_assert!(by, "nobody is nominated to {on} for whom {victim:#} went");
    }
    // Only if nothing else has changed is it known what the scheduler saw.
    let ((nodes, pods), (nodes_now, pods_now)) = (inputs(before), inputs(after));
    let changed = pods.iter().any(|(name, was)| {
        !scheduled.contains(name) && pods_now.get(name).is_none_or(|now| now != was)
    });
    if scheduled.is_empty() || nodes != nodes_now || changed {
        return Ok(());
    }
    // Claims are bound for a pod once it has a node, or before it is looked at; what the pod after
    // it found is not known.
    let claims = |world: &World| world.storage.as_ref().map(|storage| storage.claims.clone());
    let claims_changed = claims(before) != claims(after);
    if scheduled.len() > 1 && claims_changed {
        return Ok(());
    }
    let mut world = before.clone();
    for bound in &scheduled {
        let Some(now) = find(after, bound) else { return Ok(()) };
        let mut waiting = find(before, bound).unwrap_or_else(|| now.clone());
        if !waiting["spec"]["nodeName"].as_str().unwrap_or_default().is_empty() {
            waiting["spec"]["nodeName"] = "".into();
        }
        world.pods.retain(|pod| name(pod) != bound);
        let mut scores = world.scores(&waiting);
        if scores.is_empty() && claims_changed {
            world.storage.clone_from(&after.storage);
            scores = world.scores(&waiting);
        }
        let best = scores.iter().map(|(_, total)| *total).max();
        let node = now["spec"]["nodeName"].as_str().unwrap_or_default();
        let its = scores.iter().find(|(name, _)| name == node).map(|(_, total)| *total);
        prop_assert!(
            its.is_some() && its == best || nominated_to(&waiting, node, its),
            "1.{}: {bound} went to {node}, best of {scores:?}",
            world.minor
        );
        world.pods.push(now);
        checked.set(checked.get() + 1);
    }
    Ok(())
}

/// A pod for which room was made goes there if it fits, whatever else fits.
fn nominated_to(pod: &Value, node: &str, score: Option<i64>) -> bool {
    score.is_some() && pod["status"]["nominatedNodeName"] == *node
}

#[test]
fn scheduler_and_model_agree_in_time() {
    let (steps_in_all, waiting, bound) = (Cell::new(0_u64), Cell::new(0_u64), Cell::new(0_u64));
    let script = (any::<u64>().no_shrink(), vec(any::<u64>().no_shrink(), 0..40));
    check(50, script, |(seed, steps)| {
        let (minor, mut simulator) = simulation(&mut Dice::new(seed));
        let mut before = world_of(minor, &simulator);
        let mut compare_all = |simulator: &mut Simulator, what: &str| {
            let events: Vec<EventKind> =
                simulator.drain_events().into_iter().map(|event| event.what).collect();
            let after = world_of(minor, simulator);
            steps_in_all.set(steps_in_all.get() + 1);
            let result = follow(&before, &after, &events, &bound).and_then(|()| {
                for pod in &after.pods {
                    let key = PodKey::new("default", name(pod));
                    let Some(decision) = simulator.scheduling_decision(&key) else { continue };
                    waiting.set(waiting.get() + 1);
                    compare(&after, pod, &decision)?;
                }
                Ok(())
            });
            before = after;
            result.map_err(|error| {
                TestCaseError::fail(format!(
                    "seed {seed}, at {}, after {what}: {error}",
                    simulator.now()
                ))
            })
        };
        simulator.advance_to(Timestamp::ZERO).unwrap();
        let mut at = Timestamp::ZERO;
        for (number, roll) in steps.iter().enumerate() {
            let mut dice = Dice::new(*roll);
            let pause: u64 = *dice.pick(&[0, 0, 500, 1_000, 3_000, 12_000]);
            at = Timestamp::from_nanos(at.as_nanos() + pause * 1_000_000);
            while let Some(next) = simulator.poll_timeout().filter(|next| next.at <= at) {
                simulator.handle_timeout(next.at).unwrap();
                compare_all(&mut simulator, &format!("{:?}", next.reason))?;
            }
            simulator.advance_to(at).unwrap();
            let Some(command) = command(&mut dice, &simulator, number) else { continue };
            let what = format!("command {number}: {command:?}");
            let _ = simulator.handle_command(at, command);
            simulator.advance_to(at).unwrap();
            compare_all(&mut simulator, &what)?;
        }
        Ok(())
    });
    println!("{} steps, {} waiting, {} bound", steps_in_all.get(), waiting.get(), bound.get());
    assert!(bound.get() > steps_in_all.get() / 10 && waiting.get() > steps_in_all.get() / 10);
}
