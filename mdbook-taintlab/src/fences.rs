//! The fences of a text, and its other code.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use taintlab_manifest::demo::DemoOptions;

/// A code block of a text.
pub(crate) struct Block {
    pub(crate) range: Range<usize>,
    pub(crate) info: String,
    pub(crate) content: String,
    /// The line on which the content begins.
    pub(crate) line: usize,
}

/// The options in the info string of a fence; `None` if the fence is of another kind.
pub(crate) fn options_of(info: &str) -> Option<Result<DemoOptions, String>> {
    let info = info.trim();
    let (kind, words) = info.split_once(char::is_whitespace).unwrap_or((info, ""));
    (kind == "taintlab").then(|| DemoOptions::parse(words))
}

/// The code blocks of a text, and the ranges of all of its code, inline code included.
pub(crate) fn code_of(text: &str) -> (Vec<Block>, Vec<Range<usize>>) {
    let (mut blocks, mut code): (Vec<Block>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let mut open: Option<Block> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                code.push(range.clone());
                let line = line_of(text, range.start) + 1;
                open = Some(Block { range, info, content: String::new(), line });
            }
            Event::Text(content) => {
                if let Some(block) = &mut open {
                    block.content += &content;
                }
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
            Event::Code(_) => code.push(range),
            _ => {}
        }
    }
    (blocks, code)
}

/// The names of the examples that a text shows in fences.
pub(crate) fn shown_examples(text: &str) -> Vec<String> {
    let (blocks, _) = code_of(text);
    let fences = blocks.iter().filter_map(|block| options_of(&block.info)?.ok());
    fences.filter_map(|fence| fence.scenario).collect()
}

/// The line of a byte offset, counted from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
