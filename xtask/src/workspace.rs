//! The repository, and the way in which tasks run other programs in it.

use std::env::{self, consts};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::count::{Counter, TestCount};

/// The root of the repository, cargo's folders, and the folders of tools that precede the user's PATH.
pub(crate) struct Workspace {
    root: PathBuf,
    /// Cargo's folder of build results.
    target: PathBuf,
    /// Cargo's folder of the user, which has the sources of dependencies.
    cargo_home: PathBuf,
    tools: Vec<PathBuf>,
}

impl Workspace {
    /// The repository that this program belongs to.
    ///
    /// # Errors
    /// The folder has no Cargo.toml.
    pub(crate) fn find() -> Result<Self> {
        // Cargo tells at run time where the crate is, so even a moved repository is found.
        let xtask = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = xtask.parent().map(Path::to_path_buf).unwrap_or_default();
        if !root.join("Cargo.toml").is_file() {
            bail!("no Cargo.toml in `{}`: run this as `cargo xtask`", root.display());
        }
        let target = root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
        let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo_home = cargo_home.or_else(|| Some(env::home_dir()?.join(".cargo")));
        let cargo_home = cargo_home.context("no home folder: set CARGO_HOME")?;
        Ok(Self { root, target, cargo_home, tools: Vec::new() })
    }

    /// A copy of the repository in `root`, with build results of its own, which knows the folder of the
    /// user's cargo by another path.
    pub(crate) fn copied_to(&self, root: PathBuf) -> Self {
        let name = self.cargo_home.file_name().unwrap_or_default();
        let cargo_home = self.cargo_home.join("..").join(name);
        Self { target: root.join("target"), root, cargo_home, tools: Vec::new() }
    }

    /// The path of a file or folder in the repository.
    pub(crate) fn path(&self, inside: impl AsRef<Path>) -> PathBuf {
        self.root.join(inside)
    }

    /// Cargo's folder of build results.
    pub(crate) fn target_dir(&self) -> PathBuf {
        self.target.clone()
    }

    /// Adds a folder of programs before the PATH of later commands.
    pub(crate) fn add_tools(&mut self, folder: PathBuf) {
        if !self.tools.contains(&folder) {
            self.tools.push(folder);
        }
    }

    /// A command in the repository's root, without standard input.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = self.tools.iter().cloned().chain(env::split_paths(&path)).collect();
        let mut command = Command::new(startable(&folders, program.as_ref(), consts::OS));
        command.current_dir(&self.root).stdin(Stdio::null());
        // Joining fails only for a folder with the separator in its name; then PATH stays as it
        // was.
        if let Ok(joined) = env::join_paths(folders) {
            command.env("PATH", joined);
        }
        command
    }

    /// Cargo of the toolchain that runs this program.
    pub(crate) fn cargo(&self) -> Command {
        self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// Makes a command build what is shipped: without a path or the time of this machine, and without
    /// flags of this user, so that the same sources give the same bytes elsewhere.
    pub(crate) fn shipping<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        // Sources of the repository have relative paths already; those of registries are in a folder for
        // each, if any is used.
        let registries = fs::read_dir(self.cargo_home.join("registry/src"));
        let flags = registries.into_iter().flatten().flatten().map(|registry| {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(registry.path());
            flag.push("=");
            flag
        });
        let flags: Vec<OsString> = flags.collect();
        command.env("CARGO_HOME", &self.cargo_home).env("CARGO_TARGET_DIR", &self.target);
        // The allocator of the native command has the time of its compilation in a message.
        command.env("SOURCE_DATE_EPOCH", "0");
        // The separator that cargo splits them by.
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join(OsStr::new("\x1f")))
    }

    /// Cargo with all features that the tests are built with, so that later programs reuse what is
    /// built.
    pub(crate) fn cargo_with_all(&self, task: &str) -> Command {
        let mut command = self.cargo();
        command.args([task, "--workspace", "--all-features"]);
        command
    }

    /// Builds a program of the repository, reusing the tests' builds, and returns the command that
    /// runs it.
    ///
    /// # Errors
    /// The program does not build.
    pub(crate) fn program(&self, name: &str) -> Result<Command> {
        // The tests' own dependencies enable features too, so they are built along.
        run(self.cargo_with_all("build").args(["--tests", "--bin", name]))?;
        let file = format!("{name}{}", consts::EXE_SUFFIX);
        Ok(self.command(self.target_dir().join("debug").join(file)))
    }
}

/// The first program of that name on the user's PATH.
pub(crate) fn find_on_path(program: &str) -> Option<PathBuf> {
    let folders: Vec<_> = env::split_paths(&env::var_os("PATH")?).collect();
    find_in(&folders, program.as_ref(), consts::OS)
}

