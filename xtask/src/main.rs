//! Every task of the project: `cargo xtask <task>`.
//!
//! A task installs what it needs, pinned and once ([`setup`]), shows each command that it runs, and
//! says plainly what to install by hand if it cannot do so. The tasks hold no rule of Kubernetes.

mod ahead;
mod audit;
mod bench;
mod book;
mod causes;
mod cli;
mod count;
mod fuzz;
mod npm;
mod package;
mod pins;
mod playground;
mod policy;
mod release;
mod release_diff;
mod reproducible;
mod schema;
mod setup;
mod site;
mod size;
mod steps;
mod suite;
mod vectors;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::suite::{Scope, Suite};
use crate::workspace::Workspace;

/// The command line.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about, version)]
#[command(about = "Every task of the project", disable_help_subcommand = true)]
#[command(after_help = "Each task installs what it needs (pinned, once) and prints what it runs. \
    Built tools are kept in the user's cache folder, under taintlab/tools.")]
struct Cli {
    /// What to do.
    #[command(subcommand)]
    task: Task,
}

/// One task.
#[derive(Subcommand)]
enum Task {
    /// Build the playground and serve it, rebuilding on every change
    Serve(playground::ServeOptions),
    /// Build the playground for release, into dist/
    Build,
    /// Build the book, into target/book/, and serve it
    Docs(book::DocsOptions),
    /// Build the npm package, into target/npm/
    Npm,
    /// Build the native command for release, static on Linux, and pack it for npm
    Cli,
    /// Build the policy module, into target/policy/, and print its sizes; fails over the budget
    Policy,
    /// Pack Kubernetes' recorded answers, with runners in four languages, into target/vectors/
    Vectors,
    /// Build what is published, into target/site/: playground, book, embed
    Site,
    /// Run every test: Rust, conformance, wasm in Node, the playground in Chromium, the npm package
    Test {
        /// Only this suite
        suite: Option<Suite>,
        /// Of a suite only the tests, or of one that Node runs the files, with this in their name
        #[arg(requires = "suite")]
        filter: Option<String>,
    },
    /// Run everything that must hold before a change is merged: lints, docs, `test`, `size`
    Ci,
    /// Compare the engine with inputs and outputs recorded from Kubernetes
    Conformance {
        /// Folder of vector files, gzipped or not [default: the vectors in tests/]
        dir: Option<PathBuf>,
    },
    /// Run the benchmarks, compare them with Kubernetes' own Go code, and measure the npm package
    /// and the page
    Bench {
        /// Only the page: how it loads on a slow line, and how it bears a large cluster
        #[arg(long)]
        page: bool,
        /// Arguments for the benchmark program, such as a name to filter by
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run random clusters with random faults over simulated time: --seed N, --clusters N, --hours H; a
    /// seed that fails is made smaller and written to target/soak/
    Soak {
        /// Arguments for the program; `-- --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run the fuzz targets: --target NAME, --seconds N or --executions N, --seed N
    Fuzz {
        /// Arguments for the fuzz program; `-- --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Build for release and print the sizes of the page and the npm package; fails over the budget
    Size {
        /// Of what is built, print instead what the code is for, and fail where that has grown since it was
        /// last written down
        #[arg(long)]
        by_cause: bool,
    },
    /// Check licences, advisories and sources of all crates, and the advisories of npm packages
    Audit,
    /// Write the JSON Schema of scenario files
    Schema,
    /// Write checksums and the manifests of Krew and Homebrew beside the archives of a release
    Release {
        /// Folder of the archives
        archives: PathBuf,
    },
    /// Pack the crates that are published, into target/package/, and build each from what is packed
    Package,
    /// Build what is shipped twice, in two folders, and compare the bytes; prints the SHA-256 of each file
    Reproducible {
        /// Artefacts to build [default: everything]
        artefacts: Vec<reproducible::Artefact>,
    },
    /// List what is bound to a release of Kubernetes: its rules, and the places that name it
    ReleaseDiff {
        /// The release, such as 1.35 [default: the newest one]
        release: Option<String>,
    },
    /// Install the generators with which the recipes of the book are tested
    Generators,
    /// Build the native programs in which the policy modules are tested
    Hosts,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match Workspace::find().and_then(|mut workspace| run(&mut workspace, cli.task)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &mut Workspace, task: Task) -> anyhow::Result<ExitCode> {
    match task {
        Task::Serve(options) => playground::serve(workspace, &options)?,
        Task::Build => playground::set_up_and_build(workspace)?,
        Task::Docs(options) => book::docs(workspace, &options)?,
        Task::Npm => npm::set_up_and_build(workspace)?,
        Task::Cli => drop(cli::build(workspace)?),
        Task::Policy => policy::set_up_and_build(workspace)?,
        Task::Vectors => vectors::pack(workspace)?,
        Task::Site => site::build(workspace)?,
        Task::Test { suite: None, .. } => return Ok(suite::run(workspace, Scope::Tests)),
        Task::Test { suite: Some(suite), filter } => {
            return Ok(suite::run_one(workspace, suite, filter.as_deref().unwrap_or_default()));
        }
        Task::Ci => return Ok(suite::run(workspace, Scope::Everything)),
        Task::Conformance { dir } => suite::conformance(workspace, dir.as_deref())?,
        Task::Bench { page, args } => {
            if !page {
                bench::run(workspace, &args)?;
            }
            if !page && args.is_empty() {
                npm::set_up_and_build(workspace)?;
                bench::package(workspace)?;
            }
            if page || args.is_empty() {
                playground::set_up_and_build(workspace)?;
                bench::page(workspace)?;
            }
        }
        Task::Soak { args } => fuzz::soak(workspace, &args)?,
        Task::Fuzz { args } => fuzz::fuzz(workspace, &args)?,
        Task::Size { by_cause: true } => causes::report(workspace)?,
        Task::Size { by_cause: false } => {
            playground::set_up_and_build(workspace)?;
            npm::set_up_and_build(workspace)?;
            size::report(workspace)?;
        }
        Task::Audit => audit::run(workspace)?,
        Task::Schema => schema::run(workspace)?,
        Task::Release { archives } => release::describe(workspace, &archives)?,
        Task::Package => package::run(workspace)?,
        Task::Reproducible { mut artefacts } => {
            if artefacts.is_empty() {
                artefacts = reproducible::Artefact::value_variants().to_vec();
            }
            reproducible::check(workspace, &artefacts)?;
        }
        Task::ReleaseDiff { release } => release_diff::run(workspace, release.as_deref())?,
        Task::Generators => setup::site_generators(workspace)?,
        Task::Hosts => policy::build_hosts(workspace)?,
    }
    Ok(ExitCode::SUCCESS)
}
