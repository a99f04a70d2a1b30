//! Mistakes that end the command.

use std::fmt::Write;

use taintlab_answers::problem::Problem;

/// Exit code: all is well.
pub const OK: u8 = 0;
/// Exit code: a test failed, a file is wrong, or the cluster cannot be read.
pub const FAILED: u8 = 1;
/// Exit code: the command line is wrong.
pub const USAGE: u8 = 2;

/// A mistake that is said, and the exit code it ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Message; empty if all is said already.
    pub(crate) message: String,
    pub(crate) code: u8,
}

/// The result of a step of the command.
pub(crate) type Done<T> = Result<T, Stop>;

impl Stop {
    /// A mistake on the command line.
    pub(crate) fn usage(message: impl AsRef<str>) -> Self {
        Self { message: format!("error: {}", message.as_ref()), code: USAGE }
    }

    /// Something that cannot be done.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: FAILED }
    }

    /// Problems with what was read.
    pub(crate) fn problems(problems: &[Problem]) -> Self {
        let lines: Vec<String> = problems.iter().map(|it| problem_text(it, "error")).collect();
        Self::failed(lines.join("\n"))
    }
}

/// A problem as compilers print it: file:line:column: severity: path: message.
pub(crate) fn problem_text(problem: &Problem, severity: &str) -> String {
    let Problem { message, path, file, line, column, help, .. } = problem;
    let mut text = String::new();
    if let Some(file) = file {
        text += file;
        if let (Some(line), Some(column)) = (line, column) {
            let _ = write!(text, ":{line}:{column}");
        }
        text += ": ";
    }
    let _ = write!(text, "{severity}: ");
    if !path.is_empty() && !message.starts_with(path.as_str()) {
        let _ = write!(text, "{path}: ");
    }
    text += message;
    if let Some(help) = help {
        let _ = write!(text, "\n  help: {help}");
    }
    text
}

/// The message of a problem without the field of an option in which it came up.
pub(crate) fn bare(problem: &Problem) -> &str {
    let Problem { message, path, .. } = problem;
    let rest = message.strip_prefix(path.as_str()).and_then(|rest| rest.strip_prefix(": "));
    rest.filter(|_| !path.is_empty()).unwrap_or(message)
}
