//! The dialogs that create nodes and pods.

use taintlab_core::api::{ConditionStatus, Node, NodeCondition, Pod, Taint, TaintEffect};
use taintlab_core::command::Command;
use taintlab_core::controllers::node_lifecycle::zone::{REGION_LABEL, ZONE_LABEL};
use taintlab_core::policy::admission::default_tolerations;
use taintlab_core::policy::validation::{
    FieldError, ValidationOptions, validate_node, validate_pod,
};
use taintlab_core::time::{Span, parse_duration};
use yew::prelude::*;

use crate::components::parts::forms::{Choice, TextField, error_list, messages, refused_into};
use crate::components::parts::icon;
use crate::components::parts::modal::Modal;
use crate::components::parts::new_row::use_new_row;
use crate::components::parts::taint_editor::{TaintEditor, taint_errors};
use crate::components::parts::toleration_editor::{
    Draft, TolerationEditor, drafts, errors_of_new, everything, read,
};
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;

/// The maximum number of nodes offered.
const MOST_CHOICES: usize = 500;

/// Properties of [`CreateNode`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct CreateNodeProps {
    /// The existing zones: name and region.
    pub(crate) zones: Vec<(AttrValue, AttrValue)>,
    /// The validation rules of the API server.
    pub(crate) options: ValidationOptions,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The errors to show for a field; an empty name is no error before the first attempt.
fn typed(tried: bool, text: &str, errors: Vec<AttrValue>) -> Vec<AttrValue> {
    if tried || !text.is_empty() { errors } else { Vec::new() }
}

/// Sends a command. The dialog closes on success, and shows the reason on failure.
fn sender(dispatch: &Dispatch, failure: &UseStateHandle<Option<AttrValue>>) -> Callback<Command> {
    let (dispatch, failure) = (dispatch.clone(), failure.clone());
    Callback::from(move |command: Command| {
        failure.set(None);
        dispatch.emit(Msg::EditAndClose(vec![command], refused_into(&failure)));
    })
}

/// The start of a new node's kubelet: immediately, some time later, or on command.
const STARTS: [(&str, &str); 3] =
    [("now", "at once"), ("later", "after a while"), ("never", "when it is told to")];

/// The dialog that creates a node.
#[component]
pub(crate) fn CreateNode(props: &CreateNodeProps) -> Html {
    let name = use_state(String::new);
    let zone =
        use_state(|| props.zones.first().map(|(zone, _)| zone.to_string()).unwrap_or_default());
    let taints = use_state(Vec::<Taint>::new);
    let starts = use_state(|| "now".to_owned());
    let after = use_state(|| "90s".to_owned());
    let failure = use_state(|| None::<AttrValue>);
    let tried = use_state(|| false);
    // Without the region of the known zone, the node would be in another zone.
    let known = props.zones.iter().find(|(known, _)| *known == zone.as_str());
    let region = known.map(|(_, region)| region.clone()).unwrap_or_default();
    let names: Vec<AttrValue> = props.zones.iter().map(|(zone, _)| zone.clone()).collect();
    let node = new_node(&name, &zone, &region, &taints);
    let errors = validate_node(&node, &props.options);
    let command = create_node(node, &starts, &after);
    let of_start: Vec<AttrValue> =
        command.as_ref().err().into_iter().map(|error| error.clone().into()).collect();
    let valid = errors.is_empty() && taint_errors(&taints).is_empty();
    let new_row = use_new_row(taints.len());
    let add = {
        let taints = taints.clone();
        new_row.adds(move || {
            let mut all = (*taints).clone();
            all.push(Taint::new("", "", TaintEffect::NoExecute));
            taints.set(all);
        })
    };
    let onsubmit = {
        let (tried, send) = (tried.clone(), sender(&props.dispatch, &failure));
        move |event: SubmitEvent| {
            event.prevent_default();
            tried.set(true);
            if let (true, Ok(command)) = (valid, &command) {
                send.emit(command.clone());
            }
        }
    };
    html! {
        <Modal title="Create a node" dispatch={props.dispatch.clone()} width={560}>
            <form class="stack" ref={new_row.form.clone()}
            onclick={new_row.onclick()} {onsubmit} data-testid={TestId::CreateNode}>
                <div class="cols">
                    <TextField label="Name" value={(*name).clone()} autofocus=true
                        placeholder="worker-7" oninput={setter(&name)}
                        errors={typed(*tried, &name, messages(&errors, "metadata.name"))} />
                    <TextField label="Zone" value={(*zone).clone()} list={names}
                        placeholder="none" oninput={setter(&zone)}
                        errors={messages(&errors, "metadata.labels")} />
                </div>
                <div class="cols">
                    <label class="field">
                        <span>{ "Its kubelet starts" }</span>
                        <Choice value={(*starts).clone()} onchange={setter(&starts)}
                            options={STARTS.map(|(value, words)| {
                                (value.into(), words.into())
                            }).to_vec()} />
                    </label>
                    if *starts == "later" {
                        <TextField label="After" value={(*after).clone()} placeholder="90s"
                            oninput={setter(&after)} errors={of_start} />
                    }
                </div>
                <TaintEditor taints={(*taints).clone()} onchange={
                    let taints = taints.clone();
                    Callback::from(move |new| taints.set(new))
                } />
                <div><button type="button" class="btn small" onclick={add}>
                    { icon::plus() }{ "Add a taint" }
                </button></div>
                { error_list(failure.as_slice()) }
                { actions(&props.dispatch, "Create the node") }
            </form>
        </Modal>
    }
}

