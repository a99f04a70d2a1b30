//! `daemonset_*`: one sync of a DaemonSet.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use taintlab_core::api::{DaemonSetStatus, Node, Pod, Toleration, Workload, WorkloadKind};
use taintlab_core::controllers::daemon_set::DaemonSetController;
use taintlab_core::controllers::workload::WorkloadAction;
use taintlab_core::policy::admission::add_daemon_pod_tolerations;
use taintlab_core::release::KubernetesRelease;

use super::control::{Driver, describe_event, unique};
use super::{Outcome, compare, with_flagged_case};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Case {
    #[expect(dead_code, reason = "a member that every case has")]
    id: u64,
    daemon_set: Value,
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    update_revision_hash: String,
    result: Sync,
    #[serde(default)]
    flagged: bool,
    #[expect(dead_code, reason = "how many answers were seen")]
    #[serde(default)]
    different: u32,
}

/// What a sync does. The calls of Kubernetes are concurrent, so that lists are sorted.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct Sync {
    nodes: Vec<NodeAnswer>,
    tolerations: Vec<Toleration>,
    creates: Vec<Value>,
    deletes: Vec<String>,
    patches: Vec<Value>,
    status: Option<DaemonSetStatus>,
    events: Vec<String>,
    /// Why a sync ended early, which leaves other traces, too.
    #[serde(skip_serializing)]
    error: String,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct NodeAnswer {
    node: String,
    should_run: bool,
    should_continue_running: bool,
}

/// Runs one case of `daemonset_RELEASE`.
pub fn run(line: &str, release: &str) -> Outcome {
    with_flagged_case(line, |case: &Case| case.flagged, |case| play(case, super::release(release)))
}

fn play(case: Case, release: KubernetesRelease) -> Result<Outcome, String> {
    let mut set = case.daemon_set;
    set["kind"] = "DaemonSet".into();
    let set: Workload = serde_json::from_value(set).map_err(|error| error.to_string())?;
    let mut controller = DaemonSetController::new(release, false);
    controller.set_revision(&set.key(), &case.update_revision_hash);
    let mut tolerations = set.spec.template.spec.tolerations.clone();
    let host_network = set.spec.template.spec.other.get("hostNetwork") == Some(&Value::Bool(true));
    add_daemon_pod_tolerations(&mut tolerations, host_network);
    let answers = case.nodes.iter().map(|node| {
        let answer = controller.node_should_run(&set, node);
        NodeAnswer {
            node: node.metadata.name.clone(),
            should_run: answer.should_run,
            should_continue_running: answer.should_continue_running,
        }
    });
    let mut got =
        Sync { nodes: answers.collect(), tolerations: tolerations.to_vec(), ..Sync::default() };

    let mut driver = Driver::new();
    driver.put_nodes(&mut controller, case.nodes);
    driver.put_pods(&mut controller, case.pods);
    let set = Arc::new(set);
    driver.put_workload(&mut controller, set.clone());
    for action in driver.sync_workload(&mut controller) {
        match action {
            WorkloadAction::RecordEvent(event) => got.events.push(describe_event(&event)),
            WorkloadAction::CreatePod { pod, event, .. } => {
                let new = format!("{}-NEW", set.metadata.name);
                let event = describe_event(&event).replace(&pod.metadata.name, &new);
                got.events.push(event);
                got.creates.push(created(&set, &pod)?);
            }
            WorkloadAction::DeletePod { pod, .. } => {
                got.deletes.push(format!("pods/{}", pod.name()));
            }
            WorkloadAction::ReleasePod { pod } => {
                got.patches.push(driver.release_patch(&pod, &set));
            }
            WorkloadAction::AdoptPod { pod, owner } if *owner == set.owner_reference() => {
                got.patches.push(driver.adopt_patch(&pod, &set));
            }
            WorkloadAction::UpdateDaemonSetStatus { status, .. } => got.status = Some(status),
            other => return Err(format!("the controller asks for {other:?}")),
        }
    }
    // What the engine does in one go, and what it asks for while the recorded informers never
    // saw an answer: they adopted the same pod once for every time that pods were listed.
    got.patches = unique(got.patches);
    let mut expected = case.result;
    expected.patches = unique(expected.patches);
    expected.error.clear();
    for sync in [&mut expected, &mut got] {
        sync.creates.sort_by_key(Value::to_string);
        sync.deletes.sort();
        sync.events.sort();
    }
    Ok(compare(&expected, &got))
}

/// A new pod, as the cases show it.
fn created(set: &Workload, pod: &Pod) -> Result<Value, String> {
    if set.kind != WorkloadKind::DaemonSet {
        return Err(format!("{} makes no daemon pods", set.kind));
    }
    let affinity = pod.spec.other.get("affinity").and_then(|all| all.get("nodeAffinity"));
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    Ok(json!({
        "kind": "pods",
        "generateName": format!("{}-", set.metadata.name),
        "labels": pod.metadata.labels,
        "nodeAffinity": affinity.and_then(|affinity| affinity.get(required)),
        "tolerations": pod.spec.tolerations,
    }))
}
