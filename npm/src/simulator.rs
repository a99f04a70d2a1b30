//! The cluster in simulated time.

use std::collections::VecDeque;

use js_sys::{Function, Object, Reflect};
use serde::{Deserialize, Serialize};
use taintlab_core::api::{Node, Pod, PodKey, WorkloadKey};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, Happening, TimeoutReason};
use taintlab_core::scenario::{Scenario, ScenarioError, Step};
use taintlab_core::simulator::{Forecast, Simulator as Engine, Snapshot as EngineSnapshot};
use taintlab_core::time::Timestamp;
use taintlab_core::warnings::Warning;
use taintlab_manifest::kubectl::{self, Context};
use taintlab_manifest::{Import, Limits, ScenarioFile, import};
use tsify::Tsify;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::holder::Holder;
use crate::input::{self, expected, json, read, read_options};
use crate::manifests::sort;
use crate::options::{ScenarioOptions, SimulatorOptions};
use crate::output::to_js;
use crate::problem::{Problem, ProblemCode, fail};
use crate::scenario::{SCENARIO, at, read_file};

/// How far a run goes that has no deadline: a day from now.
const A_DAY: core::time::Duration = core::time::Duration::from_secs(24 * 60 * 60);
/// How long an API server keeps Kubernetes Events (`--event-ttl`).
const REMEMBERED: core::time::Duration = core::time::Duration::from_secs(60 * 60);
/// How many deadlines a forecast looks ahead.
const FORECAST_STEPS: usize = 100_000;
/// How many events a batch has unless told otherwise.
const BATCH: usize = 10_000;

/// How far a simulation has come.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Whether it worked: yes.
    #[tsify(type = "true")]
    pub ok: bool,
    /// The time the simulation has reached.
    pub now: Timestamp,
    /// How many events wait for `events()`.
    pub pending_events: usize,
    /// Why a run ended.
    pub stopped: Stopped,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub enum Stopped {
    /// The moment that was asked for has come.
    Reached,
    /// The predicate said so.
    Predicate,
    /// Nothing more will happen by itself.
    Idle,
}

/// Something that happened, with its time.
#[derive(Serialize, Tsify)]
pub struct DescribedEvent {
    /// What and when.
    #[serde(flatten)]
    #[tsify(type = "Event")]
    pub event: Event,
    /// The same in one line; only if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Which events, and how.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct EventsOptions {
    /// How many at most; 10,000 unless given. Call again until none is left.
    #[tsify(type = "number")]
    pub limit: Option<usize>,
    /// Whether each has a `text`.
    pub text: bool,
}

/// How far a run goes at most.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct RunOptions {
    /// The last moment, as a duration since the start; a day from now unless given.
    #[tsify(type = "Span")]
    pub until: Option<taintlab_core::time::Span>,
}

/// What a line of kubectl reads besides itself.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct KubectlOptions {
    /// The namespace that is meant unless `-n` is given; `default` unless given.
    pub namespace: String,
    /// The standard input, for `-f -`.
    #[tsify(type = "string")]
    pub stdin: Option<String>,
}

/// What came of a line of kubectl.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct KubectlOutcome {
    /// Whether the line was run: yes. Whether kubectl was content says `exitCode`.
    #[tsify(type = "true")]
    pub ok: bool,
    /// What goes to the standard output.
    pub stdout: String,
    /// What goes to the standard error output.
    pub stderr: String,
    /// Both in the order in which they were written, as a terminal shows them.
    pub terminal: String,
    /// 0 if all went well, otherwise 1.
    pub exit_code: u8,
    /// What the line did to the cluster; there can be something although it failed.
    pub commands: Vec<Command>,
}

/// Which pods.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct PodsOptions {
    /// Only those of this namespace.
    #[tsify(type = "string")]
    pub namespace: Option<String>,
    /// Only those on this node.
    #[tsify(type = "string")]
    pub node: Option<String>,
}

