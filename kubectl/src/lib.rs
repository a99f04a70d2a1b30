//! Runs lines of `kubectl` against a simulation: a line goes in, its output and commands come out.
//!
//! Planning is pure. [`run`] changes nothing; it returns the [`Command`]s that do what the line
//! says, in their order, and the caller applies them at the simulation's current time, so that it
//! can record and undo them. They are tried on a copy first, so that each of them will be accepted;
//! what is refused becomes an error in the API server's words. A request that was made to fail is
//! among the commands nevertheless: it was sent, and counts
//! ([`is_simulated`](taintlab_core::command::CommandError::is_simulated)). A line that fails halfway returns
//! the commands up to there, as `kubectl` itself would have done some of its work.
//!
//! The tables and messages are those of the `kubectl` of the simulated release;
//! [`print`](mod@print) has the tables and pages for who has objects and no simulation. No rule of
//! Kubernetes is here: `taintlab_core` decides what a taint argument means, what an API server
//! refuses and which pods a drain evicts.

mod apply;
mod arguments;
mod complete;
mod cordon;
mod create;
mod delete;
mod describe;
mod events;
mod failure;
mod flags;
mod get;
mod help;
mod inverse;
mod label;
mod objects;
mod patch;
mod path;
pub mod print;
mod resources;
mod rollout;
mod rows;
mod scale;
mod selector;
mod session;
mod table;
mod taint;
mod verbs;
mod words;

use taintlab_core::command::Command;
use taintlab_core::event::Event;
use taintlab_core::simulator::Simulator;

use crate::failure::Failure;
use crate::session::Session;

pub use crate::complete::{Completion, complete};
pub use crate::inverse::command_line_of;

/// What a line is run against.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The cluster, at the time at which the line is typed.
    pub simulator: &'a Simulator,
    /// What happened so far, oldest first: `get events` and `describe` show the Kubernetes Events
    /// of it. Those that are older than an hour are left out, as an API server forgets them.
    pub events: &'a [Event],
    /// The namespace that is meant unless `-n` is given; empty for `default`.
    pub namespace: &'a str,
}

impl<'a> Context<'a> {
    /// A context in the namespace `default`.
    #[must_use]
    pub fn new(simulator: &'a Simulator, events: &'a [Event]) -> Self {
        Self { simulator, events, namespace: "" }
    }
}

/// What came of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What goes to the standard output.
    pub stdout: String,
    /// What goes to the standard error output.
    pub stderr: String,
    /// Both in the order in which they were written, as a terminal shows them.
    pub terminal: String,
    /// 0 if all went well, otherwise 1; then there is a text in `stderr`.
    pub exit_code: u8,
    /// What the line does to the cluster, to be applied in this order at the simulation's current
    /// time. There can be some although the line failed, and those that were made to fail do so once
    /// more.
    pub commands: Vec<Command>,
    /// The number of the drain that the line has begun and that is not done: what it prints from
    /// now on comes as [`EventKind::DrainPrinted`] with this number, once time passes, and its end
    /// as [`EventKind::DrainEnded`]. What it prints at once is in the texts here already, although
    /// it comes as such happenings, too, when the commands are applied.
    ///
    /// [`EventKind::DrainPrinted`]: taintlab_core::event::EventKind::DrainPrinted
    /// [`EventKind::DrainEnded`]: taintlab_core::event::EventKind::DrainEnded
    pub drain: Option<u64>,
}

/// Runs a line such as `kubectl taint nodes worker-1 a=b:NoSchedule`. The word `kubectl` (or `k`)
/// may be left out, a `$` before it is ignored, and an empty line does nothing.
///
/// `stdin` is what `-f -` reads. Unless it is given, it may follow in the line itself, as a here
/// document: `kubectl apply -f - <<EOF`, lines, `EOF`.
///
/// ```
/// use taintlab_core::simulator::Simulator;
/// use taintlab_kubectl::{Context, run};
///
/// let simulator = Simulator::default();
/// let outcome = run(&Context::new(&simulator, &[]), "kubectl get nodes", None);
/// assert_eq!(outcome.stderr, "No resources found\n");
/// ```
#[must_use]
pub fn run(context: &Context<'_>, line: &str, stdin: Option<&str>) -> Outcome {
    let mut session = Session::new(context);
    if let Err(failure) = execute(&mut session, line, stdin) {
        session.fail(&failure);
    }
    session.outcome
}

fn execute(session: &mut Session<'_>, line: &str, stdin: Option<&str>) -> Result<(), Failure> {
    let (line, here) = words::here_document(line)?;
    let words = words::split(line)?;
    let mut words = words.as_slice();
    if let [first, rest @ ..] = words
        && first == "$"
    {
        words = rest;
    }
    if words.is_empty() {
        return Ok(());
    }
    if let [first, rest @ ..] = words
        && matches!(first.as_str(), "kubectl" | "k")
    {
        words = rest;
    }
    session.stdin = stdin.map(str::to_owned).or(here);
    verbs::dispatch(session, words)
}
