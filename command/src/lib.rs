//! The command `taintlab` and the plugin `kubectl taintlab`, without IO.
//!
//! [`run`] takes a command line and a [`Host`], and returns an exit code. `line.rs` describes the
//! options; each command has a module, which asks the engine and prints what it says.
//!
//! ```
//! use taintlab_command::Program;
//!
//! let taintlab = Program::Taintlab.description();
//! assert!(taintlab.find_subcommand("report").is_some());
//! ```

mod annotations;
mod cluster;
mod embed;
mod explain;
mod host;
mod json;
mod line;
mod lint;
pub mod mcp;
mod options;
mod outage;
mod plan;
mod policy;
mod rank;
pub mod reading;
mod report;
mod run;
mod schedule;
mod solve;
mod stop;
mod test;
mod threads;
mod when;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use taintlab_words::Style;

pub use crate::host::{Host, Printed, Reply, Tool, Tools};
use crate::line::{Command, Line, PluginCommand, PluginLine};
use crate::stop::{Done, Stop};
pub use crate::stop::{FAILED, OK, USAGE};

/// One of the two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `taintlab`: files.
    Taintlab,
    /// `kubectl taintlab`: the cluster of the current context.
    Plugin,
}

impl Program {
    /// The program that is called by this name: `/usr/bin/kubectl-taintlab` is the plugin.
    #[must_use]
    pub fn named(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        // As kubectl finds it, and as Krew installs it.
        let is_plugin = name.starts_with("kubectl-") || name.starts_with("kubectl_");
        if is_plugin { Self::Plugin } else { Self::Taintlab }
    }

    /// Description of all options, for completions and man pages.
    #[must_use]
    pub fn description(self) -> clap::Command {
        match self {
            Self::Taintlab => Line::command(),
            Self::Plugin => PluginLine::command(),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Taintlab => "taintlab",
            Self::Plugin => "kubectl taintlab",
        }
    }
}

/// Runs a command line, the name of the program first; returns the exit code.
pub fn run(host: &dyn Host, program: Program, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let done = match program {
        Program::Taintlab => match Line::try_parse_from(arguments) {
            Ok(line) => command(host, line.command),
            Err(error) => return said(host, &error),
        },
        Program::Plugin => match PluginLine::try_parse_from(arguments) {
            Ok(line) => plugin_command(host, line.command),
            Err(error) => return said(host, &error),
        },
    };
    match done {
        Ok(code) => code,
        Err(Stop { message, code }) => {
            if !message.is_empty() {
                host.err(&format!("{message}\n"));
            }
            if code == USAGE {
                host.err(&format!("Try `{} --help`.\n", program.name()));
            }
            code
        }
    }
}

fn command(host: &dyn Host, command: Command) -> Done<u8> {
    match command {
        Command::Run(line) => run::run(host, &line),
        Command::Test(line) => test::test(host, &line),
        Command::Report(line) => report::report(host, &line),
        Command::Explain(line) => explain::explain(host, &line),
        Command::Lint(line) => lint::lint(host, &line),
        Command::Schedule(line) => schedule::schedule(host, &line),
        Command::Rank(line) => rank::rank(host, &line),
        Command::Plan(line) => plan::plan(host, &line),
        Command::SmallestOutage(line) => outage::outage(host, &line),
        Command::When(line) => when::when_in_files(host, &line),
        Command::Mcp(line) => mcp::mcp(host, &line),
        Command::Solve(line) => solve::solve(host, &line),
        Command::Policy(line) => policy::policy(host, &line),
        Command::Embed(line) => embed::embed(host, &line),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Line::command(), "taintlab", &mut text);
            host.out(&String::from_utf8_lossy(&text));
            Ok(OK)
        }
        Command::Man { command } => man(host, &command),
    }
}

/// The man page of the program, or of the command that these names lead to.
fn man(host: &dyn Host, names: &[String]) -> Done<u8> {
    let mut whole = Line::command();
    whole.build();
    let mut page = &whole;
    for name in names {
        page = page.find_subcommand(name).ok_or_else(|| {
            let known: Vec<&str> = page.get_subcommands().map(clap::Command::get_name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            Stop::usage(format!("man: expected one of {known}, found `{name}`"))
        })?;
    }
    let page = page.clone().version(env!("CARGO_PKG_VERSION"));
    let mut text = Vec::new();
    // Writing into memory does not fail.
    let _ = clap_mangen::Man::new(page).render(&mut text);
    host.out(&String::from_utf8_lossy(&text));
    Ok(OK)
}

fn plugin_command(host: &dyn Host, command: PluginCommand) -> Done<u8> {
    match command {
        PluginCommand::Run(line) => run::run_cluster(host, &line),
        PluginCommand::Explain(line) => explain::explain_pod(host, &line),
        PluginCommand::When(line) => when::when(host, &line),
        PluginCommand::Report(line) => report::report_cluster(host, &line),
        PluginCommand::Plan(line) => plan::plan_cluster(host, &line),
        PluginCommand::SmallestOutage(line) => outage::outage_cluster(host, &line),
        PluginCommand::Solve(line) => solve::solve_cluster(host, &line),
        PluginCommand::Lint(line) => lint::lint_cluster(host, &line),
    }
}

/// Help, the version, or what is wrong with a line.
fn said(host: &dyn Host, error: &clap::Error) -> u8 {
    let rendered = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp => {
            let styled = host.style() == Style::Ansi;
            host.out(&if styled { rendered.ansi().to_string() } else { rendered.to_string() });
            OK
        }
        ErrorKind::DisplayVersion => {
            host.out(concat!(env!("CARGO_PKG_VERSION"), "\n"));
            OK
        }
        _ => {
            host.err(&rendered.to_string());
            USAGE
        }
    }
}
