//! Long-running work: its description, its progress, and a button to cancel it.

use std::rc::Rc;

use yew::prelude::*;

use crate::messages::{Dispatch, Msg};
use crate::protocol::Progress;
use crate::test_id::TestId;

/// The long-running work, if any, shown on the page or in the open dialog.
#[derive(Clone, PartialEq)]
pub(crate) struct Busy {
    /// The work, with its progress.
    pub(crate) activity: Option<Activity>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The state of long-running work.
#[derive(Clone, PartialEq)]
pub(crate) enum Activity {
    /// Work without known progress. It has already taken long, so it is shown immediately.
    Working,
    /// Work that reports its progress; it may be over in a moment.
    Told(Rc<Progress>),
}

/// The progress of long-running work. Work that is over in a moment stays invisible.
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
