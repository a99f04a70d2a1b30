//! The messages at the edge of the page.

use yew::prelude::*;

use crate::components::parts::icon;
use crate::messages::{Dispatch, Msg, Notice, NoticeAction};
use crate::test_id::TestId;

/// The time that a message stays, in milliseconds: always, and per character. A user has to notice
/// it, then to read it.
const STAYS: (u32, u32) = (4_000, 60);

/// Properties of [`Notices`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct NoticesProps {
    /// The messages, oldest first.
    pub(crate) notices: Vec<Notice>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The messages. A message that is no error and offers no action disappears by itself.
#[component]
pub(crate) fn Notices(props: &NoticesProps) -> Html {
    let passes = |notice: &&Notice| !notice.error && notice.action.is_none();
    let passing = props.notices.iter().find(passes).map(|notice| (notice.id, stays(notice)));
    let dispatch = props.dispatch.clone();
    use_effect_with(passing, move |passing| {
        let timer = passing.map(|(id, after)| {
            gloo_timers::callback::Timeout::new(after, move || dispatch.emit(Msg::Dismiss(id)))
        });
        move || drop(timer)
    });
    html! {
        <div class="notices" role="status">
            { for props.notices.iter().map(|notice| one(notice, &props.dispatch)) }
        </div>
    }
}

fn stays(notice: &Notice) -> u32 {
    let (always, each) = STAYS;
    always + each * u32::try_from(notice.text.chars().count()).unwrap_or_default()
}

fn one(notice: &Notice, dispatch: &Dispatch) -> Html {
    let id = notice.id;
    let kind = if notice.error { "error" } else { "info" };
    let role = notice.error.then_some("alert");
    html! {
        <div key={id} class="notice" data-kind={kind} {role} data-testid={TestId::Notice}>
            <div class="grow">{ &notice.text }</div>
            { notice.action.as_ref().map(|action| button(action, dispatch)) }
            <button class="btn quiet icon small" aria-label="Dismiss"
                onclick={dispatch.reform(move |_| Msg::Dismiss(id))}>{ icon::cross() }</button>
        </div>
    }
}

fn button(action: &NoticeAction, dispatch: &Dispatch) -> Html {
    let (words, action) = match action.clone() {
        NoticeAction::Download(name, text) => (
            "Download the copy",
            dispatch.reform(move |_: MouseEvent| Msg::Download(name.clone(), text.clone())),
        ),
        NoticeAction::Continue(id) => {
            ("Continue", dispatch.reform(move |_| Msg::ContinueSession(id.clone())))
        }
        NoticeAction::Sessions => ("Sessions", dispatch.reform(|_| Msg::Sessions)),
    };
    html! { <button class="btn small" onclick={action}>{ words }</button> }
}
