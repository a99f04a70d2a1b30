//! The places of objects and fields in a text that was read before.

use taintlab_core::slices::at_once;

use super::importer::identify;
use crate::diagnostic::{Position, Problem};
use crate::limits::ImportOptions;
use crate::source;
use crate::tree::{Place, Sink, Spanned, Split, Value};

/// An object, and the field of it that is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sought {
    /// The object's `kind`.
    pub kind: String,
    /// The object's namespace, `default` if it names none; empty for an object without one.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// Paths of the field, of which the one counts that leads deepest into the object.
    pub fields: Vec<String>,
}

/// Line and column of objects or their fields in a text, counted from 1; `None` for an object that
/// it does not have.
#[must_use]
pub fn places_of(text: &str, sought: &[Sought]) -> Vec<Option<(u32, u32)>> {
    let text = source::strip_byte_order_mark(text);
    let options = ImportOptions::default();
    let new = || Finder { sought, found: vec![None; sought.len()], wrong: false };
    let finder = at_once(source::parse(text, &options, Split::Items, new));
    finder.found.into_iter().map(|it| it.map(|Position { line, column }| (line, column))).collect()
}

struct Finder<'s> {
    sought: &'s [Sought],
    found: Vec<Option<Position>>,
    wrong: bool,
}

impl<'t> Sink<'t> for Finder<'_> {
    fn object(&mut self, _: Place, node: Spanned<'t>, _: Vec<Problem>) -> bool {
        let report = identify(&node);
        for (sought, found) in self.sought.iter().zip(&mut self.found) {
            // An item of a list may leave its kind to the list.
            let is_kind = report.kind.is_empty() || report.kind == sought.kind;
            let namespace = if report.namespace.is_empty() { "default" } else { &report.namespace };
            let is_place = sought.namespace.is_empty() || sought.namespace == namespace;
            if is_kind && is_place && report.name == sought.name {
                let places = sought.fields.iter().map(|path| nearest(&node, path));
                let best = places.reduce(|one, other| if other.0 > one.0 { other } else { one });
                found.get_or_insert(best.map_or(&node, |(_, node)| node).position);
            }
        }
        true
    }

    fn problem(&mut self, _: Problem) -> bool {
        self.wrong = true;
        true
    }
}

impl source::Reader for Finder<'_> {
    fn failed(&self) -> bool {
        self.wrong
    }
}

/// The value at a path such as `spec.tolerations[1].key`, or the nearest one around it, with the
/// number of steps that lead there.
fn nearest<'n, 't>(node: &'n Spanned<'t>, path: &str) -> (usize, &'n Spanned<'t>) {
    let (mut node, mut steps) = (node, 0);
    let names = path.split(['.', '[']).filter(|name| !name.is_empty());
    for name in names.map(|name| name.trim_end_matches(']')) {
        let next = match &node.value {
            Value::Seq(items) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ => node.get(name),
        };
        let Some(next) = next else { break };
        (node, steps) = (next, steps + 1);
    }
    (steps, node)
}
