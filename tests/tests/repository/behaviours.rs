//! `docs/behaviours.md` and the tests agree: every identifier of a rule has a row, every row names
//! tests that exist, and each of them mentions the identifier.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{files, read};

/// The texts that may use identifiers or be named as tests, by their paths.
type Sources = BTreeMap<PathBuf, String>;

/// One rule of Kubernetes.
struct Row<'a> {
    /// Empty if no test uses one.
    id: &'a str,
    /// `path::name` of a test, or the path of a text scenario or transcript.
    tests: Vec<&'a str>,
}

/// The cells of a line of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

/// The rows of all tables of the document.
fn rows(document: &str) -> Vec<Row<'_>> {
    let tables = document.lines().filter_map(|line| cells(line).map(|cells| (line, cells)));
    tables
        .filter(|(_, cells)| cells[0] != "id" && !cells[0].starts_with("---"))
        .map(|(line, cells)| {
            let [id, .., tests] = cells[..] else { panic!("a row without cells: {line}") };
            assert_eq!(cells.len(), 5, "a row has id, rule, releases, upstream and tests: {line}");
            assert!(cells[1..].iter().all(|cell| !cell.is_empty()), "an empty cell: {line}");
            Row { id, tests: tests.split('`').skip(1).step_by(2).collect() }
        })
        .collect()
}

/// Whether it is a letter of a subject and a number.
fn is_identifier(word: &str) -> bool {
    let number = word.strip_prefix(['A', 'C', 'K', 'L', 'M', 'N', 'Q', 'T', 'V']);
    number.is_some_and(|number| {
        (1..=2).contains(&number.len()) && number.chars().all(|digit| digit.is_ascii_digit())
    })
}

/// The identifiers that a text uses, in words or in the name of a function: `q12_and_q13_…`.
fn identifiers(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let mut found: BTreeSet<String> =
        words.filter(|word| is_identifier(word)).map(str::to_owned).collect();
    for line in text.lines() {
        let Some(name) = line.trim().strip_prefix("fn ") else { continue };
        let parts = name.split('_').map(str::to_uppercase);
        found.extend(
            parts
                .take_while(|part| is_identifier(part) || ["AND", "TO"].contains(&part.as_str()))
                .filter(|part| is_identifier(part)),
        );
    }
    found
}

fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let start = format!("fn {name}(");
    lines.iter().enumerate().any(|(index, line)| {
        let attributes =
            lines[..index].iter().rev().take_while(|line| line.starts_with(['#', '/']));
        line.starts_with(&start) && attributes.into_iter().any(|line| *line == "#[test]")
    })
}

/// The file of a test, named by the end of its path.
fn find<'a>(test: &str, sources: &'a Sources) -> Result<&'a str, String> {
    let (path, name) = test.split_once("::").unwrap_or((test, ""));
    let mut found = sources.iter().filter(|(known, _)| known.ends_with(Path::new(path)));
    match (found.next(), found.next()) {
        (Some((_, text)), None) if name.is_empty() || has_test(text, name) => Ok(text),
        (Some((file, _)), None) => Err(format!("`{}` has no test `{name}`", file.display())),
        (None, _) => Err(format!("there is no file `{path}`")),
        (Some((one, _)), Some((other, _))) => {
            Err(format!("`{path}` is `{}` or `{}`", one.display(), other.display()))
        }
    }
}

/// What does not agree, one line each.
fn problems(document: &str, sources: &Sources) -> Vec<String> {
    let mut problems = Vec::new();
    let mut known = BTreeSet::new();
    for Row { id, tests } in rows(document) {
        let is_new = is_identifier(id) && known.insert(id.to_owned());
        if !id.is_empty() && !is_new {
            problems.push(format!("`{id}` is no identifier, or has two rows"));
        }
        if tests.is_empty() {
            problems.push(format!("`{id}` names no test"));
        }
        for test in tests {
            match find(test, sources) {
                Err(error) => problems.push(format!("`{id}`: {error}")),
                Ok(text) if !id.is_empty() && !identifiers(text).contains(id) => {
                    problems.push(format!("`{test}` does not mention {id}"));
                }
                Ok(_) => {}
            }
        }
    }
    for (path, text) in sources {
        for id in identifiers(text).difference(&known) {
            problems.push(format!("{}: {id} has no row", path.display()));
        }
    }
    problems
}

#[test]
fn every_identifier_has_a_row_and_every_row_its_test() {
    let folders = [
        "core/analysis/src",
        "core/engine/src",
        "core/rules/src",
        "kubectl/src",
        "kubectl/tests",
        "manifest/src",
        "manifest/tests",
        "tests/benches",
        "tests/kubectl",
        "tests/scenarios",
        "tests/src",
        "tests/tests",
    ];
    // The examples below are no identifiers of rules.
    let paths = folders.into_iter().flat_map(|folder| files(folder, &["rs", "txt"]));
    let paths = paths.filter(|path| !path.ends_with("repository/behaviours.rs"));
    let sources: Sources = paths.map(|path| (path.clone(), read(path))).collect();
    let document = read("docs/behaviours.md");
    assert!(rows(&document).len() > 100, "the tables are gone");
    let problems = problems(&document, &sources);
    assert!(problems.is_empty(), "\ndocs/behaviours.md:\n{}\n", problems.join("\n"));
}

#[test]
fn a_missing_row_and_a_missing_test_are_noticed() {
    let text = "/// The example T1.\n#[test]\nfn q2_to_q3_wait() {}\nfn helper() {}\n";
    let sources: Sources = [("tests/a/b.rs".into(), text.to_owned())].into();
    let document = |rows: &[(&str, &str)]| -> String {
        let rows = rows.iter().map(|(id, test)| format!("| {id} | rule | all | f | `{test}` |\n"));
        format!("| id | rule | releases | upstream | test |\n|---|---|---|---|---|\n{}", {
            rows.collect::<String>()
        })
    };
    let test = "a/b.rs::q2_to_q3_wait";
    let good = [("T1", test), ("Q2", test), ("Q3", "b.rs"), ("", test)];
    assert_eq!(problems(&document(&good), &sources), [""; 0]);
    for (rows, expected) in [
        (&good[..2], "tests/a/b.rs: Q3 has no row"),
        (&[&good[..], &[("T2", test)]].concat(), "`a/b.rs::q2_to_q3_wait` does not mention T2"),
        (&[&good[..], &[good[0]]].concat(), "`T1` is no identifier, or has two rows"),
        (&[&good[..], &[("", "b.rs::helper")]].concat(), "``: `tests/a/b.rs` has no test `helper`"),
        (&[&good[..], &[("", "c.rs::helper")]].concat(), "``: there is no file `c.rs`"),
    ] {
        assert_eq!(problems(&document(rows), &sources), [expected]);
    }
}
