//! The taint-eviction controller, fed from a recorded watch: one JSON object a line.
//!
//! `cargo run -p taintlab-core --example taint_eviction_from_watch [FILE]`. Each line has the
//! moment (`at`), the type of a watch event (`ADDED`, `MODIFIED`, `DELETED`) and the object, a Node
//! or a Pod.

use std::error::Error;
use std::sync::Arc;
use std::{env, fs};

use serde::Deserialize;
use serde_json::Value;
use taintlab_core::api::{Node, Pod};
use taintlab_core::cluster::{Change, Cluster};
use taintlab_core::controllers::taint_eviction::{TaintEvictionAction, TaintEvictionController};
use taintlab_core::controllers::{Context, Controller, Machine};
use taintlab_core::protocol::RequestResult;
use taintlab_core::queue::timer_queue::Sequence;
use taintlab_core::release::{FeatureGates, KubernetesRelease};
use taintlab_core::time::{Time, Timestamp, parse_duration};

/// A line of the recording.
#[derive(Deserialize)]
struct WatchEvent {
    at: String,
    #[serde(rename = "type")]
    type_: String,
    object: Value,
}

struct Recording {
    cluster: Cluster,
    controller: TaintEvictionController,
    sequence: Sequence,
    now: Timestamp,
    /// What the controller did.
    log: Vec<String>,
}

impl Recording {
    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut TaintEvictionController, &mut Context<'_>) -> T,
    ) -> T {
        let mut context = Context {
            now: self.now,
            start: Time::DEFAULT_START,
            cluster: &self.cluster,
            sequence: &mut self.sequence,
        };
        call(&mut self.controller, &mut context)
    }

    /// Lets happen what is due until `until`, as the API server would have granted it.
    fn run_until(&mut self, until: Timestamp) {
        loop {
            while let Some(action) = self.call(<TaintEvictionController as Controller>::poll_action)
            {
                let id = match action {
                    TaintEvictionAction::RecordEvent(event) => {
                        self.log.push(format!("{}: {}", self.now, event.message));
                        continue;
                    }
                    TaintEvictionAction::Report(_) | TaintEvictionAction::ReportNode { .. } => {
                        continue;
                    }
                    TaintEvictionAction::PatchPodStatus { id, .. } => id,
                    TaintEvictionAction::DeletePod { id, pod } => {
                        self.log.push(format!("{}: DELETE {pod}", self.now));
                        id
                    }
                };
                self.call(|controller, context| {
                    let result = RequestResult::Ok;
                    Controller::handle_action_result(controller, context, id, result);
                });
            }
            match Machine::poll_timeout(&self.controller, self.now) {
                Some(next) if next.at <= until => {
                    self.now = self.now.max(next.at);
                    self.call(|controller, context| {
                        Machine::handle_timeout(controller, context);
                    });
                }
                _ => break,
            }
        }
        self.now = until;
    }

    /// Puts the object of a watch event into the cache, and tells the controller.
    fn handle(&mut self, event: WatchEvent) -> Result<(), Box<dyn Error>> {
        self.run_until(Timestamp::ZERO.saturating_add(parse_duration(&event.at)?));
        let deleted = event.type_ == "DELETED";
        let change = if event.object.get("kind").is_some_and(|kind| kind == "Node") {
            let node: Node = serde_json::from_value(event.object)?;
            let name = node.metadata.name.as_str().into();
            let new = (!deleted).then(|| Arc::new(node));
            let old = match &new {
                Some(new) => self.cluster.put_node(new.clone()),
                None => self.cluster.remove_node(taintlab_core::api::NodeName::as_str(&name)),
            };
            Change::Node { name, old, new }
        } else {
            let pod: Pod = serde_json::from_value(event.object)?;
            let key = pod.key();
            let new = (!deleted).then(|| Arc::new(pod));
            let old = match &new {
                Some(new) => self.cluster.put_pod(&key, new.clone()),
                None => self.cluster.remove_pod(&key),
            };
            Change::Pod { key, old, new }
        };
        self.call(|controller, context| controller.handle_change(context, &change));
        Ok(())
    }
}

/// Replays a recording; gives what the controller did.
fn replay(lines: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let release = KubernetesRelease::parse("1.34")?;
    let mut recording = Recording {
        cluster: Cluster::default(),
        controller: TaintEvictionController::new(release, &FeatureGates::new(release, [])?),
        sequence: Sequence::default(),
        now: Timestamp::ZERO,
        log: Vec::new(),
    };
    for line in lines.lines() {
        recording.handle(serde_json::from_str(line)?)?;
    }
    recording.run_until(recording.now);
    Ok(recording.log)
}

fn main() -> Result<(), Box<dyn Error>> {
    let lines = match env::args().nth(1) {
        Some(file) => fs::read_to_string(file)?,
        None => include_str!("watch.jsonl").into(),
    };
    for line in replay(&lines)? {
        println!("{line}");
    }
    Ok(())
}

#[test]
fn pods_go_when_their_tolerations_end() {
    let log = replay(include_str!("watch.jsonl")).unwrap();
    assert_eq!(
        log,
        [
            "1m0s: Marking for deletion Pod default/batch-0",
            "1m0s: DELETE default/batch-0",
            "6m0s: Marking for deletion Pod default/web-0",
            "6m0s: DELETE default/web-0",
        ]
    );
}
