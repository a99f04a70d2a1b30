//! A running line: its output and its changes so far.

use taintlab_core::api::{DeviceObject, Node, Pod, Workload};
use taintlab_core::command::{Command, CommandError};
use taintlab_core::event::EventKind;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Time;
use taintlab_manifest::{Dropped, redact_console_command};

use crate::failure::Failure;
use crate::view::View;
use crate::{Context, Outcome};

/// The state of a running line.
pub(crate) struct Session<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) outcome: Outcome,
    pub(crate) stdin: Option<String>,
    /// The namespace in force, after `-n`.
    pub(crate) namespace: String,
    /// A copy of the cluster with the line's changes so far; made at the first change.
    scratch: Option<Box<Simulator>>,
}

/// The mode of `--dry-run`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DryRun {
    /// Changes are made.
    #[default]
    No,
    /// Nothing is sent.
    Client,
    /// The API server checks but stores nothing.
    Server,
}

impl DryRun {
    /// The words that follow each message.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::No => "",
            Self::Client => " (dry run)",
            Self::Server => " (server dry run)",
        }
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(context: &'a Context<'a>) -> Self {
        let namespace = if context.namespace.is_empty() { "default" } else { context.namespace };
        Self {
            context,
            outcome: Outcome::default(),
            stdin: None,
            namespace: namespace.to_owned(),
            scratch: None,
        }
    }

    /// The cluster with the line's changes so far.
    pub(crate) fn simulator(&self) -> &Simulator {
        self.scratch.as_deref().unwrap_or(self.context.simulator)
    }

    pub(crate) fn release(&self) -> KubernetesRelease {
        self.context.simulator.config().release
    }

    /// The current wall-clock time.
    pub(crate) fn now(&self) -> Time {
        self.context.simulator.wall_clock(self.context.simulator.now())
    }

    /// The release and the time for which objects are printed.
    pub(crate) fn view(&self) -> View {
        View { release: self.release(), now: self.now() }
    }

    /// Prints a line to the standard output.
    pub(crate) fn print(&mut self, line: impl AsRef<str>) {
        self.print_text(line.as_ref());
        self.print_text("\n");
    }

    /// Prints a text to the standard output.
    pub(crate) fn print_text(&mut self, text: &str) {
        self.outcome.stdout.push_str(text);
        self.outcome.terminal.push_str(text);
    }

    /// Prints a line to the standard error output.
    pub(crate) fn warn(&mut self, line: impl AsRef<str>) {
        for out in [&mut self.outcome.stderr, &mut self.outcome.terminal] {
            out.push_str(line.as_ref());
            out.push('\n');
        }
    }

    /// Ends the line with an error.
    pub(crate) fn fail(&mut self, failure: &Failure) {
        self.warn(failure.text());
        self.outcome.exit_code = 1;
    }

    /// Begins a drain, and prints its first output.
    pub(crate) fn drain(&mut self, command: Command) -> Result<(), Failure> {
        // Events from before this line are not news.
        let mut simulator = match self.scratch.take() {
            Some(simulator) => simulator,
            None => Box::new(self.context.simulator.clone()),
        };
        simulator.drain_events();
        self.scratch = Some(simulator);
        self.change(DryRun::No, command)?;
        let events = self.scratch.as_mut().map(|s| s.drain_events()).unwrap_or_default();
        for event in events {
            if let EventKind::DrainStarted { drain } = event.what {
                self.outcome.drain = Some(drain);
            } else if let EventKind::DrainPrinted { is_error, line, .. } = event.what {
                if is_error { self.warn(line) } else { self.print(line) }
            } else if let EventKind::DrainEnded { failed, .. } = event.what {
                self.outcome.drain = None;
                self.outcome.exit_code = u8::from(failed);
            }
        }
        Ok(())
    }

    /// Warns about parts of objects that were dropped.
    pub(crate) fn warn_of_dropped(&mut self, dropped: Dropped) {
        if !dropped.is_empty() {
            self.warn(format!("Warning: not kept, since no simulation reads it: {dropped}"));
        }
    }

    /// Drops from a command what the engine does not read, except what the object already has.
    fn redact(&mut self, mut command: Command) -> Result<Command, Failure> {
        let live = self.live(&command);
        let dropped =
            redact_console_command(&mut command, live.as_ref()).map_err(Failure::plain)?;
        self.warn_of_dropped(dropped);
        Ok(command)
    }

    /// The command that would write the updated object as it is now.
    fn live(&self, update: &Command) -> Option<Command> {
        let cluster = self.simulator().cluster();
        if let Command::UpdateNode(node) = update {
            let node = cluster.get_node(&node.metadata.name)?;
            return Some(Command::UpdateNode(Node::clone(node)));
        }
        if let Command::UpdatePod(pod) = update {
            return Some(Command::UpdatePod(Pod::clone(cluster.get_pod(&pod.key())?)));
        }
        if let Command::UpdateDeviceObject(object) = update {
            let object = cluster.devices()?.object(&object.kind, &object.key())?;
            return Some(Command::UpdateDeviceObject(Box::new(DeviceObject::clone(object))));
        }
        let Command::UpdateWorkload(workload) = update else { return None };
        let workload = cluster.get_workload(&workload.key())?;
        Some(Command::UpdateWorkload(Box::new(Workload::clone(workload))))
    }

    /// Changes the cluster, if the API server accepts the command.
    pub(crate) fn change(&mut self, dry_run: DryRun, command: Command) -> Result<(), Failure> {
        if dry_run == DryRun::Client {
            return Ok(());
        }
        let command = self.redact(command)?;
        let mut simulator = match self.scratch.take() {
            Some(simulator) => simulator,
            None => Box::new(self.context.simulator.clone()),
        };
        let now = simulator.now();
        let result = simulator.handle_command(now, command.clone());
        // A dry run on the server changes nothing, so its copy is dropped.
        if dry_run == DryRun::No {
            self.scratch = Some(simulator);
            // A request that was made to fail was sent, and counts.
            if result.as_ref().err().is_none_or(CommandError::is_simulated) {
                self.outcome.commands.push(command);
            }
        }
        Ok(result?)
    }
}
