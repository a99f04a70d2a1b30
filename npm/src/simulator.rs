//! The cluster in simulated time.

use serde::Serialize;
use taintlab_answers::simulation::{Run, Simulation};
use taintlab_core::api::{Node, Pod, PodKey, WorkloadKey};
use taintlab_core::command::Command;
use taintlab_core::event::Event;
use taintlab_core::simulator::{SimulatorSnapshot, StorageView};
use taintlab_core::warnings::warnings_of;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use self::answers::{
    DescribedEvent, EventsOptions, KubectlOptions, PodsOptions, RunOptions, Stopped,
};
use self::state::Calls;
use crate::cluster::{ManifestCluster, cluster};
use crate::exclusive_cell::ExclusiveCell;
use crate::input::{self, decode, read, read_options};
use crate::manifests::Imported;
use crate::options::TimelineOptions;
use crate::output::{list_to_js, to_js};
use crate::problem::{Problem, fail};
use crate::scenario::{Opened, SCENARIO, at, open};

pub mod answers;
mod state;

/// The length of a run without a deadline: a day from now.
const A_DAY: core::time::Duration = core::time::Duration::from_secs(24 * 60 * 60);
/// Events in a batch by default.
const BATCH: usize = 10_000;

/// A simulation as it was at some moment. Give it to `restore()`, as often as you like.
#[wasm_bindgen]
pub struct Snapshot {
    engine: SimulatorSnapshot,
    run: Run,
}

/// A cluster in simulated time: commands in, events out. Nothing happens unless time is told to
/// pass, and nothing ever waits.
///
/// Times are milliseconds since the start, with fractions. Memory is freed by `free()`, at the end
/// of a block by `using`, and otherwise by the garbage collector.
#[wasm_bindgen]
pub struct Simulator(ExclusiveCell<Simulation>);

