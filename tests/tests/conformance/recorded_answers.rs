//! The engine against the recorded answers in this repository, and the program that compares.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use taintlab_tests::conformance::FAMILIES;
use taintlab_tests::conformance::runner::{default_dir, run_dir};

/// `cargo xtask test` runs this one as a step of its own, and shows what it prints.
#[test]
fn every_family_agrees() {
    let mut texts = Vec::new();
    let print = |text: &str| {
        println!("{text}");
        texts.push(text.to_owned());
    };
    let report = run_dir(&default_dir(), print).unwrap();
    let names: Vec<_> = report.files.iter().map(|file| file.name.as_str()).collect();
    let known: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
    assert_eq!(names, known, "every family has its file");
    assert!(report.is_success(), "{}", texts.join("\n"));
    assert!(report.files.iter().all(|file| file.total > 0), "{}", texts.join("\n"));
}

/// A folder with these files, made afresh under Cargo's folder for tests.
fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    for (file, content) in files {
        fs::write(dir.join(file), content).unwrap();
    }
    dir
}

fn conformance(dir: &Path) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_conformance")).arg(dir).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    (output, text)
}

const GOOD: &str = concat!(
    r#"{"taint":{"key":"a","effect":"NoExecute"},"#,
    r#""toleration":{"operator":"Exists"},"tolerates":true}"#,
);

#[test]
fn a_difference_is_shown_and_fails() {
    let wrong = GOOD.replace("true", "false");
    let lines = format!("{GOOD}\n{}", format!("{wrong}\n").repeat(7));
    let dir = folder("conformance-difference", &[("tolerates.jsonl", lines.as_bytes())]);
    let (output, text) = conformance(&dir);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let shown = format!(
        "tolerates: 1 of 8 agree\n  line 2\n    input     {wrong}\n    expected  \
         [false,[false]]\n    got       [true,[true]]\n  line 3\n"
    );
    assert!(text.starts_with(&shown), "{text}");
    assert_eq!(text.matches("    got ").count(), 5, "only the first five: {text}");
    assert!(text.ends_with("total: 1 of 8 agree in 1 file\n"), "{text}");
}

#[test]
fn gzipped_and_plain_files_agree_and_others_are_left_alone() {
    let gz = fs::read(default_dir().join("validation.jsonl.gz")).unwrap();
    let dir = folder(
        "conformance-agreement",
        &[
            ("tolerates.jsonl", format!("{GOOD}\n\n").as_bytes()),
            ("validation.jsonl.gz", &gz),
            ("weather.jsonl", b"{}"),
            ("README.md", b"not a vector"),
        ],
    );
    let (output, text) = conformance(&dir);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "tolerates: 1 of 1 agree");
    assert!(lines[1].starts_with("validation: "), "{text}");
    assert_eq!(lines[2], "weather: not run");
    assert!(lines[3].starts_with("total: ") && lines[3].ends_with("in 2 files"), "{text}");
}

#[test]
fn an_unknown_member_fails() {
    let line = GOOD.replace("{\"taint\"", "{\"weather\":1,\"taint\"");
    let dir = folder("conformance-member", &[("tolerates.jsonl", line.as_bytes())]);
    let (output, text) = conformance(&dir);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("    failed    the case cannot be read: unknown field `weather`"),
        "{text}"
    );
}

#[test]
fn a_broken_file_or_no_known_one_fails() {
    let broken: &[(&str, &[u8])] =
        &[("tolerates.jsonl.gz", b"not gzip"), ("matching.jsonl", &[0xff])];
    let dir = folder("conformance-broken", broken);
    let (output, text) = conformance(&dir);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("tolerates: cannot read "), "{text}");
    assert!(text.contains("matching: cannot read "), "{text}");

    let dir = folder("conformance-empty", &[("weather.jsonl", b"{}")]);
    let (output, text) = conformance(&dir);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("no known family in "), "{text}");

    let (output, _) = conformance(&dir.join("nowhere"));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot read the folder"));
}
