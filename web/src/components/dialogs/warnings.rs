//! What is likely to surprise in the cluster: each with its reason and a fix.

use taintlab_core::controllers::node_lifecycle::zone::ZoneKey;
use taintlab_core::warnings::{FixLanguage, Subject, Warning};
use yew::prelude::*;

use crate::components::parts::copy::copy;
use crate::components::parts::modal::Modal;
use crate::components::parts::prose::in_words;
use crate::components::parts::severity::picture;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::view_models::selection::Selection;
use crate::view_models::warning_marks::is_about;

/// A warning names at most so many pods; the mark is on all of them.
const MOST_NAMES: usize = 6;

/// The list of warnings; of those about one object if there is one.
pub(crate) fn warnings(all: &[Warning], about: Option<&Selection>, dispatch: &Dispatch) -> Html {
    let shown: Vec<&Warning> =
        all.iter().filter(|one| about.is_none_or(|about| is_about(one, about))).collect();
    html! {
        <Modal title="Warnings" width={820} dispatch={dispatch.clone()} read_only={shown.is_empty()}>
            if let Some(about) = about {
                <div class="row">
                    <span>{ "About " }<b class="mono">{ name_of(about) }</b></span>
                    <button class="btn small" onclick={dispatch.reform(|_| {
                        Msg::Open(crate::messages::Dialog::Warnings(None))
                    })}>{ format!("Show all {}", all.len()) }</button>
                </div>
            }
            if shown.is_empty() {
                <p>{ "There is nothing to warn of." }</p>
            }
            <ul class="warnings" data-testid={TestId::Warnings}>
                { for shown.into_iter().map(|warning| one(warning, dispatch)) }
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

fn one(warning: &Warning, dispatch: &Dispatch) -> Html {
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
            { subjects(&warning.subjects, dispatch) }
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

fn subjects(subjects: &[Subject], dispatch: &Dispatch) -> Html {
    let more = subjects.len().saturating_sub(MOST_NAMES);
    html! {
        <div class="row subjects">
            { for subjects.iter().take(MOST_NAMES).map(|subject| object(subject, dispatch)) }
            if more > 0 { <span class="muted">{ format!("and {more} more") }</span> }
        </div>
    }
}

/// An object; a click selects it, where the page can show it by itself.
fn object(subject: &Subject, dispatch: &Dispatch) -> Html {
    let (kind, name) = match subject {
        Subject::Owner { kind, name } => (kind.as_str(), name.to_string()),
        Subject::Budget { name } => ("PodDisruptionBudget", name.to_string()),
        Subject::Pod { name } => ("pod", name.to_string()),
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
