//! The preprocessor by itself: what it puts into a chapter, and what stops a book.

#![expect(clippy::unwrap_used, reason = "a test says with a panic that it failed")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use mdbook_preprocessor::book::{Book, Chapter};
use mdbook_taintlab::{Places, run_book};

const SCENARIO: &str = "\
```taintlab
apiVersion: taintlab/v1
kind: Scenario
metadata:
  name: small
objects:
  nodes: [{ metadata: { name: worker-1 } }]
  pods: [{ metadata: { name: web-0 }, spec: { nodeName: worker-1 } }]
steps:
  - { at: 10s, do: { taint: { node: worker-1, taint: { key: a, effect: NoExecute } } } }
expect:
  - evicted: { pod: default/web-0, at: 10s }
```
";

fn book(text: &str) -> Book {
    let chapter = Chapter::new("A chapter", text.into(), "part/chapter.md", Vec::new());
    Book::new_with_items(vec![chapter.into()])
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

fn run(text: &str) -> Result<String, String> {
    let places =
        Places { examples: examples(), source: "src".into(), playground: "../play/".into() };
    let built = run_book(book(text), &places);
    let built = built.map_err(|error| error.to_string())?;
    Ok(built.chapters().next().unwrap().content.clone())
}

/// The error that a text must lead to.
fn error(text: &str) -> String {
    run(text).unwrap_err()
}

#[test]
fn a_fence_becomes_a_figure_and_the_text_around_it_stays() {
    let text = run(&format!("before\n\n{SCENARIO}\nafter {{{{taintlab small evicted.at}}}}.\n"));
    let text = text.unwrap();
    let begins = "before\n\n<div class=\"taint-lab-demo\"><taint-lab scenario=\"small\" editable \
                  playground=\"../../play/\"><figure class=\"taint-lab\" id=\"taintlab-part-chapter-1\"";
    assert!(text.starts_with(begins));
    assert!(text.ends_with("</taint-lab></div>\n\nafter 10s.\n"));
    assert!(!text.contains("#s="), "the playground does not know the scenario");
    assert!(text.contains("<p class=\"open\"><a href=\"../../play/#d="), "so it gets it");
}

#[test]
fn code_is_left_as_it_is() {
    let text = "`{{taintlab small evicted.at}}`\n\n```\n{{taintlab-table x}}\n```\n\n```yaml\na: 1\n```\n\n\
                ````markdown\n```taintlab scenario=none\n```\n````\n";
    assert_eq!(run(text).unwrap(), text);
}

#[test]
fn a_fence_in_a_list_stays_in_it() {
    let indented = SCENARIO.replace('\n', "\n  ");
    let text = run(&format!("- one\n\n  {indented}\n- two\n")).unwrap();
    assert!(text.starts_with("- one\n\n  <div class=\"taint-lab-demo\"><taint-lab"));
    assert!(text.contains("apiVersion: taintlab/v1&#10;kind: Scenario"), "{text}");
}

#[test]
fn values_have_paths() {
    let value = |path: &str| {
        let text = run(&format!("{SCENARIO}\n{{{{taintlab small {path}}}}}")).unwrap();
        text.rsplit_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(value("evicted.at"), "10s");
    assert_eq!(value("evicted.at.seconds"), "10");
    assert_eq!(value("evictions"), "1");
    assert_eq!(value("ended.at"), "40s");
    assert_eq!(value("events.1.at"), "10s");
    assert_eq!(value("events.1.text"), "taint node=worker-1 effect=NoExecute key=a");
    assert_eq!(value("pod.default/web-0.gone.at"), "40s");
    assert_eq!(value("outcome"), "Ended at 40s: 1 pod evicted.");
    let why = |path: &str| run(&format!("{{{{taintlab why-345-seconds {path}}}}}")).unwrap();
    assert_eq!(why("pod.default/web-0.budget.total.seconds"), "345.1");
    assert_eq!(why("pod.default/web-0.budget.1"), "40s");
    assert_eq!(why("node.worker-1.unreachable.at"), "3s");
    assert_eq!(why("node.worker-1.unknown.at"), "40.008s");
    assert_eq!(why("node.worker-1.tainted.at"), "45.1s");
    let zone = run("{{taintlab one-zone-of-three\nzone.eu-1a.FullDisruption.at}}").unwrap();
    assert_eq!(zone, "40.075s");
}

#[test]
fn an_unknown_path_stops_the_book_and_lists_those_that_are_valid() {
    let found = error("a\n\nb {{taintlab why-345-seconds node.worker-1.lost.at}}\n");
    assert!(found.starts_with("src/part/chapter.md:3: the run has no value"), "{found}");
    assert!(found.contains("node.worker-1.tainted.at, node.worker-1.unknown.at"), "{found}");
    let found = error("{{taintlab why-345-seconds when}}");
    assert!(found.contains("evicted.at") && found.contains("events.N.at for N from 1"), "{found}");
    let found = error("{{taintlab why-345-seconds}}");
    assert!(found.contains("write `{{taintlab SCENARIO PATH}}`"), "{found}");
    assert!(error("{{taintlab why evicted.at").contains("has no `}}`"));
    assert!(
        error("{{taintlab-table tables}}").contains("`events`, `flags`, `releases` and `threads`")
    );
}

#[test]
fn an_expectation_that_fails_stops_the_book_with_the_line_of_the_chapter() {
    let wrong = SCENARIO.replace("at: 10s }\n```", "at: 11s }\n```");
    let found = error(&format!("# Title\n\ntext\n\n{wrong}"));
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines[0], "src/part/chapter.md:5: a scenario is wrong:");
    assert_eq!(
        lines[1],
        "src/part/chapter.md:16:5: expect[0]: default/web-0 is evicted at 11s, but it is evicted \
         at 10s"
    );
}

#[test]
fn what_cannot_be_read_or_run_stops_the_book() {
    let found = error(&SCENARIO.replace("kind: Scenario", "kind: Scenario\nuntill: 5s"));
    assert!(found.contains("chapter.md:4:1: ") && found.contains("until"), "{found}");
    let found = error(&SCENARIO.replace("node: worker-1,", "node: worker-9,"));
    assert!(found.contains("chapter.md:10:5: steps[0]"), "{found}");
    let found = error("```taintlab scenario=why-345-second\n```");
    assert!(
        found.contains("no scenario `why-345-second`; did you mean `why-345-seconds`?"),
        "{found}"
    );
    assert!(error("{{taintlab something evicted.at}}").contains("there are 499-of-500-nodes, "));
    assert!(error("```taintlab\n```").contains("the fence is empty"));
    assert!(error("```taintlab scenario=sample-cluster\n```").contains("expects nothing"));
    let found = error("```taintlab scenario=why-345-seconds start=4s\n```");
    assert!(found.contains("`start=4s` is no attribute"), "{found}");
    let found = error("```taintlab scenario=why-345-seconds start-at=4h\n```");
    assert!(found.contains("after the end of the run"), "{found}");
    let found = error("```taintlab scenario=why-345-seconds budget=default/web-1\n```");
    assert!(found.contains("these are: default/web-0"), "{found}");
}

#[test]
fn all_errors_of_a_book_are_told_at_once() {
    let found = error("```taintlab\n```\n\n{{taintlab why-345-seconds x}}\n");
    assert_eq!(found.matches("src/part/chapter.md:").count(), 2, "{found}");
    // Not those that follow from another.
    let wrong = SCENARIO.replace("at: 10s }\n```", "at: 11s }\n```");
    let found = error(&format!("{wrong}\n{{{{taintlab small evicted.at}}}}"));
    assert_eq!(found.lines().count(), 2, "{found}");
}

fn program(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mdbook-taintlab"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may end before it has read all.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// The recording in a chapter.
fn recording(text: &str) -> serde_json::Value {
    let (_, rest) = text.split_once("<script type=\"application/json\">").unwrap();
    let (recording, _) = rest.split_once("</script>").unwrap();
    assert!(!recording.contains('<'), "{recording}");
    serde_json::from_str(recording).unwrap()
}

#[test]
fn every_setting_of_the_knobs_is_recorded() {
    let fence = "```taintlab scenario=why-345-seconds select=pod/default/web-0 editable=false \
                 knob=tolerationSeconds:0,30,none knob=release:1.20,1.31\n```";
    let text = run(fence).unwrap();
    let element = "<taint-lab scenario=\"why-345-seconds\" select=\"pod/default/web-0\" \
                   playground=\"../../play/\"><figure";
    assert!(text.contains(element), "no {element}");
    let recording = recording(&text);
    let knob = &recording["knobs"][0];
    assert_eq!(knob["written"], "300");
    assert_eq!(knob["values"], serde_json::json!(["300", "0", "30", "none"]));
    let runs = recording["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 8);
    assert_eq!(runs[0]["knobs"], serde_json::json!(["300", "1.31"]));
    let last = |seconds: &str, release: &str| {
        let knobs = serde_json::json!([seconds, release]);
        let run = runs.iter().find(|run| run["knobs"] == knobs).unwrap();
        assert_eq!(run["release"], release);
        let deleted = run["events"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .find(|event| event["text"].as_str().unwrap().contains("Marking for deletion"));
        deleted.map(|event| event["at"].as_u64().unwrap())
    };
    assert_eq!(last("300", "1.31"), Some(345_100));
    assert_eq!(last("30", "1.31"), Some(75_100));
    assert_eq!(last("0", "1.20"), Some(45_100));
    assert_eq!(last("none", "1.20"), None);
    // Not as far as the expectations of the scenario as it is written.
    assert_eq!((runs[0]["end"].as_u64(), runs[4]["end"].as_u64()), (Some(345_100), Some(75_100)));
    assert_eq!(runs[0]["budgets"][0]["total"], "5m45.1s after the last heartbeat");
}

#[test]
fn a_knob_that_does_not_fit_stops_the_book() {
    let with = |words: &str| error(&format!("```taintlab scenario=three-effects {words}\n```"));
    assert!(with("knob=release").contains("write a knob as `NAME:VALUE,VALUE`"));
    assert!(with("knob=tolerationSeconds:0,30").contains("no toleration of the scenario has any"));
    assert!(with("knob=release:1.9").contains("1.9"));
    assert!(with("knob=node-grace:1s").contains("`node-monitor-grace-period`"));
    let many = "knob=release:1.18,1.19,1.20,1.21,1.22 knob=node-eviction-rate:1,2,3,4,5";
    assert!(with(many).contains("36 settings together; at most 24"), "{}", with(many));
    assert!(with("view=all").contains("view: expected lanes, log or budget, found `all`"));
    assert!(with("speed=0").contains("speed: expected"));
}

/// What mdBook writes to a preprocessor.
fn input(text: &str) -> String {
    serde_json::json!([
        {
            "root": env!("CARGO_MANIFEST_DIR"),
            "config": {
                "book": {"src": "src"},
                "preprocessor": {"taintlab": {"examples": "../examples"}},
            },
            "renderer": "html",
            "mdbook_version": mdbook_preprocessor::MDBOOK_VERSION,
        },
        book(text),
    ])
    .to_string()
}

#[test]
fn the_program_speaks_the_protocol_of_mdbook() {
    assert!(program(&["supports", "html"], "").status.success());
    assert!(!program(&["supports", "markdown"], "").status.success());
    assert_eq!(program(&["help"], "").status.code(), Some(2));
    let output = program(&[], &input("{{taintlab why-345-seconds evicted.at}}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let built: Book = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(built.chapters().next().unwrap().content, "5m45.1s");
    let output = program(&[], &input("{{taintlab why-345-seconds evicted.when}}"));
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("src/part/chapter.md:1: "));
    assert_eq!(program(&[], "no JSON").status.code(), Some(1));
}
