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

/// Builds the book, and serves it until the user stops it, with a new build on every change.
///
/// # Errors
/// mdBook is missing and cannot be installed, a scenario in the book is wrong, or the port is
/// taken.
pub(crate) fn docs(workspace: &mut Workspace, options: &DocsOptions) -> Result<()> {
    if !options.no_serve {
        check_port(options.port)?;
    }
    prepare(workspace)?;
    // mdBook has cargo run it silently; building it here shows the progress.
    workspace::run(workspace.cargo().args(["build", "--package", "mdbook-taintlab"]))?;
    let book = workspace.target_dir().join("book");
    // Built even before serving, since mdBook goes on serving after an error in the book.
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

/// The element `<taint-lab>`, which mdBook copies into the book; [`docs`] writes it.
const SCRIPT: &str = "taint-lab.js";

/// Installs what the book's build needs, and builds the script of its demos.
fn prepare(workspace: &mut Workspace) -> Result<()> {
    setup::book_tools(workspace)?;
    setup::npm_packages(workspace)?;
    npm::element_script(workspace, &workspace.path(BOOK).join(SCRIPT))
}

/// Builds the book into a folder.
///
/// # Errors
/// Those of [`docs`], except for the port.
pub(crate) fn build(workspace: &mut Workspace, to: &Path) -> Result<()> {
    prepare(workspace)?;
    workspace::run(&mut mdbook(workspace, "build", to))
}

fn mdbook(workspace: &Workspace, task: &str, to: &Path) -> Command {
    let mut command = workspace.command("mdbook");
    command.args([task, BOOK, "--dest-dir"]).arg(to);
    command
}
