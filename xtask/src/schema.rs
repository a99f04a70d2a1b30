//! `schema`: the JSON Schema of scenario files, generated from the Rust types.

use std::fs;

use anyhow::{Context, Result};

use crate::workspace::{self, Workspace};

/// The file of the schema; the reference of the scenario format links to it. A test beside the
/// program that prints it fails if the file is out of date.
const SCHEMA: &str = "docs/scenario.schema.json";

/// Writes the schema.
///
/// # Errors
/// The generator fails, or the file cannot be written.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut generator = workspace.cargo();
    generator.args(["run", "--package", "taintlab-core", "--features", "schema"]);
    let schema = workspace::output(generator.args(["--example", "schema"]))?;
    fs::write(workspace.path(SCHEMA), schema)
        .with_context(|| format!("cannot write `{SCHEMA}`"))?;
    println!("wrote {SCHEMA}");
    Ok(())
}
