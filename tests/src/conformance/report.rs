//! Outcomes of a file of cases, of a trace and of a folder.

use std::fmt::Write as _;

/// Number of differences that are shown of one file or trace.
pub(super) const SHOWN: usize = 5;

/// Result of one file.
#[derive(Debug, Default)]
pub struct FileReport {
    /// The name of the family.
    pub name: String,
    /// Number of cases that agree.
    pub agree: usize,
    /// Number of skipped cases.
    pub skipped: usize,
    /// Number of all cases, with the skipped ones.
    pub total: usize,
    /// Number of values of a trace that the engine was given, since nobody can know them: they are
    /// no cases.
    pub taken: usize,
    /// The first differences, as text.
    pub differences: String,
}

/// Result of a folder.
#[derive(Debug, Default)]
pub struct ConformanceReport {
    /// The files that were run.
    pub files: Vec<FileReport>,
    /// Families that nobody here knows.
    pub not_run: Vec<String>,
    /// Files that could not be read, and why.
    pub unreadable: Vec<String>,
}

impl ConformanceReport {
    /// Whether something was run, everything could be read, and every case agrees or was skipped.
    #[must_use]
    pub fn is_success(&self) -> bool {
        !self.files.is_empty()
            && self.unreadable.is_empty()
            && self.files.iter().all(FileReport::is_success)
    }
}

impl FileReport {
    /// Whether every case agrees or was skipped.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.agree + self.skipped == self.total
    }

    /// Number of compared cases.
    #[must_use]
    pub const fn compared(&self) -> usize {
        self.total - self.skipped
    }

    /// `NAME: P of T agree`; how many cases were skipped and how many values were taken from the
    /// record is said apart.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self { name, agree, skipped, taken, .. } = self;
        let compared = self.compared();
        let mut text = format!("{name}: {agree} of {compared} agree");
        for (count, what) in [(skipped, "skipped"), (taken, "taken from the record")] {
            if *count > 0 {
                let _ = write!(text, "; {count} {what}");
            }
        }
        text
    }
}
