//! What happened, row by row. Only the rows in sight are painted.

pub(crate) mod row;
pub(crate) mod sizes;

use std::rc::Rc;

use web_sys::{Element, HtmlInputElement};
use yew::prelude::*;

use self::row::{ROW, event_row};
use self::sizes::{Part, SIZES_KEY, Sizes};
use crate::browser;
use crate::components::parts::icon;
use crate::components::parts::splitter::Splitter;
use crate::messages::Dispatch;
use crate::session::Row;
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::display;
use crate::view_models::display::{Category, RowText};
use crate::view_models::inspector_model::InspectorModel;
use crate::view_models::selection::Selection;

/// Rows painted above and below those in sight.
const SPARE: usize = 12;
/// The height of the names of the columns, as in the style sheet.
const HEAD: usize = 20;
/// Browsers cannot scroll further than some tens of millions of pixels.
const MOST: usize = 500_000;

/// Properties of [`EventLog`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct EventLogProps {
    /// The rows.
    pub(crate) rows: Rc<Vec<Rc<Row>>>,
    /// How many of them have happened; the others are known from a clock that was set back.
    pub(crate) past: usize,
    /// What is selected.
    pub(crate) selection: Option<Selection>,
    /// The same in depth: of a group of pods, which they are.
    pub(crate) inspector: Rc<InspectorModel>,
    /// Where messages go.
    pub(crate) dispatch: Dispatch,
}

/// What is wanted of the log.
pub(crate) enum LogMsg {
    /// It was scrolled.
    Scrolled,
    /// The text to look for was changed.
    Filter(String),
    /// A kind of rows is to be shown or not.
    Toggle(Category),
    /// Only rows about the selection are to be shown, or all.
    ToggleSelected,
    /// The log is to be opened or closed.
    ToggleOpen,
    /// A part of it is to be so many pixels wide or high.
    Resize(Part, i32),
    /// The row at that place, counted among those that are shown, is to be read in full.
    Read(usize),
}

/// The log.
pub(crate) struct EventLog {
    filter: String,
    categories: Vec<Category>,
    only_selected: bool,
    open: bool,
    /// The rows that pass the filter, by index.
    shown: Vec<usize>,
    /// How many rows were looked at, and the last of them.
    scanned: usize,
    last: Option<Rc<Row>>,
    /// The last row stays in sight.
    follows: bool,
    top: usize,
    height: usize,
    node: NodeRef,
    sizes: Sizes,
    /// The row that is read in full.
    read: Option<Rc<Row>>,
}

impl Component for EventLog {
    type Message = LogMsg;
    type Properties = EventLogProps;

