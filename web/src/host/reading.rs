//! Texts that come in: their contents, and their effect on the cluster.

use std::cell::Cell;
use std::rc::Rc;

use taintlab_core::scenario::{Scenario, ScenarioError};
use taintlab_core::simulator::Simulator;
use taintlab_core::slices::Sliced;
use taintlab_manifest::{Diagnostic, Dropped, Import};

use super::Host;
use crate::files::{self, Addition, Content};
use crate::protocol::{Notice, Reply};
use crate::text::count;
use crate::view_models::import_report::{
    Listing, Objects, ReadKind, ReadView, Show, State, lines_around,
};

/// Diagnostics shown at most.
const MOST_DIAGNOSTICS: usize = 200;

/// A text that was read, and the effect of adding its objects, once that was asked for.
pub(super) struct Reading {
    text: String,
    name: String,
    content: Content,
    diagnostics: Vec<Diagnostic>,
    dropped: Dropped,
    objects: Objects,
    planned: Option<Objects>,
}

/// A scenario, and its cluster at the beginning.
pub(super) type Placed = (Scenario, Result<Simulator, ScenarioError>);

impl Host {
    /// Begins to read a text, or the last text once more; `so_far` counts its objects.
    pub(super) fn begin_reading(
        &mut self,
        text: Option<(String, String)>,
        keep_all: bool,
        so_far: Rc<Cell<usize>>,
    ) -> Option<Sliced<Reading>> {
        // The last reading need not be in memory at the same time.
        let before = self.reading.take();
        let (text, name) = text.or_else(|| before.map(|it| (it.text, it.name)))?;
        Some(Sliced::new(async move {
            let watch = |objects| so_far.set(objects);
            let read = files::read_in_slices(&text, &name, keep_all, &watch).await;
            let files::Reading { content, diagnostics, objects, dropped } = read;
            Reading { text, name, content, diagnostics, dropped, objects, planned: None }
        }))
    }

    /// Keeps a reading for the requests that follow.
    pub(super) fn keep_reading(&mut self, reading: Reading) -> Reply {
        let view = reading.view();
        self.reading = Some(reading);
        Reply::Read(Box::new(view))
    }

    /// Begins to put the reading in place of everything, or of the cluster; `so_far` counts its
    /// pods.
    pub(super) fn begin_placing(
        &mut self,
        own_release: bool,
        so_far: Rc<Cell<usize>>,
    ) -> Option<(Sliced<Placed>, usize)> {
        let present = self.session.simulator().config().release;
        let like = self.session.timeline().start.clone();
        let scenario: Option<Scenario> = match self.reading.take() {
            Some(Reading { content: Content::Scenario(scenario), .. }) => Some(*scenario),
            Some(Reading { content: Content::Objects(read), .. }) => {
                Some(files::start_with(*read, &like, present, own_release))
            }
            _ => None,
        };
        let scenario = scenario?;
        let pods = scenario.objects.pods.len();
        let placing = async move {
            let placed = scenario.simulator_in_slices(&|pods| so_far.set(pods)).await;
            (scenario, placed)
        };
        Some((Sliced::new(placing), pods))
    }

    /// The effect of adding the reading, object by object.
    pub(super) fn plan_import(&mut self) -> Reply {
        let Some(mut reading) = self.reading.take() else { return Reply::Done };
        let additions = self.additions(&reading).into_iter();
        reading.planned = Some(Objects::Planned(additions.map(|one| one.planned).collect()));
        let view = reading.plan_view();
        self.reading = Some(reading);
        Reply::Read(Box::new(view))
    }

    fn additions(&mut self, reading: &Reading) -> Vec<Addition> {
        let empty = Import::default();
        let read = match &reading.content {
            Content::Objects(read) => read,
            Content::Scenario(_) | Content::Nothing => &empty,
        };
        let mut additions = files::additions(read, &reading.objects, &self.session);
        let groups = additions.iter().map(|addition| addition.commands.as_slice());
        let errors = self.session.try_out(groups);
        for (addition, error) in additions.iter_mut().zip(errors) {
            if let Some(error) = error {
                addition.planned.state = State::Refused;
                addition.planned.why = error.to_string();
                addition.commands.clear();
            }
        }
        additions
    }

