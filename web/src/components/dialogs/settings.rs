//! The flags of kube-controller-manager, release by release.

use std::collections::BTreeMap;
use std::rc::Rc;

use taintlab_core::api::NodeName;
use taintlab_core::controllers::autoscaler::check_max_size;
use taintlab_core::controllers::descheduler::DeschedulerSettings;
use taintlab_core::kubelet::heartbeat::KubeletSettings;
use taintlab_core::order::{OrderedMap, tree};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::HealthPassTime;
use taintlab_core::time::{Span, parse_duration};
use yew::prelude::*;

use crate::components::parts::forms::{Choice, TextField, releases};
use crate::components::parts::modal::Modal;
use crate::messages::{Dispatch, Msg};
use crate::protocol::FlagsView;
use crate::session::{NodeGroups, StartChange, StartSettings};
use crate::test_id::TestId;

/// Properties of [`Settings`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct SettingsProps {
    /// The release that runs.
    pub(crate) release: KubernetesRelease,
    /// The flags that were set, by name.
    pub(crate) flags: BTreeMap<String, String>,
    /// Whether kubelets and the node lifecycle controller run.
    pub(crate) node_lifecycle: bool,
    /// The time that health passes take.
    pub(crate) health_pass: HealthPassTime,
    /// The settings of the kubelets.
    pub(crate) kubelets: KubeletSettings,
    /// The descheduler, if there is one.
    pub(crate) descheduler: Option<DeschedulerSettings>,
    /// The node groups of the autoscaler, each with its maximum size, if there is one.
    pub(crate) autoscaler: Option<Vec<(String, u32)>>,
    /// Nodes that an autoscaler's node group can copy.
    pub(crate) nodes: Rc<Vec<NodeName>>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The form's input for the descheduler and the autoscaler.
#[derive(Clone, PartialEq)]
struct Others {
    /// The interval of the descheduler, if there is one.
    interval: Option<String>,
    /// The model for new nodes: a node's name, or [`AS_IT_IS`] for the present groups; empty
    /// without an autoscaler.
    like: String,
    /// The maximum size of the node group; empty unless there is exactly one.
    most: String,
}

/// The settings of both.
type AddOns = (Option<DeschedulerSettings>, Option<NodeGroups>);

/// The choice, in place of a node's name, that keeps the present node groups.
const AS_IT_IS: &str = " ";

impl Others {
    fn of(props: &SettingsProps) -> Self {
        let interval = props.descheduler.as_ref().map(|it| it.descheduling_interval.to_string());
        let groups = props.autoscaler.as_deref();
        let like = if groups.is_some() { AS_IT_IS } else { "" };
        let most = match groups {
            Some([(_, most)]) => most.to_string(),
            _ => String::new(),
        };
        Self { interval, like: like.to_owned(), most }
    }

    /// The settings, or the errors in the interval and in the maximum size.
    fn settings(&self, props: &SettingsProps) -> Result<AddOns, [Option<String>; 2]> {
        let descheduler = self.interval.as_ref().map(|text| {
            let descheduling_interval = Span(parse_duration(text.trim())?);
            let known = props.descheduler.clone().unwrap_or_default();
            let settings = DeschedulerSettings { descheduling_interval, ..known };
            settings.check().map(|()| settings)
        });
        let descheduler = descheduler.transpose();
        let most = self.most.trim().parse::<u32>();
        let most = most.map_err(|_| "must be a whole number, for example 5".to_owned());
        let most = most.and_then(|most| check_max_size(most).map(|()| most));
        let autoscaler = match (self.like.as_str(), &props.autoscaler) {
            ("", _) => Ok(None),
            (AS_IT_IS, Some(groups)) if groups.len() == 1 => {
                most.map(|most| Some(NodeGroups::Present(Some(most))))
            }
            (AS_IT_IS, _) => Ok(Some(NodeGroups::Present(None))),
            (node, _) => most.map(|most| Some(NodeGroups::Like(node.into(), most))),
        };
        match (descheduler, autoscaler) {
            (Ok(descheduler), Ok(autoscaler)) => Ok((descheduler, autoscaler)),
            (descheduler, autoscaler) => Err([descheduler.err(), autoscaler.err()]),
        }
    }
}

