//! `bench`: the benchmarks, and a table that sets them beside Kubernetes' own Go code.

use anyhow::Result;

use crate::workspace::{self, Workspace};

/// Runs the benchmarks of the tests crate.
///
/// # Errors
/// When they do not build or fail.
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
