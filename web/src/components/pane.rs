//! The pane below the board: lanes, workloads, events and kubectl, a tab each.

use yew::prelude::*;

use crate::browser;
use crate::components::parts::icon;
use crate::components::parts::splitter::Splitter;
use crate::components::parts::style::style;
use crate::components::parts::tabs::to_other_tab;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::view_models::pane::{HEIGHT, Pane, PaneMsg, PaneTab, Room};

/// The properties of the pane.
pub(crate) struct PaneFrame<'a> {
    /// The chosen tab and the size of the pane.
    pub(crate) pane: &'a Pane,
    /// The tab in sight.
    pub(crate) tab: PaneTab,
    /// The number of workloads, and of rows in the log.
    pub(crate) counts: (Option<usize>, usize),
    /// Sends messages to the application.
    pub(crate) dispatch: &'a Dispatch,
}

/// The ids of a tab's panel and of the tab itself.
pub(crate) fn panel(tab: PaneTab) -> (String, String) {
    (format!("view-{}", tab.as_str()), format!("tab-{}", tab.as_str()))
}

/// The selector of a tab.
pub(crate) fn tab_selector(tab: PaneTab) -> String {
    format!("#{}", panel(tab).1)
}

/// The pane: its tabs around `views`.
pub(crate) fn pane(frame: &PaneFrame<'_>, views: Html) -> Html {
    let PaneFrame { pane, dispatch, .. } = frame;
    let height = pane.height.unwrap_or_else(usual_height);
    let full = pane.room == Room::Full;
    html! {
        // At full height the pane replaces the board as the page's main part.
        <section class="pane" role={full.then_some("main")} aria-label="The run over time"
            data-testid={TestId::Pane} data-room={pane.room.as_str()}
            ~style={style(format!("--pane:{height}px"))}>
            if pane.room == Room::Part {
                <Splitter label="Height of the pane" value={height} range={HEIGHT}
                    upper=true onchange={dispatch.reform(|height| {
                        Msg::Pane(PaneMsg::Height(height))
                    })} />
            }
            <div class="panehead">
                { tabs(frame) }
                { rooms(pane.room, dispatch) }
            </div>
            { views }
        </section>
    }
}

/// The default height: eight rows of the log in a window of 800 pixels.
fn usual_height() -> i32 {
    let window = browser::window().and_then(|window| window.inner_height().ok()?.as_f64());
    #[expect(clippy::cast_possible_truncation, reason = "pixels")]
    let height = window.unwrap_or(800.0) as i32;
    (height * 37 / 100).clamp(250, 420)
}

fn tabs(frame: &PaneFrame<'_>) -> Html {
    let open = frame.pane.room != Room::Closed;
    html! {
        <div class="tabs" role="tablist" aria-label="Views of the run" onkeydown={to_other_tab}>
            { for PaneTab::ALL.into_iter().map(|tab| {
                let (view, id) = panel(tab);
                let (number, testid, keys) = match tab {
                    PaneTab::Lanes => (None, TestId::LanesOpen, "L"),
                    PaneTab::Workloads => (frame.counts.0, TestId::WorkloadsOpen, "2"),
                    PaneTab::Events => (Some(frame.counts.1), TestId::EventsOpen, "3"),
                    PaneTab::Kubectl => (None, TestId::ConsoleOpen, "K"),
                };
                let shown = frame.tab == tab;
                let onclick = frame.dispatch.reform(move |event: MouseEvent| {
                    // By keyboard the focus stays on the tab, so that arrows lead to the next one.
                    let by_key = event.detail() == 0;
                    let prompt = tab == PaneTab::Kubectl && !by_key;
                    Msg::Pane(if prompt { PaneMsg::Prompt } else { PaneMsg::Show(tab) })
                });
                html! {
                    <button role="tab" {id} aria-selected={(shown && open).to_string()}
                        aria-controls={(shown && open).then_some(view)}
                        tabindex={if shown { "0" } else { "-1" }} {onclick}
                        title={format!("{} ({keys})", tab.words())} data-testid={testid}>
                        { tab.words() }
                        if let Some(number) = number { { " " }<span class="n num">{ number }</span> }
                    </button>
                }
            }) }
        </div>
    }
}

/// Buttons for the size of the pane: full height, a part of it, or the tabs alone.
fn rooms(room: Room, dispatch: &Dispatch) -> Html {
    let button = |to: Room, label: &'static str, picture: Html, id: TestId| {
        html! {
            <button class="btn quiet icon small" title={label} aria-label={label}
                data-testid={id} onclick={dispatch.reform(move |_: MouseEvent| {
                    Msg::Pane(PaneMsg::Room(to))
                })}>{ picture }</button>
        }
    };
    let full = if room == Room::Full {
        button(Room::Part, "Show the board", icon::shrink(), TestId::PaneFull)
    } else {
        button(Room::Full, "Fill the window", icon::enlarge(), TestId::PaneFull)
    };
    let fold = if room == Room::Closed {
        button(Room::Part, "Show the pane", icon::unfold(), TestId::PaneFold)
    } else {
        button(Room::Closed, "Hide the pane", icon::fold(), TestId::PaneFold)
    };
    html! { <span class="rooms">{ full }{ fold }</span> }
}