/// The fields besides flags, each with its description.
const FIELDS: [(&str, &str); 5] = [
    (
        "healthPass.perNode",
        "how long a health pass takes for each node, which delays the next pass; set all three \
         to 0s for ideal clocks",
    ),
    (
        "healthPass.perWrite",
        "how long it takes to write the status of one node; since 1.27, of eight at a time",
    ),
    (
        "healthPass.informerLag",
        "how late the controller's cache knows that a node is Unknown; since 1.34 a tainting pass \
         before that loses a token",
    ),
    (
        "kubelets.phaseSeed",
        "spreads the heartbeats of the kubelets, each number in its own way; with 0 they begin \
         together",
    ),
    (
        "kubelets.jitterSeed",
        "lets heartbeats be up to 4 % late since 1.22, so that kubelets drift apart, each number \
         in its own way; with 0 their clocks are exact",
    ),
];

/// The values of the fields as text.
fn words(pass: HealthPassTime, kubelets: KubeletSettings) -> [String; 5] {
    [
        pass.per_node.to_string(),
        pass.per_write.to_string(),
        pass.informer_lag.to_string(),
        kubelets.phase_seed.to_string(),
        kubelets.jitter_seed.to_string(),
    ]
}

/// The texts of the fields in the form: empty for the default.
fn field_texts(pass: HealthPassTime, kubelets: KubeletSettings) -> [String; 5] {
    let mut texts = words(pass, kubelets);
    let defaults = words(HealthPassTime::MEASURED, KubeletSettings::default());
    for (text, _) in texts.iter_mut().zip(&defaults).filter(|(text, default)| text == default) {
        text.clear();
    }
    texts
}

/// The settings in the form, or the error of each field.
fn read_fields(
    [node, write, lag, phase, jitter]: &[String; 5],
    known: KubeletSettings,
) -> Result<(HealthPassTime, KubeletSettings), [Option<String>; 5]> {
    let (pass, kubelets) = (HealthPassTime::MEASURED, KubeletSettings::default());
    let time = |text: &str, default| match text.trim() {
        "" => Ok(default),
        text => parse_duration(text).map(Span),
    };
    let seed = |text: &str, default| match text.trim() {
        "" => Ok(default),
        text => text.parse().map_err(|_| "must be a whole number, for example 7".to_owned()),
    };
    let (node, write) = (time(node, pass.per_node), time(write, pass.per_write));
    let lag = time(lag, pass.informer_lag);
    match (node, write, lag, seed(phase, kubelets.phase_seed), seed(jitter, kubelets.jitter_seed)) {
        (Ok(per_node), Ok(per_write), Ok(informer_lag), Ok(phase_seed), Ok(jitter_seed)) => Ok((
            HealthPassTime { per_node, per_write, informer_lag },
            KubeletSettings { phase_seed, jitter_seed, ..known },
        )),
        (node, write, lag, phase, jitter) => {
            Err([node.err(), write.err(), lag.err(), phase.err(), jitter.err()])
        }
    }
}

