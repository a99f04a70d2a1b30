//! A console for kubectl: a prompt, the output of each line, and the lines that are equivalent to
//! actions by mouse.
//!
//! Tab completes. On an empty line Tab moves to the next control as everywhere else; Escape leaves
//! the console.

mod history;

use std::rc::Rc;

use taintlab_core::command::Command;
use taintlab_kubectl::Completion;
use web_sys::{Element, HtmlTextAreaElement, KeyboardEvent};
use yew::prelude::*;

use self::history::{may_be_stored, store, wants_more};
use crate::components::pane::panel;
use crate::components::parts::copy::copy;
use crate::messages::{Dispatch, Msg, refused};
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::console::{Entry, Outcome, Printed};
use crate::view_models::pane::{PaneMsg, PaneTab};

/// The maximum number of lines in the history.
const MOST_LINES: usize = 100;
/// The maximum number of completions listed.
const MOST_CHOICES: usize = 24;

/// Properties of [`Console`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ConsoleProps {
    /// The lines that were run or clicked, with their output.
    pub(crate) entries: Rc<Vec<Rc<Entry>>>,
    /// Whether the console is in sight.
    pub(crate) open: bool,
    /// The number of times that the prompt was requested.
    pub(crate) prompts: u32,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// Messages of the console.
pub(crate) enum ConsoleMsg {
    /// The text changed.
    Typed(String),
    /// The previous line of the history.
    Up,
    /// The next line of the history.
    Down,
    /// Run the line.
    Run,
    /// Complete the word before the cursor.
    Complete,
    /// The possible completions.
    Completed(Vec<Completion>),
    /// A completion was chosen.
    Take(Completion),
    /// Clear the output.
    Clear,
}

/// The console.
pub(crate) struct Console {
    line: String,
    /// Earlier lines, oldest first.
    history: Vec<String>,
    /// The position in the history, from its end; 0 is the line being typed.
    back: usize,
    /// The line that was being typed before the history was opened.
    draft: String,
    choices: Vec<Completion>,
    /// The number of the last entry that was cleared.
    cleared: usize,
    /// Whether the input gets the focus, with the cursor at its end, after the next painting.
    to_end: bool,
    input: NodeRef,
    lines: NodeRef,
}

impl Component for Console {
    type Message = ConsoleMsg;
    type Properties = ConsoleProps;

    fn create(_: &Context<Self>) -> Self {
        let history = history::stored();
        // Earlier versions of the page stored every line.
        store(&history);
        Self {
            line: String::new(),
            history: history.into_iter().filter(|line| may_be_stored(line)).collect(),
            back: 0,
            draft: String::new(),
            choices: Vec::new(),
            cleared: 0,
            to_end: false,
            input: NodeRef::default(),
            lines: NodeRef::default(),
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &ConsoleProps) -> bool {
        self.to_end |= ctx.props().prompts != old.prompts;
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: ConsoleMsg) -> bool {
        match msg {
            ConsoleMsg::Typed(text) => {
                self.line = text;
                self.back = 0;
                self.choices.clear();
            }
            ConsoleMsg::Up => self.show(self.back + 1),
            ConsoleMsg::Down => self.show(self.back.saturating_sub(1)),
            ConsoleMsg::Run => self.run(ctx),
            ConsoleMsg::Complete => {
                let link = ctx.link().clone();
                let found = link.callback(ConsoleMsg::Completed);
                let cursor = self.cursor();
                ctx.props().dispatch.emit(Msg::Complete(self.line.clone(), cursor, found));
                return false;
            }
            ConsoleMsg::Completed(found) => self.completed(found),
            ConsoleMsg::Take(choice) => self.take(&choice),
            ConsoleMsg::Clear => {
                self.cleared = ctx.props().entries.last().map_or(0, |entry| entry.number);
            }
        }
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        let (id, tab) = panel(PaneTab::Kubectl);
        html! {
            <section class="view console" role="tabpanel" {id} aria-labelledby={tab}
                data-testid={TestId::Console} hidden={!props.open}>
                if props.open {
                    { bar(ctx) }
                    <div class="viewbody">{ self.body(ctx) }</div>
                }
            </section>
        }
    }

    fn rendered(&mut self, _: &Context<Self>, _: bool) {
        if let Some(lines) = self.lines.cast::<Element>() {
            lines.set_scroll_top(lines.scroll_height());
        }
        if std::mem::take(&mut self.to_end)
            && let Some(input) = self.input.cast::<HtmlTextAreaElement>()
        {
            // Without the focus the prompt still works with the mouse.
            let _ = input.focus();
            let end = u32::try_from(self.line.encode_utf16().count()).ok();
            let _ = input.set_selection_range(end.unwrap_or(0), end.unwrap_or(0));
        }
    }
}

impl Console {
    /// The cursor's position, as a byte index into the line.
    fn cursor(&self) -> usize {
        let input = self.input.cast::<HtmlTextAreaElement>();
        let units = input.and_then(|input| input.selection_end().ok().flatten());
        let Some(units) = units.and_then(|units| usize::try_from(units).ok()) else {
            return self.line.len();
        };
        let mut left = units;
        for (index, c) in self.line.char_indices() {
            if left == 0 {
                return index;
            }
            left = left.saturating_sub(c.len_utf16());
        }
        self.line.len()
    }