/// The next moment at which something happens.
#[derive(Serialize, Tsify)]
pub struct NextDeadline {
    /// When.
    pub at: Timestamp,
    /// What happens.
    #[tsify(type = "TimeoutReason | { type: \"scenarioStep\"; command: Command }")]
    pub reason: DeadlineReason,
}

/// What a moment is for.
#[derive(Serialize)]
#[serde(untagged)]
#[doc(hidden)]
pub enum DeadlineReason {
    /// The engine's own.
    Engine(TimeoutReason),
    /// A step of a scenario.
    Step {
        #[serde(rename = "type")]
        type_: &'static str,
        command: Box<Command>,
    },
}

/// A simulation as it was at some moment. Give it to `restore()`, as often as you like.
#[wasm_bindgen]
pub struct Snapshot {
    engine: EngineSnapshot,
    steps: VecDeque<(usize, Step)>,
    events: VecDeque<Event>,
    history: VecDeque<Event>,
}

/// A cluster in simulated time: commands in, events out. Nothing happens unless time is told to
/// pass, and nothing ever waits.
///
/// Times are milliseconds since the start, with fractions. Memory is freed by `free()`, at the end
/// of a block by `using`, and otherwise by the garbage collector.
#[wasm_bindgen]
pub struct Simulator(Holder<Inner>);

struct Inner {
    engine: Engine,
    /// What the scenario still has to do, in the order of time, with the number of each step.
    steps: VecDeque<(usize, Step)>,
    /// What happened and was not asked for yet.
    events: VecDeque<Event>,
    /// The Kubernetes Events of the last hour, which is how long an API server keeps them.
    history: VecDeque<Event>,
    ends_by: Timestamp,
    /// The end that a scenario names.
    until: Option<Timestamp>,
    /// To say where a step is that cannot be carried out.
    file: Option<ScenarioFile>,
    /// What will happen; `None` once something has been done.
    forecast: Option<Forecast>,
}

