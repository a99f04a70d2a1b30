//! `serve` and `build`: the playground, by Trunk.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use base64ct::{Base64, Encoding};
use clap::Args;
use sha2::{Digest, Sha256};

use crate::pins;
use crate::setup;
use crate::workspace::{self, Workspace};

/// The folder of the release build.
pub(crate) const DIST: &str = "dist";

/// The attributes in `index.html` for the bytes to load, and for the name of the build.
const NO_SIZE: &str = "data-bytes=\"0\" data-build=\"\"";
/// The file of the first state of the page.
const PICTURE: &str = "sample.bin";
/// The nonce in the page's policy before the digests of the scripts are known, and at the scripts.
const POLICY_NONCE: &str = "'nonce-OF-TRUNK'";
const NONCE: &str = " nonce=\"OF-TRUNK\"";
/// The service worker, and its line that lists the files.
const SERVICE_WORKER: &str = "sw.js";
const NO_FILES: &str = "const FILES = {};";

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
/// Something is missing and cannot be installed, or Trunk fails, for example because the port is
/// taken.
pub(crate) fn serve(workspace: &mut Workspace, options: &ServeOptions) -> Result<()> {
    check_port(options.port)?;
    set_up(workspace)?;
    let port = options.port.to_string();
    println!("The playground will be at http://127.0.0.1:{port}/ once it is built; Ctrl-C stops.");
    let mut command = trunk(workspace, "serve");
    command.args(["--address", "127.0.0.1", "--port", &port]);
    // `dist/` belongs to the release build.
    command.arg("--dist").arg(workspace.target_dir().join("playground"));
    if options.open {
        command.arg("--open");
    }
    if options.release {
        command.arg("--release");
    }
    workspace::run(&mut command)
}

/// Checks that a port is free before minutes of building; Trunk would check it after them.
///
/// # Errors
/// The port is taken.
pub(crate) fn check_port(port: u16) -> Result<()> {
    drop(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
        format!(
            "cannot listen on port {port}: stop what listens there, or give another with --port"
        )
    })?);
    Ok(())
}

/// Installs what the playground's build needs, and builds the release.
///
/// # Errors
/// Those of [`set_up`] and [`build`].
pub(crate) fn set_up_and_build(workspace: &mut Workspace) -> Result<()> {
    set_up(workspace)?;
    build(workspace)
}

/// Builds the release into [`DIST`]; it works under any path.
///
/// # Errors
/// Trunk fails, or its output is not as expected.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let mut command = trunk(workspace, "build");
    command.args(["--release", "--public-url", "./", "--dist", DIST]);
    workspace::run(workspace.shipping(&mut command))?;
    let dist = workspace.path(DIST);
    let mut command = workspace.cargo();
    command.args(["run", "--quiet", "--package", "taintlab-web", "--bin", "sample-picture"]);
    workspace::run(command.arg(dist.join(PICTURE)))?;
    complete(&dist)
}

/// Completes the page with facts of the finished build: the bytes to load, the name of the build, the
/// digests of the scripts, and the files that the service worker keeps.
fn complete(dist: &Path) -> Result<()> {
    let (mut files, mut size) = (BTreeMap::new(), 0);
    let mut build = Sha256::new();
    for file in fs::read_dir(dist)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        if name.ends_with("_bg.wasm") {
            size += file.metadata()?.len();
        }
        files.insert(name, file.path());
    }
    for file in ["engine.js", "engine_bg.wasm", PICTURE] {
        build
            .update(fs::read(dist.join(file)).with_context(|| format!("the build has no {file}"))?);
    }
    let build = format!("{:x}", build.finalize());
    let build = build.get(..12).unwrap_or_default();
    let path = dist.join("index.html");
    let page = replaced(&path, NO_SIZE, &format!("data-bytes=\"{size}\" data-build=\"{build}\""))?;
    fs::write(&path, allow_scripts(&page)?)?;

    let worker = dist.join(SERVICE_WORKER);
    files.remove(SERVICE_WORKER);
    let mut digests = BTreeMap::new();
    for (name, path) in files {
        digests.insert(name, digest(&fs::read(path)?));
    }
    let kept = format!("const FILES = {};", serde_json::to_string(&digests)?);
    fs::write(&worker, replaced(&worker, NO_FILES, &kept)?)?;
    Ok(())
}

/// The text of a file with `by` in place of `what`, which it must contain.
fn replaced(path: &Path, what: &str, by: &str) -> Result<String> {
    let text = fs::read_to_string(path)?;
    ensure!(text.contains(what), "{} has no `{what}`", path.display());
    Ok(text.replace(what, by))
}

/// Adds the digests of the page's scripts to its policy, so that no other text runs as a script.
fn allow_scripts(page: &str) -> Result<String> {
    let scripts = page.split("<script").skip(1).filter_map(|rest| {
        let (_, rest) = rest.split_once('>')?;
        Some(rest.split_once("</script>")?.0)
    });
    let digests = scripts.map(|script| format!("'sha256-{}'", digest(script.as_bytes())));
    let digests: Vec<_> = digests.collect();
    ensure!(page.contains(POLICY_NONCE), "the page has no `{POLICY_NONCE}`");
    Ok(page.replace(POLICY_NONCE, &digests.join(" ")).replace(NONCE, ""))
}

/// The SHA-256 of the bytes in Base64, as policies and the service worker need it.
fn digest(bytes: &[u8]) -> String {
    Base64::encode_string(&Sha256::digest(bytes))
}

/// Installs what the playground's build needs.
///
/// # Errors
/// Something is missing and cannot be installed.
pub(crate) fn set_up(workspace: &mut Workspace) -> Result<()> {
    setup::rust_targets(workspace, &[(pins::WASM_TARGET, "the playground")])?;
    setup::npm_packages(workspace)?;
    setup::playground_tools(workspace)?;
    setup::crates(workspace)
}

fn trunk(workspace: &Workspace, task: &str) -> Command {
    let mut command = workspace.command("trunk");
    command.args([task, "--offline"]).env("TRUNK_SKIP_VERSION_CHECK", "true");
    // Trunk's errors say enough; its backtrace would push them out of sight.
    command.env_remove("RUST_BACKTRACE");
    // Trunk accepts only `true` and `false` here, where the convention is any value.
    if env::var_os("NO_COLOR").is_some() {
        command.env("NO_COLOR", "true");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_scripts_of_the_page_run() {
        let policy = "<meta content=\"script-src 'self' 'nonce-OF-TRUNK' 'wasm-unsafe-eval'\">";
        let page =
            format!("{policy}<script{NONCE}>1</script><script type=\"module\"{NONCE}>2</script>");
        let page = allow_scripts(&page).unwrap_or_default();
        let one = "'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='";
        let two = "'sha256-1HNeOiZeFu7gP1lxi5tdAwGcB9i2xR+Q2jpmbuwTqzU='";
        let wanted = format!("content=\"script-src 'self' {one} {two} 'wasm-unsafe-eval'\"");
        assert!(page.contains(&wanted) && !page.contains("nonce"), "{page}");
    }
}
