//! Random clusters with workloads and budgets, and commands for them.

use std::time::Duration;

use serde_json::{Value, json};
use taintlab_core::api::{
    ConditionStatus, Node, NodeName, Pod, PodDisruptionBudget, PodKey, PodPhase, Taint,
    TaintEffect, Workload, WorkloadKey,
};
use taintlab_core::command::Command;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::Span;

use crate::dice::Dice;

const MINORS: [u8; 20] =
    [18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37];

fn node(number: usize) -> Node {
    let zone = ["a", "b", "c"][number % 3];
    serde_json::from_value(json!({
        "metadata": { "name": format!("n{number}"), "labels": {
            "topology.kubernetes.io/zone": zone,
            "disk": if number == 3 { "hdd" } else { "ssd" } } },
        "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "20" } },
    }))
    .unwrap()
}

fn workload(kind: &str, name: &str, more: Value) -> Workload {
    let mut spec = json!({
        "template": {
            "metadata": { "labels": { "app": name } },
            "spec": { "containers": [
                { "name": "app", "resources": { "requests": { "cpu": "300m" } } }
            ], "terminationGracePeriodSeconds": 3 },
        },
    });
    if kind == "Job" {
        spec["template"]["spec"]["restartPolicy"] = "Never".into();
    } else {
        spec["selector"] = json!({ "matchLabels": { "app": name } });
    }
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    serde_json::from_value(json!({ "kind": kind, "metadata": { "name": name }, "spec": spec }))
        .unwrap()
}

/// A cluster of four nodes, with workloads of each kind, and its minor release.
pub fn world(dice: &mut Dice) -> (u8, Simulator) {
    let minor = *dice.pick(&MINORS);
    let strategy = |dice: &mut Dice| {
        let (surge, unavailable) =
            *dice.pick(&[("25%", "25%"), ("1", "0"), ("0", "1"), ("50%", "0"), ("2", "40%")]);
        let of = |text: &str| text.parse::<i64>().map_or_else(|_| json!(text), |it| json!(it));
        json!({ "rollingUpdate": { "maxSurge": of(surge), "maxUnavailable": of(unavailable) } })
    };
    let mut logs = workload("DaemonSet", "logs", json!({}));
    if dice.one_in(2) {
        logs.spec.template.spec.other.set("nodeSelector", json!({ "disk": "ssd" }));
    }
    let least = *dice.pick(&[0, 0, 4]);
    let partition = *dice.pick(&[0, 0, 1]);
    if partition == 1 {
        let most = if least == 0 { json!(1) } else { json!("100%") };
        // Before 1.22 there is no surge, and so it may not be 0.
        let unavailable = i32::from(minor < 22);
        let rolling = json!({ "maxSurge": most, "maxUnavailable": unavailable });
        logs.spec.other.set("updateStrategy", json!({ "rollingUpdate": rolling }));
    }
    let mut workloads = vec![
        workload(
            "Deployment",
            "web",
            json!({
            "replicas": dice.below(6), "strategy": strategy(dice), "minReadySeconds": least }),
        ),
        workload("ReplicaSet", "api", json!({ "replicas": 3 })),
        workload(
            "StatefulSet",
            "db",
            json!({ "replicas": dice.below(4),
            "updateStrategy": { "rollingUpdate": {
                "partition": partition, "maxUnavailable": dice.pick(&[1, 2]) } } }),
        ),
        workload(
            "StatefulSet",
            "mq",
            json!({
            "replicas": 3, "podManagementPolicy": "Parallel",
            "updateStrategy": { "rollingUpdate": { "maxUnavailable": "70%" } } }),
        ),
        logs,
        workload(
            "Job",
            "sum",
            json!({
            "parallelism": dice.pick(&[1, 2, 3]), "completions": dice.pick(&[1, 3, 4]),
            "backoffLimit": dice.pick(&[0, 1, 2]) }),
        ),
        workload(
            "Job",
            "late",
            json!({
            "parallelism": 1, "completions": 3,
            "activeDeadlineSeconds": dice.pick(&[5, 30, 100]),
            "ttlSecondsAfterFinished": dice.pick(&[0, 10, 40]) }),
        ),
    ];
    if minor >= 22 {
        workloads.push(workload(
            "Job",
            "parts",
            json!({
            "parallelism": 2, "completions": 4, "completionMode": "Indexed",
            "backoffLimit": 1 }),
        ));
    }
    if minor >= 29 {
        let mut spec = json!({
            "parallelism": 2, "completions": 4, "completionMode": "Indexed",
            "backoffLimitPerIndex": dice.pick(&[0, 1]) });
        if dice.one_in(2) {
            spec["maxFailedIndexes"] = json!(1);
        }
        workloads.push(workload("Job", "each", spec));
    }
    let mut budgets: Vec<PodDisruptionBudget> = Vec::new();
    for name in ["web", "api", "db", "sum"] {
        if dice.one_in(3) {
            continue;
        }
        let mut spec = json!({ "selector": { "matchLabels": { "app": name } } });
        let field = *dice.pick(&["minAvailable", "maxUnavailable"]);
        spec[field] =
            dice.pick(&[json!(0), json!(1), json!(2), json!("40%"), json!("100%")]).clone();
        let budget = json!({ "metadata": { "name": name }, "spec": spec });
        budgets.push(serde_json::from_value(budget).unwrap());
    }
    let release = KubernetesRelease::new(minor).unwrap();
    let config = SimulatorConfig::with_control_plane(release);
    let begin = InitialState { workloads, budgets, ..InitialState::default() };
    let nodes: Vec<Node> = (0..4).map(node).collect();
    (minor, Simulator::beginning_with(config, nodes, [], begin).unwrap())
}

