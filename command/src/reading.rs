//! Inputs: files, standard input, and the files that scenarios name.

use std::path::Path;

use taintlab_answers::cluster::sort;
use taintlab_answers::problem::{Problem, ProblemCode};
use taintlab_answers::scenario::{Opened, ScenarioOptions, open};
use taintlab_manifest::{Import, ImportOptions, Text, import_together, text_from_bytes};

use crate::host::Host;
use crate::stop::{Done, Stop, problem_text};

/// Bytes that are read at most.
pub const LIMIT: u64 = 500_000_000;
/// Bytes from which on a host says that something is being read.
pub const LARGE: u64 = 20_000_000;

fn megabytes(bytes: u64) -> String {
    format!("{} MB", (bytes + 500_000) / 1_000_000)
}

/// Name of a file in messages.
#[must_use]
pub fn named(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

/// Message of a host that reads something large.
#[must_use]
pub fn announcement(file: &str, bytes: u64) -> String {
    let more = if file == "-" { "more than " } else { "" };
    format!("reading {}: {more}{}", named(file), megabytes(bytes))
}

/// Reason of a host not to read on; `bytes` is the size, if it is known.
#[must_use]
pub fn too_large(bytes: Option<u64>) -> String {
    let most = megabytes(LIMIT);
    match bytes {
        Some(bytes) => format!("it has {}, and at most {most} are read", megabytes(bytes)),
        None => format!("it has more than {most}, which is the limit"),
    }
}

/// A text that was read.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Name in messages.
    pub(crate) file: String,
    pub(crate) text: String,
    /// Whether it is applied onto those before.
    pub(crate) applied: bool,
}

/// The names of files of a command.
pub(crate) fn files_of<'a>(files: &'a [String], command: &str) -> Done<&'a [String]> {
    if files.is_empty() {
        return Err(Stop::usage(format!("{command}: which file?")));
    }
    if files.iter().any(String::is_empty) {
        let why = "the name of a file is empty; is a variable of the shell not set?";
        return Err(Stop::usage(format!("{command}: {why}")));
    }
    read_once(files.iter()).map_err(|why| Stop::usage(format!("{command}: {why}")))?;
    Ok(files)
}

/// Refuses to read standard input for the second time, when nothing would be left of it.
fn read_once<'f>(files: impl Iterator<Item = &'f String>) -> Result<(), &'static str> {
    let times = files.filter(|file| *file == "-").count();
    if times > 1 { Err("standard input, `-`, can be read once only") } else { Ok(()) }
}

/// The text of a file; `-` is standard input.
pub(crate) fn read_text(host: &dyn Host, file: &str) -> Done<String> {
    let stop = |why: &str| Stop::failed(format!("{}: error: {why}", named(file)));
    let bytes = host.read(file).map_err(|why| stop(&why))?;
    let text = text_from_bytes(&bytes, named(file)).map_err(|wrong| {
        Stop::problems(&[Problem::of_diagnostic(*wrong, ProblemCode::InvalidManifest)])
    })?;
    if text.trim().is_empty() {
        let help = if file == "-" { "; did the command before the pipe fail?" } else { "" };
        return Err(stop(&format!("it is empty{help}")));
    }
    // A mark of the order of bytes is no part of the text.
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.to_string(), str::to_owned))
}

/// Files side by side, and then those that are applied.
pub(crate) fn read_inputs(host: &dyn Host, files: &[String], apply: &[String]) -> Done<Vec<Input>> {
    read_once(files.iter().chain(apply)).map_err(Stop::usage)?;
    let side = files.iter().map(|file| (file, false));
    let all = side.chain(apply.iter().map(|file| (file, true)));
    let read = |(file, applied): (&String, bool)| {
        let text = read_text(host, file)?;
        Ok(Input { file: named(file).to_owned(), text, applied })
    };
    all.map(read).collect()
}

/// The objects of all inputs.
pub(crate) fn objects(inputs: &[Input], keep_all: bool) -> Import {
    let texts: Vec<Text<'_>> = inputs
        .iter()
        .map(|it| Text { file: &it.file, text: &it.text, applied: it.applied })
        .collect();
    import_together(&texts, ImportOptions { keep_all, ..ImportOptions::default() })
}

/// The objects of files, without a simulation: errors end the command.
pub(crate) fn objects_of(host: &dyn Host, files: &[String]) -> Done<(Import, Vec<Problem>)> {
    objects_in(&read_inputs(host, files, &[])?)
}

/// The objects of texts, without a simulation: errors end the command.
pub(crate) fn objects_in(inputs: &[Input]) -> Done<(Import, Vec<Problem>)> {
    let mut import = objects(inputs, false);
    let diagnostics = std::mem::take(&mut import.diagnostics);
    let (errors, warnings) = sort(diagnostics, ProblemCode::InvalidManifest);
    if errors.is_empty() { Ok((import, warnings)) } else { Err(Stop::problems(&errors)) }
}

/// A scenario with the files beside it that it names.
pub(crate) fn scenario(
    host: &dyn Host,
    from: &str,
    text: &str,
    options: &ScenarioOptions,
) -> Result<Opened, Vec<Problem>> {
    scenario_and_files(host, from, text, options).0
}

/// The same, and whether it has other files.
pub(crate) fn scenario_and_files(
    host: &dyn Host,
    from: &str,
    text: &str,
    options: &ScenarioOptions,
) -> (Result<Opened, Vec<Problem>>, bool) {
    let folder = Path::new(if from == "-" { "" } else { from }).parent();
    let folder = folder.unwrap_or(Path::new(""));
    let mut has_files = false;
    let opened = open(text, options, &mut |name| {
        has_files = true;
        let path = folder.join(name).to_string_lossy().into_owned();
        read_text(host, &path).map_err(|Stop { message, .. }| {
            message.strip_prefix(&format!("{path}: error: ")).unwrap_or(&message).to_owned()
        })
    });
    (opened, has_files)
}

/// Says what is probably not meant.
pub(crate) fn warn(host: &dyn Host, warnings: &[Problem]) {
    for warning in warnings {
        host.err(&format!("{}\n", problem_text(warning, "warning")));
    }
}
