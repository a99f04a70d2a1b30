//! Cutting the playground's wasm in two: what the page is painted with, and what is loaded when
//! the page stands (`web/src/later.rs` draws the line).
//!
//! Trunk has no step for it, but it runs `wasm-bindgen` from PATH. So this program stands on PATH
//! under that name: it cuts what cargo built, hands the first part on to the real wasm-bindgen,
//! and puts the other aside. After the build Trunk runs [`PLACE`], which is this program again, to
//! put that part beside the page.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, anyhow};
use wasm_split_cli_support::{Options, transform};

use crate::pins;
use crate::workspace::{self, Workspace, find_on_path};

/// The name under which Trunk runs wasm-bindgen.
const WASM_BINDGEN: &str = "wasm-bindgen";
/// The name under which Trunk runs this program after a build; see Trunk.toml.
const PLACE: &str = "taintlab-place-later";
/// Tells this program which wasm-bindgen is the real one.
const REAL: &str = "TAINTLAB_WASM_BINDGEN";
/// The folder of the later part, which goes on with a hash of what was cut.
const FOLDER: &str = "later-";

/// Where the page's own module is to be found by the later part: Trunk gives it a name that is
/// known only after the cut, and puts it here.
const PAGE: &str = "export const initSync = () => window.wasmBindings.initSync();\n";

/// Puts this program on PATH, before the real wasm-bindgen.
///
/// # Errors
/// When wasm-bindgen is not on PATH or the program cannot be copied.
pub(crate) fn stand_in(workspace: &mut Workspace) -> Result<()> {
    let real = workspace
        .find_tool(WASM_BINDGEN)
        .or_else(|| find_on_path(WASM_BINDGEN))
        .context("wasm-bindgen is not on PATH")?;
    let folder = workspace.target_dir().join("xtask-tools");
    fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let this = env::current_exe().context("cannot tell where this program is")?;
    for name in [WASM_BINDGEN, PLACE] {
        let copy = folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        // Under another name first: a running copy cannot be written to.
        let fresh = folder.join(format!("{name}.{}", std::process::id()));
        fs::copy(&this, &fresh)
            .and_then(|_| fs::rename(&fresh, &copy))
            .with_context(|| format!("cannot write `{}`", copy.display()))?;
    }
    workspace.add_first_tools(folder);
    workspace.set_variable(REAL, real);
    Ok(())
}

/// The real wasm-bindgen, if it is in one of the project's folders of tools.
pub(crate) fn real(workspace: &Workspace) -> Option<PathBuf> {
    let known = workspace.variable(REAL).map(Path::to_path_buf);
    known.or_else(|| workspace.find_tool(WASM_BINDGEN))
}

/// Does what this program is to do under another name; `None` under its own.
pub(crate) fn under_another_name() -> Option<ExitCode> {
    let name = env::args_os().next().map(PathBuf::from)?;
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let result = match name.file_stem()?.to_str()? {
        WASM_BINDGEN => bindgen(&arguments),
        PLACE => place(),
        _ => return None,
    };
    Some(result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    }))
}

/// wasm-bindgen, of the first part.
fn bindgen(arguments: &[OsString]) -> Result<ExitCode> {
    let real = env::var_os(REAL).with_context(|| format!("{REAL} is not set"))?;
    let mut command = Command::new(real);
    let is_wasm = |argument: &OsString| argument.to_string_lossy().ends_with(".wasm");
    match arguments.iter().find(|argument| is_wasm(argument)).map(Path::new) {
        None => _ = command.args(arguments),
        Some(input) => {
            let first = cut(input)?;
            // The later part shares memory, stack and functions with the first.
            command.arg("--keep-lld-exports");
            command.args(arguments.iter().map(|argument| {
                if is_wasm(argument) { first.as_os_str() } else { argument.as_os_str() }
            }));
        }
    }
    let status = command.status().context("cannot start wasm-bindgen")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where the later part is put aside, for a profile of cargo.
fn aside(input: &Path) -> PathBuf {
    input.with_file_name("taintlab-later")
}

/// Cuts a wasm file; the path of the first part.
fn cut(input: &Path) -> Result<PathBuf> {
    let wasm = fs::read(input).with_context(|| format!("cannot read `{}`", input.display()))?;
    let mut hasher = DefaultHasher::new();
    wasm.hash(&mut hasher);
    let aside = aside(input);
    if aside.exists() {
        fs::remove_dir_all(&aside)
            .with_context(|| format!("cannot empty the folder `{}`", aside.display()))?;
    }
    // Its name changes with what is in it, so that a browser never joins parts of two builds.
    let folder = format!("{FOLDER}{:016x}", hasher.finish());
    let output = aside.join(&folder);
    fs::create_dir_all(&output)
        .with_context(|| format!("cannot make the folder `{}`", output.display()))?;
    let name = input.file_name().context("the wasm file has no name")?;
    let first = aside.join(name);
    let link = format!("./{folder}/load.js");
    let mut options = Options::new(&wasm);
    options.output_dir = &aside;
    options.main_out_path = &first;
    options.link_name = &link;
    options.main_module = "./page.js";
    let parts = transform(options)
        .map_err(|error| anyhow!("{error:#}"))
        .with_context(|| format!("cannot cut `{}`", input.display()))?;
    for part in parts.split_modules {
        let name = part.file_name().context("a part has no name")?;
        fs::rename(&part, output.join(name))?;
    }
    fs::write(output.join("page.js"), PAGE)?;
    Ok(first)
}

/// Puts the later part beside the page that Trunk just built.
fn place() -> Result<ExitCode> {
    let variable = |name: &str| env::var(name).with_context(|| format!("Trunk did not set {name}"));
    let staging = PathBuf::from(variable("TRUNK_STAGING_DIR")?);
    let release = variable("TRUNK_PROFILE")? == "release";
    let profile = if release { pins::WEB_PROFILE } else { "debug" };
    let target = Workspace::find()?.target_dir();
    let input = target.join(pins::WASM_TARGET).join(profile).join("page.wasm");
    let aside = aside(&input);
    let folder = fs::read_dir(&aside)
        .with_context(|| format!("cannot read `{}`", aside.display()))?
        .filter_map(Result::ok)
        .find(|entry| entry.file_name().to_string_lossy().starts_with(FOLDER))
        .with_context(|| format!("nothing was cut in `{}`", aside.display()))?;
    let to = staging.join(folder.file_name());
    fs::create_dir_all(&to)?;
    for file in fs::read_dir(folder.path())? {
        let file = file?;
        let to = to.join(file.file_name());
        if release && to.extension().is_some_and(|extension| extension == "wasm") {
            let mut command = Command::new("wasm-opt");
            command.arg("-Oz").args(pins::WASM_FEATURES).arg("-o").arg(&to).arg(file.path());
            workspace::run(&mut command)?;
        } else {
            fs::copy(file.path(), &to)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
