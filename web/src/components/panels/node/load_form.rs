//! A form that puts load on a node, or on one of its pods.

use std::rc::Rc;

use taintlab_core::api::{PodKey, Quantity};
use taintlab_core::command::{Command, LoadedPod, NodeLoad, NodeResources};
use taintlab_core::kubelet::{NodeCapacity, NodeResource, PodResource, UsageCurve};
use taintlab_core::time::{Span, parse_duration};
use yew::prelude::*;

use crate::components::parts::forms::{
    SelectField, TextField, error_list, plain_options, refused_into,
};
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;

/// Properties of [`LoadForm`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct LoadFormProps {
    /// The resources of the node.
    pub(crate) has: Rc<NodeResources>,
    /// The pods of the node.
    pub(crate) pods: Vec<AttrValue>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The input of the form.
#[derive(Clone, PartialEq)]
struct Load {
    who: String,
    what: NodeResource,
    shape: String,
    from: String,
    to: String,
    over: String,
    has: String,
}

/// The resources that can be loaded.
const WHAT: [NodeResource; 4] = [
    NodeResource::Memory,
    NodeResource::Nodefs,
    NodeResource::NodefsInodes,
    NodeResource::Processes,
];
/// The shapes of usage over time.
const SHAPES: [&str; 4] = ["constant", "ramp", "step", "sawtooth"];
/// The shape that fills the node up to a remaining amount, only for the node's system.
const FILL: (&str, &str) = ("leaves", "fill, leaving");

/// The words for a resource.
struct Words {
    name: &'static str,
    /// The amount proposed at first.
    amount: &'static str,
    /// An example of a node's capacity.
    has: &'static str,
}

const fn words(what: NodeResource) -> Words {
    let (name, amount, has) = match what {
        NodeResource::Memory => ("Memory", "16Gi", "64Gi"),
        NodeResource::Nodefs => ("Disk", "16Gi", "100Gi"),
        NodeResource::NodefsInodes => ("Inodes", "1M", "6M"),
        NodeResource::Images => ("Disk of images", "16Gi", "100Gi"),
        NodeResource::ImagesInodes => ("Inodes of images", "1M", "6M"),
        NodeResource::Processes => ("Processes", "10k", "32k"),
    };
    Words { name, amount, has }
}

impl Load {
    /// Switches to another resource. Input that can still be meant is kept; amounts of one resource
    /// mean nothing for another.
    fn choose(&mut self, name: &str) {
        let chosen = WHAT.into_iter().find(|what| words(*what).name == name);
        let Some(what) = chosen.filter(|what| *what != self.what) else { return };
        self.what = what;
        words(what).amount.clone_into(&mut self.to);
        "0".clone_into(&mut self.from);
        self.has.clear();
    }

    /// Whether the load is a pod's.
    fn of_pod(&self) -> bool {
        !self.who.is_empty()
    }

    /// The shape; a pod cannot fill its node exactly.
    fn shape(&self) -> &str {
        if self.of_pod() && self.shape == FILL.0 { "constant" } else { &self.shape }
    }

    /// The labels of the fields for the amount and the time.
    fn labels(&self) -> (&'static str, Option<&'static str>) {
        match self.shape() {
            "leaves" => ("Left", None),
            "constant" => ("Amount", None),
            "step" => ("To", Some("After")),
            "sawtooth" => ("To", Some("Every")),
            _ => ("To", Some("Within")),
        }
    }

    /// The node's capacity of the resource, if it is known.
    fn known<'a>(&self, has: &'a mut NodeCapacity) -> &'a mut Option<Quantity> {
        match self.what {
            NodeResource::Memory => &mut has.memory,
            NodeResource::Nodefs => &mut has.nodefs,
            NodeResource::NodefsInodes => &mut has.nodefs_inodes,
            NodeResource::Images => &mut has.imagefs,
            NodeResource::ImagesInodes => &mut has.imagefs_inodes,
            NodeResource::Processes => &mut has.pids,
        }
    }
}