    fn create(ctx: &Context<Self>) -> Self {
        let mut log = Self {
            filter: String::new(),
            categories: vec![Category::Event, Category::Change],
            only_selected: false,
            open: true,
            shown: Vec::new(),
            scanned: 0,
            last: None,
            follows: true,
            top: 0,
            height: 400,
            node: NodeRef::default(),
            sizes: browser::stored(SIZES_KEY).map(|text| Sizes::parse(&text)).unwrap_or_default(),
            read: None,
        };
        log.scan(ctx.props());
        log
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &EventLogProps) -> bool {
        let props = ctx.props();
        // A clock that was moved leads to its row; one that runs only if that was in sight.
        self.follows |= props.past < old.past || props.rows.len() > props.past;
        let is_other = props.selection != old.selection || props.inspector != old.inspector;
        if self.only_selected && is_other {
            self.scan_again(ctx.props());
        } else {
            self.scan(ctx.props());
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: LogMsg) -> bool {
        match msg {
            LogMsg::Scrolled => return self.look(ctx.props()),
            LogMsg::ToggleOpen => self.open = !self.open,
            LogMsg::Resize(part, size) => {
                self.sizes.set(part, size);
                // It is only a convenience.
                let _ = browser::store(SIZES_KEY, &self.sizes.style());
                return true;
            }
            LogMsg::Read(place) => {
                let hidden = self.shown.len().saturating_sub(MOST);
                let index = self.shown.get(hidden.saturating_add(place));
                self.read = index.and_then(|index| ctx.props().rows.get(*index)).cloned();
                return true;
            }
            LogMsg::Filter(text) => self.filter = text.to_ascii_lowercase(),
            LogMsg::Toggle(category) => {
                if self.categories.contains(&category) {
                    self.categories.retain(|known| *known != category);
                } else {
                    self.categories.push(category);
                }
            }
            LogMsg::ToggleSelected => self.only_selected = !self.only_selected,
        }
        self.scan_again(ctx.props());
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        html! {
            <section class="log" aria-label="Event log" data-testid={TestId::Log}
                data-open={self.open.to_string()} style={self.sizes.style()}>
                if self.open { { self.splitter(ctx, Part::Log, "Height of the event log") } }
                { self.bar(ctx) }
                if self.open { { self.rows(ctx) }{ self.read(ctx) } }
            </section>
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, _: bool) {
        let node = self.node.cast::<Element>();
        let height = node.and_then(|node| usize::try_from(node.client_height()).ok());
        if height.is_some_and(|height| height.abs_diff(self.height) >= ROW) {
            ctx.link().send_message(LogMsg::Scrolled);
        }
        if self.follows
            && let Some(node) = self.node.cast::<Element>()
        {
            let top = pixels(node.scroll_top());
            let to = self.scrolled(ctx.props(), top, pixels(node.client_height()));
            if to != top {
                node.set_scroll_top(i32::try_from(to).unwrap_or(i32::MAX));
            }
        }
    }
}

impl EventLog {
    /// How many of the rows that are shown have happened.
    fn passed(&self, props: &EventLogProps) -> usize {
        self.shown.partition_point(|index| *index < props.past)
    }

    /// Where the log is scrolled to from `top` so that the row of the clock is in sight: as little
    /// as that takes.
    fn scrolled(&self, props: &EventLogProps, top: usize, height: usize) -> usize {
        let hidden = self.shown.len().saturating_sub(MOST);
        let current = ROW * self.passed(props).saturating_sub(1).saturating_sub(hidden);
        let least = (current + HEAD + ROW).saturating_sub(height);
        if top > current { current } else { top.max(least) }
    }

    fn scan_again(&mut self, props: &EventLogProps) {
        self.shown.clear();
        self.scanned = 0;
        self.last = None;
        self.scan(props);
    }

    /// Looks at the rows that are new since the last time.
    fn scan(&mut self, props: &EventLogProps) {
        let before = self.scanned.checked_sub(1).and_then(|last| props.rows.get(last));
        let same = match (before, &self.last) {
            (Some(row), Some(last)) => Rc::ptr_eq(row, last),
            _ => self.scanned == 0,
        };
        if !same {
            self.shown.clear();
            self.scanned = 0;
        }
        let scanned = self.scanned;
        let new = props.rows.iter().enumerate().skip(scanned);
        let shown = new.filter(|(_, row)| self.shows(row, props)).map(|(index, _)| index);
        let shown: Vec<usize> = shown.collect();
        self.shown.extend(shown);
        self.scanned = props.rows.len();
        self.last = props.rows.last().cloned();
    }

    fn shows(&self, row: &Row, props: &EventLogProps) -> bool {
        let text = display::row(row);
        self.categories.contains(&text.category)
            && (!self.only_selected || is_about(text.selects.as_ref(), props))
            && (self.filter.is_empty() || matches(&text, &self.filter))
    }

    /// Where the log is scrolled to; `true` if other rows are in sight.
    fn look(&mut self, props: &EventLogProps) -> bool {
        let Some(node) = self.node.cast::<Element>() else { return false };
        let (top, height) = (pixels(node.scroll_top()), pixels(node.client_height()));
        self.follows = self.scrolled(props, top, height).abs_diff(top) < ROW;
        let moved = top.abs_diff(self.top) >= ROW || height.abs_diff(self.height) >= ROW;
        if moved {
            (self.top, self.height) = (top, height);
        }
        moved
    }

    fn bar(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let toggle = |category: Category, words: &'static str, title: &'static str| {
            let on = self.categories.contains(&category);
            html! {
                <button class={classes!("btn", "small", on.then_some("on"))} {title}
                    aria-pressed={on.to_string()}
                    onclick={link.callback(move |_| LogMsg::Toggle(category))}>{ words }</button>
            }
        };
        let oninput = link.callback(|event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            LogMsg::Filter(input.value())
        });
        let selected = self.only_selected;
        html! {
            <div class="bar">
                <button class="btn quiet small" aria-expanded={self.open.to_string()}
                    onclick={link.callback(|_| LogMsg::ToggleOpen)}>
                    <h2>{ "Events" }</h2>
                    <span class="muted num">{ self.passed(ctx.props()) }</span>
                </button>
                if self.open {
                    <span class="seg" role="group" aria-label="Kinds of rows">
                        { toggle(Category::Event, "Events", "Kubernetes Events, as kubectl shows them") }
                        { toggle(Category::Change, "Changes", "What you and the scenario did") }
                        { toggle(Category::Fact, "Decisions", "What the controllers decided and asked for") }
                    </span>
                    <button class={classes!("btn", "small", selected.then_some("on"))}
                        aria-pressed={selected.to_string()}
                        disabled={ctx.props().selection.is_none() && !selected}
                        onclick={link.callback(|_| LogMsg::ToggleSelected)}>{ "Only selected" }</button>
                    <span class="grow"></span>
                    <input type="search" placeholder="Filter" aria-label="Filter events" {oninput} />
                }
            </div>
        }
    }

    fn splitter(&self, ctx: &Context<Self>, part: Part, label: &'static str) -> Html {
        let onchange = ctx.link().callback(move |size| LogMsg::Resize(part, size));
        html! {
            <Splitter {label} value={self.sizes.get(part)} range={part.size().1}
                upper={part == Part::Log} {onchange} />
        }
    }

    /// The names of the columns, and their edges.
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
        let text = display::row(row);
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
        let total = self.shown.len().min(MOST);
        let hidden = self.shown.len() - total;
        let height = ROW * total;
        let in_sight = self.height / ROW;
        let top = self.top;
        let top = if self.follows { self.scrolled(ctx.props(), top, self.height) } else { top };
        let first = top / ROW;
        let first = first.saturating_sub(SPARE);
        let many = in_sight + 2 * SPARE;
        let visible = self.shown.iter().skip(hidden).enumerate().skip(first).take(many);
        html! {
            <div class="rows" ref={self.node.clone()} {onscroll} {onclick} tabindex="0" role="region"
                aria-label="Rows of the event log">
                { self.columns(ctx) }
                if total == 0 {
                    <p class="nothing">{ self.nothing(ctx.props()) }</p>
                }
                <div class="space" style={format!("height:{height}px")}>
                    { for visible.filter_map(|(place, index)| {
                        let row = ctx.props().rows.get(*index)?;
                        let (selection, dispatch) = (&ctx.props().selection, &ctx.props().dispatch);
                        let later = *index >= ctx.props().past;
                        Some(event_row(row, ROW * place, later, selection.as_ref(), dispatch))
                    }) }
                </div>
            </div>
        }
    }

    fn nothing(&self, props: &EventLogProps) -> &'static str {
        if props.rows.is_empty() || self.filter.is_empty() && !self.only_selected {
            "Nothing has happened yet. Taint a node, then play."
        } else {
            "No row matches."
        }
    }
}

/// Pixels of the browser, which are never negative here.
fn pixels(number: i32) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// Whether what a row selects is selected, by itself or among others.
fn is_about(row: Option<&Selection>, props: &EventLogProps) -> bool {
    match (row, &*props.inspector) {
        (Some(Selection::Pod(key)), InspectorModel::Pods(pods)) => pods.holds(key),
        _ => row == props.selection.as_ref(),
    }
}

fn matches(text: &RowText, filter: &str) -> bool {
    let has = |field: &str| field.to_ascii_lowercase().contains(filter);
    has(&text.object) || has(&text.message) || has(&text.reason) || has(text.component)
}
