//! `taintlab solve`: the smallest change of settings that meets wishes in all failures asked for.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use serde_json::Value;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::solve::{
    Change, Knob, Setting, Solve, SolveOptions, Tried, Wish, apply_document, patch,
};
use taintlab_manifest::{Limits, is_scenario, read_value, to_yaml};
use taintlab_words::solve::{
    Answer, SolveText, setting_commands, settings_words, solve_markdown, solve_terminal,
};

use crate::host::Host;
use crate::json;
use crate::line::{PluginSolve, SolveLine, SolveOptions as Line};
use crate::options::{moment, one_of, one_output, whole};
use crate::reading::{Input, files_of, read_inputs, warn};
use crate::report::{Cluster, cluster_in, current_cluster, of_inputs, stop_of};
use crate::run::{simulator_options, tell};
use crate::stop::{Done, FAILED, OK, Stop};
use crate::threads::{in_pieces, threads};

/// Smallest changes that are printed at most.
const MOST_ANSWERS: usize = 3;

/// The result as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    release: KubernetesRelease,
    wishes: &'a [Wish],
    /// Number of failures that the wishes name.
    failures: usize,
    now: &'a Change,
    /// Settings in reach.
    reach: &'a [Knob],
    combinations: usize,
    tried: usize,
    /// Whether all combinations were tried, so that an empty list of answers is a proof.
    all_tried: bool,
    answers: Vec<WrittenAnswer<'a>>,
    /// Changes that no other one beats, if there is no answer.
    front: &'a [Change],
}

#[derive(Serialize)]
struct WrittenAnswer<'a> {
    #[serde(flatten)]
    change: &'a Change,
    words: String,
    patch: &'a str,
    commands: Vec<String>,
}

/// A cluster, and the texts from which it came, to apply patches to.
struct Source {
    scenario: Scenario,
    /// No texts for a scenario, which takes no manifests.
    inputs: Vec<Input>,
}

pub(crate) fn solve(host: &dyn Host, line: &SolveLine) -> Done<u8> {
    let asked = Asked::of(&line.options)?;
    let files = files_of(&line.files, "solve")?;
    let inputs = read_inputs(host, files, &line.options.apply.apply)?;
    let from = files.first().map_or("-", String::as_str);
    let cluster = cluster_in(host, &inputs, from, &line.options.kubernetes)?;
    asked.answer(host, cluster, inputs)
}

/// `kubectl taintlab solve`: the cluster of the current context.
pub(crate) fn solve_cluster(host: &dyn Host, line: &PluginSolve) -> Done<u8> {
    let options = &line.options;
    let asked = Asked::of(options)?;
    let (kubernetes, apply) = (&options.kubernetes, &options.apply);
    let (cluster, _, inputs) = current_cluster(host, &line.connection, kubernetes, apply)?;
    asked.answer(host, cluster, inputs)
}

/// Request of a command line.
struct Asked<'l> {
    line: &'l Line,
    wishes: Vec<Wish>,
    options: SolveOptions,
    workers: Option<usize>,
}

/// Wishes of an option.
fn wishes_of(option: &str, texts: &[String]) -> Done<Vec<Wish>> {
    let read = |text: &String| {
        let wrong = |why| Stop::usage(format!("{option} '{text}': {why}"));
        Wish::parse(text).map_err(wrong)
    };
    texts.iter().map(read).collect()
}

impl<'l> Asked<'l> {
    fn of(line: &'l Line) -> Done<Self> {
        one_output(&[("json", line.json), ("markdown", line.markdown)])?;
        if line.want.is_empty() {
            let why = "solve: --want: which wish? for example 'deployment/shop/web: below <= 90s if a \
                node is lost'";
            return Err(Stop::usage(why));
        }
        let kinds = line.only.iter().flat_map(|list| list.split(','));
        let kind = |name: &str| one_of("--only", name, &Setting::KINDS).map(str::to_owned);
        let defaults = SolveOptions::default();
        let horizon = line.horizon.as_ref().map(|text| moment("--horizon", text)).transpose()?;
        Ok(Self {
            line,
            wishes: [wishes_of("--want", &line.want)?, wishes_of("--but", &line.but)?].concat(),
            options: SolveOptions {
                horizon: horizon.unwrap_or(defaults.horizon),
                most_fields: whole("--changes", line.changes.as_ref(), 1)?
                    .unwrap_or(defaults.most_fields),
                most_trials: whole("--tries", line.tries.as_ref(), 1)?
                    .unwrap_or(defaults.most_trials),
                kinds: kinds.map(kind).collect::<Done<_>>()?,
            },
            workers: whole("--workers", line.workers.as_ref(), 0)?,
        })
    }

    fn answer(self, host: &dyn Host, cluster: Cluster, inputs: Vec<Input>) -> Done<u8> {
        let Self { line, wishes, options, workers } = self;
        let Cluster { mut scenario, warnings, imported } = cluster;
        warn(host, &warnings);
        let start_up = line.start_up.as_ref().map(|text| moment("--start-up", text)).transpose()?;
        scenario.kubernetes.start_up_time = start_up.or(scenario.kubernetes.start_up_time);
        let solve = Solve::new(scenario.clone(), wishes, &options)
            .map_err(|error| stop_of("solve", &error, &line.kubernetes))?;
        tell(host, &imported, line.kubernetes.release.as_deref(), "");
        let workers = threads(host, workers);
        let now = solve.now();
        let found =
            if now.outcome.is_met() { Found::default() } else { search(host, &solve, workers) };
        let is_scenario = inputs.iter().any(|it| is_scenario(&it.text));
        let inputs = if is_scenario { Vec::new() } else { inputs };
        let source = Source { scenario, inputs };
        let mut answers = Vec::new();
        if now.outcome.is_met() {
            answers.push(Answer { change: now.clone(), patch: String::new() });
        }
        for change in found.met.into_iter().take(MOST_ANSWERS) {
            answers.push(source.verified(&solve, change, line)?);
        }
        host.progress(None);
        let text = SolveText {
            solve: &solve,
            answers: &answers,
            tried: found.tried,
            interrupted: found.interrupted,
            front: &found.front,
        };
        host.out(&if line.json {
            json::line(&written(&text, &now)) + "\n"
        } else if line.markdown {
            solve_markdown(&text)
        } else {
            solve_terminal(&text, host.style())
        });
        Ok(if answers.is_empty() { FAILED } else { OK })
    }
}

