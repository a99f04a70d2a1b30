//! Builds trees from the parts of a text, for YAML and JSON alike.

use std::borrow::Cow;
use taintlab_core::order::OrderedMap;

use crate::diagnostic::{Position, Problem};
use crate::limits::{ImportOptions, Limits};
use crate::scalar::{Scalar, resolve};
use crate::tree::{Entry, List, Place, Sink, Spanned, Split, Value, push_index, push_key};

/// The reason why reading stops.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The text is wrong here; the next document may be read.
    Syntax(Box<Problem>),
    /// A limit is reached, or the sink wants no more objects.
    End(Option<Box<Problem>>),
}

impl Stop {
    pub(crate) fn syntax(problem: Problem) -> Self {
        Self::Syntax(Box::new(problem))
    }
}

/// Names, and the line on which each was first seen.
pub(crate) type Names = OrderedMap<String, u32>;

/// An open list or mapping.
#[derive(Debug)]
enum Frame<'t> {
    Seq {
        start: Position,
        anchor: usize,
        items: Vec<Spanned<'t>>,
        /// Elements already given to the sink.
        given: usize,
    },
    Map {
        start: Position,
        anchor: usize,
        entries: Vec<Entry<'t>>,
        key: Option<Key<'t>>,
        /// The values of `<<` keys.
        merged: Vec<Spanned<'t>>,
    },
}

/// A key that waits for its value.
#[derive(Debug)]
struct Key<'t> {
    text: Cow<'t, str>,
    position: Position,
    /// Whether it is an unquoted `<<`.
    merge: bool,
}

/// The values of one document's anchors, and the cost of a copy of each.
#[derive(Default)]
struct Anchors<'t> {
    /// The parser numbers anchors through all documents; those below this number are forgotten.
    first: usize,
    values: Vec<Option<(Spanned<'t>, usize)>>,
}

impl<'t> Anchors<'t> {
    fn forget(&mut self) {
        self.first += self.values.len();
        self.values.clear();
    }

    #[cfg(feature = "yaml")]
    fn get(&self, id: usize) -> Option<&(Spanned<'t>, usize)> {
        self.values.get(id.checked_sub(self.first)?)?.as_ref()
    }

    fn insert(&mut self, id: usize, value: (Spanned<'t>, usize)) {
        let Some(index) = id.checked_sub(self.first) else { return };
        while self.values.len() <= index {
            self.values.push(None);
        }
        if let Some(slot) = self.values.get_mut(index) {
            *slot = Some(value);
        }
    }
}

/// Builds trees from the parts of a text, in order, and gives them to a sink.
pub(crate) struct Builder<'t, 's> {
    limits: Limits,
    /// Whether `managedFields` are kept.
    keep_all: bool,
    sink: &'s mut dyn Sink<'t>,
    split: Split,
    frames: Vec<Frame<'t>>,
    /// Open lists and mappings inside a value that is not kept.
    skipped: usize,
    anchors: Anchors<'t>,
    nodes: usize,
    copies: usize,
    objects: usize,
    problems: Vec<Problem>,
}

impl<'t, 's> Builder<'t, 's> {
    pub(crate) fn new(options: &ImportOptions, split: Split, sink: &'s mut dyn Sink<'t>) -> Self {
        Self {
            limits: options.limits,
            keep_all: options.keep_all,
            sink,
            split,
            frames: Vec::new(),
            skipped: 0,
            anchors: Anchors::default(),
            nodes: 0,
            copies: 0,
            objects: 0,
            problems: Vec::new(),
        }
    }

    /// Forgets an unfinished document. The limits still count what was read of it.
    pub(crate) fn reset(&mut self) {
        self.frames.clear();
        self.anchors.forget();
        self.problems.clear();
        self.skipped = 0;
    }

    /// Gives a problem of the text to the sink; returns whether to read on.
    pub(crate) fn report(&mut self, problem: Problem) -> bool {
        self.sink.problem(problem)
    }

    pub(crate) fn scalar(
        &mut self,
        value: Value<'t>,
        position: Position,
        anchor: usize,
    ) -> Result<(), Stop> {
        self.count(position)?;
        if self.skipped > 0 {
            return Ok(());
        }
        self.value(Spanned { value, position }, anchor)
    }

    pub(crate) fn begin_seq(&mut self, start: Position, anchor: usize) -> Result<(), Stop> {
        self.begin(start, |start| Frame::Seq { start, anchor, items: Vec::new(), given: 0 })
    }

    pub(crate) fn begin_map(&mut self, start: Position, anchor: usize) -> Result<(), Stop> {
        self.begin(start, |start| Frame::Map {
            start,
            anchor,
            entries: Vec::new(),
            key: None,
            merged: Vec::new(),
        })
    }

