//! Tasks that are begun before their turn, beside others.

use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, bail};

use crate::workspace::Workspace;

/// Tasks that run one after the other in processes of their own, until one fails. What they print
/// is kept until it is asked for.
pub(crate) struct Ahead {
    running: Result<JoinHandle<Result<()>>>,
    log: PathBuf,
}

impl Ahead {
    /// Begins `cargo xtask TASK` for each task. If that fails, [`finish`](Self::finish) says so.
    pub(crate) fn start(workspace: &Workspace, tasks: &[&'static str]) -> Self {
        let log = workspace.target_dir().join(format!("{}.log", tasks.join("-")));
        let commands = || {
            fs::create_dir_all(workspace.target_dir())?;
            let out =
                File::create(&log).with_context(|| format!("cannot write `{}`", log.display()))?;
            let program = env::current_exe()?;
            let command = |task: &&'static str| {
                let mut command = workspace.command(&program);
                command.arg(task).stdin(Stdio::null());
                command.stdout(out.try_clone()?).stderr(out.try_clone()?);
                Ok((*task, command))
            };
            tasks.iter().map(command).collect::<Result<Vec<_>>>()
        };
        Self { running: commands().map(|commands| thread::spawn(move || run(commands))), log }
    }

    /// Waits for the tasks, and prints what they printed.
    ///
    /// # Errors
    /// When one could not be started or failed.
    pub(crate) fn finish(self) -> Result<()> {
        let result = self.running?.join().map_err(|_| anyhow!("the tasks were not run"))?;
        print!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        result
    }
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
