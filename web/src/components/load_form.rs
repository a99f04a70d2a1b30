//! A form that loads a node or a pod of it.

use taintlab_core::api::{NodeName, PodKey, Quantity};
use taintlab_core::command::{Command, CommandError, LoadedPod, NodeLoad};
use taintlab_core::kubelet::{NodeResource, PodResource, UsageCurve};
use taintlab_core::time::{Span, parse_duration};
use yew::prelude::*;

use super::forms::{SelectField, TextField, error_list};
use crate::app::{Dispatch, Msg};

/// Properties of [`LoadForm`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct LoadFormProps {
    /// The node.
    pub(crate) node: NodeName,
    /// Its pods.
    pub(crate) pods: Vec<AttrValue>,
    /// Where wishes go.
    pub(crate) dispatch: Dispatch,
}

/// What was typed.
#[derive(Clone, PartialEq)]
struct Load {
    who: String,
    what: String,
    shape: String,
    from: String,
    to: String,
    over: String,
}

/// What can be loaded, with the words for a node and for a pod.
const WHAT: [(&str, &str); 4] =
    [("memory", "Memory"), ("disk", "Disk"), ("inodes", "Inodes"), ("processes", "Processes")];
const SHAPES: [(&str, &str); 4] =
    [("constant", "constant"), ("ramp", "ramp"), ("step", "step"), ("sawtooth", "sawtooth")];

/// Loads a node, or a pod of it, from now on.
#[component]
pub(crate) fn LoadForm(props: &LoadFormProps) -> Html {
    let load = use_state(|| Load {
        who: String::new(),
        what: "memory".to_owned(),
        shape: "ramp".to_owned(),
        from: "0".to_owned(),
        to: "16Gi".to_owned(),
        over: "5m".to_owned(),
    });
    let failure = use_state(|| None::<AttrValue>);
    let set = |change: fn(&mut Load, String)| {
        let load = load.clone();
        Callback::from(move |text: String| {
            let mut new = (*load).clone();
            change(&mut new, text);
            load.set(new);
        })
    };
    let onsubmit = {
        let (node, load, failure) = (props.node.clone(), load.clone(), failure.clone());
        let dispatch = props.dispatch.clone();
        move |event: SubmitEvent| {
            event.prevent_default();
            let failed = failure.clone();
            match command(&node, &load) {
                Ok(command) => {
                    failure.set(None);
                    let refused = Callback::from(move |error: CommandError| {
                        failed.set(Some(error.to_string().into()));
                    });
                    dispatch.emit(Msg::Edit(vec![command], refused));
                }
                Err(error) => failure.set(Some(error.into())),
            }
        }
    };
    let words = |list: &[(&'static str, &'static str)]| -> Vec<(AttrValue, AttrValue)> {
        list.iter().map(|(value, words)| ((*value).into(), (*words).into())).collect()
    };
    let mut who: Vec<(AttrValue, AttrValue)> = vec![("".into(), "the node's system".into())];
    who.extend(props.pods.iter().map(|pod| (pod.clone(), pod.clone())));
    let is_constant = load.shape == "constant";
    html! {
        <form class="stack" {onsubmit} data-testid="load-form">
            <SelectField label="Who uses it" value={load.who.clone()} options={who}
                onchange={set(|load, text| load.who = text)} />
            <div class="row">
                <SelectField label="What" value={load.what.clone()} options={words(&WHAT)}
                    onchange={set(|load, text| load.what = text)} />
                <SelectField label="Shape" value={load.shape.clone()} options={words(&SHAPES)}
                    onchange={set(|load, text| load.shape = text)} />
            </div>
            if !is_constant {
                <TextField label="From" value={load.from.clone()}
                    oninput={set(|load, text| load.from = text)} />
            }
            <TextField label={if is_constant { "Amount" } else { "To" }} value={load.to.clone()}
                oninput={set(|load, text| load.to = text)} />
            if !is_constant {
                <TextField label={if load.shape == "ramp" { "Within" } else if load.shape == "step" { "After" } else { "Every" }}
                    value={load.over.clone()} oninput={set(|load, text| load.over = text)} />
            }
            { error_list((*failure).clone().as_slice()) }
            <div><button class="btn small">{ "Load from now on" }</button></div>
        </form>
    }
}

fn command(node: &NodeName, load: &Load) -> Result<Command, String> {
    let quantity = |name: &str, text: &str| {
        Quantity::parse(text.trim()).map_err(|error| format!("{name}: {error}"))
    };
    let to = quantity("To", &load.to)?;
    let usage = if load.shape == "constant" {
        UsageCurve::Constant(to)
    } else {
        let from = quantity("From", &load.from)?;
        let over = parse_duration(load.over.trim()).map_err(|error| format!("Within: {error}"))?;
        let over = Span(over);
        match load.shape.as_str() {
            "step" => UsageCurve::Step { before: from, after: to, at: over },
            "sawtooth" => {
                UsageCurve::Sawtooth { low: from, high: to, period: over, start: Span::default() }
            }
            _ => UsageCurve::Ramp { from, to, start: Span::default(), end: over },
        }
    };
    if load.who.is_empty() {
        let resource = match load.what.as_str() {
            "disk" => NodeResource::Nodefs,
            "inodes" => NodeResource::NodefsInodes,
            "processes" => NodeResource::Processes,
            _ => NodeResource::Memory,
        };
        let node = node.clone();
        return Ok(Command::LoadNode(NodeLoad {
            node,
            resource,
            usage: Some(usage),
            leaves: None,
        }));
    }
    let resource = match load.what.as_str() {
        "disk" => PodResource::Logs,
        "inodes" => PodResource::LogsInodes,
        "processes" => PodResource::Processes,
        _ => PodResource::Memory,
    };
    let pod = PodKey::parse(&load.who).map_err(|error| error.to_string())?;
    Ok(Command::LoadPod(LoadedPod { pod, container: String::new(), resource, usage }))
}
