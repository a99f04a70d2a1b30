//! The panel of a pod.

pub(crate) mod gone;
pub(crate) mod refusals;
pub(crate) mod toleration_form;
pub(crate) mod volumes;
pub(crate) mod why;

use taintlab_core::command::{ApiErrorKind, Command, PodWrite};
use taintlab_core::controllers::taint_eviction::EvictionDecision;
use taintlab_core::pod_state::{PodHealth, PodState, PodVerdict};
use taintlab_core::time::Timestamp;
use yew::prelude::*;

use self::refusals::refusals;
use super::head::head;
use super::pod::toleration_form::TolerationForm;
use super::pod::volumes::volumes;
use super::pod::why::why;
use crate::components::parts::causes::how_it_came;
use crate::components::parts::draft::use_form_draft;
use crate::components::parts::forms::TextField;
use crate::components::parts::icon;
use crate::components::parts::label_form::LabelForm;
use crate::components::parts::pod_mark::timer_style;
use crate::components::parts::prose::in_words;
use crate::components::parts::style::style;
use crate::components::parts::tabs::{Tab, tabs};
use crate::components::parts::time_budget::time_budget;
use crate::components::parts::yaml_tab::YamlTab;
use crate::messages::{Dispatch, Msg, refused};
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::inspector_model::InspectedPod;
use crate::view_models::selection::Selection;

/// A tab of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PodTab {
    /// The reasons why the pod stays or goes.
    Why,
    /// The pod's tolerations, to be edited.
    Tolerations,
    /// The pod's labels, to be edited.
    Labels,
    /// The object as YAML.
    Yaml,
}

impl Tab for PodTab {
    fn as_str(self) -> &'static str {
        match self {
            Self::Why => "why",
            Self::Tolerations => "tolerations",
            Self::Labels => "labels",
            Self::Yaml => "yaml",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Why => "Why",
            Self::Tolerations => "Tolerations",
            Self::Labels => "Labels",
            Self::Yaml => "YAML",
        }
    }
}

/// Properties of [`PodPanel`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct PodPanelProps {
    /// The pod.
    pub(crate) pod: InspectedPod,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The panel of a pod.
#[component]
pub(crate) fn PodPanel(props: &PodPanelProps) -> Html {
    let tab = use_state(|| PodTab::Why);
    let bind_to = use_state(String::new);
    let (tolerations, pairs, yaml) = (use_form_draft(), use_form_draft(), use_form_draft());
    let (pod, dispatch) = (&props.pod, &props.dispatch);
    let state = pod.view.state;
    let name = html! {
        <><span class="muted">{ pod.view.key.namespace() }{ "/" }</span>{ pod.view.key.name() }</>
    };
    let badge = html! {
        <>
            <span class="badge" data-state={state.verdict.as_str()}>
                { state.verdict.words(1) }
            </span>
            <span class="badge" data-health={state.health.as_str()}>{ state.health.words() }</span>
        </>
    };
    let all = [
        (PodTab::Why, None),
        (PodTab::Tolerations, Some(pod.tolerations.len())),
        (PodTab::Labels, Some(pod.labels.len())),
        (PodTab::Yaml, None),
    ];
    let body = match *tab {
        PodTab::Tolerations => html! {
            <TolerationForm pod={pod.view.key.clone()} old={pod.tolerations.clone()}
                options={pod.options} draft={tolerations} dispatch={dispatch.clone()} />
        },
        PodTab::Labels => {
            let key = pod.view.key.clone();
            let command =
                Callback::from(move |labels| Command::SetPodLabels { pod: key.clone(), labels });
            html! {
                <LabelForm labels={pod.labels.clone()} {command} draft={pairs}
                    dispatch={dispatch.clone()} />
            }
        }
        PodTab::Yaml => html! {
            <YamlTab text={pod.yaml.clone()} of={Selection::Pod(pod.view.key.clone())}
                draft={yaml} dispatch={dispatch.clone()} />
        },
        PodTab::Why => html! {
            <div class="stack">
                { verdict(pod) }
                { pod.scheduling.as_deref().map(|decision| refusals(decision, dispatch)) }
                if waits_for_node(pod) { { bind(props, &bind_to) } }
                { how_it_came(&pod.causes, dispatch) }
                { pod.budget.as_deref().map(|budget| time_budget(budget, dispatch)) }
                { pod.storage.as_deref().map(|storage| volumes(storage, dispatch)) }
                { why(&pod.explanation) }
                { pod.earlier.as_deref().map(|budget| html! {
                    <details data-testid={TestId::EarlierPod}>
                        <summary>
                            { format!("An earlier pod of this name was evicted at {}",
                                budget.evicted_at.rounded()) }
                        </summary>
                        { time_budget(budget, dispatch) }
                    </details>
                }) }
                { failures(props) }
            </div>
        },
    };
    html! {
        <>
            { head("Pod", name, badge, actions(props), dispatch) }
            { tabs(&all, &tab) }
            <div class="body">{ body }</div>
        </>
    }
}

/// A form that binds the pod by hand, in place of the scheduler.
fn bind(props: &PodPanelProps, node: &UseStateHandle<String>) -> Html {
    let set = node.clone();
    let command = Command::BindPod { pod: props.pod.view.key.clone(), node: node.as_str().into() };
    let refused = refused(&props.dispatch);
    let onsubmit = props.dispatch.reform(move |event: SubmitEvent| {
        event.prevent_default();
        Msg::Edit(vec![command.clone()], refused.clone())
    });
    html! {
        <form class="stack" {onsubmit} data-testid={TestId::Bind}>
            <TextField label="Bind it to node" value={node.to_string()} placeholder="worker-1"
                oninput={move |text: String| set.set(text.trim().to_owned())} />
            <div><button class="btn small" disabled={node.is_empty()}>{ "Bind" }</button></div>
        </form>
    }
}

