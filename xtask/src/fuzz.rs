//! `fuzz` and `soak`: what tests do for a moment, for as long as anyone likes.

use anyhow::Result;

use crate::workspace::{self, Workspace};

/// Builds the program of the fuzz crate, optimised and with its checks, and runs it.
///
/// # Errors
/// The program does not build, or a target fails; it prints the input.
pub(crate) fn fuzz(workspace: &Workspace, args: &[String]) -> Result<()> {
    run(workspace, ["--profile", "fuzz", "--package", "taintlab-fuzz", "--bin", "fuzz"], args)
}

/// Builds the program that runs random clusters with random faults, and runs it.
///
/// # Errors
/// The program does not build, or a cluster breaks an invariant.
pub(crate) fn soak(workspace: &Workspace, args: &[String]) -> Result<()> {
    run(workspace, ["--profile", "fuzz", "--package", "taintlab-tests", "--bin", "soak"], args)
}

fn run(workspace: &Workspace, program: [&str; 6], args: &[String]) -> Result<()> {
    workspace::run(workspace.cargo().arg("run").args(program).arg("--").args(args))
}
