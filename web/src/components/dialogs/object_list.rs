//! A list of objects and what becomes of each, by kind.

use std::rc::Rc;

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::components::parts::line_button::line_button;
use crate::test_id::TestId;
use crate::text::count;
use crate::view_models::import_report::{Objects, Show, State, name, notes};

/// Of each kind so many are shown, until more are asked for.
const AT_ONCE: usize = 100;
/// A list of so many objects is open from the beginning.
const FEW: usize = 12;

/// Properties of [`ObjectList`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ObjectListProps {
    /// The objects.
    pub(crate) objects: Rc<Objects>,
    /// Shows a line of the text.
    pub(crate) online: Callback<u32>,
}

/// The list, with a filter.
#[component]
pub(crate) fn ObjectList(props: &ObjectListProps) -> Html {
    let show = use_state(|| Show::All);
    let filter = use_state(String::new);
    let counts = use_memo(Rc::as_ptr(&props.objects), |_| props.objects.counts());
    // Of another text, there may be nothing of the kind that was chosen.
    let shown = if counts.contains_key(&show) { *show } else { Show::All };
    let kinds = props.objects.by_kind(shown, &filter);
    let few = props.objects.len() <= FEW;
    let filtered = shown != Show::All || !filter.is_empty();
    let oninput = {
        let filter = filter.clone();
        Callback::from(move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            filter.set(input.value().to_ascii_lowercase());
        })
    };
    html! {
        <div class="objects" data-testid={TestId::Objects}>
            if !few {
                <input type="search" aria-label="Filter objects" placeholder="Filter by name"
                    value={(*filter).clone()} {oninput} />
            }
            if counts.len() > 2 {
                <div class="row" role="group" aria-label="Which objects">
                    { for counts.iter().map(|(choice, number)| {
                        let (choice, show) = (*choice, show.clone());
                        let on = choice == shown;
                        html! {
                            <button class={classes!("btn", "small", on.then_some("on"))}
                                aria-pressed={on.to_string()}
                                onclick={move |_| show.set(choice)}>
                                { format!("{} {number}", choice.words()) }
                            </button>
                        }
                    }) }
                </div>
            }
            if kinds.is_empty() { <p class="muted">{ "No object has this name." }</p> }
            { for kinds.into_iter().map(|(kind, rows)| html! {
                <Kind key={kind.to_owned()} kind={kind.to_owned()} {rows}
                    objects={props.objects.clone()} online={props.online.clone()}
                    open={few || filtered} />
            }) }
        </div>
    }
}

/// Properties of [`Kind`].
#[derive(Clone, PartialEq, Properties)]
struct KindProps {
    kind: String,
    rows: Vec<usize>,
    objects: Rc<Objects>,
    online: Callback<u32>,
    open: bool,
}

/// The objects of a kind, which are painted when they are opened.
#[component]
fn Kind(props: &KindProps) -> Html {
    let opened = use_state(|| None::<bool>);
    let most = use_state(|| AT_ONCE);
    let open = opened.unwrap_or(props.open);
    let ontoggle = {
        let opened = opened.clone();
        Callback::from(move |event: Event| {
            let details: web_sys::Element = event.target_unchecked_into();
            let is_open = details.has_attribute("open");
            if is_open != open {
                opened.set(Some(is_open));
            }
        })
    };
    let more = props.rows.len().saturating_sub(*most);
    let onmore = {
        let most = most.clone();
        Callback::from(move |_: MouseEvent| most.set(*most * 2))
    };
    let missing = || {
        let states = props.rows.iter().filter_map(|row| props.objects.get(*row));
        states.filter(|(_, state, _)| state.is_missing()).count()
    };
    let kind = if props.kind.is_empty() { "without a kind" } else { props.kind.as_str() };
    html! {
        <details {open} {ontoggle}>
            <summary>
                <b>{ kind }</b>{ format!(" {}", props.rows.len()) }
                if !open && missing() > 0 {
                    <span class="error">{ format!(", {} not taken", missing()) }</span>
                }
            </summary>
            if open {
                <ul>
                    { for props.rows.iter().take(*most).map(|row| row_of(*row, props)) }
                </ul>
                if more > 0 {
                    <button class="btn small" onclick={onmore}>
                        { format!("Show more ({} left)", count(more, "object")) }
                    </button>
                }
            }
        </details>
    }
}

fn row_of(row: usize, props: &KindProps) -> Html {
    let Some((object, state, why)) = props.objects.get(row) else { return Html::default() };
    let notes = notes(object).join("; ");
    html! {
        <li key={row} data-state={state.word()}>
            <span class="grow">
                { name(object) }
                if !notes.is_empty() { <span class="hint">{ format!(" {notes}") }</span> }
                if !why.is_empty() {
                    <span class={if state == State::Refused { "error" } else { "hint" }}>
                        { format!(" {why}") }
                    </span>
                }
            </span>
            if state != State::Read { <span class="badge">{ state.word() }</span> }
            { line_button(object.line, &props.online) }
        </li>
    }
}
