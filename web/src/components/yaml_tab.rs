//! One object as YAML, to be edited.

use taintlab_core::command::{Command, CommandError};
use taintlab_manifest::Diagnostic;
use web_sys::{Element, HtmlTextAreaElement};
use yew::prelude::*;

use super::forms::error_list;
use super::import::diagnostics;
use crate::app::{Dispatch, Msg};

/// Properties of [`YamlTab`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct YamlTabProps {
    /// The object as it is.
    pub(crate) text: AttrValue,
    /// What a text asks for: the commands that apply it, or what is wrong with it.
    pub(crate) read: Callback<String, Result<Vec<Command>, Vec<Diagnostic>>>,
    /// The command that makes another object of it, if the API server refuses a change.
    #[prop_or_default]
    pub(crate) replace: Option<Callback<String, Option<Vec<Command>>>>,
    /// Where wishes go.
    pub(crate) dispatch: Dispatch,
}

/// An editor with line numbers. What is wrong with the text stands below it, by line and column.
#[component]
pub(crate) fn YamlTab(props: &YamlTabProps) -> Html {
    let draft = use_state(|| None::<String>);
    let failure = use_state(|| None::<AttrValue>);
    let numbers = use_node_ref();
    let text = (*draft).clone().unwrap_or_else(|| props.text.to_string());
    let dirty = *text != *props.text;
    let read = if dirty { props.read.emit(text.clone()) } else { Ok(Vec::new()) };
    let found = read.as_ref().err().cloned().unwrap_or_default();
    let oninput = {
        let (draft, failure) = (draft.clone(), failure.clone());
        move |event: InputEvent| {
            let area: HtmlTextAreaElement = event.target_unchecked_into();
            failure.set(None);
            draft.set(Some(area.value()));
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
        let (dispatch, draft, failure) = (props.dispatch.clone(), draft.clone(), failure.clone());
        move |commands: Vec<Command>| {
            let (kept, failure) = (draft.clone(), failure.clone());
            let text = (*draft).clone();
            let refused = Callback::from(move |error: CommandError| {
                // What was typed is not lost.
                kept.set(text.clone());
                failure.set(Some(error.to_string().into()));
            });
            draft.set(None);
            dispatch.emit(Msg::Edit(commands, refused));
        }
    };
    let apply = {
        let (send, commands) = (send.clone(), read.clone().ok());
        move |_: MouseEvent| {
            if let Some(commands) = &commands {
                send(commands.clone());
            }
        }
    };
    let replace = props.replace.as_ref().filter(|_| failure.is_some()).and_then(|replace| {
        let commands = replace.emit(text.clone())?;
        let send = send.clone();
        Some(html! {
            <button class="btn" onclick={move |_| send(commands.clone())}>{ "Replace the pod" }</button>
        })
    });
    let reset = {
        let (draft, failure) = (draft.clone(), failure.clone());
        move |_: MouseEvent| {
            failure.set(None);
            draft.set(None);
        }
    };
    html! {
        <div class="stack" data-testid="yaml">
            <div class="editor">
                <pre ref={numbers} aria-hidden="true">{ line_numbers(&text, &found) }</pre>
                <textarea value={text} {oninput} {onscroll} spellcheck="false" autocomplete="off"
                    wrap="off" aria-label="YAML" aria-invalid={(!found.is_empty()).then_some("true")} />
            </div>
            { diagnostics(&found) }
            { error_list(failure.as_slice()) }
            if dirty {
                <div class="sticky">
                    <button class="btn primary" disabled={read.is_err()} onclick={apply}
                        data-testid="apply">{ "Apply" }</button>
                    { replace }
                    <button class="btn" onclick={reset}>{ "Discard" }</button>
                </div>
            }
        </div>
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
    // Room for the horizontal scroll bar of the text.
    html! { <>{ for numbers }{ "\n\n" }</> }
}
