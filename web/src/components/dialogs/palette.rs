//! Everything that can be done, to be found by a few letters.

pub(super) mod commands;

use std::rc::Rc;

use web_sys::HtmlInputElement;
use yew::prelude::*;

use self::commands::Command;
use crate::browser;
use crate::components::parts::modal::Modal;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;

/// Properties of [`Palette`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct PaletteProps {
    /// What can be done.
    pub(crate) commands: Vec<Command>,
    /// Where messages go.
    pub(crate) dispatch: Dispatch,
}

/// The commands, of which one is active.
#[component]
pub(crate) fn Palette(props: &PaletteProps) -> Html {
    let search = use_state(String::new);
    let active = use_state(|| 0_usize);
    let found: Vec<_> = props.commands.iter().filter(|row| fits(row, &search)).collect();
    let active_now = (*active).min(found.len().saturating_sub(1));
    use_effect_with(active_now, |active| {
        if let Some(row) = browser::find(&format!("#command-{active}")) {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            row.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });
    let oninput = {
        let (search, active) = (search.clone(), active.clone());
        Callback::from(move |event: InputEvent| {
            search.set(event.target_unchecked_into::<HtmlInputElement>().value());
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
                value={(*search).clone()} {oninput} {onkeydown} autofocus=true
                data-testid={TestId::PaletteSearch} />
            <ul id="commands" class="commands" role="listbox" aria-label="Commands"
                data-testid={TestId::PaletteList}>
                { for found.iter().enumerate().map(|(index, row)| {
                    option(index, row, index == active_now, &props.dispatch)
                }) }
            </ul>
            <p class="hint" role="status">
                if found.is_empty() { { "No command has all of these words." } }
            </p>
        </Modal>
    }
}

fn fits(row: &Command, search: &str) -> bool {
    let text = row.words.to_lowercase();
    search.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
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
