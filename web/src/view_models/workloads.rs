//! The workloads: their present and their past.

use std::rc::Rc;

use taintlab_core::api::{Workload, WorkloadKey};
use taintlab_core::simulator::{Availability, Readiness, Simulator, WorkloadView};
use taintlab_core::time::Timestamp;

use crate::session::Session;

/// Workloads that are shown at most; more are only counted.
const MOST: usize = 80;
/// The length of an empty axis.
const SHORTEST: Timestamp = Timestamp::from_secs(60);

/// A workload over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Track {
    /// The present state.
    pub(crate) view: WorkloadView,
    /// The availability until now.
    pub(crate) availability: Availability,
    /// The availability in the run with which it is compared.
    pub(crate) baseline: Option<Availability>,
    /// The time that its pods take to start, if it says so.
    pub(crate) start_up: Option<String>,
}

/// All workloads that no other workload owns, by key; if they are too many, those that lack pods
/// come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkloadsModel {
    /// The workloads that are shown.
    pub(crate) tracks: Vec<Rc<Track>>,
    /// The number of further workloads.
    pub(crate) more: usize,
    /// The end of the axis of time.
    pub(crate) end: Timestamp,
    /// The time of this view.
    pub(crate) now: Timestamp,
    /// Whether there is a run to compare with.
    pub(crate) has_baseline: bool,
}

impl WorkloadsModel {
    /// The workloads of a session; none unless their controllers run.
    pub(crate) fn new(session: &Session, baseline: &[Availability]) -> Option<Self> {
        let simulator = session.simulator();
        if !simulator.config().control_plane {
            return None;
        }
        let cluster = simulator.cluster();
        let of_nobody = || cluster.workloads().filter(|(_, workload)| !workload.is_owned());
        let mut shown: Vec<_> = of_nobody().take(MOST + 1).collect();
        let mut more = 0;
        if shown.len() > MOST {
            more = of_nobody().count() - MOST;
            // Of many, those that lack pods must not be among the others.
            let lacking = Readiness::lacking(simulator);
            let known = lacking.filter_map(|key| Some((key, cluster.get_workload(key)?)));
            let first = known.filter(|(_, workload)| !workload.is_owned());
            let others = of_nobody().filter(|(key, _)| !Readiness::lacks(simulator, key));
            shown = first.chain(others).take(MOST).collect();
        }
        let tracks: Vec<_> = shown
            .into_iter()
            .filter_map(|(key, workload)| track(simulator, key, workload, baseline))
            .map(|mut track| {
                // Only the panel of a single workload lists them.
                track.view.pods.clear();
                Rc::new(track)
            })
            .collect();
        let last = baseline.iter().map(|run| run.until).max().unwrap_or_default();
        let end = session.reached().max(last).max(SHORTEST);
        Some(Self { tracks, more, end, now: session.now(), has_baseline: !baseline.is_empty() })
    }

    /// The run, for later runs to be compared with.
    pub(crate) fn run(&self) -> Vec<Availability> {
        self.tracks.iter().map(|track| track.availability.clone()).collect()
    }
}

/// One workload over time.
pub(crate) fn track(
    simulator: &Simulator,
    key: &WorkloadKey,
    workload: &Workload,
    baseline: &[Availability],
) -> Option<Track> {
    let start_up = workload.start_up_time().ok().flatten();
    Some(Track {
        view: simulator.workload_view(key)?,
        availability: simulator.availability(key)?,
        baseline: baseline.iter().find(|run| run.workload == *key).cloned(),
        start_up: start_up.map(crate::text::span),
    })
}