    fn begin(
        &mut self,
        start: Position,
        frame: impl FnOnce(Position) -> Frame<'t>,
    ) -> Result<(), Stop> {
        self.count(start)?;
        if self.frames.len() + self.skipped >= self.limits.depth {
            let message = format!(
                "lists and mappings are nested more than {} deep; no Kubernetes object is",
                self.limits.depth
            );
            return Err(self.stop(start, message));
        }
        if self.skipped > 0 || self.next_is_noise() {
            self.skipped += 1;
            return Ok(());
        }
        if let Some(Frame::Map { key: None, .. }) = self.frames.last() {
            return Err(Stop::syntax(
                Problem::new(start, "a key must be a string, found a list or a mapping")
                    .at(self.path())
                    .help("a `{{ … }}` in a file is a template: import what it renders to"),
            ));
        }
        self.frames.push(frame(start));
        Ok(())
    }

    /// Ends the innermost list or mapping.
    pub(crate) fn end(&mut self) -> Result<(), Stop> {
        if self.skipped > 0 {
            self.skipped -= 1;
            if self.skipped == 0 {
                self.leave_out();
            }
            return Ok(());
        }
        match self.frames.pop() {
            Some(Frame::Seq { start, anchor, items, .. }) => {
                self.value(Spanned { value: Value::Seq(items), position: start }, anchor)
            }
            Some(Frame::Map { start, anchor, entries, merged, .. }) => {
                let entries = self.finish_map(entries, merged)?;
                self.value(Spanned { value: Value::Map(entries), position: start }, anchor)
            }
            None => Ok(()),
        }
    }

    /// Inserts a copy of the value of anchor `id` here.
    #[cfg(feature = "yaml")]
    pub(crate) fn alias(&mut self, id: usize, position: Position) -> Result<(), Stop> {
        let Some((node, cost)) = self.anchors.get(id) else {
            return Err(Stop::syntax(
                Problem::new(position, "the alias names a value that is not complete here")
                    .at(self.path())
                    .help("an anchor `&name` must come, with its whole value, before `*name`"),
            ));
        };
        self.copies = self.copies.saturating_add(*cost);
        if self.copies > self.limits.copies {
            return Err(self.too_many_copies(position));
        }
        if self.skipped > 0 {
            return Ok(());
        }
        let node = Spanned { value: node.value.clone(), position };
        self.value(node, 0)
    }

