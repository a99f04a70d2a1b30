//! The diagnostics of a text: the object, the place, the message, and help.

use taintlab_manifest::{Diagnostic, Severity};
use yew::prelude::*;

use super::line_button::line_button;

use crate::test_id::TestId;

/// The number of messages shown at first; the others are shown on request.
const AT_ONCE: usize = 10;

/// The diagnostics of a text. With `online`, a click on a line shows it in the text.
pub(crate) fn diagnostics(all: &[Diagnostic], online: Option<&Callback<u32>>) -> Html {
    if all.is_empty() {
        return Html::default();
    }
    html! { <Diagnostics all={all.to_vec()} online={online.cloned()} /> }
}

/// Properties of [`Diagnostics`].
#[derive(Clone, PartialEq, Properties)]
struct DiagnosticsProps {
    all: Vec<Diagnostic>,
    online: Option<Callback<u32>>,
}

#[component]
fn Diagnostics(props: &DiagnosticsProps) -> Html {
    let most = use_state(|| AT_ONCE);
    let more = props.all.len().saturating_sub(*most);
    let onmore = {
        let most = most.clone();
        move |_: MouseEvent| most.set(usize::MAX)
    };
    html! {
        <>
            <ul class="diags" data-testid={TestId::Diagnostics}>
                { for props.all.iter().take(*most).map(|one| item(one, props.online.as_ref())) }
            </ul>
            if more > 0 {
                <button type="button" class="btn small" onclick={onmore}>
                    { format!("Show {more} more") }
                </button>
            }
        </>
    }
}

fn item(diagnostic: &Diagnostic, online: Option<&Callback<u32>>) -> Html {
    let Diagnostic { severity, file, line, column, path, message, object, consequence, help } =
        diagnostic;
    let severity = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let subject = consequence.clone().or_else(|| object.as_ref().map(ToString::to_string));
    html! {
        <li class="diag" data-severity={severity}>
            <div class="row">
                if let Some(subject) = subject { <b class="what grow">{ subject }</b> }
                { match online {
                    Some(online) => line_button(*line, online),
                    None => html! {
                        <span class="where">{ format!("{file}:{line}:{column}") }</span>
                    },
                } }
            </div>
            <div class="said">
                if !path.is_empty() { <code>{ path }</code>{ ": " } }
                { message }
            </div>
            if let Some(help) = help { <div class="help">{ help }</div> }
        </li>
    }
}
