//! `docs`: the book, by mdBook and the preprocessor of the repository.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::npm;
use crate::playground::check_port;
use crate::setup;
use crate::workspace::{self, Workspace};

/// The folder of the book.
const BOOK: &str = "docs/book";

/// How to serve the book.
#[derive(Args)]
pub(crate) struct DocsOptions {
    /// Only build it
    #[arg(long, conflicts_with_all = ["port", "open"])]
    no_serve: bool,
    /// The port to listen on, at 127.0.0.1
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Open the book in the browser
    #[arg(long)]
    open: bool,
}

/// Builds the book, and serves it until the user stops it, built anew on every change.
///
/// # Errors
/// When mdBook is missing and cannot be installed, when a scenario in the book is wrong, or when
/// the port is taken.
pub(crate) fn docs(workspace: &mut Workspace, options: &DocsOptions) -> Result<()> {
    if !options.no_serve {
        check_port(options.port)?;
    }
    prepare(workspace)?;
    // mdBook runs it by cargo without a word; here one sees it being built.
    workspace::run(workspace.cargo().args(["build", "--package", "mdbook-taintlab"]))?;
    let book = workspace.target_dir().join("book");
    // Always: while it serves, mdBook goes on after an error in the book.
    workspace::run(&mut mdbook(workspace, "build", &book))?;
    if options.no_serve {
        println!("The book is in {}.", book.display());
        return Ok(());
    }
    let mut command = mdbook(workspace, "serve", &book);
    command.args(["--hostname", "127.0.0.1", "--port", &options.port.to_string()]);
    if options.open {
        command.arg("--open");
    }
    workspace::run(&mut command)
}

/// The element `<taint-lab>`, which mdBook copies into the book; it is written by [`docs`].
const SCRIPT: &str = "taint-lab.js";

/// Installs what building the book needs, and builds the script of its demos.
fn prepare(workspace: &mut Workspace) -> Result<()> {
    setup::book_tools(workspace)?;
    setup::npm_packages(workspace)?;
    npm::element_script(workspace, &workspace.path(BOOK).join(SCRIPT))
}

/// Builds the book into a folder.
///
/// # Errors
/// As [`docs`].
pub(crate) fn build(workspace: &mut Workspace, to: &Path) -> Result<()> {
    prepare(workspace)?;
    workspace::run(&mut mdbook(workspace, "build", to))
}

fn mdbook(workspace: &Workspace, task: &str, to: &Path) -> Command {
    let mut command = workspace.command("mdbook");
    command.args([task, BOOK, "--dest-dir"]).arg(to);
    command
}
