//! Branches: timelines that share a beginning.
//!
//! The tree is part of the [`Timeline`], so that undo takes back its changes, too.

use std::rc::Rc;

use taintlab_core::scenario::{Scenario, ScenarioError};
use taintlab_core::time::Timestamp;

use super::{Edit, Session, Timeline, Way};

/// The first branch.
pub(crate) const MAIN: u32 = 0;

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// The number, which never changes.
    pub(crate) id: u32,
    /// The name.
    pub(crate) name: Rc<str>,
    /// The branch from which it was forked; absent for the first.
    pub(crate) parent: Option<u32>,
    /// The time of the fork.
    pub(crate) forked_at: Timestamp,
    /// The initial state.
    pub(crate) start: Rc<Scenario>,
    /// The edits, in the order of time.
    pub(crate) log: Vec<Rc<Edit>>,
    /// The time of the clock when it was left.
    pub(crate) clock: Timestamp,
    /// The latest moment that it has reached.
    pub(crate) reached: Timestamp,
}

impl Branch {
    /// The first branch.
    pub(super) fn main(start: Rc<Scenario>) -> Self {
        let zero = Timestamp::ZERO;
        let (id, name, parent) = (MAIN, "main".into(), None);
        Self { id, name, parent, forked_at: zero, start, log: vec![], clock: zero, reached: zero }
    }
}

impl Session {
    /// All branches as they are now, parents before children.
    pub(crate) fn branches(&self) -> Vec<Branch> {
        let mut branches = (*self.timeline.branches).clone();
        let here = branches.iter_mut().find(|branch| branch.id == self.timeline.branch);
        if let Some(here) = here {
            here.start = self.timeline.start.clone();
            here.log.clone_from(&self.timeline.log);
            here.clock = self.home();
            here.reached = self.reached();
        }
        branches
    }

    /// The name of the present branch.
    pub(crate) fn branch_name(&self) -> Rc<str> {
        let branches = self.timeline.branches.iter();
        let mut here = branches.filter(|branch| branch.id == self.timeline.branch);
        here.next().map_or_else(|| "main".into(), |branch| branch.name.clone())
    }

    /// Begins a branch that goes on from now. Later events stay on the other one.
    pub(crate) fn fork(&mut self) {
        let now = self.now();
        self.history.record(self.timeline.clone(), now);
        self.branch_off();
        self.checkpoints_follow_timeline();
        self.forget_what_follows();
        self.reached = now;
    }

    /// Makes the present timeline until now a branch of its own.
    pub(super) fn branch_off(&mut self) {
        let mut branches = self.branches();
        let id = branches.iter().map(|branch| branch.id).max().map_or(MAIN, |id| id + 1);
        let now = self.now();
        self.timeline.log.truncate(self.progress.edits);
        branches.push(Branch {
            id,
            name: format!("branch {id}").into(),
            parent: Some(self.timeline.branch),
            forked_at: now,
            start: self.timeline.start.clone(),
            log: self.timeline.log.clone(),
            clock: now,
            reached: now,
        });
        self.timeline.branch = id;
        self.timeline.branches = Rc::new(branches);
    }

    /// Begins a branch with another initial state, and goes to a moment of it.
    ///
    /// # Errors
    /// The initial state is invalid; nothing is changed then.
    pub(crate) fn begin_branch(
        &mut self,
        name: &str,
        start: Scenario,
        at: Timestamp,
    ) -> Result<Way, ScenarioError> {
        start.simulator()?;
        self.history.record(self.timeline.clone(), self.now());
        let mut branches = self.branches();
        let id = branches.iter().map(|branch| branch.id).max().map_or(MAIN, |id| id + 1);
        let start = Rc::new(start);
        let (forked_at, log) = (Timestamp::ZERO, Vec::new());
        let parent = Some(self.timeline.branch);
        let name = name.into();
        let (clock, reached) = (at, at);
        let branch =
            Branch { id, name, parent, forked_at, start: start.clone(), log, clock, reached };
        branches.push(branch);
        let timeline = Timeline {
            start,
            generation: self.timeline.generation,
            log: Vec::new(),
            branch: id,
            branches: Rc::new(branches),
        };
        Ok(self.put_at(timeline, at))
    }

    /// Goes on with another branch, at the moment where it was left.
    pub(crate) fn begin_switch(&mut self, id: u32) -> Option<Way> {
        let branches = self.branches();
        let to = branches.iter().find(|branch| branch.id == id).cloned()?;
        if id == self.timeline.branch {
            return None;
        }
        self.history.record(self.timeline.clone(), self.now());
        let timeline = Timeline {
            start: to.start,
            generation: self.timeline.generation,
            log: to.log,
            branch: id,
            branches: Rc::new(branches),
        };
        Some(self.put_at(timeline, to.reached.max(to.clock)).and_to(to.clock))
    }

    /// Renames a branch.
    pub(crate) fn rename_branch(&mut self, id: u32, name: &str) {
        let name = name.trim();
        self.change_branches(|branches| {
            let branch = branches.iter_mut().find(|branch| branch.id == id);
            if let Some(branch) = branch.filter(|_| !name.is_empty()) {
                branch.name = name.into();
            }
        });
    }

    /// Deletes a branch, but not the present one; its children become those of its parent.
    pub(crate) fn delete_branch(&mut self, id: u32) {
        if id == self.timeline.branch {
            return;
        }
        self.change_branches(|branches| {
            let Some(place) = branches.iter().position(|branch| branch.id == id) else { return };
            let deleted = branches.remove(place);
            for branch in branches.iter_mut().filter(|branch| branch.parent == Some(id)) {
                branch.parent = deleted.parent;
            }
        });
    }

    fn change_branches(&mut self, change: impl FnOnce(&mut Vec<Branch>)) {
        let mut branches = self.branches();
        change(&mut branches);
        if branches != self.branches() {
            self.history.record(self.timeline.clone(), self.now());
            self.timeline.branches = Rc::new(branches);
        }
    }

    /// Puts stored branches beside the present one.
    pub(crate) fn restore_branches(&mut self, branches: Vec<Branch>, here: u32) {
        if branches.iter().any(|branch| branch.id == here) {
            self.timeline.branch = here;
            self.timeline.branches = Rc::new(branches);
        }
    }

    /// A session of the same cluster that is to run another branch, or another initial state;
    /// `None` if that is invalid.
    pub(crate) fn run_beside(&self, start: Rc<Scenario>, log: Vec<Rc<Edit>>) -> Option<Self> {
        let mut session = Self::empty();
        session.only_forth = true;
        session.timeline = Timeline { start, log, ..self.timeline.clone() };
        let simulator = session.timeline.start.simulator().ok()?;
        session.begin_replay(simulator);
        Some(session)
    }
}
