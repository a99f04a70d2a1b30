//! `taintlab run`: a cluster, what is done to it, and what happens.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use taintlab_answers::cluster::{Imported, ManifestCluster, cluster_of};
use taintlab_answers::options::SimulatorOptions;
use taintlab_answers::problem::{Problem, ProblemCode};
use taintlab_answers::scenario::{Opened, SCENARIO, ScenarioOptions, at as problem_at};
use taintlab_answers::simulation::Simulation;
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventVisibility};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::{Span, Timestamp, format_duration};
use taintlab_manifest::{Import, SvgOptions, is_scenario, timeline_svg};
use taintlab_words::table;

use crate::cluster::{NotRead, Read, no_files, read_cluster};
use crate::host::Host;
use crate::json;
use crate::line::{ApplyLine, KubernetesLine, PluginRun, RunLine, RunOptions, Step, StepKind};
use crate::options::{moment, pairs, release, stop_for, value};
use crate::reading::{Input, files_of, objects, read_inputs, scenario, warn};
use crate::stop::{Done, OK, Stop, bare};

/// Longest time for a roll-out before the simulation begins.
const SETTLE: Duration = Duration::from_secs(10 * 60);
/// Events that are written at a time.
const BATCH: usize = 10_000;

/// A simulation that has not begun, and what is known of its cluster.
pub(crate) struct Begun {
    pub(crate) simulation: Simulation,
    pub(crate) warnings: Vec<Problem>,
    pub(crate) imported: Imported,
    pub(crate) not_read: Vec<NotRead>,
}

pub(crate) fn run(host: &dyn Host, line: &RunLine) -> Done<u8> {
    let files = files_of(&line.files, "run")?;
    let kubernetes = &line.options.kubernetes;
    simulate(host, &line.options, |options| of_files(host, files, &line.apply, kubernetes, options))
}

/// The same of the cluster of the current context, for `kubectl taintlab run`.
pub(crate) fn run_cluster(host: &dyn Host, line: &PluginRun) -> Done<u8> {
    no_files("run", &line.files)?;
    let kubernetes = &line.options.kubernetes;
    simulate(host, &line.options, |options| {
        let read = read_cluster(host, &line.connection, kubernetes.release.as_ref())?;
        let applied = read_inputs(host, &[], &line.apply.apply)?;
        of_cluster(read, applied, kubernetes, options)
    })
}

/// Options of the simulator, without a file's name.
pub(crate) fn simulator_options(line: &KubernetesLine, keep_all: bool) -> Done<SimulatorOptions> {
    Ok(SimulatorOptions {
        release: release(line.release.as_ref())?,
        controller_manager_flags: pairs(&line.flags, "--flag")?,
        keep_all,
        ..SimulatorOptions::default()
    })
}

/// The scenario among these texts, which must be the only one; nothing if there is none. `from` is
/// its file, and `is` what one is here.
pub(crate) fn the_scenario(
    host: &dyn Host,
    inputs: &[Input],
    from: &str,
    is: &str,
    line: &KubernetesLine,
    options: &SimulatorOptions,
) -> Done<Option<Opened>> {
    let Some(found) = inputs.iter().find(|it| is_scenario(&it.text)) else { return Ok(None) };
    if inputs.len() > 1 {
        let help = "name its other files in `objects.files`";
        return Err(Stop::usage(format!("a scenario {is}; {help}")));
    }
    let settings = ScenarioOptions {
        file: found.file.clone(),
        release: options.release,
        controller_manager_flags: options.controller_manager_flags.clone(),
        keep_all: options.keep_all,
        ..ScenarioOptions::default()
    };
    let opened = scenario(host, from, &found.text, &settings);
    opened.map(Some).map_err(|problems| stop_for(line, &problems))
}

/// The simulator of a scenario at its beginning.
pub(crate) fn simulator_of(opened: &Opened, line: &KubernetesLine) -> Done<Simulator> {
    opened.scenario.simulator().map_err(|error| {
        let problem = problem_at(&opened.file, &error.path(), &error.to_string(), SCENARIO);
        stop_for(line, &[problem])
    })
}

