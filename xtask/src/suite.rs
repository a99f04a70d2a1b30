//! `test` and `ci`: every check of the project, as one list of steps.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::available_parallelism;

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;

use crate::ahead::Ahead;
use crate::count::TestCount;
use crate::setup::{self, DebianProgram};
use crate::steps::Steps;
use crate::workspace::{self, Workspace};
use crate::{causes, cli, npm, pins, playground, policy, site, size};

/// A suite of tests that can run alone.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// The engine's own tests
    Core,
    /// Manifests in and out
    Manifest,
    /// Lines of kubectl
    Kubectl,
    /// The book: its scenarios, values and links, and the preprocessor
    Book,
    /// The page without a browser
    Web,
    /// Scenarios, properties, worked examples, recorded answers
    Rust,
    /// The comparison with Kubernetes' recorded answers
    Conformance,
    /// The playground in Chromium
    Browser,
    /// The npm package, packed and installed
    Npm,
    /// Demos in sites that other generators build
    Embed,
    /// The policy module in its hosts
    Policy,
    /// What is published: the playground, every page of the book and frames, under a path
    Site,
    /// These tasks
    Xtask,
}

/// The amount of checks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The tests: `test`.
    Tests,
    /// The tests and the static checks of the code: `ci`.
    Everything,
}

const SET_UP_RUST: &str = "set-up: Rust";
const SET_UP_NPM: &str = "set-up: Node";
const SET_UP_TOOLS: &str = "set-up: wasm-bindgen";
const SET_UP_PROGRAMS: &str = "set-up: Chromium, kubectl, Hugo";
const BUILD_PAGE: &str = "release build of the page";
const BUILD: &str = "release build";
const NATIVE_ANSWERS: &str = "what the engine says natively";
const POLICY: &str = "policy module";
const GENERATORS: &str = "set-up: generators of sites";
const SITES: &str = "tests/sites";

/// Programs from Debian that tests run.
const PROGRAMS: [DebianProgram; 3] = [setup::CHROMIUM, setup::KUBECTL, setup::HUGO];

/// The test that compares the engine with Kubernetes' recorded answers.
const AGREEMENT: &str = "conformance::recorded_answers::every_family_agrees";

/// Runs the steps of a scope, prints the table, and says whether all passed.
pub(crate) fn run(workspace: &mut Workspace, scope: Scope) -> ExitCode {
    let mut steps = Steps::default();
    let mut programs = Vec::new();

    steps.step(SET_UP_RUST, &[], || set_up_rust(workspace, scope));
    // Each task sets up what it needs. Linking and wasm-opt keep one processor busy for minutes,
    // and share nothing with native builds. What is built for the web is built one after the other, since
    // only one cargo at a time can do that.
    let [page, package, modules, hosts] =
        Ahead::start(workspace, ["build", "npm", "policy", "hosts"]);
    let [generators] = Ahead::start(workspace, ["generators"]);
    steps.step(SET_UP_PROGRAMS, &[], || {
        programs = programs_for_tests(workspace, &PROGRAMS)?;
        Ok(())
    });

    if scope == Scope::Everything {
        static_checks(workspace, &mut steps);
    }
    steps.test_step("Rust tests", &[], || {
        let mut command = workspace.cargo_with_all("test");
        // The comparison has a step of its own, which shows the number of recorded answers.
        workspace::run_tests(command.args(["--no-fail-fast", "--", "--skip", AGREEMENT]))
    });
    steps.test_step("conformance", &[], || {
        let mut command = workspace.cargo_with_all("test");
        let program = ["--test", "all", "--", "--exact", AGREEMENT, "--show-output"];
        match workspace::run_tests(command.args(program)) {
            (count, Ok(())) if count.passed == 0 => (count, Err(anyhow!("no test `{AGREEMENT}`"))),
            answer => answer,
        }
    });
    steps.step(NATIVE_ANSWERS, &[SET_UP_RUST], || native_answers(workspace));
    steps.step(SET_UP_NPM, &[], || setup::npm_packages(workspace));
    steps.step(BUILD_PAGE, &[SET_UP_NPM], || page.finish());
    // The package's build goes on beside the browser tests.
    steps.test_step("browser tests", &[SET_UP_PROGRAMS, NATIVE_ANSWERS, BUILD_PAGE], || {
        node_tests(workspace, "tests/e2e", "", &programs)
    });
    steps.step(BUILD, &[BUILD_PAGE], || package.finish());
    steps.test_step("npm package, packed and installed", &[SET_UP_PROGRAMS, BUILD], || {
        node_tests(workspace, "npm/tests", "", &programs)
    });
    steps.step(POLICY, &[BUILD], || modules.finish());
    steps.test_step("policy module in its hosts", &[POLICY, NATIVE_ANSWERS], || {
        // A host that does not build tells of it below.
        let _ = hosts.finish();
        policy::hosts(workspace, &native_folder(workspace))
    });
    steps.step(GENERATORS, &[BUILD], || {
        generators.finish()?;
        setup::package_into_sites(workspace, &npm::tarball(workspace))
    });
    steps.test_step("demos in other sites", &[SET_UP_PROGRAMS, GENERATORS], || {
        node_tests(workspace, SITES, "", &programs)
    });
    if scope == Scope::Everything {
        steps.step("size", &[BUILD], || {
            size::report(workspace)?;
            causes::report(workspace)
        });
    }
    steps.finish()
}

