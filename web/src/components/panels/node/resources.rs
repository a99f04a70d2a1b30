//! The resources of a node: capacity, usage, and the evictions by its kubelet.

use std::collections::BTreeMap;

use taintlab_core::api::NodeName;
use taintlab_core::command::Command;
use taintlab_core::kubelet::{
    Candidate, Change, Distance, RankKey, RankReason, RankedPod, Ranking, Signal, ThresholdState,
};
use taintlab_core::order::{OrderedMap, tree};
use taintlab_core::simulator::{EvictionView, UsageSeries};
use taintlab_core::time::Timestamp;
use yew::prelude::*;

use super::load_form::LoadForm;
use crate::components::parts::draft::use_form_draft;
use crate::components::parts::forms::TextField;
use crate::components::parts::prose::fact;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::inspector_model::{InspectedNode, InspectedResources};

/// The flag that sets how long a pressure condition stays.
const TRANSITION: &str = "--eviction-pressure-transition-period";
/// The number of colours for pods.
const COLOURS: usize = 6;
/// The size of the chart in its own units.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 180.0;

/// Properties of [`Resources`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ResourcesProps {
    /// The node.
    pub(crate) node: InspectedNode,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The capacity, usage and thresholds of a node, the ranking of pods for eviction, and forms to
/// load the node.
#[component]
pub(crate) fn Resources(props: &ResourcesProps) -> Html {
    let chosen = use_state(|| None::<Signal>);
    let node = &props.node;
    let known = node.resources.as_deref();
    html! {
        <div class="stack" data-testid={TestId::NodeResources}>
            if let Some(known) = known {
                { watched(known, &chosen) }
            } else {
                <p class="hint">
                    { "The capacity of this node is not set, so its kubelet does not monitor \
                       resources. The first load uses its status.capacity." }
                </p>
            }
            <h3>{ "Load" }</h3>
            if let Some(has) = &node.has {
                <LoadForm has={has.clone()} pods={pods(node)} dispatch={props.dispatch.clone()} />
            }
            if let Some(known) = known {
                <h3>{ "Thresholds of its kubelet" }</h3>
                <ThresholdForm node={node.view.name.clone()} flags={known.flags.clone()}
                    dispatch={props.dispatch.clone()} />
            }
        </div>
    }
}

fn pods(node: &InspectedNode) -> Vec<AttrValue> {
    node.view.pods.iter().map(|pod| pod.key.to_string().into()).collect()
}

fn watched(known: &InspectedResources, chosen: &UseStateHandle<Option<Signal>>) -> Html {
    // After an undo, the chosen signal may be gone.
    let find = |signal| known.signals.iter().find(|(series, _)| series.signal == signal);
    let shown = (**chosen).and_then(find).or_else(|| known.view.nearest.and_then(find));
    let shown = shown.or_else(|| known.signals.first());
    html! {
        <>
            { conditions(&known.view) }
            <div class="row" role="group" aria-label="Signal">
                { for known.signals.iter().map(|(series, _)| {
                    let (signal, chosen) = (series.signal, chosen.clone());
                    let pressed = shown.is_some_and(|(shown, _)| shown.signal == signal);
                    html! {
                        <button type="button" class="btn small toggle"
                            aria-pressed={pressed.to_string()}
                            onclick={move |_: MouseEvent| chosen.set(Some(signal))}>
                            { signal.name() }
                        </button>
                    }
                }) }
            </div>
            if let Some((series, ranking)) = shown {
                { chart(series, known.now) }
                { thresholds(&known.view, series.signal) }
                if let Some(ranking) = ranking { { candidates(ranking) } }
            }
        </>
    }
}

fn conditions(view: &EvictionView) -> Html {
    html! {
        <>
            if !view.watches {
                <p class="hint">{ "The kubelet is stopped: resources are not monitored." }</p>
            }
            { for view.conditions.iter().map(|condition| html! {
                <div class="verdict" data-state="counting" data-testid={TestId::Pressure}>
                    <b>{ condition.pressure.name() }</b>
                    <p>
                        if condition.observed {
                            { "Under pressure. Clears " }{ &view.transition_period }
                            { " after usage has dropped (" }<code>{ TRANSITION }</code>{ ")." }
                        } else {
                            { "Usage has dropped; clears at " }<b>{ at(condition.until) }</b>
                            { " (" }<code>{ TRANSITION }</code>
                            { format!(" {}).", view.transition_period) }
                        }
                    </p>
                </div>
            }) }
            if let Some(pod) = &view.killing {
                <p>{ format!("{pod} is being killed; the next pass waits for it.") }</p>
            }
            if let Some(next) = view.next_pass {
                <dl class="facts">{ fact("Next check", at(next)) }</dl>
            }
        </>
    }
}

