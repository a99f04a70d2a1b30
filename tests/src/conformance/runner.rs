//! Runs every family in a folder and says how it went.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::num::NonZero;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use flate2::read::MultiGzDecoder;

use super::report::{ConformanceReport, FileReport, SHOWN};
use super::{FAMILIES, Family, Outcome, trace};

/// How many characters of an input or an answer are shown.
const SHOWN_CHARS: usize = 2_000;

/// Runs every family in a folder and calls `print` with each finished piece of text.
///
/// # Errors
/// When the folder cannot be read; single files that cannot be are in the report.
pub fn run_dir(dir: &Path, mut print: impl FnMut(&str)) -> io::Result<ConformanceReport> {
    let mut report = ConformanceReport::default();
    for (name, path) in vector_files(dir)? {
        let Some(family) = FAMILIES.iter().find(|family| family.name == name) else {
            print(&format!("{name}: not run"));
            report.not_run.push(name);
            continue;
        };
        match read(&path) {
            Ok(text) => {
                let file = run_text(family, &text);
                print(&format!("{}{}", file.summary(), file.differences));
                report.files.push(file);
            }
            Err(error) => {
                let message = format!("{name}: cannot read {}: {error}", path.display());
                print(&message);
                report.unreadable.push(message);
            }
        }
    }
    run_traces(dir, &mut report, &mut print)?;
    print(&total_line(&report, dir));
    Ok(report)
}

/// Runs the traces in a folder, or the one that it is.
fn run_traces(
    dir: &Path,
    report: &mut ConformanceReport,
    print: &mut impl FnMut(&str),
) -> io::Result<()> {
    let mut folders = vec![dir.to_owned()];
    for entry in fs::read_dir(dir)? {
        folders.push(entry?.path());
    }
    folders.retain(|folder| trace::is_trace(folder));
    folders.sort();
    if !folders.is_empty() {
        print(trace::TOLERANCES);
    }
    for folder in folders {
        match trace::run(&folder) {
            Ok(file) => {
                print(&format!("{}{}", file.summary(), file.differences));
                report.files.push(file);
            }
            Err(error) => {
                let message = format!("{}: {error}", folder.display());
                print(&message);
                report.unreadable.push(message);
            }
        }
    }
    Ok(())
}

fn total_line(report: &ConformanceReport, dir: &Path) -> String {
    if report.files.is_empty() && report.unreadable.is_empty() {
        let names = FAMILIES.iter().map(|family| family.name).collect::<Vec<_>>().join(", ");
        return format!("no known family in {}; known are {names}", dir.display());
    }
    let sum = |count: fn(&FileReport) -> usize| report.files.iter().map(count).sum();
    let total = FileReport {
        name: "total".to_owned(),
        agree: sum(|file| file.agree),
        skipped: sum(|file| file.skipped),
        total: sum(|file| file.total),
        taken: sum(|file| file.taken),
        differences: String::new(),
    };
    let files = match report.files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    format!("{} in {files}", total.summary())
}

/// The vector files of a folder by the name of their family, in the order of names.
fn vector_files(dir: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if let Some(name) = file.strip_suffix(".gz").unwrap_or(file).strip_suffix(".jsonl") {
            files.push((name.to_owned(), path));
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> io::Result<String> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    MultiGzDecoder::new(fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// Runs the lines of one file, on every processor.
fn run_text(family: &Family, text: &str) -> FileReport {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| (index + 1, line))
        .collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let chunk = lines.len().div_ceil(threads).max(1);
    let run_chunk = |lines| run_lines(family, lines);
    let parts: Vec<FileReport> = thread::scope(|scope| {
        let workers: Vec<_> =
            lines.chunks(chunk).map(|lines| scope.spawn(move || run_chunk(lines))).collect();
        workers.into_iter().map(|worker| worker.join().expect("panics are caught")).collect()
    });
    let mut report = FileReport { name: family.name.to_owned(), ..FileReport::default() };
    let mut shown = 0;
    for part in parts {
        report.agree += part.agree;
        report.skipped += part.skipped;
        report.total += part.total;
        for difference in part.differences.split_terminator(SEPARATOR) {
            if shown < SHOWN {
                report.differences.push_str(difference);
                shown += 1;
            }
        }
    }
    report
}

/// Between differences, until the first of all are known; it cannot be in a case.
const SEPARATOR: char = '\0';

fn run_lines(family: &Family, lines: &[(usize, &str)]) -> FileReport {
    let mut report = FileReport { total: lines.len(), ..FileReport::default() };
    let mut differences = 0;
    for (number, line) in lines {
        let outcome = catch_unwind(|| (family.run)(line)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
            Outcome::Failed(format!("the engine panicked: {text}"))
        });
        let rows = match &outcome {
            Outcome::Agrees => {
                report.agree += 1;
                continue;
            }
            Outcome::Skipped => {
                report.skipped += 1;
                continue;
            }
            Outcome::Differs { expected, got } => vec![("expected", expected), ("got", got)],
            Outcome::Failed(text) => vec![("failed", text)],
        };
        if differences < SHOWN {
            differences += 1;
            let _ = write!(report.differences, "\n  line {number}\n    input     {}", cut(line));
            for (title, text) in rows {
                let _ = write!(report.differences, "\n    {title:<9} {}", cut(text));
            }
            report.differences.push(SEPARATOR);
        }
    }
    report
}

/// The beginning of a text, if it is long.
fn cut(text: &str) -> String {
    let text = text.trim_end().replace(SEPARATOR, "\\0");
    match text.char_indices().nth(SHOWN_CHARS) {
        None => text,
        Some((end, _)) => format!("{} … ({} bytes in all)", &text[..end], text.len()),
    }
}

/// The vectors in this repository.
#[must_use]
pub fn default_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}