fn of_files(
    host: &dyn Host,
    files: &[String],
    apply: &ApplyLine,
    line: &KubernetesLine,
    options: SimulatorOptions,
) -> Done<Begun> {
    let inputs = read_inputs(host, files, &apply.apply)?;
    let from = files.first().map_or("-", String::as_str);
    let Some(opened) = the_scenario(host, &inputs, from, "runs by itself", line, &options)? else {
        let import = objects(&inputs, options.keep_all);
        drop(inputs);
        return begin(import, line, options);
    };
    let engine = simulator_of(&opened, line)?;
    let Opened { scenario, file, warnings } = opened;
    let imported = Imported::of_dropped(&file.dropped);
    let simulation = Simulation::new(engine, &scenario, Some(file));
    Ok(Begun { simulation, warnings, imported, not_read: Vec::new() })
}

/// A simulation of objects.
fn begin(import: Import, line: &KubernetesLine, options: SimulatorOptions) -> Done<Begun> {
    let made = cluster_of(import, options);
    let ManifestCluster { engine, scenario, problems, imported } =
        made.map_err(|problems| stop_for(line, &problems))?;
    let simulation = Simulation::new(engine, &scenario, None);
    Ok(Begun { simulation, warnings: problems, imported, not_read: Vec::new() })
}

/// A simulation of a cluster that was read.
pub(crate) fn of_cluster(
    read: Read,
    applied: Vec<Input>,
    line: &KubernetesLine,
    options: SimulatorOptions,
) -> Done<Begun> {
    let inputs: Vec<Input> = read.inputs.into_iter().chain(applied).collect();
    let import = objects(&inputs, options.keep_all);
    drop(inputs);
    let mut begun = begin(import, line, SimulatorOptions { release: read.release, ..options })?;
    if read.release_text.is_some() {
        begun.imported.release = read.release;
        begun.imported.release_text = read.release_text;
    }
    begun.not_read = read.not_read;
    Ok(begun)
}

fn simulate(
    host: &dyn Host,
    line: &RunOptions,
    open: impl FnOnce(SimulatorOptions) -> Done<Begun>,
) -> Done<u8> {
    if line.svg && line.json {
        return Err(Stop::usage("--svg and --json cannot be used together"));
    }
    let options = simulator_options(&line.kubernetes, line.keep_all)?;
    let steps = steps_of(&line.steps.0)?;
    let until = line.until.as_ref().map(|text| moment("--until", text)).transpose()?;
    let Begun { mut simulation, warnings, imported, not_read } = open(options)?;
    warn(host, &warnings);
    let chosen = line.kubernetes.release.as_deref();
    tell(host, &imported, chosen, " (--keep-all keeps everything)");
    if line.keep_all {
        host.err("kept everything, also what may be secret: do not pass the output on\n");
    }
    let mut begin = Duration::ZERO;
    if line.settled {
        begin = settle(&mut simulation)?;
        let said = "--at and --until count from then, the times of events from its beginning";
        host.err(&format!("the roll-out is over after {}; {said}\n", format_duration(begin)));
    }
    if line.svg {
        simulation.record_lanes();
    }
    for step in steps {
        let Carried { said, ok, .. } = carry_out(&mut simulation, step, begin)?;
        host.err(&said);
        if !ok {
            return Err(Stop::failed(""));
        }
    }
    let ended = match until {
        Some(until) => simulation.run(Timestamp::ZERO.saturating_add(begin + until.0)),
        None => simulation.run_to_end(),
    };
    ended.map_err(|problems| Stop::problems(&problems))?;
    if line.svg {
        let lanes = simulation.lanes();
        let svg = lanes.map(|lanes| timeline_svg(&lanes, &SvgOptions::default()));
        host.out(&format!("{}\n", svg.unwrap_or_default()));
    } else {
        let known = Simulated::of(&imported, chosen);
        if line.json {
            print_json(host, &mut simulation, &not_read, &known);
        } else {
            print(host, &mut simulation, line.all, &not_read);
        }
    }
    Ok(OK)
}