/// An amount that a signal measures, in readable units.
pub(crate) fn amount(signal: Signal, value: i64) -> String {
    if signal.is_inodes() || signal == Signal::PidAvailable {
        return value.to_string();
    }
    let size = value as f64;
    for (unit, name) in [(1_073_741_824.0, "Gi"), (1_048_576.0, "Mi"), (1_024.0, "Ki")] {
        if size.abs() >= unit {
            let text = format!("{:.1}", size / unit);
            return format!("{}{name}", text.strip_suffix(".0").unwrap_or(&text));
        }
    }
    value.to_string()
}

/// The chart of usage over time: pods stacked on the system's usage, with the thresholds as lines.
fn chart(series: &UsageSeries, now: Timestamp) -> Html {
    let Some(capacity) = series.capacity.filter(|capacity| *capacity > 0) else {
        return Html::default();
    };
    let from = series.times.first().map_or(0, |at| at.as_nanos());
    let to = series.times.last().map_or(1, |at| at.as_nanos()).max(from + 1);
    let x = |at: Timestamp| at.as_nanos().saturating_sub(from) as f64 / (to - from) as f64 * WIDTH;
    let y = |value: i64| HEIGHT - (value as f64 / capacity as f64).clamp(0.0, 1.0) * HEIGHT;
    let mut below = vec![0_i64; series.times.len()];
    let mut bands: Vec<(String, String, String)> = Vec::new();
    let system = (String::from("system"), &series.system, "s".to_owned());
    let of_pods = series
        .pods
        .iter()
        .enumerate()
        .map(|(index, pod)| (pod.pod.to_string(), &pod.values, (index % COLOURS).to_string()));
    for (name, values, colour) in std::iter::once(system).chain(of_pods) {
        let top: Vec<i64> =
            below.iter().zip(values).map(|(low, value)| low.saturating_add(*value)).collect();
        let point = |(at, value): (&Timestamp, &i64)| format!("{:.1},{:.1}", x(*at), y(*value));
        let upper = series.times.iter().zip(&top).map(point);
        let lower = series.times.iter().zip(&below).rev().map(point);
        let points = upper.chain(lower).collect::<Vec<_>>().join(" ");
        bands.push((name, points, colour));
        below = top;
    }
    let signal = series.signal;
    // A signal is named after the remaining amount; the chart shows the used amount.
    let label =
        format!("what {} watches: used over time, of {}", signal.name(), amount(signal, capacity));
    html! {
        <figure class="usage" data-testid={TestId::UsageChart}>
            <figcaption class="hint">
                { format!("Used, of {}; before and after now ({})", amount(signal, capacity), at(now)) }
            </figcaption>
            <svg viewBox={format!("0 0 {WIDTH} {HEIGHT}")} preserveAspectRatio="none" role="img"
                aria-label={label}>
                { for bands.iter().map(|(name, points, colour)| html! {
                    <polygon class={format!("band band-{colour}")} points={points.clone()}>
                        <title>{ name }</title>
                    </polygon>
                }) }
                { for series.thresholds.iter().map(|line| {
                    let height = format!("{:.1}", y(line.usage));
                    let class = if line.hard { "line hard" } else { "line soft" };
                    html! {
                        <line {class} x1="0" x2={WIDTH.to_string()} y1={height.clone()}
                            y2={height} />
                    }
                }) }
                <line class="line now" x1={format!("{:.1}", x(now))} x2={format!("{:.1}", x(now))}
                    y1="0" y2={HEIGHT.to_string()} />
            </svg>
            <div class="row ends num muted">
                <span>{ series.times.first().map(|time| at(*time)).unwrap_or_default() }</span>
                <span>{ series.times.last().map(|time| at(*time)).unwrap_or_default() }</span>
            </div>
            <ul class="row keys">
                { for bands.iter().map(|(name, _, colour)| html! {
                    <li><i class={format!("swatch band-{colour}")}></i>{ name }</li>
                }) }
            </ul>
            { table(series) }
        </figure>
    }
}

