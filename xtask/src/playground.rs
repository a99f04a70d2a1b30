//! `serve` and `build`: the playground, by Trunk.

use std::env;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::pins;
use crate::setup;
use crate::workspace::{self, Workspace};

/// The folder of the release build.
pub(crate) const DIST: &str = "dist";

/// Where `index.html` says how large the engine is.
const NO_SIZE: &str = "data-bytes=\"0\"";

/// How to serve the playground.
#[derive(Args)]
pub(crate) struct ServeOptions {
    /// The port to listen on, at 127.0.0.1
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Serve the release build: small and fast, but slower to rebuild
    #[arg(long)]
    release: bool,
}

/// Serves the playground until the user stops it.
///
/// # Errors
/// When something is missing and cannot be installed, or Trunk fails, as when the port is taken.
pub(crate) fn serve(workspace: &mut Workspace, options: &ServeOptions) -> Result<()> {
    check_port(options.port)?;
    set_up(workspace)?;
    let port = options.port.to_string();
    println!("The playground will be at http://127.0.0.1:{port}/ once it is built; Ctrl-C stops.");
    let mut command = trunk(workspace, "serve");
    command.args(["--address", "127.0.0.1", "--port", &port]);
    // Apart from dist/, which is the release build's.
    command.arg("--dist").arg(workspace.target_dir().join("playground"));
    if options.open {
        command.arg("--open");
    }
    if options.release {
        command.arg("--release");
    }
    workspace::run(&mut command)
}

/// Says in time that a port is taken: before minutes of building, where Trunk would ask after.
///
/// # Errors
/// When it is.
pub(crate) fn check_port(port: u16) -> Result<()> {
    drop(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
        format!(
            "cannot listen on port {port}: stop what listens there, or give another with --port"
        )
    })?);
    Ok(())
}

/// Installs what building the playground needs and builds the release.
///
/// # Errors
/// As [`set_up`] and [`build`].
pub(crate) fn set_up_and_build(workspace: &mut Workspace) -> Result<()> {
    set_up(workspace)?;
    build(workspace)
}

/// Builds the release into [`DIST`]; it works under any path.
///
/// # Errors
/// When Trunk fails, or what it made is not as expected.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let mut command = trunk(workspace, "build");
    command.args(["--release", "--public-url", "./", "--dist", DIST]);
    workspace::run(&mut command)?;
    state_size(&workspace.path(DIST))
}

/// Tells the page how large its engine is, so that it knows while loading how much is to come.
/// Hosts tell the size of what is packed, and Trunk that of what is not optimised yet.
fn state_size(dist: &Path) -> Result<()> {
    let mut size = None;
    for file in fs::read_dir(dist)? {
        let file = file?;
        if file.file_name().to_string_lossy().ends_with("_bg.wasm") {
            size = Some(file.metadata()?.len());
        }
    }
    let size = size.context("the build has no engine")?;
    let path = dist.join("index.html");
    let page = fs::read_to_string(&path)?;
    ensure!(page.contains(NO_SIZE), "{} has no `{NO_SIZE}`", path.display());
    fs::write(path, page.replace(NO_SIZE, &format!("data-bytes=\"{size}\"")))?;
    Ok(())
}

/// Installs what building the playground needs.
///
/// # Errors
/// When something is missing and cannot be installed.
pub(crate) fn set_up(workspace: &mut Workspace) -> Result<()> {
    setup::rust_targets(workspace, &[(pins::WASM_TARGET, "the playground")])?;
    setup::npm_packages(workspace)?;
    setup::playground_tools(workspace)?;
    setup::crates(workspace)
}

fn trunk(workspace: &Workspace, task: &str) -> Command {
    let mut command = workspace.command("trunk");
    command.args([task, "--offline"]).env("TRUNK_SKIP_VERSION_CHECK", "true");
    // Its errors say enough; the backtrace of Trunk itself would push them out of sight.
    command.env_remove("RUST_BACKTRACE");
    // Trunk takes only `true` and `false` for it, where the convention is any value.
    if env::var_os("NO_COLOR").is_some() {
        command.env("NO_COLOR", "true");
    }
    command
}
