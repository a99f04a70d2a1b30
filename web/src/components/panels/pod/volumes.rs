//! The claims of a pod, and the nodes of their volumes.

use taintlab_core::simulator::{AttachmentView, ClaimView, StorageView};
use yew::prelude::*;

use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::view_models::selection::Selection;

/// The claims of a pod, and the nodes of their volumes.
pub(crate) fn volumes(storage: &StorageView, dispatch: &Dispatch) -> Html {
    let rows = storage.claims.iter().map(|claim| {
        let there = storage.attachments.iter();
        let there = there.filter(|it| Some(&it.volume) == claim.volume.as_ref());
        html! {
            <tr>
                <td>{ claim.claim.name() }</td>
                <td>{ phase(claim) }</td>
                <td>{ claim.volume.clone().unwrap_or_default() }</td>
                <td>{ for there.map(|it| attachment(it, dispatch)) }</td>
            </tr>
        }
    });
    html! {
        <section class="stack" data-testid={TestId::Volumes}>
            <h3>{ "Volumes" }</h3>
            <div class="wide">
                <table class="conditions">
                    <thead>
                        <tr>
                            <th>{ "Claim" }</th><th>{ "Phase" }</th><th>{ "Volume" }</th>
                            <th>{ "Attached to" }</th>
                        </tr>
                    </thead>
                    <tbody>{ for rows }</tbody>
                </table>
            </div>
        </section>
    }
}

fn phase(claim: &ClaimView) -> String {
    let phase = if claim.phase.is_empty() { "Pending" } else { &claim.phase };
    let more = [
        (claim.waits_for_first_consumer, "WaitForFirstConsumer"),
        (claim.terminating, "Terminating"),
    ];
    more.iter().filter(|(so, _)| *so).fold(phase.to_owned(), |all, (_, word)| all + ", " + word)
}

/// The node of an attachment, its state, and the time of a forced detach, if known.
fn attachment(attachment: &AttachmentView, dispatch: &Dispatch) -> Html {
    let node = attachment.node.clone();
    let select = dispatch
        .reform(move |_: MouseEvent| Msg::Select(Some(Selection::Node(node.as_str().into()))));
    let mut words = String::new();
    if !attachment.attached {
        words += ", not yet";
    }
    if attachment.mounted {
        words += ", mounted";
    }
    if let Some(moment) = attachment.forced_detach_at {
        words += &format!(", detached by force at {moment}");
    }
    html! {
        <div>
            <button class="btn quiet small" onclick={select}>{ attachment.node.as_str() }</button>
            { words }
        </div>
    }
}
