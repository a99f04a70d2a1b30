//! Tasks that start before their turn and run beside others.

use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, bail};

use crate::workspace::Workspace;

/// A task that runs in a process of its own. Its output is kept until somebody waits for it.
pub(crate) struct Ahead {
    run: JoinHandle<Result<()>>,
    log: PathBuf,
}

impl Ahead {
    /// Begins `cargo xtask TASK` for each of the tasks, one after the other. If one fails, its
    /// [`finish`](Self::finish) reports it, and those after it do not run.
    pub(crate) fn start<const N: usize>(
        workspace: &Workspace,
        tasks: [&'static str; N],
    ) -> [Self; N] {
        let mut before: Option<mpsc::Receiver<()>> = None;
        tasks.map(|task| {
            let log = workspace.target_dir().join(format!("{task}.log"));
            let command = command(workspace, task, &log);
            let (done, next) = mpsc::channel();
            let before = before.replace(next);
            let run = thread::spawn(move || {
                if before.is_some_and(|before| before.recv().is_err()) {
                    bail!("`cargo xtask {task}` was not run: the task before it failed");
                }
                run(task, command?)?;
                // Nobody waits for the last task.
                let _ = done.send(());
                Ok(())
            });
            Self { run, log }
        })
    }

    /// Waits for the task, and prints its output.
    ///
    /// # Errors
    /// The task, or one before it, could not be started or failed.
    pub(crate) fn finish(self) -> Result<()> {
        let result = self.run.join().map_err(|_| anyhow!("waiting for a task panicked"));
        print!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        result?
    }
}

fn command(workspace: &Workspace, task: &str, log: &PathBuf) -> Result<Command> {
    let out = File::create(log).with_context(|| format!("cannot write `{}`", log.display()))?;
    let mut command = workspace.command(env::current_exe()?);
    command.arg(task).stdout(out.try_clone()?).stderr(out).stdin(Stdio::null());
    Ok(command)
}

fn run(task: &str, mut command: Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `cargo xtask {task}`"))?;
    if !status.success() {
        bail!("`cargo xtask {task}` failed ({status})");
    }
    Ok(())
}