/// The dialog with the flags: their values, their defaults, and their defaults in another release.
#[component]
pub(crate) fn Settings(props: &SettingsProps) -> Html {
    let chosen = use_state(|| props.release);
    let release = *chosen;
    let flags = use_state(|| props.flags.clone());
    let other = use_state(|| KubernetesRelease::all().next().unwrap_or(release));
    let runs = use_state(|| props.node_lifecycle);
    let others = use_state(|| Others::of(props));
    let fields = use_state(|| field_texts(props.health_pass, props.kubelets));
    let read = read_fields(&fields, props.kubelets);
    let usual = words(HealthPassTime::MEASURED, KubeletSettings::default());
    let settings = others.settings(props);
    let of_others = |index: usize| -> Vec<AttrValue> {
        let errors = settings.as_ref().err().and_then(|errors| errors.get(index)?.clone());
        errors.into_iter().map(AttrValue::from).collect()
    };
    let change = |change: fn(&mut Others, String)| {
        let others = others.clone();
        Callback::from(move |text: String| {
            let mut new = (*others).clone();
            change(&mut new, text);
            others.set(new);
        })
    };
    // None until the engine answers.
    let known = use_state(|| None::<Box<FlagsView>>);
    {
        let (known, dispatch) = (known.clone(), props.dispatch.clone());
        use_effect_with(([release, *other], (*flags).clone()), move |(releases, flags)| {
            let found = Callback::from(move |flags| known.set(Some(flags)));
            dispatch.emit(Msg::Flags(*releases, flags.clone(), found));
        });
    }
    let none = OrderedMap::new();
    let (defaults, theirs, errors) = match known.as_ref() {
        Some(known) => (known.defaults.as_slice(), &known.others, &known.errors),
        None => (&[][..], &none, &none),
    };
    let has = |name: &String| defaults.iter().any(|(known, _)| known == name);
    let error = |name: &str| -> Vec<AttrValue> {
        errors.get(name).into_iter().map(|error| AttrValue::from(error.clone())).collect()
    };
    let checked = known.as_ref().is_some_and(|known| known.release == release);
    let wrong = !checked || settings.is_err() || read.is_err() || !errors.is_empty();
    let apply = {
        // Flags of another release are kept until the form is applied.
        let its = flags.iter().filter(|(name, _)| has(name));
        let flags: BTreeMap<String, String> = tree(its.map(|(n, v)| (n.clone(), v.clone())));
        let runs = *runs;
        let settings = settings.clone().unwrap_or_default();
        let (health_pass, kubelets) =
            *read.as_ref().unwrap_or(&(props.health_pass, props.kubelets));
        props.dispatch.reform(move |event: SubmitEvent| {
            event.prevent_default();
            let (descheduler, autoscaler) = settings.clone();
            Msg::ChangeSettings(StartChange::Settings(Box::new(StartSettings {
                release,
                flags: flags.clone(),
                node_lifecycle: runs,
                health_pass,
                kubelets,
                descheduler,
                autoscaler,
            })))
        })
    };
    let row = |(name, default): &(String, String)| {
        let set_to = flags.get(name).cloned();
        let oninput = {
            let (flags, name, default) = (flags.clone(), name.clone(), default.clone());
            Callback::from(move |text: String| {
                let mut new = (*flags).clone();
                if text.trim().is_empty() || text == default {
                    new.remove(&name);
                } else {
                    new.insert(name.clone(), text);
                }
                flags.set(new);
            })
        };
        let there = theirs.get(name).cloned().unwrap_or_else(|| "no such flag".to_owned());
        let differs = there != *default;
        html! {
            <div class="flag" data-flag={name.clone()} data-differs={differs.to_string()}>
                <TextField label={format!("--{name}")} value={set_to.unwrap_or_default()}
                    placeholder={default.clone()} {oninput} errors={error(name)} />
                <span class="hint">
                    { format!("default {default}; in {}: {there}", *other) }
                    if differs { <b>{ " differs" }</b> }
                </span>
            </div>
        }
    };
    let field_row = |(index, ((name, what), default)): (usize, ((&'static str, &str), String))| {
        let oninput = {
            let fields = fields.clone();
            Callback::from(move |text: String| {
                let mut new = (*fields).clone();
                if let Some(field) = new.get_mut(index) {
                    *field = text;
                }
                fields.set(new);
            })
        };
        let error = read.as_ref().err().and_then(|errors| errors.get(index)?.clone());
        let errors: Vec<AttrValue> = error.into_iter().map(AttrValue::from).collect();
        html! {
            <div class="flag" data-flag={name}>
                <TextField label={name} value={fields.get(index).cloned().unwrap_or_default()}
                    placeholder={default.clone()} {oninput} {errors} />
                <span class="hint">{ format!("default {default}: {what}") }</span>
            </div>
        }
    };
    let only_there = theirs.keys().filter(|name| !has(name));
    let choose = |state: &UseStateHandle<KubernetesRelease>| {
        let state = state.clone();
        Callback::from(move |text: String| {
            if let Ok(release) = KubernetesRelease::parse(&text) {
                state.set(release);
            }
        })
    };
    let (releases, older) = releases();
    let toggle = {
        let runs = runs.clone();
        move |_: Event| runs.set(!*runs)
    };
    let deschedules = change(|it, _| {
        let every = DeschedulerSettings::default().descheduling_interval.to_string();
        it.interval = if it.interval.is_some() { None } else { Some(every) };
    });
    let groups = props.autoscaler.as_ref().map_or(0, Vec::len);
    let has_limit = !others.like.is_empty() && (others.like != AS_IT_IS || groups == 1);
    let mut likes: Vec<(AttrValue, AttrValue)> = vec![("".into(), "no autoscaler".into())];
    if let Some(groups) = &props.autoscaler {
        let groups: Vec<_> = groups.iter().map(|(name, _)| name.as_str()).collect();
        likes.push((AS_IT_IS.into(), format!("its groups: {}", groups.join(", ")).into()));
    }
    likes.extend(
        props.nodes.iter().map(|name| (name.to_string().into(), format!("like {name}").into())),
    );
    html! {
        <Modal title="Flags and controllers" dispatch={props.dispatch.clone()}>
            <form class="stack" onsubmit={apply} data-testid={TestId::Settings}>
                <label class="check">
                    <input type="checkbox" checked={*runs} onchange={toggle} />
                    { "Kubelets send heartbeats, and the node lifecycle controller watches them" }
                </label>
                <label class="check">
                    <input type="checkbox" checked={others.interval.is_some()}
                        onchange={deschedules.reform(|_: Event| String::new())}
                        data-testid={TestId::Descheduler} />
                    { "The descheduler evicts pods that do not tolerate a NoSchedule taint of \
                       their node" }
                </label>
                if let Some(interval) = &others.interval {
                    <TextField label="--descheduling-interval" value={interval.clone()}
                        oninput={change(|it, text| it.interval = Some(text))}
                        errors={of_others(0)} />
                }
                <label class="row">
                    <span>{ "Autoscaling" }</span>
                    <Choice value={others.like.clone()} options={likes}
                        onchange={change(|it, text| {
                            it.like = text;
                            if it.most.is_empty() {
                                it.most = "5".to_owned();
                            }
                        })}
                        label="New nodes of the autoscaler are like"
                        testid={TestId::Autoscaler} />
                </label>
                if has_limit {
                    <TextField label="Maximum nodes in the group"
                        value={others.most.clone()}
                        oninput={change(|it, text| it.most = text)} errors={of_others(1)} />
                }
                <p class="hint">
                    { format!("Flags of kube-controller-manager {release}. They apply from the \
                        beginning of the timeline; undo takes them back.") }
                </p>
                <label class="row">
                    <span>{ "Kubernetes" }</span>
                    <Choice value={release.to_string()} options={releases.clone()} {older}
                        onchange={choose(&chosen)}
                        label="Kubernetes release that runs" testid={TestId::SettingsRelease} />
                </label>
                <label class="row">
                    <span>{ "Compare with Kubernetes" }</span>
                    <Choice value={other.to_string()} options={releases} {older}
                        onchange={choose(&other)}
                        label="Release to compare with" testid={TestId::CompareRelease} />
                </label>
                <div class="flags">
                    { for defaults.iter().map(row) }
                    { for FIELDS.into_iter().zip(usual).enumerate().map(field_row) }
                </div>
                { for only_there.map(|name| html! {
                    <p class="hint" data-differs="true">
                        { format!("--{name} exists only in {}", *other) }
                    </p>
                }) }
                <div class="actions">
                    <button type="button" class="btn"
                        onclick={props.dispatch.reform(|_| Msg::CloseDialog)}>{ "Cancel" }</button>
                    <button class="btn primary" disabled={wrong}
                        data-testid={TestId::ApplySettings}>
                        { "Apply" }
                    </button>
                </div>
            </form>
        </Modal>
    }
}
