//! The book of this repository: each of its fences runs, its links lead somewhere, and each chapter
//! has something that is checked. mdBook itself is not needed.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test says with a panic that it failed")]

use std::fs;
use std::path::{Path, PathBuf};

use mdbook_preprocessor::book::{Book, Chapter};
use mdbook_taintlab::{Places, run_book};
use pulldown_cmark::{Event, Options, Parser, Tag};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Where the links and images of a text lead.
fn links(text: &str) -> Vec<String> {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES);
    parser
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.to_string())
            }
            _ => None,
        })
        .collect()
}

/// The chapters of SUMMARY.md, by their paths.
fn chapters() -> Vec<String> {
    links(&read("docs/book/src/SUMMARY.md"))
}

fn book() -> Book {
    let chapter = |path: String| {
        let text = read(Path::new("docs/book/src").join(&path));
        let name = text.lines().next().unwrap().trim_start_matches("# ").to_owned();
        Chapter::new(&name, text, path, Vec::new()).into()
    };
    Book::new_with_items(chapters().into_iter().map(chapter).collect())
}

fn built() -> Book {
    let places = Places {
        examples: root().join("examples"),
        source: "docs/book/src".into(),
        playground: "../".into(),
    };
    run_book(book(), &places).unwrap_or_else(|error| panic!("\n{error}\n"))
}

#[test]
fn every_fence_runs_and_every_chapter_has_one() {
    let built = built();
    let mut ids = Vec::new();
    for chapter in built.chapters() {
        let text = &chapter.content;
        let name = &chapter.name;
        // No fence is without an expectation: the preprocessor refuses it.
        let figures = text.matches("<figure class=\"taint-lab\"").count();
        assert!(figures > 0, "{name} has no fence");
        assert_eq!(text.matches("<svg xmlns").count(), figures, "{name}");
        ids.extend(text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()));
    }
    let all = ids.len();
    assert!(all > 100, "only {all} ids");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id occurs twice; one page holds all chapters");
}

/// Question, prediction, demo, answer, something to change.
#[test]
fn every_chapter_asks_first() {
    for path in chapters() {
        let text = read(Path::new("docs/book/src").join(&path));
        let mut lines = text.lines().filter(|line| !line.is_empty());
        assert!(lines.next().unwrap().starts_with("# "), "{path}");
        let question: String = lines.take(3).collect();
        assert!(question.starts_with("**") && question.contains('?'), "{path} asks nothing");
        if path.starts_with("reference/") {
            continue;
        }
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        for heading in ["## What do you expect?", "## The answer", "## Change this"] {
            assert!(headings.contains(&heading), "{path} has no `{heading}`");
        }
    }
}

#[test]
fn every_file_is_a_chapter() {
    let source = root().join("docs/book/src");
    let listed = chapters();
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
            assert!(name == "SUMMARY.md" || listed.contains(&name), "no link to {name}");
        }
    }
}

#[test]
fn links_and_included_files_are_there() {
    let mut seen = 0;
    for chapter in built().chapters() {
        let path = Path::new("docs/book/src").join(chapter.path.as_ref().unwrap());
        let folder = root().join(path.parent().unwrap());
        for link in links(&chapter.content) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || link.starts_with("https://") {
                continue;
            }
            assert!(folder.join(file).is_file(), "{}: {link}", path.display());
            seen += 1;
        }
        for include in chapter.content.split("{{#include ").skip(1) {
            let (target, _) = include.split_once("}}").unwrap();
            let (file, anchor) = target.split_once(':').unwrap_or((target, ""));
            let text = fs::read_to_string(folder.join(file))
                .unwrap_or_else(|error| panic!("{}: {target}: {error}", path.display()));
            for mark in ["ANCHOR", "ANCHOR_END"] {
                let wanted = format!("<!-- {mark}: {anchor} -->");
                assert!(anchor.is_empty() || text.contains(&wanted), "{target}: no {wanted}");
            }
            seen += 1;
        }
    }
    assert!(seen > 60, "only {seen}");
}

#[test]
fn documents_of_the_repository_mention_the_book() {
    for file in ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        assert!(read(file).contains("docs/book"), "{file}");
    }
    assert!(read("README.md").contains("cargo xtask docs"));
}

/// What a reader sees says how many of what is checked, and names no file of the machine.
#[test]
fn figures_hold_what_a_reader_needs_without_javascript() {
    let built = built();
    let chapter = built.chapters().find(|chapter| chapter.name == "Why 345 seconds").unwrap();
    for wanted in [
        "<taint-lab scenario=\"why-345-seconds\" start-at=\"40s\"",
        "<a href=\"../../#s=why-345-seconds&amp;release=1.31&amp;t=40s\">",
        "<caption>default/web-0: 5m45.1s after the last heartbeat",
        "Together 345.1 s.",
        "<tr class=\"step\"><td>3s</td><td>stopKubelet node=worker-1</td></tr>",
        "<li>default/web-0 is evicted at 5m45.1s</li>",
        "<code class=\"language-yaml\">apiVersion: taintlab/v1&#10;kind: Scenario",
    ] {
        assert!(chapter.content.contains(wanted), "no {wanted} in\n{}", chapter.content);
    }
    let root = root().canonicalize().unwrap();
    for chapter in built.chapters() {
        assert!(!chapter.content.contains(root.to_str().unwrap()), "{}", chapter.name);
        for figure in chapter.content.lines().filter(|line| line.contains("<figure")) {
            assert!(figure.ends_with("</script></taint-lab></div>"), "one line: {}", chapter.name);
        }
    }
}
