//! `npm`: the package `taintlab`, from the crate `npm` to the tarball.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::pins;
use crate::setup;
use crate::workspace::{self, Workspace};

/// The crate.
const CRATE: &str = "taintlab-npm";
/// Where the packages come from, as package.json says it.
pub(crate) const REPOSITORY: &str = "git+https://github.com/taintlab/taintlab.git";
/// Files that the package contains unchanged: package.json, README, the command.
const SOURCE: &str = "npm/package";
/// Files of the repository that go into the package, and their place there.
const COPIED: [(&str, &str); 7] = [
    ("LICENSE", "LICENSE"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("docs/scenario.schema.json", "scenario.schema.json"),
    ("docs/book/taint-lab.css", "dist/taint-lab.css"),
    ("npm/embed/custom-elements.json", "custom-elements.json"),
    ("npm/embed/frame.html", "dist/frame.html"),
    ("npm/embed/frame.js", "dist/frame.js"),
];
/// One of the two builds of the package.
struct Build {
    /// Its folder in the package.
    folder: &'static str,
    /// The name under which users import it.
    entry: &'static str,
    /// The features of the crate.
    features: &'static str,
    /// `opt-level` of the cargo profile. A profile of its own would compile all macros again.
    opt_level: &'static str,
    /// Crates with another `opt-level`.
    faster: &'static [(&'static str, &'static str)],
    /// Arguments of wasm-opt.
    optimise: &'static [&'static str],
}

const BUILDS: [Build; 2] = [
    Build {
        folder: "dist",
        entry: "taintlab",
        features: "simulator,yaml",
        opt_level: "\"z\"",
        // All of it for speed would be a ninth more bytes for a seventh less time to load 150,000
        // pods. What reads objects is built a little faster in the page alone.
        faster: &[("taintlab-manifest", "\"z\"")],
        // `-Oz` takes twice the time for a wasm that is 2 % smaller as it is, and 2 % larger once
        // compressed. What follows `-O1` was tried one by one: each makes it smaller compressed.
        optimise: &[
            "-O1",
            "--shrink-level=1",
            "--rse",
            "--vacuum",
            "--dae-optimizing",
            "--rse",
            "--simplify-globals-optimizing",
            "--duplicate-function-elimination",
            "--reorder-locals",
            "--vacuum",
            "--strip-producers",
            "--strip-debug",
            "--strip-target-features",
        ],
    },
    // With "z" a question takes a quarter more time, for a hundredth fewer bytes. Optimising for
    // speed alone would compile all of the engine for half a minute more, though only a twentieth
    // of it is in this build.
    Build {
        folder: "dist/lite",
        entry: "taintlab/lite",
        features: "",
        opt_level: "\"s\"",
        faster: &[],
        // For so small a module, `-Oz` is smaller both raw and compressed, and takes seconds to repeat
        // until nothing more is gained.
        optimise: &[
            "-Oz",
            "--converge",
            "--strip-producers",
            "--strip-debug",
            "--strip-target-features",
        ],
    },
];

/// The folder of the package.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("npm/taintlab")
}

/// The tarball, which is published, and which the tests install.
pub(crate) fn tarball(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("npm/taintlab.tgz")
}

/// Installs what the package's build needs, and builds it.
///
/// # Errors
/// Those of [`build`], or something is missing and cannot be installed.
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
/// A tool fails, or the version in package.json is not the crates'.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let package = folder(workspace);
    if package.exists() {
        fs::remove_dir_all(&package)
            .with_context(|| format!("cannot empty the folder `{}`", package.display()))?;
    }
    copy_all(&workspace.path(SOURCE), &package)?;
    fs::create_dir_all(package.join("dist"))?;
    for (from, to) in COPIED {
        fs::copy(workspace.path(from), package.join(to))
            .with_context(|| format!("cannot copy `{from}`"))?;
    }
    check_version(&package)?;
    for build in &BUILDS {
        build_one(workspace, &package.join(build.folder), build)?;
    }
    embed(workspace, &package.join("dist"))?;
    pack(workspace, &package)
}

/// The folder of the element `<taint-lab>`, in TypeScript.
const EMBED: &str = "npm/embed";