/// The chart as text.
fn table(series: &UsageSeries) -> Html {
    let signal = series.signal;
    let rows = series.times.iter().enumerate().step_by(6).map(|(index, time)| {
        let value = |values: &[i64]| amount(signal, values.get(index).copied().unwrap_or(0));
        html! {
            <tr>
                <th scope="row">{ at(*time) }</th>
                <td>{ value(&series.system) }</td>
                { for series.pods.iter().map(|pod| html! { <td>{ value(&pod.values) }</td> }) }
            </tr>
        }
    });
    html! {
        <details>
            <summary>{ "As a table" }</summary>
            <div class="wide">
                <table class="conditions">
                    <thead><tr><th>{ "At" }</th><th>{ "system" }</th>
                        { for series.pods.iter().map(|pod| html! {
                            <th>{ pod.pod.to_string() }</th>
                        }) }
                    </tr></thead>
                    <tbody>{ for rows }</tbody>
                </table>
            </div>
        </details>
    }
}

fn thresholds(view: &EvictionView, signal: Signal) -> Html {
    let of_signal: Vec<&Distance> =
        view.thresholds.iter().filter(|known| known.signal == signal).collect();
    if of_signal.is_empty() {
        return html! { <p class="hint">{ "No eviction threshold is set for this signal." }</p> };
    }
    html! {
        <table class="conditions" data-testid={TestId::Thresholds}>
            <thead>
                <tr>
                    <th>{ "Threshold" }</th><th>{ "Left" }</th>
                    <th>{ "Distance" }</th><th>{ "State" }</th>
                </tr>
            </thead>
            <tbody>{ for of_signal.into_iter().map(threshold) }</tbody>
        </table>
    }
}

fn threshold(known: &Distance) -> Html {
    let amount = |value: Option<i64>| value.map_or_else(|| "?".into(), |v| amount(known.signal, v));
    let kind = if known.hard { "hard" } else { "soft" };
    let reclaim = known.resolved_at.filter(|at| Some(*at) != known.threshold);
    let state = match known.state {
        ThresholdState::NotMet => "enough".to_owned(),
        ThresholdState::Unnoticed => "below the threshold, not yet observed".to_owned(),
        ThresholdState::InGracePeriod { since, until } => {
            format!("below the threshold since {}, evicts from {}", at(since), at(until))
        }
        ThresholdState::Acting { since } => {
            format!("evicting, below the threshold since {}", at(since))
        }
        ThresholdState::Reclaiming { .. } => "evicting until the minimum reclaim is met".to_owned(),
        ThresholdState::Never => "never met".to_owned(),
    };
    html! {
        <tr>
            <td>
                { format!("{kind} < {}", amount(known.threshold)) }
                if let Some(resolved) = reclaim {
                    { format!(", resolved at {}", amount(Some(resolved))) }
                }
            </td>
            <td>{ amount(known.available) }</td>
            <td>{ amount(known.distance) }</td>
            <td>{ state }</td>
        </tr>
    }
}

/// The ranking of pods for eviction, first to last.
fn candidates(ranking: &Ranking) -> Html {
    let signal = ranking.signal;
    html! {
        <>
            <h3>{ "Who goes first" }</h3>
            if ranking.pods.is_empty() {
                <p class="hint">{ "No pod runs here that could be evicted." }</p>
            }
            <ol class="ranking" data-testid={TestId::Ranking}>
                { for ranking.pods.iter().map(|ranked| candidate(signal, &ranking.keys, ranked)) }
            </ol>
        </>
    }
}

