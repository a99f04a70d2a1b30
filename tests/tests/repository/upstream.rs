//! `docs/upstream.md` names modules that exist, and every module of the engine is in it.

use std::path::{Path, PathBuf};

use super::{files, read, root};

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
        false => Path::new("core/src").join(name),
    };
    names.map(path).collect()
}

#[test]
fn every_module_mirrors_something_or_says_that_it_does_not() {
    let modules = modules(&read("docs/upstream.md"));
    assert!(modules.len() > 50, "the tables are gone");
    for module in &modules {
        assert!(root().join(module).exists(), "there is no module `{}`", module.display());
    }
    for file in files("core/src", &["rs"]) {
        let known = modules.iter().any(|module| file.starts_with(module));
        assert!(known, "no row of docs/upstream.md is about `{}`", file.display());
    }
}
