//! Installs what the tasks need: each item once, pinned, with a message, and only if it is missing.

use std::env::{self, consts};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cargo_metadata::MetadataCommand;

use crate::pins::{self, CargoTool};
use crate::workspace::{self, Workspace, find_on_path, human};

/// A program that tests run and that Debian offers.
pub(crate) struct DebianProgram {
    title: &'static str,
    purpose: &'static str,
    /// The environment variable that names the program, for users and for the tests.
    pub(crate) variable: &'static str,
    /// Names of the program, best first.
    names: &'static [&'static str],
    packages: &'static [&'static str],
    /// What Homebrew and winget call it, where there is one.
    elsewhere: Option<(&'static str, &'static str)>,
    /// Where its usual installer puts it on other systems, which is not on PATH.
    places: &'static [&'static str],
}

/// A browser. The headless shell is enough for tests, and takes a quarter less of the processor.
pub(crate) const CHROMIUM: DebianProgram = DebianProgram {
    title: "Chromium",
    purpose: "runs the browser tests",
    variable: "CHROMIUM",
    names: &[
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ],
    packages: &["chromium-headless-shell", "fonts-liberation"],
    elsewhere: Some(("--cask google-chrome", "Google.Chrome")),
    places: &[
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    ],
};

/// The real kubectl.
pub(crate) const KUBECTL: DebianProgram = DebianProgram {
    title: "kubectl",
    purpose: "runs the plugin of the npm package in its tests",
    variable: "KUBECTL",
    names: &["kubectl"],
    packages: &["kubernetes-client"],
    elsewhere: Some(("kubernetes-cli", "Kubernetes.kubectl")),
    places: &[],
};

/// A generator of sites, for a recipe of the book.
pub(crate) const HUGO: DebianProgram = DebianProgram {
    title: "Hugo",
    purpose: "builds a site with demos in the tests",
    variable: "HUGO",
    names: &["hugo"],
    packages: &["hugo"],
    elsewhere: Some(("hugo", "Hugo.Hugo.Extended")),
    places: &[],
};

/// A C compiler for static programs, for the allocator of the native command.
pub(crate) const MUSL: DebianProgram = DebianProgram {
    title: "musl-gcc",
    purpose: "compiles the allocator of the static command",
    variable: "MUSL_GCC",
    names: &["musl-gcc"],
    packages: &["musl-tools"],
    elsewhere: None,
    places: &[],
};

/// Runs MkDocs, another generator of sites.
const PYTHON: DebianProgram = DebianProgram {
    title: "Python",
    purpose: "runs MkDocs in the tests",
    variable: "PYTHON",
    names: &["python3", "python"],
    packages: &["python3-venv"],
    elsewhere: Some(("python", "Python.Python.3.13")),
    places: &[],
};

/// Installs compilation targets with rustup.
///
/// # Errors
/// A target is missing, and rustup is missing too or cannot fetch it.
pub(crate) fn rust_targets(workspace: &Workspace, targets: &[(&str, &str)]) -> Result<()> {
    for (target, purpose) in targets {
        let libraries = workspace::output(workspace.command("rustc").args([
            "--print",
            "target-libdir",
            "--target",
            target,
        ]))?;
        if Path::new(libraries.trim()).is_dir() {
            found(&format!("Rust target {target}"), purpose, "installed");
            continue;
        }
        if find_on_path("rustup").is_none() {
            bail!(
                "the Rust target `{target}` ({purpose}) is missing, and so is rustup, which would \
                 add it: install Rust from https://rustup.rs, or this target's std by hand"
            );
        }
        install(&format!("Rust target {target}"), purpose, "rustup fetches it, seconds", || {
            workspace::run(workspace.command("rustup").args(["target", "add", target]))
        })?;
    }
    Ok(())
}

/// Installs rustfmt and clippy, which rustup's minimal profile leaves out.
///
/// # Errors
/// One is missing, and rustup is missing too or cannot fetch it.
pub(crate) fn rust_components(workspace: &Workspace) -> Result<()> {
    for (component, program) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        let probe = workspace.cargo().args([program, "--version"]).output();
        if probe.is_ok_and(|output| output.status.success()) {
            found(component, "checks the code", "installed");
            continue;
        }
        if find_on_path("rustup").is_none() {
            bail!("`cargo {program}` is missing: install Rust from https://rustup.rs");
        }
        install(component, "checks the code", "rustup fetches it, seconds", || {
            workspace::run(workspace.command("rustup").args(["component", "add", component]))
        })?;
    }
    Ok(())
}

/// Fetches the source of every dependency; after that, tasks can run offline.
///
/// # Errors
/// cargo cannot fetch them.
pub(crate) fn crates(workspace: &Workspace) -> Result<()> {
    workspace::run(workspace.cargo().args(["fetch"]))
}

