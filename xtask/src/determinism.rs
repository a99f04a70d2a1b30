//! The engine compiled twice, natively and to wasm, and run on every scenario of `examples/`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::pins;
use crate::workspace::{self, Program, Workspace};

const PACKAGE: &str = "taintlab-determinism";

/// Where the tests find `engine.wasm` and the native answers.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("determinism")
}

/// Builds the engine as wasm and writes the native answers beside it.
///
/// # Errors
/// When the engine does not build, or a scenario does not run natively.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let folder = folder(workspace);
    // Emptied first: a scenario that is gone must not be compared.
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty the folder `{}`", folder.display()))?;
    }
    fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    // In the profile of the playground, so that what is compared is what ships.
    let mut wasm = workspace.cargo();
    wasm.args(["build", "--package", PACKAGE, "--lib"]);
    wasm.args(["--target", pins::WASM_TARGET, "--profile", pins::WEB_PROFILE]);
    workspace::run(&mut wasm)?;
    let built = workspace
        .target_dir()
        .join(pins::WASM_TARGET)
        .join(pins::WEB_PROFILE)
        .join("taintlab_determinism.wasm");
    fs::copy(&built, folder.join("engine.wasm"))
        .with_context(|| format!("cannot copy `{}`", built.display()))?;

    let mut native = workspace.program(Program::Binary(PACKAGE))?;
    workspace::run(native.arg("examples").arg(&folder))
}
