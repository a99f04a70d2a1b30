//! The traces in this repository, played in the engine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use taintlab_tests::conformance::runner::run_dir;
use taintlab_tests::conformance::trace::{forecasts, is_trace};

/// The folders of traces, by what follows `traces` in their names.
const FOLDERS: [&str; 4] = ["", "-1.33", "-1.34", "-1.36"];

/// Agreement by trace, from the table of the README: how many facts, of how many.
fn documented(text: &str) -> BTreeMap<String, (usize, usize)> {
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
        let [name, agree, of, ..] = cells.as_slice() else { return None };
        Some(((*name).to_owned(), (agree.parse().ok()?, of.parse().ok()?)))
    });
    rows.collect()
}

/// No recorded eviction lies outside the range that was forecast for it.
#[test]
fn forecasts_hold_what_was_recorded() {
    let (mut compared, mut wrong) = (0, Vec::<String>::new());
    for release in FOLDERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("traces{release}"));
        for entry in fs::read_dir(folder).unwrap() {
            let dir = entry.unwrap().path();
            if !is_trace(&dir) {
                continue;
            }
            let (of_trace, outside) = forecasts(&dir).unwrap();
            compared += of_trace;
            let name = dir.file_name().unwrap().to_string_lossy().into_owned();
            wrong.extend(outside.iter().map(|line| format!("{release}/{name}: {line}")));
        }
    }
    assert!(compared > 40, "only {compared} evictions had a forecast");
    assert!(wrong.is_empty(), "of {compared}:\n{}", wrong.join("\n"));
}

#[test]
fn traces_agree_as_documented() {
    for release in FOLDERS {
        agrees_as_documented(&format!("traces{release}"));
    }
}

fn agrees_as_documented(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let documented = documented(&fs::read_to_string(folder.join("README.md")).unwrap());
    let mut texts = Vec::new();
    let report = run_dir(&folder, |text| texts.push(text.to_owned())).unwrap();
    let texts = texts.join("\n");
    assert!(report.unreadable.is_empty(), "{texts}");
    let found: Vec<&str> = report.files.iter().map(|file| file.name.as_str()).collect();
    let names: Vec<&str> = documented.keys().map(String::as_str).collect();
    assert_eq!(found, names, "every trace has its row");
    for file in &report.files {
        let (agree, of) = documented[&file.name];
        assert!(file.agree >= agree, "{name}/{}: {agree} agreed once\n{texts}", file.name);
        assert!(agree < of || file.is_success(), "{} agreed completely\n{texts}", file.name);
        assert!(file.compared() > 20, "{}: only {} facts", file.name, file.compared());
        assert!(file.taken > 0, "{}: phases are taken from the record", file.name);
    }
}
