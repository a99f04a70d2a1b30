//! Runs lines of `kubectl` against a simulation: a line goes in, its output and commands come out.
//!
//! Planning is pure. [`run`] changes nothing: it returns the [`Command`]s of the line in their
//! order, and the caller applies them at the simulation's current time, so that it can record and
//! undo them. They are tried on a copy first, so each of them will be accepted; a refusal becomes
//! an error in the API server's words. A request that was made to fail is still among the commands:
//! it was sent, and counts ([`is_simulated`](taintlab_core::command::CommandError::is_simulated)).
//! A line that fails halfway returns the commands up to there, as `kubectl` itself would have done
//! part of its work.
//!
//! Tables and messages are those of the `kubectl` of the simulated release; [`print`](mod@print)
//! offers the tables and pages to callers that have objects and no simulation. This crate holds no
//! rule of Kubernetes: `taintlab_core` decides what a taint argument means, what an API server
//! refuses and which pods a drain evicts.
//!
//! ```
//! use taintlab_core::api::Node;
//! use taintlab_core::simulator::{Simulator, SimulatorConfig};
//! use taintlab_kubectl::{Context, run};
//!
//! let mut node = Node::default();
//! node.metadata.name = "worker-1".into();
//! let simulator = Simulator::new(SimulatorConfig::default(), [node], [])?;
//! let line = "kubectl taint nodes worker-1 example.com/maintenance:NoExecute";
//! let outcome = run(&Context::new(&simulator, &[]), line, None);
//! assert_eq!(outcome.stdout, "node/worker-1 tainted\n");
//! assert_eq!(outcome.commands.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod api_resources;
mod apply;
mod arguments;
mod commands;
mod complete;
mod cordon;
mod create;
mod delete;
mod describe;
mod events;
mod failure;
mod fields;
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
mod storage;
mod table;
mod taint;
mod verb;
mod verbs;
mod view;
mod words;

use taintlab_core::command::Command;
use taintlab_core::event::Event;
use taintlab_core::simulator::Simulator;

use crate::failure::Failure;
use crate::session::Session;

pub use crate::complete::{Completion, complete};
pub use crate::inverse::command_line_of;

/// The cluster that a line runs against.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The cluster at the time at which the line is typed.
    pub simulator: &'a Simulator,
    /// Events so far, oldest first: `get events` and `describe` show the Kubernetes Events among
    /// them. Those older than an hour are left out, as an API server forgets them.
    pub events: &'a [Event],
    /// The namespace of a line without `-n`; empty for `default`.
    pub namespace: &'a str,
}

impl<'a> Context<'a> {
    /// A context in the namespace `default`.
    #[must_use]
    pub fn new(simulator: &'a Simulator, events: &'a [Event]) -> Self {
        Self { simulator, events, namespace: "" }
    }
}

/// The outcome of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Text for the standard output.
    pub stdout: String,
    /// Text for the standard error output.
    pub stderr: String,
    /// Both in the order in which they were written, as a terminal shows them.
    pub terminal: String,
    /// 0 on success, otherwise 1; then `stderr` has a text.
    pub exit_code: u8,
    /// Changes to the cluster, to apply in this order at the simulation's current time. A failed
    /// line can have some too, and commands that were made to fail will fail once more.
    pub commands: Vec<Command>,
    /// The number of the drain that the line has begun and that goes on. Its further output arrives
    /// as [`EventKind::DrainPrinted`] with this number, once time passes, and its end as
    /// [`EventKind::DrainEnded`]. Its output so far is already in the texts here, and is repeated
    /// as such events when the commands are applied.
    ///
    /// [`EventKind::DrainPrinted`]: taintlab_core::event::EventKind::DrainPrinted
    /// [`EventKind::DrainEnded`]: taintlab_core::event::EventKind::DrainEnded
    pub drain: Option<u64>,
}

/// Runs a line such as `kubectl taint nodes worker-1 a=b:NoSchedule`. The word `kubectl` (or `k`)
/// may be left out, a `$` before it is ignored, and an empty line does nothing.
///
/// `stdin` is the text that `-f -` reads. If it is absent, the text may follow in the line itself,
/// as a here document: `kubectl apply -f - <<EOF`, lines, `EOF`.
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
