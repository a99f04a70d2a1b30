//! `docs/upstream.md` names modules that exist, and every module of the engine is in it.

use std::path::{Path, PathBuf};

use super::{ENGINE, files, read, root};

/// The modules in the first column of the tables, by their paths from the root of the repository.
fn modules(document: &str) -> Vec<PathBuf> {
    // The table of commits is about files of Kubernetes.
    let (_, tables) = document.split_once("\n## Objects and time\n").unwrap();
    let rows = tables.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|line| line.split(" |").next());
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let path = |name: &str| match ["manifest/", "kubectl/"]
        .iter()
        .any(|crate_| name.starts_with(crate_))
    {
        true => PathBuf::from(name),
        false => place(name),
    };
    names.map(path).collect()
}

/// The path of a module of the engine: its name is of one of the crates.
fn place(name: &str) -> PathBuf {
    let in_crates = ENGINE.iter().map(|folder| Path::new(folder).join(name));
    in_crates.clone().find(|path| root().join(path).exists()).unwrap_or_else(|| name.into())
}

#[test]
fn every_module_mirrors_something_or_says_that_it_does_not() {
    let modules = modules(&read("docs/upstream.md"));
    assert!(modules.len() > 50, "the tables are gone");
    for module in &modules {
        assert!(root().join(module).exists(), "there is no module `{}`", module.display());
    }
    for file in ENGINE.iter().flat_map(|folder| files(folder, &["rs"])) {
        let known = file.ends_with("lib.rs") || modules.iter().any(|it| file.starts_with(it));
        assert!(known, "no row of docs/upstream.md is about `{}`", file.display());
    }
}
