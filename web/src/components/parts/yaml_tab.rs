//! An editor for one object as YAML.

use taintlab_core::command::Command;
use taintlab_manifest::Diagnostic;
use web_sys::{Element, HtmlTextAreaElement};
use yew::prelude::*;

use super::diagnostics::diagnostics;
use super::draft::use_form_draft;
use crate::messages::Dispatch;
use crate::test_id::TestId;

/// Properties of [`YamlTab`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct YamlTabProps {
    /// The present object as YAML.
    pub(crate) text: AttrValue,
    /// Parses a text into the commands that apply it, or into its errors.
    pub(crate) read: Callback<String, Result<Vec<Command>, Vec<Diagnostic>>>,
    /// Makes the commands that replace the object, for when the API server refuses a change.
    #[prop_or_default]
    pub(crate) replace: Option<Callback<String, Option<Vec<Command>>>>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// An editor with line numbers. Errors in the text are listed below it, by line and column.
#[component]
pub(crate) fn YamlTab(props: &YamlTabProps) -> Html {
    let draft = use_form_draft::<String>();
    let numbers = use_node_ref();
    let text = draft.typed().cloned().unwrap_or_else(|| props.text.to_string());
    let dirty = *text != *props.text;
    let read = if dirty { props.read.emit(text.clone()) } else { Ok(Vec::new()) };
    let found = read.as_ref().err().cloned().unwrap_or_default();
    let oninput = draft.oninput().reform(|event: InputEvent| {
        let area: HtmlTextAreaElement = event.target_unchecked_into();
        area.value()
    });
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
        let (dispatch, draft) = (props.dispatch.clone(), draft.clone());
        move |commands: Vec<Command>| draft.send(&dispatch, commands)
    };
    let onsubmit = {
        let (send, commands) = (send.clone(), read.clone().ok());
        move |event: SubmitEvent| {
            event.prevent_default();
            if let Some(commands) = &commands {
                send(commands.clone());
            }
        }
    };
    let replace = props.replace.as_ref().filter(|_| draft.is_refused()).and_then(|replace| {
        let commands = replace.emit(text.clone())?;
        let send = send.clone();
        Some(html! {
            <button type="button" class="btn" onclick={move |_| send(commands.clone())}>
                { "Replace the pod" }
            </button>
        })
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
            { draft.foot(dirty, read.is_ok(), replace.unwrap_or_default()) }
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
