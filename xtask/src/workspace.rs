//! The repository, and how the tasks run other programs in it.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::count::{Counter, TestCount};

/// Where the repository is, and the folders of tools that go before the user's PATH.
pub(crate) struct Workspace {
    root: PathBuf,
    tools: Vec<PathBuf>,
}

impl Workspace {
    /// The repository that this program belongs to.
    ///
    /// # Errors
    /// When its folder holds no Cargo.toml.
    pub(crate) fn find() -> Result<Self> {
        // Cargo says at run time where the crate is; a moved repository is found all the same.
        let xtask = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = xtask.parent().map(Path::to_path_buf).unwrap_or_default();
        if !root.join("Cargo.toml").is_file() {
            bail!("no Cargo.toml in `{}`: run this as `cargo xtask`", root.display());
        }
        Ok(Self { root, tools: Vec::new() })
    }

    /// The path of something in the repository.
    pub(crate) fn path(&self, inside: impl AsRef<Path>) -> PathBuf {
        self.root.join(inside)
    }

    /// Cargo's folder of build results.
    pub(crate) fn target_dir(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| self.path("target"), |folder| self.root.join(folder))
    }

    /// Puts a folder of programs before the PATH of what is run from here on.
    pub(crate) fn add_tools(&mut self, folder: PathBuf) {
        if !self.tools.contains(&folder) {
            self.tools.push(folder);
        }
    }

    /// A command in the repository's root, without standard input.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = self.tools.iter().cloned().chain(env::split_paths(&path));
        // Only a folder with the separator in its name cannot be joined; PATH stays as it was.
        if let Ok(joined) = env::join_paths(folders) {
            command.env("PATH", joined);
        }
        command
    }

    /// Cargo, of the toolchain that runs this program.
    pub(crate) fn cargo(&self) -> Command {
        self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// Cargo with everything on that the tests are built with: what is built once in this way is
    /// not built again for the next program.
    pub(crate) fn cargo_with_all(&self, task: &str) -> Command {
        let mut command = self.cargo();
        command.args([task, "--workspace", "--all-features"]);
        command
    }

    /// Builds a program of the repository, with what the tests have built already, and gives the
    /// command that runs it.
    ///
    /// # Errors
    /// When it does not build.
    pub(crate) fn program(&self, name: &str) -> Result<Command> {
        // With the tests: what they alone depend on decides features too.
        run(self.cargo_with_all("build").args(["--tests", "--bin", name]))?;
        let file = format!("{name}{}", env::consts::EXE_SUFFIX);
        Ok(self.command(self.target_dir().join("debug").join(file)))
    }
}

/// The first program of that name on the user's PATH.
pub(crate) fn find_on_path(program: &str) -> Option<PathBuf> {
    find_in(env::split_paths(&env::var_os("PATH")?), program)
}

fn find_in(mut folders: impl Iterator<Item = PathBuf>, program: &str) -> Option<PathBuf> {
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    folders.find_map(|folder| Some(folder.join(&file)).filter(|path| path.is_file()))
}

/// Runs a command, shown first, its output going straight to the terminal.
///
/// # Errors
/// When it cannot be started or does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    show(command);
    let status = command.status().with_context(|| cannot_start(command))?;
    if !status.success() {
        bail!("`{}` failed ({status})", short(command));
    }
    Ok(())
}

/// Runs a command that runs tests; counts them as its output passes by.
///
/// # Errors
/// When it cannot be started or does not succeed; then the count is of what ran before.
pub(crate) fn run_tests(command: &mut Command) -> (TestCount, Result<()>) {
    let mut counter = Counter::default();
    let result = run_counting(command, &mut counter);
    (counter.count, result)
}

fn run_counting(command: &mut Command, counter: &mut Counter) -> Result<()> {
    show(command);
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| cannot_start(command))?;
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        while stdout.read_until(b'\n', &mut line)? > 0 {
            std::io::stdout().write_all(&line)?;
            counter.read_line(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{}` failed ({status})", short(command));
    }
    Ok(())
}

/// What a command writes to standard output; its errors go to the terminal.
///
/// # Errors
/// When it cannot be started or does not succeed, or writes anything but UTF-8.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| cannot_start(command))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", line(command), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` wrote no UTF-8", line(command)))
}

/// A duration for people: `0.4 s`, `12.3 s`, `4 min 07 s`.
pub(crate) fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

fn show(command: &Command) {
    println!("$ {}", line(command));
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`: is it installed and on PATH?", name(command))
}

/// The program's own name, without its folder.
fn name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}

/// The program and what it is told to do: enough to recognise it.
fn short(command: &Command) -> String {
    let task = command.get_args().next().unwrap_or_default().to_string_lossy();
    format!("{} {task}", name(command)).trim_end().to_owned()
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let mut line = name(command);
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}