/// Builds the element `<taint-lab>`: a module for bundlers, one file for pages without a bundler,
/// and declarations.
fn embed(workspace: &Workspace, dist: &Path) -> Result<()> {
    let bundle = ["--bundle", "--loader:.css=text", "--minify-identifiers"];
    let module = workspace.path(EMBED).join("index.ts");
    let as_module = ["--format=esm", "--external:taintlab"];
    minify(workspace, &module, &dist.join("embed/index.js"), &[&bundle[..], &as_module].concat())?;
    element_script(workspace, &dist.join("taint-lab.js"))?;
    let mut tsc = workspace.command("tsc");
    tsc.arg("--project").arg(workspace.path(EMBED)).arg("--outDir").arg(dist.join("embed"));
    workspace::run(&mut tsc)?;
    // The declarations of the one file are empty.
    fs::remove_file(dist.join("embed/script.d.ts"))?;
    let react = workspace.path(EMBED).join("react.d.ts");
    fs::copy(react, dist.join("embed/react.d.ts")).context("cannot copy `react.d.ts`")?;
    Ok(())
}

/// Builds the element as one file for a `<script>` tag.
///
/// # Errors
/// esbuild fails.
pub(crate) fn element_script(workspace: &Workspace, to: &Path) -> Result<()> {
    let args = ["--bundle", "--loader:.css=text", "--minify-identifiers", "--format=iife"];
    minify(workspace, &workspace.path(EMBED).join("script.ts"), to, &args)
}

/// The crate's own JavaScript, beside the code that wasm-bindgen writes.
const BOUNDARY: [&str; 2] = ["boundary.js", "values.js"];
/// The package's modules, one for each environment; marks with `@` are filled in.
const ENTRIES: &str = "npm/entries";
/// Lets the boundary restore the stack; see there.
const STACK_POINTER: &str = "link-arg=--export=__stack_pointer";

/// The folder of what wasm-bindgen writes for a build.
fn work(workspace: &Workspace, build: &Build) -> PathBuf {
    workspace.target_dir().join("npm/work").join(build.folder)
}

/// The wasm of the whole package before wasm-opt, in which functions have names.
pub(crate) fn named_wasm(workspace: &Workspace) -> PathBuf {
    let [whole, _] = &BUILDS;
    work(workspace, whole).join("web/taintlab_bg.wasm")
}

/// Makes one build: the wasm, the code around it, and the declarations.
fn build_one(workspace: &Workspace, to: &Path, build: &Build) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["rustc", "--package", CRATE, "--lib", "--crate-type", "cdylib"]);
    cargo.args(["--no-default-features", "--features", build.features]);
    cargo.args(["--target", pins::WASM_TARGET, "--profile", pins::WEB_PROFILE]);
    let opt_level = format!("profile.{}.opt-level={}", pins::WEB_PROFILE, build.opt_level);
    cargo.args(["--config", &opt_level]);
    for (package, level) in build.faster {
        let profile = format!("profile.{}.package.{package}", pins::WEB_PROFILE);
        cargo.args(["--config", &format!("{profile}.opt-level={level}")]);
    }
    workspace::run(workspace.shipping(cargo.args(["--", "-C", STACK_POINTER])))?;
    let wasm = workspace
        .target_dir()
        .join(pins::WASM_TARGET)
        .join(pins::WEB_PROFILE)
        .join("taintlab_npm.wasm");
    let work = work(workspace, build);
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    // The second target is for its declarations, which lack the function that loads the module.
    for target in ["web", "nodejs"] {
        let mut bindgen = workspace.command(pins::WASM_BINDGEN.program);
        bindgen.arg(&wasm).args(["--target", target, "--out-name", "taintlab"]);
        if target == "web" {
            bindgen.arg("--omit-default-module-path");
        }
        workspace::run(bindgen.arg("--out-dir").arg(work.join(target)))?;
    }
    fs::create_dir_all(to)?;
    // All environments share the wasm; only the code around it differs.
    let built = work.join("web/taintlab_bg.wasm");
    let mut optimise = workspace.command("wasm-opt");
    optimise.args(build.optimise).args(pins::WASM_FEATURES).arg(&built);
    workspace::run(optimise.arg("-o").arg(to.join("taintlab_bg.wasm")))?;
    let exports = Exports::of(&fs::read_to_string(work.join("web/taintlab.js"))?);
    if exports.functions.is_empty() {
        bail!("wasm-bindgen wrote no exported function");
    }
    write_entries(workspace, &work, to, &exports, build.entry)
}

/// The exports of a module of wasm-bindgen.
#[derive(Debug, Default, PartialEq)]
struct Exports {
    functions: Vec<String>,
    classes: Vec<String>,
}

impl Exports {
    fn of(module: &str) -> Self {
        let mut exports = Self::default();
        for line in module.lines() {
            let Some(rest) = line.strip_prefix("export ") else { continue };
            let (list, rest) = match (rest.strip_prefix("class "), rest.strip_prefix("function ")) {
                (Some(rest), _) => (&mut exports.classes, rest),
                (_, Some(rest)) => (&mut exports.functions, rest),
                _ => continue,
            };
            let name = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
            list.extend(name.map(str::to_owned));
        }
        // Only the manual entries export the function that loads the module; the module calls
        // `start` itself.
        exports.functions.retain(|name| name != "initSync" && name != "start");
        exports
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.classes.iter().chain(&self.functions).map(String::as_str)
    }

