//! The event log, row by row. Only the rows in sight are painted.

pub(crate) mod row;
pub(crate) mod sizes;

use std::rc::Rc;

use taintlab_core::time::Timestamp;
use web_sys::{Element, HtmlInputElement};
use yew::prelude::*;

use self::row::{ROW, event_row};
use self::sizes::{Part, SIZES_KEY, Sizes};
use crate::browser;
use crate::components::pane::panel;
use crate::components::parts::icon;
use crate::components::parts::splitter::Splitter;
use crate::components::parts::style::style;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::display::Category;
use crate::view_models::log::{LogRow, LogView, LogWanted, MOST, SPARE};
use crate::view_models::names::Shared;
use crate::view_models::pane::PaneTab;
use crate::view_models::selection::Selection;

/// The height of the column heads in pixels, as in the style sheet.
const HEAD: usize = 20;

/// Properties of [`EventLog`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct EventLogProps {
    /// Whether the log is in sight.
    pub(crate) open: bool,
    /// The visible part of the log.
    pub(crate) view: Rc<LogView>,
    /// The filters of the log.
    pub(crate) wanted: LogWanted,
    /// The selection.
    pub(crate) selection: Option<Selection>,
    /// The prefix and suffix that all node names share.
    pub(crate) names: Shared,
    /// The time of the clock: when the clock is moved, the log scrolls to its row.
    pub(crate) now: Timestamp,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// Messages of the log.
pub(crate) enum LogMsg {
    /// The log was scrolled.
    Scrolled,
    /// The text of the filter changed.
    Filter(String),
    /// A column gets a new width, in pixels.
    Resize(Part, i32),
    /// The row at that place, counted among those shown, is opened in full.
    Read(usize),
    /// The focus goes to the row at that place.
    Focus(usize),
}

/// The log.
pub(crate) struct EventLog {
    /// The filters and the rows in sight, as last requested from the session.
    wanted: LogWanted,
    top: usize,
    height: usize,
    node: NodeRef,
    sizes: Sizes,
    /// The row that is open in full.
    read: Option<Rc<LogRow>>,
    /// The place of the row where the tab key stops; the clock's row until one was chosen.
    stop: Option<usize>,
    /// Whether that row gets the focus once it is painted.
    focuses: bool,
}

impl Component for EventLog {
    type Message = LogMsg;
    type Properties = EventLogProps;

