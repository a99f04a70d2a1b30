//! Tables about the engine and about all examples, in Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mdbook_preprocessor::book;
use taintlab_core::controllers::node_lifecycle::NodeLifecycleConfig;
use taintlab_core::event::EventKind;
use taintlab_core::release::{Change, KubernetesRelease};
use taintlab_manifest::demo::escape;

use crate::fences::shown_examples;
use crate::library::Library;

/// The chapters that show examples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demos {
    /// Path and name of the first chapter that shows an example, by the example's name.
    chapters: BTreeMap<String, (String, String)>,
}

impl Demos {
    /// Notes the examples that a chapter shows.
    pub(crate) fn add(&mut self, chapter: &book::Chapter) {
        let Some(path) = &chapter.source_path else { return };
        for name in shown_examples(&chapter.content) {
            let place = (path.to_string_lossy().replace('\\', "/"), chapter.name.clone());
            self.chapters.entry(name).or_insert(place);
        }
    }
}

/// The table of that name, for the chapter at `path`.
///
/// # Errors
/// There is no such table, or an example is wrong.
pub(crate) fn table(
    name: &str,
    library: &mut Library,
    demos: &Demos,
    path: &Path,
) -> Result<String, String> {
    match name {
        "events" => events(library),
        "flags" => Ok(flags()),
        "releases" => Ok(releases()),
        "threads" => threads(library, demos, path),
        _ => Err(format!(
            "there is no table `{name}`; there are `events`, `flags`, \
             `releases` and `threads`"
        )),
    }
}

/// Escapes the text of a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// All kinds of Events that the examples record, each with an example of its message.
fn events(library: &mut Library) -> Result<String, String> {
    let mut kinds = BTreeMap::new();
    for run in library.all()? {
        for event in &run.report.events {
            if let EventKind::EventRecorded(recorded) = &event.what {
                let key = (recorded.component, recorded.reason, recorded.type_);
                kinds.entry(key).or_insert_with(|| recorded.message.clone());
            }
        }
    }
    let head = "| component | reason and type | message, for example |\n|---|---|---|\n";
    let mut table = String::from(head);
    for ((component, reason, type_), message) in kinds {
        table += &format!("| {component} | `{reason}` {type_} | {} |\n", cell(&escape(&message)));
    }
    Ok(table)
}

/// The flags of kube-controller-manager about nodes, with their defaults by release.
fn flags() -> String {
    let of = |release| NodeLifecycleConfig::of(release).flags(release).collect::<Vec<_>>();
    let all: Vec<_> = KubernetesRelease::all().map(|release| (release, of(release))).collect();
    // Consecutive releases with the same flags and defaults share a column.
    let groups: Vec<_> = all.chunk_by(|(_, a), (_, b)| a == b).collect();
    let mut names: Vec<&str> = Vec::new();
    let (mut head, mut rule) = (String::from("| flag |"), String::from("|---|"));
    for group in &groups {
        if let [(first, flags), ..] = group
            && let [.., (last, _)] = group
        {
            head += &format!(" {first} to {last} |");
            rule += "---|";
            names.extend(flags.iter().map(|(name, _)| *name));
        }
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let mut table = format!("{head}\n{rule}\n");
    for name in names {
        table += &format!("| `--{name}` |");
        for group in &groups {
            let flags = group.first().into_iter().flat_map(|(_, flags)| flags);
            match flags.into_iter().find(|(known, _)| *known == name) {
                Some((_, value)) => table += &format!(" `{value}` |"),
                None => table += " none |",
            }
        }
        table += "\n";
    }
    table
}

/// All rules that change with a release, and how each change is known.
fn releases() -> String {
    let mut text = String::new();
    for (subject, changes) in Change::all() {
        text += &format!("\n## {subject}\n\n| release | what changed | known |\n|---|---|---|\n");
        for change in changes {
            let (since, basis) = (change.since, change.basis.as_str());
            text += &format!("| {since} | {} | {basis} |\n", cell(&change.text()));
        }
    }
    text
}

/// The threads that examples answer, sorted by repository and number.
fn threads(library: &mut Library, demos: &Demos, path: &Path) -> Result<String, String> {
    let mut lines = BTreeSet::new();
    for run in library.all()? {
        let metadata = &run.scenario.metadata;
        for thread in &metadata.threads {
            let (repository, number) = thread.split_once('#').unwrap_or((thread, ""));
            let shown = match demos.chapters.get(&metadata.name) {
                Some((chapter, name)) => {
                    let up = "../".repeat(path.components().count().saturating_sub(1));
                    format!("[{name}]({up}{chapter})")
                }
                None => format!("the scenario `{}`", metadata.name),
            };
            let line = format!(
                "- [{thread}](https://github.com/{repository}/issues/{number}) {}\\\n  See {shown}.\n",
                metadata.question
            );
            lines.insert((repository.to_owned(), number.parse::<u32>().unwrap_or(0), line));
        }
    }
    Ok(lines.into_iter().map(|(_, _, line)| line).collect())
}
