//! `soak`: random clusters over simulated years, with random faults and invariants.

use anyhow::Result;

use crate::workspace::{self, Workspace};

/// Options of the program, passed on to it.
#[derive(clap::Args)]
pub(crate) struct SoakOptions {
    /// The first seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Clusters to run, each with the next seed
    #[arg(long, default_value_t = 1)]
    clusters: u64,
    /// Simulated hours of each cluster
    #[arg(long, default_value_t = 720)]
    hours: u64,
    /// Real seconds after which no new cluster begins
    #[arg(long)]
    seconds: Option<u64>,
}

/// Builds the program for release and runs it.
///
/// # Errors
/// The program does not build, or a cluster breaks an invariant.
pub(crate) fn run(workspace: &Workspace, options: &SoakOptions) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(["run", "--release", "--package", "taintlab-tests", "--bin", "soak", "--"]);
    command.arg("--output").arg(workspace.target_dir().join("soak"));
    for (name, value) in [
        ("--seed", Some(options.seed)),
        ("--clusters", Some(options.clusters)),
        ("--hours", Some(options.hours)),
        ("--seconds", options.seconds),
    ] {
        command.args(value.map(|value| [name.to_owned(), value.to_string()]).into_iter().flatten());
    }
    workspace::run(&mut command)
}
