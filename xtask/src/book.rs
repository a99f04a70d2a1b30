//! `docs`: the book, by mdBook and the preprocessor of the repository.

use std::process::Command;

use anyhow::Result;
use clap::Args;

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
    setup::book_tools(workspace)?;
    // mdBook runs it by cargo without a word; here one sees it being built.
    workspace::run(workspace.cargo().args(["build", "--package", "mdbook-taintlab"]))?;
    // Always: while it serves, mdBook goes on after an error in the book.
    workspace::run(&mut mdbook(workspace, "build"))?;
    if options.no_serve {
        println!("The book is in {}.", workspace.target_dir().join("book").display());
        return Ok(());
    }
    let mut command = mdbook(workspace, "serve");
    command.args(["--hostname", "127.0.0.1", "--port", &options.port.to_string()]);
    if options.open {
        command.arg("--open");
    }
    workspace::run(&mut command)
}

fn mdbook(workspace: &Workspace, task: &str) -> Command {
    let mut command = workspace.command("mdbook");
    command.args([task, BOOK, "--dest-dir"]).arg(workspace.target_dir().join("book"));
    command
}
