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
    pub(crate) progress: Option<Rc<Progress>>,
    /// Where messages go.
    pub(crate) dispatch: Dispatch,
}

/// What is said of work of which no more is known than that it has taken long already.
pub(crate) const WORKING: &str = "Working…";

/// What takes long. What is over in a moment is not seen.
pub(crate) fn busy(busy: &Busy) -> Html {
    let Some(progress) = &busy.progress else { return Html::default() };
    let part = progress.part.map(|part| format!("{part:.3}"));
    html! {
        <div class={classes!("busy", (progress.what == WORKING).then_some("known"))} role="status"
            data-testid={TestId::Busy}>
            <progress aria-label={progress.what.clone()} value={part}></progress>
            <span class="grow clip">{ &progress.what }</span>
            <button type="button" class="btn small" data-testid={TestId::Cancel}
                onclick={busy.dispatch.reform(|_: MouseEvent| Msg::Cancel)}>{ "Cancel" }</button>
        </div>
    }
}