    /// Takes a complete value.
    fn value(&mut self, node: Spanned<'t>, anchor: usize) -> Result<(), Stop> {
        if anchor > 0 {
            let cost = node.cost();
            // This copy counts too, or anchors inside anchors would multiply.
            self.copies = self.copies.saturating_add(cost);
            if self.copies > self.limits.copies {
                return Err(self.too_many_copies(node.position));
            }
            self.anchors.insert(anchor, (node.clone(), cost));
        }
        if self.next_is_noise() {
            self.leave_out();
            return Ok(());
        }
        let place = self.place();
        match self.frames.last_mut() {
            None => self.give(Place::Document, node),
            Some(Frame::Seq { items, given, .. }) => {
                let Some(place) = place else {
                    items.push(node);
                    return Ok(());
                };
                *given += 1;
                self.give(place, node)
            }
            Some(Frame::Map { entries, key, merged, .. }) => {
                match key.take() {
                    Some(Key { merge: true, .. }) => merged.push(node),
                    Some(Key { text, position, .. }) => {
                        entries.push(Entry { key: text, key_position: position, value: node });
                    }
                    None => {
                        let position = node.position;
                        match read_key(node) {
                            Ok(read) => *key = Some(read),
                            Err(message) => {
                                let problem = Problem::new(position, message).at(self.path());
                                return Err(Stop::syntax(problem));
                            }
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether the next value is `metadata.managedFields`: the fields that each writer of an object
    /// last set. They are half of `kubectl`'s output, and `kubectl apply` refuses them.
    fn next_is_noise(&self) -> bool {
        match self.frames.as_slice() {
            _ if self.keep_all => false,
            [.., Frame::Map { key: Some(outer), .. }, Frame::Map { key: Some(inner), .. }] => {
                inner.text == "managedFields" && outer.text == "metadata"
            }
            _ => false,
        }
    }

    /// Keeps only the key of a value that is left out.
    fn leave_out(&mut self) {
        if let Some(Frame::Map { key, entries, .. }) = self.frames.last_mut()
            && let Some(Key { text, position, .. }) = key.take()
        {
            let value = Spanned { value: Value::Removed, position };
            entries.push(Entry { key: text, key_position: position, value });
        }
    }

    /// The place of the next value, if the sink gets it by itself.
    fn place(&self) -> Option<Place> {
        match (self.split, self.frames.as_slice()) {
            (Split::Items, [Frame::Seq { given, .. }]) => Some(Place::Element(*given)),
            (Split::Items, [Frame::Map { key: Some(key), .. }, Frame::Seq { given, .. }])
                if key.text == "items" =>
            {
                Some(Place::Item(*given))
            }
            (
                Split::Scenario,
                [
                    Frame::Map { key: Some(outer), .. },
                    Frame::Map { key: Some(list), .. },
                    Frame::Seq { .. },
                ],
            ) if outer.text == "objects" => List::named(&list.text).map(Place::Of),
            _ => None,
        }
    }

    fn give(&mut self, place: Place, node: Spanned<'t>) -> Result<(), Stop> {
        self.objects += 1;
        if self.objects > self.limits.objects {
            let message = format!("there are more than {} objects", self.limits.objects);
            return Err(self.stop(node.position, message));
        }
        let problems = std::mem::take(&mut self.problems);
        if self.sink.object(place, node, problems) { Ok(()) } else { Err(Stop::End(None)) }
    }

    /// Applies `<<` keys and reports duplicate keys.
    fn finish_map(
        &mut self,
        mut entries: Vec<Entry<'t>>,
        merged: Vec<Spanned<'t>>,
    ) -> Result<Vec<Entry<'t>>, Stop> {
        self.report_duplicates(&mut entries);
        if merged.is_empty() {
            return Ok(entries);
        }
        let mut seen = Names::new();
        for entry in &entries {
            seen.insert(entry.key.to_string(), 0);
        }
        for source in merged {
            let position = source.position;
            let maps = match source.value {
                Value::Seq(items) => items,
                value => vec![Spanned { value, position }],
            };
            for map in maps {
                let Value::Map(inherited) = map.value else {
                    let problem = Problem::new(position, "`<<` needs a mapping or a list of them");
                    return Err(Stop::syntax(problem.at(self.path())));
                };
                for entry in inherited {
                    if seen.insert(entry.key.to_string(), 0).is_none() {
                        entries.push(entry);
                    }
                }
            }
        }
        Ok(entries)
    }

    /// Reports duplicate keys and removes the values of the later ones.
    fn report_duplicates(&mut self, entries: &mut [Entry<'t>]) {
        // Nearly every mapping is small, and comparing a few keys is cheap.
        let is_new = |index: usize, entry: &Entry<'t>| {
            entries.iter().take(index).all(|earlier| earlier.key != entry.key)
        };
        if entries.len() <= 16 && entries.iter().enumerate().all(|(at, entry)| is_new(at, entry)) {
            return;
        }
        let parent = self.path();
        let mut seen = Names::new();
        for Entry { key, key_position, value } in entries {
            let Some(first) = seen.insert(key.to_string(), key_position.line) else { continue };
            let mut path = parent.clone();
            push_key(&mut path, key);
            let message = format!("duplicate key `{key}`: first on line {first}");
            let problem = Problem::new(*key_position, message).at(path);
            self.problems.push(problem.help("remove one of the two"));
            value.value = Value::Removed;
        }
    }

    fn count(&mut self, position: Position) -> Result<(), Stop> {
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            let message = format!("there are more than {} values", self.limits.nodes);
            return Err(self.stop(position, message));
        }
        Ok(())
    }

    fn too_many_copies(&self, position: Position) -> Stop {
        let message = format!("aliases stand for more than {} values", self.limits.copies);
        self.stop(position, message)
    }

    fn stop(&self, position: Position, message: String) -> Stop {
        let problem = Problem::new(position, message).at(self.path());
        Stop::End(Some(Box::new(
            problem.help("this is the limit of one input; import less at once"),
        )))
    }

    /// The field path of the value being read.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        for frame in &self.frames {
            match frame {
                Frame::Seq { items, given, .. } => push_index(&mut path, items.len() + given),
                Frame::Map { key: Some(key), .. } => push_key(&mut path, &key.text),
                Frame::Map { key: None, .. } => {}
            }
        }
        path
    }
}

/// Makes a key of a scalar. Mirrors `convertToJSONableObject` of `sigs.k8s.io/yaml`.
fn read_key(node: Spanned<'_>) -> Result<Key<'_>, &'static str> {
    let mut merge = false;
    let text = match node.value {
        Value::Str(text) => text,
        Value::Plain(text) => match resolve(&text) {
            Scalar::Str => {
                merge = text == "<<";
                text
            }
            Scalar::Bool(value) => Cow::Borrowed(if value { "true" } else { "false" }),
            Scalar::Int(value) => Cow::Owned(value.to_string()),
            Scalar::Uint(value) => Cow::Owned(value.to_string()),
            Scalar::Float(value) => Cow::Owned(value.to_string()),
            Scalar::Null => return Err("a key must be a string, found nothing (null)"),
        },
        Value::Seq(_) | Value::Map(_) | Value::Removed => {
            return Err("a key must be a string, found a list or a mapping");
        }
    };
    Ok(Key { text, position: node.position, merge })
}
