//! `npm`: the package `taintlab`, from the crate `npm` to the tarball.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::pins;
use crate::setup;
use crate::workspace::{self, Program, Workspace};

/// The crate.
const CRATE: &str = "taintlab-npm";
/// What is in the package as it is: package.json, README, the command.
const SOURCE: &str = "npm/package";
/// Files of the repository that go into the package, and their place there.
const COPIED: [(&str, &str); 3] = [
    ("LICENSE", "LICENSE"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("docs/scenario.schema.json", "scenario.schema.json"),
];
/// One of the two builds.
struct Build {
    /// Its folder in the package.
    folder: &'static str,
    /// The features of the crate.
    features: &'static str,
    /// What rustc aims at: `opt-level` of the cargo profile. Not a profile of its own, for which all
    /// macros would be compiled again.
    opt_level: &'static str,
    /// What wasm-opt aims at.
    optimise: &'static str,
}

const BUILDS: [Build; 2] = [
    Build { folder: "dist", features: "simulator,yaml", opt_level: "\"z\"", optimise: "-Oz" },
    // So little code that the faster one is no larger when it is compressed.
    Build { folder: "dist/lite", features: "", opt_level: "3", optimise: "-O3" },
];

/// The folder of the package.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("npm/taintlab")
}

/// Where the tests find the events that the engine gives natively.
pub(crate) fn events(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("npm/events")
}

/// The tarball, which is what is published and what the tests install.
pub(crate) fn tarball(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("npm/taintlab.tgz")
}

/// Installs what building the package needs and builds it.
///
/// # Errors
/// As [`build`], and when something is missing and cannot be installed.
pub(crate) fn set_up_and_build(workspace: &mut Workspace) -> Result<()> {
    setup::rust_targets(workspace, &[(pins::WASM_TARGET, "the npm package")])?;
    setup::npm_packages(workspace)?;
    setup::wasm_bindgen(workspace)?;
    setup::crates(workspace)?;
    build(workspace)
}

/// Builds the package and packs it.
///
/// # Errors
/// When a tool fails, or the version in package.json is not that of the crates.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let package = folder(workspace);
    if package.exists() {
        fs::remove_dir_all(&package)
            .with_context(|| format!("cannot empty the folder `{}`", package.display()))?;
    }
    copy_all(&workspace.path(SOURCE), &package)?;
    for (from, to) in COPIED {
        fs::copy(workspace.path(from), package.join(to))
            .with_context(|| format!("cannot copy `{from}`"))?;
    }
    check_version(&package)?;
    for build in &BUILDS {
        build_one(workspace, &package.join(build.folder), build)?;
    }
    pack(workspace, &package)?;
    let mut native = workspace.program(Program::Example("events"))?;
    workspace::run(native.arg("examples").arg(events(workspace)))
}

/// One build: the wasm, the code around it, and the declarations.
fn build_one(workspace: &Workspace, to: &Path, build: &Build) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", CRATE, "--lib", "--no-default-features"]);
    cargo.args(["--features", build.features]);
    cargo.args(["--target", pins::WASM_TARGET, "--profile", pins::WEB_PROFILE]);
    let opt_level = format!("profile.{}.opt-level={}", pins::WEB_PROFILE, build.opt_level);
    cargo.args(["--config", &opt_level]);
    workspace::run(&mut cargo)?;
    let wasm = workspace
        .target_dir()
        .join(pins::WASM_TARGET)
        .join(pins::WEB_PROFILE)
        .join("taintlab_npm.wasm");
    let work = workspace.target_dir().join("npm/work");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    for target in ["web", "nodejs"] {
        let mut bindgen = setup::real_wasm_bindgen(workspace)?;
        bindgen.arg(&wasm).args(["--target", target, "--out-name", "taintlab"]);
        if target == "web" {
            bindgen.arg("--omit-default-module-path");
        }
        workspace::run(bindgen.arg("--out-dir").arg(work.join(target)))?;
    }
    fs::create_dir_all(to)?;
    // The same for every environment: only the code around it differs.
    let built = work.join("web/taintlab_bg.wasm");
    let mut optimise = workspace.command("wasm-opt");
    optimise.arg(build.optimise).args(pins::WASM_FEATURES).arg(&built);
    workspace::run(optimise.arg("-o").arg(to.join("taintlab_bg.wasm")))?;
    let names = exported_names(&fs::read_to_string(work.join("web/taintlab.js"))?);
    if names.is_empty() {
        bail!("wasm-bindgen wrote no exported function");
    }
    write_entries(workspace, &work, to, &names)
}

/// The functions and classes that a module of wasm-bindgen exports.
fn exported_names(module: &str) -> Vec<String> {
    let names = module.lines().filter_map(|line| {
        let rest = line.strip_prefix("export ")?;
        let rest = rest.strip_prefix("class ").or_else(|| rest.strip_prefix("function "))?;
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
        rest.get(..end).map(str::to_owned)
    });
    // What loads the module, which only the manual entries pass on, and what it calls itself.
    names.filter(|name| name != "initSync" && name != "start").collect()
}

