//! A preprocessor for mdBook 0.5: scenarios in a book, run when the book is built.
//!
//! A fence ` ```taintlab scenario=NAME ` (a file of the folder of examples), or one whose content
//! is a whole scenario, becomes a figure of plain HTML that needs no JavaScript: picture, answer,
//! events and YAML. `{{taintlab NAME PATH}}` becomes a value of a run, and `{{taintlab-table
//! NAME}}` a table about the engine or about all examples. Code, in line or in other fences, is
//! left as it is.
//!
//! What a scenario expects is checked. If it turns out to be false, or if a scenario cannot be read
//! or run, the book is not built, and the error names the file and the line of the chapter and what
//! the engine says.
//!
//! In `book.toml`, with the folder of examples relative to it:
//!
//! ```toml
//! [preprocessor.taintlab]
//! before = ["links"]
//! examples = "../../examples"
//! ```

mod chapter;
mod fence;
mod figure;
mod html;
mod library;
mod rows;
mod run;
mod tables;

use std::path::{Path, PathBuf};

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
        run_book(book, &context.root.join(examples), &context.config.book.src)
    }

    fn supports_renderer(&self, renderer: &str) -> Result<bool> {
        Ok(renderer == "html")
    }
}

/// Runs all scenarios of a book and puts figures and values in their places. `examples` is the
/// folder of scenario files; `source` is the folder of the chapters, as errors name it.
///
/// # Errors
/// Everything that is wrong in the whole book, each with file, line and what the engine says.
pub fn run_book(mut book: Book, examples: &Path, source: &Path) -> Result<Book> {
    let mut library = Library::new(examples);
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
        let file = source.join(&path).display().to_string().replace('\\', "/");
        let worker = Chapter::new(&mut library, &demos, &path, file);
        match worker.process(&chapter.content) {
            Ok(content) => chapter.content = content,
            Err(found) => problems.extend(found),
        }
    });
    if problems.is_empty() { Ok(book) } else { Err(Error::msg(problems.join("\n"))) }
}
