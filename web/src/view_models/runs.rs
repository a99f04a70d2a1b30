//! Runs beside the present one: conditions to run until, branches, comparisons.

use std::collections::BTreeMap;
use std::rc::Rc;

use taintlab_core::condition::Condition;
use taintlab_core::event::Event;
use taintlab_core::lanes::LaneSubject;
use taintlab_core::lanes::comparison::{Comparison, Run};
use taintlab_core::order::Order;
use taintlab_core::order::tree;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;

use super::lanes::{LaneBar, View, bars, nanos, ticks};
use crate::session::{Session, set_release};

/// Lanes of two runs that are shown at most.
const MOST_LANES: usize = 60;
/// The time ahead that two runs go at most, where there may be no end.
const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

/// An action on a condition, given as a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Go forward until the condition holds.
    Run(String),
    /// Go back to the moment when it became true.
    Back(String),
    /// Stop when it becomes true, while time runs.
    Stop(String),
    /// Remove the breakpoint at this index.
    Pass(usize),
}

/// A message about branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BranchMsg {
    /// Begin a branch here.
    Fork,
    /// Switch to a branch.
    Switch(u32),
    /// Rename a branch.
    Rename(u32, String),
    /// Delete a branch.
    Delete(u32),
}

/// The sides of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompareWith {
    /// Both sides, A and B.
    pub(crate) sides: [Side; 2],
}

/// One side of a comparison: its differences from the present timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Side {
    /// Another branch.
    pub(crate) branch: Option<u32>,
    /// Another release.
    pub(crate) release: Option<KubernetesRelease>,
    /// Other flags of kube-controller-manager: names and values.
    pub(crate) flags: BTreeMap<String, String>,
    /// Other `tolerationSeconds` for failed nodes.
    pub(crate) toleration_seconds: Option<i64>,
}

/// The flag with feature gates as its value, as everywhere in Kubernetes.
const GATES: &str = "feature-gates";

impl Side {
    /// Reads flags, one after the other or line by line: `--node-monitor-grace-period=20s`.
    ///
    /// # Errors
    /// A word is not a flag with a value; the text says which.
    pub(crate) fn read_flags(text: &str) -> Result<BTreeMap<String, String>, String> {
        let read = |word: &str| {
            let flag = word.trim_start_matches('-').split_once('=');
            let flag = flag.filter(|(name, value)| !name.is_empty() && !value.is_empty());
            flag.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| {
                format!(
                    "`{word}` is not a flag with its value, such as \
                     --node-monitor-grace-period=20s"
                )
            })
        };
        text.split_whitespace().map(read).collect::<Result<Vec<_>, _>>().map(tree)
    }

    /// The session that runs this side from the beginning.
    fn run(&self, session: &Session) -> Result<Session, String> {
        let timeline = session.timeline();
        let (start, log) = match self.branch {
            None => (timeline.start.clone(), timeline.log.clone()),
            Some(id) => {
                let branches = session.branches();
                let branch = branches.into_iter().find(|branch| branch.id == id);
                let branch = branch.ok_or("there is no such branch any more")?;
                (branch.start, branch.log)
            }
        };
        let start = self.applied_to(start)?;
        start.simulator().map_err(|error| error.to_string())?;
        let run = session.run_beside(start, log);
        run.ok_or_else(|| "the run cannot start with these settings".to_owned())
    }

    fn applied_to(&self, start: Rc<Scenario>) -> Result<Rc<Scenario>, String> {
        if *self == (Self { branch: self.branch, ..Self::default() }) {
            return Ok(start);
        }
        let mut start = Scenario::clone(&start);
        if let Some(release) = self.release {
            set_release(&mut start, release);
        }
        for (name, value) in &self.flags {
            if name == GATES {
                start.kubernetes.feature_gates.extend(read_gates(value)?);
            } else {
                let flags = &mut start.kubernetes.controller_manager_flags;
                flags.insert(name.clone(), value.clone());
            }
        }
        if let Some(seconds) = self.toleration_seconds {
            start.set_toleration_seconds(seconds);
        }
        Ok(Rc::new(start))
    }

    /// The name of this side beside the other one: both names tell the differences of either.
    fn name(&self, other: &Self, session: &Session, run: &Session) -> String {
        let mut parts = Vec::new();
        if self.branch.or(other.branch).is_some() {
            let branches = session.branches();
            let branch = branches.iter().find(|branch| Some(branch.id) == self.branch);
            let here = session.branch_name();
            parts.push(branch.map_or(here, |branch| branch.name.clone()).to_string());
        }
        if self.release.or(other.release).is_some() {
            parts.push(format!("Kubernetes {}", run.simulator().config().release));
        }
        parts.extend(self.flags.iter().map(|(name, value)| format!("--{name}={value}")));
        if let Some(seconds) = self.toleration_seconds {
            parts.push(format!("tolerationSeconds {seconds}"));
        }
        if parts.is_empty() { "as it is".to_owned() } else { parts.join(", ") }
    }
}

