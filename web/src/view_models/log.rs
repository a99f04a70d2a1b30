//! The event log: the rows that pass the filter, and the words of those in sight.

use std::rc::Rc;

use taintlab_core::time::Timestamp;

use super::about::About;
use super::board::BoardModel;
use super::display::{self, Category, RowText};
use super::selection::Selection;
use crate::session::{Row, Session};

/// Rows that are painted above and below those in sight.
pub(crate) const SPARE: usize = 12;
/// Rows that are shown at most: browsers cannot scroll further than some tens of millions of
/// pixels.
pub(crate) const MOST: usize = 500_000;

/// The part of the log that the page wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogWanted {
    /// The kinds of rows.
    pub(crate) categories: Vec<Category>,
    /// A text in the rows, in lower case.
    pub(crate) filter: String,
    /// Whether only rows about the selection are wanted.
    pub(crate) only_selected: bool,
    /// The first row that is painted, counted among those that are shown.
    pub(crate) first: usize,
    /// The number of rows that are painted.
    pub(crate) many: usize,
    /// Whether the row of the clock stays in sight.
    pub(crate) follows: bool,
}

impl Default for LogWanted {
    fn default() -> Self {
        Self {
            categories: vec![Category::Event, Category::Change],
            filter: String::new(),
            only_selected: false,
            first: 0,
            many: 40,
            follows: true,
        }
    }
}

impl LogWanted {
    /// Shows rows of a category, or no longer.
    pub(crate) fn toggle(&mut self, category: Category) {
        let before = self.categories.len();
        self.categories.retain(|known| *known != category);
        if self.categories.len() == before {
            self.categories.push(category);
        }
    }
}

/// The visible part of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogView {
    /// The number of rows that pass the filter.
    pub(crate) shown: usize,
    /// The number of these rows that have happened.
    pub(crate) passed: usize,
    /// Whether there are rows at all.
    pub(crate) any: bool,
    /// The place of the first of the rows to paint.
    pub(crate) first: usize,
    /// The rows to paint.
    pub(crate) rows: Vec<Rc<LogRow>>,
    /// The request that they answer.
    pub(crate) wanted: LogWanted,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogRow {
    /// The time.
    pub(crate) at: Timestamp,
    /// Whether the time is later than the clock, which was set back.
    pub(crate) later: bool,
    /// Whether it is the last row that has happened.
    pub(crate) current: bool,
    /// The words.
    pub(crate) text: RowText,
}

/// A model that follows the rows of a session.
#[derive(Default)]
pub(crate) struct LogModel {
    wanted: LogWanted,
    /// The rows that pass the filter, by index.
    shown: Vec<usize>,
    /// The number of rows that were looked at, and the last of them.
    scanned: usize,
    last: Option<Rc<Row>>,
    about: About,
}

impl LogModel {
    /// Sets the part in sight and the filter.
    pub(crate) fn want(&mut self, wanted: LogWanted) {
        let filter = |it: &LogWanted| (it.categories.clone(), it.filter.clone(), it.only_selected);
        if filter(&self.wanted) != filter(&wanted) {
            self.forget();
        }
        self.wanted = wanted;
    }

    fn forget(&mut self) {
        self.shown.clear();
        self.scanned = 0;
        self.last = None;
    }

    /// The visible part, as things are now.
    pub(crate) fn view(
        &mut self,
        session: &Session,
        board: &BoardModel,
        selection: Option<&Selection>,
    ) -> LogView {
        if self.wanted.only_selected {
            let about = About::of(session, board, selection);
            if about != self.about {
                self.about = about;
                self.forget();
            }
        }
        let rows = session.known_rows();
        self.scan(rows);
        let past = session.rows().len();
        let passed = self.shown.partition_point(|index| *index < past);
        let hidden = self.shown.len().saturating_sub(MOST);
        let first = self.first(passed.saturating_sub(1).saturating_sub(hidden));
        let in_sight = self.shown.iter().skip(hidden + first).take(self.wanted.many);
        let last = passed.checked_sub(1).and_then(|last| self.shown.get(last));
        let rows_in_sight = in_sight.filter_map(|index| {
            let row = rows.get(*index)?;
            let (later, current) = (*index >= past, Some(index) == last);
            Some(Rc::new(LogRow { at: row.at, later, current, text: display::row(row) }))
        });
        LogView {
            shown: self.shown.len(),
            passed,
            any: !rows.is_empty(),
            first,
            rows: rows_in_sight.collect(),
            wanted: self.wanted.clone(),
        }
    }

    /// The first row to paint: where the page is, or where it goes to have the row of the clock in
    /// sight.
    fn first(&self, current: usize) -> usize {
        let LogWanted { first, many, follows, .. } = self.wanted;
        if !follows {
            return first;
        }
        let in_sight = many.saturating_sub(2 * SPARE);
        let top = if first == 0 { 0 } else { first + SPARE };
        let top =
            if top > current { current } else { top.max((current + 2).saturating_sub(in_sight)) };
        top.saturating_sub(SPARE)
    }

    /// Looks at the rows that are new since the last time.
    fn scan(&mut self, rows: &[Rc<Row>]) {
        let before = self.scanned.checked_sub(1).and_then(|last| rows.get(last));
        let same = match (before, &self.last) {
            (Some(row), Some(last)) => Rc::ptr_eq(row, last),
            _ => self.scanned == 0,
        };
        if !same {
            self.forget();
        }
        let new = rows.iter().enumerate().skip(self.scanned);
        let shown: Vec<usize> =
            new.filter(|(_, row)| self.shows(row)).map(|(index, _)| index).collect();
        self.shown.extend(shown);
        self.scanned = rows.len();
        self.last = rows.last().cloned();
    }

    fn shows(&self, row: &Row) -> bool {
        let wanted = &self.wanted;
        let text = display::row(row);
        wanted.categories.contains(&text.category)
            && (!wanted.only_selected || self.about.selects(text.selects.as_ref()))
            && (wanted.filter.is_empty() || matches(&text, &wanted.filter))
    }
}

fn matches(text: &RowText, filter: &str) -> bool {
    let has = |field: &str| field.to_ascii_lowercase().contains(filter);
    has(&text.object) || has(&text.message) || has(&text.reason) || has(text.component)
}
