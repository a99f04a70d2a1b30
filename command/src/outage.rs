//! `taintlab smallest-outage`: the fewest faults that take a workload to zero ready pods, or a zone
//! out of `Normal`.

use serde::Serialize;
use taintlab_core::outage::{
    Goal, MOST_FAULTS, Outage, OutageFaultKind, OutageGap, OutageOptions, OutageSearch, Reached,
};
use taintlab_core::release::KubernetesRelease;
use taintlab_manifest::write_scenario;
use taintlab_words::outage::{OutageText, outage_markdown, outage_terminal};

use crate::embed::playground_link;
use crate::host::Host;
use crate::json;
use crate::line::{OutageLine, OutageOptions as Line, PluginOutage};
use crate::options::{moment, one_of, one_output, whole};
use crate::plan::start_up_note;
use crate::reading::{files_of, read_inputs, warn};
use crate::report::{Cluster, cluster_in, current_cluster, stop_of};
use crate::run::tell;
use crate::stop::{Done, FAILED, OK, Stop};
use crate::threads::{in_threads, threads};

/// Runs that are begun together for each thread: the first that reaches the goal ends the search.
const AT_A_TIME: usize = 8;
/// Runs of a search unless given.
const MOST_RUNS: usize = 20_000;

/// The answer as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    release: KubernetesRelease,
    goal: &'a Goal,
    most_faults: usize,
    /// Times between faults that come one after the other.
    gaps: &'a [OutageGap],
    /// Number of outages that were tried.
    tried: usize,
    /// Whether no smaller outage, and none before it in the order, reaches the goal.
    is_complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'a Reached>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'a str>,
}

pub(crate) fn outage(host: &dyn Host, line: &OutageLine) -> Done<u8> {
    let asked = Asked::of(line.workload.as_deref(), &line.options)?;
    let files = files_of(&line.filename, "smallest-outage: --filename")?;
    let inputs = read_inputs(host, files, &line.options.apply.apply)?;
    let from = files.first().map_or("-", String::as_str);
    asked.answer(host, cluster_in(host, &inputs, from, &line.options.kubernetes)?)
}

/// `kubectl taintlab smallest-outage`: the cluster of the current context.
pub(crate) fn outage_cluster(host: &dyn Host, line: &PluginOutage) -> Done<u8> {
    let options = &line.options;
    let asked = Asked::of(line.workload.as_deref(), options)?;
    let (kubernetes, apply) = (&options.kubernetes, &options.apply);
    let (cluster, ..) = current_cluster(host, &line.connection, kubernetes, apply)?;
    asked.answer(host, cluster)
}

/// The workload or zone that is to fall.
enum Asks<'l> {
    Workload(&'l str),
    Zone(&'l str),
}

/// Request of a command line.
struct Asked<'l> {
    line: &'l Line,
    asks: Asks<'l>,
    options: OutageOptions,
    most_faults: usize,
    most_runs: usize,
    workers: Option<usize>,
}

/// Outcome of a search.
struct Searched {
    found: Option<Reached>,
    tried: usize,
    is_complete: bool,
}

impl<'l> Asked<'l> {
    fn of(workload: Option<&'l str>, line: &'l Line) -> Done<Self> {
        let outputs =
            [("json", line.json), ("markdown", line.markdown), ("scenario", line.scenario)];
        one_output(&outputs)?;
        let asks = match (workload, line.zone.as_deref()) {
            (Some(workload), None) => Asks::Workload(workload),
            (None, Some(zone)) => Asks::Zone(zone),
            (None, None) => {
                let why = "smallest-outage: of which workload, for example deployment/shop/web, or of \
                    which --zone?";
                return Err(Stop::usage(why));
            }
            (Some(_), Some(_)) => {
                let why = "smallest-outage: expected a workload or a --zone, found both";
                return Err(Stop::usage(why));
            }
        };
        let most_faults = whole("--most-faults", line.most_faults.as_ref(), 1)?.unwrap_or(3);
        if most_faults > MOST_FAULTS {
            let why = format!("--most-faults: expected 1 to {MOST_FAULTS}, found `{most_faults}`");
            return Err(Stop::usage(why));
        }
        let defaults = OutageOptions::default();
        let horizon = line.horizon.as_ref().map(|text| moment("--horizon", text)).transpose()?;
        Ok(Self {
            line,
            asks,
            options: OutageOptions {
                kinds: kinds_of(&line.faults)?,
                horizon: horizon.unwrap_or(defaults.horizon),
                ..defaults
            },
            most_faults,
            most_runs: whole("--most-runs", line.most_runs.as_ref(), 1)?.unwrap_or(MOST_RUNS),
            workers: whole("--workers", line.workers.as_ref(), 0)?,
        })
    }

