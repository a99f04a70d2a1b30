//! Random faults and changes, by what is there when they come, and how they are undone.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use taintlab_core::api::{ConditionStatus, Node, NodeName, PodKey, Workload, WorkloadKind};
use taintlab_core::command::Command;
use taintlab_core::simulator::Simulator;

use super::cluster::{TAINT_KEY, ZONES};
use crate::dice::Dice;

fn command(name: &str, of: &Value) -> Option<Command> {
    Some(serde_json::from_value(json!({ name: of })).unwrap())
}

/// The next change of a cluster; `nodes` are all that there were at the beginning.
pub fn fault(dice: &mut Dice, simulator: &Simulator, nodes: &[Node]) -> Option<Command> {
    let first = &nodes[dice.below(nodes.len())];
    let node = &NodeName::from(first.metadata.name.as_str());
    let pods: Vec<PodKey> = simulator.cluster().pods().map(|(key, _)| key.clone()).collect();
    let pod = (!pods.is_empty()).then(|| dice.pick(&pods).clone());
    let workloads: Vec<&Workload> = simulator.cluster().workloads().map(|(_, it)| &**it).collect();
    let workload = (!workloads.is_empty()).then(|| (*dice.pick(&workloads)).clone());
    let zone = *dice.pick(&ZONES);
    let effect = *dice.pick(&["NoExecute", "NoExecute", "NoSchedule", "PreferNoSchedule"]);
    match dice.below(46) {
        0..3 => command("stopKubelet", &json!({ "node": node })),
        3 => command("startKubelet", &json!({ "node": node })),
        4..7 => command("cutNetwork", &json!({ "node": node })),
        7 | 8 => command("cutZoneNetwork", &json!({ "zone": zone })),
        9 => command("restoreZoneNetwork", &json!({ "zone": zone })),
        10..12 => command("powerOffNode", &json!({ "node": node })),
        12 => command("restartKubelet", &json!({ "node": node })),
        13 => Some(Command::shut_down_gracefully(node.clone())),
        14 => command("shutDownNode", &json!({ "node": node })),
        15 => command("cancelShutdown", &json!({ "node": node })),
        16 => command(
            "flapKubelet",
            &json!({ "node": node, "times": 1 + dice.below(3),
            "down": *dice.pick(&["5s", "70s", "10m"]), "up": *dice.pick(&["1s", "30s"]) }),
        ),
        17 => command("deleteNode", &json!({ "node": node })),
        18 | 19 => Some(Command::CreateNode(first.clone())),
        20 => command(
            "registerNode",
            &json!({ "node": first,
            "kubeletStartsAfter": *dice.pick(&["0s", "30s", "5m"]) }),
        ),
        21..23 => command(
            "taint",
            &json!({ "node": node,
            "taint": { "key": TAINT_KEY, "effect": effect } }),
        ),
        23 => command("untaint", &json!({ "node": node, "key": TAINT_KEY })),
        24 => command(
            "untaint",
            &json!({ "node": node, "effect": "NoExecute",
            "key": "node.kubernetes.io/unreachable" }),
        ),
        25 => command(
            "setUnschedulable",
            &json!({ "node": node,
            "unschedulable": !dice.one_in(3) }),
        ),
        26..28 => command(
            "drain",
            &json!({ "nodes": [node], "options": {
            "ignoreDaemonsets": true, "force": true,
            "timeout": *dice.pick(&["0s", "40s", "10m"]),
            "disableEviction": dice.one_in(4) } }),
        ),
        28..30 => command(
            "setNodeCondition",
            &json!({ "node": node,
            "type": *dice.pick(&["Ready", "MemoryPressure", "DiskPressure"]),
            "status": *dice.pick(&["True", "False"]) }),
        ),
        30 => Some(Command::RestartControllerManager),
        31 => Some(Command::RestartTaintEvictionController),
        32..34 => command("evictPod", &json!({ "pod": pod? })),
        34 => command("deletePod", &json!({ "pod": pod?, "force": dice.one_in(3) })),
        35..38 => {
            let workload = workload?;
            let key = workload.key();
            if matches!(key.kind, WorkloadKind::DaemonSet | WorkloadKind::Job)
                || workload.metadata.owner_references.iter().any(|it| it.controller == Some(true))
            {
                return None;
            }
            command("scale", &json!({ "workload": key, "replicas": dice.below(6) }))
        }
        38..41 => {
            let mut workload = workload?;
            if matches!(workload.key().kind, WorkloadKind::ReplicaSet | WorkloadKind::Job) {
                return None;
            }
            let version = dice.pick(&["1", "2", "3"]).to_string();
            workload.spec.template.metadata.labels.insert("version".into(), version);
            Some(Command::UpdateWorkload(Box::new(workload)))
        }
        41 => command(
            "failPodWrites",
            &json!({ "pod": pod?, "verb": "delete",
            "times": 1 + dice.below(3) }),
        ),
        // Taints and labels that were not written wait for the next change of the node, upstream for
        // its next status, which comes within 5 minutes: a cluster at rest would never recover.
        42 => command(
            "failNodeWrites",
            &json!({ "node": node, "times": 1 + dice.below(6),
            "write": "status" }),
        ),
        43 => command("setNodeResources", &json!({ "node": node })),
        _ => command(
            "loadNode",
            &json!({ "node": node, "resource": "memory",
            "leaves": *dice.pick(&["50Mi", "90Mi", "1Gi"]) }),
        ),
    }
}

/// All commands that undo what [`fault`] did.
pub fn repairs(simulator: &Simulator, nodes: &[Node], drains: &BTreeSet<u64>) -> Vec<Command> {
    let mut all = Vec::new();
    all.extend(
        drains.iter().filter_map(|drain| command("cancelDrain", &json!({ "drain": drain }))),
    );
    let cut = |zone: &&&str| {
        simulator.zones().iter().any(|it| it.network_cut && it.key.name() == ***zone)
    };
    all.extend(
        ZONES
            .iter()
            .filter(cut)
            .filter_map(|zone| command("restoreZoneNetwork", &json!({ "zone": zone }))),
    );
    for node in nodes {
        let name = NodeName::from(node.metadata.name.as_str());
        let Some(now) = simulator.cluster().get_node(&node.metadata.name) else {
            all.push(Command::CreateNode(node.clone()));
            continue;
        };
        let Some(view) = simulator.node_view(&node.metadata.name) else { continue };
        if view.network_cut {
            all.push(Command::RestoreNetwork { node: name.clone() });
        }
        if !view.kubelet_runs || view.power != Default::default() || view.switches_at.is_some() {
            all.push(Command::StartKubelet { node: name.clone() });
        }
        if now.spec.unschedulable {
            all.push(Command::SetUnschedulable { node: name.clone(), unschedulable: false });
        }
        if now.spec.taints.iter().any(|taint| taint.key == TAINT_KEY) {
            all.extend(command("untaint", &json!({ "node": name, "key": TAINT_KEY })));
        }
        if simulator.eviction_view(&node.metadata.name).is_some() {
            let system = json!({ "node": name, "resource": "memory", "leaves": "4Gi" });
            all.extend(command("loadNode", &system));
        }
        for (type_, good) in [
            ("Ready", ConditionStatus::True),
            ("MemoryPressure", ConditionStatus::False),
            ("DiskPressure", ConditionStatus::False),
        ] {
            all.push(Command::SetNodeCondition {
                node: name.clone(),
                type_: type_.into(),
                status: good,
                reason: None,
                message: None,
            });
        }
    }
    all
}
