//! `vectors`: Kubernetes' recorded answers, with runners in four languages, as one archive.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, HeaderMode};

use crate::workspace::Workspace;

/// Packs the archive into `target/vectors/`.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn pack(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target_dir().join("vectors");
    fs::create_dir_all(&folder)?;
    let name = format!("taintlab-vectors-{}", env!("CARGO_PKG_VERSION"));
    let path = folder.join(format!("{name}.tar.gz"));
    let mut bytes = Vec::new();
    let root = workspace.path("");
    let files = write(&root, &name, &mut bytes)?;
    fs::write(&path, &bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
    println!("packed {files} files as {}, {} bytes", path.display(), bytes.len());
    Ok(())
}

/// Writes the archive, and returns its number of files. It has the same bytes everywhere.
fn write(root: &Path, name: &str, out: impl Write) -> Result<usize> {
    let mut archive = Builder::new(GzEncoder::new(out, Compression::best()));
    archive.mode(HeaderMode::Deterministic);
    let vectors = root.join("tests/vectors");
    let mut files = files(&vectors)?;
    files.sort();
    for file in &files {
        let place = Path::new(name).join(file.strip_prefix(&vectors)?);
        archive.append_path_with_name(file, place)?;
    }
    archive.append_path_with_name(root.join("LICENSE"), Path::new(name).join("LICENSE"))?;
    archive.into_inner()?.finish()?;
    Ok(files.len() + 1)
}

/// All files of a folder, to any depth.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn the_archive_has_everything_and_the_same_bytes_each_time() -> Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let (mut one, mut other) = (Vec::new(), Vec::new());
        let files = write(&root, "v", &mut one)?;
        write(&root, "v", &mut other)?;
        assert!(one == other);
        let mut archive = tar::Archive::new(GzDecoder::new(one.as_slice()));
        let mut names = BTreeSet::new();
        for entry in archive.entries()? {
            names.insert(entry?.path()?.to_string_lossy().into_owned());
        }
        assert_eq!(names.len(), files);
        for name in [
            "LICENSE",
            "README.md",
            "index.json",
            "tolerates.jsonl.gz",
            "runners/vectors.go",
            "runners/vectors.py",
            "runners/vectors.rs",
            "runners/vectors.ts",
        ] {
            assert!(names.contains(&format!("v/{name}")), "{name} is missing");
        }
        Ok(())
    }
}