/// Feature gates in the form of the flag: `A=true,B=false`.
fn read_gates(text: &str) -> Result<Vec<(String, bool)>, String> {
    let read = |gate: &str| {
        let (name, on) = gate.split_once('=')?;
        Some((name.to_owned(), on.parse().ok()?))
    };
    let gates = text.split(',').map(|gate| {
        let error = || format!("--{GATES}: `{gate}` is not a gate that is set, such as Name=true");
        read(gate).ok_or_else(error)
    });
    gates.collect()
}

/// A condition at which time stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Breakpoint {
    /// The condition.
    pub(crate) condition: Condition,
    /// Whether it held when it was last looked at.
    pub(crate) holds: bool,
}

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compared {
    /// The differences.
    pub(crate) comparison: Comparison,
    /// The lanes that differ, as many as are shown: in both runs.
    pub(crate) lanes: Vec<(LaneSubject, [Vec<LaneBar>; 2])>,
    /// The place where they part, in per cent of the width.
    pub(crate) parts_at: Option<f64>,
    /// Moments on the axis, with their places in per cent of the width.
    pub(crate) ticks: Vec<(f64, String)>,
    /// The end of the axis.
    pub(crate) end: Timestamp,
}

/// Two runs that are being compared.
pub(crate) struct Comparing {
    names: [String; 2],
    runs: [Session; 2],
    /// The time that they go at least.
    reached: Timestamp,
    /// The time that they go at most.
    far: Timestamp,
}

impl Comparing {
    /// Begins to run both sides.
    ///
    /// # Errors
    /// A side cannot be run; the text says which, and why.
    pub(crate) fn new(session: &Session, with: &CompareWith) -> Result<Self, String> {
        let [a, b] = &with.sides;
        let runs = [
            a.run(session).map_err(|error| format!("A: {error}"))?,
            b.run(session).map_err(|error| format!("B: {error}"))?,
        ];
        let [a_run, b_run] = &runs;
        let names = [a.name(b, session, a_run), b.name(a, session, b_run)];
        let reached = session.reached();
        Ok(Self { names, runs, reached, far: reached.saturating_add(DAY) })
    }

    /// The part that is done, from 0 to 1, of the longest time that both may take.
    pub(crate) fn part(&self) -> f64 {
        let passed: f64 = self.runs.iter().map(|run| nanos(run.now())).sum();
        passed / (2.0 * nanos(self.far)).max(1.0)
    }

    /// The time of the run that is further.
    pub(crate) fn now(&self) -> Timestamp {
        let [a, b] = &self.runs;
        a.now().max(b.now())
    }

    /// Runs both on until nothing more happens, as long as there is time.
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
        // The object that differs first stands first.
        let first = comparison.divergence.as_ref().map(|it| &it.subject);
        shown.order_by_key(|subject| Some(*subject) != first);
        let lanes = shown.into_iter().take(MOST_LANES).map(|subject| {
            (subject.clone(), runs.map(|(_, session)| bars(session, subject, view)))
        });
        Self {
            lanes: lanes.collect(),
            parts_at: comparison.divergence.as_ref().map(|it| view.place(it.at)),
            comparison,
            ticks: ticks(view),
            end,
        }
    }
}

fn run_of<'a>(name: &'a str, session: &'a Session, events: &'a [Event]) -> Run<'a> {
    let (simulator, recorder) = (session.simulator(), session.recorder());
    Run { name, simulator, recorder, events }
}

#[cfg(test)]
mod tests {
    use taintlab_manifest::{ImportOptions, read_scenario};

