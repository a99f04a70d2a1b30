//! A task that is begun before its turn, beside others.

use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// A task that runs in a process of its own. What it prints is kept until it is asked for.
pub(crate) struct Ahead {
    task: &'static str,
    started: Result<Child>,
    log: PathBuf,
}

impl Ahead {
    /// Begins `cargo xtask TASK`. If that fails, [`finish`](Self::finish) says so.
    pub(crate) fn start(workspace: &Workspace, task: &'static str) -> Self {
        let log = workspace.target_dir().join(format!("{task}.log"));
        let start = || {
            let out =
                File::create(&log).with_context(|| format!("cannot write `{}`", log.display()))?;
            let mut command = workspace.command(env::current_exe()?);
            command.arg(task).stdout(out.try_clone()?).stderr(out).stdin(Stdio::null());
            command.spawn().with_context(|| format!("cannot start `cargo xtask {task}`"))
        };
        Self { task, started: start(), log }
    }

    /// Waits for the task, and prints what it printed.
    ///
    /// # Errors
    /// When it could not be started or failed.
    pub(crate) fn finish(self) -> Result<()> {
        let status = self.started?.wait()?;
        print!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        if !status.success() {
            bail!("`cargo xtask {}` failed ({status})", self.task);
        }
        Ok(())
    }
}
