//! `schema`: the JSON Schema of scenario files, generated from the Rust types.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Program, Workspace};

/// The file, linked from the reference of the scenario format.
const SCHEMA: &str = "docs/scenario.schema.json";

/// Writes the schema, or only checks that the file is what would be written.
///
/// # Errors
/// When the generator fails, the file cannot be written, or it is not up to date.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<()> {
    let wanted = workspace::output(&mut workspace.program(Program::Example("schema"))?)?;
    let path = workspace.path(SCHEMA);
    if !check {
        fs::write(&path, wanted).with_context(|| format!("cannot write `{SCHEMA}`"))?;
        println!("wrote {SCHEMA}");
        return Ok(());
    }
    let present = fs::read_to_string(&path)
        .with_context(|| format!("cannot read `{SCHEMA}`: write it with `cargo xtask schema`"))?;
    if present != wanted {
        bail!("`{SCHEMA}` is not what the Rust types say: run `cargo xtask schema`");
    }
    println!("{SCHEMA} is up to date");
    Ok(())
}
