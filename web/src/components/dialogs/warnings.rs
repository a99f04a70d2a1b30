//! The warnings about the cluster, each with its reason and a fix.

use taintlab_core::controllers::node_lifecycle::zone::ZoneKey;
use taintlab_core::warnings::{FixLanguage, Subject};
use yew::prelude::*;

use crate::components::parts::copy::copy;
use crate::components::parts::modal::Modal;
use crate::components::parts::prose::in_words;
use crate::components::parts::severity::picture;
use crate::messages::{Dispatch, Msg};
use crate::protocol::WarningView;
use crate::test_id::TestId;
use crate::view_models::selection::Selection;

/// The list of warnings, out of `all`; only those about one object if `about` names it.
pub(crate) fn warnings(
    shown: &[WarningView],
    all: usize,
    about: Option<&Selection>,
    dispatch: &Dispatch,
) -> Html {
    html! {
        <Modal title="Warnings" width={820} dispatch={dispatch.clone()}
            read_only={shown.is_empty()}>
            if let Some(about) = about {
                <div class="row">
                    <span>{ "About " }<b class="mono">{ name_of(about) }</b></span>
                    <button class="btn small" onclick={dispatch.reform(|_| {
                        Msg::Open(crate::messages::Dialog::Warnings(None))
                    })}>{ format!("Show all {all}") }</button>
                </div>
            }
            if shown.is_empty() {
                <p>{ "No warnings." }</p>
            }
            <ul class="warnings" data-testid={TestId::Warnings}>
                { for shown.iter().map(|warning| one(warning, dispatch)) }
            </ul>
        </Modal>
    }
}

fn name_of(selection: &Selection) -> String {
    match selection {
        Selection::Zone(key) if key.is_empty() => "nodes without a zone".to_owned(),
        Selection::Zone(key) => ZoneKey::from(&**key).name(),
        other => other.to_text(),
    }
}

fn one(view: &WarningView, dispatch: &Dispatch) -> Html {
    let warning = &view.warning;
    let severity = warning.severity.as_str();
    html! {
        <li class="warning" data-severity={severity} data-code={warning.code.as_str()}>
            <div class="row">
                <span class="badge" data-severity={severity}>
                    { picture(warning.severity) }{ warning.severity.noun() }
                </span>
                <code>{ warning.code.as_str() }</code>
                <span class="grow"></span>
                if !warning.field.is_empty() { <code class="muted">{ &warning.field }</code> }
            </div>
            <p class="said">{ in_words(&warning.message) }</p>
            { subjects(view, dispatch) }
            <p class="muted">{ in_words(&warning.explanation) }</p>
            if let Some(fix) = &warning.fix {
                <div class="fix">
                    <div class="row">
                        <span class="grow">{ in_words(&fix.what) }</span>
                        { copy(&fix.text, dispatch) }
                    </div>
                    <pre tabindex="0" aria-label={language(fix.language)}>{ &fix.text }</pre>
                </div>
            }
        </li>
    }
}

fn language(language: FixLanguage) -> &'static str {
    match language {
        FixLanguage::Yaml => "YAML",
        FixLanguage::Kubectl => "Command line",
        FixLanguage::Flag => "Flag of kube-controller-manager",
    }
}

fn subjects(view: &WarningView, dispatch: &Dispatch) -> Html {
    let more = view.more;
    html! {
        <div class="row subjects">
            { for view.warning.subjects.iter().map(|subject| object(subject, dispatch)) }
            if more > 0 { <span class="muted">{ format!("and {more} more") }</span> }
        </div>
    }
}

/// The name of an object; a click selects it, if the page can show it by itself.
fn object(subject: &Subject, dispatch: &Dispatch) -> Html {
    let (kind, name) = match subject {
        Subject::Owner { kind, name } => (kind.as_str(), name.to_string()),
        Subject::Budget { name } => ("PodDisruptionBudget", name.to_string()),
        Subject::Pod { name } => ("pod", name.to_string()),
        Subject::ResourceClaim { name } => ("ResourceClaim", name.to_string()),
        Subject::TaintRule { name } => ("DeviceTaintRule", name.clone()),
        Subject::Node { name } => ("node", name.to_string()),
        Subject::Zone { name } if name.name().is_empty() => ("", "nodes without a zone".to_owned()),
        Subject::Zone { name } => ("zone", name.name()),
    };
    let words = html! {
        <>if !kind.is_empty() { <span class="muted">{ kind }</span>{ " " } }{ name }</>
    };
    match crate::view_models::warning_marks::selects(subject) {
        None => html! { <span class="clip">{ words }</span> },
        Some(selection) => html! {
            <button class="btn small" onclick={dispatch.reform(move |_: MouseEvent| {
                Msg::Show(selection.clone())
            })}>{ words }</button>
        },
    }
}
