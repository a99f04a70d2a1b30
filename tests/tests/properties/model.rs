//! The engine against the reference model: the same events and the same state, after every command
//! and every deadline.

use proptest::prelude::*;
use taintlab_core::command::CommandError;
use taintlab_core::event::{Event, EventKind, RequestResult, RequestVerb};
use taintlab_core::release::{FeatureGate, FeatureGates, KubernetesRelease};
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;
use taintlab_tests::model::{Behaviour, Model};

use super::check;
use super::generate::{Script, script};

/// What the specification says of a release, in numbers of its own.
fn behaviour(config: &SimulatorConfig) -> Behaviour {
    let since = |minor| config.release >= KubernetesRelease::new(minor).unwrap();
    Behaviour {
        forever_cancels: since(20),
        immediate_is_timer: !since(30),
        tombstones: !since(33),
        condition: since(26),
        stand_in: config.stand_in_api_server,
    }
}

/// The engine's event in the model's words; nothing if the model has no words for it.
fn words(event: &Event) -> Option<(u64, String, String)> {
    let (pod, words) = match &event.what {
        EventKind::EventRecorded(recorded) => {
            let (what, pod) = recorded.message.rsplit_once(' ')?;
            let what = match what {
                "Marking for deletion Pod" => "marking",
                "Cancelling deletion of Pod" => "cancelling",
                other => other,
            };
            (pod.to_owned(), what.to_owned())
        }
        EventKind::Request { pod, uid, verb, result } => {
            let result = match result {
                RequestResult::Ok => "ok".to_owned(),
                RequestResult::AlreadyTerminating => "ok, already terminating".to_owned(),
                RequestResult::NotFound => "not found".to_owned(),
                RequestResult::Error(error) => format!("{error:?}"),
            };
            let words = match verb {
                RequestVerb::Get => format!("GET: {result}"),
                RequestVerb::PatchStatus => format!("PATCH {result}"),
                RequestVerb::Delete if uid.is_empty() => format!("DELETE: {result}"),
                RequestVerb::Delete => format!("DELETE {uid} {result}"),
                // There is no descheduler here.
                RequestVerb::Evict => return None,
            };
            (pod.to_string(), words)
        }
        EventKind::PodDeleted { pod, uid } => (pod.to_string(), format!("gone {uid}")),
        _ => return None,
    };
    Some((event.at.as_nanos(), pod, words))
}

/// The engine's state in the model's words.
fn state(simulator: &Simulator) -> String {
    let controller = simulator.taint_eviction();
    let mut lines: Vec<String> = Vec::new();
    for (key, pod) in simulator.cluster().pods() {
        let (uid, node) = (&pod.metadata.uid, &pod.spec.node_name);
        lines.push(format!("pod {key} {uid} on {node}, terminating {}", pod.is_terminating()));
    }
    for eviction in controller.scheduled_evictions() {
        let (from, to) = (eviction.created_at.as_nanos(), eviction.fire_at.as_nanos());
        lines.push(format!("pending {} from {from} to {to}", eviction.pod));
    }
    lines.extend(controller.tombstones().into_iter().map(|pod| format!("nil {pod}")));
    let tainted = controller.tainted_nodes().iter();
    lines.extend(tainted.map(|(node, taints)| format!("tainted {node} {taints:?}")));
    lines.sort();
    lines.join("\n")
}

/// Both, side by side.
struct Pair {
    engine: Simulator,
    model: Model,
}

impl Pair {
    fn new(script: &Script) -> Self {
        let model = Model::new(behaviour(&script.config), &script.nodes, &script.pods);
        Self { engine: script.simulator(), model }
    }

    fn compare(&mut self) -> Result<(), TestCaseError> {
        let events: Vec<_> = self.engine.drain_events().iter().filter_map(words).collect();
        prop_assert_eq!(&events, &std::mem::take(&mut self.model.log), "engine, model");
        let next = self.engine.poll_timeout().map(|timeout| timeout.at.as_nanos());
        // Times saturate at the end of all time, so that the engine stops a day before.
        let last = Simulator::LAST_MOMENT.as_nanos();
        let wanted = self.model.next().filter(|at| *at <= last);
        prop_assert_eq!(next, wanted, "next deadline of engine, model");
        prop_assert_eq!(state(&self.engine), self.model.state());
        Ok(())
    }

    fn advance(&mut self, at: u64) -> Result<(), TestCaseError> {
        self.engine.advance_to(Timestamp::from_nanos(at)).unwrap();
        self.model.advance(at);
        self.compare()
    }

    /// From deadline to deadline, as long as they come before `at`.
    fn step_until(&mut self, at: u64) -> Result<(), TestCaseError> {
        while let Some(next) = self.model.next()
            && next < at
        {
            self.advance(next)?;
        }
        Ok(())
    }

    fn run(&mut self, script: &Script) -> Result<(), TestCaseError> {
        self.compare()?;
        let mut last = None;
        for (at, command) in &script.commands {
            let now = at.as_nanos();
            if last != Some(now) {
                self.step_until(now)?;
                // As a command of a later instant does.
                if now > 0 {
                    self.advance(now)?;
                }
                last = Some(now);
            }
            let result = self.engine.handle_command(*at, command.clone());
            // Validation has tests of its own; here it only says which commands do not count.
            if !matches!(result, Err(CommandError::Invalid { .. })) {
                let model = self.model.command(command);
                prop_assert_eq!(result.is_err(), model.is_err(), "{:?} of {:?}", result, command);
            }
            self.compare()?;
        }
        self.step_until(script.end.as_nanos())?;
        self.advance(script.end.as_nanos())
    }
}

#[test]
fn engine_and_model_agree() {
    check(6_000, script(), |script| Pair::new(&script).run(&script));
}

/// The model knows the releases by their numbers, the engine by its own table.
#[test]
fn condition_is_on_by_default_when_the_model_says_so() {
    for release in KubernetesRelease::all() {
        let gates = FeatureGates::new(release, []).unwrap();
        let on = gates.is_enabled(FeatureGate::PodDisruptionConditions);
        assert_eq!(on, behaviour(&SimulatorConfig::of(release)).condition, "{release}");
    }
}
