//! A preprocessor for mdBook 0.5: scenarios in a book, run when the book is built.
//!
//! A fence ` ```taintlab scenario=NAME ` (a file in the folder of examples), or a fence that
//! contains a whole scenario, becomes the element `<taint-lab>`. The element contains a figure of
//! plain HTML that needs no JavaScript: picture, answer, events and YAML; with the element's script
//! the figure can be played. `{{taintlab NAME PATH}}` becomes a value of a run, and
//! `{{taintlab-table NAME}}` a table about the engine or about all examples. Inline code and other
//! fences stay unchanged.
//!
//! The expectations of scenarios are checked. If one is not met, or if a scenario cannot be read or
//! run, the book is not built, and the error names the file and the line of the chapter and has the
//! engine's message.
//!
//! In `book.toml`, with the folder of examples relative to it:
//!
//! ```toml
//! [preprocessor.taintlab]
//! before = ["links"]
//! examples = "../../examples"
//! playground = "../"
//! ```
//!
//! As a library, it can be a part of another preprocessor:
//!
//! ```
//! use mdbook_preprocessor::Preprocessor;
//! use mdbook_taintlab::Taintlab;
//!
//! assert_eq!(Taintlab.name(), "taintlab");
//! assert!(Taintlab.supports_renderer("html")?);
//! # Ok::<(), mdbook_preprocessor::errors::Error>(())
//! ```

mod chapter;
mod fences;
mod library;
mod run;
mod tables;

use std::path::PathBuf;

use mdbook_preprocessor::book::Book;
use mdbook_preprocessor::errors::{Error, Result};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};

use crate::chapter::Chapter;
use crate::library::Library;
use crate::tables::Demos;

/// The preprocessor `taintlab`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taintlab;

impl Preprocessor for Taintlab {
    fn name(&self) -> &str {
        "taintlab"
    }

    fn run(&self, context: &PreprocessorContext, book: Book) -> Result<Book> {
        let examples = context.config.get::<PathBuf>("preprocessor.taintlab.examples")?;
        let examples = examples.unwrap_or_else(|| PathBuf::from("examples"));
        let playground = context.config.get::<String>("preprocessor.taintlab.playground")?;
        let places = Places {
            examples: context.root.join(examples),
            source: context.config.book.src.clone(),
            playground: playground.unwrap_or_default(),
        };
        run_book(book, &places)
    }

    fn supports_renderer(&self, renderer: &str) -> Result<bool> {
        Ok(renderer == "html")
    }
}

/// The folders and addresses that belong to a book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The folder of scenario files.
    pub examples: PathBuf,
    /// The folder of the chapters, for the file names in errors.
    pub source: PathBuf,
    /// The address of the playground, which has the same examples: absolute or relative to the
    /// first page of the book, with `/` at its end. If it is empty, no demo links to it.
    pub playground: String,
}

/// Runs all scenarios of a book and replaces its fences and placeholders.
///
/// # Errors
/// All errors of the whole book, each with file, line and the engine's message.
pub fn run_book(mut book: Book, places: &Places) -> Result<Book> {
    let mut library = Library::new(&places.examples);
    let mut problems = Vec::new();
    let mut demos = Demos::default();
    let chapters = || book.chapters();
    for chapter in chapters() {
        demos.add(chapter);
    }
    book.for_each_chapter_mut(|chapter| {
        let Some(path) = chapter.source_path.clone().or_else(|| chapter.path.clone()) else {
            return;
        };
        let file = places.source.join(&path).display().to_string().replace('\\', "/");
        let worker = Chapter::new(&mut library, &demos, &path, &places.playground, file);
        match worker.process(&chapter.content) {
            Ok(content) => chapter.content = content,
            Err(found) => problems.extend(found),
        }
    });
    if problems.is_empty() { Ok(book) } else { Err(Error::msg(problems.join("\n"))) }
}
