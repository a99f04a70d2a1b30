//! What takes long: what it is, how far it is, and a way to stop it.

use std::rc::Rc;

use yew::prelude::*;

use crate::messages::{Dispatch, Msg};
use crate::protocol::Progress;
use crate::test_id::TestId;

/// What takes long, if something does: for the page, or for the dialog that is open on it.
#[derive(Clone, PartialEq)]
pub(crate) struct Busy {
    /// What, and how far it is.
    pub(crate) activity: Option<Activity>,
    /// Where messages go.
    pub(crate) dispatch: Dispatch,
}

/// What is known of what takes long.
#[derive(Clone, PartialEq)]
pub(crate) enum Activity {
    /// No more than that it has taken long already, so that it is shown at once.
    Working,
    /// What it says of itself; it may be over in a moment.
    Told(Rc<Progress>),
}

/// What takes long. What is over in a moment is not seen.
pub(crate) fn busy(busy: &Busy) -> Html {
    let Some(activity) = &busy.activity else { return Html::default() };
    let (class, what, part) = match activity {
        Activity::Working => (Some("known"), "Working…", None),
        Activity::Told(progress) => (None, progress.what.as_str(), progress.part),
    };
    let part = part.map(|part| format!("{part:.3}"));
    html! {
        <div class={classes!("busy", class)} role="status" data-testid={TestId::Busy}>
            <progress aria-label={what.to_owned()} value={part}></progress>
            <span class="grow clip">{ what }</span>
            <button type="button" class="btn small" data-testid={TestId::Cancel}
                onclick={busy.dispatch.reform(|_: MouseEvent| Msg::Cancel)}>{ "Cancel" }</button>
        </div>
    }
}
