//! The page as a whole.

use taintlab_core::protocol::zone::ZoneKey;
use web_sys::Element;
use yew::prelude::*;

use super::App;
use crate::components::board::Board;
use crate::components::clock_bar::{ClockBar, Rest, clock_bar};
use crate::components::console::Console;
use crate::components::dialogs;
use crate::components::dialogs::Asked;
use crate::components::header::Header;
use crate::components::lanes::{Lanes, word};
use crate::components::log::EventLog;
use crate::components::notices::Notices;
use crate::components::panels::inspector::Inspector;
use crate::components::story::story;
use crate::components::workloads::Workloads;
use crate::messages::{Msg, maybe};
use crate::test_id::TestId;
use crate::text::{at, css_seconds};
use crate::view_models::board::density::Detail;
use crate::view_models::display;
use crate::view_models::selection::{PodGroup, Selection};
use crate::view_models::warning_marks::counts_about;

impl App {
    pub(super) fn page(&self) -> Html {
        let turn = if self.epoch.turn { "run-a" } else { "run-b" };
        let board = self.views.board.board().clone();
        let detail = self.detail();
        // Elsewhere nothing runs, and telling tens of thousands of elements costs time.
        let counts = detail == Detail::Full;
        let dispatch = self.dispatch.clone();
        let onclick = maybe(&dispatch, |event: MouseEvent| {
            let selection = clicked(&event.target_dyn_into()?)?;
            // Not of a pointer: Enter, or what stands for it with assistive technology.
            let by_key = event.detail() == 0;
            Some(if by_key { Msg::Show(selection) } else { Msg::Select(Some(selection)) })
        });
        html! {
            <div class="app" data-testid={TestId::Page} data-lanes={word(self.lanes.room)}
                data-peek={self.session.is_peeking().then_some("true")}>
                { self.header() }
                <main id="board" class={classes!("board", counts.then_some(turn))}
                    data-testid={TestId::Board}
                    data-detail={detail.word()} {onclick} aria-label="Cluster"
                    style={counts.then(|| self.running())}>
                    <Board {board} {detail} selection={self.selection.clone()}
                        at={self.selected_node()} density={self.density} theme={self.theme}
                        marked={self.marked.clone()} dispatch={dispatch.clone()} />
                </main>
                <Notices notices={self.notices.clone()} dispatch={dispatch.clone()} />
                <div class={classes!("running", turn)} style={self.running()}>
                    <Inspector model={self.views.inspector.clone()} about={self.warnings_about()}
                        dispatch={dispatch.clone()} />
                </div>
                if let Some(workloads) = &self.views.workloads {
                    <Workloads workloads={workloads.clone()} selection={self.selection.clone()}
                        dispatch={dispatch.clone()} />
                }
                <Lanes room={self.lanes.room} window={self.lanes.window.clone()}
                    wanted={self.lanes.wanted.clone()} cursor={self.lanes.cursor}
                    chosen={self.lanes.chosen.clone()} area={self.lanes.area.clone()}
                    peek={self.session.is_peeking().then(|| self.session.now())}
                    dispatch={dispatch.clone()} />
                <EventLog rows={self.session.known_rows().clone()} past={self.session.rows().len()}
                    selection={self.selection.clone()}
                    inspector={self.views.inspector.clone()} dispatch={dispatch.clone()} />
                <Console entries={self.console.clone()} open={self.console_open}
                    forgotten={self.entries_forgotten}
                    dispatch={dispatch.clone()} />
                { self.story() }
                { self.clock_bar() }
                { self.dialog() }
                <p class="sr" aria-live="polite" data-testid={TestId::Announcement}>
                    { self.announcement.clone() }
                </p>
                if self.dropping {
                    <div class="dropping">{ "Drop a manifest or a scenario" }</div>
                }
            </div>
        }
    }

    /// What is selected, if there are warnings about it, and how many.
    fn warnings_about(&self) -> Option<(Selection, [usize; 3])> {
        let selection = self.selection.as_ref()?;
        let counts = counts_about(&self.warnings, selection);
        (counts != [0; 3]).then(|| (selection.clone(), counts))
    }

    /// What countdowns need to know: where the clock was, how fast it goes, whether it goes.
    fn running(&self) -> String {
        let epoch = css_seconds(self.epoch.at.since_zero());
        let speed = self.playback.speed.factor();
        let play = if self.playback.is_playing() { "running" } else { "paused" };
        format!("--epoch:{epoch};--speed:{speed};--play:{play}")
    }

