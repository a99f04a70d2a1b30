//! `bench`: the benchmarks, and a table that compares them with Kubernetes' own Go code.

use anyhow::Result;

use crate::workspace::{self, Workspace};
use crate::{cli, npm, setup};

/// Runs the benchmarks of the tests crate.
///
/// # Errors
/// The benchmarks do not build, or fail.
pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    workspace::run(
        workspace.cargo().args(["bench", "--package", "taintlab-tests", "--"]).args(args),
    )?;
    let compare = ["run", "--release", "--package", "taintlab-tests"];
    let results = workspace.target_dir().join("criterion");
    workspace::run(
        workspace.cargo().args(compare).args(["--bin", "compare-benchmarks", "--"]).arg(results),
    )
}

/// Measures the npm package in the form in which it is installed, and the native command beside it.
///
/// # Errors
/// The package is not built, the command does not build, or a measured program fails.
pub(crate) fn package(workspace: &Workspace) -> Result<()> {
    let [native, ..] = cli::build(workspace)?;
    for program in ["npm/tests/bench.mjs", "npm/tests/report.bench.mjs"] {
        let mut command = workspace.command("node");
        command.arg(program).env("TAINTLAB_PACKAGE", npm::tarball(workspace));
        command.env("TAINTLAB_BINARY", &native);
        workspace::run(&mut command)?;
    }
    Ok(())
}

/// Measures how long the page takes to load on a slow line, and how it copes with a large cluster.
///
/// # Errors
/// The page is not built, or there is no Chromium.
pub(crate) fn page(workspace: &Workspace) -> Result<()> {
    let chromium = setup::debian_program(workspace, &setup::CHROMIUM)?;
    for program in ["tests/e2e/load.bench.mjs", "tests/e2e/large.bench.mjs"] {
        let mut command = workspace.command("node");
        workspace::run(command.arg(program).env("CHROMIUM", &chromium))?;
    }
    Ok(())
}