/// Lets a simulation come to rest and forgets what happened until then; how long it took.
fn settle(simulation: &mut Simulation) -> Done<Duration> {
    let end = Timestamp::ZERO.saturating_add(SETTLE);
    while let Some(next) = simulation.next().map(|next| next.at).filter(|at| *at <= end) {
        simulation.run(next).map_err(|problems| Stop::problems(&problems))?;
    }
    simulation.run.events.clear();
    Ok(simulation.engine.now().since_zero())
}

/// Something that is done to the cluster.
pub(crate) enum Deed {
    Kubectl(String),
    Command(Box<Command>),
}

pub(crate) fn steps_of(steps: &[Step]) -> Done<Vec<(Deed, Span, String)>> {
    let mut deeds: Vec<(Deed, Span, String)> = Vec::new();
    for Step { what, value: text } in steps {
        match what {
            StepKind::Kubectl => {
                deeds.push((Deed::Kubectl(text.clone()), Span::default(), "0s".into()));
            }
            StepKind::Json => {
                let json = crate::options::json("--command", text)?;
                // A command without parameters may be given as its bare name.
                let json = match json {
                    Value::String(name) => serde_json::json!({ name: null }),
                    other => other,
                };
                let command = Box::new(value("--command", json)?);
                deeds.push((Deed::Command(command), Span::default(), "0s".into()));
            }
            StepKind::At => {
                let none = "--at says when the command before it happens, and there is none";
                let last = deeds.last_mut().ok_or_else(|| Stop::usage(none))?;
                (last.1, last.2) = (moment("--at", text)?, text.clone());
            }
        }
    }
    Ok(deeds)
}

/// Something that was done to the cluster.
pub(crate) struct Carried {
    /// Output of kubectl.
    pub(crate) said: String,
    /// Whether kubectl did it.
    pub(crate) ok: bool,
    /// The commands that did it.
    pub(crate) commands: Vec<Command>,
}

pub(crate) fn carry_out(
    simulation: &mut Simulation,
    (deed, at, text): (Deed, Span, String),
    begin: Duration,
) -> Done<Carried> {
    let at = Timestamp::ZERO.saturating_add(begin + at.0);
    let stop = |problems: Vec<Problem>, option: &str| {
        let late = problems.iter().find(|it| it.code == ProblemCode::TimeWentBack);
        match (late, problems.first()) {
            (Some(late), _) => Stop::usage(format!("--at {text}: {}", bare(late))),
            (None, Some(first)) if !option.is_empty() => {
                Stop::failed(format!("error: {option}: {}", bare(first)))
            }
            _ => Stop::problems(&problems),
        }
    };
    match deed {
        Deed::Kubectl(line) => {
            simulation.run(at).map_err(|problems| stop(problems, ""))?;
            let outcome =
                simulation.kubectl(&line, "", None).map_err(|problems| stop(problems, ""))?;
            let (said, ok) = (outcome.stdout + &outcome.stderr, outcome.exit_code == 0);
            Ok(Carried { said, ok, commands: outcome.commands })
        }
        Deed::Command(command) => {
            simulation.run_before(at).map_err(|problems| stop(problems, "--command"))?;
            simulation
                .engine
                .handle_command(at, (*command).clone())
                .map_err(|error| stop(Problem::of_command(&error, ""), "--command"))?;
            simulation.collect();
            Ok(Carried { said: String::new(), ok: true, commands: vec![*command] })
        }
    }
}

/// The simulated release and the reason for it, as far as it is not the newest for want of another.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Simulated {
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    release_text: Option<String>,
}

