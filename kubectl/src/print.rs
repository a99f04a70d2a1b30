//! Printing of objects: the API server's tables, as `kubectl get` shows them, and the pages of
//! `kubectl describe`. The console uses it, and so can callers that have objects and no simulation.
//!
//! The output depends only on the objects, the options, and a [`View`]: the release and the clock.

use serde_json::Value;

use crate::describe;
use crate::objects::Object;
use crate::resources;
use crate::rows;
use crate::selector::format_labels;
use crate::storage;
use crate::table::table;

pub use crate::describe::Surroundings;
pub use crate::view::View;

/// Options of a table, beyond the columns that are always shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// `-o wide`: all columns.
    pub wide: bool,
    /// `--no-headers`: no line with the titles.
    pub no_headers: bool,
    /// `-A`: the namespace as the first column, for types that have one.
    pub all_namespaces: bool,
    /// `--show-labels`: all labels in the last column.
    pub show_labels: bool,
    /// `--show-kind`: the type in front of the name.
    pub with_kind: bool,
    /// `-L`: labels with a column of their own.
    pub label_columns: Vec<String>,
}

/// The objects of one type as rows. Mirrors `metav1.Table` after `decorateTable`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns, including those that only `-o wide` shows.
    pub columns: Vec<String>,
    /// A row for each object: texts and whole numbers.
    pub rows: Vec<Vec<Value>>,
    /// For each column, whether only `-o wide` shows it.
    is_wide: Vec<bool>,
}

impl Table {
    /// The rows of objects of one type. Of all classes, with their peers, one is the default.
    pub(crate) fn of(
        view: View,
        resource: &resources::Resource,
        objects: &[Object],
        peers: &[Object],
        options: &TableOptions,
    ) -> Self {
        let marks_one =
            *resource == resources::STORAGE_CLASSES && view.release.shows_effective_default_class();
        let default = match marks_one {
            true => storage::effective_default(objects.iter().chain(peers)),
            false => "",
        };
        let columns = rows::columns(view, resource);
        let name = columns.iter().position(|(name, _)| *name == "Name");
        let with_namespace = options.all_namespaces && resource.namespaced;
        let mut names: Vec<String> = Vec::new();
        names.extend(with_namespace.then(|| "Namespace".to_owned()));
        names.extend(columns.iter().map(|(name, _)| (*name).to_owned()));
        let last = |key: &String| key.rsplit('/').next().unwrap_or(key).to_ascii_uppercase();
        names.extend(options.label_columns.iter().map(last));
        names.extend(options.show_labels.then(|| "Labels".to_owned()));
        let mut is_wide: Vec<bool> = Vec::new();
        is_wide.extend(with_namespace.then_some(false));
        is_wide.extend(columns.iter().map(|(_, wide)| *wide));
        is_wide.resize(names.len(), false);
        let row = |object: &Object| {
            let mut cells = rows::cells(view, object);
            if let Some(cell) = cells.first_mut().filter(|_| marks_one && default != object.name())
            {
                *cell = object.name().into();
            }
            if let Some(cell) = name.filter(|_| options.with_kind).and_then(|at| cells.get_mut(at))
            {
                *cell = object.qualified_name().into();
            }
            if with_namespace {
                cells.insert(0, object.namespace().into());
            }
            if !options.label_columns.is_empty() || options.show_labels {
                let labels = object.labels();
                cells.extend(
                    options
                        .label_columns
                        .iter()
                        .map(|column| Value::from(labels.get(column).map_or("", String::as_str))),
                );
                cells.extend(options.show_labels.then(|| format_labels(&labels).into()));
            }
            cells
        };
        Self { rows: objects.iter().map(row).collect(), columns: names, is_wide }
    }

    /// The printed table. Mirrors `printTable`.
    #[must_use]
    pub fn text(&self, options: &TableOptions) -> String {
        let shown = |cells: Vec<String>| -> Vec<String> {
            let cells = cells.into_iter().zip(&self.is_wide);
            cells.filter(|(_, wide)| options.wide || !**wide).map(|(cell, _)| cell).collect()
        };
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        if !options.no_headers {
            lines.push(shown(self.columns.iter().map(|name| name.to_ascii_uppercase()).collect()));
        }
        lines.extend(self.rows.iter().map(|row| shown(row.iter().map(cell_text).collect())));
        table(&lines)
    }
}

/// The text of a cell up to the end of its first line.
fn cell_text(cell: &Value) -> String {
    match cell {
        Value::String(text) => match text.split_once(['\n', '\r', '\u{c}']) {
            Some((first, _)) => format!("{first}..."),
            None => text.clone(),
        },
        number => number.to_string(),
    }
}

/// The table of `kubectl get` for objects of one kind, given as JSON.
///
/// # Errors
/// The kind is unknown, or an object is not of that kind.
pub fn get(
    view: View,
    kind: &str,
    objects: &[Value],
    options: &TableOptions,
) -> Result<Table, String> {
    let objects: Vec<Object> =
        objects.iter().map(|value| Object::read(kind, value)).collect::<Result<_, _>>()?;
    Ok(Table::of(view, resources::by_kind(kind)?, &objects, &[], options))
}

/// The page of `kubectl describe` about an object, given as JSON.
///
/// # Errors
/// The kind is unknown, or the object is not of that kind.
pub fn describe(
    view: View,
    kind: &str,
    object: &Value,
    surroundings: &Surroundings,
) -> Result<String, String> {
    Ok(describe::page(view, &Object::read(kind, object)?, surroundings))
}