    use super::*;
    use crate::samples;

    fn session(name: &str) -> Session {
        let (_, text) = samples::all().find(|(known, _)| *known == name).unwrap();
        let mut none = |_: &str| Err("there are no files".to_owned());
        let read = read_scenario(text, name, ImportOptions::default(), &mut none);
        let mut session = Session::new(read.scenario.unwrap()).unwrap();
        session.run_to_end();
        session
    }

    fn flags(text: &str) -> Side {
        Side { flags: Side::read_flags(text).unwrap(), ..Side::default() }
    }

    fn compare(session: &Session, sides: [Side; 2]) -> Result<Compared, String> {
        let mut comparing = Comparing::new(session, &CompareWith { sides })?;
        loop {
            if let Some(compared) = comparing.go_on(|| true) {
                return Ok(compared);
            }
        }
    }

    #[test]
    fn two_sets_of_flags_are_compared() {
        let session = session("why-345-seconds");
        let sides = [
            flags("--node-monitor-grace-period=20s\n--node-monitor-period=2s"),
            flags("node-monitor-grace-period=60s"),
        ];
        let compared = compare(&session, sides).unwrap();
        let [a, b] = &compared.comparison.names;
        assert_eq!(a, "--node-monitor-grace-period=20s, --node-monitor-period=2s");
        assert_eq!(b, "--node-monitor-grace-period=60s");
        let markdown = compared.comparison.to_markdown();
        assert!(markdown.contains(a) && markdown.contains(b), "{markdown}");
        // Neither is the run that is on the page, whose node is Unknown at 40 s.
        let parts_at = compared.comparison.divergence.as_ref().unwrap().at;
        assert!((20.0..24.0).contains(&parts_at.as_secs_f64()), "{parts_at}");
        assert!(compared.ticks.len() > 2, "{:?}", compared.ticks);
    }

    #[test]
    fn two_toleration_seconds_are_compared() {
        let session = session("why-345-seconds");
        let of = |seconds| Side { toleration_seconds: Some(seconds), ..Side::default() };
        let compared = compare(&session, [of(30), of(300)]).unwrap().comparison;
        assert_eq!(compared.names, ["tolerationSeconds 30", "tolerationSeconds 300"]);
        let (_, [a, b]) = compared.evictions.first().unwrap();
        assert_eq!(
            b.unwrap().since_zero() - a.unwrap().since_zero(),
            std::time::Duration::from_secs(270)
        );
        let markdown = compared.to_markdown();
        for name in &compared.names {
            assert!(markdown.contains(name), "{name}: {markdown}");
        }
    }

    #[test]
    fn two_releases_are_named_after_what_runs() {
        let session = session("why-345-seconds");
        let release = KubernetesRelease::parse("1.35").unwrap();
        let newer = Side { release: Some(release), ..Side::default() };
        let compared = compare(&session, [newer.clone(), Side::default()]).unwrap().comparison;
        assert_eq!(compared.names, ["Kubernetes 1.35", "Kubernetes 1.31"]);
        let compared = compare(&session, [newer.clone(), newer]).unwrap().comparison;
        assert_eq!(compared.divergence, None);
    }

    #[test]
    fn errors_say_what_would_be_valid() {
        let session = session("why-345-seconds");
        for (text, wanted) in [
            ("--nope=1", "B: unknown flag: --nope; the flags known here are --"),
            ("--node-monitor-grace-period=20", "B: "),
            ("--feature-gates=Nope=true", "Nope"),
            ("--feature-gates=Nope", "such as Name=true"),
        ] {
            let error = compare(&session, [Side::default(), flags(text)]).err().unwrap();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        let error = Side::read_flags("--node-monitor-period").unwrap_err();
        assert!(error.contains("such as --node-monitor-grace-period=20s"), "{error}");
    }

    #[test]
    fn gates_are_a_flag() {
        let session = session("why-345-seconds");
        let side = flags("--feature-gates=TaintBasedEvictions=true");
        let start = session.timeline().start.clone();
        let start = side.applied_to(start).unwrap();
        assert_eq!(start.kubernetes.feature_gates.get("TaintBasedEvictions"), Some(&true));
        assert!(!start.kubernetes.controller_manager_flags.contains_key(GATES));
    }
}
