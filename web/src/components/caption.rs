//! The line below the header: the purpose of the page, then the latest event.

use taintlab_core::release::KubernetesRelease;
use yew::prelude::*;

use crate::messages::{Dispatch, Msg};
use crate::session::StartChange;
use crate::test_id::TestId;
use crate::view_models::caption::Caption;

/// The purpose of the page.
const PURPOSE: &str = "Find out what Kubernetes will evict, when, and why.";

/// The latest event, with buttons for *Why?* and for the same edits in another release; before any
/// event, the purpose of the page.
pub(crate) fn line(
    caption: Option<&Caption>,
    release: KubernetesRelease,
    dispatch: &Dispatch,
) -> Html {
    let Some(caption) = caption else {
        return html! {
            <section class="caption" aria-label="What happens" data-testid={TestId::Caption}>
                <span class="grow"><b>{ PURPOSE }</b>
                    { " Stop a kubelet, taint a node or drain it: the lanes show what follows." }
                </span>
            </section>
        };
    };
    let other = other_release(release);
    let same = other.map(|other| {
        let change = move |_: MouseEvent| Msg::ChangeStart(StartChange::Release(other));
        html! {
            <button class="btn quiet small" onclick={dispatch.reform(change)}
                title={format!("Run the same edits on Kubernetes {other}")}
                data-testid={TestId::CaptionRelease}>{ format!("The same in {other}") }</button>
        }
    });
    let why = caption.about.clone().map(|about| {
        html! {
            <button class="btn quiet small" data-testid={TestId::CaptionWhy}
                onclick={dispatch.reform(move |_: MouseEvent| Msg::Show(about.clone()))}>
                { "Why?" }</button>
        }
    });
    html! {
        <section class="caption" aria-label="What happens" data-testid={TestId::Caption}>
            <span class="grow" title={caption.text.clone()}>{ &caption.text }</span>
            { why }
            { same }
        </section>
    }
}

/// The oldest release; for the oldest release itself, the latest.
fn other_release(release: KubernetesRelease) -> Option<KubernetesRelease> {
    let oldest = KubernetesRelease::all().next().filter(|oldest| *oldest != release);
    oldest.or_else(|| KubernetesRelease::all().next_back())
}
