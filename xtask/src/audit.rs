//! `audit`: what the project is built from, against the rules of `deny.toml` and the advisories of npm.

use anyhow::Result;

use crate::setup;
use crate::workspace::{self, Workspace};

/// The manifests that have a lock file of their own.
const MANIFESTS: [&str; 3] =
    ["Cargo.toml", "policy-module/hosts/rust/Cargo.toml", "kubewarden/host/Cargo.toml"];

/// Asks cargo-deny about the crates, and npm about its packages. Both fetch advisories.
///
/// # Errors
/// A tool is missing or fails, or a crate or a package is not as it must be.
pub(crate) fn run(workspace: &mut Workspace) -> Result<()> {
    setup::cargo_deny(workspace)?;
    for manifest in MANIFESTS {
        let mut deny = workspace.command("cargo-deny");
        deny.args(["--all-features", "--locked", "--config"]).arg(workspace.path("deny.toml"));
        deny.arg("--manifest-path").arg(workspace.path(manifest));
        workspace::run(deny.arg("check"))?;
    }
    workspace::run(workspace.command("npm").arg("audit"))
}
