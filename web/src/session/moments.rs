//! Moments that the clock goes to: to look for a while, until something is so, or until an object
//! is spoken of.

use taintlab_core::condition::Condition;
use taintlab_core::time::Timestamp;

use super::{DAY, MarkKind, Row, Session};

/// How many moments are looked at in search of one.
const LIMIT: usize = 200_000;

/// Where the clock is when it only shows another moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peek {
    home: Timestamp,
    reached: Timestamp,
    rows: usize,
}

/// A search for a moment to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunTo {
    from: Timestamp,
    reached: Timestamp,
    known: usize,
    until: Timestamp,
    /// How many moments are still looked at.
    left: usize,
}

impl Session {
    /// Shows another moment; the clock stays where it is. [`end_peek`](Self::end_peek) goes back.
    pub(crate) fn peek(&mut self, to: Timestamp) {
        let here =
            Peek { home: self.now(), reached: self.reached(), rows: self.known_rows().len() };
        let peek = *self.peek.get_or_insert(here);
        self.seek(to);
        self.reached = peek.reached;
    }

    /// Shows the moment of the clock again; `false` if it does already.
    pub(crate) fn end_peek(&mut self) -> bool {
        let Some(peek) = self.peek.take() else { return false };
        self.seek(peek.home);
        self.reached = peek.reached;
        self.forget_rows_from(peek.rows.max(self.past));
        true
    }

    /// Whether another moment is shown than that of the clock.
    pub(crate) fn is_peeking(&self) -> bool {
        self.peek.is_some()
    }

    /// Where the clock is, also while another moment is shown.
    pub(crate) fn home(&self) -> Timestamp {
        self.peek.map_or_else(|| self.now(), |peek| peek.home)
    }

    /// Begins to look for a moment to come.
    pub(crate) fn begin_run_to(&self) -> RunTo {
        let from = self.now();
        RunTo {
            from,
            reached: self.reached(),
            known: self.known_rows().len(),
            until: from.saturating_add(DAY),
            left: LIMIT,
        }
    }

    /// Goes forth to the first moment at which `found` says so of the rows that are new; stays
    /// where it was if there is none in a day. Nothing is said as long as there is more to look at.
    pub(crate) fn go_on_to(
        &mut self,
        run: &mut RunTo,
        mut found: impl FnMut(&Self, &[std::rc::Rc<Row>]) -> bool,
        mut has_time: impl FnMut() -> bool,
    ) -> Option<bool> {
        while run.left > 0
            && let Some(next) = self.next().filter(|next| next.at <= run.until)
        {
            run.left -= 1;
            let before = self.past;
            self.advance(next.at);
            if found(self, self.rows().get(before..).unwrap_or_default()) {
                return Some(true);
            }
            if !has_time() {
                return None;
            }
        }
        self.give_up(run);
        Some(false)
    }

    /// Goes back to where a search began.
    pub(crate) fn give_up(&mut self, run: &RunTo) {
        self.seek(run.from);
        self.reached = run.reached;
        self.forget_rows_from(run.known.max(self.past));
    }

    /// Goes back to the last moment before now at which something came to be so; stays where it is
    /// if there is none.
    pub(crate) fn back_to(&mut self, condition: &Condition) -> bool {
        let now = self.now();
        self.seek(Timestamp::ZERO);
        let mut holds = condition.holds(self.simulator());
        let mut found = holds.then_some(Timestamp::ZERO);
        while let Some(next) = self.next().filter(|next| next.at < now) {
            self.advance(next.at);
            let so = condition.holds(self.simulator());
            if so && !holds {
                found = Some(self.now());
            }
            holds = so;
        }
        self.seek(found.filter(|at| *at < now).unwrap_or(now));
        found.is_some_and(|at| at < now)
    }

    /// Steps back to what happened before, of the kinds that are not `hidden`.
    pub(crate) fn step_back_to_shown(&mut self, hidden: &[MarkKind]) {
        let now = self.now();
        let mut rows = self.rows().iter().rev();
        let before = rows.find(|row| row.at < now && !hidden.contains(&row.kind.mark()));
        self.seek(before.map(|row| row.at).unwrap_or_default());
    }

    /// Goes back to the last row before now of which `found` says so; `false` if there is none.
    pub(crate) fn back_to_row(&mut self, found: impl Fn(&Row) -> bool) -> bool {
        let now = self.now();
        let mut rows = self.rows().iter().rev();
        let Some(at) = rows.find(|row| row.at < now && found(row)).map(|row| row.at) else {
            return false;
        };
        self.seek(at);
        true
    }
}
