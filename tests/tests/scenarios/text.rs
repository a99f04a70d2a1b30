//! The scenarios below `tests/scenarios`. `BLESS=1 cargo test -p taintlab-tests text_scenarios`
//! rewrites their expected output; read the difference before you commit it.

use std::fs;
use std::path::{Path, PathBuf};

use taintlab_tests::text::datadriven;

#[test]
fn text_scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let mut paths: Vec<_> = entries(&folder).iter().flat_map(|subject| entries(subject)).collect();
    paths.sort();
    assert!(paths.len() >= 10, "only {} files", paths.len());
    let mut failures = String::new();
    for path in &paths {
        match datadriven::check(path) {
            Ok(blocks) => assert!(blocks > 0, "{} is empty", path.display()),
            Err(error) => failures += &format!("{}\n{error}\n", path.display()),
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn a_difference_is_found() {
    let text = "cluster 1.20\nnode n a\npod d/p on n\n----\nnothing of the kind\n";
    let outcome = datadriven::run(text).unwrap();
    assert_eq!(outcome.mismatches.len(), 1);
    assert!(outcome.rewritten.contains("Marking for deletion Pod d/p"));
    let again = datadriven::run(&outcome.rewritten).unwrap();
    assert_eq!((again.mismatches.len(), again.rewritten), (0, outcome.rewritten));
}

#[test]
fn a_block_that_cannot_be_read_is_an_error() {
    for (text, error) in [
        ("cluster 1.20\nfly\n----\n", "line 3: `fly`: unknown command"),
        ("node n\n----\n", "`cluster RELEASE` comes first"),
        ("cluster 1.17\n----\n", "not a known Kubernetes release"),
        ("cluster 1.20\n", "ends without `----`"),
    ] {
        assert!(datadriven::run(text).unwrap_err().contains(error), "{text}");
    }
}
