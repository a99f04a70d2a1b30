//! Prepares the sample cluster for the page, and the page for being split.

use std::path::Path;
use std::{env, fs};

use taintlab_manifest::{Limits, read_scenario};

const SAMPLE: &str = "../examples/sample-cluster.yaml";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={SAMPLE}");
    println!("cargo:rerun-if-changed=build.rs");
    // As JSON: what reads YAML is loaded later than the page.
    let text = fs::read_to_string(SAMPLE)?;
    let mut no_files = |name: &str| Err(format!("{SAMPLE} must not need `{name}`"));
    let read = read_scenario(&text, SAMPLE, &Limits::default(), &mut no_files);
    let scenario = read.scenario.ok_or_else(|| format!("{SAMPLE}: {:?}", read.diagnostics))?;
    let json = serde_json::to_string(&scenario)?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("sample-cluster.json"), json)?;
    // What cuts the page's wasm in two needs to know what refers to what.
    if env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo:rustc-link-arg-bins=--emit-relocs");
    }
    Ok(())
}
