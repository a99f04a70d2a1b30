//! `release-diff`: everything bound to one release of Kubernetes, as a list for adding the next
//! one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

use crate::workspace::{self, Workspace};

/// The file that defines the releases, and the newest one.
const RELEASE: &str = "core/rules/src/release.rs";

/// The folder with the tables of rules.
const RULES: &str = "core/rules/src/release";

/// Files that name a release because they were generated, recorded, or tell of the past.
const LEFT_OUT: [&str; 6] = [
    ":!*.lock",
    ":!*package-lock.json",
    ":!CHANGELOG.md",
    ":!docs/upstream.md",
    ":!tests/traces*",
    ":!tests/vectors",
];

/// Prints the rules that begin with a release, and the places that name it; without a release,
/// those of the newest one.
///
/// # Errors
/// The text is not a release, or the files cannot be searched.
pub(crate) fn run(workspace: &Workspace, release: Option<&str>) -> Result<()> {
    let source = fs::read_to_string(workspace.path(RELEASE))
        .with_context(|| format!("cannot read `{RELEASE}`"))?;
    let minor = match release {
        None => newest(&source).ok_or_else(|| anyhow!("`{RELEASE}` names no newest release"))?,
        Some(text) => text
            .strip_prefix("1.")
            .and_then(|minor| minor.parse().ok())
            .ok_or_else(|| anyhow!("`{text}` is no release; one is written as 1.36"))?,
    };
    println!("Rules that begin with 1.{minor}\n");
    for file in files_in(&workspace.path(RULES))? {
        let source = fs::read_to_string(&file)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for (line, rule) in rules(&source, minor) {
            println!("  {RULES}/{name}:{line}: {rule}");
        }
    }
    let everywhere = grep(workspace, &format!("\\b1\\.{minor}\\b"), &LEFT_OUT)?;
    for (part, files) in by_part(&everywhere) {
        println!("\n{part}\n");
        for (file, count) in files {
            println!("  {count:4}  {file}");
        }
    }
    Ok(())
}

/// The minor version of `NEWEST`.
fn newest(source: &str) -> Option<u32> {
    let (_, rest) = source.split_once("NEWEST: Self = Self::of(")?;
    rest.split_once(')')?.0.parse().ok()
}

/// The rows of a file's tables that begin with a release, with their line numbers: rows of `since!`
/// and `changes!` that name the release, and rows of `until!` that name the one before.
fn rules(source: &str, minor: u32) -> Vec<(usize, &str)> {
    let mut named = minor;
    let mut found = Vec::new();
    for (line, text) in (1..).zip(source.lines()) {
        if let Some(table) = text.strip_suffix("! {") {
            named = if table == "until" { minor.saturating_sub(1) } else { minor };
        }
        let Some((rule, value)) = text.trim().split_once(" = ") else { continue };
        let digits = value.split(|c: char| !c.is_ascii_digit()).next();
        if digits.and_then(|digits| digits.parse().ok()) == Some(named) {
            found.push((line, rule));
        }
    }
    found
}

/// The files of a folder, sorted by name.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read `{RULES}`"))?;
    let mut files: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.sort();
    Ok(files)
}

/// The matching lines of tracked files; it is no error if there are none.
fn grep(workspace: &Workspace, pattern: &str, paths: &[&str]) -> Result<String> {
    let mut git = workspace.command("git");
    git.args(["grep", "-n", "-I", "-P", pattern, "--"]).args(paths);
    let found = git.output().context("cannot run git")?;
    // Git exits with 1 if nothing matches.
    match found.status.code() {
        Some(0 | 1) => Ok(String::from_utf8_lossy(&found.stdout).into_owned()),
        _ => workspace::output(&mut git),
    }
}

/// Matching lines per file, grouped by the part of the project.
fn by_part(lines: &str) -> BTreeMap<&'static str, BTreeMap<&str, usize>> {
    let mut parts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for file in lines.lines().filter_map(|line| line.split(':').next()) {
        *parts.entry(part(file)).or_default().entry(file).or_default() += 1;
    }
    parts
}

fn part(file: &str) -> &'static str {
    let is_test = file.contains("/tests/") || file.ends_with("tests.rs");
    match file.split('/').next().unwrap_or_default() {
        "tests" => "Tests",
        _ if is_test => "Tests",
        "core" | "manifest" | "kubectl" => "Engine",
        "web" | "npm" | "mdbook-taintlab" | "xtask" => "Page, package and tasks",
        _ => "Docs and examples",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_is_read_from_the_engine() {
        assert_eq!(
            newest(include_str!("../../core/rules/src/release.rs")).map(|it| it > 30),
            Some(true)
        );
        assert_eq!(newest("pub const NEWEST: Self = Self::of(36);"), Some(36));
        assert_eq!(newest("nothing"), None);
    }

    #[test]
    fn finds_the_rules_that_begin_with_a_release() {
        let source = "since! {\n    one = 36;\n    other = 35;\n}\nuntil! {\n    last = 35;\n}\n\
                      changes! {\n    words = 36, believed:\n        \"text\";\n}\n";
        assert_eq!(rules(source, 36), [(2, "one"), (6, "last"), (9, "words")]);
        assert_eq!(rules(source, 35), [(3, "other")]);
    }

    #[test]
    fn lines_are_counted_by_file_and_part() {
        let lines = "core/rules/src/release.rs:1:a\ncore/rules/src/release.rs:2:b\nnpm/tests/a.mjs:1:c\n\
                     README.md:1:d\ntests/e2e/a.mjs:9:e\n";
        let parts = by_part(lines);
        assert_eq!(parts["Engine"], BTreeMap::from([("core/rules/src/release.rs", 2)]));
        assert_eq!(parts["Tests"].len(), 2);
        assert_eq!(parts["Docs and examples"], BTreeMap::from([("README.md", 1)]));
        assert_eq!(parts.get("Page, package and tasks"), None);
    }
}
