//! The scenarios that come with the page.

use std::collections::BTreeMap;
use std::rc::Rc;

use taintlab_core::order::{Order, OrderedSet};
use taintlab_core::scenario::ScenarioMetadata;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::components::parts;
use crate::components::parts::modal::Modal;
use crate::components::parts::prose::in_words;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::view_models::search;
use crate::{browser, files};

/// Properties of [`Scenarios`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ScenariosProps {
    /// The scenarios by subject.
    pub(crate) catalogue: Rc<files::Catalogue>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The list of scenarios, searched by words and by tag.
#[component]
pub(crate) fn Scenarios(props: &ScenariosProps) -> Html {
    let typed = use_state(String::new);
    let tag = use_state(|| None::<String>);
    let like = use_state(|| None::<String>);
    let (catalogue, dispatch) = (&props.catalogue, &props.dispatch);
    let oninput = {
        let typed = typed.clone();
        Callback::from(move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            typed.set(input.value());
        })
    };
    let shown =
        |metadata: &ScenarioMetadata| tag.as_ref().is_none_or(|tag| metadata.tags.contains(tag));
    let onlike = {
        let (like, tag, typed) = (like.clone(), tag.clone(), typed.clone());
        Callback::from(move |name: String| {
            like.set(Some(name));
            tag.set(None);
            typed.set(String::new());
        })
    };
    let all = || catalogue.iter().flat_map(|(_, scenarios)| scenarios);
    let likened = like.as_ref().and_then(|like| all().find(|about| about.name == *like));
    // The best come first: scenarios like another one, or those that match the search.
    let best = if let Some(about) = likened {
        let of = |other: &ScenarioMetadata| other.name != about.name && shared(about, other) > 0;
        let mut similar: Vec<_> = all().filter(|other| of(other) && shown(other)).collect();
        similar.order_by_key(|other| std::cmp::Reverse(shared(about, other)));
        Some(("More like this", similar))
    } else {
        None
    };
    let best = if typed.trim().is_empty() {
        best
    } else {
        let of = best.map_or_else(|| all().filter(|it| shown(it)).collect(), |(_, of)| of);
        let entries: Vec<_> = of.iter().map(|about| search::of_scenario(about)).collect();
        let places = search::ranked(&typed, &entries).into_iter();
        Some(("Best match first", places.filter_map(|place| of.get(place).copied()).collect()))
    };
    let by_subject = catalogue
        .iter()
        .map(|(subject, scenarios)| {
            (subject.as_str(), scenarios.iter().filter(|it| shown(it)).collect::<Vec<_>>())
        })
        .filter(|(_, scenarios)| !scenarios.is_empty());
    let found: Vec<_> = best.map_or_else(|| by_subject.collect(), |best| vec![best]);
    let number: usize = found.iter().map(|(_, scenarios)| scenarios.len()).sum();
    let is_narrowed = like.is_some() || tag.is_some() || !typed.trim().is_empty();
    html! {
        <Modal title="Scenarios" width={820} dispatch={dispatch.clone()}>
            <div class="scenariosearch" role="search">
                <input type="search" onkeydown={by_arrows}
                    placeholder="Search: why did my pod take 6 minutes"
                    aria-label="Search scenarios" value={(*typed).clone()} {oninput}
                    autofocus=true data-testid={TestId::ScenarioSearch} />
                { tags(catalogue, &tag) }
                if let Some(about) = likened {
                    <p class="row" data-testid={TestId::Similar}>
                        <span class="grow">
                            { format!("More like “{}”: {}", about.title, about.tags.join(", ")) }
                        </span>
                        <button class="btn small" onclick={move |_: MouseEvent| {
                            like.set(None);
                            // The pressed button disappears.
                            browser::focus(&TestId::ScenarioSearch.selector());
                        }}>{ "Show all" }</button>
                    </p>
                }
            </div>
            <p class="hint" role="status" data-testid={TestId::ScenarioCount}>
                { format!(
                    "{number} of {}. ",
                    catalogue.iter().map(|(_, all)| all.len()).sum::<usize>(),
                ) }
                { "Each takes the place of the cluster on the board; undo brings it back. \
                    Arrow keys go from one to the next." }
            </p>
            <div class="scenarios" onkeydown={by_arrows} data-testid={TestId::ScenarioList}>
                { for found.iter().map(|(subject, scenarios)| html! {
                    <>
                        <h3>{ *subject }</h3>
                        { for scenarios.iter().map(|about| html! {
                            <Entry key={about.name.as_str()} about={(*about).clone()}
                                onlike={onlike.clone()} dispatch={dispatch.clone()} />
                        }) }
                    </>
                }) }
                if catalogue.is_empty() {
                    <p class="hint">{ "Reading the scenarios…" }</p>
                } else if number == 0 {
                    <p>{ "No scenario has any of these words." }</p>
                }
                if !is_narrowed {
                    <button onclick={dispatch.reform(|_| Msg::Clear)}
                        data-scenario="">
                        <b>{ "An empty cluster" }</b>
                        <span class="muted">{ "No nodes and no pods." }</span>
                    </button>
                }
            </div>
        </Modal>
    }
}