    fn create(_: &Context<Self>) -> Self {
        Self {
            wanted: LogWanted::default(),
            top: 0,
            height: 400,
            node: NodeRef::default(),
            sizes: browser::stored(SIZES_KEY).map(|text| Sizes::parse(&text)).unwrap_or_default(),
            read: None,
            stop: None,
            focuses: false,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &EventLogProps) -> bool {
        let (view, before) = (&ctx.props().view, &old.view);
        // The palette can change the filters too.
        let LogWanted { categories, only_selected, .. } = &ctx.props().wanted;
        if (categories, only_selected) != (&self.wanted.categories, &self.wanted.only_selected) {
            self.wanted.categories.clone_from(categories);
            self.wanted.only_selected = *only_selected;
            self.ask(ctx);
        }
        // A clock that was moved scrolls the log to its row; a running one does so only if that row
        // was in sight.
        let set_back = ctx.props().now < old.now || view.shown > view.passed;
        if set_back && (view.passed, view.shown) != (before.passed, before.shown) {
            self.wanted.follows = true;
            self.ask(ctx);
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: LogMsg) -> bool {
        match msg {
            LogMsg::Scrolled => {
                let moved = self.look(ctx.props());
                self.ask(ctx);
                return moved;
            }
            LogMsg::Resize(part, size) => {
                self.sizes.set(part, size);
                // Storing the widths is only a convenience.
                let _ = browser::store(SIZES_KEY, &self.sizes.style());
                return true;
            }
            LogMsg::Read(place) => {
                let view = &ctx.props().view;
                let row = place.checked_sub(view.first).and_then(|place| view.rows.get(place));
                self.read = row.cloned();
                self.stop = row.map(|_| place).or(self.stop);
                return true;
            }
            LogMsg::Focus(place) => {
                self.stop = Some(place);
                self.focuses = true;
                self.show(place);
                return true;
            }
            LogMsg::Filter(text) => self.wanted.filter = text.to_ascii_lowercase(),
        }
        self.ask(ctx);
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let (id, tab) = panel(PaneTab::Events);
        html! {
            <section class="view log" role="tabpanel" {id} aria-labelledby={tab}
                data-testid={TestId::Log} hidden={!ctx.props().open}
                ~style={style(self.sizes.style())}>
                { self.bar(ctx) }
                if ctx.props().open {
                    <div class="viewbody">{ self.rows(ctx) }{ self.read(ctx) }</div>
                }
            </section>
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, _: bool) {
        if self.focuses
            && let Some(stop) = self.stop
        {
            let row = format!("{} .ev[data-place=\"{stop}\"]", TestId::Log.selector());
            self.focuses = browser::find(&row).is_none();
            browser::focus(&row);
        }
        let node = self.node.cast::<Element>();
        let height = node.and_then(|node| usize::try_from(node.client_height()).ok());
        if height.is_some_and(|height| height.abs_diff(self.height) >= ROW) {
            ctx.link().send_message(LogMsg::Scrolled);
        }
        if self.wanted.follows
            && let Some(node) = self.node.cast::<Element>()
        {
            let top = pixels(node.scroll_top());
            let to = scrolled(ctx.props(), top, pixels(node.client_height()));
            if to != top {
                node.set_scroll_top(i32::try_from(to).unwrap_or(i32::MAX));
            }
        }
    }
}

/// The position to scroll to from `top` so that the clock's row is in sight, with the least
/// movement.
fn scrolled(props: &EventLogProps, top: usize, height: usize) -> usize {
    let LogView { shown, passed, .. } = *props.view;
    let hidden = shown.saturating_sub(MOST);
    let current = ROW * passed.saturating_sub(1).saturating_sub(hidden);
    let least = (current + HEAD + ROW).saturating_sub(height);
    if top > current { current } else { top.max(least) }
}

impl EventLog {
    /// Requests rows, if the filters or the rows in sight have changed.
    fn ask(&mut self, ctx: &Context<Self>) {
        let props = ctx.props();
        let follows = self.wanted.follows;
        let top = if follows { scrolled(props, self.top, self.height) } else { self.top };
        let (first, many) = (top / ROW, self.height / ROW + 2 * SPARE);
        let wanted = LogWanted { first: first.saturating_sub(SPARE), many, ..self.wanted.clone() };
        if wanted != self.wanted || wanted != props.view.wanted {
            self.wanted = wanted.clone();
            props.dispatch.emit(Msg::Log(wanted));
        }
    }

    /// Reads the scroll position; `true` if other rows are in sight.
    fn look(&mut self, props: &EventLogProps) -> bool {
        let Some(node) = self.node.cast::<Element>() else { return false };
        let (top, height) = (pixels(node.scroll_top()), pixels(node.client_height()));
        self.wanted.follows = scrolled(props, top, height).abs_diff(top) < ROW;
        let moved = top.abs_diff(self.top) >= ROW || height.abs_diff(self.height) >= ROW;
        if moved {
            (self.top, self.height) = (top, height);
        }
        moved
    }

    /// Scrolls just far enough to bring the row at that place into sight.
    fn show(&self, place: usize) {
        let Some(node) = self.node.cast::<Element>() else { return };
        let (top, height) = (pixels(node.scroll_top()), pixels(node.client_height()));
        let row = ROW * place;
        let to = top.min(row).max((row + HEAD + ROW).saturating_sub(height));
        if to != top {
            node.set_scroll_top(i32::try_from(to).unwrap_or(i32::MAX));
        }
    }

    /// The place of the row where the tab key stops: the chosen one if it is painted, else the
    /// clock's row, else the first.
    fn stop(&self, view: &LogView) -> usize {
        let painted = view.first..view.first + view.rows.len();
        let current = view.rows.iter().position(|row| row.current).map(|row| view.first + row);
        self.stop.filter(|stop| painted.contains(stop)).or(current).unwrap_or(view.first)
    }

    /// The row to which a key leads.
    fn to(key: &str, from: usize, page: usize, total: usize) -> Option<usize> {
        let last = total.checked_sub(1)?;
        Some(match key {
            "ArrowDown" => (from + 1).min(last),
            "ArrowUp" => from.saturating_sub(1),
            "PageDown" => (from + page).min(last),
            "PageUp" => from.saturating_sub(page),
            "Home" => 0,
            "End" => last,
            _ => return None,
        })
    }

    fn bar(&self, ctx: &Context<Self>) -> Html {
        let (link, dispatch) = (ctx.link(), &ctx.props().dispatch);
        let toggle = |category: Category, words: &'static str, title: &'static str| {
            let on = self.wanted.categories.contains(&category);
            html! {
                <button class={classes!("btn", "small", on.then_some("on"))} {title}
                    aria-pressed={on.to_string()}
                    onclick={dispatch.reform(move |_: MouseEvent| Msg::ToggleLog(category))}>
                    { words }</button>
            }
        };
        let oninput = link.callback(|event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            LogMsg::Filter(input.value())
        });
        let selected = self.wanted.only_selected;
        html! {
            <div class="bar">
                <span class="seg" role="group" aria-label="Kinds of rows">
                    { toggle(Category::Event, "Events", "Kubernetes Events, as kubectl shows them") }
                    { toggle(Category::Change, "Changes", "What you and the scenario did") }
                    { toggle(Category::Fact, "Decisions",
                        "What controllers, kubelets and the scheduler decide; kubectl does not show it") }
                </span>
                <button class={classes!("btn", "small", selected.then_some("on"))}
                    aria-pressed={selected.to_string()}
                    disabled={ctx.props().selection.is_none() && !selected}
                    onclick={dispatch.reform(|_: MouseEvent| Msg::ToggleLogSelected)}>
                    { "Only selected" }</button>
                <span class="grow"></span>
                <input type="search" placeholder="Filter" aria-label="Filter events" {oninput} />
            </div>
        }
    }

    fn splitter(&self, ctx: &Context<Self>, part: Part, label: &'static str) -> Html {
        let onchange = ctx.link().callback(move |size| LogMsg::Resize(part, size));
        html! {
            <Splitter {label} value={self.sizes.get(part)} range={part.size().1} {onchange} />
        }
    }

    /// The column heads, and their edges.
    fn columns(&self, ctx: &Context<Self>) -> Html {
        let edge = |part, label| self.splitter(ctx, part, label);
        html! {
            <div class="columns">
                <span>{ "Time" }</span>
                <span>{ "Type" }</span>
                <span>{ "Reason" }{ edge(Part::Reason, "Width of reasons") }</span>
                <span>{ "Object" }{ edge(Part::Object, "Width of objects") }</span>
                <span>{ "Message" }{ edge(Part::Message, "Width of messages") }</span>
                <span class="c">{ "From" }</span>
            </div>
        }
    }

    /// The row that was pressed last, in full.
    fn read(&self, ctx: &Context<Self>) -> Html {
        let Some(row) = &self.read else { return Html::default() };
        let text = &row.text;
        let close = ctx.link().callback(|_: MouseEvent| LogMsg::Read(usize::MAX));
        html! {
            <p class="reading" data-testid={TestId::LogMessage}>
                <span>
                    <b>{ format!("{} {} ", at(row.at), text.reason) }</b>{ &text.object }{ ": " }
                    { &text.message }
                    if !text.component.is_empty() { { format!(" ({})", text.component) } }
                </span>
                <button class="btn quiet icon small" aria-label="Close the message" onclick={close}>
                    { icon::cross() }
                </button>
            </p>
        }
    }

    fn rows(&self, ctx: &Context<Self>) -> Html {
        let onscroll = ctx.link().callback(|_: Event| LogMsg::Scrolled);
        let link = ctx.link().clone();
        let onclick = Callback::from(move |event: MouseEvent| {
            let row = event.target_dyn_into::<Element>().and_then(|e| e.closest(".ev").ok()?);
            let place = row.and_then(|row| row.get_attribute("data-place")?.parse().ok());
            if let Some(place) = place {
                link.send_message(LogMsg::Read(place));
            }
        });
        let view = &ctx.props().view;
        let total = view.shown.min(MOST);
        let height = ROW * total;
        let stop = self.stop(view);
        let page = (self.height / ROW).saturating_sub(2).max(1);
        let link = ctx.link().clone();
        let onkeydown = Callback::from(move |event: KeyboardEvent| {
            let row = event.target_dyn_into::<Element>().and_then(|e| e.closest(".ev").ok()?);
            let from = row.and_then(|row| row.get_attribute("data-place")?.parse().ok());
            let to = from.and_then(|from| Self::to(&event.key(), from, page, total));
            if let Some(to) = to {
                // The key moves neither the page nor the clock.
                event.prevent_default();
                event.stop_propagation();
                link.send_message(LogMsg::Focus(to));
            }
        });
        // The earlier rows stay until the rows in sight arrive.
        let waits = view.wanted != self.wanted;
        html! {
            <div class="rows" ref={self.node.clone()} {onscroll} {onclick} {onkeydown}
                tabindex={(total == 0).then_some("0")} role="region"
                aria-label="Rows of the event log" data-waits={waits.then_some("true")}>
                { self.columns(ctx) }
                if total == 0 {
                    <p class="nothing">{ self.nothing(ctx.props()) }</p>
                }
                <div class="space" ~style={style(format!("height:{height}px"))}>
                    { for view.rows.iter().enumerate().map(|(place, row)| {
                        let (selection, dispatch) = (&ctx.props().selection, &ctx.props().dispatch);
                        let names = ctx.props().names;
                        let place = view.first + place;
                        let (top, is_stop) = (ROW * place, place == stop);
                        event_row(row, top, selection.as_ref(), names, is_stop, dispatch)
                    }) }
                </div>
            </div>
        }
    }

    fn nothing(&self, props: &EventLogProps) -> &'static str {
        if !props.view.any || self.wanted.filter.is_empty() && !self.wanted.only_selected {
            "Nothing has happened yet. Taint a node, then play."
        } else {
            "No row matches."
        }
    }
}

/// A number of pixels from the browser, never negative here.
fn pixels(number: i32) -> usize {
    usize::try_from(number).unwrap_or_default()
}
