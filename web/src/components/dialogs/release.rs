//! The evidence for the behaviour of a release.

use taintlab_core::release::KubernetesRelease;
use yew::prelude::*;

use crate::components::parts::modal::Modal;
use crate::components::parts::prose::in_words;
use crate::messages::Dispatch;
use crate::test_id::TestId;
use crate::view_models::about_release::{AboutRelease, Changes};

/// The evidence for a release, the changes that came with it, and the changes up to it that are
/// only believed.
pub(crate) fn release(
    release: KubernetesRelease,
    about: Option<&AboutRelease>,
    dispatch: &Dispatch,
) -> Html {
    html! {
        <Modal title={format!("Kubernetes {release}")} read_only=true dispatch={dispatch.clone()}>
            if let Some(about) = about {
                <p data-testid={TestId::RestsOn}>{ &about.rests_on }</p>
                { section(format!("What changed with {release}"), &about.came,
                    "Nothing that is simulated.") }
                { section("Believed to have come by then".to_owned(), &about.believed, "Nothing.") }
                <p class="hint">
                    { "Believed: the rule was read in Kubernetes' source, but with which release it \
                       came is inferred from pull requests, release notes or enhancement proposals." }
                </p>
            }
        </Modal>
    }
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
                    <h4>{ subject }</h4>
                    <ul>{ for changes.iter().map(|change| html! {
                        <li>{ in_words(change) }</li>
                    }) }</ul>
                </>
            }) }
        </section>
    }
}
