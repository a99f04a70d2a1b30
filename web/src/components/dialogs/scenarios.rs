//! The scenarios that come with the page.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use taintlab_core::scenario::ScenarioMetadata;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::components::parts::modal::Modal;
use crate::components::parts::prose::in_words;
use crate::messages::{Dispatch, Msg, Notice};
use crate::test_id::TestId;
use crate::{files, samples};

/// Properties of [`Scenarios`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ScenariosProps {
    /// The scenarios by subject.
    pub(crate) catalogue: Rc<files::Catalogue>,
    /// Where messages go.
    pub(crate) dispatch: Dispatch,
}

/// The list of scenarios, to be searched by words and by tag.
#[component]
pub(crate) fn Scenarios(props: &ScenariosProps) -> Html {
    let search = use_state(String::new);
    let tag = use_state(|| None::<String>);
    let (catalogue, dispatch) = (&props.catalogue, &props.dispatch);
    let oninput = {
        let search = search.clone();
        Callback::from(move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            search.set(input.value());
        })
    };
    let shown = |metadata: &ScenarioMetadata| {
        tag.as_ref().is_none_or(|tag| metadata.tags.contains(tag)) && has_words(metadata, &search)
    };
    let found: Vec<_> = catalogue
        .iter()
        .map(|(subject, scenarios)| {
            (*subject, scenarios.iter().filter(|(_, about)| shown(about)).collect::<Vec<_>>())
        })
        .filter(|(_, scenarios)| !scenarios.is_empty())
        .collect();
    let number: usize = found.iter().map(|(_, scenarios)| scenarios.len()).sum();
    let is_narrowed = tag.is_some() || !search.trim().is_empty();
    html! {
        <Modal title="Scenarios" width={820} dispatch={dispatch.clone()}>
            <div class="scenariosearch" role="search">
                <input type="search" placeholder="Search titles, questions, answers and tags"
                    aria-label="Search scenarios" value={(*search).clone()} {oninput}
                    autofocus=true data-testid={TestId::ScenarioSearch} />
                { tags(catalogue, &tag) }
            </div>
            <p class="hint" role="status" data-testid={TestId::ScenarioCount}>
                { format!("{} of {}. ", number, catalogue.iter().map(|(_, all)| all.len()).sum::<usize>()) }
                { "Each takes the place of the cluster on the board; undo brings it back." }
            </p>
            <div class="scenarios" data-testid={TestId::ScenarioList}>
                { for found.iter().map(|(subject, scenarios)| html! {
                    <>
                        <h3>{ *subject }</h3>
                        { for scenarios.iter().map(|(name, metadata)| {
                            entry(name, metadata, dispatch)
                        }) }
                    </>
                }) }
                if number == 0 {
                    <p>{ "No scenario has all of that. Leave out a word or the tag." }</p>
                }
                if !is_narrowed {
                    <button onclick={dispatch.reform(|_| Msg::Load(Box::default()))}
                        data-scenario="">
                        <b>{ "An empty cluster" }</b>
                        <span class="muted">{ "No nodes and no pods." }</span>
                    </button>
                }
            </div>
        </Modal>
    }
}

/// Whether every word of the search stands somewhere in what a scenario is about.
fn has_words(metadata: &ScenarioMetadata, search: &str) -> bool {
    let ScenarioMetadata { name, title, question, answer, tags, .. } = metadata;
    let all = [name, title, question, answer, &tags.join(" ")].map(|text| text.to_lowercase());
    let mut words = search.split_whitespace().map(str::to_lowercase);
    words.all(|word| all.iter().any(|text| text.contains(&word)))
}

/// The tags with the number of scenarios that have each; the one that is pressed narrows the list.
fn tags(catalogue: &files::Catalogue, pressed: &UseStateHandle<Option<String>>) -> Html {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, metadata) in catalogue.iter().flat_map(|(_, scenarios)| scenarios) {
        let tags: BTreeSet<&str> = metadata.tags.iter().map(String::as_str).collect();
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

fn entry(name: &'static str, metadata: &ScenarioMetadata, dispatch: &Dispatch) -> Html {
    let onclick = dispatch.reform(move |_| load(name));
    html! {
        <button {onclick} data-scenario={name} data-tags={metadata.tags.join(" ")}>
            <b>{ &metadata.title }</b>
            <span class="muted">{ in_words(&metadata.question) }</span>
        </button>
    }
}

fn load(name: &str) -> Msg {
    let text = samples::all().find(|(known, _)| *known == name).map(|(_, text)| text);
    match files::scenario(name, text.unwrap_or_default()) {
        Ok(scenario) => Msg::Load(Box::new(scenario)),
        Err(error) => Msg::Notice(Notice::error(error)),
    }
}
