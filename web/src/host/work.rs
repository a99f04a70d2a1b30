//! The work, replaced with another cluster or exported.

use std::rc::Rc;
use std::time::Duration;

use taintlab_core::report::ReportOptions;
use taintlab_core::scenario::{Scenario, ScenarioError};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Span;
use taintlab_manifest::from_json;

use super::Host;
use super::jobs::Arrived;
use crate::protocol::{EmbedMade, Notice, OpenedRun, Reply};
use crate::session::{Session, Way};
use crate::{embed, files, link};

impl Host {
    pub(super) fn load(&mut self, scenario: Scenario) {
        let placed = scenario.simulator();
        self.put_in_place(scenario, placed);
    }

    /// Puts a scenario in place, with its simulator if that could be made.
    pub(super) fn put_in_place(
        &mut self,
        scenario: Scenario,
        placed: Result<Simulator, ScenarioError>,
    ) {
        match placed {
            Ok(simulator) => {
                self.session.put_in_place(scenario, simulator);
                self.story = None;
                self.selection = None;
                self.close_dialog();
                self.forget_what_was_done();
                self.changed();
            }
            Err(error) => self.notice(Notice::error(error.to_string())),
        }
    }

    /// The session without its names.
    fn hidden(&self) -> Result<Session, String> {
        let start = &self.session.timeline().start;
        let (start, edits) = link::hide_names(start, &link::edits_of(&self.session))?;
        Session::resume(start, edits, self.session.now()).map_err(|error| error.to_string())
    }

    /// A link of what is shown, without names if `hide`.
    pub(super) fn link(&self, hide: bool) -> Result<link::Draft, String> {
        match hide {
            false => link::write(&self.session, self.selection.as_ref()),
            true => self.hidden().and_then(|session| link::write(&session, None)),
        }
    }

    /// A file in place of a link that would be too long. It is for others, so it holds only data
    /// that the engine reads, also of work that was imported with everything.
    pub(super) fn export_shared(&self, hide: bool) -> Reply {
        let text = match hide {
            false => files::shared_text(&self.session),
            true => self.hidden().and_then(|session| files::shared_text(&session)),
        };
        Reply::Text(text.map(|text| ("scenario.yaml".to_owned(), text.into())))
    }

    /// Begins an embed; the reply is the text that the browser packs.
    pub(super) fn make_embed(&mut self, page: &str) -> Reply {
        let draft = embed::draft(&self.session, page);
        let text: Result<Rc<str>, String> =
            draft.as_ref().map(|it| it.text().into()).map_err(Clone::clone);
        self.embed = draft.ok();
        Reply::Text(text.map(|text| (String::new(), text)))
    }

    pub(super) fn embed_forms(&mut self, packed: &str) -> Result<EmbedMade, String> {
        let draft = self.embed.take().ok_or("there is no embed")?;
        Ok(EmbedMade { forms: draft.forms(packed)?, picture: draft.picture() })
    }

    /// The first request to a reporter: a report of the cluster as it is now.
    pub(super) fn open_report(&self, options: ReportOptions) -> Reply {
        let scenario = files::as_scenario(&self.session);
        // In the scenario, each edit of an instant is a nanosecond after the one before.
        let edits = u64::try_from(self.session.timeline().log.len()).unwrap_or(u64::MAX);
        let after = Span::from(self.session.now().saturating_add(Duration::from_nanos(edits)));
        let counts = after > Span::default() || scenario.steps.iter().any(|step| step.at <= after);
        let options = ReportOptions { after: counts.then_some(after), ..options };
        let text = serde_json::to_string(&(scenario, options)).map_err(|error| error.to_string());
        Reply::Text(text.map(|text| (String::new(), text.into())))
    }

    /// Begins to play a run as a branch of its own, on the way to a moment of it.
    pub(super) fn begin_run(&mut self, run: OpenedRun) -> Option<(Way, Arrived)> {
        let OpenedRun { name, scenario, bookmarks, at, select } = run;
        let scenario = from_json(&scenario).map(|it| Scenario { bookmarks, ..it });
        let way = scenario.and_then(|scenario| {
            let way = self.session.begin_branch(&name, scenario, at);
            way.map_err(|error| error.to_string())
        });
        match way {
            Ok(way) => Some((way, Arrived::Run(name, select))),
            Err(error) => {
                self.notice(Notice::error(error));
                None
            }
        }
    }
}