/// A command to the cluster as it is; nothing if the roll finds no object for it.
pub fn command(dice: &mut Dice, simulator: &Simulator) -> Option<Command> {
    let number = dice.below(4);
    let node: NodeName = format!("n{number}").as_str().into();
    let pods: Vec<&Pod> = simulator.cluster().pods().map(|(_, pod)| &**pod).collect();
    let some_pod = |dice: &mut Dice| -> Option<PodKey> {
        if pods.is_empty() { None } else { Some(pods[dice.below(pods.len())].key()) }
    };
    let key = |text: &str| WorkloadKey::parse(text).unwrap();
    Some(match dice.below(24) {
        0..2 => Command::Taint {
            node,
            taint: Taint::new(
                "x",
                "",
                dice.pick(&[TaintEffect::NoExecute, TaintEffect::NoSchedule]).clone(),
            ),
        },
        2..4 => Command::Untaint { node, key: "x".into(), effect: TaintEffect::Empty },
        4 => Command::SetUnschedulable { node, unschedulable: dice.one_in(2) },
        5 if dice.one_in(2) => Command::StopKubelet { node },
        5 if dice.one_in(4) => Command::PowerOffNode { node },
        5 => Command::ShutDownNode {
            node,
            shutdown_grace_period: *dice.pick(&[None, Some(Span(Duration::from_secs(20)))]),
            shutdown_grace_period_critical_pods: None,
        },
        6..8 => Command::StartKubelet { node },
        8 if dice.one_in(3) => Command::DeleteNode { node },
        8 | 9 => Command::CreateNode(self::node(number)),
        10..13 => {
            let workload = key(dice.pick::<&str>(&["deploy/web", "rs/api", "sts/db", "sts/mq"]));
            Command::Scale { workload, replicas: u32::try_from(dice.below(6)).unwrap() }
        }
        13..16 => {
            let which = key(dice.pick::<&str>(&["deploy/web", "sts/db", "sts/mq", "ds/logs"]));
            let mut new = Workload::clone(simulator.cluster().get_workload(&which)?);
            let version = (*dice.pick(&["1", "2", "3"])).to_owned();
            new.spec.template.metadata.labels.insert("version".into(), version);
            Command::UpdateWorkload(Box::new(new))
        }
        16 => Command::DeletePod {
            pod: some_pod(dice)?,
            force: dice.one_in(3),
            grace_period_seconds: None,
        },
        17 => Command::EvictPod { pod: some_pod(dice)?, grace_period_seconds: None },
        // The containers of a Job's pod end.
        _ => {
            let of_job = |pod: &&&Pod| {
                let owner = pod.metadata.owner_references.first();
                owner.is_some_and(|owner| owner.kind == "Job")
                    && pod.status.phase == PodPhase::Running
                    && !pod.is_terminating()
            };
            let running: Vec<&&Pod> = pods.iter().filter(of_job).collect();
            if running.is_empty() {
                return None;
            }
            let mut pod = Pod::clone(running[dice.below(running.len())]);
            pod.status.phase = if dice.one_in(4) { PodPhase::Failed } else { PodPhase::Succeeded };
            let now = simulator.wall_clock(simulator.now());
            for ready in pod.status.conditions.iter_mut().filter(|it| it.type_ == "Ready") {
                ready.status = ConditionStatus::False;
                ready.last_transition_time = Some(now);
            }
            Command::UpdatePod(pod)
        }
    })
}
