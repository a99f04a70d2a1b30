//! Runs beside the present one: conditions to run until, branches, comparisons.

use std::rc::Rc;

use taintlab_core::condition::Condition;
use taintlab_core::event::Event;
use taintlab_core::lanes::LaneSubject;
use taintlab_core::lanes::comparison::{Comparison, Run};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;

use super::lanes::{LaneBar, View, bars, nanos};
use crate::session::{Session, set_release};

/// So many lanes are shown of two runs.
const MOST_LANES: usize = 60;
/// How far two runs go at most where there may be no end.
const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

/// What to do with a condition, given as a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Go forth until it is so.
    Run(String),
    /// Go back to when it came to be so.
    Back(String),
    /// Stop there while time runs.
    Stop(String),
    /// No longer stop there.
    Pass(usize),
}

/// What to do with branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BranchMsg {
    /// Begin one here.
    Fork,
    /// Go on with it.
    Switch(u32),
    /// Call it something else.
    Rename(u32, String),
    /// Delete it.
    Delete(u32),
}

/// What the present timeline is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CompareWith {
    /// Another branch.
    Branch(u32),
    /// The same on another release.
    Release(KubernetesRelease),
    /// The same with another flag of kube-controller-manager: its name and value.
    Flag(String, String),
    /// The same, with other `tolerationSeconds` for failed nodes.
    TolerationSeconds(i64),
}

/// A condition at which time stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Breakpoint {
    /// The condition.
    pub(crate) condition: Condition,
    /// Whether it was so when it was last looked at.
    pub(crate) holds: bool,
}

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compared {
    /// What differs.
    pub(crate) comparison: Comparison,
    /// The lanes that differ, as many as are shown: in both runs.
    pub(crate) lanes: Vec<(LaneSubject, [Vec<LaneBar>; 2])>,
    /// Where they part, in per cent of the width.
    pub(crate) parts_at: Option<f64>,
    /// How far the axis goes.
    pub(crate) end: Timestamp,
}

/// Two runs that are being compared.
pub(crate) struct Comparing {
    names: [String; 2],
    runs: [Session; 2],
    /// How far they go at least.
    reached: Timestamp,
    /// How far they go at most.
    far: Timestamp,
}

impl Comparing {
    /// Begins with the present timeline and another one.
    ///
    /// # Errors
    /// There is no such run; the text says why.
    pub(crate) fn new(session: &Session, with: &CompareWith) -> Result<Self, String> {
        let timeline = session.timeline();
        let (name, start, log) = match with {
            CompareWith::Branch(id) => {
                let branches = session.branches();
                let branch = branches.into_iter().find(|branch| branch.id == *id);
                let branch = branch.ok_or("there is no such branch any more")?;
                (branch.name.to_string(), branch.start, branch.log)
            }
            CompareWith::Release(release) => {
                let start = changed(&timeline.start, |start| set_release(start, *release));
                (format!("Kubernetes {release}"), start, timeline.log.clone())
            }
            CompareWith::Flag(flag, value) => {
                let start = changed(&timeline.start, |start| {
                    let flags = &mut start.kubernetes.controller_manager_flags;
                    flags.insert(flag.clone(), value.clone());
                });
                (format!("--{flag}={value}"), start, timeline.log.clone())
            }
            CompareWith::TolerationSeconds(seconds) => {
                let start =
                    changed(&timeline.start, |start| start.set_toleration_seconds(*seconds));
                (format!("tolerationSeconds {seconds}"), start, timeline.log.clone())
            }
        };
        start.simulator().map_err(|error| error.to_string())?;
        let here = match with {
            CompareWith::Branch(_) => session.branch_name().to_string(),
            CompareWith::Release(_) => {
                format!("Kubernetes {}", session.simulator().config().release)
            }
            CompareWith::Flag(..) | CompareWith::TolerationSeconds(_) => "as it is".to_owned(),
        };
        let reached = session.reached();
        let run = |start, log| {
            let run = session.run_beside(start, log);
            run.ok_or_else(|| "it cannot begin so".to_owned())
        };
        let runs = [run(timeline.start.clone(), timeline.log.clone())?, run(start, log)?];
        Ok(Self { names: [here, name], runs, reached, far: reached.saturating_add(DAY) })
    }

    /// How much of the time both have passed at most is passed, from 0 to 1.
    pub(crate) fn part(&self) -> f64 {
        let passed: f64 = self.runs.iter().map(|run| nanos(run.now())).sum();
        passed / (2.0 * nanos(self.far)).max(1.0)
    }

    /// How far the runs are.
    pub(crate) fn now(&self) -> Timestamp {
        let [a, b] = &self.runs;
        a.now().max(b.now())
    }

    /// Runs on until nothing more happens in both, as long as there is time.
    pub(crate) fn go_on(&mut self, mut has_time: impl FnMut() -> bool) -> Option<Compared> {
        for run in &mut self.runs {
            if !run.run_on(self.far, &mut has_time) {
                return None;
            }
        }
        let until = self.now().max(self.reached);
        let [a, b] = &mut self.runs;
        a.seek(until);
        b.seek(until);
        let [here, name] = &self.names;
        Some(Compared::of([(here, a), (name, b)]))
    }
}

impl Compared {
    fn of(runs: [(&str, &Session); 2]) -> Self {
        let events = runs.map(|(_, session)| session.events());
        let [(a_name, a), (b_name, b)] = runs;
        let [a_events, b_events] = &events;

        let comparison = Comparison::of([run_of(a_name, a, a_events), run_of(b_name, b, b_events)]);
        let changes = runs.map(|(_, session)| session.recorder().last_change().as_nanos());
        let last = changes.into_iter().max().unwrap_or_default().max(1_000_000_000);
        let end = Timestamp::from_nanos(last.saturating_add(last / 12));
        let view = View { first: 0, rows: 0, pixels: 800, from: Timestamp::ZERO, to: end };
        let mut shown: Vec<&LaneSubject> = comparison.subjects.iter().collect();
        // What parts first stands first.
        let first = comparison.divergence.as_ref().map(|it| &it.subject);
        shown.sort_by_key(|subject| Some(*subject) != first);
        let lanes = shown.into_iter().take(MOST_LANES).map(|subject| {
            (subject.clone(), runs.map(|(_, session)| bars(session, subject, view)))
        });
        Self {
            lanes: lanes.collect(),
            parts_at: comparison.divergence.as_ref().map(|it| view.place(it.at)),
            comparison,
            end,
        }
    }
}

fn changed(start: &Rc<Scenario>, change: impl FnOnce(&mut Scenario)) -> Rc<Scenario> {
    let mut start = Scenario::clone(start);
    change(&mut start);
    Rc::new(start)
}

fn run_of<'a>(name: &'a str, session: &'a Session, events: &'a [Event]) -> Run<'a> {
    let (simulator, recorder) = (session.simulator(), session.recorder());
    Run { name, simulator, recorder, events }
}