#[wasm_bindgen]
impl Simulator {
    /// A cluster of the nodes and pods of manifests, and controllers that have just started.
    #[wasm_bindgen(
        js_name = fromManifests,
        unchecked_return_type = "{ ok: true; simulator: Simulator; warnings: Problem[]; \
            imported: Imported } | Failure"
    )]
    pub fn from_manifests(
        #[wasm_bindgen(
            unchecked_param_type = "string | readonly object[] | { items: readonly object[] }",
            param_description = "YAML or JSON text, or objects as Kubernetes' API returns them; \
                each says its `apiVersion` and `kind`, or the list around them does"
        )]
        manifests: JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "SimulatorOptions",
            param_description = "which Kubernetes; the newest with its defaults unless given"
        )]
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        match cluster(&manifests, &options)? {
            Ok(ManifestCluster { engine, scenario, problems, imported }) => {
                wrapped(Simulation::new(engine, &scenario, None), &problems, &imported)
            }
            Err(errors) => fail(errors),
        }
    }

    /// The cluster of a scenario. Its steps happen as time passes.
    #[wasm_bindgen(
        js_name = fromScenario,
        unchecked_return_type = "{ ok: true; simulator: Simulator; warnings: Problem[]; \
            imported: Imported } | Failure"
    )]
    pub fn from_scenario(
        #[wasm_bindgen(
            unchecked_param_type = "string | Scenario",
            param_description = "the text of a scenario file, or the same as an object"
        )]
        scenario: JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "ScenarioOptions",
            param_description = "what is read besides"
        )]
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let Opened { scenario, file, warnings } = match open(&scenario, &options)? {
            Ok(opened) => opened,
            Err(errors) => return fail(errors),
        };
        match scenario.simulator() {
            Ok(engine) => {
                let imported = Imported::of_dropped(&file.dropped);
                wrapped(Simulation::new(engine, &scenario, Some(file)), &warnings, &imported)
            }
            Err(error) => fail(vec![at(&file, &error.path(), &error.to_string(), SCENARIO)]),
        }
    }

    /// The time the simulation has reached: milliseconds since the start.
    #[wasm_bindgen(getter)]
    pub fn now(&self) -> Result<f64, JsValue> {
        self.0.with(|state| Ok(state.engine.now().as_fractional_millis()))
    }

    /// The wall-clock time of a moment, RFC 3339; of now unless given.
    #[wasm_bindgen(js_name = wallClock)]
    pub fn wall_clock(
        &self,
        #[wasm_bindgen(
            unchecked_optional_param_type = "Timestamp",
            param_description = "milliseconds since the start"
        )]
        at: JsValue,
    ) -> Result<String, JsValue> {
        self.0.with(|state| {
            let at = if at.is_undefined() {
                state.engine.now()
            } else {
                input::moment(&at, "at")?.map_err(|problem| input::wrong_call(&problem.message))?
            };
            Ok(state.engine.wall_clock(at).to_string())
        })
    }

    /// Changes the cluster, now or at a later moment, after all that is due until then. What
    /// follows from it happens when time passes, at the same moment at the earliest.
    #[wasm_bindgen(unchecked_return_type = "Progress | Failure")]
    pub fn command(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "Command",
            param_description = "what is done, as in the steps of scenarios"
        )]
        command: JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "Timestamp | Span",
            param_description = "milliseconds since the start, or a text such as `5m0s`; now \
                unless given"
        )]
        at: JsValue,
    ) -> Result<JsValue, JsValue> {
        let command = read_command(&command)?;
        self.0.with(|state| {
            let at = match state.moment(&at)? {
                Ok(at) => at,
                Err(problem) => return fail(vec![problem]),
            };
            if let Err(errors) = state.run_before(at) {
                return fail(errors);
            }
            match state.engine.handle_command(at, command) {
                Ok(()) => state.progress(Stopped::Reached),
                Err(error) => fail(Problem::of_command(&error, "")),
            }
        })
    }

    /// Runs a line of kubectl, now or at a later moment: what it prints, and what it does to the
    /// cluster, which is done.
    #[wasm_bindgen(unchecked_return_type = "KubectlOutcome | Failure")]
    pub fn kubectl(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "string",
            param_description = "the line, with or without `kubectl` at its beginning"
        )]
        line: JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "Timestamp | Span",
            param_description = "milliseconds since the start, or a text such as `5m0s`; now \
                unless given"
        )]
        at: JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "KubectlOptions",
            param_description = "what it reads, and in which namespace"
        )]
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let line = input::text(&line, "line")?;
        let options: KubectlOptions = read_options(&options, "options")?;
        self.0.with(|state| {
            let at = match state.moment(&at)? {
                Ok(at) => at,
                Err(problem) => return fail(vec![problem]),
            };
            if let Err(errors) = state.run(at) {
                return fail(errors);
            }
            state.collect();
            state.kubectl_outcome(&line, &options)
        })
    }

    /// Lets time pass until a moment. An interval in which nothing happens costs nothing.
    #[wasm_bindgen(js_name = advanceTo, unchecked_return_type = "Progress | Failure")]
    pub fn advance_to(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "Timestamp | Span",
            param_description = "milliseconds since the start, or a text such as `5m0s`"
        )]
        at: JsValue,
    ) -> Result<JsValue, JsValue> {
        self.0.with(|state| match input::moment(&at, "at")? {
            Ok(at) => state.advance_to(at),
            Err(problem) => fail(vec![problem]),
        })
    }

    /// Lets time pass until the next moment at which something happens. Without one, time stays.
    #[wasm_bindgen(js_name = advanceToNext, unchecked_return_type = "Progress | Failure")]
    pub fn advance_to_next(&self) -> Result<JsValue, JsValue> {
        self.0.with(|state| match state.next_deadline() {
            Some(next) => state.advance_to(next.at),
            None => state.progress(Stopped::Idle),
        })
    }

    /// Lets time pass until a moment; or from one deadline to the next until a predicate says
    /// `true`, nothing more happens, or a day is over.
    ///
    /// The predicate gets the events of each moment as one batch; `events()` gives them again.
    #[wasm_bindgen(js_name = runUntil, unchecked_return_type = "Progress | Failure")]
    pub fn run_until(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "Timestamp | Span | ((events: SimulationEvent[], now: Timestamp) => boolean)",
            param_description = "milliseconds since the start, a text such as `5m0s`, or a \
                predicate"
        )]
        condition: JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "RunOptions",
            param_description = "how far it goes at most, for a predicate"
        )]
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let options: RunOptions = read_options(&options, "options")?;
        self.0.with(|state| {
            if condition.is_function() {
                let a_day_on = || state.engine.now().saturating_add(A_DAY);
                let until = options.until.map_or_else(a_day_on, |until| until.0.timestamp());
                return state.run_until(&condition, until);
            }
            match input::moment(&condition, "condition")? {
                Ok(at) => state.advance_to(at),
                Err(problem) => fail(vec![problem]),
            }
        })
    }

    /// Lets time pass until nothing more happens by itself: a scenario to its end, anything else
    /// for a day at most.
    #[wasm_bindgen(js_name = runToEnd, unchecked_return_type = "Progress | Failure")]
    pub fn run_to_end(&self) -> Result<JsValue, JsValue> {
        self.0.with(|state| match state.run_to_end() {
            Ok(()) if state.next_deadline().is_some() => state.progress(Stopped::Reached),
            Ok(()) => state.progress(Stopped::Idle),
            Err(errors) => fail(errors),
        })
    }

    /// What happened and was not given yet, in order: one batch. Call it until none is left.
    #[wasm_bindgen(unchecked_return_type = "DescribedEvent[]")]
    pub fn events(
        &self,
        #[wasm_bindgen(
            unchecked_optional_param_type = "EventsOptions",
            param_description = "how many at most, and whether in words too"
        )]
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let options: EventsOptions = read_options(&options, "options")?;
        self.0.with(|state| {
            state.collect();
            let number = options.limit.unwrap_or(BATCH).min(state.run.events.len());
            let describe = |event: Event| DescribedEvent {
                text: options.text.then(|| event.what.to_string()),
                visibility: options.text.then(|| event.what.visibility()),
                event,
            };
            let batch: Vec<_> = state.run.events.drain(..number).map(describe).collect();
            list_to_js(&batch)
        })
    }

    /// The next moment at which something happens, and what; `undefined` if nothing will.
    #[wasm_bindgen(js_name = nextDeadline, unchecked_return_type = "NextDeadline | undefined")]
    pub fn next_deadline(&self) -> Result<JsValue, JsValue> {
        self.0.with(|state| or_undefined(state.next_deadline().as_ref()))
    }

    /// The nodes, as the API server would show them now, by name.
    #[wasm_bindgen(unchecked_return_type = "KubernetesNode[]")]
    pub fn nodes(&self) -> Result<JsValue, JsValue> {
        self.0.with(|state| {
            let names = state.engine.cluster().nodes().map(|(name, _)| name.as_str());
            let nodes = names.filter_map(|name| state.engine.node_as_served(name));
            list_to_js(&nodes.collect::<Vec<_>>().iter().map(AsRef::as_ref).collect::<Vec<&Node>>())
        })
    }

    /// A node's kubelet, and how the node lifecycle controller sees the node; `undefined` if there
    /// is no such node, or there are no kubelets.
    #[wasm_bindgen(unchecked_return_type = "NodeView | undefined")]
    pub fn node(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string", param_description = "its name")]
        name: JsValue,
    ) -> Result<JsValue, JsValue> {
        let name = input::text(&name, "name")?;
        self.0.with(|state| or_undefined(state.engine.node_view(&name).as_ref()))
    }

    /// The pods, as the API server would show them now, by namespace and name.
    #[wasm_bindgen(unchecked_return_type = "Pod[]")]
    pub fn pods(
        &self,
        #[wasm_bindgen(
            unchecked_optional_param_type = "PodsOptions",
            param_description = "which; all unless given"
        )]
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let options: PodsOptions = read_options(&options, "options")?;
        self.0.with(|state| {
            let wanted = |key: &PodKey| {
                options.namespace.as_ref().is_none_or(|namespace| key.namespace() == namespace)
            };
            let cluster = state.engine.cluster();
            let pods: Vec<&Pod> = match &options.node {
                Some(node) => cluster
                    .pods_of(node)
                    .filter(|(key, _)| wanted(key))
                    .map(|(_, pod)| pod.as_ref())
                    .collect(),
                None => cluster
                    .pods()
                    .filter(|(key, _)| wanted(key))
                    .map(|(_, pod)| pod.as_ref())
                    .collect(),
            };
            list_to_js(&pods)
        })
    }

    /// What is to become of a pod, and why; `undefined` if there is no such pod.
    #[wasm_bindgen(unchecked_return_type = "PodExplanation | undefined")]
    pub fn explain(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "string",
            param_description = "`namespace/name`, or `name` in the namespace `default`"
        )]
        pod: JsValue,
    ) -> Result<JsValue, JsValue> {
        let key = pod_key(&pod)?;
        self.0.with(|state| or_undefined(state.engine.explain(&key).as_ref()))
    }

    /// Why a pod was deleted when it was, or will be if nobody does anything; `undefined` if it is
    /// not.
    #[wasm_bindgen(js_name = timeBudget, unchecked_return_type = "TimeBudget | undefined")]
    pub fn time_budget(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "string",
            param_description = "`namespace/name`, or `name` in the namespace `default`"
        )]
        pod: JsValue,
    ) -> Result<JsValue, JsValue> {
        let key = pod_key(&pod)?;
        self.0.with(|state| {
            let budget = state.engine.record_or_forecast(&key, &mut state.forecast);
            or_undefined(budget.as_ref())
        })
    }

    /// The workloads and how their pods are doing, by kind, namespace and name. One that nobody
    /// gave, but that pods name as their controller, is assumed.
    #[wasm_bindgen(unchecked_return_type = "WorkloadView[]")]
    pub fn workloads(&self) -> Result<JsValue, JsValue> {
        self.0.with(|state| {
            let keys = state.engine.cluster().workloads().map(|(key, _)| key);
            let views = keys.filter_map(|key| state.engine.workload_view(key));
            to_js(&views.collect::<Vec<_>>())
        })
    }

    /// The PersistentVolumes, their claims and classes, and where volumes are attached;
    /// `undefined` if volumes take no part in the simulation: without a claim, unless there is a
    /// StorageClass and no pod that uses a claim.
    #[wasm_bindgen(unchecked_return_type = "StorageView | undefined")]
    pub fn storage(&self) -> Result<JsValue, JsValue> {
        self.0.with(|state| or_undefined(StorageView::of(&state.engine).as_ref()))
    }

    /// What is likely to surprise in the cluster as it is now, the most pressing first: what it is
    /// about, why, and what to do.
    #[wasm_bindgen(unchecked_return_type = "Warning[]")]
    pub fn lint(&self) -> Result<JsValue, JsValue> {
        self.0.with(|state| to_js(&warnings_of(&state.engine)))
    }

    /// How a workload fared until now: ready pods over time, the longest gap, the time lost;
    /// `undefined` if it was never there.
    #[wasm_bindgen(unchecked_return_type = "Availability | undefined")]
    pub fn availability(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "string",
            param_description = "`deployment/namespace/name`, or `deployment/name` in the \
                namespace `default`"
        )]
        workload: JsValue,
    ) -> Result<JsValue, JsValue> {
        let key = WorkloadKey::parse(&input::text(&workload, "workload")?)
            .map_err(|error| input::wrong_call(&format!("workload: {error}")))?;
        self.0.with(|state| or_undefined(state.engine.availability(&key).as_ref()))
    }

    /// The zones as the node lifecycle controller sees them: state, rate, tokens, queue; none if
    /// there is no such controller.
    #[wasm_bindgen(unchecked_return_type = "ZoneView[]")]
    pub fn zones(&self) -> Result<JsValue, JsValue> {
        self.0.with(|state| to_js(&state.engine.zones()))
    }

    /// Writes down from now on what becomes of each zone, node and pod, for `lanes()` and
    /// `timelineSvg()`. Runs take somewhat longer.
    #[wasm_bindgen(js_name = recordLanes)]
    pub fn record_lanes(&self) -> Result<(), JsValue> {
        self.0.with(|state| {
            state.record_lanes();
            Ok(())
        })
    }

    /// What became of each zone, node and pod, as segments of their lives with their causes;
    /// `undefined` unless `recordLanes()` was called.
    #[wasm_bindgen(unchecked_return_type = "Lanes | undefined")]
    pub fn lanes(&self) -> Result<JsValue, JsValue> {
        self.0.with(|state| or_undefined(state.lanes().as_ref()))
    }

    /// The same as a picture: SVG that needs no script; `undefined` unless `recordLanes()` was
    /// called.
    #[wasm_bindgen(js_name = timelineSvg)]
    pub fn timeline_svg(
        &self,
        #[wasm_bindgen(
            unchecked_optional_param_type = "TimelineOptions",
            param_description = "its title, and a moment that is marked"
        )]
        options: JsValue,
    ) -> Result<Option<String>, JsValue> {
        let options: TimelineOptions = read_options(&options, "options")?;
        self.0.with(|state| Ok(state.lanes().map(|lanes| options.draw(&lanes, ""))))
    }

    /// The state now, to come back to. It shares its objects with the simulation.
    pub fn snapshot(&self) -> Result<Snapshot, JsValue> {
        self.0
            .with(|state| Ok(Snapshot { engine: state.engine.snapshot(), run: state.run.clone() }))
    }

    /// Goes back (or forth) to a snapshot of this simulation or of another. Events that had not
    /// been asked for then are there again.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<(), JsValue> {
        self.0.with(|state| {
            state.engine.restore(&snapshot.engine);
            state.run.clone_from(&snapshot.run);
            state.forecast = None;
            Ok(())
        })
    }
}