/// Installs Trunk and wasm-bindgen, which build the playground.
///
/// # Errors
/// One cannot be built, or Cargo.lock has no wasm-bindgen.
pub(crate) fn playground_tools(workspace: &mut Workspace) -> Result<()> {
    wasm_bindgen(workspace)?;
    cargo_tool(workspace, &pins::TRUNK, pins::TRUNK_VERSION)
}

/// Installs mdBook in the version of the preprocessor's library in Cargo.lock.
///
/// # Errors
/// mdBook cannot be built, or Cargo.lock does not have the library.
pub(crate) fn book_tools(workspace: &mut Workspace) -> Result<()> {
    let version = locked_version(workspace, "mdbook-preprocessor")?;
    cargo_tool(workspace, &pins::MDBOOK, &version)
}

/// Installs wasm-bindgen in the version of Cargo.lock.
///
/// # Errors
/// wasm-bindgen cannot be built, or Cargo.lock does not have it.
pub(crate) fn wasm_bindgen(workspace: &mut Workspace) -> Result<()> {
    let version = locked_version(workspace, "wasm-bindgen")?;
    cargo_tool(workspace, &pins::WASM_BINDGEN, &version)
}

/// Installs cargo-deny.
///
/// # Errors
/// It cannot be built.
pub(crate) fn cargo_deny(workspace: &mut Workspace) -> Result<()> {
    cargo_tool(workspace, &pins::CARGO_DENY, pins::CARGO_DENY_VERSION)
}

/// The version of a library in Cargo.lock, which its command-line tool must have too.
fn locked_version(workspace: &Workspace, library: &str) -> Result<String> {
    let metadata = MetadataCommand::new()
        .manifest_path(workspace.path("Cargo.toml"))
        .exec()
        .with_context(|| format!("cannot tell which {library} is locked"))?;
    let locked = metadata.packages.iter().find(|package| package.name.as_str() == library);
    let locked = locked.with_context(|| {
        format!("Cargo.lock has no `{library}`, so the version of its command-line tool is unknown")
    })?;
    Ok(locked.version.to_string())
}

/// Installs the npm packages of package-lock.json, wasm-opt among them.
///
/// # Errors
/// Node or npm is missing or too old, or a package cannot be fetched.
pub(crate) fn npm_packages(workspace: &mut Workspace) -> Result<()> {
    node(workspace)?;
    let _turn = turn(workspace, "npm")?;
    let purpose = "wasm-opt, and driving Chromium in tests";
    let lock = workspace.path("package-lock.json");
    let wanted = fs::read(&lock).with_context(|| format!("cannot read `{}`", lock.display()))?;
    // A copy of the installed lock file tells whether node_modules is up to date.
    let stamp = workspace.path("node_modules/.taintlab-installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        found("npm packages", purpose, "up to date");
    } else {
        if find_on_path("npm").is_none() {
            let (major, minor) = pins::NODE;
            bail!(
                "npm is not on PATH: Node {major}.{minor} or newer from https://nodejs.org has it"
            );
        }
        install("npm packages", purpose, "npm fetches them, seconds", || {
            workspace::run(workspace.command("npm").args(["ci", "--loglevel=error"]))?;
            fs::write(&stamp, &wanted)
                .with_context(|| format!("cannot write `{}`", stamp.display()))
        })?;
    }
    workspace.add_tools(workspace.path("node_modules/.bin"));
    Ok(())
}

/// The path of a program that tests run: the one that the environment names, or the one on PATH, or
/// one where installers put it, or Debian's.
///
/// # Errors
/// No program is found and none can be installed; the message says what to install by hand.
pub(crate) fn debian_program(workspace: &Workspace, program: &DebianProgram) -> Result<PathBuf> {
    let DebianProgram { title, purpose, variable, names, packages, places, .. } = program;
    let present = || {
        let mut places = places.iter().map(PathBuf::from);
        let on_path = names.iter().find_map(|name| find_on_path(name));
        on_path.or_else(|| places.find(|place| place.is_file()))
    };
    if let Some(path) = env::var_os(variable).map(PathBuf::from) {
        if !path.is_file() {
            bail!("{variable} is `{}`, which is no file: set it to a program", path.display());
        }
        found(title, purpose, &path.display().to_string());
        return Ok(path);
    }
    if let Some(path) = present() {
        found(title, purpose, &path.display().to_string());
        return Ok(path);
    }
    let by_hand = how_to_get(program, consts::OS);
    if !has_apt(workspace) {
        bail!("no {title} on PATH ({}): {by_hand}", names.join(", "));
    }
    apt_install(workspace, program)?;
    present().with_context(|| format!("`{}` brought none: {by_hand}", packages.join(" ")))
}

