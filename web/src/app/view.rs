//! The page as a whole.

use web_sys::Element;
use yew::prelude::*;

use super::{App, Msg, maybe};
use crate::components::board::{Board, Detail};
use crate::components::clock_bar::{ClockBar, clock_bar};
use crate::components::console::Console;
use crate::components::dialogs::{self, Asked};
use crate::components::event_log::EventLog;
use crate::components::fleet::Workloads;
use crate::components::header::Header;
use crate::components::inspector::Inspector;
use crate::components::notices::Notices;
use crate::model::Selection;
use crate::text::css_seconds;
use crate::warned::is_about;
use crate::words;

impl App {
    pub(super) fn page(&self) -> Html {
        let turn = if self.epoch.turn { "run-a" } else { "run-b" };
        let board = self.model.board().clone();
        let detail = Detail::of(&board);
        // Elsewhere nothing runs, and telling tens of thousands of elements costs time.
        let counts = detail == Detail::Full;
        let dispatch = self.dispatch.clone();
        let onclick = maybe(&dispatch, |event: MouseEvent| {
            let selection = clicked(&event.target_dyn_into()?)?;
            Some(Msg::Select(Some(selection)))
        });
        html! {
            <div class="app" data-testid="page">
                { self.header() }
                <main class={classes!("board", counts.then_some(turn))} data-testid="board"
                    data-detail={detail.word()} {onclick} aria-label="Cluster"
                    style={counts.then(|| self.running())}>
                    <Board {board} {detail} selection={self.selection.clone()}
                        marked={self.marked.clone()} dispatch={dispatch.clone()} />
                </main>
                <div class={classes!("running", turn)} style={self.running()}>
                    <Inspector inspected={self.inspected.clone()} about={self.warnings_about()}
                        dispatch={dispatch.clone()} />
                </div>
                if let Some(fleet) = &self.fleet {
                    <Workloads fleet={fleet.clone()} selection={self.selection.clone()}
                        dispatch={dispatch.clone()} />
                }
                <EventLog rows={self.session.rows().clone()} selection={self.selection.clone()}
                    dispatch={dispatch.clone()} />
                <Console entries={self.console.clone()} open={self.console_open}
                    dispatch={dispatch.clone()} />
                { self.clock_bar() }
                { self.dialog() }
                <Notices notices={self.notices.clone()} {dispatch} />
                <p class="sr" aria-live="polite" data-testid="announcement">
                    { self.announcement.clone() }
                </p>
                if self.dropping {
                    <div class="dropping">{ "Drop a manifest or a scenario" }</div>
                }
            </div>
        }
    }

    /// What is selected, if there are warnings about it, and how many.
    fn warnings_about(&self) -> Option<(Selection, usize)> {
        let selection = self.selection.as_ref()?;
        let number = self.warnings.iter().filter(|one| is_about(one, selection)).count();
        (number > 0).then(|| (selection.clone(), number))
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
            next: next.as_ref().map(|next| AttrValue::from(words::next(next))),
            reached: self.session.reached(),
            scrub: self.scrub.clone(),
            playing: self.playback.is_playing(),
            speed: self.playback.speed,
            dispatch: self.dispatch.clone(),
        })
    }

    fn dialog(&self) -> Html {
        let Some(dialog) = &self.dialog else { return Html::default() };
        dialogs::dialog(&Asked {
            dialog,
            session: &self.session,
            model: &self.model,
            catalogue: &self.catalogue,
            warnings: &self.warnings,
            dispatch: &self.dispatch,
        })
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
    let name = target.closest("[data-zone] > header button").ok().flatten()?;
    let zone = name.closest("[data-zone]").ok().flatten()?;
    Some(Selection::Zone(zone.get_attribute("data-zone")?.as_str().into()))
}