// It takes a class, so it stands here and not in `js.rs`.
#[wasm_bindgen(raw_module = "./boundary.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    fn created(
        simulator: Simulator,
        warnings: &JsValue,
        imported: &JsValue,
    ) -> Result<JsValue, JsValue>;
}

/// Wraps a new simulator for JavaScript.
fn wrapped(
    state: Simulation,
    warnings: &[Problem],
    imported: &Imported,
) -> Result<JsValue, JsValue> {
    created(Simulator(ExclusiveCell::new(state)), &to_js(&warnings)?, &to_js(imported)?)
}

/// A command without parameters may be given as its bare name.
fn read_command(command: &JsValue) -> Result<Command, JsValue> {
    const WHAT: &str = "command";
    if !command.is_string() {
        return read(command, WHAT);
    }
    decode(serde_json::json!({ input::text(command, WHAT)?: null }), WHAT)
}

fn or_undefined<T: Serialize>(value: Option<&T>) -> Result<JsValue, JsValue> {
    value.map_or(Ok(JsValue::UNDEFINED), to_js)
}

fn pod_key(pod: &JsValue) -> Result<PodKey, JsValue> {
    PodKey::parse(&input::text(pod, "pod")?)
        .map_err(|error| input::wrong_call(&format!("pod: {error}")))
}