/// The words for a user who has to install a program by hand on a system.
fn how_to_get(program: &DebianProgram, system: &str) -> String {
    let DebianProgram { title, variable, packages, elsewhere, .. } = program;
    let how = match (system, elsewhere) {
        ("macos", Some((homebrew, _))) => format!(" (`brew install {homebrew}`)"),
        ("windows", Some((_, winget))) => format!(" (`winget install {winget}`)"),
        ("macos" | "windows", None) => String::new(),
        _ => format!(" (on Debian `apt-get install {}`)", packages.join(" ")),
    };
    format!("install {title}{how}, or set {variable} to the path of one")
}

/// Whether this process can install Debian's packages.
fn has_apt(workspace: &Workspace) -> bool {
    let user = || workspace::output(workspace.command("id").arg("-u"));
    find_on_path("apt-get").is_some() && user().is_ok_and(|id| id.trim() == "0")
}

/// Installs Debian's packages of a program.
fn apt_install(workspace: &Workspace, program: &DebianProgram) -> Result<()> {
    let DebianProgram { title, purpose, packages, .. } = program;
    let _turn = turn(workspace, "apt")?;
    install(title, purpose, "apt-get installs it, about a minute", || {
        let apt_get = || {
            let mut command = workspace.command("apt-get");
            command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq");
            command
        };
        workspace::run(apt_get().arg("update"))?;
        workspace::run(
            apt_get().args(["install", "--yes", "--no-install-recommends"]).args(*packages),
        )
    })
}

