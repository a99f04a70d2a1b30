//! `policy`: the WebAssembly modules of the crate `policy-module`, for hosts without JavaScript.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::count::TestCount;
use crate::workspace::{self, Workspace};
use crate::{pins, setup, size};

/// The crate.
const CRATE: &str = "taintlab-policy";
/// What a host calls, and nothing else.
const EXPORTS: [&str; 5] = ["alloc", "call", "free", "memory", "version"];

/// A build of the crate.
struct Build {
    file: &'static str,
    features: &'static str,
    /// The arguments of cargo that choose what is linked. The full module is smaller compressed
    /// without LTO, which there is none of where the library for Rust is built along.
    task: &'static [&'static str],
    /// Arguments of wasm-opt. For a module as large as the full one, `-Oz` is larger once
    /// compressed.
    optimise: &'static [&'static str],
    budget: u64,
    goal: u64,
}

const BUILDS: [Build; 2] = [
    Build {
        file: "taintlab-policy.wasm",
        features: "simulator",
        task: &["build"],
        optimise: &["-O1", "--shrink-level=1", "--reorder-functions"],
        budget: pins::POLICY_BUDGET_BROTLI,
        goal: pins::POLICY_GOAL_BROTLI,
    },
    Build {
        file: "taintlab-policy-lite.wasm",
        features: "",
        task: &["rustc", "--crate-type", "cdylib"],
        optimise: &["-Oz"],
        budget: pins::POLICY_LITE_BUDGET_BROTLI,
        goal: pins::POLICY_LITE_GOAL_BROTLI,
    },
];

/// Asks both modules in every host, with the requests that `native-answers` wrote.
pub(crate) fn hosts(workspace: &Workspace, native: &Path) -> (TestCount, Result<()>) {
    let mut run = workspace.command(workspace.path("policy-module/hosts/run.sh"));
    run.arg(folder(workspace)).arg(native).arg(folder(workspace).join("hosts"));
    workspace::run_tests(&mut run)
}

/// The folder of the modules.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("policy")
}

/// Installs what the builds need, builds the modules, and prints their sizes.
///
/// # Errors
/// A tool is missing or fails, or a module has an import, other exports, or too many bytes.
pub(crate) fn set_up_and_build(workspace: &mut Workspace) -> Result<()> {
    setup::rust_targets(workspace, &[(pins::WASM_TARGET, "the policy module")])?;
    setup::npm_packages(workspace)?;
    setup::crates(workspace)?;
    fs::create_dir_all(folder(workspace))?;
    for build in &BUILDS {
        build_one(workspace, build)?;
    }
    sizes(workspace)
}

fn build_one(workspace: &Workspace, build: &Build) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(build.task).args(["--package", CRATE, "--lib"]);
    cargo.args(["--no-default-features", "--features", build.features]);
    cargo.args(["--target", pins::WASM_TARGET, "--profile", pins::WEB_PROFILE]);
    let profile = format!("profile.{}", pins::WEB_PROFILE);
    cargo.args(["--config", &format!("{profile}.package.taintlab-manifest.opt-level=\"z\"")]);
    workspace::run(&mut cargo)?;
    let built = workspace
        .target_dir()
        .join(pins::WASM_TARGET)
        .join(pins::WEB_PROFILE)
        .join("taintlab_policy.wasm");
    let to = folder(workspace).join(build.file);
    let mut optimise = workspace.command("wasm-opt");
    optimise.args(build.optimise).args(pins::WASM_FEATURES);
    workspace::run(
        optimise.args(["--strip-debug", "--strip-producers"]).arg(&built).arg("-o").arg(&to),
    )?;
    let bytes = fs::read(&to).with_context(|| format!("cannot read `{}`", to.display()))?;
    let interface = Interface::of(&bytes).context("wasm-opt wrote no module")?;
    if interface.imports > 0 {
        bail!("`{}` has {} imports; it may have none", build.file, interface.imports);
    }
    if let Some(name) = EXPORTS.iter().find(|name| !interface.exports.iter().any(|it| it == *name))
    {
        bail!("`{}` does not export `{name}`", build.file);
    }
    Ok(())
}

fn sizes(workspace: &Workspace) -> Result<()> {
    println!("{:>10} {:>10} {:>10}  the policy module", "raw", "gzip -9", "brotli 11");
    let paths: Vec<PathBuf> =
        BUILDS.iter().map(|build| folder(workspace).join(build.file)).collect();
    let mut over = Vec::new();
    for (sizes, build) in size::compress(workspace, &paths)?.into_iter().zip(&BUILDS) {
        let Build { file, budget, goal, .. } = build;
        size::row(sizes, &format!("{file}: the budget is {budget} of brotli, the goal {goal}"));
        if sizes.brotli > *budget {
            over.push(format!(
                "{file} is {} bytes of brotli; the budget is {budget}",
                sizes.brotli
            ));
        }
    }
    if over.is_empty() { Ok(()) } else { bail!("{}", over.join("; ")) }
}

/// What a module asks of its host, and what it offers.
#[derive(Debug, Default, PartialEq)]
struct Interface {
    imports: usize,
    exports: Vec<String>,
}

impl Interface {
    /// Reads the sections of a module; `None` if it ends in the middle of one.
    fn of(module: &[u8]) -> Option<Self> {
        const IMPORTS: u8 = 2;
        const EXPORTS: u8 = 7;
        let mut read = Self::default();
        let mut rest = module.strip_prefix(b"\0asm\x01\0\0\0")?;
        while let Some((id, after)) = rest.split_first() {
            let (length, after) = number(after)?;
            let (mut section, after) = after.split_at_checked(length)?;
            rest = after;
            if *id != IMPORTS && *id != EXPORTS {
                continue;
            }
            let count;
            (count, section) = number(section)?;
            if *id == IMPORTS {
                read.imports = count;
                continue;
            }
            for _ in 0..count {
                let (length, after) = number(section)?;
                let (name, after) = after.split_at_checked(length)?;
                read.exports.push(String::from_utf8_lossy(name).into_owned());
                (_, section) = number(after.get(1..)?)?;
            }
        }
        Some(read)
    }
}

/// Reads a number in LEB128, and returns it with the bytes after it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let length = 1 + bytes.iter().position(|byte| byte & 0x80 == 0)?;
    let (number, rest) = bytes.split_at(length);
    let add = |sum: usize, byte: &u8| (sum << 7) | usize::from(byte & 0x7f);
    Some((number.iter().rev().fold(0, add), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_and_exports_are_read() {
        let module = b"\0asm\x01\0\0\0\x02\x07\x01\x01e\x01f\0\0\x07\x05\x01\x01m\x02\0";
        let read = Interface { imports: 1, exports: vec!["m".into()] };
        assert_eq!(Interface::of(module), Some(read));
        assert_eq!(Interface::of(b"\0asm\x01\0\0\0\x02\x07"), None);
        assert_eq!(Interface::of(b"no module"), None);
        assert_eq!(number(&[0xe5, 0x8e, 0x26, 1]), Some((624_485, &[1][..])));
    }
}
