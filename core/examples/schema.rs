//! Prints the JSON Schema of scenario files, which `cargo xtask schema` keeps.

use taintlab_core::scenario::Scenario;

fn main() -> Result<(), serde_json::Error> {
    let schema = schemars::schema_for!(Scenario);
    println!("{}", serde_json::to_string_pretty(&schema)?);
    Ok(())
}