/// The first program of that name in the folders, as the system names its file.
fn find_in(folders: &[PathBuf], program: &OsStr, system: &str) -> Option<PathBuf> {
    let suffixes: &[&str] = if system == "windows" { &[".exe", ".cmd"] } else { &[""] };
    let mut paths = folders.iter().flat_map(|folder| {
        suffixes.iter().map(move |suffix| {
            let mut file = program.to_owned();
            file.push(suffix);
            folder.join(file)
        })
    });
    paths.find(|path| path.is_file())
}

/// A program as the system can start it. By its bare name Windows starts no scripts, and npm and
/// the tools that it installs are scripts there; the suffix of their path tells so.
fn startable(folders: &[PathBuf], program: &OsStr, system: &str) -> OsString {
    let is_bare = Path::new(program).components().count() == 1;
    let found = (system == "windows" && is_bare).then(|| find_in(folders, program, system));
    found.flatten().map_or_else(|| program.to_owned(), PathBuf::into_os_string)
}

/// Shows and runs a command; its output goes straight to the terminal.
///
/// # Errors
/// The command cannot be started or fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    show(command);
    let status = command.status().with_context(|| cannot_start(command))?;
    if !status.success() {
        bail!("`{}` failed ({status})", short(command));
    }
    Ok(())
}

/// Runs a command that runs tests, and counts them in its output.
///
/// # Errors
/// The command cannot be started or fails; the count then has the tests before the failure, and
/// the error says after its first line what the tests said.
pub(crate) fn run_tests(command: &mut Command) -> (TestCount, Result<()>) {
    let mut counter = Counter::default();
    let result = run_counting(command, &mut counter);
    let said = counter.failures.join("\n");
    (counter.count, result.map_err(|error| anyhow!("{error:#}\n{said}")))
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

/// The standard output of a command; its errors go to the terminal.
///
/// # Errors
/// The command cannot be started, fails, or writes something other than UTF-8.
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
    let name = name(command);
    let source = match name.as_str() {
        "cargo" | "rustc" | "rustup" => "Rust from https://rustup.rs has it",
        "node" | "npm" => "Node from https://nodejs.org has it",
        "git" | "sh" => "Git from https://git-scm.com has it, on Windows too",
        _ => "is it installed and on PATH?",
    };
    format!("cannot start `{name}`: {source}")
}

/// The program's own name, without its folder.
fn name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}

/// The program and its first argument: enough to recognise the command.
fn short(command: &Command) -> String {
    let task = command.get_args().next().unwrap_or_default().to_string_lossy();
    format!("{} {task}", name(command)).trim_end().to_owned()
}

/// The command as a user would type it.
fn line(command: &Command) -> String {
    let mut line = name(command);
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with empty files of these names, which is gone with the test's results.
    fn folder(name: &str, files: &[&str]) -> Result<PathBuf> {
        let folder = env::temp_dir().join(format!("taintlab-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        for file in files {
            fs::write(folder.join(file), "")?;
        }
        Ok(folder)
    }

    #[test]
    fn windows_starts_scripts_by_their_path_alone() -> Result<()> {
        let folders = [folder("scripts", &["npm", "npm.cmd", "node.exe"])?];
        let [folder] = &folders;
        let start = |program: &str, system: &str| startable(&folders, program.as_ref(), system);
        let find = |program: &str| find_in(&folders, program.as_ref(), "linux");
        // The file without a suffix is a script for another shell.
        assert_eq!(start("npm", "windows"), folder.join("npm.cmd"));
        assert_eq!(start("node", "windows"), folder.join("node.exe"));
        // What is not found is started by its name, so that the error has that name.
        assert_eq!(start("tsc", "windows"), "tsc");
        assert_eq!(start("folder/npm", "windows"), "folder/npm");
        for system in ["linux", "macos"] {
            assert_eq!(start("npm", system), "npm");
        }
        assert_eq!(find("npm"), Some(folder.join("npm")));
        assert_eq!(find("node"), None);
        Ok(fs::remove_dir_all(folder)?)
    }

    #[test]
    fn a_program_that_is_missing_is_named_with_where_it_comes_from() {
        let error = |program: &str| cannot_start(&Command::new(program));
        assert_eq!(
            error("C:/tools/npm.cmd"),
            "cannot start `npm`: Node from https://nodejs.org has it"
        );
        assert_eq!(error("wasm-opt"), "cannot start `wasm-opt`: is it installed and on PATH?");
    }
}
