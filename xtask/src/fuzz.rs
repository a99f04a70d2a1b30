//! `fuzz`: the fuzz targets, for longer than their bounded tests.

use anyhow::Result;

use crate::workspace::{self, Workspace};

/// Builds the program of the fuzz crate, optimised and with its checks, and runs it.
///
/// # Errors
/// The program does not build, or a target fails; it prints the input.
pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    let program = ["run", "--profile", "fuzz", "--package", "taintlab-fuzz", "--bin", "fuzz", "--"];
    workspace::run(workspace.cargo().args(program).args(args))
}