    fn header(&self) -> Html {
        let start = &self.session.timeline().start;
        let title = &start.metadata.title;
        html! {
            <Header release={self.session.simulator().config().release}
                title={AttrValue::from(title.clone())}
                can_undo={self.session.can_undo()} can_redo={self.session.can_redo()}
                theme={self.theme} dispatch={self.dispatch.clone()} />
        }
    }

    fn clock_bar(&self) -> Html {
        let now = self.session.now();
        let next = self.session.next();
        let simulator = self.session.simulator();
        clock_bar(&ClockBar {
            now,
            wall_clock: simulator.wall_clock(now).truncated_to_seconds().to_string().into(),
            next_at: next.as_ref().map(|next| next.at),
            next: next.as_ref().map(|next| AttrValue::from(display::next(next))),
            rest: self.rest(),
            reached: self.session.reached(),
            timeline: self.views.timeline.clone(),
            hidden: self.views.hidden.clone(),
            peeks: self.session.is_peeking(),
            branch: self.session.branch_name(),
            about: self.selection.as_ref().map_or_else(String::new, line_about).into(),
            breakpoints: self.breakpoints.len(),
            playing: self.playback.is_playing(),
            speed: self.playback.speed,
            dispatch: self.dispatch.clone(),
        })
    }

    /// The bookmark that is told.
    fn story(&self) -> Html {
        let bookmarks = &self.session.timeline().start.bookmarks;
        let told = self.story.and_then(|number| Some((number, bookmarks.get(number)?)));
        told.map_or_else(Html::default, |(number, bookmark)| {
            story(bookmark, number, bookmarks.len(), &self.dispatch)
        })
    }

    /// What there is to say when nothing is due.
    fn rest(&self) -> Rest {
        match &self.outcome {
            Some(outcome) if self.has_begun() || !outcome.is_uneventful() => {
                let parts = outcome.parts().into_iter().map(|part| {
                    let group = PodGroup::Outcome(part.kind);
                    (AttrValue::from(part.text), (part.pods > 0).then_some(Selection::Pods(group)))
                });
                Rest::Ended(format!("Ended at {}:", at(outcome.ended_at)).into(), parts.collect())
            }
            _ if self.views.board.board().totals.nodes == 0 => {
                Rest::Hint("Nothing is here yet. Import a cluster, or choose a scenario.".into())
            }
            _ => Rest::Hint(
                "Nothing is due. Taint a node, or stop its kubelet, to see what happens.".into(),
            ),
        }
    }

    /// Whether somebody has done something, or the scenario has.
    pub(super) fn has_begun(&self) -> bool {
        let timeline = self.session.timeline();
        !timeline.log.is_empty() || !timeline.start.steps.is_empty()
    }

    fn dialog(&self) -> Html {
        let Some(dialog) = &self.dialog else { return Html::default() };
        dialogs::dialog(&Asked {
            dialog,
            session: &self.session,
            model: &self.views.board,
            catalogue: &self.catalogue,
            selection: self.selection.as_ref(),
            warnings: &self.warnings,
            breakpoints: &self.breakpoints,
            compared: self.compared.as_ref(),
            report: &self.report.shown,
            dispatch: &self.dispatch,
        })
    }
}

/// The beginning of a condition about what is selected.
fn line_about(selection: &Selection) -> String {
    match selection {
        Selection::Node(node) => format!("node/{node} "),
        Selection::Pod(pod) => format!("pod/{pod} "),
        Selection::Zone(zone) => format!("zone/{} ", ZoneKey::from(&**zone).name()),
        Selection::Workload(workload) => format!("{workload} "),
        Selection::Pods(_) => String::new(),
    }
}

/// What was clicked on the board.
fn clicked(target: &Element) -> Option<Selection> {
    let element = target.closest("[data-pod],[data-node],[data-zone]").ok().flatten()?;
    if let Some(pod) = element.get_attribute("data-pod") {
        return Some(Selection::Pod(taintlab_core::api::PodKey::parse(&pod).ok()?));
    }
    if let Some(node) = element.get_attribute("data-node") {
        return Some(Selection::Node(node.as_str().into()));
    }
    // The whole zone is too large a target to be pressed by chance: only its name counts.
    let name = target.closest("[data-zone] > .zonehead button").ok().flatten()?;
    let zone = name.closest("[data-zone]").ok().flatten()?;
    Some(Selection::Zone(zone.get_attribute("data-zone")?.as_str().into()))
}
