//! No text makes reading panic, or take long.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use taintlab_manifest::{Limits, import, read_scenario, text_from_bytes};

fn read(text: &str) {
    let _ = import(text, "any", &Limits::default());
    let _ = read_scenario(text, "any", &Limits::default(), &mut |_| Ok(text.to_owned()));
}

/// Pieces of YAML and JSON, so that random texts go deep into the parsers.
const PIECES: &[&str] = &[
    "a",
    "b: ",
    "- ",
    "\n",
    "\n  ",
    "\n    ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    ": ",
    ":",
    "? ",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!x ",
    "!<y> ",
    "!",
    "|",
    ">",
    "|2-",
    "\t",
    "#",
    " # c",
    "'",
    "\"",
    "\\",
    "\\u12",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "%TAG ! x\n",
    "~",
    "yes",
    "1.0",
    "é",
    "\u{feff}",
    "\r\n",
    "\r",
    "\0",
    "\u{85}",
    "\u{2028}",
    "@",
    "`",
    "items:\n",
    "kind: Pod\n",
    "apiVersion: v1\n",
    "metadata:\n  ",
    "{\"kind\": \"Node\"",
    "[{",
    "}]",
    "managedFields: ",
    "\"\\ud83d\\ude00\"",
    "😀",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_pieces_are_read_without_panic(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)
    ) {
        read(&pieces.concat());
    }

    #[test]
    fn any_bytes_are_text_or_an_error(bytes in any::<Vec<u8>>()) {
        let _ = text_from_bytes(&bytes, "any");
    }

    #[test]
    fn a_damaged_manifest_is_read_without_panic(
        at in 0..MANIFEST.len(), length in 0..30_usize, piece in prop::sample::select(PIECES)
    ) {
        let mut bytes = MANIFEST.as_bytes().to_vec();
        bytes.splice(at..(at + length).min(MANIFEST.len()), piece.bytes());
        read(&String::from_utf8_lossy(&bytes));
    }
}

const MANIFEST: &str = "apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: &meta {name: a, labels: {\"x\": 'y'}}
  spec:
    taints:
    - {key: k, value: v, effect: NoExecute}
- apiVersion: v1
  kind: Pod
  metadata:
    <<: *meta
    annotations:
      text: |
        several
        lines
  spec: {\"nodeName\": \"a\", \"tolerations\": [{\"operator\": \"Exists\"}]}
";

/// The time to read `piece` so often that the text has `length` bytes.
fn time(piece: &str, length: usize) -> Duration {
    let text = piece.repeat(length / piece.len());
    let start = Instant::now();
    read(&text);
    start.elapsed()
}

#[test]
fn repeated_pieces_are_read_in_linear_time() {
    let pieces = PIECES.iter().map(|a| (*a).to_owned());
    let pairs = PIECES.iter().flat_map(|a| PIECES.iter().map(move |b| format!("{a}{b}")));
    for piece in pieces.chain(pairs) {
        // Quadratic time would be a thousand times the usual here; the limit has much room, since
        // tests share a machine.
        let taken = time(&piece, 6_000);
        assert!(taken < Duration::from_secs(2), "{piece:?} takes {taken:?}");
    }
}

#[test]
fn limits_stop_hostile_texts() {
    let bomb = {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..30 {
            let names = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{names}]\n"));
        }
        text
    };
    let long = format!("a: &a \"{}\\n\"\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(100_000));
    let anchors: String = (0..99).map(|n| format!("&a{n} [")).collect();
    let anchors = format!("{anchors}{}{}", "x, ".repeat(300_000), "]".repeat(99));
    let stairs: String = (0..200).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    let deep = Limits { depth: 20, ..Limits::default() };
    let few = Limits { objects: 10, ..Limits::default() };
    let short = Limits { bytes: 10, ..Limits::default() };
    let nodes = Limits { nodes: 100, ..Limits::default() };
    let list = "- {apiVersion: v1, kind: ConfigMap}\n".repeat(11);
    for (name, text, limits, message) in [
        (
            "alias bomb",
            bomb.as_str(),
            Limits::default(),
            "aliases stand for more than 1000000 values",
        ),
        ("long alias", &long, Limits::default(), "aliases stand for more than 1000000 values"),
        (
            "nested anchors",
            &anchors,
            Limits::default(),
            "aliases stand for more than 1000000 values",
        ),
        ("deep YAML", &"- ".repeat(50_000), Limits::default(), "nested more than 100 deep"),
        ("deep map", &stairs, Limits::default(), "nested more than 100 deep"),
        ("deep JSON", &"[".repeat(5_000_000), Limits::default(), "nested more than 100 deep"),
        ("depth", &"[".repeat(21), deep, "nested more than 20 deep"),
        ("objects", &list, few, "more than 10 objects"),
        ("bytes", "a: b\nc: d\ne: f\n", short, "the text has 15 bytes, more than 10"),
        ("nodes", &list.repeat(10), nodes, "more than 100 values"),
    ] {
        let start = Instant::now();
        let import = import(text, name, &limits);
        let taken = start.elapsed();
        let found = import.diagnostics.iter().any(|one| one.message.contains(message));
        assert!(found, "{name}: {:?}", import.diagnostics);
        assert!(taken < Duration::from_secs(20), "{name} takes {taken:?}");
    }
}

#[test]
fn diagnostics_are_limited() {
    let text = "- {apiVersion: v1, kind: Node}\n".repeat(10_000);
    let import = import(&text, "many.yaml", &Limits::default());
    assert!(import.diagnostics.len() <= 501, "{}", import.diagnostics.len());
    let last = import.diagnostics.last().unwrap();
    assert!(last.message.ends_with("more errors and warnings are not shown"), "{last}");
}
