//! `package`: the crates as a registry would get them, each built from what is packed.

use anyhow::Result;
use cargo_metadata::MetadataCommand;

use crate::workspace::{self, Workspace};

/// Packs every crate that may be published into `target/package/`, and builds it from there.
///
/// # Errors
/// A crate does not build without the rest of the repository, or a file is not committed.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let manifest = workspace.path("Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec()?;
    let mut cargo = workspace.cargo();
    cargo.args(["package", "--locked"]);
    // `publish = false` is an empty list.
    for package in metadata.packages.iter().filter(|package| package.publish.is_none()) {
        cargo.args(["--package", package.name.as_str()]);
    }
    workspace::run(&mut cargo)
}
