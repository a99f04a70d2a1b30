//! Signs of warnings, and a button that lists them.

use taintlab_core::warnings::Severity;
use yew::prelude::*;

use super::icon;
use crate::messages::{Dialog, Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::plural;
use crate::view_models::warning_marks::counted;

/// The button that opens the list of warnings, with their counts.
pub(crate) fn warnings_button(counts: [usize; 3], dispatch: &Dispatch) -> Html {
    let [critical, warning, note] = counts;
    let all =
        [(critical, Severity::Critical), (warning, Severity::Warning), (note, Severity::Note)];
    if critical + warning + note == 0 {
        return Html::default();
    }
    let title = format!("Warnings (W): {}", counted(counts));
    html! {
        <button class="btn small warning-marks" data-testid={TestId::WarningsOpen} {title}
            onclick={dispatch.reform(|_| Msg::Open(Dialog::Warnings(None)))}>
            { for all.into_iter().filter(|(number, _)| *number > 0).map(|(number, severity)| html! {
                <span data-severity={severity.as_str()}>
                    { picture(severity) }<span class="num">{ number }</span>
                    <span class="sr">{ format!(" {}{}", severity.noun(), plural(&number)) }</span>
                </span>
            }) }
        </button>
    }
}

/// The sign of a severity; its shape differs too.
pub(crate) fn picture(severity: Severity) -> Html {
    match severity {
        Severity::Critical => icon::critical(),
        Severity::Warning => icon::warning(),
        Severity::Note => icon::note(),
    }
}
