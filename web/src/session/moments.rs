//! Moves of the clock to moments: to peek, until a condition holds, or to the next event of an
//! object.

use taintlab_core::condition::Condition;
use taintlab_core::time::Timestamp;

use super::{DAY, MarkKind, Row, Session, stops};

/// Moments that a search visits at most.
const LIMIT: usize = 200_000;

/// The state of the clock while it only shows another moment.
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
    /// The number of moments that may still be visited.
    left: usize,
}

/// The way of the clock to a moment, perhaps over one that lies beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    over: Timestamp,
    to: Timestamp,
}

impl Way {
    /// The way straight to that moment.
    pub(crate) fn to(to: Timestamp) -> Self {
        Self { over: to, to }
    }

    /// The way that goes on from there to this moment.
    pub(super) fn and_to(self, to: Timestamp) -> Self {
        Self { to, ..self }
    }

    /// The moment to which it leads next.
    pub(crate) fn goal(self) -> Timestamp {
        self.over
    }
}

/// A search for the last moment before now at which a condition became true.
#[derive(Clone, Debug)]
pub(crate) struct Back {
    /// The condition.
    pub(crate) condition: Condition,
    from: Timestamp,
    holds: bool,
    found: Option<Timestamp>,
}

impl Back {
    /// The moment where it began, which is as far as it looks.
    pub(crate) fn goal(&self) -> Timestamp {
        self.from
    }
}

impl Session {
    /// Goes on a way as long as there is time; `true` when the clock is there.
    pub(crate) fn go_on(&mut self, way: &mut Way, mut has_time: impl FnMut() -> bool) -> bool {
        self.play_to(way.over, |_| has_time());
        if self.next().is_some_and(|next| next.at <= way.over) {
            return false;
        }
        // Time may have run out with the last event.
        if self.now() < way.over && way.over < Timestamp::MAX {
            self.advance(way.over);
        }
        if way.to != way.over {
            *way = Way::to(way.to);
            self.begin_seek(way.to);
            return self.go_on(way, has_time);
        }
        true
    }

    /// Goes all of a way.
    pub(crate) fn arrive(&mut self, mut way: Way) {
        self.go_on(&mut way, || true);
    }

    /// Shows another moment; the clock stays where it is. [`end_peek`](Self::end_peek) goes back.
    pub(crate) fn peek(&mut self, to: Timestamp) {
        let way = self.begin_peek(to);
        self.arrive(way);
        self.keep_peek();
    }

    /// Begins to show another moment. On the way and at its end, [`keep_peek`](Self::keep_peek).
    pub(crate) fn begin_peek(&mut self, to: Timestamp) -> Way {
        let here =
            Peek { home: self.now(), reached: self.reached(), rows: self.known_rows().len() };
        self.peek.get_or_insert(here);
        self.begin_way(to)
    }

    /// Keeps the moment that is shown for a while from counting as played.
    pub(crate) fn keep_peek(&mut self) {
        if let Some(peek) = self.peek {
            self.reached = peek.reached;
        }
    }

    /// Begins to go back to the moment of the clock, for [`end_peek`](Self::end_peek); `None` if it
    /// is shown already.
    pub(crate) fn begin_end_peek(&mut self) -> Option<Way> {
        let home = self.peek?.home;
        Some(self.begin_way(home))
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

    /// The moment of the clock, also while another one is shown.
    pub(crate) fn home(&self) -> Timestamp {
        self.peek.map_or_else(|| self.now(), |peek| peek.home)
    }

    /// Begins to look for a moment ahead.
    pub(crate) fn begin_run_to(&self) -> RunTo {
        let from = self.now();
        RunTo {
            from,
            reached: self.reached(),
            known: self.known_rows().len(),
            until: self.next().map_or(from, |next| next.at).saturating_add(DAY),
            left: LIMIT,
        }
    }

    /// Goes forward to the first moment whose new rows satisfy `found`; stays where it was if there
    /// is none in a day from the next moment on. `None` as long as there is more to look at.
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

    /// Goes back to the moment where a search began.
    pub(crate) fn give_up(&mut self, run: &RunTo) {
        self.seek(run.from);
        self.reached = run.reached;
        self.forget_rows_from(run.known.max(self.past));
    }

    /// Begins to look for the last moment before now at which a condition became true.
    pub(crate) fn begin_back_to(&mut self, condition: Condition) -> Back {
        let from = self.now();
        self.seek(Timestamp::ZERO);
        let holds = condition.holds(self.simulator());
        Back { condition, from, holds, found: holds.then_some(Timestamp::ZERO) }
    }

    /// Continues that search as long as there is time, and goes to the moment found; stays where it
    /// was if there is none. `None` as long as there is more to look at.
    pub(crate) fn go_on_back(
        &mut self,
        back: &mut Back,
        mut has_time: impl FnMut() -> bool,
    ) -> Option<bool> {
        while let Some(next) = self.next().filter(|next| next.at < back.from) {
            self.advance(next.at);
            let so = back.condition.holds(self.simulator());
            if so && !std::mem::replace(&mut back.holds, so) {
                back.found = Some(next.at);
            }
            back.holds = so;
            if !has_time() {
                return None;
            }
        }
        let found = back.found.filter(|at| *at < back.from);
        self.seek(found.unwrap_or(back.from));
        Some(found.is_some())
    }

    /// Goes back to the moment where that search began.
    pub(crate) fn give_up_back(&mut self, back: &Back) {
        self.seek(back.from);
    }

    /// The way back to the previous event, of the kinds that are not `hidden`.
    pub(crate) fn begin_step_back(&mut self, hidden: &[MarkKind]) -> Way {
        let now = self.now();
        let at = stops(self.rows(), hidden).rev().map(|row| row.at).find(|at| *at < now);
        self.begin_way(at.unwrap_or(Timestamp::ZERO))
    }

    /// The way back to the last row before now that satisfies `found`, if there is one.
    pub(crate) fn begin_back_to_row(&mut self, found: impl Fn(&Row) -> bool) -> Option<Way> {
        let now = self.now();
        let at = self.rows().iter().rev().find(|row| row.at < now && found(row))?.at;
        Some(self.begin_way(at))
    }

    /// The way to a moment, from a checkpoint before it if it lies back.
    pub(crate) fn begin_way(&mut self, to: Timestamp) -> Way {
        self.begin_seek(to);
        Way::to(to)
    }
}