/// The form that loads a node, or one of its pods, from now on.
#[component]
pub(crate) fn LoadForm(props: &LoadFormProps) -> Html {
    let load = use_state(|| Load {
        who: String::new(),
        what: NodeResource::Memory,
        shape: "ramp".to_owned(),
        from: "0".to_owned(),
        to: words(NodeResource::Memory).amount.to_owned(),
        over: "5m".to_owned(),
        has: String::new(),
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
        let (has, load, failure) = (props.has.clone(), load.clone(), failure.clone());
        let dispatch = props.dispatch.clone();
        move |event: SubmitEvent| {
            event.prevent_default();
            match commands(&has, &load) {
                Ok(commands) => {
                    failure.set(None);
                    dispatch.emit(Msg::Edit(commands, refused_into(&failure)));
                }
                Err(error) => failure.set(Some(error.into())),
            }
        }
    };
    let mut who: Vec<(AttrValue, AttrValue)> = vec![("".into(), "the node's system".into())];
    who.extend(props.pods.iter().map(|pod| (pod.clone(), pod.clone())));
    let mut shapes = plain_options(SHAPES);
    if !load.of_pod() {
        shapes.push((FILL.0.into(), FILL.1.into()));
    }
    let what = words(load.what);
    let (to, over) = load.labels();
    let unknown = load.known(&mut props.has.capacity.clone()).is_none();
    html! {
        <form class="stack" {onsubmit} data-testid={TestId::LoadForm}>
            <SelectField label="Who uses it" value={load.who.clone()} options={who}
                onchange={set(|load, text| load.who = text)} />
            <div class="cols">
                <SelectField label="What" value={what.name}
                    options={plain_options(WHAT.map(|what| words(what).name))}
                    onchange={set(|load, text| load.choose(&text))} />
                <SelectField label="Shape" value={load.shape().to_owned()} options={shapes}
                    onchange={set(|load, text| load.shape = text)} />
            </div>
            if unknown {
                <TextField label="The node has" value={load.has.clone()} placeholder={what.has}
                    oninput={set(|load, text| load.has = text)} />
            }
            <div class="cols">
                if over.is_some() {
                    <TextField label="From" value={load.from.clone()}
                        oninput={set(|load, text| load.from = text)} />
                }
                <TextField label={to} value={load.to.clone()}
                    oninput={set(|load, text| load.to = text)} />
                if let Some(over) = over {
                    <TextField label={over} value={load.over.clone()}
                        oninput={set(|load, text| load.over = text)} />
                }
            </div>
            { error_list((*failure).clone().as_slice()) }
            <div><button class="btn small">{ "Apply load" }</button></div>
        </form>
    }
}

fn commands(has: &NodeResources, load: &Load) -> Result<Vec<Command>, String> {
    let quantity = |name: &str, text: &str| {
        Quantity::parse(text.trim()).map_err(|error| format!("{name}: {error}"))
    };
    let mut commands = Vec::new();
    let mut said = has.clone();
    let known = load.known(&mut said.capacity);
    if known.is_none() {
        *known = Some(quantity("The node has", &load.has)?);
        commands.push(Command::SetNodeResources(said.into()));
    }
    let (to_label, over_label) = load.labels();
    let to = quantity(to_label, &load.to)?;
    if load.shape() == FILL.0 {
        commands.push(of_node(has, load, None, Some(to)));
        return Ok(commands);
    }
    let usage = match over_label {
        None => UsageCurve::Constant(to),
        Some(label) => {
            let from = quantity("From", &load.from)?;
            let over = parse_duration(load.over.trim());
            curve(load, from, to, Span(over.map_err(|error| format!("{label}: {error}"))?))
        }
    };
    if !load.of_pod() {
        commands.push(of_node(has, load, Some(usage), None));
        return Ok(commands);
    }
    let resource = match load.what {
        NodeResource::Memory => PodResource::Memory,
        // A container's logs are on the kubelet's file system in every layout.
        NodeResource::Nodefs => PodResource::Logs,
        NodeResource::NodefsInodes => PodResource::LogsInodes,
        NodeResource::Images => PodResource::Rootfs,
        NodeResource::ImagesInodes => PodResource::RootfsInodes,
        NodeResource::Processes => PodResource::Processes,
    };
    let pod = PodKey::parse(&load.who).map_err(|error| error.to_string())?;
    commands.push(Command::LoadPod(LoadedPod { pod, container: String::new(), resource, usage }));
    Ok(commands)
}

fn curve(load: &Load, from: Quantity, to: Quantity, over: Span) -> UsageCurve {
    match load.shape() {
        "step" => UsageCurve::Step { before: from, after: to, at: over },
        "sawtooth" => {
            UsageCurve::Sawtooth { low: from, high: to, period: over, start: Span::default() }
        }
        _ => UsageCurve::Ramp { from, to, start: Span::default(), end: over },
    }
}

fn of_node(
    has: &NodeResources,
    load: &Load,
    usage: Option<UsageCurve>,
    leaves: Option<Quantity>,
) -> Command {
    Command::LoadNode(NodeLoad { node: has.node.clone(), resource: load.what, usage, leaves })
}
