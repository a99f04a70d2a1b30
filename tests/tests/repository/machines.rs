//! The engine is made of machines that a simulator drives: the simulator stays small, and what goes
//! in and comes out is matched without wildcards, so that whatever is new is thought of everywhere.

use super::{files, read};

/// How many files may have an `impl Simulator`, and how many functions these may have together.
const MOST_FILES: usize = 4;
const MOST_FUNCTIONS: usize = 70;

/// The bodies of `impl Simulator` in a source.
fn implementations(source: &str) -> Vec<&str> {
    let parts = source.split("\nimpl ").skip(1);
    let bodies = parts.filter_map(|part| {
        let (head, rest) = part.split_once(" {\n")?;
        let is_it = head == "Simulator";
        is_it.then(|| rest.split("\n}\n").next().unwrap_or(rest))
    });
    bodies.collect()
}

fn functions(body: &str) -> usize {
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let is_function = |line: &&str| !line.starts_with([' ', '/']) && line.contains("fn ");
    lines.filter(is_function).count()
}

#[test]
fn the_simulator_only_drives() {
    let mut found = Vec::new();
    for file in files("core/engine/src", &["rs"]) {
        let source = read(&file);
        let bodies = implementations(&source);
        if !bodies.is_empty() {
            found.push((file, bodies.into_iter().map(functions).sum::<usize>()));
        }
    }
    let all: usize = found.iter().map(|(_, functions)| functions).sum();
    assert!(all > 20, "no `impl Simulator` is found any more: {found:?}");
    assert!(found.len() <= MOST_FILES, "`impl Simulator` is in {} files: {found:?}", found.len());
    assert!(all <= MOST_FUNCTIONS, "`impl Simulator` has {all} functions: {found:?}");
}

/// The source without comments and literals, in which braces are those of the program.
fn program(source: &str) -> String {
    let mut left = source;
    let mut program = String::new();
    while let Some(first) = left.chars().next() {
        let length = if left.starts_with("//") {
            left.find('\n').unwrap_or(left.len())
        } else if first == '"' {
            let mut escaped = false;
            let end = left.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            end.map_or(left.len(), |(index, _)| index + 1)
        } else if first == '\'' {
            // A character; a lifetime has no quote at its end.
            let after = left.char_indices().skip(if left[1..].starts_with('\\') { 3 } else { 2 });
            after.take(1).find(|(_, c)| *c == '\'').map_or(0, |(index, _)| index + 1)
        } else {
            0
        };
        if length == 0 {
            program.push(first);
        }
        left = &left[length.max(first.len_utf8())..];
    }
    program
}

/// The patterns of each `match`.
fn matches(program: &str) -> Vec<Vec<&str>> {
    let starts = program.match_indices("match ").filter(|(at, _)| {
        let before = program[..*at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    });
    starts
        .filter_map(|(at, _)| Some(patterns(&program[at + program[at..].find('{')? + 1..])))
        .collect()
}

/// The patterns of a `match` whose block begins here.
fn patterns(block: &str) -> Vec<&str> {
    let (mut patterns, mut depth, mut start, mut in_pattern) = (Vec::new(), 0, 0, true);
    for (index, c) in block.char_indices() {
        let ends = match c {
            '(' | '[' | '{' => {
                depth += 1;
                false
            }
            ')' | ']' | '}' => {
                depth -= 1;
                c == '}' && depth == 0 && !in_pattern
            }
            '=' if depth == 0 && in_pattern && block[index..].starts_with("=>") => {
                patterns.push(block[start..index].trim().trim_start_matches(',').trim());
                in_pattern = false;
                false
            }
            ',' => depth == 0 && !in_pattern,
            _ => false,
        };
        if depth < 0 {
            break;
        }
        if ends {
            (start, in_pattern) = (index + 1, true);
        }
    }
    patterns
}

/// Whether a pattern is one of the enums of which nothing may be forgotten.
fn is_watched(pattern: &str) -> bool {
    ["Command::", "EventKind::", "Action::"].iter().any(|name| pattern.contains(name))
}

fn is_wildcard(pattern: &str) -> bool {
    pattern == "_" || pattern.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

#[test]
fn wildcards_are_found() {
    let patterns = |source: &str| matches(&program(source)).concat().join(" / ");
    let source =
        "match f(x) { A { y, .. } if y == '}' => { g() } // {\n B | C => \"{\", _ => h(), }";
    assert_eq!(patterns(source), "A { y, .. } if y == / B | C / _");
    let source = "match a { Action::Go { id } => match b { C => 1, other => 2 }, _ => 3 }";
    assert_eq!(patterns(source), "Action::Go { id } / _ / C / other");
    assert!(is_watched("DrainAction::Evict { id, .. }") && is_wildcard("other"));
    assert!(!is_watched("Actions") && !is_wildcard("None"));
}

#[test]
fn nothing_that_goes_in_or_comes_out_is_forgotten() {
    let crates = [
        "core/rules",
        "core/engine",
        "core/analysis",
        "core/words",
        "kubectl",
        "manifest",
        "answers",
        "command",
        "cli",
        "npm",
        "policy-module",
        "mdbook-taintlab",
        "web",
    ];
    let mut found = Vec::new();
    for file in crates.into_iter().flat_map(|name| files(&format!("{name}/src"), &["rs"])) {
        for patterns in matches(&program(&read(&file))) {
            let watched = patterns.iter().find(|pattern| is_watched(pattern));
            let wildcard = patterns.iter().any(|pattern| is_wildcard(pattern));
            if let Some(watched) = watched.filter(|_| wildcard) {
                found.push(format!("{}: a match with `{watched}`", file.display()));
            }
        }
    }
    assert!(found.is_empty(), "matches with a wildcard arm:\n{}", found.join("\n"));
}
