//! `reproducible`: the same sources give the same bytes, wherever they are built.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use sha2::{Digest, Sha256};

use crate::workspace::{self, Workspace};
use crate::{cli, npm, playground, policy};

/// The folders of the two builds, with paths of different lengths and depths.
const FOLDERS: [&str; 2] = ["a", "another/folder"];

/// Something to ship.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Artefact {
    /// The native command, as a program, an archive and a package for npm
    Cli,
    /// The modules for other hosts
    Policy,
    /// The npm package
    Npm,
    /// The playground
    Page,
}

/// The SHA-256 of each file in hexadecimal digits, by the file's path.
type Sums = BTreeMap<String, String>;

/// Builds the artefacts from two fresh copies of the tracked files, and compares the bytes.
///
/// # Errors
/// A build fails, or a file differs.
pub(crate) fn check(workspace: &Workspace, artefacts: &[Artefact]) -> Result<()> {
    let folder = workspace.target_dir().join("reproducible");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty `{}`", folder.display()))?;
    }
    let tracked = workspace::output(workspace.command("git").args(["ls-files", "-z"]))?;
    let roots = FOLDERS.map(|name| folder.join(name));
    for root in &roots {
        for file in tracked.split_terminator('\0') {
            let to = root.join(file);
            fs::create_dir_all(to.parent().unwrap_or(root))?;
            fs::copy(workspace.path(file), &to).with_context(|| format!("cannot copy `{file}`"))?;
        }
    }
    let [one, other] = roots;
    let one = sums(&mut workspace.copied_to(one), artefacts)?;
    let other = sums(&mut workspace.copied_to(other), artefacts)?;
    let (table, differing) = compare(&one, &other);
    print!("{table}");
    if differing > 0 {
        bail!("{differing} files differ between the two builds in `{}`", folder.display());
    }
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove `{}`", folder.display()))
}

/// Builds the artefacts in a copy.
fn sums(copy: &mut Workspace, artefacts: &[Artefact]) -> Result<Sums> {
    let mut sums = Sums::new();
    for artefact in artefacts {
        for file in build(copy, *artefact)? {
            let bytes =
                fs::read(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
            let name = file.strip_prefix(copy.path(""))?.display().to_string();
            sums.insert(name, format!("{:x}", Sha256::digest(bytes)));
        }
    }
    Ok(sums)
}

/// Builds an artefact, and returns its files.
fn build(copy: &mut Workspace, artefact: Artefact) -> Result<Vec<PathBuf>> {
    match artefact {
        Artefact::Cli => Ok(cli::build(copy)?.into()),
        Artefact::Policy => {
            policy::set_up_and_build(copy)?;
            files(&policy::folder(copy))
        }
        Artefact::Npm => {
            npm::set_up_and_build(copy)?;
            Ok(vec![npm::tarball(copy)])
        }
        Artefact::Page => {
            playground::set_up_and_build(copy)?;
            files(&copy.path(playground::DIST))
        }
    }
}

/// The files of a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// A table of all files with their sums, and the number of files that only one build has or that
/// differ.
fn compare(one: &Sums, other: &Sums) -> (String, usize) {
    let (mut table, mut differing) = (String::new(), 0);
    for name in one.keys().chain(other.keys()).collect::<BTreeSet<_>>() {
        let [sum, its] = [one, other].map(|sums| sums.get(name).map_or("missing", String::as_str));
        table += &format!("{sum}  {name}\n");
        if sum != its {
            table += &format!("{its}  {name}, the other build: DIFFERS\n");
            differing += 1;
        }
    }
    (table, differing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_differ_or_are_missing_are_counted() {
        let sums = |files: &[(&str, &str)]| -> Sums {
            files.iter().map(|(name, sum)| ((*name).to_owned(), (*sum).to_owned())).collect()
        };
        let one = sums(&[("a.wasm", "1"), ("b.tgz", "2")]);
        assert_eq!(compare(&one, &one), ("1  a.wasm\n2  b.tgz\n".to_owned(), 0));
        let (table, differing) = compare(&one, &sums(&[("b.tgz", "3"), ("c", "4")]));
        assert_eq!(differing, 3);
        assert!(table.contains("2  b.tgz\n3  b.tgz, the other build: DIFFERS\n"), "{table}");
        assert!(table.contains("missing  a.wasm, the other build: DIFFERS\n"), "{table}");
        assert!(table.contains("missing  c\n4  c, the other build: DIFFERS\n"), "{table}");
    }
}