/// The engine's crates.
const ENGINE: [&str; 4] =
    ["taintlab-core", "taintlab-rules", "taintlab-engine", "taintlab-analysis"];

/// Runs the tests of one suite; sets up and builds only what they need.
pub(crate) fn run_one(workspace: &mut Workspace, suite: Suite, filter: &str) -> ExitCode {
    let mut steps = Steps::default();
    let folder = match suite {
        Suite::Core => return cargo_tests(workspace, steps, &ENGINE, filter),
        Suite::Manifest => return cargo_tests(workspace, steps, &["taintlab-manifest"], filter),
        Suite::Kubectl => return cargo_tests(workspace, steps, &["taintlab-kubectl"], filter),
        Suite::Book => return cargo_tests(workspace, steps, &["mdbook-taintlab"], filter),
        Suite::Web => return cargo_tests(workspace, steps, &["taintlab-web"], filter),
        Suite::Rust => return cargo_tests(workspace, steps, &["taintlab-tests"], filter),
        Suite::Xtask => return cargo_tests(workspace, steps, &["xtask"], filter),
        Suite::Conformance => {
            return cargo_tests(workspace, steps, &["taintlab-tests"], AGREEMENT);
        }
        Suite::Policy => {
            steps.step(NATIVE_ANSWERS, &[], || native_answers(workspace));
            steps.step(POLICY, &[], || policy::set_up_and_build(workspace));
            steps.test_step("tests", &[NATIVE_ANSWERS, POLICY], || {
                policy::hosts(workspace, &native_folder(workspace))
            });
            return steps.finish();
        }
        Suite::Browser => "tests/e2e",
        Suite::Npm => "npm/tests",
        Suite::Embed => SITES,
        Suite::Site => "tests/site",
    };
    let mut programs = Vec::new();
    steps.step(SET_UP_RUST, &[], || set_up_rust(workspace, Scope::Tests));
    steps.step(SET_UP_NPM, &[], || setup::npm_packages(workspace));
    if matches!(suite, Suite::Npm | Suite::Browser) {
        steps.step(NATIVE_ANSWERS, &[SET_UP_RUST], || native_answers(workspace));
    }
    if matches!(suite, Suite::Npm | Suite::Embed) {
        steps.step(SET_UP_TOOLS, &[SET_UP_RUST], || setup::wasm_bindgen(workspace));
        steps.step(BUILD, &[SET_UP_NPM, SET_UP_TOOLS], || npm::build(workspace));
        if suite == Suite::Embed {
            steps.step(GENERATORS, &[BUILD], || {
                setup::site_generators(workspace)?;
                setup::package_into_sites(workspace, &npm::tarball(workspace))
            });
        }
    } else if suite == Suite::Site {
        steps.step(BUILD, &[SET_UP_NPM], || site::build(workspace));
    } else {
        steps.step(BUILD, &[SET_UP_NPM], || playground::set_up_and_build(workspace));
    }
    let needed: &[DebianProgram] = match suite {
        Suite::Npm => &[setup::CHROMIUM, setup::KUBECTL],
        Suite::Embed => &[setup::CHROMIUM, setup::HUGO],
        _ => &[setup::CHROMIUM],
    };
    steps.step(SET_UP_PROGRAMS, &[], || {
        programs = programs_for_tests(workspace, needed)?;
        Ok(())
    });
    let needs: &[&str] = match suite {
        Suite::Npm | Suite::Browser => &[BUILD, SET_UP_PROGRAMS, NATIVE_ANSWERS],
        Suite::Embed => &[GENERATORS, SET_UP_PROGRAMS],
        _ => &[BUILD, SET_UP_PROGRAMS],
    };
    steps.test_step("tests", needs, || node_tests(workspace, folder, filter, &programs));
    steps.finish()
}

/// Runs the tests of some packages.
fn cargo_tests(
    workspace: &Workspace,
    mut steps: Steps,
    packages: &[&str],
    filter: &str,
) -> ExitCode {
    steps.test_step("tests", &[], || {
        let mut command = workspace.cargo();
        command.arg("test").args(packages.iter().flat_map(|name| ["--package", name]));
        command.args(["--all-features", "--no-fail-fast", "--"]);
        workspace::run_tests(command.args((!filter.is_empty()).then_some(filter)))
    });
    steps.finish()
}

