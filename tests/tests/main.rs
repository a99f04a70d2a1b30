//! The tests of the engine and of manifests, as one program: what all of them use is compiled and
//! linked once.
//!
//! `cargo test -p taintlab-tests NAME` runs those of the module, or the test, of that name.

mod admission;
mod conformance;
mod dependencies;
mod examples;
mod kubectl;
mod kubelet_properties;
mod kubelet_upstream_cases;
mod kubelet_usage;
mod kubelet_worked_examples;
mod node_lifecycle;
mod node_lifecycle_upstream_cases;
mod node_lifecycle_worked_examples;
mod properties;
mod rate_limited_queue_upstream_cases;
mod release_differences;
mod scheduling;
mod taint_eviction_upstream_cases;
mod taint_eviction_worked_examples;
mod text_scenarios;
mod warnings;
mod workloads;

use std::fs;
use std::path::Path;

/// A file that is named in no program would be compiled by nobody, and none of its tests would run.
#[test]
fn every_file_of_tests_is_part_of_a_program() {
    for folder in ["tests", "../manifest/tests"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let program = fs::read_to_string(folder.join("main.rs")).unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let named = name == "main" || program.contains(&format!("\nmod {name};\n"));
            assert!(named, "`mod {name};` is missing in `{}/main.rs`", folder.display());
        }
    }
}
