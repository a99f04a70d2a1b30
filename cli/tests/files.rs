//! Files that the program writes.

use std::path::Path;
use std::process::Command;

const SCENARIO: &str = "\
apiVersion: taintlab/v1
kind: Scenario
metadata: {name: own}
objects:
  nodes: [{metadata: {name: a}}, {metadata: {name: b}}]
";

#[test]
fn a_folder_that_there_is_not_is_made() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("written");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("own.yaml"), SCENARIO).unwrap();
    let taintlab = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taintlab"));
        let ran = command.args(line.split(' ')).current_dir(&folder).output().unwrap();
        String::from_utf8(ran.stderr).unwrap()
    };
    assert_eq!(taintlab("embed own.yaml --out assets/demos"), "");
    assert!(folder.join("assets/demos/own.json").exists());
    assert!(folder.join("assets/demos/own.html").exists());
    taintlab("report own.yaml --html build/report.html");
    assert!(folder.join("build/report.html").exists());
    // Where a file is in the way, that is said.
    let said = taintlab("report own.yaml --html own.yaml/report.html");
    let why = "own.yaml/report.html: error: the folder cannot be made: ";
    assert!(said.contains(why), "{said}");
}