#[wasm_bindgen]
impl Simulator {
    /// A cluster of the nodes and pods of manifests, and controllers that have just started.
    #[wasm_bindgen(
        js_name = fromManifests,
        unchecked_return_type = "{ ok: true; simulator: Simulator; warnings: Problem[] } | Failure"
    )]
    pub fn from_manifests(
        #[wasm_bindgen(
            unchecked_param_type = "string | readonly object[] | { items: readonly object[] }",
            param_description = "YAML or JSON text, or objects as Kubernetes' API returns them; \
                each says its `apiVersion` and `kind`, or the list around them does"
        )]
        manifests: &JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "SimulatorOptions",
            param_description = "which Kubernetes; the newest with its defaults unless given"
        )]
        options: &JsValue,
    ) -> Result<JsValue, JsValue> {
        match cluster(manifests, options)? {
            Ok((engine, scenario, problems)) => {
                created(Inner::new(engine, &scenario, None), &problems)
            }
            Err(errors) => fail(errors),
        }
    }

    /// The cluster of a scenario. Its steps happen as time passes.
    #[wasm_bindgen(
        js_name = fromScenario,
        unchecked_return_type = "{ ok: true; simulator: Simulator; warnings: Problem[] } | Failure"
    )]
    pub fn from_scenario(
        #[wasm_bindgen(
            unchecked_param_type = "string | Scenario",
            param_description = "the text of a scenario file, or the same as an object"
        )]
        scenario: &JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "ScenarioOptions",
            param_description = "what is read besides"
        )]
        options: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let options: ScenarioOptions = read_options(options, "options")?;
        let mut file = read_file(scenario, &options)?;
        let scenario = file.scenario.take();
        let (errors, warnings) = sort(std::mem::take(&mut file.diagnostics), SCENARIO);
        let Some(scenario) = scenario else { return fail(errors) };
        match scenario.simulator() {
            Ok(engine) => created(Inner::new(engine, &scenario, Some(file)), &warnings),
            Err(error) => fail(vec![at(&file, &error.path(), &error.to_string(), SCENARIO)]),
        }
    }

    /// The time the simulation has reached: milliseconds since the start.
    #[wasm_bindgen(getter)]
    pub fn now(&self) -> Result<f64, JsValue> {
        self.0.with(|inner| Ok(millis_of(inner.engine.now())))
    }

    /// The wall-clock time of a moment, RFC 3339; of now unless given.
    #[wasm_bindgen(js_name = wallClock)]
    pub fn wall_clock(
        &self,
        #[wasm_bindgen(
            unchecked_optional_param_type = "number",
            param_description = "milliseconds since the start"
        )]
        at: &JsValue,
    ) -> Result<String, JsValue> {
        self.0.with(|inner| {
            let at = if at.is_undefined() {
                inner.engine.now()
            } else {
                input::moment(at, "at")?.map_err(|problem| input::wrong_call(&problem.message))?
            };
            Ok(inner.engine.wall_clock(at).to_string())
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
        command: &JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "number | string",
            param_description = "milliseconds since the start, or a text such as `5m0s`; now \
                unless given"
        )]
        at: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let command: Command = read(&command_value(command), "command")?;
        self.0.with(|inner| {
            let at = match inner.moment(at)? {
                Ok(at) => at,
                Err(problem) => return fail(vec![problem]),
            };
            inner.forecast = None;
            if let Err(errors) = inner.run_steps(at) {
                return fail(errors);
            }
            match inner.engine.handle_command(at, command) {
                Ok(()) => inner.progress(Stopped::Reached),
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
        line: &JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "number | string",
            param_description = "milliseconds since the start, or a text such as `5m0s`; now \
                unless given"
        )]
        at: &JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "KubectlOptions",
            param_description = "what it reads, and in which namespace"
        )]
        options: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let line = input::text(line, "line")?;
        let options: KubectlOptions = read_options(options, "options")?;
        self.0.with(|inner| {
            let at = match inner.moment(at)? {
                Ok(at) => at,
                Err(problem) => return fail(vec![problem]),
            };
            inner.forecast = None;
            if let Err(errors) = inner.run(at) {
                return fail(errors);
            }
            inner.collect();
            inner.kubectl(&line, &options)
        })
    }

    /// Lets time pass until a moment. An interval in which nothing happens costs nothing.
    #[wasm_bindgen(js_name = advanceTo, unchecked_return_type = "Progress | Failure")]
    pub fn advance_to(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "number | string",
            param_description = "milliseconds since the start, or a text such as `5m0s`"
        )]
        at: &JsValue,
    ) -> Result<JsValue, JsValue> {
        self.0.with(|inner| match input::moment(at, "at")? {
            Ok(at) => inner.advance_to(at),
            Err(problem) => fail(vec![problem]),
        })
    }

    /// Lets time pass until the next moment at which something happens. Without one, time stays.
    #[wasm_bindgen(js_name = advanceToNext, unchecked_return_type = "Progress | Failure")]
    pub fn advance_to_next(&self) -> Result<JsValue, JsValue> {
        self.0.with(|inner| match inner.next() {
            Some(next) => inner.advance_to(next.at),
            None => inner.progress(Stopped::Idle),
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
            unchecked_param_type = "number | string | ((events: Event[], now: number) => boolean)",
            param_description = "milliseconds since the start, a text such as `5m0s`, or a \
                predicate"
        )]
        condition: &JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "RunOptions",
            param_description = "how far it goes at most, for a predicate"
        )]
        options: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let options: RunOptions = read_options(options, "options")?;
        self.0.with(|inner| {
            if let Some(predicate) = condition.dyn_ref::<Function>() {
                let a_day_on = || inner.engine.now().saturating_add(A_DAY);
                let until = options.until.map_or_else(a_day_on, |until| until.timestamp());
                return inner.run_until(predicate, until);
            }
            match input::moment(condition, "condition")? {
                Ok(at) => inner.advance_to(at),
                Err(problem) => fail(vec![problem]),
            }
        })
    }

    /// Lets time pass until nothing more happens by itself: a scenario to its end, anything else
    /// for a day at most.
    #[wasm_bindgen(js_name = runToEnd, unchecked_return_type = "Progress | Failure")]
    pub fn run_to_end(&self) -> Result<JsValue, JsValue> {
        self.0.with(|inner| {
            inner.forecast = None;
            let ends_by = inner.ends_by;
            while let Some(next) = inner.next().filter(|next| next.at <= ends_by) {
                if let Err(errors) = inner.run(next.at) {
                    return fail(errors);
                }
            }
            match inner.until.filter(|until| *until > inner.engine.now()) {
                Some(until) => inner.advance_to(until),
                None => inner.progress(Stopped::Idle),
            }
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
        options: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let options: EventsOptions = read_options(options, "options")?;
        self.0.with(|inner| {
            inner.collect();
            let number = options.limit.unwrap_or(BATCH).min(inner.events.len());
            let describe = |event: Event| DescribedEvent {
                text: options.text.then(|| event.what.to_string()),
                event,
            };
            let batch: Vec<_> = inner.events.drain(..number).map(describe).collect();
            to_js(&batch)
        })
    }

    /// The next moment at which something happens, and what; `undefined` if nothing will.
    #[wasm_bindgen(js_name = nextDeadline, unchecked_return_type = "NextDeadline | undefined")]
    pub fn next_deadline(&self) -> Result<JsValue, JsValue> {
        self.0.with(|inner| or_undefined(inner.next().as_ref()))
    }

    /// The nodes, as the API server would show them now, by name.
    #[wasm_bindgen(unchecked_return_type = "Node[]")]
    pub fn nodes(&self) -> Result<JsValue, JsValue> {
        self.0.with(|inner| {
            let names = inner.engine.cluster().nodes().map(|(name, _)| name.as_str());
            let nodes = names.filter_map(|name| inner.engine.posted_node(name));
            to_js(&nodes.collect::<Vec<_>>().iter().map(AsRef::as_ref).collect::<Vec<&Node>>())
        })
    }

    /// A node's kubelet, and how the node lifecycle controller sees the node; `undefined` if there
    /// is no such node, or there are no kubelets.
    #[wasm_bindgen(unchecked_return_type = "NodeView | undefined")]
    pub fn node(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string", param_description = "its name")]
        name: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let name = input::text(name, "name")?;
        self.0.with(|inner| or_undefined(inner.engine.node_view(&name).as_ref()))
    }

    /// The pods, as the API server would show them now, by namespace and name.
    #[wasm_bindgen(unchecked_return_type = "Pod[]")]
    pub fn pods(
        &self,
        #[wasm_bindgen(
            unchecked_optional_param_type = "PodsOptions",
            param_description = "which; all unless given"
        )]
        options: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let options: PodsOptions = read_options(options, "options")?;
        self.0.with(|inner| {
            let wanted = |key: &PodKey| {
                options.namespace.as_ref().is_none_or(|namespace| key.namespace() == namespace)
            };
            let cluster = inner.engine.cluster();
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
            to_js(&pods)
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
        pod: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let key = pod_key(pod)?;
        self.0.with(|inner| or_undefined(inner.engine.explain(&key).as_ref()))
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
        pod: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let key = pod_key(pod)?;
        self.0.with(|inner| {
            if let Some(budget) = inner.engine.time_budget(&key).filter(|budget| budget.over) {
                return to_js(&budget);
            }
            let engine = &inner.engine;
            let forecast = inner.forecast.get_or_insert_with(|| {
                engine.forecast(engine.now().saturating_add(A_DAY), FORECAST_STEPS)
            });
            let budget = forecast.time_budget(&key).or_else(|| engine.time_budget(&key));
            or_undefined(budget.as_ref())
        })
    }

    /// The workloads and how their pods are doing, by kind, namespace and name. One that nobody
    /// gave, but that pods name as their controller, is assumed.
    #[wasm_bindgen(unchecked_return_type = "WorkloadView[]")]
    pub fn workloads(&self) -> Result<JsValue, JsValue> {
        self.0.with(|inner| {
            let keys = inner.engine.cluster().workloads().map(|(key, _)| key);
            let views = keys.filter_map(|key| inner.engine.workload_view(key));
            to_js(&views.collect::<Vec<_>>())
        })
    }

    /// What is likely to surprise in the cluster as it is now, the most pressing first: what it is
    /// about, why, and what to do.
    #[wasm_bindgen(unchecked_return_type = "Warning[]")]
    pub fn warnings(&self) -> Result<JsValue, JsValue> {
        self.0.with(|inner| to_js(&inner.engine.warnings()))
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
        workload: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let key = WorkloadKey::parse(&input::text(workload, "workload")?)
            .map_err(|error| input::wrong_call(&format!("workload: {error}")))?;
        self.0.with(|inner| or_undefined(inner.engine.availability(&key).as_ref()))
    }

    /// The zones as the node lifecycle controller sees them: state, rate, tokens, queue; none if
    /// there is no such controller.
    #[wasm_bindgen(unchecked_return_type = "ZoneView[]")]
    pub fn zones(&self) -> Result<JsValue, JsValue> {
        self.0.with(|inner| to_js(&inner.engine.zones()))
    }

    /// The state now, to come back to. It shares its objects with the simulation.
    pub fn snapshot(&self) -> Result<Snapshot, JsValue> {
        self.0.with(|inner| {
            Ok(Snapshot {
                engine: inner.engine.snapshot(),
                steps: inner.steps.clone(),
                events: inner.events.clone(),
                history: inner.history.clone(),
            })
        })
    }

    /// Goes back (or forth) to a snapshot of this simulation or of another. Events that had not
    /// been asked for then are there again.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<(), JsValue> {
        self.0.with(|inner| {
            inner.engine.restore(&snapshot.engine);
            inner.steps.clone_from(&snapshot.steps);
            inner.events.clone_from(&snapshot.events);
            inner.history.clone_from(&snapshot.history);
            inner.forecast = None;
            Ok(())
        })
    }
}

