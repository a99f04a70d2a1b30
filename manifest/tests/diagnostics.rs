//! What is said about bad input, as text: `tests/diagnostics/NAME.yaml` gives `NAME.txt`.
//!
//! `BLESS=1 cargo test -p taintlab-manifest` writes the texts anew; read the difference.

#![expect(clippy::unwrap_used, reason = "a test says with a panic that it failed")]

use std::fmt::Write as _;
use std::path::Path;

use taintlab_manifest::{Limits, import, read_scenario};

fn load(name: &str) -> Result<String, String> {
    match name {
        "other.yaml" => Ok("{apiVersion: v1, kind: Node, metadata: {name: a}}\n---\n\
             {apiVersion: v1, kind: Node, metadata: {name: B}}\n"
            .into()),
        _ => Err("there is no such file".into()),
    }
}

fn report(name: &str, text: &str) -> String {
    let mut out = String::new();
    let (diagnostics, taken) = if name.starts_with("scenario") {
        let read = read_scenario(text, name, &Limits::default(), &mut load);
        let taken = if read.scenario.is_some() { "the scenario" } else { "nothing" };
        (read.diagnostics, taken.to_owned())
    } else {
        let import = import(text, name, &Limits::default());
        let nodes = import.nodes.iter().map(|node| format!("node {}", node.metadata.name));
        let pods = import.pods.iter().map(|pod| format!("pod {}", pod.key()));
        let others = import.other_kinds();
        let others =
            others.iter().map(|((version, kind), count)| format!("{count} {version} {kind}"));
        let taken: Vec<_> = nodes.chain(pods).chain(others).collect();
        let taken = if taken.is_empty() { "nothing".into() } else { taken.join(", ") };
        (import.diagnostics, taken)
    };
    for diagnostic in diagnostics {
        writeln!(out, "{diagnostic}").unwrap();
    }
    writeln!(out, "=> {taken}").unwrap();
    out
}

#[test]
fn bad_input_is_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension != "txt"));
    files.sort();
    assert!(files.len() > 20);
    let mut differences = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let found = report(name, &std::fs::read_to_string(&path).unwrap());
        let expected = path.with_added_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &found).unwrap();
        }
        let wanted = std::fs::read_to_string(&expected).unwrap_or_default();
        if found != wanted {
            differences.push(format!("== {name}: expected\n{wanted}-- found\n{found}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
