//! Tasks that are begun before their turn, beside others.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, bail};

use crate::workspace::Workspace;

/// Tasks that run one after the other, each in a process of its own. What they print is kept until
/// it is asked for.
pub(crate) struct Ahead {
    run: JoinHandle<Result<()>>,
    log: PathBuf,
}

impl Ahead {
    /// Begins `cargo xtask TASK` for each of the tasks. If that fails, [`finish`](Self::finish)
    /// says so.
    pub(crate) fn start(workspace: &Workspace, tasks: &[&'static str]) -> Self {
        let log = workspace.target_dir().join(format!("{}.log", tasks.join("-")));
        let commands = commands(workspace, tasks, &log);
        Self { run: thread::spawn(|| commands.and_then(run)), log }
    }

    /// Waits for the tasks, and prints what they printed.
    ///
    /// # Errors
    /// When one could not be started or failed; those after it are not run then.
    pub(crate) fn finish(self) -> Result<()> {
        let result = self.run.join().map_err(|_| anyhow!("waiting for a task panicked"));
        print!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        result?
    }
}

fn commands(
    workspace: &Workspace,
    tasks: &[&'static str],
    log: &Path,
) -> Result<Vec<(&'static str, Command)>> {
    let out = File::create(log).with_context(|| format!("cannot write `{}`", log.display()))?;
    let mut commands = Vec::new();
    for task in tasks {
        let mut command = workspace.command(env::current_exe()?);
        command.arg(task).stdout(out.try_clone()?).stderr(out.try_clone()?).stdin(Stdio::null());
        commands.push((*task, command));
    }
    Ok(commands)
}

fn run(commands: Vec<(&'static str, Command)>) -> Result<()> {
    for (task, mut command) in commands {
        let status =
            command.status().with_context(|| format!("cannot start `cargo xtask {task}`"))?;
        if !status.success() {
            bail!("`cargo xtask {task}` failed ({status})");
        }
    }
    Ok(())
}