    fn show(&mut self, back: usize) {
        let back = back.min(self.history.len());
        if self.back == 0 {
            self.draft.clone_from(&self.line);
        }
        self.back = back;
        let earlier = self.history.len().checked_sub(back).and_then(|i| self.history.get(i));
        self.line = if back == 0 { None } else { earlier }.unwrap_or(&self.draft).clone();
        self.choices.clear();
        self.to_end = true;
    }

    fn run(&mut self, ctx: &Context<Self>) {
        let line = std::mem::take(&mut self.line).trim_end().to_owned();
        self.back = 0;
        self.choices.clear();
        match line.trim() {
            "" => return,
            "clear" => self.cleared = ctx.props().entries.last().map_or(0, |entry| entry.number),
            _ => ctx.props().dispatch.emit(Msg::Kubectl(line.clone())),
        }
        self.history.retain(|known| *known != line);
        self.history.push(line);
        if self.history.len() > MOST_LINES {
            self.history.remove(0);
        }
        store(&self.history);
    }

    /// Takes the only completion; of several it takes their common prefix, and lists them.
    fn completed(&mut self, found: Vec<Completion>) {
        match found.as_slice() {
            [] => self.choices.clear(),
            [one] => self.take(&one.clone()),
            [first, rest @ ..] => {
                let mut shared = first.text.as_str();
                for other in rest {
                    let same = shared.char_indices().zip(other.text.chars());
                    let end = same.take_while(|((_, a), b)| a == b).last();
                    let end = end.map_or(0, |((index, c), _)| index + c.len_utf8());
                    shared = shared.get(..end).unwrap_or_default();
                }
                let typed = self.line.get(first.start..self.cursor()).unwrap_or_default();
                if shared.len() > typed.len() {
                    let shared = shared.to_owned();
                    self.put(first.start, &shared);
                }
                self.choices = found;
            }
        }
    }

    fn take(&mut self, choice: &Completion) {
        let space = if choice.ends_word { " " } else { "" };
        self.put(choice.start, &format!("{}{space}", choice.text));
        self.choices.clear();
    }

    /// Replaces the text between an index and the cursor.
    fn put(&mut self, start: usize, text: &str) {
        let cursor = self.cursor().max(start);
        let before = self.line.get(..start).unwrap_or_default();
        let after = self.line.get(cursor..).unwrap_or_default();
        self.line = format!("{before}{text}{after}");
        self.to_end = true;
    }

    fn body(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let shown = ctx.props().entries.iter().filter(|entry| entry.number > self.cleared);
        let rows = self.line.lines().count().clamp(1, 10).to_string();
        let oninput = link.callback(|event: InputEvent| {
            let input: HtmlTextAreaElement = event.target_unchecked_into();
            ConsoleMsg::Typed(input.value())
        });
        html! {
            <>
                <div class="entries" ref={self.lines.clone()} tabindex="0" role="log"
                    aria-label="What kubectl printed" data-testid={TestId::ConsoleOutput}>
                    { for shown.map(|entry| entry_of(entry, &ctx.props().dispatch)) }
                </div>
                if !self.choices.is_empty() {
                    <div class="choices" role="group" aria-label="Completions"
                        data-testid={TestId::Completions}>
                        { for self.choices.iter().take(MOST_CHOICES).map(|choice| {
                            let taken = choice.clone();
                            html! {
                                <button class="btn small" title={choice.hint.clone()}
                                    onclick={link.callback(move |_| {
                                        ConsoleMsg::Take(taken.clone())
                                    })}>
                                    { &choice.text }
                                </button>
                            }
                        }) }
                        if self.choices.len() > MOST_CHOICES {
                            <span class="muted">
                                { format!("and {} more", self.choices.len() - MOST_CHOICES) }
                            </span>
                        }
                    </div>
                }
                <div class="prompt">
                    <span aria-hidden="true">{ "$" }</span>
                    <textarea ref={self.input.clone()} {rows} value={self.line.clone()} {oninput}
                        onkeydown={self.keys(ctx)} spellcheck="false" autocomplete="off"
                        autocapitalize="off" aria-label="Line of kubectl" wrap="off"
                        placeholder="kubectl get nodes" data-testid={TestId::ConsoleLine} />
                </div>
            </>
        }
    }