/// Compares the engine with Kubernetes' recorded answers.
///
/// # Errors
/// The program does not build, or finds a difference.
pub(crate) fn conformance(workspace: &Workspace, dir: Option<&Path>) -> Result<()> {
    let mut command = workspace.cargo();
    let program = ["run", "--quiet", "--package", "taintlab-tests", "--bin", "conformance", "--"];
    command.args(program);
    if let Some(dir) = dir {
        // The program runs in the repository's root, wherever the user is.
        let dir = std::path::absolute(dir).context("cannot tell the current folder")?;
        command.arg(dir);
    }
    workspace::run(&mut command)
}

/// The paths of programs that tests run, with the environment variables under which they find them.
fn programs_for_tests(
    workspace: &Workspace,
    programs: &[DebianProgram],
) -> Result<Vec<(&'static str, PathBuf)>> {
    let path = |program: &DebianProgram| {
        Ok((program.variable, setup::debian_program(workspace, program)?))
    };
    programs.iter().map(path).collect()
}

/// The folder in which the tests find the engine's native answers.
fn native_folder(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("native")
}

/// Runs every scenario natively, and writes the engine's answers.
fn native_answers(workspace: &Workspace) -> Result<()> {
    let mut program = workspace.program("native-answers")?;
    workspace::run(program.arg("examples").arg(native_folder(workspace)))
}

fn set_up_rust(workspace: &Workspace, scope: Scope) -> Result<()> {
    let mut targets = vec![(pins::WASM_TARGET, "the playground and the npm package")];
    if scope == Scope::Everything {
        setup::rust_components(workspace)?;
        targets.push((pins::NO_STD_TARGET, "proves that the engine needs no std"));
    }
    setup::rust_targets(workspace, &targets)?;
    setup::crates(workspace)
}

fn static_checks(workspace: &Workspace, steps: &mut Steps) {
    steps.step("rustfmt", &[SET_UP_RUST], || {
        workspace::run(workspace.cargo().args(["fmt", "--all", "--check"]))
    });
    // Checks the code for this machine only, including code that ships as wasm: except for one
    // function it is the same, and one target checks each crate once.
    steps.step("clippy", &[SET_UP_RUST], || {
        let mut command = workspace.cargo_with_all("clippy");
        workspace::run(command.args(["--all-targets", "--", "-D", "warnings"]))
    });
    steps.step("rustdoc", &[SET_UP_RUST], || {
        let mut command = workspace.cargo_with_all("doc");
        workspace::run(command.arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings"))
    });
    steps.step("engine without std", &[SET_UP_RUST], || {
        let packages = ["--package", "taintlab-core", "--package", "taintlab-words"];
        let mut command = workspace.cargo();
        workspace::run(command.arg("check").args(packages).args(["--target", pins::NO_STD_TARGET]))
    });
}

/// Runs the test files directly in a folder with Node's own test runner, those with `filter` in
/// their names.
fn node_tests(
    workspace: &Workspace,
    folder: &str,
    filter: &str,
    programs: &[(&str, PathBuf)],
) -> (TestCount, Result<()>) {
    let found = test_files(workspace, folder, filter);
    let (files, binary) = match found.and_then(|files| Ok((files, cli::for_tests(workspace)?))) {
        Ok(found) => found,
        Err(error) => return (TestCount::default(), Err(error)),
    };
    let mut command = workspace.command("node");
    // By default Node keeps one processor free, which is half of two.
    let processors = available_parallelism().map_or(1, NonZero::get);
    command.arg(format!("--test-concurrency={processors}"));
    command.args(["--test", "--test-reporter=spec"]).args(files);
    command.env("TAINTLAB_NATIVE", native_folder(workspace));
    command.env("TAINTLAB_PACKAGE", npm::tarball(workspace));
    command.env("TAINTLAB_BINARY", binary);
    command.env("TAINTLAB_SITES", setup::sites(workspace));
    command.env("TAINTLAB_SITE", site::folder(workspace));
    command.envs(programs.iter().map(|(variable, path)| (variable, path)));
    workspace::run_tests(&mut command)
}

/// The files `*.test.mjs` of a folder, sorted, relative to the root.
fn test_files(workspace: &Workspace, folder: &str, filter: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let entries = fs::read_dir(workspace.path(folder))
        .with_context(|| format!("cannot read the folder `{folder}`"))?;
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".test.mjs") && name.contains(filter) {
            files.push(format!("{folder}/{name}"));
        }
    }
    if files.is_empty() {
        bail!("no test: `{folder}` has no file named `*{filter}*.test.mjs`");
    }
    files.sort();
    Ok(files)
}
