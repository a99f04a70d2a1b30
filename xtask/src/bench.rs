//! `bench`: the benchmarks, which print their own comparison.

use anyhow::Result;

use crate::workspace::{self, Workspace};

/// Runs the benchmarks of the tests crate.
///
/// # Errors
/// When they do not build or fail.
pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    workspace::run(
        workspace.cargo().args(["bench", "--package", "taintlab-tests", "--"]).args(args),
    )
}
