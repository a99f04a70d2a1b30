//! `size`: the sizes of the page and the npm package.

use std::fs;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use crate::pins;
use crate::playground::DIST;
use crate::workspace::{self, Workspace};
use crate::{cli, npm};

/// The Node program that prints the sizes of files, raw and compressed.
const COMPRESS: &str = include_str!("js/sizes.js");

/// Sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) raw: u64,
    pub(crate) gzip: u64,
    pub(crate) brotli: u64,
}

impl AddAssign for Sizes {
    fn add_assign(&mut self, other: Self) {
        self.raw += other.raw;
        self.gzip += other.gzip;
        self.brotli += other.brotli;
    }
}

/// Prints the sizes of the page and of the parts of the npm package that a program loads.
///
/// # Errors
/// One of them is not built, or exceeds its budget.
pub(crate) fn report(workspace: &Workspace) -> Result<()> {
    let mut files = Vec::new();
    collect(&workspace.path(DIST), "", &mut files)?;
    files.sort();
    let paths: Vec<PathBuf> = files.iter().map(|file| workspace.path(DIST).join(file)).collect();
    // Page and package each have one large file, which keeps a processor busy for ten seconds.
    thread::scope(|scope| {
        let compressed = scope.spawn(|| compress(workspace, &paths));
        let of_package = package(workspace);
        let compressed = compressed.join().map_err(|_| anyhow!("measuring the page panicked"))?;
        page(&files, compressed?)?;
        of_package
    })
}

fn page(files: &[String], compressed: Vec<Sizes>) -> Result<()> {
    println!("{:>10} {:>10} {:>10}  the page", "raw", "gzip -9", "brotli 11");
    let (mut total, mut first) = (Sizes::default(), Sizes::default());
    for (file, sizes) in files.iter().zip(compressed) {
        row(sizes, file);
        total += sizes;
        if !file.starts_with("engine") {
            first += sizes;
        }
    }
    row(first, "without the engine");
    row(total, "in all");
    for (what, size, budget) in [
        ("the page without the engine", first.gzip, pins::FIRST_BUDGET_GZIP),
        ("the page", total.gzip, pins::PAGE_BUDGET_GZIP),
    ] {
        if size > budget {
            bail!("{what} weighs {size} bytes gzipped; the budget is {budget}");
        }
        println!("{what}: {size} of {budget} bytes gzipped, within the budget");
    }
    Ok(())
}

/// Prints the sizes of the parts of the npm package that a program loads: wasm and the code around
/// it.
fn package(workspace: &Workspace) -> Result<()> {
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
            total += sizes;
        }
        row(total, &format!("{entry}: the budget is {budget} of brotli, the goal {goal}"));
        if total.brotli > budget {
            over.push(format!(
                "{entry} is {} bytes of brotli; the budget is {budget}",
                total.brotli
            ));
        }
    }
    element(workspace, &mut over)?;
    if over.is_empty() { Ok(()) } else { bail!("{}", over.join("; ")) }
}

/// Prints the sizes of the element `<taint-lab>` and of a page with five demos.
fn element(workspace: &Workspace, over: &mut Vec<String>) -> Result<()> {
    let folder = npm::folder(workspace);
    let page = workspace.target_dir().join("npm/demos.html");
    let program = cli::for_tests(workspace)?;
    let mut html = String::new();
    for name in pins::DEMO_PAGE {
        let mut program = workspace.command(&program);
        program.args(["embed", "--only", "html"]);
        html += &workspace::output(program.arg(format!("examples/{name}.yaml")))?;
    }
    fs::write(&page, html)?;
    let paths = [folder.join("dist/taint-lab.js"), folder.join("dist/taint-lab.css"), page];
    let sizes = compress(workspace, &paths)?;
    let mut total = Sizes::default();
    let names = ["dist/taint-lab.js", "dist/taint-lab.css", "the HTML of five demos"];
    let budgets = [None, Some(pins::ELEMENT_BUDGET_GZIP), Some(pins::DEMO_PAGE_BUDGET_GZIP)];
    for ((sizes, name), budget) in sizes.into_iter().zip(names).zip(budgets) {
        row(sizes, name);
        total += sizes;
        let Some(budget) = budget else { continue };
        row(total, &format!("together: the budget is {budget} of gzip"));
        if total.gzip > budget {
            over.push(format!("{name}, with what is above: {} bytes of gzip", total.gzip));
        }
    }
    Ok(())
}

/// Prints a row of the table of sizes.
pub(crate) fn row(sizes: Sizes, name: &str) {
    println!("{:>10} {:>10} {:>10}  {name}", sizes.raw, sizes.gzip, sizes.brotli);
}

/// Collects the paths of all files below a folder, with `/` as separator.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("cannot read `{}`: was it built?", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// The sizes of files, raw and compressed.
///
/// # Errors
/// Node cannot read one of them.
pub(crate) fn compress(workspace: &Workspace, paths: &[PathBuf]) -> Result<Vec<Sizes>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_sizes_that_node_prints() {
        assert_eq!(parse_sizes("30 20 10"), Some(Sizes { raw: 30, gzip: 20, brotli: 10 }));
        assert_eq!(parse_sizes("30 20"), None);
        assert_eq!(parse_sizes("a b c"), None);
    }
}
