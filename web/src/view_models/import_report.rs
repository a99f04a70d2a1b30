//! The objects of a text and their outcomes, or the plan for them: as rows of a list that can be
//! filtered, without a copy of the objects, which may be many thousands.

use taintlab_core::order::OrderedMap;
use taintlab_core::time::Time;
use taintlab_manifest::{DetectedRelease, Diagnostic, Dropped, ObjectOutcome, ObjectReport};

/// The outcome of an object, or the plan for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// The object is left out.
    LeftOut,
    /// The cluster would refuse the object.
    Refused,
    /// The object takes part.
    Read,
    /// The object is kept for export.
    Kept,
    /// The object exists already, without differences.
    Unchanged,
    /// The object would replace another one of its name.
    Replaced,
    /// The object would be created.
    Created,
}

impl State {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::LeftOut => "left out",
            Self::Refused => "refused",
            Self::Read => "read",
            Self::Kept => "kept for export",
            Self::Created => "created",
            Self::Replaced => "replaced",
            Self::Unchanged => "unchanged",
        }
    }

    /// Whether the object does not come into the cluster.
    pub(crate) fn is_missing(self) -> bool {
        matches!(self, Self::LeftOut | Self::Refused)
    }
}

/// The choice of the rows that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Show {
    /// All.
    All,
    /// Rows in this state.
    Only(State),
    /// Rows of objects that left something to be assumed.
    Assumed,
    /// Rows of objects that lost something.
    Dropped,
}

impl Show {
    /// The words for it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Only(state) => state.word(),
            Self::Assumed => "something assumed",
            Self::Dropped => "something dropped",
        }
    }
}

/// The effect of adding an object to the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// The object as it was read.
    pub(crate) object: ObjectReport,
    /// The plan for it.
    pub(crate) state: State,
    /// The reason why it would be refused.
    pub(crate) why: String,
}

/// A list of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Objects {
    /// The objects of a text.
    Read(Vec<ObjectReport>),
    /// The objects that are to be added.
    Planned(Vec<Planned>),
}

impl Objects {
    /// The number of objects.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Read(objects) => objects.len(),
            Self::Planned(objects) => objects.len(),
        }
    }

    /// The objects as they were read.
    pub(crate) fn reports(&self) -> impl Iterator<Item = &ObjectReport> {
        (0..self.len()).filter_map(|index| self.get(index)).map(|(object, ..)| object)
    }

    /// An object, its state, and the reason if it would be refused.
    pub(crate) fn get(&self, index: usize) -> Option<(&ObjectReport, State, &str)> {
        match self {
            Self::Read(objects) => objects.get(index).map(|object| {
                let state = match object.outcome {
                    ObjectOutcome::Read => State::Read,
                    ObjectOutcome::Kept => State::Kept,
                    ObjectOutcome::LeftOut => State::LeftOut,
                };
                (object, state, "")
            }),
            Self::Planned(objects) => {
                objects.get(index).map(|planned| (&planned.object, planned.state, &*planned.why))
            }
        }
    }

    /// The number of rows that each choice would show, for those with any.
    pub(crate) fn counts(&self) -> OrderedMap<Show, usize> {
        let mut counts = OrderedMap::from([(Show::All, self.len())]);
        let mut count = |show| *counts.entry(show).or_default() += 1;
        for index in 0..self.len() {
            if let Some((object, state, _)) = self.get(index) {
                count(Show::Only(state));
                if !object.assumed.is_empty() {
                    count(Show::Assumed);
                }
                if object.dropped.is_some() {
                    count(Show::Dropped);
                }
            }
        }
        counts
    }

    /// The number of objects that do not come into the cluster.
    pub(crate) fn missing(&self) -> usize {
        let states = (0..self.len()).filter_map(|index| self.get(index));
        states.filter(|(_, state, _)| state.is_missing()).count()
    }

    /// The rows that are shown, by kind, in the order of the text.
    pub(crate) fn by_kind(&self, show: Show, filter: &str) -> Vec<(&str, Vec<usize>)> {
        let mut kinds: Vec<(&str, Vec<usize>)> = Vec::new();
        for index in 0..self.len() {
            let Some((object, state, _)) = self.get(index) else { continue };
            let shown = match show {
                Show::All => true,
                Show::Only(only) => only == state,
                Show::Assumed => !object.assumed.is_empty(),
                Show::Dropped => object.dropped.is_some(),
            };
            if !shown || !matches(object, filter) {
                continue;
            }
            // Objects of a kind stand together, mostly.
            match kinds.iter_mut().rev().find(|(kind, _)| *kind == object.kind) {
                Some((_, rows)) => rows.push(index),
                None => kinds.push((&object.kind, vec![index])),
            }
        }
        kinds
    }
}

