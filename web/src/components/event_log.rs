//! What happened, row by row. Only the rows in sight are painted.

use std::rc::Rc;

use web_sys::{Element, HtmlInputElement};
use yew::prelude::*;

use crate::app::{Dispatch, Msg, maybe};
use crate::model::Selection;
use crate::session::Row;
use crate::text::at;
use crate::words::{self, Category, RowText};

/// The height of a row in pixels, as in the style sheet.
const ROW: usize = 26;
/// Rows painted above and below those in sight.
const SPARE: usize = 12;
/// Browsers cannot scroll further than some tens of millions of pixels.
const MOST: usize = 500_000;

/// Properties of [`EventLog`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct EventLogProps {
    /// The rows.
    pub(crate) rows: Rc<Vec<Rc<Row>>>,
    /// What is selected.
    pub(crate) selection: Option<Selection>,
    /// Where wishes go.
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
        };
        log.scan(ctx.props());
        log
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &EventLogProps) -> bool {
        if self.only_selected && ctx.props().selection != old.selection {
            self.scan_again(ctx.props());
        } else {
            self.scan(ctx.props());
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: LogMsg) -> bool {
        match msg {
            LogMsg::Scrolled => return self.look(),
            LogMsg::ToggleOpen => self.open = !self.open,
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
            <section class="log" aria-label="Event log" data-testid="log"
                data-open={self.open.to_string()}>
                { self.bar(ctx) }
                if self.open { { self.rows(ctx) } }
            </section>
        }
    }

    fn rendered(&mut self, _: &Context<Self>, _: bool) {
        if self.follows
            && let Some(node) = self.node.cast::<Element>()
        {
            node.set_scroll_top(node.scroll_height());
        }
    }
}

impl EventLog {
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
        let text = words::row(row);
        self.categories.contains(&text.category)
            && (!self.only_selected || text.selects == props.selection)
            && (self.filter.is_empty() || matches(&text, &self.filter))
    }

    /// Where the log is scrolled to; `true` if other rows are in sight.
    fn look(&mut self) -> bool {
        let Some(node) = self.node.cast::<Element>() else { return false };
        // Never negative.
        let pixels = |number: i32| usize::try_from(number).unwrap_or_default();
        let (top, height) = (pixels(node.scroll_top()), pixels(node.client_height()));
        self.follows = top + height + ROW > pixels(node.scroll_height());
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
                    <span class="muted num">{ self.shown.len() }</span>
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

    fn rows(&self, ctx: &Context<Self>) -> Html {
        let onscroll = ctx.link().callback(|_: Event| LogMsg::Scrolled);
        let total = self.shown.len().min(MOST);
        let hidden = self.shown.len() - total;
        let height = ROW * total;
        let in_sight = self.height / ROW;
        let first = if self.follows { total.saturating_sub(in_sight) } else { self.top / ROW };
        let first = first.saturating_sub(SPARE);
        let many = in_sight + 2 * SPARE;
        let visible = self.shown.iter().skip(hidden).enumerate().skip(first).take(many);
        html! {
            <div class="rows" ref={self.node.clone()} {onscroll} tabindex="0" role="region"
                aria-label="Rows of the event log">
                if total == 0 {
                    <p class="nothing">{ self.nothing(ctx.props()) }</p>
                }
                <div class="space" style={format!("height:{height}px")}>
                    { for visible.filter_map(|(place, index)| {
                        let row = ctx.props().rows.get(*index)?;
                        let (selection, dispatch) = (&ctx.props().selection, &ctx.props().dispatch);
                        Some(event_row(row, ROW * place, selection.as_ref(), dispatch))
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

fn matches(text: &RowText, filter: &str) -> bool {
    let has = |field: &str| field.to_ascii_lowercase().contains(filter);
    has(&text.object) || has(&text.message) || has(&text.reason) || has(text.component)
}

/// A row of the log, so many pixels down.
pub(crate) fn event_row(
    row: &Row,
    top: usize,
    selection: Option<&Selection>,
    dispatch: &Dispatch,
) -> Html {
    let text = words::row(row);
    let selected = text.selects.is_some() && text.selects.as_ref() == selection;
    let category = match text.category {
        Category::Event => "event",
        Category::Change => "change",
        Category::Fact => "fact",
    };
    let selects = text.selects;
    let onclick = maybe(dispatch, move |_: MouseEvent| {
        selects.clone().map(|selection| Msg::Select(Some(selection)))
    });
    html! {
        <button key={top} class="ev" style={format!("top:{top}px")} data-category={category}
            data-type={text.type_} data-selected={selected.to_string()} {onclick}>
            <span class="t">{ at(row.at) }</span>
            <span class="ty">{ text.type_ }</span>
            <span class="r">{ text.reason }</span>
            <span class="o" title={text.object.clone()}>{ text.object }</span>
            <span class="m" title={text.message.clone()}>{ text.message }</span>
            <span class="c">{ text.component }</span>
        </button>
    }
}
