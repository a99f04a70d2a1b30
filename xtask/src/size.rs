//! `size`: what the page loads first, and what it loads later, if ever.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::npm;
use crate::pins;
use crate::playground::DIST;
use crate::workspace::{self, Workspace};

/// Reads paths, one per argument; prints `raw gzip brotli` of each. Node's own zlib is the
/// reference implementation of both, which servers use too.
const COMPRESS: &str = "
const { readFileSync } = require('node:fs');
const { gzipSync, brotliCompressSync, constants } = require('node:zlib');
for (const path of process.argv.slice(1)) {
  const bytes = readFileSync(path);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 22,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  console.log(bytes.length, gzipSync(bytes, { level: 9 }).length,
    brotliCompressSync(bytes, { params }).length);
}";

/// Sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sizes {
    raw: u64,
    gzip: u64,
    brotli: u64,
}

/// A file of the release build.
struct DistFile {
    /// Its path inside dist/, with `/`.
    path: String,
    /// Its text; empty for wasm, pictures and the like.
    text: String,
}

/// Prints the table of sizes of the release build.
///
/// # Errors
/// When dist/ cannot be read, or the page loads more than [`pins::PAGE_BUDGET_GZIP`].
pub(crate) fn report(workspace: &Workspace) -> Result<()> {
    let mut files = Vec::new();
    collect(&workspace.path(DIST), "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let sizes = measure(workspace, &files)?;
    let first = loaded_first(&files);
    if !first.contains("index.html") {
        bail!("`{DIST}` has no index.html");
    }

    println!("{:>10} {:>10} {:>10}  loaded first", "raw", "gzip -9", "brotli 11");
    let total = print_rows(&files, &sizes, |path| first.contains(path));
    row(total, "in all");
    if first.len() < files.len() {
        println!("{:>32}  loaded once the page stands", "");
        print_rows(&files, &sizes, |path| !first.contains(path));
    }
    let budget = pins::PAGE_BUDGET_GZIP;
    if total.gzip > budget {
        bail!("the page loads {} bytes gzipped; the budget is {budget}", total.gzip);
    }
    println!("{} of {budget} bytes gzipped: within the budget", total.gzip);
    Ok(())
}

/// Prints the sizes of what a program loads of the npm package: wasm and the code around it.
///
/// # Errors
/// When it is not built, or weighs more than its budget.
pub(crate) fn package(workspace: &Workspace) -> Result<()> {
    let folder = npm::folder(workspace);
    println!("{:>10} {:>10} {:>10}  the npm package", "raw", "gzip -9", "brotli 11");
    let builds = [
        ("taintlab", "dist", pins::PACKAGE_BUDGET_BROTLI, pins::PACKAGE_GOAL_BROTLI),
        ("taintlab/lite", "dist/lite", pins::LITE_BUDGET_BROTLI, pins::LITE_GOAL_BROTLI),
    ];
    let mut over = Vec::new();
    for (entry, build, budget, goal) in builds {
        let names = ["taintlab_bg.wasm", "glue.js"];
        let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(build).join(name)).collect();
        let mut total = Sizes::default();
        for (name, sizes) in names.iter().zip(compress(workspace, &paths)?) {
            row(sizes, &format!("{build}/{name}"));
            total.raw += sizes.raw;
            total.gzip += sizes.gzip;
            total.brotli += sizes.brotli;
        }
        row(total, &format!("{entry}: the budget is {budget} of brotli, the goal {goal}"));
        if total.brotli > budget {
            over.push(format!(
                "{entry} is {} bytes of brotli; the budget is {budget}",
                total.brotli
            ));
        }
    }
    if over.is_empty() { Ok(()) } else { bail!("{}", over.join("; ")) }
}

fn print_rows(files: &[DistFile], sizes: &[Sizes], wanted: impl Fn(&str) -> bool) -> Sizes {
    let mut total = Sizes::default();
    for (file, sizes) in files.iter().zip(sizes).filter(|(file, _)| wanted(&file.path)) {
        row(*sizes, &file.path);
        total.raw += sizes.raw;
        total.gzip += sizes.gzip;
        total.brotli += sizes.brotli;
    }
    total
}