/// The choice of objects from a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    /// Whether these are the objects to be added, and not those that were read.
    pub(crate) planned: bool,
    /// The rows that are shown.
    pub(crate) show: Show,
    /// A part of their names, in small letters.
    pub(crate) filter: String,
    /// Objects of each kind at most.
    pub(crate) most: usize,
}

/// The objects that a listing shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The objects of each kind.
    pub(crate) kinds: Vec<ListedKind>,
}

/// The objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedKind {
    /// The kind.
    pub(crate) kind: String,
    /// The number of objects.
    pub(crate) total: usize,
    /// The number of objects that do not come into the cluster.
    pub(crate) missing: usize,
    /// The objects that are shown, each with its state and the reason for it.
    pub(crate) rows: Vec<(ObjectReport, State, String)>,
}

impl Objects {
    /// The objects that a listing asks for.
    pub(crate) fn listed(&self, listing: &Listing) -> Listed {
        let kinds = self.by_kind(listing.show, &listing.filter).into_iter();
        let kinds = kinds.map(|(kind, places)| {
            let found = || places.iter().filter_map(|place| self.get(*place));
            ListedKind {
                kind: kind.to_owned(),
                total: places.len(),
                missing: found().filter(|(_, state, _)| state.is_missing()).count(),
                rows: found()
                    .take(listing.most)
                    .map(|(object, state, why)| (object.clone(), state, why.to_owned()))
                    .collect(),
            }
        });
        Listed { kinds: kinds.collect() }
    }
}

/// The view of a text that was read, or of adding its objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadView {
    /// The contents, in words.
    pub(crate) found: String,
    /// The kind.
    pub(crate) kind: ReadKind,
    /// Errors and warnings.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The data that was dropped.
    pub(crate) dropped: Dropped,
    /// The number of objects that each choice of the list would show.
    pub(crate) counts: OrderedMap<Show, usize>,
    /// The number of objects that do not come into the cluster.
    pub(crate) missing: usize,
    /// The length of the text, in bytes.
    pub(crate) size: usize,
}

impl ReadView {
    /// The view of a text without anything usable, and the reason.
    pub(crate) fn nothing(why: String) -> Self {
        Self {
            found: why,
            kind: ReadKind::Nothing,
            diagnostics: Vec::new(),
            dropped: Dropped::default(),
            counts: OrderedMap::new(),
            missing: 0,
            size: 0,
        }
    }
}

/// The kind of a text that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReadKind {
    /// Nothing usable.
    Nothing,
    /// A scenario.
    Scenario,
    /// Objects: the release that their nodes report, whether there are nodes, and the newest time.
    Objects(Option<DetectedRelease>, bool, Option<Time>),
    /// Objects, to be added to the cluster.
    Planned,
}

/// Whether the name, namespace or kind of an object has a text in it, in small letters.
fn matches(object: &ObjectReport, filter: &str) -> bool {
    let holds = |text: &str| text.contains(filter) || text.to_ascii_lowercase().contains(filter);
    filter.is_empty() || holds(&object.name) || holds(&object.namespace) || holds(&object.kind)
}