impl Inner {
    fn new(engine: Engine, scenario: &Scenario, file: Option<ScenarioFile>) -> Self {
        let mut steps: Vec<_> = scenario.steps.iter().cloned().enumerate().collect();
        steps.sort_by_key(|(_, step)| step.at);
        Self {
            engine,
            steps: steps.into(),
            events: VecDeque::new(),
            history: VecDeque::new(),
            ends_by: scenario.ends_by(),
            until: scenario.until.map(taintlab_core::time::Span::timestamp),
            file,
            forecast: None,
        }
    }

    /// A moment given by a caller; now if it is left out.
    fn moment(&self, at: &JsValue) -> Result<Result<Timestamp, Problem>, JsValue> {
        if at.is_undefined() { Ok(Ok(self.engine.now())) } else { input::moment(at, "at") }
    }

    /// Takes what happened over from the engine.
    fn collect(&mut self) {
        while let Some(event) = self.engine.poll_event() {
            if matches!(event.what, Happening::EventRecorded(_)) {
                self.history.push_back(event.clone());
            }
            self.events.push_back(event);
        }
        let now = self.engine.now();
        while self.history.pop_front_if(|event| now - event.at > REMEMBERED).is_some() {}
    }

    fn kubectl(&mut self, line: &str, options: &KubectlOptions) -> Result<JsValue, JsValue> {
        let context = Context {
            simulator: &self.engine,
            events: self.history.make_contiguous(),
            namespace: &options.namespace,
        };
        let outcome = kubectl::run(&context, line, options.stdin.as_deref());
        let now = self.engine.now();
        for command in &outcome.commands {
            if let Err(error) = self.engine.handle_command(now, command.clone()) {
                return fail(Problem::of_command(&error, ""));
            }
        }
        to_js(&KubectlOutcome {
            ok: true,
            stdout: outcome.stdout,
            stderr: outcome.stderr,
            terminal: outcome.terminal,
            exit_code: outcome.exit_code,
            commands: outcome.commands,
        })
    }

