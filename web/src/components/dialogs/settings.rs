//! The flags of kube-controller-manager, release by release.

use std::collections::BTreeMap;

use taintlab_core::controllers::node_lifecycle::NodeLifecycleConfig;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use yew::prelude::*;

use crate::components::parts::forms::{Choice, TextField};
use crate::components::parts::modal::Modal;
use crate::messages::{Dispatch, Msg};
use crate::session::set_release;
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
    /// Where messages go.
    pub(crate) dispatch: Dispatch,
}

/// The flags: what they are, what they would be, and what they are in another release.
#[component]
pub(crate) fn Settings(props: &SettingsProps) -> Html {
    let chosen = use_state(|| props.release);
    let release = *chosen;
    let flags = use_state(|| props.flags.clone());
    let other = use_state(|| KubernetesRelease::all().next().unwrap_or(release));
    let runs = use_state(|| props.node_lifecycle);
    let defaults: Vec<_> = NodeLifecycleConfig::of(release).flags(release).collect();
    let theirs: BTreeMap<_, _> = NodeLifecycleConfig::of(*other).flags(*other).collect();
    let error = |name: &str| -> Vec<AttrValue> {
        let Some(value) = flags.get(name) else { return Vec::new() };
        let result = NodeLifecycleConfig::of(release).set_flag(release, name, value);
        result.err().map(|error| error.to_string().into()).into_iter().collect()
    };
    let wrong = known_to(release, &flags).keys().any(|name| !error(name).is_empty());
    let apply = {
        let (flags, runs) = (known_to(release, &flags), *runs);
        props.dispatch.reform(move |event: SubmitEvent| {
            event.prevent_default();
            let flags = flags.clone();
            Msg::ChangeSettings(Box::new(move |start| set(start, release, flags, runs)))
        })
    };
    let row = |(name, default): &(&'static str, String)| {
        let name = *name;
        let set_to = flags.get(name).cloned();
        let oninput = {
            let (flags, default) = (flags.clone(), default.clone());
            Callback::from(move |text: String| {
                let mut new = (*flags).clone();
                if text.trim().is_empty() || text == default {
                    new.remove(name);
                } else {
                    new.insert(name.to_owned(), text);
                }
                flags.set(new);
            })
        };
        let there = theirs.get(name).cloned().unwrap_or_else(|| "no such flag".to_owned());
        let differs = there != *default;
        html! {
            <div class="flag" data-flag={name} data-differs={differs.to_string()}>
                <TextField label={format!("--{name}")} value={set_to.unwrap_or_default()}
                    placeholder={default.clone()} {oninput} errors={error(name)} />
                <span class="hint">
                    { format!("default {default}; in {}: {there}", *other) }
                    if differs { <b>{ " differs" }</b> }
                </span>
            </div>
        }
    };
    let only_there = theirs.keys().filter(|name| !defaults.iter().any(|(known, _)| known == *name));
    let choose = |state: &UseStateHandle<KubernetesRelease>| {
        let state = state.clone();
        Callback::from(move |text: String| {
            if let Ok(release) = KubernetesRelease::parse(&text) {
                state.set(release);
            }
        })
    };
    let releases = KubernetesRelease::all().rev().map(|release| release.to_string());
    let releases: Vec<_> = releases.map(|text| (text.clone().into(), text.into())).collect();
    let toggle = {
        let runs = runs.clone();
        move |_: Event| runs.set(!*runs)
    };
    html! {
        <Modal title="Settings" dispatch={props.dispatch.clone()}>
            <form class="stack" onsubmit={apply} data-testid={TestId::Settings}>
                <label class="check">
                    <input type="checkbox" checked={*runs} onchange={toggle} />
                    { "Kubelets send heartbeats, and the node lifecycle controller watches them" }
                </label>
                <p class="hint">
                    { format!("Flags of kube-controller-manager {release}. They apply from the \
                        beginning of the timeline; undo takes them back.") }
                </p>
                <label class="row">
                    <span>{ "Kubernetes" }</span>
                    <Choice value={release.to_string()} options={releases.clone()}
                        onchange={choose(&chosen)}
                        label="Kubernetes release that runs" testid={TestId::SettingsRelease} />
                </label>
                <label class="row">
                    <span>{ "Compare with Kubernetes" }</span>
                    <Choice value={other.to_string()} options={releases} onchange={choose(&other)}
                        label="Release to compare with" testid={TestId::CompareRelease} />
                </label>
                <div class="flags">{ for defaults.iter().map(row) }</div>
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

/// The flags that a release has; what was set of another is not lost until it is applied.
fn known_to(
    release: KubernetesRelease,
    flags: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let known: Vec<_> = NodeLifecycleConfig::of(release).flags(release).collect();
    let has = |name: &str| known.iter().any(|(flag, _)| *flag == name);
    flags.iter().filter(|(name, _)| has(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
}

fn set(
    start: &mut Scenario,
    release: KubernetesRelease,
    flags: BTreeMap<String, String>,
    runs: bool,
) {
    set_release(start, release);
    start.kubernetes.node_lifecycle = Some(runs);
    start.kubernetes.controller_manager_flags = flags;
}