/// A Python that can make virtual environments; Debian's needs another package for that.
fn python(workspace: &Workspace) -> Result<PathBuf> {
    let python = debian_program(workspace, &PYTHON)?;
    let probe = workspace.command(&python).args(["-c", "import ensurepip, venv"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        if !has_apt(workspace) {
            bail!("`{}` has no ensurepip or no venv: install them", python.display());
        }
        apt_install(workspace, &PYTHON)?;
    }
    Ok(python)
}

/// The folder of the site generators.
pub(crate) fn sites(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("sites")
}

/// Installs the site generators for which the book has recipes, in a folder of the build, pinned
/// with all of their dependencies. Hugo comes from the system.
///
/// # Errors
/// A generator is missing and cannot be installed.
pub(crate) fn site_generators(workspace: &Workspace) -> Result<()> {
    let folder = sites(workspace);
    fs::create_dir_all(&folder)?;
    let purpose = "tests of the recipes for other sites";
    let mut wanted = Vec::new();
    for file in ["package.json", "package-lock.json", "requirements.txt"] {
        let from = workspace.path("tests/sites").join(file);
        wanted.extend(fs::read(&from).with_context(|| format!("cannot read `{file}`"))?);
        fs::copy(from, folder.join(file))?;
    }
    let stamp = folder.join("installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        found("generators of sites", purpose, "up to date");
        return Ok(());
    }
    install("generators of sites", purpose, "npm and pip fetch them, a minute", || {
        workspace::run(&mut npm_in_sites(workspace))?;
        let venv = folder.join("venv");
        let mut python = workspace.command(python(workspace)?);
        workspace::run(python.args(["-m", "venv", "--clear"]).arg(&venv))?;
        let programs = if consts::OS == "windows" { "Scripts" } else { "bin" };
        let mut pip = workspace.command(venv.join(programs).join("pip"));
        pip.current_dir(&folder).args(["install", "--quiet", "--disable-pip-version-check"]);
        workspace::run(pip.args(["--no-deps", "--requirement", "requirements.txt"]))?;
        fs::write(&stamp, &wanted).with_context(|| format!("cannot write `{}`", stamp.display()))
    })
}

/// Installs an npm package beside the site generators.
pub(crate) fn package_into_sites(workspace: &Workspace, tarball: &Path) -> Result<()> {
    let mut npm = npm_in_sites(workspace);
    workspace::run(npm.args(["--no-save", "--offline"]).arg(tarball))
}

/// `npm ci` would need a lock file with the optional packages of all platforms.
fn npm_in_sites(workspace: &Workspace) -> Command {
    let mut npm = workspace.command("npm");
    npm.current_dir(sites(workspace)).args(["install", "--loglevel=error", "--ignore-scripts"]);
    npm.args(["--no-audit", "--no-fund"]);
    npm
}

/// Checks that Node is installed and new enough.
fn node(workspace: &Workspace) -> Result<()> {
    let (major, minor) = pins::NODE;
    if find_on_path("node").is_none() {
        bail!("Node is not on PATH: install {major}.{minor} or newer from https://nodejs.org");
    }
    let version = workspace::output(workspace.command("node").arg("--version"))?;
    if node_version(&version).is_none_or(|found| found < pins::NODE) {
        let version = version.trim();
        bail!("Node is {version}, too old: install Node {major}.{minor} or newer, with npm");
    }
    found("Node", "runs wasm-opt and the browser tests", version.trim());
    Ok(())
}

/// Provides a tool that cargo builds: the one on PATH, or else one in the user's cache, or else a
/// new build there.
fn cargo_tool(workspace: &mut Workspace, tool: &CargoTool, version: &str) -> Result<()> {
    let title = format!("{} {version}", tool.program);
    if let Some(path) = find_on_path(tool.program)
        && has_version(workspace, &path, version)
    {
        found(&title, tool.purpose, &path.display().to_string());
        return Ok(());
    }
    let root = cache_dir()?.join("tools").join(format!("{}-{version}", tool.package));
    let folder = root.join("bin");
    let program = folder.join(format!("{}{}", tool.program, consts::EXE_SUFFIX));
    if has_version(workspace, &program, version) {
        found(&title, tool.purpose, &program.display().to_string());
    } else {
        let how = format!("cargo builds it once per user, about {}", tool.build_time);
        install(&title, tool.purpose, &how, || {
            let mut command = workspace.cargo();
            command
                .args(["install", tool.package, "--version", version, "--force"])
                .args(tool.install_args)
                .arg("--root")
                .arg(&root)
                // Built for quick use, not for speed: wasm-bindgen takes 3 s more for the page.
                .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
                .env("CARGO_PROFILE_RELEASE_LTO", "off")
                .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
                .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
                .env_remove("CARGO_TARGET_DIR")
                .env_remove("RUSTFLAGS");
            workspace::run(&mut command)
        })?;
        if !has_version(workspace, &program, version) {
            bail!("`{}` does not say that it is version {version}", program.display());
        }
    }
    workspace.add_tools(folder);
    Ok(())
}

/// Whether the program exists and reports that version.
fn has_version(workspace: &Workspace, program: &Path, version: &str) -> bool {
    program.is_file()
        && workspace::output(workspace.command(program).arg("--version"))
            .is_ok_and(|text| says_version(&text, version))
}

/// Whether a text such as `trunk 0.21.14` or `mdbook v0.5.4` names that version.
fn says_version(text: &str, version: &str) -> bool {
    let said = text.split_whitespace().nth(1);
    said.is_some_and(|said| said.strip_prefix('v').unwrap_or(said) == version)
}

/// The major and the minor version in `v20.11.1`.
fn node_version(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.trim().strip_prefix('v')?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The user's cache folder, for results that can be made again; all clones of the repository share
/// it.
fn cache_dir() -> Result<PathBuf> {
    let folder =
        |variable: &str| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    folder("XDG_CACHE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("taintlab"))
        .context("no cache folder: set XDG_CACHE_HOME or HOME to an absolute path")
}

/// Locks the search for something and its installation: a task beside this one waits, and then
/// finds it installed.
fn turn(workspace: &Workspace, what: &str) -> Result<File> {
    let folder = workspace.target_dir();
    fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join(format!("{what}.lock")))?;
    lock.lock()?;
    Ok(lock)
}

fn found(what: &str, purpose: &str, state: &str) {
    println!("set-up: {what} ({purpose}): {state}");
}

fn install(what: &str, purpose: &str, how: &str, body: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("set-up: {what} ({purpose}): missing; {how}");
    let start = Instant::now();
    body().with_context(|| format!("cannot install {what} ({purpose})"))?;
    println!("set-up: {what}: installed in {}", human(start.elapsed()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_is_told_its_own_way_to_get_a_program() {
        let hugo = |system| how_to_get(&HUGO, system);
        let by_hand = "or set HUGO to the path of one";
        assert_eq!(
            hugo("linux"),
            format!("install Hugo (on Debian `apt-get install hugo`), {by_hand}")
        );
        assert_eq!(hugo("macos"), format!("install Hugo (`brew install hugo`), {by_hand}"));
        assert_eq!(
            hugo("windows"),
            format!("install Hugo (`winget install Hugo.Hugo.Extended`), {by_hand}")
        );
        let musl = how_to_get(&MUSL, "windows");
        assert_eq!(musl, "install musl-gcc, or set MUSL_GCC to the path of one");
    }

    #[test]
    fn reads_the_version_of_a_tool() {
        assert!(says_version("trunk 0.21.14\n", "0.21.14"));
        assert!(says_version("mdbook v0.5.4\n", "0.5.4"));
        assert!(!says_version("mdbook v0.5.40\n", "0.5.4"));
        assert!(!says_version("", "0.5.4"));
    }

    #[test]
    fn reads_the_version_of_node() {
        assert_eq!(node_version("v20.9.2\n"), Some((20, 9)));
        assert_eq!(node_version("20.20.2"), None);
        assert_eq!(node_version("v20"), None);
    }
}
