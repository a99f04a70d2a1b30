//! `cli`: the native command, static and small, and its package for npm.

use std::env::consts;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use tar::{Builder, HeaderMode};

use crate::workspace::{self, Workspace};
use crate::{npm, pins, setup};

/// The program for the tests, unoptimised.
///
/// # Errors
/// It does not build.
pub(crate) fn for_tests(workspace: &Workspace) -> Result<PathBuf> {
    let program = workspace.program("taintlab")?;
    Ok(PathBuf::from(program.get_program()))
}

/// npm's name of the processor.
fn npm_processor() -> &'static str {
    match consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// npm's name of the system.
fn npm_system() -> &'static str {
    match consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

/// Builds the command for release: on Linux a static program, which runs on any distribution. Says
/// how large it is, packs it as an archive and for npm, and returns the paths of all three.
///
/// # Errors
/// It does not build, or on Linux for x86-64 is larger than its budget.
pub(crate) fn build(workspace: &Workspace) -> Result<[PathBuf; 3]> {
    let mut command = workspace.cargo();
    command.args(["build", "--package", "taintlab", "--profile", "cli"]);
    let mut folder = workspace.target_dir();
    let mut rustc = workspace.command("rustc");
    let mut target = workspace::output(rustc.args(["--print", "host-tuple"]))?.trim().to_owned();
    if consts::OS == "linux" {
        target = format!("{}-unknown-linux-musl", consts::ARCH);
        setup::rust_targets(workspace, &[(&target, "a static program")])?;
        let compiler = setup::debian_program(workspace, &setup::MUSL)?;
        command.env(format!("CC_{}", target.replace('-', "_")), compiler);
        command.args(["--target", &target]);
        folder.push(&target);
    }
    workspace::run(workspace.shipping(&mut command))?;
    let program = folder.join("cli").join(format!("taintlab{}", consts::EXE_SUFFIX));
    let size = fs::metadata(&program).context("there is no program")?.len();
    let budget = pins::CLI_BUDGET;
    println!("{}: {size} of {budget} bytes", program.display());
    // Other systems and processors have programs of other sizes, which a release only prints.
    if size > budget && (consts::OS, consts::ARCH) == ("linux", "x86_64") {
        bail!("the command is {size} bytes; the budget is {budget}");
    }
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let text = workspace::output(workspace.command(&program).args(["completions", shell]))?;
        fs::write(program.with_file_name(format!("taintlab.{shell}")), text)?;
    }
    let page = workspace::output(workspace.command(&program).arg("man"))?;
    fs::write(program.with_file_name("taintlab.1"), page)?;
    let archives = workspace.target_dir().join("archives");
    fs::create_dir_all(&archives)?;
    let archive = archives.join(format!("taintlab-{target}.tar.gz"));
    let license = workspace.path("LICENSE");
    write_archive(&[&program, &license], File::create(&archive)?)
        .with_context(|| format!("cannot write `{}`", archive.display()))?;
    let package = pack(workspace, &program)?;
    Ok([program, archive, package])
}

/// Writes files into an archive, without their times and owners.
fn write_archive(files: &[&Path], out: impl Write) -> Result<()> {
    let mut archive = Builder::new(GzEncoder::new(out, Compression::best()));
    archive.mode(HeaderMode::Deterministic);
    for file in files {
        archive.append_path_with_name(file, file.file_name().unwrap_or_default())?;
    }
    archive.into_inner()?.finish()?;
    Ok(())
}

/// Packs the program as the package that npm installs on this platform, and returns the tarball.
fn pack(workspace: &Workspace, program: &Path) -> Result<PathBuf> {
    let (system, processor) = (npm_system(), npm_processor());
    let name = format!("{system}-{processor}");
    let package = workspace.target_dir().join("npm").join(&name);
    fs::create_dir_all(&package)?;
    let file = format!("taintlab{}", consts::EXE_SUFFIX);
    fs::copy(program, package.join(&file))?;
    let manifest = json!({
        "name": format!("@taintlab/{name}"),
        "version": env!("CARGO_PKG_VERSION"),
        "description": format!("The command taintlab for {system} on {processor}"),
        "license": "Apache-2.0",
        // The registry takes no package with a provenance that comes from elsewhere.
        "repository": { "type": "git", "url": npm::REPOSITORY },
        "os": [system],
        "cpu": [processor],
        "files": [file],
    });
    fs::write(package.join("package.json"), format!("{manifest:#}\n"))?;
    npm::pack(workspace, &package)?;
    Ok(package.with_extension("tgz"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn an_archive_depends_on_the_bytes_of_its_files_alone() -> Result<()> {
        let pack = |name: &str| -> Result<Vec<u8>> {
            let name = format!("taintlab-archive-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let file = folder.join("taintlab");
            fs::create_dir_all(&folder)?;
            fs::write(&file, "the program")?;
            let then =
                SystemTime::UNIX_EPOCH + Duration::from_secs(folder.as_os_str().len() as u64);
            File::options().write(true).open(&file)?.set_modified(then)?;
            let mut bytes = Vec::new();
            write_archive(&[&file], &mut bytes)?;
            fs::remove_dir_all(folder)?;
            Ok(bytes)
        };
        assert_eq!(pack("here")?, pack("elsewhere")?);
        Ok(())
    }
}
