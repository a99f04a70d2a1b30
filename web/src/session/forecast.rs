//! The lanes of the future, if nobody does anything more: the same timeline, run ahead.

use std::rc::Rc;

use taintlab_core::lanes::LaneRecorder;
use taintlab_core::order::OrderedMap;
use taintlab_core::time::Timestamp;

use super::{DAY, Session};

/// Rows of a forecast at most, should a cluster never come to rest.
const MOST_ROWS: usize = 400_000;

impl Session {
    /// The lanes ahead, from a moment on that the record covers; `None` if nobody asked yet.
    pub(crate) fn lanes_ahead(&self) -> Option<&LaneRecorder> {
        self.forecast.as_ref().map(|ahead| &ahead.recorder)
    }

    /// Whether all events until a moment are known.
    pub(crate) fn forecast_covers(&self, to: Timestamp) -> bool {
        let covers = |ahead: &Self| ahead.next().is_none_or(|next| next.at > to);
        to <= self.reached() || self.forecast.as_deref().is_some_and(covers)
    }

    /// The part of a day ahead that the forecast has, from 0 to 1; `None` if it is done.
    pub(crate) fn forecast_part(&self) -> Option<f64> {
        if self.forecast_is_done() {
            return None;
        }
        let from = self.reached().as_nanos();
        let now = self.forecast.as_ref().map_or(from, |ahead| ahead.now().as_nanos());
        #[expect(clippy::cast_precision_loss, reason = "a bar")]
        let part = now.saturating_sub(from) as f64 / DAY.as_nanos() as f64;
        Some(part.min(1.0))
    }

    /// Whether the forecast goes as far as it can.
    pub(crate) fn forecast_is_done(&self) -> bool {
        self.forecast.as_ref().is_some_and(|ahead| {
            let far = self.reached().saturating_add(DAY);
            ahead.rows.len() > MOST_ROWS || ahead.next().is_none_or(|next| next.at > far)
        })
    }

    /// Runs on until nothing more happens by itself, up to `until`, as long as there is time;
    /// `true` when it is done.
    pub(crate) fn run_on(&mut self, until: Timestamp, mut has_time: impl FnMut() -> bool) -> bool {
        while let Some(next) = self.next().filter(|next| next.at <= until) {
            self.advance(next.at);
            if self.rows.len() > MOST_ROWS {
                break;
            }
            if !has_time() {
                return false;
            }
        }
        true
    }

    /// Runs the forecast on, as long as there is time. It holds until the next edit.
    pub(crate) fn run_forecast(&mut self, mut has_time: impl FnMut() -> bool) {
        let mut ahead = self.forecast.take().unwrap_or_else(|| Box::new(self.ahead_of_this()));
        let far = self.reached().saturating_add(DAY);
        while let Some(next) = ahead.next().filter(|next| next.at <= far) {
            ahead.advance(next.at);
            if ahead.rows.len() > MOST_ROWS || !has_time() {
                break;
            }
        }
        self.forecast = Some(ahead);
    }

    /// A session that goes on from here, and never back. It knows the past, so that the causes of
    /// future states lead back to it.
    fn ahead_of_this(&self) -> Self {
        let mut recorder = self.recorder.clone();
        if recorder.events() > self.events {
            recorder.go_back(&self.simulator, self.events);
        }
        Self {
            timeline: self.timeline.clone(),
            simulator: self.simulator.clone(),
            progress: self.progress.clone(),
            homes: OrderedMap::new(),
            rows: Rc::default(),
            only_forth: true,
            recorder,
            events: self.events,
            reached: Timestamp::ZERO,
            ..Self::empty()
        }
    }
}