/// Moves the focus by arrow keys from one scenario to the next, and from the search to the first.
fn by_arrows(event: KeyboardEvent) {
    let down = match event.key().as_str() {
        "ArrowDown" => true,
        "ArrowUp" => false,
        _ => return,
    };
    event.prevent_default();
    let all = browser::find_all(&format!("{} [data-scenario]", TestId::ScenarioList.selector()));
    // A button beside a scenario counts as the scenario.
    let from = browser::focused();
    let entry = from.and_then(|from| from.closest(".entry, [data-scenario]").ok().flatten());
    let holds = |one: &HtmlElement| entry.as_ref().is_some_and(|entry| entry.contains(Some(one)));
    let place = all.iter().position(holds);
    let next = match (place, down) {
        (Some(place), true) => all.get(place + 1),
        (Some(place), false) => place.checked_sub(1).and_then(|place| all.get(place)),
        (None, true) => all.first(),
        (None, false) => None,
    };
    if let Some(next) = next {
        let _ = next.focus();
    } else if !down {
        browser::focus(&TestId::ScenarioSearch.selector());
    }
}

/// The tags with their number of scenarios; the pressed tag narrows the list.
fn tags(catalogue: &files::Catalogue, pressed: &UseStateHandle<Option<String>>) -> Html {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for metadata in catalogue.iter().flat_map(|(_, scenarios)| scenarios) {
        let tags: OrderedSet<&str> = metadata.tags.iter().map(String::as_str).collect();
        for tag in tags {
            *counts.entry(tag).or_default() += 1;
        }
    }
    html! {
        <div class="tags" role="group" aria-label="Tags" data-testid={TestId::ScenarioTags}>
            { for counts.into_iter().map(|(tag, number)| {
                let on = pressed.as_deref() == Some(tag);
                let (pressed, wanted) = (pressed.clone(), (!on).then(|| tag.to_owned()));
                html! {
                    <button class={classes!("btn", "small", on.then_some("on"))}
                        aria-pressed={on.to_string()} data-tag={tag.to_owned()}
                        onclick={move |_: MouseEvent| pressed.set(wanted.clone())}>
                        { tag }<span class="muted num">{ number }</span>
                    </button>
                }
            }) }
        </div>
    }
}

/// Properties of [`Entry`].
#[derive(Clone, PartialEq, Properties)]
struct EntryProps {
    about: ScenarioMetadata,
    /// Shows scenarios with the same tags.
    onlike: Callback<String>,
    dispatch: Dispatch,
}

/// A scenario: its question, and its lanes, all of them on request.
#[component]
fn Entry(props: &EntryProps) -> Html {
    let open = use_state(|| false);
    let name = &props.about.name;
    let onclick = {
        let name = name.clone();
        props.dispatch.reform(move |_: MouseEvent| Msg::OpenExample(name.clone()))
    };
    let onlanes = {
        let open = open.clone();
        Callback::from(move |_: MouseEvent| open.set(!*open))
    };
    let onlike = {
        let name = name.clone();
        props.onlike.reform(move |_: MouseEvent| name.clone())
    };
    let title = &props.about.title;
    html! {
        <div class="entry">
            <button {onclick} data-scenario={name.clone()} data-tags={props.about.tags.join(" ")}>
                <b>{ title }</b>
                <span class="muted">{ in_words(&props.about.question) }</span>
            </button>
            <div class="stack">
                <button class="btn small" aria-expanded={open.to_string()} onclick={onlanes}
                    aria-label={format!("All lanes of “{title}”")}>{ "All lanes" }</button>
                <button class="btn small" onclick={onlike} data-like={name.clone()}
                    aria-label={format!("More like this: “{title}”")}>{ "More like this" }</button>
            </div>
            <Preview name={name.clone()} full={*open} dispatch={props.dispatch.clone()} />
        </div>
    }
}

/// Properties of [`Preview`].
#[derive(Clone, PartialEq, Properties)]
struct PreviewProps {
    name: String,
    /// Whether to show all lanes, not only the first ones.
    full: bool,
    dispatch: Dispatch,
}

/// The lanes of a scenario, requested when they come into sight.
#[component]
fn Preview(props: &PreviewProps) -> Html {
    let place = use_node_ref();
    let picture = use_state(|| None::<Result<AttrValue, AttrValue>>);
    {
        let (place, picture) = (place.clone(), picture.clone());
        use_effect_with((props.name.clone(), props.dispatch.clone()), move |(name, dispatch)| {
            let (name, dispatch) = (name.clone(), dispatch.clone());
            let told = Callback::from(move |told: Result<Rc<str>, String>| {
                picture.set(Some(told.map(Into::into).map_err(Into::into)));
            });
            let ask = move || dispatch.emit(Msg::Preview(name, told));
            let seen = place.cast().and_then(|place| browser::Seen::first(&place, ask));
            move || drop(seen)
        });
    }
    html! {
        <div class="preview" ref={place} data-lanes={props.name.clone()}
            data-full={props.full.then_some("true")} role="group" aria-label="Lanes"
            tabindex={props.full.then_some("0")}>
            { match &*picture {
                None => Html::default(),
                Some(Ok(svg)) => parts::picture::picture(svg),
                Some(Err(error)) => html! { <p class="hint">{ error }</p> },
            } }
        </div>
    }
}

/// The number of tags that two scenarios share.
fn shared(a: &ScenarioMetadata, b: &ScenarioMetadata) -> usize {
    a.tags.iter().filter(|tag| b.tags.contains(tag)).count()
}