/// The name of an object, with its namespace.
pub(crate) fn name(object: &ObjectReport) -> String {
    match (object.namespace.as_str(), object.name.as_str()) {
        (_, "") => "without a name".to_owned(),
        ("", name) => name.to_owned(),
        (namespace, name) => format!("{namespace}/{name}"),
    }
}

/// The assumptions about an object and the data that it lost, in words.
pub(crate) fn notes(object: &ObjectReport) -> Vec<String> {
    let mut notes: Vec<_> = object.assumed.iter().map(ToString::to_string).collect();
    let dropped = object.dropped.as_ref().map(ToString::to_string);
    notes.extend(dropped.map(|what| format!("dropped: {}", what.replace(" of 1 object", ""))));
    notes
}

/// The beginning and the end of a line in a text, in the units of JavaScript. Lines count from 1.
pub(crate) fn range_of_line(text: &str, line: u32) -> (u32, u32) {
    let mut begin = 0;
    let mut length = 0;
    for (number, line_text) in (1..=line).zip(text.split('\n')) {
        let units: usize = line_text.chars().map(char::len_utf16).sum();
        length = u32::try_from(units).unwrap_or(u32::MAX);
        if number < line {
            begin += length + 1;
        }
    }
    (begin, begin + length)
}

/// Lines that are shown before and after another one.
const AROUND: usize = 4;
/// Characters of a line that are shown at most.
const LONGEST_LINE: usize = 160;

/// A line of a text with its neighbours, each with its number.
pub(crate) fn lines_around(text: &str, line: u32) -> Vec<(u32, String)> {
    let first = (line as usize).saturating_sub(AROUND + 1);
    let lines = text.split('\n').skip(first).take(2 * AROUND + 1);
    let number = u32::try_from(first).unwrap_or(u32::MAX).saturating_add(1);
    (number..)
        .zip(lines)
        .map(|(number, line)| (number, line.trim_end().chars().take(LONGEST_LINE).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use taintlab_manifest::ImportOptions;

    use super::*;

    fn objects() -> Objects {
        let text = "
apiVersion: v1
kind: Node
metadata: {name: a}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: i, env: [{name: A, value: b}]}]}
---
apiVersion: v1
kind: Node
metadata: {name: b}
spec: {taints: [{key: k, value: yes, effect: NoExecute}]}
---
apiVersion: v1
kind: Service
metadata: {name: s}
";
        Objects::Read(taintlab_manifest::import(text, "a", ImportOptions::default()).objects)
    }

    #[test]
    fn objects_are_counted_and_found() {
        let objects = objects();
        let counts: Vec<_> = objects.counts().into_iter().collect();
        assert_eq!(
            counts,
            [
                (Show::All, 4),
                (Show::Only(State::LeftOut), 1),
                (Show::Only(State::Read), 2),
                (Show::Only(State::Kept), 1),
                (Show::Assumed, 1),
                (Show::Dropped, 1),
            ]
        );
        assert_eq!(objects.missing(), 1);
        let all = objects.by_kind(Show::All, "");
        assert_eq!(all, [("Node", vec![0, 2]), ("Pod", vec![1]), ("Service", vec![3])]);
        assert_eq!(objects.by_kind(Show::All, "web"), [("Pod", vec![1])]);
        assert_eq!(objects.by_kind(Show::Only(State::LeftOut), ""), [("Node", vec![2])]);
        assert_eq!(objects.by_kind(Show::Dropped, "node"), []);
    }

    #[test]
    fn lines_are_found() {
        let text = "one\n💥 two\nthree";
        assert_eq!(range_of_line(text, 1), (0, 3));
        assert_eq!(range_of_line(text, 2), (4, 10));
        assert_eq!(range_of_line(text, 3), (11, 16));
        assert_eq!(lines_around(text, 1).len(), 3);
        let text = (1..100).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        let around = lines_around(&text, 50);
        assert_eq!(around.first(), Some(&(46, "46".to_owned())));
        assert_eq!(around.last(), Some(&(54, "54".to_owned())));
    }
}
