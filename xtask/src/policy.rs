//! `policy`: WebAssembly modules for hosts without JavaScript: those of the crate `policy-module`, and
//! the policy of Kubewarden.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::count::TestCount;
use crate::workspace::{self, Workspace};
use crate::{pins, setup, size};

/// What a host of the policy module calls.
const EXPORTS: &[&str] = &["alloc", "call", "free", "memory", "version"];
/// What a host that speaks waPC calls.
const WAPC_EXPORTS: &[&str] = &["__guest_call", "memory", "wapc_init"];

/// A module.
struct Build {
    file: &'static str,
    package: &'static str,
    exports: &'static [&'static str],
    /// The module of all imports, if there may be any.
    imports: Option<&'static str>,
    features: &'static str,
    /// The arguments of cargo that choose what is linked. The full module is smaller compressed
    /// without LTO, which there is none of where the library for Rust is built along.
    task: &'static [&'static str],
    /// Arguments of wasm-opt. For a module as large as the full one, `-Oz` is larger once
    /// compressed.
    optimise: &'static [&'static str],
    budget: u64,
    goal: u64,
    /// The limit of bytes as they are, if there is one.
    raw_budget: Option<u64>,
}

const BUILDS: [Build; 3] = [
    Build {
        file: "taintlab-policy.wasm",
        package: "taintlab-policy",
        exports: EXPORTS,
        imports: None,
        features: "simulator",
        task: &["build"],
        optimise: &["-O1", "--shrink-level=1", "--reorder-functions"],
        budget: pins::POLICY_BUDGET_BROTLI,
        goal: pins::POLICY_GOAL_BROTLI,
        raw_budget: None,
    },
    Build {
        file: "taintlab-policy-lite.wasm",
        package: "taintlab-policy",
        exports: EXPORTS,
        imports: None,
        features: "",
        task: &["rustc", "--crate-type", "cdylib"],
        optimise: &["-Oz"],
        budget: pins::POLICY_LITE_BUDGET_BROTLI,
        goal: pins::POLICY_LITE_GOAL_BROTLI,
        raw_budget: None,
    },
    Build {
        file: "taintlab-tolerations.wasm",
        package: "taintlab-tolerations",
        exports: WAPC_EXPORTS,
        imports: Some("wapc"),
        features: "",
        task: &["rustc", "--crate-type", "cdylib"],
        optimise: &["-Oz"],
        budget: pins::KUBEWARDEN_BUDGET_BROTLI,
        goal: pins::KUBEWARDEN_BUDGET_BROTLI,
        raw_budget: Some(pins::KUBEWARDEN_BUDGET),
    },
];

/// Asks the modules in their hosts: the policy module with the requests that `native-answers` wrote,
/// the policy of Kubewarden with its reviews.
pub(crate) fn hosts(workspace: &Workspace, native: &Path) -> (TestCount, Result<()>) {
    // By name, since Windows does not know from a file that a shell runs it.
    let mut run = workspace.command("sh");
    run.arg(workspace.path("policy-module/hosts/run.sh"))
        .arg(folder(workspace))
        .arg(native)
        .arg(folder(workspace).join("hosts"));
    let (mut count, asked) = workspace::run_tests(&mut run);
    let mut host = host(workspace, &KUBEWARDEN_HOST, "run");
    host.arg("--").arg(folder(workspace).join("taintlab-tolerations.wasm"));
    host.arg(workspace.path("kubewarden/reviews"));
    let (reviewed, answered) = workspace::run_tests(&mut host);
    count += reviewed;
    (count, asked.and(answered))
}

/// A host that is a crate: its manifest, and the folder of its build beside the modules.
struct Host {
    manifest: &'static str,
    target: &'static str,
    profile: &'static [&'static str],
}

/// The host of the policy module in Rust, which `run.sh` builds likewise.
const WASMI_HOST: Host = Host {
    manifest: "policy-module/hosts/rust/Cargo.toml",
    target: "hosts/rust",
    profile: &["--release"],
};

/// The host of Kubewarden's policies.
const KUBEWARDEN_HOST: Host =
    Host { manifest: "kubewarden/host/Cargo.toml", target: "hosts/wapc", profile: &[] };

/// `cargo TASK` for a host.
fn host(workspace: &Workspace, host: &Host, task: &str) -> Command {
    let mut cargo = workspace.cargo();
    cargo.args([task, "--quiet", "--locked", "--manifest-path"]).arg(workspace.path(host.manifest));
    cargo.args(host.profile).arg("--target-dir").arg(folder(workspace).join(host.target));
    cargo
}

