//! A tree of values with their positions, and its construction from either syntax.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diagnostic::{Position, Problem};
use crate::limits::Limits;
use crate::scalar::{Scalar, resolve};

/// A value and where it begins.
#[derive(Clone, Debug)]
pub(crate) struct Spanned<'t> {
    pub(crate) value: Value<'t>,
    pub(crate) position: Position,
}

/// A value. Text is borrowed from the source where that is possible.
#[derive(Clone, Debug)]
pub(crate) enum Value<'t> {
    /// An unquoted scalar as it is written; [`resolve`] says what it means.
    Plain(Cow<'t, str>),
    /// A string.
    Str(Cow<'t, str>),
    Seq(Vec<Spanned<'t>>),
    Map(Vec<Entry<'t>>),
    /// A value that was reported as wrong and is left out from now on.
    Removed,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'t> {
    pub(crate) key: Cow<'t, str>,
    pub(crate) key_position: Position,
    pub(crate) value: Spanned<'t>,
}

impl<'t> Spanned<'t> {
    /// The value of `key` in a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => {
                entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
            }
            _ => None,
        }
    }

    /// The text of a scalar that is a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Str(text) => Some(text),
            Value::Plain(text) if resolve(text) == Scalar::Str => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Plain(text) if resolve(text) == Scalar::Null)
    }

    /// What a copy of this tree costs: its nodes, and its text.
    fn cost(&self) -> usize {
        let text = |text: &str| 1 + text.len() / 64;
        match &self.value {
            Value::Plain(plain) | Value::Str(plain) => text(plain),
            Value::Seq(items) => items.iter().map(Self::cost).fold(1, usize::saturating_add),
            Value::Map(entries) => entries
                .iter()
                .map(|entry| text(&entry.key).saturating_add(entry.value.cost()))
                .fold(1, usize::saturating_add),
            Value::Removed => 1,
        }
    }

    /// The node at a field path such as `spec.taints[0].effect`, or the last one on the way there.
    pub(crate) fn nearest(&self, path: &str) -> &Self {
        let mut node = self;
        for part in path.split('.').filter(|part| !part.is_empty()) {
            let (name, mut indexes) = part.split_once('[').unwrap_or((part, ""));
            if !name.is_empty() {
                match node.get(name) {
                    Some(child) => node = child,
                    None => return node,
                }
            }
            while let Some((index, rest)) = indexes.split_once(']') {
                let child = match (&node.value, index.parse::<usize>()) {
                    (Value::Seq(items), Ok(index)) => items.get(index),
                    _ => None,
                };
                match child {
                    Some(child) => node = child,
                    None => return node,
                }
                indexes = rest.trim_start_matches('[');
            }
        }
        node
    }

    /// Where [`nearest`](Self::nearest) begins.
    pub(crate) fn locate(&self, path: &str) -> Position {
        self.nearest(path).position
    }
}

/// Appends `key` to a field path, in brackets if it could be taken for more than one field.
pub(crate) fn push_key(path: &mut String, key: &str) {
    if key.is_empty() || key.contains(['.', '[', ']', ' ', ':']) {
        path.push('[');
        path.push_str(key);
        path.push(']');
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
    }
}

/// Appends `index` to a field path.
pub(crate) fn push_index(path: &mut String, index: usize) {
    path.push('[');
    path.push_str(&index.to_string());
    path.push(']');
}

/// Where in the text an object stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is a whole document.
    Document,
    /// It is an element of the `items` of a document.
    Item(usize),
    /// It is an element of a document that is a list.
    Element(usize),
}

impl Place {
    /// The field path of the object in its document.
    pub(crate) fn path(self) -> String {
        match self {
            Self::Document => String::new(),
            Self::Item(index) => format!("items[{index}]"),
            Self::Element(index) => format!("[{index}]"),
        }
    }
}

/// What takes the objects of a text, one by one, so that no more than one is in memory.
pub(crate) trait Sink<'t> {
    /// Takes an object together with what was wrong with it already; returns whether more is
    /// wanted.
    fn object(&mut self, place: Place, node: Spanned<'t>, problems: Vec<Problem>) -> bool;

    /// Takes an error of the text itself; returns whether more is wanted.
    fn problem(&mut self, problem: Problem) -> bool;
}

/// Why reading stops.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The text is wrong here; the next document may be read.
    Syntax(Problem),
    /// A limit is reached, or the sink wants no more.
    End(Option<Problem>),
}

/// An open list or mapping.
#[derive(Debug)]
enum Frame<'t> {
    Seq {
        start: Position,
        anchor: usize,
        items: Vec<Spanned<'t>>,
        /// How many were given to the sink.
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

/// A key whose value comes next.
#[derive(Debug)]
struct Key<'t> {
    text: Cow<'t, str>,
    position: Position,
    /// It is an unquoted `<<`.
    merge: bool,
}