fn row(sizes: Sizes, name: &str) {
    println!("{:>10} {:>10} {:>10}  {name}", sizes.raw, sizes.gzip, sizes.brotli);
}

/// Reads a folder of dist/ and those below it.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<DistFile>) -> Result<()> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("cannot read `{}`: was it built?", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
            continue;
        }
        let is_text = [".html", ".js", ".mjs", ".css"].iter().any(|end| path.ends_with(end));
        let text = if is_text { fs::read_to_string(entry.path())? } else { String::new() };
        files.push(DistFile { path, text });
    }
    Ok(())
}

fn measure(workspace: &Workspace, files: &[DistFile]) -> Result<Vec<Sizes>> {
    let paths = files.iter().map(|file| workspace.path(DIST).join(&file.path));
    compress(workspace, &paths.collect::<Vec<_>>())
}

fn compress(workspace: &Workspace, paths: &[PathBuf]) -> Result<Vec<Sizes>> {
    let text =
        workspace::output(workspace.command("node").args(["-e", COMPRESS, "--"]).args(paths))?;
    let sizes: Vec<Sizes> = text.lines().filter_map(parse_sizes).collect();
    if sizes.len() != paths.len() {
        bail!("measured {} of {} files", sizes.len(), paths.len());
    }
    Ok(sizes)
}

fn parse_sizes(line: &str) -> Option<Sizes> {
    let mut numbers = line.split(' ').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Sizes { raw: next()?, gzip: next()?, brotli: next()? })
}

/// The page, each file that it names, and what those import statically or by CSS, and so on.
fn loaded_first(files: &[DistFile]) -> BTreeSet<&str> {
    let mut first = BTreeSet::from(["index.html"]);
    let mut pending = vec!["index.html"];
    while let Some(path) = pending.pop() {
        let Some(file) = files.iter().find(|file| file.path == path) else {
            first.remove(path);
            continue;
        };
        for other in files {
            if loads(file, &other.path) && first.insert(&other.path) {
                pending.push(&other.path);
            }
        }
    }
    first
}

/// Whether loading a file makes the browser load another at once.
fn loads(file: &DistFile, other: &str) -> bool {
    let name = other.rsplit('/').next().unwrap_or(other);
    file.text.match_indices(name).any(|(at, _)| {
        let before = file.text.get(..at).unwrap_or_default();
        // A module names others for other ends than loading them, so only `import` counts there;
        // and `import(…)` loads when it is reached.
        !file.path.ends_with("js") || is_static_import(before)
    })
}

/// Whether a text ends inside the string of `from "…` or `import "…`.
fn is_static_import(before: &str) -> bool {
    let Some(quote) = before.rfind(['"', '\'']) else { return false };
    let code = before.get(..quote).unwrap_or_default().trim_end();
    code.ends_with("from") || code.ends_with("import")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> DistFile {
        DistFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn follows_what_the_page_names_and_static_imports_but_not_dynamic_ones() {
        let files = [
            file("app-1.js", "import{a}from\"./snippets/x/a.js\";import './b.js';import('./c.js')"),
            file("app-1_bg.wasm", ""),
            file("b.js", ""),
            file("c.js", ""),
            file("index.html", "<link href=/style.css><script>import '/app-1.js', app-1_bg.wasm"),
            file("style.css", "@font-face { src: url(font.woff2) }"),
            file("font.woff2", ""),
            file("other.txt", ""),
            file("snippets/x/a.js", "new URL('c.js', base)"),
        ];
        let first: Vec<&str> = loaded_first(&files).into_iter().collect();
        let expected = [
            "app-1.js",
            "app-1_bg.wasm",
            "b.js",
            "font.woff2",
            "index.html",
            "snippets/x/a.js",
            "style.css",
        ];
        assert_eq!(first, expected);
    }

    #[test]
    fn a_build_without_a_page_loads_nothing() {
        assert!(loaded_first(&[file("app.js", "")]).is_empty());
    }

    #[test]
    fn reads_the_sizes_that_node_prints() {
        assert_eq!(parse_sizes("30 20 10"), Some(Sizes { raw: 30, gzip: 20, brotli: 10 }));
        assert_eq!(parse_sizes("30 20"), None);
        assert_eq!(parse_sizes("a b c"), None);
    }
}
