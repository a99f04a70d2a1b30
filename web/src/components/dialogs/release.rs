//! The evidence for the behaviour of a release.

use taintlab_core::release::{Change, KubernetesRelease};
use yew::prelude::*;

use crate::components::parts::modal::Modal;
use crate::components::parts::prose::in_words;
use crate::messages::Dispatch;
use crate::test_id::TestId;

/// The changes of a release, by subject.
type Changes = Vec<(&'static str, Vec<Change>)>;

/// The evidence for a release, the changes that came with it, and the changes up to it that are
/// only believed.
pub(crate) fn release(release: KubernetesRelease, dispatch: &Dispatch) -> Html {
    let came = of(|change| change.since == release);
    let believed = of(|change| change.since <= release && change.is_believed());
    html! {
        <Modal title={format!("Kubernetes {release}")} read_only=true dispatch={dispatch.clone()}>
            <p data-testid={TestId::RestsOn}>{ release.rests_on() }</p>
            { section(format!("What changed with {release}"), &came, "Nothing that is simulated.") }
            { section("Believed to have come by then".to_owned(), &believed, "Nothing.") }
            <p class="hint">
                { "Believed: the rule was read in Kubernetes' source, but with which release it came \
                   is inferred from pull requests, release notes or enhancement proposals." }
            </p>
        </Modal>
    }
}

fn of(is_wanted: impl Fn(&Change) -> bool) -> Changes {
    let all = Change::all().map(|(subject, mut changes)| {
        changes.retain(&is_wanted);
        (subject, changes)
    });
    all.filter(|(_, changes)| !changes.is_empty()).collect()
}

fn section(title: String, changes: &Changes, nothing: &'static str) -> Html {
    html! {
        <section class="stack changes">
            <h3>{ title }</h3>
            if changes.is_empty() {
                <p class="hint">{ nothing }</p>
            }
            { for changes.iter().map(|(subject, changes)| html! {
                <>
                    <h4>{ *subject }</h4>
                    <ul>{ for changes.iter().map(|change| html! {
                        <li>{ in_words(&change.text()) }</li>
                    }) }</ul>
                </>
            }) }
        </section>
    }
}