    fn answer(self, host: &dyn Host, cluster: Cluster) -> Done<u8> {
        let Self { line, asks, options, most_faults, most_runs, workers } = self;
        let Cluster { scenario, warnings, imported } = cluster;
        warn(host, &warnings);
        let goal = |simulator: &_| match asks {
            Asks::Workload(name) => Goal::workload(simulator, name),
            Asks::Zone(name) => Goal::zone(simulator, name),
        };
        let search = OutageSearch::new(scenario, goal, options)
            .map_err(|error| stop_of("smallest-outage", &error, &line.kubernetes))?;
        tell(host, &imported, line.kubernetes.release.as_deref(), "");
        let searched = find(host, &search, most_faults, most_runs, threads(host, workers));
        let Searched { found, tried, is_complete } = &searched;
        if line.scenario {
            let Some(reached) = found else {
                let why = format!("error: no outage of {} was found", search.goal());
                return Err(Stop::failed(why));
            };
            host.out(&write_scenario(&search.scenario_of(&reached.faults)));
            return Ok(OK);
        }
        let mut notes = start_up_note(search.start_up());
        let link =
            line.playground.as_deref().zip(found.as_ref()).and_then(|(playground, found)| {
                let scenario = search.scenario_of(&found.faults);
                playground_link(playground, &scenario, search.begins_at(), &mut notes)
            });
        let text = if line.json {
            json::line(&Written {
                release: search.release(),
                goal: search.goal(),
                most_faults,
                gaps: search.gaps(),
                tried: *tried,
                is_complete: *is_complete,
                found: found.as_ref(),
                link: link.as_deref(),
            }) + "\n"
        } else {
            let text = OutageText {
                goal: search.goal(),
                found: found.as_ref(),
                most_faults,
                tried: *tried,
                is_complete: *is_complete,
                link: link.as_deref().unwrap_or_default(),
                notes: &notes,
            };
            if line.markdown {
                outage_markdown(&text)
            } else {
                outage_terminal(&text, host.style())
            }
        };
        host.out(&text);
        let fails = found.is_some() || !is_complete;
        Ok(if fails && line.fail { FAILED } else { OK })
    }
}

/// Tries outages from the smallest on until one reaches the goal, none is left, there were enough
/// runs, or the user has enough.
fn find(
    host: &dyn Host,
    search: &OutageSearch,
    most_faults: usize,
    most_runs: usize,
    workers: usize,
) -> Searched {
    let mut tried = 0;
    for faults in 0..=most_faults {
        let level = search.level(faults);
        let planned = tried + level.len();
        let mut next = 0;
        while next < level.len() {
            let more = (workers * AT_A_TIME).min(most_runs.saturating_sub(tried));
            let batch: Vec<Outage> =
                (next..level.len()).take(more).filter_map(|number| level.get(number)).collect();
            let results =
                in_threads(host, &batch, (tried, planned), workers, |outage| search.run(outage));
            next += batch.len();
            let whole = !batch.is_empty() && results.len() == batch.len();
            let found = results.iter().position(Option::is_some);
            tried += found.map_or(results.len(), |place| place + 1);
            if found.is_some() || !whole {
                host.progress(None);
                let found = results.into_iter().flatten().next();
                return Searched { found, tried, is_complete: whole };
            }
        }
    }
    host.progress(None);
    Searched { found: None, tried, is_complete: true }
}

fn kinds_of(text: &str) -> Done<Vec<OutageFaultKind>> {
    let names = OutageFaultKind::ALL.map(OutageFaultKind::as_str);
    let chosen = text.split(',').filter(|name| !name.is_empty());
    let chosen: Vec<&str> =
        chosen.map(|name| one_of("--faults", name, &names)).collect::<Done<_>>()?;
    let all = OutageFaultKind::ALL.into_iter();
    Ok(all.filter(|kind| chosen.is_empty() || chosen.contains(&kind.as_str())).collect())
}
