//! `podgc_1.20`: two passes of the pod garbage collector, 41 s apart.

use serde::Deserialize;
use taintlab_core::api::{Node, Pod};
use taintlab_core::controllers::Controller;
use taintlab_core::controllers::pod_gc::{PodGcAction, PodGcAnswer, PodGcConfig, PodGcController};
use taintlab_core::time::Timestamp;

use super::control::Driver;
use super::{Outcome, compare, release, with_case};

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
}

/// Runs one case.
pub fn run(line: &str) -> Outcome {
    with_case(line, |case: Case| {
        let mut controller = PodGcController::new(PodGcConfig {
            release: release("1.20"),
            marks_failed: false,
            terminated_pod_threshold: case.terminated_pod_threshold,
            missing_phase_is_ended: true,
        });
        let mut driver = Driver::new();
        driver.put_nodes(&mut controller, case.nodes);
        driver.put_pods(&mut controller, case.pods);
        let at_first = pass(&mut driver, &mut controller, &case.unseen_nodes);
        driver.now = Timestamp::from_secs(40);
        driver.put_nodes(&mut controller, case.late_nodes);
        driver.now = Timestamp::from_secs(41);
        let later = pass(&mut driver, &mut controller, &case.unseen_nodes);
        compare(&(case.deleted_at_first, case.deleted_later), &(at_first, later))
    })
}

/// The pods that a pass deletes; they are gone after it.
fn pass(driver: &mut Driver, controller: &mut PodGcController, unseen: &[String]) -> Vec<String> {
    let mut deleted = Vec::new();
    driver.call(controller, Controller::handle_timeout);
    while let Some(action) = driver.call(controller, Controller::poll_action) {
        let (id, answer) = match action {
            PodGcAction::GetNode { id, node } => {
                let exists = unseen.iter().any(|unseen| unseen == node.as_str());
                (id, PodGcAnswer::NodeExists(exists))
            }
            PodGcAction::MarkFailed { id, .. } => (id, PodGcAnswer::Done),
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
    deleted
}