    fn next(&self) -> Option<NextDeadline> {
        let timeout = self.engine.poll_timeout();
        let step = self.steps.front();
        match (timeout, step) {
            (timeout, Some((_, step)))
                if timeout.as_ref().is_none_or(|next| step.at.timestamp() <= next.at) =>
            {
                let reason = DeadlineReason::Step {
                    type_: "scenarioStep",
                    command: Box::new(step.command.clone()),
                };
                Some(NextDeadline { at: step.at.timestamp().max(self.engine.now()), reason })
            }
            (timeout, _) => timeout.map(|timeout| NextDeadline {
                at: timeout.at,
                reason: DeadlineReason::Engine(timeout.reason),
            }),
        }
    }

    /// Does the steps of the scenario that are due until then.
    fn run_steps(&mut self, at: Timestamp) -> Result<(), Vec<Problem>> {
        while let Some((index, step)) =
            self.steps.pop_front_if(|(_, step)| step.at.timestamp() <= at)
        {
            let time = step.at.timestamp().max(self.engine.now());
            let wrong = match (self.engine.handle_command(time, step.command), &step.refused) {
                (Ok(()), None) => continue,
                (Err(error), Some(wanted)) if error.to_string() == *wanted => continue,
                (Err(error), _) => ScenarioError::Step { index, error },
                (Ok(()), Some(_)) => ScenarioError::NotRefused { index },
            };
            let (path, message) = (wrong.path(), wrong.to_string());
            return Err(match (&self.file, &wrong) {
                (Some(file), _) => vec![self::at(file, &path, &message, SCENARIO)],
                (None, ScenarioError::Step { error, .. }) => Problem::of_command(error, &path),
                (None, _) => vec![Problem::new(SCENARIO, &path, &message)],
            });
        }
        Ok(())
    }

