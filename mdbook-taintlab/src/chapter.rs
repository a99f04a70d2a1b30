//! One chapter: what stands in place of its fences and of the placeholders in its text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use base64ct::{Base64UrlUnpadded, Encoding};
use miniz_oxide::deflate::compress_to_vec;
use taintlab_manifest::demo::{Demo, DemoOptions, escape};

use crate::fences::{Block, code_of, line_of, options_of};
use crate::library::Library;
use crate::run::Run;
use crate::tables::{Demos, table};

/// The beginning of a placeholder for a value of a run.
const VALUE: &str = "{{taintlab ";
/// The beginning of a placeholder for a table.
const TABLE: &str = "{{taintlab-table ";

/// The work on one chapter.
pub(crate) struct Chapter<'a> {
    library: &'a mut Library,
    demos: &'a Demos,
    path: &'a Path,
    /// The address of the playground, relative to the first page of the book or absolute.
    playground: &'a str,
    /// The name of the chapter's file in errors.
    file: String,
    /// The scenarios in fences of this chapter, by name.
    own: BTreeMap<String, Rc<Run>>,
    problems: Vec<String>,
}

impl<'a> Chapter<'a> {
    /// The chapter at a path relative to the folder of chapters.
    pub(crate) fn new(
        library: &'a mut Library,
        demos: &'a Demos,
        path: &'a Path,
        playground: &'a str,
        file: String,
    ) -> Self {
        Self { library, demos, path, playground, file, own: BTreeMap::new(), problems: Vec::new() }
    }

    /// The text of the chapter with its fences and placeholders replaced.
    ///
    /// # Errors
    /// All errors, each with file and line.
    pub(crate) fn process(mut self, text: &str) -> Result<String, Vec<String>> {
        let (blocks, code) = code_of(text);
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        let mut number = 0;
        for block in &blocks {
            let Some(fence) = options_of(&block.info) else { continue };
            number += 1;
            match fence.and_then(|fence| self.fence(fence, block, number)) {
                Ok(html) => changes.push((block.range.clone(), html)),
                Err(problem) => self.problem(text, block.range.start, &problem),
            }
        }
        for (marker, render) in [
            (VALUE, Self::value as fn(&mut Self, &str) -> Result<String, String>),
            (TABLE, Self::table),
        ] {
            for (start, _) in text.match_indices(marker) {
                if code.iter().any(|range| range.contains(&start)) {
                    continue;
                }
                let rest = text.get(start + marker.len()..).unwrap_or_default();
                let rendered = match rest.split_once("}}") {
                    Some((words, _)) if !words.contains("\n\n") => {
                        let range = start..start + marker.len() + words.len() + 2;
                        render(&mut self, words.trim()).map(|text| (range, text))
                    }
                    _ => Err(format!("`{}` has no `}}}}` in its paragraph", marker.trim())),
                };
                match rendered {
                    Ok(change) => changes.push(change),
                    Err(problem) => self.problem(text, start, &problem),
                }
            }
        }
        if self.problems.is_empty() { Ok(replaced(text, changes)) } else { Err(self.problems) }
    }

    fn problem(&mut self, text: &str, offset: usize, problem: &str) {
        let line = line_of(text, offset);
        self.problems.push(format!("{}:{line}: {problem}", self.file));
    }

    fn fence(
        &mut self,
        fence: DemoOptions,
        block: &Block,
        number: usize,
    ) -> Result<String, String> {
        let is_empty = block.content.trim().is_empty();
        let run = match &fence.scenario {
            Some(_) if !is_empty => {
                return Err("the fence names a scenario and holds another; leave one out".into());
            }
            Some(name) => self
                .library
                .example(name)
                .map_err(|error| format!("the scenario `{name}` is wrong:\n{error}"))?,
            None if is_empty => {
                return Err("the fence is empty: name a scenario, or write one into it".into());
            }
            None => {
                let run = self.library.run_text(&block.content, &self.file, block.line);
                let run = Rc::new(run.map_err(|error| format!("a scenario is wrong:\n{error}"))?);
                self.own.insert(run.scenario.metadata.name.clone(), run.clone());
                run
            }
        };
        if run.scenario.expect.is_empty() {
            return Err("the scenario expects nothing, so that nothing is checked: give it an \
                        `expect`"
                .into());
        }
        let slug: String = self.path.with_extension("").to_string_lossy().into();
        let slug = slug.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let options = DemoOptions {
            id: format!("taintlab-{slug}-{number}"),
            is_example: fence.scenario.is_some(),
            playground: self.playground(),
            ..fence
        };
        let demo = Demo::new(&run.scenario, &run.text, &options);
        demo.and_then(|demo| demo.html(&options, &pack(demo.text())))
            .map_err(|error| error.to_string())
    }

    /// The address of the playground from this chapter.
    fn playground(&self) -> String {
        if self.playground.is_empty() || self.playground.contains("://") {
            return self.playground.into();
        }
        let up = "../".repeat(self.path.components().count().saturating_sub(1));
        up + self.playground
    }

    fn value(&mut self, words: &str) -> Result<String, String> {
        let (name, path) = match *words.split_whitespace().collect::<Vec<_>>() {
            [name, path] => (name, path),
            _ => return Err(format!("`{words}`: write `{{{{taintlab SCENARIO PATH}}}}`")),
        };
        let run = match (self.own.get(name), self.library.example(name)) {
            (Some(run), _) => run.clone(),
            (None, Ok(run)) => run,
            // The name may be that of a wrong fence, which was reported already.
            (None, Err(_)) if !self.problems.is_empty() => return Ok(String::new()),
            (None, Err(error)) => return Err(error),
        };
        run.value(path).map(escape)
    }

    fn table(&mut self, words: &str) -> Result<String, String> {
        table(words, self.library, self.demos, self.path)
    }
}

/// A text packed for a link.
fn pack(text: &str) -> String {
    Base64UrlUnpadded::encode_string(&compress_to_vec(text.as_bytes(), 9))
}

/// The text with the given ranges, which do not overlap, replaced.
fn replaced(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let mut result = String::new();
    let mut done = 0;
    for (range, new) in changes {
        result += text.get(done..range.start).unwrap_or_default();
        result += &new;
        done = range.end;
    }
    result + text.get(done..).unwrap_or_default()
}
