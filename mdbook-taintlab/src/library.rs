//! The scenarios of a book: files in the folder of examples, and texts in the chapters.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use taintlab_manifest::{Limits, read_scenario, write_scenario};

use crate::run::Run;

/// Greatest distance between a wrong name and the name that was probably meant.
const MEANT: usize = 3;

/// The examples, each read and run at most once.
pub(crate) struct Library {
    folder: PathBuf,
    runs: BTreeMap<String, Result<Rc<Run>, String>>,
}

impl Library {
    /// The library of a folder of scenario files.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.into(), runs: BTreeMap::new() }
    }

    /// The run of an example.
    ///
    /// # Errors
    /// The example does not exist, it cannot be read or run, or an expectation is not met.
    pub(crate) fn example(&mut self, name: &str) -> Result<Rc<Run>, String> {
        if let Some(known) = self.runs.get(name) {
            return known.clone();
        }
        let run = self.run_example(name).map(Rc::new);
        self.runs.insert(name.into(), run.clone());
        run
    }

    /// The runs of all examples, by name.
    ///
    /// # Errors
    /// Those of [`example`](Self::example), for the first wrong example.
    pub(crate) fn all(&mut self) -> Result<Vec<Rc<Run>>, String> {
        self.names()?.iter().map(|name| self.example(name)).collect()
    }

    fn names(&self) -> Result<Vec<String>, String> {
        let cannot = |error| format!("cannot read the folder `{}`: {error}", self.folder.display());
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
            }
        }
        names.sort();
        Ok(names)
    }

    fn run_example(&self, name: &str) -> Result<Run, String> {
        let names = self.names()?;
        if !names.iter().any(|known| known == name) {
            let distance = |known: &&String| strsim::osa_distance(known, name);
            let near = names.iter().min_by_key(distance).filter(|known| distance(known) <= MEANT);
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            return Err(format!("there is no scenario `{name}`; {help}"));
        }
        let file = format!("{name}.yaml");
        let text = fs::read_to_string(self.folder.join(&file))
            .map_err(|error| format!("cannot read `{file}`: {error}"))?;
        self.run_text(&text, &format!("examples/{file}"), 1)
    }

    /// Runs a scenario that begins on the given line of a file.
    ///
    /// # Errors
    /// The scenario cannot be read or run, or an expectation is not met; there is one diagnostic
    /// for each error.
    pub(crate) fn run_text(&self, text: &str, file: &str, line: usize) -> Result<Run, String> {
        // The padding makes diagnostics name the lines of the file.
        let padded = "\n".repeat(line.saturating_sub(1)) + text;
        let mut is_alone = true;
        let mut load = |name: &str| {
            is_alone = false;
            fs::read_to_string(self.folder.join(name)).map_err(|error| error.to_string())
        };
        let read = read_scenario(&padded, file, &Limits::default(), &mut load);
        let mut problems: Vec<String> = read.diagnostics.iter().map(ToString::to_string).collect();
        if let Some(scenario) = read.scenario.as_ref().filter(|_| problems.is_empty()) {
            match scenario.run() {
                Ok(report) => {
                    for (index, outcome) in report.outcomes.iter().enumerate() {
                        if let Some(failure) = &outcome.failure {
                            let message = format!("{}, but {failure}", outcome.expectation);
                            let problem = read.error(&format!("expect[{index}]"), message);
                            problems.push(problem.to_string());
                        }
                    }
                    if problems.is_empty() {
                        // A page has no files beside it, and dropped fields must not travel.
                        let as_written = is_alone && read.dropped.is_empty();
                        let text = if as_written { text.into() } else { write_scenario(scenario) };
                        return Ok(Run::new(scenario.clone(), text, report));
                    }
                }
                Err(error) => {
                    problems.push(read.error(&error.path(), error.to_string()).to_string());
                }
            }
        }
        Err(problems.join("\n"))
    }
}