    /// Lets time pass, with the steps of the scenario in it.
    fn run(&mut self, at: Timestamp) -> Result<(), Vec<Problem>> {
        self.run_steps(at)?;
        self.engine.advance_to(at).map_err(|error| vec![Problem::of_time(error)])
    }

    fn advance_to(&mut self, at: Timestamp) -> Result<JsValue, JsValue> {
        self.forecast = None;
        match self.run(at) {
            Ok(()) => self.progress(Stopped::Reached),
            Err(errors) => fail(errors),
        }
    }

    fn run_until(&mut self, predicate: &Function, until: Timestamp) -> Result<JsValue, JsValue> {
        self.forecast = None;
        loop {
            let Some(next) = self.next() else { return self.progress(Stopped::Idle) };
            if next.at > until {
                return self.advance_to(until.max(self.engine.now()));
            }
            if let Err(errors) = self.run(next.at) {
                return fail(errors);
            }
            let before = self.events.len();
            self.collect();
            let batch: Vec<&Event> = self.events.iter().skip(before).collect();
            let now = JsValue::from_f64(millis_of(self.engine.now()));
            let answer = predicate.call2(&JsValue::UNDEFINED, &to_js(&batch)?, &now)?;
            match answer.as_bool() {
                Some(true) => return self.progress(Stopped::Predicate),
                Some(false) => {}
                None => {
                    return Err(expected("the predicate's answer", "`true` or `false`", &answer));
                }
            }
        }
    }

