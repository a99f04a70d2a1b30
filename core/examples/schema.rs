//! Prints the JSON Schema of scenario files, which `cargo xtask schema` keeps.

use taintlab_core::scenario::Scenario;

fn main() -> Result<(), serde_json::Error> {
    println!("{}", schema()?);
    Ok(())
}

fn schema() -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&schemars::schema_for!(Scenario))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_what_the_types_say() {
        let file = include_str!("../../docs/scenario.schema.json");
        let is_up_to_date = file == schema().unwrap() + "\n";
        assert!(is_up_to_date, "docs/scenario.schema.json is old: run `cargo xtask schema`");
    }
}