/// A pod with its ranking keys; the key that puts it before the next pod stands out.
fn candidate(signal: Signal, keys: &[RankKey], ranked: &RankedPod) -> Html {
    let pod = &ranked.candidate;
    let decides = |key: RankKey| ranked.before_next_by == Some(RankReason::Key(key));
    let change = |change: &Change| match change {
        Change::RaisePriority(to) => format!("a priority of {to} or more"),
        Change::RaiseRequest(to) => format!("a request of {} or more", amount(signal, *to)),
        Change::LowerUsage(to) => format!("a usage of {} or less", amount(signal, *to)),
    };
    let changes: Vec<String> = ranked.behind_next_if.iter().map(change).collect();
    let reason = ranked.before_next_by.map(RankReason::words);
    html! {
        <li data-pod={pod.pod.to_string()}>
            <b>{ pod.pod.to_string() }</b>
            if pod.critical.is_some() {
                <span class="badge" data-state="stays">{ "critical: never evicted" }</span>
            }
            <dl class="rankkeys">
                { for keys.iter().map(|key| {
                    let (name, value) = rank_key(signal, pod, *key);
                    html! {
                        <div data-key={name} data-decides={decides(*key).to_string()}>
                            <dt>{ name }</dt><dd class="num">{ value }</dd>
                        </div>
                    }
                }) }
            </dl>
            if let Some(reason) = reason {
                <span class="muted">
                    { format!("Ranked before the next pod because {reason}.") }
                </span>
            }
            if !changes.is_empty() {
                <span class="muted">
                    { format!("Ranked after it with {}.", changes.join(", or ")) }
                </span>
            }
        </li>
    }
}

/// The name of a ranking key, and its value for a pod.
fn rank_key(signal: Signal, pod: &Candidate, key: RankKey) -> (&'static str, String) {
    match key {
        RankKey::QosClass => ("QoS class", format!("{:?}", pod.qos_class)),
        RankKey::ExceedsRequest => {
            let words = if pod.exceeds_request { "yes" } else { "no" };
            ("Usage exceeds requests", words.to_owned())
        }
        RankKey::Priority => ("Priority", pod.priority.to_string()),
        RankKey::UsageAboveRequest => {
            let (used, above) = (pod.usage, pod.above_request().value());
            let [used, above, asked] =
                [used, above, pod.request.value()].map(|value| amount(signal, value));
            ("Above its request", format!("{above} ({used} of {asked})"))
        }
        RankKey::Usage => ("Uses", amount(signal, pod.usage)),
        RankKey::Processes => ("Processes", pod.usage.to_string()),
    }
}

/// Properties of [`ThresholdForm`].
#[derive(Clone, PartialEq, Properties)]
struct ThresholdFormProps {
    node: NodeName,
    flags: Vec<(&'static str, String)>,
    dispatch: Dispatch,
}

/// The form for a kubelet's eviction flags, with errors beside the fields.
#[component]
fn ThresholdForm(props: &ThresholdFormProps) -> Html {
    let draft = use_form_draft::<BTreeMap<String, String>>();
    let typed = draft.typed().cloned().unwrap_or_default();
    let errors = use_state(OrderedMap::<String, String>::new);
    {
        let (errors, dispatch) = (errors.clone(), props.dispatch.clone());
        use_effect_with(typed.clone(), move |typed| {
            let found = Callback::from(move |found| errors.set(found));
            dispatch.emit(Msg::CheckKubeletFlags(typed.clone(), found));
        });
    }
    let error = |name: &str| -> Vec<AttrValue> {
        errors.get(name).into_iter().map(|error| AttrValue::from(error.clone())).collect()
    };
    let field = |(name, value): &(&'static str, String)| {
        let name = *name;
        let shown = typed.get(name).cloned().unwrap_or_else(|| value.clone());
        let oninput = {
            let typed = typed.clone();
            draft.oninput().reform(move |text: String| {
                let mut new = typed.clone();
                new.insert(name.to_owned(), text);
                new
            })
        };
        html! {
            <TextField label={format!("--{name}")} value={shown} {oninput} errors={error(name)} />
        }
    };
    let onsubmit = {
        let (node, draft, typed) = (props.node.clone(), draft.clone(), typed.clone());
        let (dispatch, all) = (props.dispatch.clone(), props.flags.clone());
        move |event: SubmitEvent| {
            event.prevent_default();
            let all = all.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            let mut flags = tree(all);
            flags.extend(typed.clone());
            let node = node.clone();
            let command = Command::ConfigureKubelet { node, configuration: None, flags };
            draft.send(&dispatch, vec![command]);
        }
    };
    html! {
        <form class="stack" {onsubmit} data-testid={TestId::ThresholdForm}>
            { for props.flags.iter().map(field) }
            { draft.failure() }
            <div><button class="btn small">{ "Restart kubelet with these" }</button></div>
        </form>
    }
}