    pub(super) fn add(&mut self) {
        let Some(reading) = self.reading.take() else { return };
        let additions = self.additions(&reading);
        let missing = additions.iter().filter(|one| one.planned.state.is_missing()).count();
        let commands: Vec<_> = additions.into_iter().flat_map(|one| one.commands).collect();
        let changes = commands.len();
        self.close_dialog();
        let branch = self.session.branch_name();
        if changes > 0
            && let Err(error) = self.session.apply(commands)
        {
            return self.notice(Notice::error(format!("Nothing was added: {error}")));
        }
        let missing = match missing {
            0 => String::new(),
            missing => format!("; {} left out", count(missing, "object")),
        };
        self.say_of_branch(&branch);
        self.notice(Notice::info(format!("{} made{missing}", count(changes, "change"))));
        self.changed();
    }

    pub(super) fn list(&self, listing: &Listing) -> Reply {
        let reading = self.reading.as_ref();
        let objects = reading.and_then(|reading| match listing.planned {
            true => reading.planned.as_ref(),
            false => Some(&reading.objects),
        });
        Reply::Listed(Box::new(objects.map(|it| it.listed(listing)).unwrap_or_default()))
    }

    pub(super) fn excerpt(&self, line: u32) -> Reply {
        let lines = self.reading.as_ref().map(|reading| lines_around(&reading.text, line));
        Reply::Lines(lines.unwrap_or_default())
    }
}

impl Reading {
    fn view(&self) -> ReadView {
        let kind = match &self.content {
            Content::Nothing => ReadKind::Nothing,
            Content::Scenario(_) => ReadKind::Scenario,
            Content::Objects(read) => {
                let any = !read.nodes.is_empty();
                ReadKind::Objects(read.detected_release(), any, read.newest_time)
            }
        };
        self.view_of(&self.objects, found(&self.content, &self.objects), kind)
    }

    fn plan_view(&self) -> ReadView {
        let none = Objects::Planned(Vec::new());
        let plan = self.planned.as_ref().unwrap_or(&none);
        let counts = plan.counts();
        // Objects that do not come in are counted last.
        let states = counts.iter().rev().filter_map(|(show, number)| match show {
            Show::Only(state) => Some(format!("{number} {}", state.word())),
            _ => None,
        });
        let found = format!("If you add them: {}", states.collect::<Vec<_>>().join(", "));
        self.view_of(plan, found, ReadKind::Planned)
    }

    fn view_of(&self, objects: &Objects, found: String, kind: ReadKind) -> ReadView {
        ReadView {
            found,
            kind,
            diagnostics: self.diagnostics.iter().take(MOST_DIAGNOSTICS).cloned().collect(),
            dropped: self.dropped,
            counts: objects.counts(),
            missing: objects.missing(),
            size: self.text.len(),
        }
    }
}

fn found(content: &Content, objects: &Objects) -> String {
    let words = match content {
        Content::Nothing => return "Nothing here can be imported".to_owned(),
        Content::Scenario(scenario) => format!("Scenario: {}", scenario.metadata.title),
        Content::Objects(read) => {
            let (nodes, pods) = (count(read.nodes.len(), "node"), count(read.pods.len(), "pod"));
            let mut words = format!("{nodes}, {pods}");
            let kinds = [(read.workloads.len(), "workload"), (read.budgets.len(), "budget")];
            for (number, what) in kinds.into_iter().filter(|(number, _)| *number > 0) {
                words = format!("{words}, {}", count(number, what));
            }
            words
        }
    };
    let counts = objects.counts();
    let more = [(State::Kept, "kept for export"), (State::LeftOut, "left out")];
    more.into_iter().fold(words, |words, (state, what)| match counts.get(&Show::Only(state)) {
        Some(number) => format!("{words}; {number} {what}"),
        None => words,
    })
}
