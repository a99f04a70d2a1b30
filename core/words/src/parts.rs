//! Answers in parts, printed in a terminal or as Markdown.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::report::markdown_table;
use crate::table::{Style, table};

/// A part of an answer.
pub(crate) enum Part {
    /// A heading.
    Heading(String),
    /// A line.
    Line(String),
    /// A line of a shell.
    Command(String),
    /// Lines of YAML.
    Yaml(String),
    /// A table.
    Table(Vec<String>, Vec<Vec<String>>),
}

/// The answer in a terminal.
pub(crate) fn terminal(parts: Vec<Part>, style: Style) -> String {
    let mut text = String::new();
    for part in parts {
        text += &match part {
            Part::Heading(words) => {
                let space = if text.is_empty() { "" } else { "\n" };
                format!("{space}{}\n", style.bold(&words))
            }
            Part::Line(words) => format!("{words}\n"),
            Part::Command(words) => format!("  {words}\n"),
            Part::Yaml(lines) => format!("\n{lines}\n"),
            Part::Table(head, rows) => {
                let head: Vec<String> = head.iter().map(|it| it.to_ascii_uppercase()).collect();
                format!("\n{}", table(style, &head, &rows))
            }
        };
    }
    text
}

/// The answer as Markdown.
pub(crate) fn markdown(parts: Vec<Part>) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for part in parts {
        if is_code != matches!(part, Part::Command(_)) {
            is_code = !is_code;
            text += if is_code { "\n```sh\n" } else { "```\n" };
        }
        text += &match part {
            Part::Heading(words) if text.is_empty() => format!("## {words}\n\n"),
            Part::Heading(words) => format!("\n### {words}\n\n"),
            Part::Line(words) => format!("- {words}\n"),
            Part::Command(words) => format!("{words}\n"),
            Part::Yaml(lines) => format!("\n```yaml\n{lines}```\n"),
            Part::Table(head, rows) => format!("\n{}", markdown_table(&head, &rows)),
        };
    }
    if is_code {
        text += "```\n";
    }
    text
}
