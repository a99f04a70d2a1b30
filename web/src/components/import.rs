//! A text comes in.

use taintlab_manifest::{Diagnostic, Severity};
use web_sys::{HtmlInputElement, HtmlTextAreaElement};
use yew::prelude::*;

use super::dialog::Modal;
use crate::app::{Dispatch, Msg, maybe};
use crate::files::{self, Content, Reading};
use crate::text::count;

/// Longer texts are read, but not shown in the text field, which browsers are slow with.
const SHOWN: usize = 400_000;
/// More messages than this are only counted.
const DIAGNOSTICS: usize = 60;

/// Properties of [`Import`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ImportProps {
    /// The text, if there is one already.
    pub(crate) text: AttrValue,
    /// Its name.
    pub(crate) name: AttrValue,
    /// Where wishes go.
    pub(crate) dispatch: Dispatch,
}

/// The import dialog: a text, what it holds, and what is wrong with it.
#[component]
pub(crate) fn Import(props: &ImportProps) -> Html {
    let text = use_state(|| props.text.clone());
    let name = if props.name.is_empty() { "text" } else { props.name.as_str() };
    let reading =
        use_memo(text.clone(), |text| (!text.trim().is_empty()).then(|| files::read(text, name)));
    let oninput = {
        let text = text.clone();
        Callback::from(move |event: InputEvent| {
            let area: HtmlTextAreaElement = event.target_unchecked_into();
            text.set(area.value().into());
        })
    };
    let shown = if text.len() > SHOWN {
        html! {
            <p class="hint">
                { format!("{name}: {} KB, too long to be shown here", text.len() / 1_000) }
            </p>
        }
    } else {
        html! {
            <textarea class="importtext" {oninput} value={(*text).clone()} spellcheck="false"
                autocomplete="off" wrap="off" aria-label="Manifest or scenario"
                data-testid="import-text"
                placeholder={"apiVersion: v1\nkind: List\nitems:\n- …"} />
        }
    };
    html! {
        <Modal title="Import" dispatch={props.dispatch.clone()} width={860}>
            <p class="hint">
                { "Paste the output of " }<code>{ "kubectl get nodes,pods -A -o yaml" }</code>
                { " (or JSON), or a scenario file; or " }{ file_button(&props.dispatch) }
            </p>
            { shown }
            { (*reading).as_ref().map(|reading| result(reading, &props.dispatch)) }
        </Modal>
    }
}

fn file_button(dispatch: &Dispatch) -> Html {
    let onchange = maybe(dispatch, |event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        let list = input.files()?;
        let files: Vec<_> = (0..list.length()).filter_map(|index| list.get(index)).collect();
        (!files.is_empty()).then_some(Msg::Files(files))
    });
    html! {
        <label class="btn small">
            { "open a file" }
            <input class="sr" type="file" multiple={true} accept=".yaml,.yml,.json,.txt"
                {onchange} data-testid="import-file" />
        </label>
    }
}

fn result(reading: &Reading, dispatch: &Dispatch) -> Html {
    html! {
        <>
            { diagnostics(&reading.diagnostics) }
            <div class="actions" data-testid="import-actions">
                <span class="grow" role="status">{ found(reading) }</span>
                { actions(&reading.content, dispatch) }
            </div>
        </>
    }
}

fn found(reading: &Reading) -> String {
    let errors = reading.diagnostics.iter().filter(|d| d.is_error()).count();
    let errors = match errors {
        0 => String::new(),
        errors => format!("; {}", count(errors, "error")),
    };
    match &reading.content {
        Content::Nothing => "Nothing here can be imported".to_owned(),
        Content::Scenario(scenario) => format!("Scenario: {}{errors}", scenario.metadata.title),
        Content::Objects(read) => {
            let others = match read.others.len() {
                0 => String::new(),
                others => format!(", {} (kept for export)", count(others, "other object")),
            };
            let (nodes, pods) = (count(read.nodes.len(), "node"), count(read.pods.len(), "pod"));
            let mut words = format!("{nodes}, {pods}");
            let kinds = [(read.workloads.len(), "workload"), (read.budgets.len(), "budget")];
            for (number, what) in kinds.into_iter().filter(|(number, _)| *number > 0) {
                words = format!("{words}, {}", count(number, what));
            }
            format!("{words}{others}{errors}")
        }
    }
}

fn actions(content: &Content, dispatch: &Dispatch) -> Html {
    match content {
        Content::Nothing => {
            html! { <button class="btn primary" disabled=true>{ "Replace the cluster" }</button> }
        }
        Content::Scenario(scenario) => {
            let scenario = scenario.clone();
            let onclick = dispatch.reform(move |_| Msg::Load(scenario.clone()));
            html! { <button class="btn primary" {onclick}>{ "Load the scenario" }</button> }
        }
        Content::Objects(read) => {
            let import = |replace: bool| {
                let read = read.clone();
                dispatch.reform(move |_: MouseEvent| Msg::Import(read.clone(), replace))
            };
            html! {
                <>
                    <button class="btn" onclick={import(false)} data-testid="import-add">
                        { "Add to the cluster" }
                    </button>
                    <button class="btn primary" onclick={import(true)}
                        data-testid="import-replace">{ "Replace the cluster" }</button>
                </>
            }
        }
    }
}

/// What is wrong with a text: where, what, and what to do.
pub(crate) fn diagnostics(all: &[Diagnostic]) -> Html {
    if all.is_empty() {
        return Html::default();
    }
    let more = all.len().saturating_sub(DIAGNOSTICS);
    html! {
        <ul class="diags" data-testid="diagnostics">
            { for all.iter().take(DIAGNOSTICS).map(|diagnostic| html! {
                <li class="diag" data-severity={match diagnostic.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                }}>
                    <div class="where">
                        { format!("{}:{}:{}", diagnostic.file, diagnostic.line, diagnostic.column) }
                        if !diagnostic.path.is_empty() { { "  " }{ &diagnostic.path } }
                    </div>
                    <div>{ &diagnostic.message }</div>
                    if let Some(help) = &diagnostic.help {
                        <div class="help">{ help }</div>
                    }
                </li>
            }) }
            if more > 0 { <li class="hint">{ format!("and {more} more") }</li> }
        </ul>
    }
}