    fn progress(&mut self, stopped: Stopped) -> Result<JsValue, JsValue> {
        self.collect();
        let (now, pending_events) = (self.engine.now(), self.events.len());
        to_js(&Progress { ok: true, now, pending_events, stopped })
    }
}

/// What is likely to surprise in a cluster, the most pressing first: what it is about, why, and what to
/// do.
#[wasm_bindgen(
    unchecked_return_type = "{ ok: true; warnings: Warning[]; problems: Problem[] } | Failure"
)]
pub fn warnings(
    #[wasm_bindgen(
        unchecked_param_type = "string | readonly object[] | { items: readonly object[] }",
        param_description = "YAML or JSON text, or objects as Kubernetes' API returns them"
    )]
    manifests: &JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "SimulatorOptions",
        param_description = "which Kubernetes; the newest with its defaults unless given"
    )]
    options: &JsValue,
) -> Result<JsValue, JsValue> {
    match cluster(manifests, options)? {
        Ok((engine, _, problems)) => {
            to_js(&Warnings { ok: true, warnings: engine.warnings(), problems })
        }
        Err(errors) => fail(errors),
    }
}

/// Warnings, and what is probably not meant in the manifests.
#[derive(Serialize)]
struct Warnings {
    ok: bool,
    warnings: Vec<Warning>,
    problems: Vec<Problem>,
}

/// A cluster of manifests: itself, the scenario that it is the beginning of, and what is probably not
/// meant in the manifests. Inside, what is wrong.
#[expect(clippy::type_complexity, reason = "an answer that only two functions take apart")]
fn cluster(
    manifests: &JsValue,
    options: &JsValue,
) -> Result<Result<(Engine, Scenario, Vec<Problem>), Vec<Problem>>, JsValue> {
    let options: SimulatorOptions = read_options(options, "options")?;
    let text = match manifests.as_string() {
        Some(text) => text,
        None => json(manifests, "manifests")?,
    };
    let read = import(&text, &options.file, &Limits::default());
    drop(text);
    let Import { nodes, pods, others, diagnostics, workloads, budgets } = read;
    let (errors, problems) = sort(diagnostics, ProblemCode::InvalidManifest);
    if !errors.is_empty() {
        return Ok(Err(errors));
    }
    let mut scenario = options.scenario();
    scenario.objects.nodes = nodes;
    scenario.objects.pods = pods;
    scenario.objects.workloads = workloads;
    scenario.objects.budgets = budgets;
    scenario.objects.others = others;
    Ok(match scenario.simulator() {
        Ok(engine) => Ok((engine, scenario, problems)),
        Err(error) => Err(vec![Problem::of_config(&error)]),
    })
}

/// A new simulator in its wrapping.
fn created(inner: Inner, warnings: &[Problem]) -> Result<JsValue, JsValue> {
    let answer = Object::new();
    let simulator = Simulator(Holder::new(inner)).into();
    for (name, value) in
        [("ok", JsValue::TRUE), ("simulator", simulator), ("warnings", to_js(&warnings)?)]
    {
        Reflect::set(&answer, &name.into(), &value)?;
    }
    Ok(answer.into())
}

/// Commands without a parameter are written as their bare name.
fn command_value(command: &JsValue) -> JsValue {
    if !command.is_string() {
        return command.clone();
    }
    let object = Object::new();
    // A plain object takes every property.
    let _ = Reflect::set(&object, command, &JsValue::NULL);
    object.into()
}

fn or_undefined<T: Serialize>(value: Option<&T>) -> Result<JsValue, JsValue> {
    value.map_or(Ok(JsValue::UNDEFINED), to_js)
}

fn pod_key(pod: &JsValue) -> Result<PodKey, JsValue> {
    PodKey::parse(&input::text(pod, "pod")?)
        .map_err(|error| input::wrong_call(&format!("pod: {error}")))
}

fn millis_of(at: Timestamp) -> f64 {
    crate::explained::millis(i64::try_from(at.as_nanos()).unwrap_or(i64::MAX))
}