/// Builds trees from the parts of a text in their order, and gives them to a sink.
pub(crate) struct Builder<'t, 's> {
    limits: &'s Limits,
    sink: &'s mut dyn Sink<'t>,
    /// Whether the elements of lists of objects are given to the sink one by one.
    split: bool,
    frames: Vec<Frame<'t>>,
    /// How many lists and mappings are open of a value that is not kept.
    skipped: usize,
    /// The values of anchors, and what a copy of each costs.
    anchors: BTreeMap<usize, (Spanned<'t>, usize)>,
    nodes: usize,
    copies: usize,
    objects: usize,
    problems: Vec<Problem>,
}

impl<'t, 's> Builder<'t, 's> {
    pub(crate) fn new(limits: &'s Limits, split: bool, sink: &'s mut dyn Sink<'t>) -> Self {
        Self {
            limits,
            sink,
            split,
            frames: Vec::new(),
            skipped: 0,
            anchors: BTreeMap::new(),
            nodes: 0,
            copies: 0,
            objects: 0,
            problems: Vec::new(),
        }
    }

    /// Forgets a document that was not finished. The limits still count what was read.
    pub(crate) fn reset(&mut self) {
        self.frames.clear();
        self.anchors.clear();
        self.problems.clear();
        self.skipped = 0;
    }

    /// Gives a problem of the text to the sink; returns whether more is wanted.
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
            return Err(Stop::Syntax(
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
            if self.skipped == 0
                && let Some(Frame::Map { key, .. }) = self.frames.last_mut()
            {
                *key = None;
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

    /// Puts a copy of the value of anchor `id` here.
    pub(crate) fn alias(&mut self, id: usize, position: Position) -> Result<(), Stop> {
        let Some((node, cost)) = self.anchors.get(&id) else {
            return Err(Stop::Syntax(
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
            // This copy counts too: anchors inside anchors would multiply.
            self.copies = self.copies.saturating_add(cost);
            if self.copies > self.limits.copies {
                return Err(self.too_many_copies(node.position));
            }
            self.anchors.insert(anchor, (node.clone(), cost));
        }
        if self.next_is_noise() {
            if let Some(Frame::Map { key, .. }) = self.frames.last_mut() {
                *key = None;
            }
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
                                return Err(Stop::Syntax(problem));
                            }
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether the value that comes next is `metadata.managedFields`: what each writer of an
    /// object last set. It is half of `kubectl`'s output, and `kubectl apply` refuses it.
    fn next_is_noise(&self) -> bool {
        match self.frames.as_slice() {
            [.., Frame::Map { key: Some(outer), .. }, Frame::Map { key: Some(inner), .. }] => {
                inner.text == "managedFields" && outer.text == "metadata"
            }
            _ => false,
        }
    }

    /// Where the next value stands if it is one that is given to the sink by itself.
    fn place(&self) -> Option<Place> {
        if !self.split {
            return None;
        }
        match self.frames.as_slice() {
            [Frame::Seq { given, .. }] => Some(Place::Element(*given)),
            [Frame::Map { key: Some(key), .. }, Frame::Seq { given, .. }]
                if key.text == "items" =>
            {
                Some(Place::Item(*given))
            }
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

    /// Applies `<<` keys and reports keys that come twice.
    fn finish_map(
        &mut self,
        mut entries: Vec<Entry<'t>>,
        merged: Vec<Spanned<'t>>,
    ) -> Result<Vec<Entry<'t>>, Stop> {
        self.report_duplicates(&mut entries);
        if merged.is_empty() {
            return Ok(entries);
        }
        let mut seen: BTreeMap<Cow<'t, str>, ()> =
            entries.iter().map(|entry| (entry.key.clone(), ())).collect();
        for source in merged {
            let position = source.position;
            let maps = match source.value {
                Value::Seq(items) => items,
                value => vec![Spanned { value, position }],
            };
            for map in maps {
                let Value::Map(inherited) = map.value else {
                    let problem = Problem::new(position, "`<<` needs a mapping or a list of them");
                    return Err(Stop::Syntax(problem.at(self.path())));
                };
                for entry in inherited {
                    if seen.insert(entry.key.clone(), ()).is_none() {
                        entries.push(entry);
                    }
                }
            }
        }
        Ok(entries)
    }

    /// Reports keys that come twice, and takes the later ones out.
    fn report_duplicates(&mut self, entries: &mut [Entry<'t>]) {
        // Nearly every mapping is small; comparing lengths first makes this cheap.
        let is_new = |index: usize, entry: &Entry<'t>| {
            entries.iter().take(index).all(|earlier| earlier.key != entry.key)
        };
        if entries.len() <= 16 && entries.iter().enumerate().all(|(at, entry)| is_new(at, entry)) {
            return;
        }
        let parent = self.path();
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        for Entry { key, key_position, value } in entries {
            let Some(first) = seen.insert(key, key_position.line) else { continue };
            let mut path = parent.clone();
            push_key(&mut path, key);
            let message = format!("the key `{key}` is there twice: first on line {first}");
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
        Stop::End(Some(problem.help("this is a limit that protects the page; import less at once")))
    }

    /// The field path of what is open.
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