impl Simulated {
    pub(crate) fn of(imported: &Imported, chosen: Option<&str>) -> Self {
        match chosen {
            Some(chosen) => Self { release: Some(chosen.into()), release_text: None },
            None => Self {
                release: imported.release.map(|release| release.to_string()),
                release_text: imported.release_text.clone(),
            },
        }
    }

    /// The same as a line; nothing if there is nothing to say.
    pub(crate) fn line(&self) -> Option<String> {
        let release = self.release.as_ref()?;
        let why = self.release_text.as_ref().map(|text| format!(": {text}"));
        Some(format!("release {release}{}", why.unwrap_or_default()))
    }
}

/// Says what was found in the manifests, besides objects; `hint` says how to keep what was left out.
pub(crate) fn tell(host: &dyn Host, imported: &Imported, chosen: Option<&str>, hint: &str) {
    let Imported { release, release_text, newest_time, dropped } = imported;
    if let (Some(release), None) = (release, chosen) {
        let why = release_text.as_deref().unwrap_or_default();
        host.err(&format!("simulating release {release}: {why}\n"));
    }
    if let Some(time) = newest_time {
        host.err(&format!("the clock begins at {time}, the newest time in the objects\n"));
    }
    if let Some(dropped) = dropped {
        host.err(&format!("left out, since no simulation reads it: {dropped}{hint}\n"));
    }
}

#[derive(Serialize)]
struct Line<'a, T> {
    at: u8,
    #[serde(rename = "type")]
    type_: &'a str,
    #[serde(flatten)]
    rest: &'a T,
}

fn print_json(
    host: &dyn Host,
    simulation: &mut Simulation,
    not_read: &[NotRead],
    known: &Simulated,
) {
    simulation.collect();
    if known.release.is_some() {
        let line = Line { at: 0, type_: "simulating", rest: known };
        host.out(&format!("{}\n", json::line(&line)));
    }
    for rest in not_read {
        host.out(&format!("{}\n", json::line(&Line { at: 0, type_: "notRead", rest })));
    }
    let events = &mut simulation.run.events;
    while !events.is_empty() {
        let number = events.len().min(BATCH);
        let lines = events.drain(..number).map(|event| json::line(&event) + "\n");
        host.out(&lines.collect::<String>());
    }
}

/// Whether a cluster shows an event.
pub(crate) fn is_shown(event: &Event) -> bool {
    event.what.visibility() != EventVisibility::Internal
}

/// An event as a row: time, object, reason, what.
pub(crate) fn row(event: &Event) -> Vec<String> {
    // The names of its fields say what an event is about.
    let fields = serde_json::to_value(&event.what).unwrap_or_default();
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let reason = text("reason").or_else(|| text("type")).unwrap_or_default();
    let time = format_duration(event.at.since_zero());
    vec![time, subject(&fields), reason.into(), event.what.to_string()]
}

fn print(host: &dyn Host, simulation: &mut Simulation, all: bool, not_read: &[NotRead]) {
    simulation.collect();
    let style = host.style();
    let events = simulation.run.events.iter().filter(|event| all || is_shown(event));
    let rows: Vec<Vec<String>> = events.map(row).collect();
    host.out(&table(style, &["TIME", "OBJECT", "REASON", "WHAT"].map(String::from), &rows));
    let now = format_duration(simulation.engine.now().since_zero());
    host.out(&format!("{}\n", style.dim(&format!("until {now}"))));
    for line in not_read {
        host.out(&format!("{}\n", style.dim(&line.to_string())));
    }
}

/// Object of an event.
fn subject(event: &Value) -> String {
    let about = event.get("involvedObject").unwrap_or(event);
    let text = |name: &str| about.get(name).and_then(Value::as_str);
    let named = ["pod", "node", "workload", "budget"].iter().find_map(|name| text(name));
    match (named, text("zone")) {
        (Some(named), _) => named.into(),
        (None, Some("")) => "(no zone)".into(),
        (None, zone) => zone.unwrap_or_default().into(),
    }
}
