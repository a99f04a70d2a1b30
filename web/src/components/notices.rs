//! Messages at the edge of the page.

use yew::prelude::*;

use super::icon;
use crate::app::{Dispatch, Msg, Notice};

/// Properties of [`Notices`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct NoticesProps {
    /// The messages, oldest first.
    pub(crate) notices: Vec<Notice>,
    /// Where wishes go.
    pub(crate) dispatch: Dispatch,
}

/// The messages. Those that say that all is well go by themselves.
#[component]
pub(crate) fn Notices(props: &NoticesProps) -> Html {
    let passing = props.notices.iter().find(|notice| !notice.error).map(|notice| notice.id);
    let dispatch = props.dispatch.clone();
    use_effect_with(passing, move |passing| {
        let timer = passing.map(|id| {
            gloo_timers::callback::Timeout::new(4_000, move || dispatch.emit(Msg::Dismiss(id)))
        });
        move || drop(timer)
    });
    html! {
        <div class="notices" role="status">
            { for props.notices.iter().map(|notice| one(notice, &props.dispatch)) }
        </div>
    }
}

fn one(notice: &Notice, dispatch: &Dispatch) -> Html {
    let id = notice.id;
    let kind = if notice.error { "error" } else { "info" };
    let role = notice.error.then_some("alert");
    html! {
        <div key={id} class="notice" data-kind={kind} {role} data-testid="notice">
            <div class="grow">{ &notice.text }</div>
            if let Some((name, text)) = notice.copy.clone() {
                <button class="btn small" onclick={dispatch.reform(move |_| {
                    Msg::Download(name.clone(), text.clone())
                })}>{ "Download the copy" }</button>
            }
            <button class="btn quiet icon small" aria-label="Dismiss"
                onclick={dispatch.reform(move |_| Msg::Dismiss(id))}>{ icon::cross() }</button>
        </div>
    }
}