/// One module for each environment; see `exports` in package.json.
fn write_entries(workspace: &Workspace, work: &Path, to: &Path, names: &[String]) -> Result<()> {
    let list = names.join(", ");
    let exports = format!("export {{ {list} }} from \"./glue.js\";\n");
    let modules = [
        (
            "web.js",
            format!(
                "import init from \"./glue.js\";\n{exports}await init({{ module_or_path: new \
                 URL(\"./taintlab_bg.wasm\", import.meta.url) }});\n"
            ),
        ),
        ("workerd.js", import_module("./taintlab_bg.wasm", &exports)),
        ("edge.js", import_module("./taintlab_bg.wasm?module", &exports)),
        ("node.js", format!("export {{ {list} }} from \"./node.cjs\";\n")),
        ("manual.js", format!("{exports}export {{ default, initSync }} from \"./glue.js\";\n")),
    ];
    for (name, text) in modules {
        fs::write(to.join(name), text).with_context(|| format!("cannot write `{name}`"))?;
    }
    minify(workspace, &work.join("web/taintlab.js"), &to.join("glue.js"), &[])?;
    minify(workspace, &work.join("nodejs/taintlab.js"), &to.join("node.cjs"), &[])?;
    // The wasm as a text inside the module: for where files cannot be loaded.
    let inline = to.join("inline.work.js");
    fs::write(&inline, import_module("./taintlab_bg.wasm", &exports))?;
    let esm = ["--bundle", "--platform=neutral", "--loader:.wasm=binary", "--format=esm"];
    let cjs = [esm[0], esm[1], esm[2], "--format=cjs"];
    minify(workspace, &inline, &to.join("inline.js"), &esm)?;
    minify(workspace, &inline, &to.join("inline.cjs"), &cjs)?;
    fs::remove_file(&inline)?;
    minify(workspace, &to.join("manual.js"), &to.join("manual.bundle.cjs"), &cjs)?;
    // Each export by its name, so that Node and TypeScript see them, the default one too.
    let mut manual =
        "\"use strict\";\nObject.defineProperty(exports, \"__esModule\", { value: true \
                      });\nconst bundle = require(\"./manual.bundle.cjs\");\n"
            .to_owned();
    for name in names.iter().map(String::as_str).chain(["initSync", "default"]) {
        manual += &format!("exports.{name} = bundle.{name};\n");
    }
    fs::write(to.join("manual.cjs"), manual)?;
    for (from, file) in [("nodejs", "taintlab"), ("web", "manual")] {
        let declarations = work.join(from).join("taintlab.d.ts");
        for ending in ["d.ts", "d.cts"] {
            fs::copy(&declarations, to.join(format!("{file}.{ending}")))?;
        }
    }
    Ok(())
}

/// A module for environments that compile wasm when it is imported.
fn import_module(path: &str, exports: &str) -> String {
    format!(
        "import module from \"{path}\";\nimport {{ initSync }} from \
         \"./glue.js\";\n{exports}initSync({{ module }});\n"
    )
}

/// Takes comments and blanks out, or makes one file of several; names stay.
fn minify(workspace: &Workspace, from: &Path, to: &Path, args: &[&str]) -> Result<()> {
    let mut command = workspace.command("esbuild");
    command.arg(from).args(["--minify-whitespace", "--minify-syntax", "--log-level=warning"]);
    command.arg("--target=es2022");
    command.args(args).arg(format!("--outfile={}", to.display()));
    workspace::run(&mut command)
}

/// `npm pack`, under a name without the version.
fn pack(workspace: &Workspace, package: &Path) -> Result<()> {
    let folder = package.parent().context("the package has no folder")?;
    let mut npm: Command = workspace.command("npm");
    npm.args(["pack", "--loglevel=error", "--ignore-scripts", "--json", "--pack-destination"]);
    let listing = workspace::output(npm.arg(folder).arg(package))?;
    let name = listing.lines().find_map(|line| {
        let value = line.trim().strip_prefix("\"filename\": \"")?;
        value.strip_suffix("\",").or_else(|| value.strip_suffix('"'))
    });
    let name = name.context("`npm pack` did not say what it wrote")?;
    let tarball = tarball(workspace);
    fs::rename(folder.join(name), &tarball).with_context(|| format!("cannot rename `{name}`"))?;
    println!("packed {} as {}", package.display(), tarball.display());
    Ok(())
}

/// The package has the version of the crates.
fn check_version(package: &Path) -> Result<()> {
    let manifest = fs::read_to_string(package.join("package.json"))?;
    let version = env!("CARGO_PKG_VERSION");
    if !manifest.contains(&format!("\"version\": \"{version}\"")) {
        bail!("`{SOURCE}/package.json` must say version {version}, as Cargo.toml does");
    }
    Ok(())
}

/// Copies a folder with all that is in it.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let entries =
        fs::read_dir(from).with_context(|| format!("cannot read `{}`", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), &to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_module_exports() {
        let module = "export class Simulator {\nexport function parseTaint(text) {\n\
            function hidden() {\nexport function initSync(module) {\nexport function start() {\n";
        assert_eq!(exported_names(module), ["Simulator", "parseTaint"]);
    }
}
