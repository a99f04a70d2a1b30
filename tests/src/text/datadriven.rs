//! Files of commands and expected output, in the manner of CockroachDB's `datadriven`.
//!
//! A file is a list of blocks: comments (`#`), commands, `----`, the expected output up to an
//! empty line. A block without output has nothing after `----`. A `cluster` command begins a
//! scenario; comments belong to the reader.

use std::path::Path;
use std::{env, fs};

use super::Session;

/// What came of a file.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The file as it would be with the real output.
    pub rewritten: String,
    /// One text per block whose output differs.
    pub mismatches: Vec<String>,
    /// How many blocks there are.
    pub blocks: usize,
}

/// Runs the blocks of a file.
///
/// # Errors
/// A block that cannot be read, with its line.
pub fn run(text: &str) -> Result<Outcome, String> {
    let mut session = Session::default();
    let mut outcome = Outcome::default();
    let mut lines = text.lines().enumerate();
    let mut commands = String::new();
    while let Some((number, line)) = lines.next() {
        if line != "----" {
            outcome.rewritten += line;
            outcome.rewritten.push('\n');
            if !line.starts_with('#') && !line.is_empty() {
                commands += line;
                commands.push('\n');
            }
            continue;
        }
        let expected: String = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| !line.is_empty())
            .flat_map(|line| [line, "\n"])
            .collect();
        let line = number + 1;
        let got = session.execute(&commands).map_err(|error| format!("line {line}: {error}"))?;
        if got != expected {
            outcome
                .mismatches
                .push(format!("line {line}: after\n{commands}expected\n{expected}but got\n{got}"));
        }
        outcome.rewritten += &format!("----\n{got}\n");
        outcome.blocks += 1;
        commands.clear();
    }
    if !commands.is_empty() {
        return Err(format!("the file ends without `----` after\n{commands}"));
    }
    let end = outcome.rewritten.trim_end().len();
    outcome.rewritten.truncate(end);
    outcome.rewritten.push('\n');
    Ok(outcome)
}

/// Runs a file; with `BLESS=1` in the environment rewrites it to the real output.
///
/// # Errors
/// What differs, or that the file cannot be read.
pub fn check(path: &Path) -> Result<usize, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let outcome = run(&text)?;
    if env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(path, &outcome.rewritten).map_err(|error| error.to_string())?;
        return Ok(outcome.blocks);
    }
    if outcome.mismatches.is_empty() {
        Ok(outcome.blocks)
    } else {
        Err(outcome.mismatches.join("\n"))
    }
}
