//! `podgc_*`: two passes of the pod garbage collector, 41 s apart.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod};
use taintlab_core::controllers::pod_gc::{PodGcAction, PodGcAnswer, PodGcConfig, PodGcController};
use taintlab_core::controllers::{Controller, Machine};
use taintlab_core::release::{FeatureGate, FeatureGates};
use taintlab_core::time::Timestamp;

use super::control::Driver;
use super::{Outcome, compare, with_case};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Case {
    #[expect(dead_code, reason = "a member that every case has")]
    id: u64,
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    /// Nodes that come after the first pass.
    #[serde(default)]
    late_nodes: Vec<Node>,
    /// Nodes that the cache does not show, but that are there.
    #[serde(default)]
    unseen_nodes: Vec<String>,
    terminated_pod_threshold: i64,
    /// Which pods each pass deletes, sorted.
    #[serde(rename = "deletedAt0s")]
    deleted_at_first: Vec<String>,
    #[serde(rename = "deletedAt41s")]
    deleted_later: Vec<String>,
    /// Patches of pods before each pass deletes them.
    #[serde(rename = "patchedAt0s", default)]
    patched_at_first: BTreeMap<String, Value>,
    #[serde(rename = "patchedAt41s", default)]
    patched_later: BTreeMap<String, Value>,
}

/// The pods that a pass deletes, sorted, and the statuses that it patches.
type Pass = (Vec<String>, BTreeMap<String, Value>);

/// Runs one case of `podgc_RELEASE`.
pub fn run(line: &str, release: &str) -> Outcome {
    with_case(line, |case: Case| {
        let gates = FeatureGates::new(super::release(release), []).expect("the defaults");
        let mut controller = PodGcController::new(PodGcConfig {
            release: super::release(release),
            marks_failed: gates.is_enabled(FeatureGate::PodDisruptionConditions),
            terminated_pod_threshold: case.terminated_pod_threshold,
            missing_phase_is_ended: true,
        });
        let mut driver = Driver::new();
        driver.put_nodes(&mut controller, case.nodes);
        let pods = case.pods.clone();
        driver.put_pods(&mut controller, case.pods);
        let at_first = pass(&mut driver, &mut controller, &case.unseen_nodes);
        driver.now = Timestamp::from_secs(40);
        driver.put_nodes(&mut controller, case.late_nodes);
        driver.now = Timestamp::from_secs(41);
        let later = pass(&mut driver, &mut controller, &case.unseen_nodes);
        let expected = [
            (case.deleted_at_first, statuses(&pods, case.patched_at_first)),
            (case.deleted_later, statuses(&pods, case.patched_later)),
        ];
        compare(&expected, &[at_first, later])
    })
}

/// The statuses in patches, without times, which are those of the passes. A patch leaves out what
/// a condition of the pod says already.
fn statuses(pods: &[Pod], patches: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let status = |(key, mut patch): (String, Value)| {
        let mut status = patch["status"].take();
        let members = status.as_object_mut().into_iter();
        members.for_each(|members| members.retain(|name, _| !name.starts_with('$')));
        let pod = pods.iter().find(|pod| pod.key().to_string() == key);
        let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten() {
            let type_ = condition["type"].as_str().unwrap_or_default();
            let known = json!(pod.and_then(|pod| pod.condition(type_)));
            let Some(members) = condition.as_object_mut() else { continue };
            for (name, value) in known.as_object().into_iter().flatten() {
                members.entry(name).or_insert_with(|| value.clone());
            }
            members.retain(|name, _| !name.ends_with("Time"));
        }
        (key, status)
    };
    patches.into_iter().map(status).collect()
}

/// One pass; the pods that it deletes are gone after it.
fn pass(driver: &mut Driver, controller: &mut PodGcController, unseen: &[String]) -> Pass {
    let (mut deleted, mut patched) = (Vec::new(), BTreeMap::new());
    driver.call(controller, Machine::handle_timeout);
    while let Some(action) = driver.call(controller, Controller::poll_action) {
        let (id, answer) = match action {
            PodGcAction::GetNode { id, node } => {
                let exists = unseen.iter().any(|unseen| unseen == node.as_str());
                (id, PodGcAnswer::NodeExists(exists))
            }
            PodGcAction::MarkFailed { id, pod, condition } => {
                let mut status = json!({ "phase": "Failed" });
                if let Some(condition) = condition {
                    status["conditions"] = json!([condition]);
                }
                patched.insert(pod.to_string(), status);
                (id, PodGcAnswer::Done)
            }
            PodGcAction::DeletePod { id, pod } => {
                driver.remove_pod(controller, &pod);
                deleted.push(pod.to_string());
                (id, PodGcAnswer::Done)
            }
        };
        driver.call(controller, |controller, context| {
            controller.handle_action_result(context, id, answer);
        });
    }
    deleted.sort();
    (deleted, patched)
}
