//! The page as a whole.

use taintlab_core::protocol::zone::ZoneKey;
use web_sys::Element;
use yew::prelude::*;

use super::App;
use crate::components::board::Board;
use crate::components::caption;
use crate::components::clock_bar::{ClockBar, clock_bar};
use crate::components::console::{Console, same_line};
use crate::components::dialogs;
use crate::components::dialogs::Asked;
use crate::components::header::Header;
use crate::components::lanes::Lanes;
use crate::components::log::EventLog;
use crate::components::notices::Notices;
use crate::components::pane::{PaneFrame, pane};
use crate::components::panels::inspector::Inspector;
use crate::components::parts::busy::{Busy, busy};
use crate::components::parts::style::style;
use crate::components::story::story;
use crate::components::workloads::Workloads;
use crate::messages::{Msg, maybe};
use crate::protocol::Selected;
use crate::test_id::TestId;
use crate::text::css_seconds;
use crate::view_models::board::density::Detail;
use crate::view_models::pane::{PaneTab, Room};
use crate::view_models::selection::Selection;

impl App {
    pub(super) fn page(&self) -> Html {
        let turn = if self.epoch.turn { "run-a" } else { "run-b" };
        let shown = &self.shown;
        let (board, detail) = (shown.board.clone(), shown.detail);
        // In less detail no countdown runs, and updating tens of thousands of elements takes time.
        let counts = detail == Detail::Full;
        let dispatch = self.dispatch.clone();
        let onclick = maybe(&dispatch, |event: MouseEvent| {
            let selection = clicked(&event.target_dyn_into()?)?;
            // A click without a pointer: Enter, or its equivalent in assistive technology.
            let by_key = event.detail() == 0;
            Some(if by_key { Msg::Show(selection) } else { Msg::Select(Some(selection)) })
        });
        html! {
            <div class="app" data-testid={TestId::Page} data-pane={self.pane.room.as_str()}
                data-peek={shown.clock.peeks.then_some("true")}
                data-busy={self.is_busy().then_some("true")}>
                <ContextProvider<Busy> context={self.busy()}>
                { self.header() }
                if self.dialog.is_none() { { busy(&self.busy()) } }
                { caption::line(shown.clock.caption.as_ref(), shown.work.release, &dispatch) }
                <main id="board" class={classes!("board", counts.then_some(turn))}
                    data-testid={TestId::Board}
                    data-detail={detail.word()} {onclick} aria-label="Cluster"
                    ~style={counts.then(|| style(self.running()))}>
                    <Board {board} {detail} selection={self.selection.clone()}
                        at={self.selected_node()} density={self.density} theme={self.theme}
                        names={self.names} shows_fine={self.shows_fine}
                        marked={shown.marked.clone()} dispatch={dispatch.clone()} />
                </main>
                <Notices notices={self.notices.clone()} dispatch={dispatch.clone()} />
                <div class={classes!("running", turn)} ~style={style(self.running())}>
                    <Inspector model={shown.inspector.clone()} start={shown.work.start.clone()}
                        board={shown.board.clone()} about={self.warnings_about()}
                        dispatch={dispatch.clone()} />
                </div>
                { self.time_pane() }
                { self.story() }
                { self.clock_bar() }
                { self.dialog() }
                <p class="sr" aria-live="polite" data-testid={TestId::Announcement}>
                    { self.announcement.clone() }
                </p>
                if self.dropping {
                    <div class="dropping">{ "Drop a manifest or a scenario" }</div>
                }
                </ContextProvider<Busy>>
            </div>
        }
    }

    /// Lanes, workloads, events and kubectl. A tab that is out of sight has an empty element.
    fn time_pane(&self) -> Html {
        let (shown, dispatch) = (&self.shown, &self.dispatch);
        let pods = shown.board.totals.pods;
        let shows = |tab| self.pane.shows(tab, pods);
        let workloads = shown.workloads.as_ref().map(|it| it.tracks.len() + it.more);
        let frame = PaneFrame {
            pane: &self.pane,
            tab: self.pane.tab(pods),
            counts: (workloads, shown.log.passed),
            dispatch,
        };
        let views = html! {
            <>
                <Lanes open={shows(PaneTab::Lanes)} names={self.names} view={shown.lanes.clone()}
                    peek={shown.clock.peeks.then_some(shown.clock.now)}
                    dispatch={dispatch.clone()} />
                <Workloads open={shows(PaneTab::Workloads)} workloads={shown.workloads.clone()}
                    selection={self.selection.clone()} dispatch={dispatch.clone()} />
                <EventLog open={shows(PaneTab::Events)} view={shown.log.clone()}
                    names={self.names} wanted={self.log.clone()} selection={self.selection.clone()}
                    now={shown.clock.now} dispatch={dispatch.clone()} />
                <Console open={shows(PaneTab::Kubectl)} prompts={self.pane.prompts}
                    entries={shown.console.clone()} dispatch={dispatch.clone()} />
                if !shows(PaneTab::Kubectl) && self.pane.room != Room::Closed {
                    { same_line(&shown.console, shown.forgotten, dispatch) }
                }
            </>
        };
        pane(&frame, views)
    }

