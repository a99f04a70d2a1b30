//! What to begin with, on the first screen.

use yew::prelude::*;

use crate::messages::{Dialog, Dispatch, Msg, Source};
use crate::test_id::TestId;

/// Three questions, each a click from its answer.
pub(crate) fn questions(dispatch: &Dispatch) -> Html {
    let question = |id: TestId, text: &'static str, does: fn() -> Msg| {
        html! {
            <button class="btn" data-testid={id}
                onclick={dispatch.reform(move |_: MouseEvent| does())}>{ text }</button>
        }
    };
    html! {
        <div class="questions" role="group" aria-label="Begin with a question"
            data-testid={TestId::Questions}>
            { question(TestId::QuestionNode, "A node dies: who leaves, and when?", || {
                Msg::Tour("service-in-an-outage")
            }) }
            { question(TestId::QuestionWhy, "Why 5 min 45 s, and not 5 min?", || {
                Msg::Tour("why-345-seconds")
            }) }
            { question(TestId::QuestionPaste, "Paste my cluster", || {
                Msg::Open(Dialog::Import(Source::empty()))
            }) }
        </div>
    }
}
