//! A list of pods in one state.

use std::rc::Rc;

use taintlab_core::api::PodKey;
use yew::prelude::*;

use super::head::{PODS, head};
use crate::components::parts::pod_mark::pod_row;
use crate::messages::{Dispatch, Msg, maybe};
use crate::test_id::TestId;
use crate::text::{at, count};
use crate::view_models::inspector_model::InspectedPods;
use crate::view_models::selection::Selection;

/// Properties of [`PodsPanel`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct PodsPanelProps {
    /// The pods.
    pub(crate) pods: Rc<InspectedPods>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// A list of pods in one state. A click on a pod selects it.
#[component]
pub(crate) fn PodsPanel(props: &PodsPanelProps) -> Html {
    let InspectedPods { group, pods, gone, total } = &*props.pods;
    let more = total.saturating_sub(pods.len() + gone.len());
    let name = html! { { format!("{} {}", count(*total, "pod"), group.words()) } };
    let onclick = maybe(&props.dispatch, |event: MouseEvent| {
        let target: web_sys::Element = event.target_dyn_into()?;
        let pod = target.closest("[data-pod]").ok().flatten()?.get_attribute("data-pod")?;
        Some(Msg::Select(Some(Selection::Pod(PodKey::parse(&pod).ok()?))))
    });
    html! {
        <>
            { head(PODS, name, Html::default(), Html::default(), &props.dispatch) }
            <div class="body stack" data-testid={TestId::PodsPanel}>
                if *total == 0 { <p class="hint">{ "None at this moment." }</p> }
                <div class="podlist" {onclick}>
                    { for pods.iter().map(|pod| html! {
                        <>
                            { pod_row(pod, false, None) }
                            if !pod.why.is_empty() { <p class="whypending">{ &pod.why }</p> }
                        </>
                    }) }
                    { for gone.iter().enumerate().map(|(index, gone)| html! {
                        <button key={format!("gone {index}")} class="pod" data-state="gone"
                            data-pod={gone.pod.to_string()}>
                            <span class="ring"></span>
                            <span class="clip">{ gone.pod.to_string() }</span>
                            <span class="remark">{ at(gone.evicted.unwrap_or(gone.at)) }</span>
                        </button>
                    }) }
                </div>
                if more > 0 { <p class="hint">{ format!("and {more} more") }</p> }
                <p class="hint">
                    { "“Only selected” shows their rows in the event log." }
                </p>
            </div>
        </>
    }
}
