//! An editor for one object as YAML.

use taintlab_manifest::Diagnostic;
use web_sys::{Element, HtmlTextAreaElement};
use yew::prelude::*;

use super::diagnostics::diagnostics;
use super::draft::FormDraft;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::view_models::selection::Selection;

/// Properties of [`YamlTab`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct YamlTabProps {
    /// The present object as YAML.
    pub(crate) text: AttrValue,
    /// The object.
    pub(crate) of: Selection,
    /// The input.
    pub(crate) draft: FormDraft<String>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// An editor with line numbers. Errors in the text are listed below it, by line and column.
#[component]
pub(crate) fn YamlTab(props: &YamlTabProps) -> Html {
    let draft = &props.draft;
    let numbers = use_node_ref();
    // The text that was read last, and its errors.
    let checked = use_state(|| (String::new(), Vec::new()));
    let text = draft.typed().cloned().unwrap_or_else(|| props.text.to_string());
    let dirty = *text != *props.text;
    let found = if dirty && checked.0 == text { checked.1.clone() } else { Vec::new() };
    let oninput = {
        let (draft, of, dispatch) = (draft.oninput(), props.of.clone(), props.dispatch.clone());
        move |event: InputEvent| {
            let text = event.target_unchecked_into::<HtmlTextAreaElement>().value();
            draft.emit(text.clone());
            let (checked, typed) = (checked.clone(), text.clone());
            let told = move |found| checked.set((typed.clone(), found));
            dispatch.emit(Msg::ReadYaml(of.clone(), text, told.into()));
        }
    };
    let onscroll = {
        let numbers = numbers.clone();
        move |event: Event| {
            let area: Element = event.target_unchecked_into();
            if let Some(numbers) = numbers.cast::<Element>() {
                numbers.set_scroll_top(area.scroll_top());
            }
        }
    };
    let send = {
        let (dispatch, draft, text) = (props.dispatch.clone(), draft.clone(), text.clone());
        let of = props.of.clone();
        move |replaces: bool| {
            let (of, text) = (of.clone(), text.clone());
            draft.ask(&dispatch, |refused| Msg::EditYaml(of, text, replaces, refused));
        }
    };
    let onsubmit = {
        let send = send.clone();
        move |event: SubmitEvent| {
            event.prevent_default();
            send(false);
        }
    };
    let can_replace = matches!(props.of, Selection::Pod(_)) && draft.is_refused();
    let replace = can_replace.then(|| {
        html! {
            <button type="button" class="btn" onclick={move |_| send(true)}>
                { "Replace the pod" }
            </button>
        }
    });
    html! {
        <form class="stack" {onsubmit} data-testid={TestId::Yaml}>
            <div class="editor">
                <pre ref={numbers} aria-hidden="true">{ line_numbers(&text, &found) }</pre>
                <textarea value={text} {oninput} {onscroll} spellcheck="false" autocomplete="off"
                    wrap="off" aria-label="YAML"
                    aria-invalid={(!found.is_empty()).then_some("true")} />
            </div>
            { diagnostics(&found, None) }
            { draft.foot(dirty, found.is_empty(), replace.unwrap_or_default()) }
        </form>
    }
}

fn line_numbers(text: &str, found: &[Diagnostic]) -> Html {
    let lines = text.lines().count().max(1) + usize::from(text.ends_with('\n'));
    let bad = |line: usize| found.iter().any(|d| usize::try_from(d.line) == Ok(line));
    let numbers = (1..=lines).map(|line| {
        if bad(line) {
            html! { <><span class="bad">{ line }</span>{ "\n" }</> }
        } else {
            html! { { format!("{line}\n") } }
        }
    });
    // The horizontal scroll bar of the text needs room.
    html! { <>{ for numbers }{ "\n\n" }</> }
}
