//! The panel of a workload: its pods, its number of replicas, and its availability over time.

use std::rc::Rc;

use taintlab_core::api::{WorkloadKey, WorkloadKind};
use taintlab_core::command::Command;
use taintlab_core::simulator::{JobView, WorkloadView};
use taintlab_core::time::{Span, parse_duration};
use yew::prelude::*;

use super::head::head;
use crate::components::parts::availability::{chart, numbers};
use crate::components::parts::forms::{TextField, error_list};
use crate::components::parts::pod_mark::pod_row;
use crate::messages::{Dispatch, Msg, refused};
use crate::test_id::TestId;
use crate::text::moment;
use crate::view_models::board::PodView;
use crate::view_models::selection::Selection;
use crate::view_models::workloads::Track;

/// Properties of [`WorkloadPanel`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct WorkloadPanelProps {
    /// The workload.
    pub(crate) track: Rc<Track>,
    /// The workload's pods as they are on the board.
    pub(crate) pods: Vec<Rc<PodView>>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The panel of a workload.
#[component]
pub(crate) fn WorkloadPanel(props: &WorkloadPanelProps) -> Html {
    let (track, dispatch) = (&props.track, &props.dispatch);
    let view = &track.view;
    let key = &view.workload;
    let (well, words) = state(view);
    let badge = html! {
        <span class="badge" data-state={if well { "stays" } else { "terminating" }}>{ words }</span>
    };
    let scaled = matches!(
        key.kind,
        WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::StatefulSet
    );
    let select = dispatch.reform(|pod| Msg::Select(Some(Selection::Pod(pod))));
    html! {
        <>
            { head(key.kind.as_str(), html! { { key.name.to_string() } }, badge, Html::default(),
                dispatch) }
            <div class="body stack" data-testid={TestId::WorkloadPanel}>
                if view.inferred {
                    <p class="hint">
                        { "Inferred from the owner references of its pods, with their number as \
                           replicas: the object itself was not imported." }
                    </p>
                }
                if let Some(job) = &view.job {
                    { job_facts(job) }
                } else {
                    <dl class="facts">
                        { fact("Desired", view.desired) }
                        { fact("Ready", view.ready) }
                        { fact("Up to date", view.updated) }
                        { fact("Available", view.available) }
                        { fact("Unavailable", view.unavailable) }
                        { fact("Terminating", view.terminating) }
                    </dl>
                }
                { for view.pending.iter().map(|pending| html! {
                    <p class="pendingpod" data-testid={TestId::PendingReason}>
                        <b>{ pending.pod.to_string() }</b>{ " is pending" }
                        if !pending.reason.is_empty() { { ": " }<code>{ &pending.reason }</code> }
                    </p>
                }) }
                { chart(track) }
                { numbers(track) }
                if scaled {
                    <SettingField key={format!("scale {}", view.desired)} label="Replicas"
                        words="Scale" value={view.desired.to_string()} testid={TestId::Scale}
                        workload={key.clone()} what={Setting::Replicas}
                        dispatch={dispatch.clone()} />
                }
                <SettingField key={format!("start {:?}", track.start_up)}
                    label="A pod is ready after"
                    words="Set" value={track.start_up.clone().unwrap_or_default()}
                    placeholder="2s" testid={TestId::StartUp} workload={key.clone()}
                    what={Setting::StartUpTime} dispatch={dispatch.clone()} />
                <h3>{ format!("Pods ({})", view.pods.len()) }</h3>
                <div class="podlist">
                    { for props.pods.iter().map(|pod| {
                        let (select, key) = (select.clone(), pod.key.clone());
                        html! {
                            <div onclick={move |_: MouseEvent| select.emit(key.clone())}>
                                { pod_row(pod, false, None) }
                            </div>
                        }
                    }) }
                </div>
            </div>
        </>
    }
}

/// Whether a workload is well, and its state: `2/3 ready`, or the outcome of a finished Job.
pub(crate) fn state(view: &WorkloadView) -> (bool, String) {
    match view.job.as_ref().and_then(|job| job.finished.clone()) {
        Some(finished) => (!finished.starts_with("Failed"), finished),
        None => (view.ready >= view.desired, format!("{}/{} ready", view.ready, view.desired)),
    }
}

/// The progress of a Job.
fn job_facts(job: &JobView) -> Html {
    let completions = job.completions.map_or_else(|| "any one".to_owned(), |it| it.to_string());
    let shown = |name: &'static str, value: String| {
        html! { <><dt>{ name }</dt><dd class="num">{ value }</dd></> }
    };
    html! {
        <dl class="facts" data-testid={TestId::JobFacts}>
            { shown("Completions", completions) }
            { fact("Parallelism", job.parallelism) }
            { fact("Active", job.active) }
            { fact("Succeeded", job.succeeded) }
            { fact("Failed", job.failed) }
            { fact("Backoff limit", job.backoff_limit) }
            { for job.next_retry.map(|at| shown("Next retry at", moment(at))) }
            { for job.deadline.map(|at| shown("Deadline at", moment(at))) }
            { for job.finished.clone().map(|text| shown("Finished", text)) }
        </dl>
    }
}

fn fact(name: &'static str, number: i64) -> Html {
    html! { <><dt>{ name }</dt><dd class="num">{ number }</dd></> }
}

/// A setting of a workload.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Setting {
    Replicas,
    StartUpTime,
}

impl Setting {
    /// Parses the text of the field into a command.
    fn read(self, workload: &WorkloadKey, text: &str) -> Result<Command, String> {
        let (workload, text) = (workload.clone(), text.trim());
        match self {
            Self::Replicas => {
                let wrong = |_| {
                    format!("`{text}` is not a number of replicas; write for example `3`, or `0`")
                };
                Ok(Command::Scale { workload, replicas: text.parse().map_err(wrong)? })
            }
            Self::StartUpTime => {
                Ok(Command::SetStartUpTime { workload, time: Span(parse_duration(text)?) })
            }
        }
    }
}

#[derive(Clone, PartialEq, Properties)]
struct SettingFieldProps {
    label: &'static str,
    words: &'static str,
    value: String,
    #[prop_or_default]
    placeholder: &'static str,
    testid: TestId,
    workload: WorkloadKey,
    what: Setting,
    dispatch: Dispatch,
}

/// A field with a button that sends its value as a command.
#[component]
fn SettingField(props: &SettingFieldProps) -> Html {
    let text = use_state(|| props.value.clone());
    let failure = use_state(|| None::<AttrValue>);
    let oninput = {
        let (text, failure) = (text.clone(), failure.clone());
        Callback::from(move |new: String| {
            failure.set(None);
            text.set(new);
        })
    };
    let onsubmit = {
        let (props, text, failure) = (props.clone(), text.clone(), failure.clone());
        move |event: SubmitEvent| {
            event.prevent_default();
            match props.what.read(&props.workload, &text) {
                Ok(command) => {
                    let refused = refused(&props.dispatch);
                    props.dispatch.emit(Msg::Edit(vec![command], refused));
                }
                Err(error) => failure.set(Some(error.into())),
            }
        }
    };
    html! {
        <form class="setting" {onsubmit} data-testid={props.testid}>
            <TextField label={props.label} value={(*text).clone()} placeholder={props.placeholder}
                {oninput} />
            <button class="btn" disabled={*text == props.value}>{ props.words }</button>
            { error_list(failure.as_slice()) }
        </form>
    }
}
