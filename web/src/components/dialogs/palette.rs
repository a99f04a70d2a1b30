//! The palette of all commands, which are found by a few letters.

pub(super) mod commands;

use std::rc::Rc;

use taintlab_core::api::PodKey;
use taintlab_core::order::Order;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use self::commands::Command;
use crate::browser;
use crate::components::parts::modal::Modal;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::count;
use crate::view_models::search;
use crate::view_models::selection::Selection;

/// The maximum number of commands drawn.
const MOST: usize = 100;

/// The shortest text to search pods for, in bytes.
const SHORTEST: usize = 2;

/// Properties of [`Palette`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct PaletteProps {
    /// The commands that are possible now.
    pub(crate) commands: Vec<Command>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The list of commands, one of them active.
#[component]
pub(crate) fn Palette(props: &PaletteProps) -> Html {
    let typed = use_state(String::new);
    let active = use_state(|| 0_usize);
    let pods = use_state(Vec::<String>::new);
    let (found, more) = found(&props.commands, &typed, &pods);
    let active_now = (*active).min(found.len().saturating_sub(1));
    use_effect_with(active_now, |active| {
        if let Some(row) = browser::find(&format!("#command-{active}")) {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            row.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });
    let oninput = {
        let (typed, active) = (typed.clone(), active.clone());
        let dispatch = props.dispatch.clone();
        Callback::from(move |event: InputEvent| {
            let text = event.target_unchecked_into::<HtmlInputElement>().value();
            // Pods that are not drawn are not among the commands.
            if text.trim().len() >= SHORTEST {
                let pods = pods.clone();
                let told = Callback::from(move |found| pods.set(found));
                dispatch.emit(Msg::PodsNamed(text.clone(), told));
            }
            typed.set(text);
            active.set(0);
        })
    };
    let does: Vec<_> = found.iter().map(|row| row.does.clone()).collect();
    let onkeydown = {
        let (active, dispatch) = (active.clone(), props.dispatch.clone());
        Callback::from(move |event: KeyboardEvent| {
            let last = does.len().saturating_sub(1);
            let to = match event.key().as_str() {
                "ArrowDown" => {
                    if active_now == last {
                        0
                    } else {
                        active_now + 1
                    }
                }
                "ArrowUp" => active_now.checked_sub(1).unwrap_or(last),
                "Home" => 0,
                "End" => last,
                "Enter" => {
                    event.prevent_default();
                    if let Some(does) = does.get(active_now) {
                        dispatch.emit(Msg::Run(does.clone()));
                    }
                    return;
                }
                _ => return,
            };
            event.prevent_default();
            active.set(to);
        })
    };
    let descendant = (!found.is_empty()).then(|| format!("command-{active_now}"));
    html! {
        <Modal title="Commands" dispatch={props.dispatch.clone()} width={560}>
            <input type="text" role="combobox" aria-label="Search commands" aria-expanded="true"
                aria-controls="commands" aria-autocomplete="list" autocomplete="off"
                aria-activedescendant={descendant} placeholder="What do you want to do?"
                value={(*typed).clone()} {oninput} {onkeydown} autofocus=true
                data-testid={TestId::PaletteSearch} />
            <ul id="commands" class="commands" role="listbox" aria-label="Commands"
                data-testid={TestId::PaletteList}>
                { for found.iter().enumerate().map(|(index, row)| {
                    option(index, row, index == active_now, &props.dispatch)
                }) }
            </ul>
            <p class="hint" role="status">
                if more > 0 {
                    { format!("{} not shown: type more letters.", count(more, "command")) }
                }
            </p>
        </Modal>
    }
}

/// The commands with all words of the search, or else those that fit it best, and the number of
/// commands left out. After them come `pods` with those words, and last a search for a node or a
/// pod of that name.
fn found(commands: &[Command], typed: &str, pods: &[String]) -> (Vec<Command>, usize) {
    let words: Vec<String> = typed.split_whitespace().map(str::to_ascii_lowercase).collect();
    let has_all = |row: &&Command| {
        let text = row.words.to_ascii_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let mut found: Vec<Command> = commands.iter().filter(has_all).cloned().collect();
    // The command that was typed in full comes before those that merely have its words.
    let typed_whole = words.join(" ");
    found.order_by_key(|row| !row.words.to_ascii_lowercase().starts_with(&typed_whole));
    // Until the answer comes, these are the pods of the previous text.
    let pods = pods.iter().filter_map(|pod| select(pod)).filter(|row| {
        !words.is_empty() && has_all(&row) && commands.iter().all(|known| known != row)
    });
    let pods: Vec<Command> = pods.collect();
    if found.is_empty() && pods.is_empty() {
        let entries: Vec<_> = commands.iter().map(|row| vec![(1.0, &*row.words)]).collect();
        let places = search::ranked(typed, &entries).into_iter();
        found = places.filter_map(|place| commands.get(place).cloned()).collect();
    }
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    found.extend(pods);
    if !words.is_empty() {
        let name = typed.trim().to_owned();
        found.push(Command {
            words: format!("Find “{name}”: a node or a pod").into(),
            keys: &["/"],
            does: Rc::new(move || Msg::Find(name.clone())),
        });
    }
    (found, more)
}

/// The command that selects a pod.
fn select(pod: &str) -> Option<Command> {
    let key = PodKey::parse(pod).ok()?;
    let does = move || Msg::Select(Some(Selection::Pod(key.clone())));
    Some(Command { words: format!("Select pod {pod}").into(), keys: &[], does: Rc::new(does) })
}

fn option(index: usize, row: &Command, active: bool, dispatch: &Dispatch) -> Html {
    let does = row.does.clone();
    let onclick = dispatch.reform(move |_: MouseEvent| Msg::Run(Rc::clone(&does)));
    html! {
        <li id={format!("command-{index}")} role="option" aria-selected={active.to_string()}
            {onclick}>
            <span class="grow">{ row.words.clone() }</span>
            { for row.keys.iter().map(|key| html! { <kbd>{ *key }</kbd> }) }
        </li>
    }
}
