//! The scenarios that come with the page.

use taintlab_core::scenario::ScenarioMetadata;
use yew::prelude::*;

use super::dialog::Modal;
use super::why::in_words;
use crate::app::{Dispatch, Msg, Notice};
use crate::{files, samples};

/// The list of scenarios.
pub(crate) fn scenarios(catalogue: &files::Catalogue, dispatch: &Dispatch) -> Html {
    html! {
        <Modal title="Scenarios" dispatch={dispatch.clone()}>
            <p class="hint">
                { "Each takes the place of the cluster on the board; undo brings it back." }
            </p>
            <div class="scenarios" data-testid="scenario-list">
                { for catalogue.iter().map(|(subject, scenarios)| html! {
                    <>
                        <h3>{ *subject }</h3>
                        { for scenarios.iter().map(|(name, metadata)| {
                            entry(name, metadata, dispatch)
                        }) }
                    </>
                }) }
                <button onclick={dispatch.reform(|_| Msg::Load(Box::default()))}
                    data-scenario="">
                    <b>{ "An empty cluster" }</b>
                    <span class="muted">{ "No nodes and no pods." }</span>
                </button>
            </div>
        </Modal>
    }
}

fn entry(name: &'static str, metadata: &ScenarioMetadata, dispatch: &Dispatch) -> Html {
    let onclick = dispatch.reform(move |_| load(name));
    html! {
        <button {onclick} data-scenario={name}>
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