/// Builds the hosts that are crates.
///
/// # Errors
/// One of them does not build.
pub(crate) fn build_hosts(workspace: &Workspace) -> Result<()> {
    for program in [&WASMI_HOST, &KUBEWARDEN_HOST] {
        workspace::run(&mut host(workspace, program, "build"))?;
    }
    Ok(())
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
    cargo.args(build.task).args(["--package", build.package, "--lib"]);
    cargo.args(["--no-default-features", "--features", build.features]);
    cargo.args(["--target", pins::WASM_TARGET, "--profile", pins::WEB_PROFILE]);
    let profile = format!("profile.{}", pins::WEB_PROFILE);
    cargo.args(["--config", &format!("{profile}.package.taintlab-manifest.opt-level=\"z\"")]);
    workspace::run(workspace.shipping(&mut cargo))?;
    let built = workspace
        .target_dir()
        .join(pins::WASM_TARGET)
        .join(pins::WEB_PROFILE)
        .join(build.package.replace('-', "_") + ".wasm");
    let to = folder(workspace).join(build.file);
    let mut optimise = workspace.command("wasm-opt");
    optimise.args(build.optimise).args(pins::WASM_FEATURES);
    workspace::run(
        optimise.args(["--strip-debug", "--strip-producers"]).arg(&built).arg("-o").arg(&to),
    )?;
    let bytes = fs::read(&to).with_context(|| format!("cannot read `{}`", to.display()))?;
    let interface = Interface::of(&bytes).context("wasm-opt wrote no module")?;
    if let Some(other) = interface.imports.iter().find(|it| Some(it.as_str()) != build.imports) {
        bail!("`{}` imports from `{other}`; it may not", build.file);
    }
    if let Some(name) =
        build.exports.iter().find(|name| !interface.exports.iter().any(|it| it == *name))
    {
        bail!("`{}` does not export `{name}`", build.file);
    }
    Ok(())
}

fn sizes(workspace: &Workspace) -> Result<()> {
    println!("{:>10} {:>10} {:>10}  the modules", "raw", "gzip -9", "brotli 11");
    let paths: Vec<PathBuf> =
        BUILDS.iter().map(|build| folder(workspace).join(build.file)).collect();
    let mut over = Vec::new();
    for (sizes, build) in size::compress(workspace, &paths)?.into_iter().zip(&BUILDS) {
        let Build { file, budget, goal, raw_budget, .. } = build;
        size::row(sizes, &format!("{file}: the budget is {budget} of brotli, the goal {goal}"));
        if let Some(budget) = raw_budget.filter(|budget| sizes.raw > *budget) {
            over.push(format!("{file} is {} bytes; the budget is {budget}", sizes.raw));
        }
        if sizes.brotli > *budget {
            over.push(format!(
                "{file} is {} bytes of brotli; the budget is {budget}",
                sizes.brotli
            ));
        }
    }
    if over.is_empty() { Ok(()) } else { bail!("{}", over.join("; ")) }
}

/// What a module asks of its host, by module, and what it offers.
#[derive(Debug, Default, PartialEq)]
struct Interface {
    imports: Vec<String>,
    exports: Vec<String>,
}

impl Interface {
    /// Reads the sections of a module; `None` if it ends in the middle of one, or imports something
    /// else than functions.
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
            for _ in 0..count {
                let name;
                (name, section) = text(section)?;
                if *id == IMPORTS {
                    read.imports.push(name);
                    (_, section) = text(section)?;
                    section.first().filter(|kind| **kind == 0)?;
                } else {
                    read.exports.push(name);
                }
                (_, section) = number(section.get(1..)?)?;
            }
        }
        Some(read)
    }
}

/// Reads a text with its length, and returns it with the bytes after it.
fn text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (length, after) = number(bytes)?;
    let (text, after) = after.split_at_checked(length)?;
    Some((String::from_utf8_lossy(text).into_owned(), after))
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
        let read = Interface { imports: vec!["e".into()], exports: vec!["m".into()] };
        assert_eq!(Interface::of(module), Some(read));
        assert_eq!(Interface::of(b"\0asm\x01\0\0\0\x02\x07"), None);
        assert_eq!(Interface::of(b"no module"), None);
        assert_eq!(number(&[0xe5, 0x8e, 0x26, 1]), Some((624_485, &[1][..])));
    }
}