fn written<'a>(text: &SolveText<'a>, now: &'a Change) -> Written<'a> {
    let answer = |it: &'a Answer| WrittenAnswer {
        change: &it.change,
        words: settings_words(&it.change.settings),
        patch: &it.patch,
        commands: setting_commands(&it.change.settings),
    };
    let SolveText { solve, answers, tried, front, .. } = *text;
    Written {
        release: solve.release(),
        wishes: solve.wishes(),
        failures: solve.failures(),
        now,
        reach: solve.knobs(),
        combinations: solve.combinations(),
        tried,
        all_tried: text.is_proof(),
        answers: answers.iter().map(answer).collect(),
        front,
    }
}

impl Source {
    /// Applies the patch of a change, as it is printed, and makes all failures again.
    fn verified(&self, solve: &Solve, change: Change, line: &Line) -> Done<Answer> {
        let stop = |why: String| Stop::failed(format!("error: {why}"));
        let Change { settings, outcome } = change;
        let patch = patch(&self.scenario, &settings).map_err(|why| stop(why.to_string()))?;
        let mut patched = self.scenario.clone();
        let mut manifests = Vec::new();
        for document in patch.split("---\n").filter(|it| !it.is_empty()) {
            let read: Value = read_value(document, "patch.yaml", &Limits::default())
                .map_err(|wrong| stop(format!("patch.yaml: {wrong:?}")))?;
            let whole = apply_document(&mut patched, &read).map_err(|why| stop(why.to_string()))?;
            manifests.push(to_yaml(&whole).map_err(|why| stop(why.to_string()))?);
        }
        if !self.inputs.is_empty() && !manifests.is_empty() {
            // The same way as `--apply`.
            let (file, text) = ("patch.yaml".into(), manifests.join("---\n"));
            let applied = Input { file, text, applied: true };
            let inputs: Vec<Input> = self.inputs.iter().cloned().chain([applied]).collect();
            let options = simulator_options(&line.kubernetes, false)?;
            let kubernetes = patched.kubernetes;
            patched = Scenario { kubernetes, ..of_inputs(&inputs, options)?.scenario };
        }
        settings.iter().for_each(|it| it.set_flags(&mut patched));
        let again = solve.outcome_of(patched, &settings).map_err(|why| stop(why.to_string()))?;
        if again != outcome {
            let words = settings_words(&settings);
            return Err(stop(format!("{words}: the patch has another outcome than the change")));
        }
        Ok(Answer { change: Change { settings, outcome: again }, patch })
    }
}

/// Result of a search.
#[derive(Default)]
struct Found {
    /// Smallest changes that meet all wishes.
    met: Vec<Change>,
    tried: usize,
    interrupted: bool,
    front: Vec<Change>,
}

/// Tries combinations from the smallest on, until all of the size of one that meets the wishes were
/// tried, or the user has enough.
fn search(host: &dyn Host, solve: &Solve, workers: usize) -> Found {
    let trials = solve.trials();
    let stop = || host.interrupted();
    let size = |place: usize| trials.get(place).map_or((0, 0), taintlab_core::solve::Trial::size);
    // Place of the first trial that met the wishes.
    let first = AtomicUsize::new(usize::MAX);
    let done = AtomicUsize::new(0);
    let wanted = |place: usize| {
        let first = first.load(Ordering::Relaxed);
        first == usize::MAX || size(place) <= size(first)
    };
    let make = |place: usize| -> Option<Tried> {
        let tried = solve.run(trials.get(place)?, &stop)?;
        if tried.met.is_some() {
            first.fetch_min(place, Ordering::Relaxed);
        }
        host.progress(Some((done.fetch_add(1, Ordering::Relaxed) + 1, trials.len())));
        Some(tried)
    };
    let mut tried = in_pieces(workers, trials.len(), &wanted, &make);
    let interrupted = host.interrupted();
    let smallest = tried.iter().find(|(_, it)| it.met.is_some()).map(|(place, _)| size(*place));
    if let Some(smallest) = smallest {
        tried.retain(|(place, _)| size(*place) <= smallest);
        let count = tried.len();
        let met = tried.into_iter().filter_map(|(_, it)| it.met).collect();
        return Found { met, tried: count, ..Found::default() };
    }
    let mut known = vec![solve.now()];
    let mut listed = 0;
    loop {
        let (open, next) = solve.open(&tried, &known, listed);
        listed = next;
        if open.is_empty() || interrupted {
            break;
        }
        let make = |place: usize| solve.approach(&tried, *open.get(place)?, &stop);
        known.extend(in_pieces(workers, open.len(), &|_| true, &make).into_iter().map(|it| it.1));
        host.progress(Some((tried.len(), tried.len() + open.len())));
    }
    let met = known.iter().filter(|it| it.outcome.is_met()).cloned().collect();
    Found { met, tried: tried.len(), interrupted, front: solve.front(&known) }
}
