//! The timelines that undo and redo switch between.

use taintlab_core::time::Timestamp;

use super::Timeline;

/// A timeline other than the present one.
#[derive(Clone, Debug)]
struct Other {
    timeline: Timeline,
    /// The time of the edit between it and its neighbour towards the present.
    edit: Timestamp,
    /// The time of the clock when it was left.
    clock: Timestamp,
}

/// Timelines before and after the present one.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    before: Vec<Other>,
    after: Vec<Other>,
    generations: u32,
}

impl History {
    /// Notes that `timeline` is left for another one, by an edit at time `at`.
    pub(super) fn record(&mut self, timeline: Timeline, at: Timestamp) {
        self.before.push(Other { timeline, edit: at, clock: at });
        self.after.clear();
    }

    /// A number for a timeline that begins with another cluster.
    pub(super) fn next_generation(&mut self) -> u32 {
        self.generations += 1;
        self.generations
    }

    pub(super) fn can_undo(&self) -> bool {
        !self.before.is_empty()
    }

    pub(super) fn can_redo(&self) -> bool {
        !self.after.is_empty()
    }

    /// The timeline before `present`, and the time to show it at.
    pub(super) fn undo(
        &mut self,
        present: &Timeline,
        clock: Timestamp,
    ) -> Option<(Timeline, Timestamp)> {
        let other = self.before.pop()?;
        self.after.push(Other { timeline: present.clone(), edit: other.edit, clock });
        Some(other.shown_after(present))
    }

    /// The timeline after `present`, and the time to show it at.
    pub(super) fn redo(
        &mut self,
        present: &Timeline,
        clock: Timestamp,
    ) -> Option<(Timeline, Timestamp)> {
        let other = self.after.pop()?;
        self.before.push(Other { timeline: present.clone(), edit: other.edit, clock });
        Some(other.shown_after(present))
    }
}

impl Other {
    /// The timeline and its time: another cluster or branch has its own clock; in the same one, the
    /// edit is to be seen.
    fn shown_after(self, present: &Timeline) -> (Timeline, Timestamp) {
        let at = if self.timeline.is_same_line(present) { self.edit } else { self.clock };
        (self.timeline, at)
    }
}
