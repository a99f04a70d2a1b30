//! What holds for the repository itself: its dependencies, its files and its documents.

mod behaviours;
mod dependencies;
mod files;
mod layers;
mod machines;
mod packaging;
mod sentences;
mod upstream;

use std::fs;
use std::path::{Path, PathBuf};

/// The sources of the engine's crates.
const ENGINE: [&str; 4] = ["core/src", "core/rules/src", "core/engine/src", "core/analysis/src"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of a file, by its path from the root of the repository.
fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a folder with one of these extensions, by their paths from the root of the
/// repository, in order.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if extensions
                .iter()
                .any(|extension| path.extension() == Some(extension.as_ref()))
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