/// The command that creates a node. Until its kubelet starts, a node has no status.
fn create_node(mut node: Node, starts: &str, after: &str) -> Result<Command, String> {
    if starts == "now" {
        return Ok(Command::CreateNode(node));
    }
    node.status.conditions.clear();
    let kubelet_starts_after = match starts {
        "later" => Some(Span(parse_duration(after)?)),
        _ => None,
    };
    Ok(Command::RegisterNode { node, kubelet_starts_after })
}

fn setter(state: &UseStateHandle<String>) -> Callback<String> {
    let state = state.clone();
    Callback::from(move |text: String| state.set(text.trim().to_owned()))
}

fn actions(dispatch: &Dispatch, words: &'static str) -> Html {
    html! {
        <div class="actions">
            <button type="button" class="btn" onclick={dispatch.reform(|_| Msg::CloseDialog)}>
                { "Cancel" }
            </button>
            <button class="btn primary" data-testid={TestId::Create}>{ words }</button>
        </div>
    }
}

fn new_node(name: &str, zone: &str, region: &str, taints: &[Taint]) -> Node {
    let mut node = Node::default();
    node.metadata.name = name.to_owned();
    if !zone.is_empty() {
        node.metadata.labels.insert(ZONE_LABEL.to_owned(), zone.to_owned());
    }
    if !region.is_empty() {
        node.metadata.labels.insert(REGION_LABEL.to_owned(), region.to_owned());
    }
    node.spec.taints = taints.to_vec();
    node.status.conditions.push(NodeCondition {
        type_: "Ready".to_owned(),
        status: ConditionStatus::True,
        reason: "KubeletReady".to_owned(),
        ..NodeCondition::default()
    });
    node
}

/// Properties of [`CreatePod`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct CreatePodProps {
    /// The node that the dialog proposes.
    pub(crate) node: AttrValue,
    /// The existing nodes.
    pub(crate) nodes: Vec<AttrValue>,
    /// The validation rules of the API server.
    pub(crate) options: ValidationOptions,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The dialog that creates a pod.
#[component]
pub(crate) fn CreatePod(props: &CreatePodProps) -> Html {
    let namespace = use_state(|| "default".to_owned());
    let name = use_state(String::new);
    let node = use_state(|| props.node.to_string());
    let tolerations = use_state(|| drafts(&default_tolerations()));
    let failure = use_state(|| None::<AttrValue>);
    let tried = use_state(|| false);
    let pod = new_pod(&namespace, &name, &node, &tolerations);
    let errors = pod.as_ref().map(|pod| validate_pod(pod, &props.options)).unwrap_or_default();
    let of_tolerations = errors_of_new(&tolerations, &props.options);
    let onsubmit = {
        let (tried, send) = (tried.clone(), sender(&props.dispatch, &failure));
        let valid = pod.filter(|_| errors.is_empty());
        move |event: SubmitEvent| {
            event.prevent_default();
            tried.set(true);
            if let Some(pod) = &valid {
                send.emit(Command::CreatePod(pod.clone()));
            }
        }
    };
    let set = {
        let tolerations = tolerations.clone();
        Callback::from(move |new: Vec<Draft>| tolerations.set(new))
    };
    html! {
        <Modal title="Create a pod" dispatch={props.dispatch.clone()} width={620}>
            <form class="stack" {onsubmit} data-testid={TestId::CreatePod}>
                <div class="cols">
                    <TextField label="Name" value={(*name).clone()} autofocus=true
                        placeholder="web-0" oninput={setter(&name)}
                        errors={typed(*tried, &name, messages(&errors, "metadata.name"))} />
                    <TextField label="Namespace" value={(*namespace).clone()}
                        oninput={setter(&namespace)}
                        errors={messages(&errors, "metadata.namespace")} />
                    <TextField label="Node" value={(*node).clone()}
                        list={props.nodes.iter().take(MOST_CHOICES).cloned().collect::<Vec<_>>()}
                        placeholder="none" oninput={setter(&node)}
                        errors={node_errors(&errors, &node, &props.nodes)} />
                </div>
                { presets(&set) }
                <TolerationEditor drafts={(*tolerations).clone()} errors={of_tolerations}
                    numeric={props.options.comparison_operators} onchange={set} />
                { error_list(failure.as_slice()) }
                { actions(&props.dispatch, "Create the pod") }
            </form>
        </Modal>
    }
}

/// The errors of the node's field. The API server accepts the name of a missing node, but it is
/// seldom meant.
fn node_errors(errors: &[FieldError], node: &str, nodes: &[AttrValue]) -> Vec<AttrValue> {
    let errors = messages(errors, "spec.nodeName");
    if errors.is_empty() && !node.is_empty() && !nodes.iter().any(|known| known == node) {
        return vec!["there is no such node".into()];
    }
    errors
}

fn presets(set: &Callback<Vec<Draft>>) -> Html {
    let preset = |words: &'static str, drafts: Vec<Draft>| {
        let onclick = set.reform(move |_: MouseEvent| drafts.clone());
        html! { <button type="button" class="btn small" {onclick}>{ words }</button> }
    };
    html! {
        <div class="row" role="group" aria-label="Tolerations to begin with">
            <h3>{ "Tolerations" }</h3>
            { preset("Default, 300 s", drafts(&default_tolerations())) }
            { preset("None", Vec::new()) }
            { preset("Everything", drafts(&everything())) }
        </div>
    }
}

fn new_pod(namespace: &str, name: &str, node: &str, tolerations: &[Draft]) -> Option<Pod> {
    let mut pod = Pod::default();
    pod.metadata.name = name.to_owned();
    pod.metadata.namespace = namespace.to_owned();
    pod.spec.node_name = node.to_owned();
    pod.spec.tolerations = read(tolerations)?.into();
    Some(pod)
}