    /// The long-running work, to be shown where the page can be used.
    fn busy(&self) -> Busy {
        Busy { activity: self.activity.clone(), dispatch: self.dispatch.clone() }
    }

    /// The selection and its warning counts, if it has warnings.
    fn warnings_about(&self) -> Option<(Selection, [usize; 3])> {
        let Selected { selection, warnings, .. } = &self.shown.selected;
        let selection = selection.as_ref().filter(|_| *selection == self.selection)?;
        (*warnings != [0; 3]).then(|| (selection.clone(), *warnings))
    }

    /// The state that countdowns need: the clock's time, its speed, and whether it runs.
    fn running(&self) -> String {
        let epoch = css_seconds(self.epoch.at.since_zero());
        let speed = self.playback.speed.factor();
        let play = if self.playback.is_playing() { "running" } else { "paused" };
        format!("--epoch:{epoch};--speed:{speed};--play:{play}")
    }

    fn header(&self) -> Html {
        let work = &self.shown.work;
        html! {
            <Header release={work.release} title={AttrValue::from(work.title.clone())}
                can_undo={work.can_undo} can_redo={work.can_redo}
                theme={self.theme} dispatch={self.dispatch.clone()} />
        }
    }

    fn clock_bar(&self) -> Html {
        let (clock, work) = (&self.shown.clock, &self.shown.work);
        clock_bar(&ClockBar {
            clock,
            timeline: &self.shown.timeline,
            hidden: &work.hidden,
            branch: work.branch_name(),
            about: self.selection.as_ref().map_or_else(String::new, line_about).into(),
            breakpoints: work.breakpoints.len(),
            playing: self.playback.is_playing(),
            speed: self.playback.speed,
            dispatch: self.dispatch.clone(),
        })
    }

    /// The bookmark that the story is at.
    fn story(&self) -> Html {
        let start = &self.shown.work.start;
        let bookmarks = &start.bookmarks;
        let told = self.shown.work.story.and_then(|told| Some((told, bookmarks.get(told)?)));
        told.map_or_else(Html::default, |(number, bookmark)| {
            story(bookmark, (number, bookmarks.len()), &start.metadata.answer, &self.dispatch)
        })
    }

    fn dialog(&self) -> Html {
        let Some(dialog) = &self.dialog else { return Html::default() };
        dialogs::dialog(&Asked {
            dialog,
            clock: &self.shown.clock,
            work: &self.shown.work,
            board: &self.shown.board,
            nodes: &self.nodes,
            catalogue: &self.catalogue,
            about_release: self.about_release.as_ref(),
            selection: self.selection.as_ref(),
            inspector: &self.shown.inspector,
            lanes: &self.shown.lanes,
            log: &self.log,
            warnings: &self.shown.warnings,
            all_warnings: self.shown.marked.counts.iter().sum(),
            compared: self.shown.compared.as_ref(),
            report: &self.report.shown,
            dispatch: &self.dispatch,
        })
    }
}

/// The beginning of a condition about the selection.
fn line_about(selection: &Selection) -> String {
    match selection {
        Selection::Node(node) => format!("node/{node} "),
        Selection::Pod(pod) => format!("pod/{pod} "),
        Selection::Zone(zone) => format!("zone/{} ", ZoneKey::from(&**zone).name()),
        Selection::Workload(workload) => format!("{workload} "),
        Selection::Pods(_) => String::new(),
    }
}

/// The object that was clicked on the board.
fn clicked(target: &Element) -> Option<Selection> {
    let element = target.closest("[data-pod],[data-node],[data-zone]").ok().flatten()?;
    if let Some(pod) = element.get_attribute("data-pod") {
        return Some(Selection::Pod(taintlab_core::api::PodKey::parse(&pod).ok()?));
    }
    if let Some(node) = element.get_attribute("data-node") {
        return Some(Selection::Node(node.as_str().into()));
    }
    // The whole zone is too large a target to be pressed by accident: only its name counts.
    let name = target.closest("[data-zone] > .zonehead button").ok().flatten()?;
    let zone = name.closest("[data-zone]").ok().flatten()?;
    Some(Selection::Zone(zone.get_attribute("data-zone")?.as_str().into()))
}
