//! Tables for a terminal, and its colours.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The style of a text in a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Characters only: for files and pipes.
    #[default]
    Plain,
    /// With the escape sequences of terminals.
    Ansi,
}

impl Style {
    /// Bold text.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.paint(1, text)
    }

    /// Red text.
    #[must_use]
    pub fn red(self, text: &str) -> String {
        self.paint(31, text)
    }

    /// Green text.
    #[must_use]
    pub fn green(self, text: &str) -> String {
        self.paint(32, text)
    }

    /// Dim text.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.paint(2, text)
    }

    fn paint(self, code: u8, text: &str) -> String {
        match self {
            Self::Plain => text.to_string(),
            Self::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

/// Columns as wide as their widest cell, three spaces apart, below a bold head. Each line ends with
/// a line break.
#[must_use]
pub fn table(style: Style, head: &[String], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("   ").trim_end().to_string()
    };
    let mut text = style.bold(&line(head)) + "\n";
    for row in rows {
        text += &(line(row) + "\n");
    }
    text
}