    /// Exports that wrap each function and class with the boundary.
    fn guarded(&self) -> String {
        let mut text = String::new();
        for name in &self.classes {
            let takes = if name == "Simulator" { ", { restore: raw.Snapshot }" } else { "" };
            text +=
                &format!("export const {name} = guardedClass(\"{name}\", raw.{name}{takes});\n");
        }
        for name in &self.functions {
            let guarded = match name.as_str() {
                "reset" => "resetting(raw.reset, raw.version)".to_owned(),
                _ => format!("guarded(raw.{name})"),
            };
            text += &format!("export const {name} = {guarded};\n");
        }
        text
    }
}

/// Writes one module for each environment; see `exports` in package.json.
fn write_entries(
    workspace: &Workspace,
    work: &Path,
    to: &Path,
    exports: &Exports,
    entry: &str,
) -> Result<()> {
    let esm = ["--bundle", "--platform=neutral", "--loader:.wasm=binary", "--format=esm"];
    let cjs = [esm[0], esm[1], esm[2], "--format=cjs"];
    let template = |name: &str| {
        let path = workspace.path(ENTRIES).join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    for file in BOUNDARY {
        fs::copy(workspace.path("npm/src").join(file), work.join("web").join(file))?;
    }
    let generated = work.join("web/taintlab.js");
    fs::write(&generated, with_own_fields(&fs::read_to_string(&generated)?))?;
    let public = work.join("web/public.js");
    fs::write(&public, template("public.work.js")? + &exports.guarded())?;
    minify(workspace, &public, &to.join("glue.js"), &esm)?;

    let list = exports.names().collect::<Vec<_>>().join(", ");
    let write = |template_name: &str, name: &str| {
        let text = template(template_name)?.replace("@entry", entry);
        let lines = text.lines().map(|line| match line.strip_prefix("// @exports ") {
            Some(from) => format!("export {{ {list} }} from \"{from}\";\n"),
            None => format!("{line}\n"),
        });
        fs::write(to.join(name), lines.collect::<String>())
            .with_context(|| format!("cannot write `{name}`"))
    };
    for name in ["web.js", "workerd.js", "edge.js", "node.js", "manual.js", "node.work.js"] {
        write(name, name)?;
    }
    write("workerd.js", "inline.work.js")?;
    let node = to.join("node.work.js");
    let node_cjs = ["--bundle", "--platform=node", "--format=cjs"];
    minify(workspace, &node, &to.join("node.cjs"), &node_cjs)?;
    fs::remove_file(&node)?;
    // The wasm as a text inside the module, for environments that cannot load files.
    let inline = to.join("inline.work.js");
    minify(workspace, &inline, &to.join("inline.js"), &esm)?;
    minify(workspace, &inline, &to.join("inline.cjs"), &cjs)?;
    fs::remove_file(&inline)?;
    minify(workspace, &to.join("manual.js"), &to.join("manual.bundle.cjs"), &cjs)?;
    let mut manual = template("manual.work.cjs")?;
    for name in exports.names().chain(["initSync", "default"]) {
        manual += &format!("exports.{name} = bundle.{name};\n");
    }
    fs::write(to.join("manual.cjs"), manual)?;
    for (from, file) in [("nodejs", "taintlab"), ("web", "manual")] {
        // This helper of `reset` is declared and exported nowhere.
        let declarations = fs::read_to_string(work.join(from).join("taintlab.d.ts"))?
            .replace("declare function __wbg_reset_state(): void;\n\n", "");
        let declarations = with_effects(&declarations);
        for ending in ["d.ts", "d.cts"] {
            fs::write(to.join(format!("{file}.{ending}")), &declarations)?;
        }
    }
    Ok(())
}

/// Types that contain effects of taints, and their type parameter.
const WITH_EFFECTS: [&str; 4] = ["TaintInput", "TolerationInput", "NodeInput", "PodInput"];
const EFFECT: &str = "<Effect extends string = TaintEffect>";

/// Adds the type parameter `Effect` to declarations, which neither wasm-bindgen nor tsify can
/// write. With it TypeScript refuses a misspelt effect and accepts values known only as texts.
fn with_effects(declarations: &str) -> String {
    let add = |line: String, name: &&str| line.replace(name, &format!("{name}<Effect>"));
    let with_effect = |line: &str| {
        let has = |text: &dyn Fn(&str) -> String| {
            WITH_EFFECTS.iter().any(|name| line.contains(&text(name)))
        };
        if has(&|name| format!("export interface {name} {{")) {
            line.replace(" {", &format!("{EFFECT} {{"))
        } else if line.starts_with("export function ") && has(&str::to_owned) {
            let line = line.replacen('(', &format!("{EFFECT}("), 1);
            WITH_EFFECTS.iter().fold(line, add)
        } else {
            line.to_owned()
        }
    };
    declarations.lines().map(|line| with_effect(line) + "\n").collect()
}

/// Rewrites the code of wasm-bindgen so that serde-wasm-bindgen's objects get their fields by `own`
/// of the boundary: an assignment would run setters of `Object.prototype`, and drop `__proto__`.
fn with_own_fields(generated: &str) -> String {
    let imported = "import { own } from \"./boundary.js\";\n".to_owned();
    ["arg1", "arg1 >>> 0"].iter().fold(imported + generated, |code, key| {
        code.replace(&format!("arg0[{key}] = arg2;"), &format!("own(arg0, {key}, arg2);"))
    })
}

/// Removes comments and blanks, or bundles several files into one; names stay.
fn minify(workspace: &Workspace, from: &Path, to: &Path, args: &[&str]) -> Result<()> {
    let mut command = workspace.command("esbuild");
    command.arg(from).args(["--minify-whitespace", "--minify-syntax", "--log-level=warning"]);
    command.arg("--target=es2022");
    command.args(args).arg(format!("--outfile={}", to.display()));
    workspace::run(&mut command)
}

/// Runs `npm pack`; the tarball's name has no version.
///
/// # Errors
/// npm fails.
pub(crate) fn pack(workspace: &Workspace, package: &Path) -> Result<()> {
    let folder = package.parent().context("the package has no folder")?;
    let mut npm: Command = workspace.command("npm");
    npm.args(["pack", "--loglevel=error", "--ignore-scripts", "--json", "--pack-destination"]);
    let listing = workspace::output(npm.arg(folder).arg(package))?;
    let listing: Value = serde_json::from_str(&listing).context("`npm pack` wrote no JSON")?;
    let name = listing.pointer("/0/filename").and_then(Value::as_str);
    let name = name.context("`npm pack` did not say what it wrote")?;
    let tarball = package.with_extension("tgz");
    fs::rename(folder.join(name), &tarball).with_context(|| format!("cannot rename `{name}`"))?;
    println!("packed {} as {}", package.display(), tarball.display());
    Ok(())
}

/// Checks that the package has the version of the crates, and says where it comes from.
fn check_version(package: &Path) -> Result<()> {
    let manifest = fs::read_to_string(package.join("package.json"))?;
    let manifest: Value = serde_json::from_str(&manifest).context("package.json is no JSON")?;
    let version = env!("CARGO_PKG_VERSION");
    if manifest.get("version").and_then(Value::as_str) != Some(version) {
        bail!("`{SOURCE}/package.json` must say version {version}, as Cargo.toml does");
    }
    if manifest.pointer("/repository/url").and_then(Value::as_str) != Some(REPOSITORY) {
        bail!("`{SOURCE}/package.json` must say that it comes from {REPOSITORY}");
    }
    Ok(())
}

/// Copies a folder with its whole content.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn copy_all(from: &Path, to: &Path) -> Result<()> {
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
    fn fields_are_set_by_the_boundary() {
        let code = "__wbg_set_1: function(arg0, arg1, arg2) {\n    arg0[arg1] = arg2;\n},\n";
        let own = "__wbg_set_1: function(arg0, arg1, arg2) {\n    own(arg0, arg1, arg2);\n},\n";
        assert_eq!(
            with_own_fields(code),
            format!("import {{ own }} from \"./boundary.js\";\n{own}")
        );
        assert!(
            with_own_fields("arg0[arg1 >>> 0] = arg2;").ends_with("own(arg0, arg1 >>> 0, arg2);")
        );
    }

    #[test]
    fn effects_are_a_type_parameter() {
        let declarations = "export interface TaintInput {\nexport function a(b: TaintInput[]): C;\n\
            export function d(e: string): F;\n";
        let wanted = "export interface TaintInput<Effect extends string = TaintEffect> {\n\
            export function a<Effect extends string = TaintEffect>(b: TaintInput<Effect>[]): C;\n\
            export function d(e: string): F;\n";
        assert_eq!(with_effects(declarations), wanted);
    }

    #[test]
    fn finds_the_exports_of_a_module() {
        let module = "export class Simulator {\nexport function parseTaint(text) {\n\
            function hidden() {\nexport function initSync(module) {\nexport function start() {\n";
        let Exports { functions, classes } = Exports::of(module);
        assert_eq!((functions, classes), (vec!["parseTaint".into()], vec!["Simulator".into()]));
    }
}
