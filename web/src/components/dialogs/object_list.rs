//! A list of objects with the result for each, by kind.

use std::rc::Rc;

use taintlab_manifest::ObjectReport;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::components::parts::line_button::line_button;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::count;
use crate::view_models::import_report::{
    Listed, Listing, ReadKind, ReadView, Show, State, name, notes,
};

/// The number of objects of a kind shown at first; more are shown on request.
const AT_ONCE: usize = 100;
/// The maximum number of objects in a list that is open from the start.
const FEW: usize = 12;

/// Properties of [`ObjectList`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ObjectListProps {
    /// The objects that were read, or are to be added.
    pub(crate) reading: Rc<ReadView>,
    /// Shows a line of the text.
    pub(crate) online: Callback<u32>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The list, with a filter.
#[component]
pub(crate) fn ObjectList(props: &ObjectListProps) -> Html {
    let show = use_state(|| Show::All);
    let filter = use_state(String::new);
    let most = use_state(|| AT_ONCE);
    let listed = use_state(|| None::<Rc<Listed>>);
    let counts = &props.reading.counts;
    // A new text may have no objects of the chosen kind.
    let shown = if counts.contains_key(&show) { *show } else { Show::All };
    {
        let (listed, dispatch) = (listed.clone(), props.dispatch.clone());
        let listing = Listing {
            planned: props.reading.kind == ReadKind::Planned,
            show: shown,
            filter: (*filter).clone(),
            most: *most,
        };
        use_effect_with((Rc::as_ptr(&props.reading), listing), move |(_, listing)| {
            let told = Callback::from(move |new| listed.set(Some(new)));
            dispatch.emit(Msg::List(listing.clone(), told));
        });
    }
    let few = counts.get(&Show::All).is_none_or(|all| *all <= FEW);
    let filtered = shown != Show::All || !filter.is_empty();
    let oninput = {
        let filter = filter.clone();
        Callback::from(move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            filter.set(input.value().to_ascii_lowercase());
        })
    };
    let onmore = {
        let most = most.clone();
        Callback::from(move |()| most.set(*most * 2))
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
            if let Some(listed) = &*listed {
                if listed.kinds.is_empty() {
                    <p class="muted">{ "No object has this name." }</p>
                }
                { for listed.kinds.iter().enumerate().map(|(place, kind)| html! {
                    <Kind key={kind.kind.clone()} {place} listed={listed.clone()}
                        online={props.online.clone()} onmore={onmore.clone()}
                        open={few || filtered} />
                }) }
            }
        </div>
    }
}

/// Properties of [`Kind`].
#[derive(Clone, PartialEq, Properties)]
struct KindProps {
    listed: Rc<Listed>,
    place: usize,
    online: Callback<u32>,
    onmore: Callback<()>,
    open: bool,
}

/// The objects of a kind, painted only while the list is open.
#[component]
fn Kind(props: &KindProps) -> Html {
    let opened = use_state(|| None::<bool>);
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
    let Some(listed) = props.listed.kinds.get(props.place) else { return Html::default() };
    let more = listed.total.saturating_sub(listed.rows.len());
    let kind = if listed.kind.is_empty() { "without a kind" } else { listed.kind.as_str() };
    html! {
        <details {open} {ontoggle}>
            <summary>
                <b>{ kind }</b>{ format!(" {}", listed.total) }
                if !open && listed.missing > 0 {
                    <span class="error">{ format!(", {} not taken", listed.missing) }</span>
                }
            </summary>
            if open {
                <ul>
                    { for listed.rows.iter().enumerate().map(|(number, row)| {
                        row_of(number, row, &props.online)
                    }) }
                </ul>
                if more > 0 {
                    <button class="btn small" onclick={props.onmore.reform(|_: MouseEvent| ())}>
                        { format!("Show more ({} left)", count(more, "object")) }
                    </button>
                }
            }
        </details>
    }
}

fn row_of(
    number: usize,
    (object, state, why): &(ObjectReport, State, String),
    online: &Callback<u32>,
) -> Html {
    let notes = notes(object).join("; ");
    html! {
        <li key={number} data-state={state.word()}>
            <span class="grow">
                { name(object) }
                if !notes.is_empty() { <span class="hint">{ format!(" {notes}") }</span> }
                if !why.is_empty() {
                    <span class={if *state == State::Refused { "error" } else { "hint" }}>
                        { format!(" {why}") }
                    </span>
                }
            </span>
            if *state != State::Read { <span class="badge">{ state.word() }</span> }
            { line_button(object.line, online) }
        </li>
    }
}