/// Whether the pod waits for a node, from the scheduler or by hand.
fn waits_for_node(pod: &InspectedPod) -> bool {
    matches!(pod.view.state.health, PodHealth::Pending | PodHealth::Unschedulable)
}

/// Whether the pod's containers have ended for good.
fn has_ended(state: PodState) -> bool {
    matches!(state.health, PodHealth::Failed | PodHealth::Succeeded)
}

fn capitalised(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// The fate of the pod, and its time.
fn verdict(pod: &InspectedPod) -> Html {
    let state = pod.view.state;
    let sentence = pod.explanation.matching.sentence();
    // The headline already says that the pod stays, or that an older timer wins.
    let stays = sentence.strip_prefix("stays: ");
    let device = pod.explanation.device.as_ref();
    let timer_wins = stays.is_some() && state.verdict == PodVerdict::Counting && device.is_none();
    let sentence = match stays {
        Some(stays) if timer_wins => format!("Without that timer it would stay: {stays}"),
        Some(stays) => stays.to_owned(),
        None => sentence,
    };
    let decided = pod.decided.as_ref().map(|(when, decision)| decided(*when, decision));
    let counts = timer_style(state);
    let headline = match state.verdict {
        PodVerdict::Stays if waits_for_node(pod) => "Has no node".to_owned(),
        PodVerdict::Stays if has_ended(state) => format!("Has ended: {}", state.health),
        _ => capitalised(&state.verdict_text()),
    };
    html! {
        <div class="verdict" data-state={state.verdict.as_str()} data-health={state.health.as_str()}
            data-testid={TestId::Verdict}>
            <div class="row">
                <b>{ headline }</b>
                if let Some(counts) = counts {
                    <span class="pod" data-state={state.verdict.as_str()} aria-hidden="true"
                        ~style={style(format!("width:auto;padding:0;min-height:0;margin-left:auto;{counts}"))}>
                        <span class="ring"></span><span class="timer"></span>
                    </span>
                }
            </div>
            if let Some(wall_clock) = &pod.wall_clock {
                <span class="muted num">{ wall_clock }</span>
            }
            if timer_wins { { decided.clone() } }
            if let Some(device) = device {
                <p data-testid={TestId::DeviceEviction}>
                    { in_words(&format!("{}.", capitalised(&device.decision()))) }
                    if let Some(toleration) = &device.toleration {
                        <br /><code>{ toleration.clone() }</code>
                    }
                </p>
            }
            if has_ended(state) {
                <p>{ pod.message.clone() }</p>
            } else if !waits_for_node(pod) {
                <p>{ in_words(&sentence) }</p>
            }
            if !timer_wins { { decided } }
        </div>
    }
}

/// The controller's last decision, with its time.
fn decided(when: Timestamp, decision: &EvictionDecision) -> Html {
    html! { <p class="muted">{ format!("Decided at {}: {decision}", at(when)) }</p> }
}

fn actions(props: &PodPanelProps) -> Html {
    let (pod, dispatch) = (&props.pod, &props.dispatch);
    let key = &pod.view.key;
    let edit = |command: Command| {
        let refused = refused(dispatch);
        dispatch.reform(move |_: MouseEvent| Msg::Edit(vec![command.clone()], refused.clone()))
    };
    let delete = |force: bool| {
        edit(Command::DeletePod { pod: key.clone(), force, grace_period_seconds: None })
    };
    let node = pod.view.node.clone();
    html! {
        <>
            if !node.is_empty() {
                <button class="btn small" title="Select its node"
                    onclick={dispatch.reform(move |_| {
                    Msg::Select(Some(Selection::Node(node.as_str().into())))
                })}><span class="muted">{ "on" }</span>{ pod.view.node.clone() }</button>
            }
            <button class="btn small danger" onclick={delete(false)}
                disabled={matches!(pod.view.state.verdict,
                    PodVerdict::Terminating | PodVerdict::Stuck)}>
                { icon::bin() }{ "Delete" }
            </button>
            <button class="btn small danger" title="kubectl delete --force --grace-period=0"
                onclick={delete(true)}>{ "Force delete" }</button>
        </>
    }
}

/// Failures that can be caused for this pod.
fn failures(props: &PodPanelProps) -> Html {
    let key = &props.pod.view.key;
    let fail = |times: u32| {
        let (pod, error) = (key.clone(), ApiErrorKind::InternalError);
        let command = Command::FailPodWrites { pod, verb: PodWrite::Delete, times, error };
        let refused = refused(&props.dispatch);
        props
            .dispatch
            .reform(move |_: MouseEvent| Msg::Edit(vec![command.clone()], refused.clone()))
    };
    html! {
        <details>
            <summary>{ "Simulate failing deletes" }</summary>
            <div class="stack">
                <p class="hint">
                    { "The API server answers the next DELETE of this pod with 500 InternalError. \
                       The controller tries 5 times, 10 ms apart." }
                </p>
                <div class="row">
                    <button class="btn small" onclick={fail(2)}>{ "2 times" }</button>
                    <button class="btn small" onclick={fail(5)}>{ "5 times" }</button>
                    <button class="btn small" onclick={fail(0)}>{ "No longer" }</button>
                </div>
            </div>
        </details>
    }
}