    fn keys(&self, ctx: &Context<Self>) -> Callback<KeyboardEvent> {
        let (link, dispatch) = (ctx.link().clone(), ctx.props().dispatch.clone());
        let one_line = !self.line.contains('\n');
        let empty = self.line.trim().is_empty();
        let unfinished = wants_more(&self.line);
        let looking_back = self.back > 0;
        Callback::from(move |event: KeyboardEvent| {
            let plain = !(event.ctrl_key() || event.alt_key() || event.meta_key());
            let msg = match (event.key().as_str(), event.shift_key()) {
                _ if !plain || event.is_composing() => None,
                ("Enter", false) if !unfinished => Some(ConsoleMsg::Run),
                ("Tab", false) if !empty => Some(ConsoleMsg::Complete),
                ("ArrowUp", false) if one_line || looking_back => Some(ConsoleMsg::Up),
                ("ArrowDown", false) if looking_back => Some(ConsoleMsg::Down),
                ("Escape", _) => {
                    event.prevent_default();
                    dispatch.emit(Msg::Pane(PaneMsg::LeavePrompt));
                    None
                }
                _ => None,
            };
            if let Some(msg) = msg {
                event.prevent_default();
                link.send_message(msg);
            }
        })
    }
}

fn bar(ctx: &Context<Console>) -> Html {
    html! {
        <div class="bar">
            <span class="hint">{ "Tab completes, ↑ ↓ earlier lines, Shift Enter new line, Esc \
                leaves" }</span>
            <span class="grow"></span>
            <button class="btn quiet small"
                onclick={ctx.link().callback(|_| ConsoleMsg::Clear)}>{ "Clear" }</button>
        </div>
    }
}

/// The line of kubectl that is equivalent to the latest action by mouse; entries up to `forgotten`
/// do not count.
pub(crate) fn same_line(entries: &[Rc<Entry>], forgotten: usize, dispatch: &Dispatch) -> Html {
    let mut latest = entries.iter().rev();
    let by_hand =
        latest.find(|entry| entry.outcome == Outcome::Clicked && entry.number > forgotten);
    let Some(entry) = by_hand else { return Html::default() };
    html! {
        <p class="same" title={entry.line.to_string()}>
            <span class="muted">{ "Equivalent command: " }</span>
            <code data-testid={TestId::SameLine}>{ &*entry.line }</code>
            { copy(&entry.line, dispatch) }
        </p>
    }
}

fn entry_of(entry: &Entry, dispatch: &Dispatch) -> Html {
    let clicked = entry.outcome == Outcome::Clicked;
    html! {
        <div key={entry.number} class="entry" data-clicked={clicked.to_string()}>
            <div class="row">
                <time class="muted num">{ at(entry.at) }</time>
                <code class="grow"><span aria-hidden="true">{ "$ " }</span>{ &*entry.line }</code>
                if clicked { <span class="muted">{ "done by hand" }</span> }
                { copy(&entry.line, dispatch) }
            </div>
            if let Outcome::Typed(printed) = &entry.outcome {
                if !printed.text.is_empty() {
                    <pre data-failed={printed.failed.to_string()} data-testid={TestId::Output}
                        data-wraps={printed.drain.is_some().to_string()}>
                        { printed.text.clone() }
                    </pre>
                }
                { running(printed, dispatch) }
            }
        </div>
    }
}

/// A running drain, which prints more as time passes and can be stopped.
fn running(printed: &Printed, dispatch: &Dispatch) -> Html {
    let Some(drain) = printed.drain.as_ref().filter(|drain| drain.runs) else {
        return Html::default();
    };
    let command = Command::CancelDrain { drain: drain.id };
    let refused = refused(dispatch);
    let stop =
        dispatch.reform(move |_: MouseEvent| Msg::Edit(vec![command.clone()], refused.clone()));
    html! {
        <div class="row" data-testid={TestId::DrainRuns}>
            <span class="badge" data-state="counting">{ "running" }</span>
            <button class="btn small" title="As Ctrl+C in a terminal" onclick={stop}>
                { "Stop it" }
            </button>
        </div>
    }
}
