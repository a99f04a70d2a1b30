//! Two runs side by side: what to compare, where they part, and what each costs.

use std::rc::Rc;

use taintlab_core::release::KubernetesRelease;
use yew::prelude::*;

use crate::components::lanes::one_bar;
use crate::components::parts::copy::copy;
use crate::components::parts::forms::{Choice, TextField, error_list};
use crate::components::parts::modal::Modal;
use crate::messages::{Dispatch, Msg};
use crate::protocol::BranchView;
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::runs::{CompareWith, Compared};

/// Properties of [`Compare`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct CompareProps {
    /// The release that runs.
    pub(crate) release: KubernetesRelease,
    /// The other branches.
    pub(crate) branches: Vec<BranchView>,
    /// What was compared last.
    pub(crate) compared: Option<Rc<Compared>>,
    /// Where messages go.
    pub(crate) dispatch: Dispatch,
}

/// The dialog.
#[component]
pub(crate) fn Compare(props: &CompareProps) -> Html {
    let error = use_state(|| None::<AttrValue>);
    let seconds = use_state(|| "60".to_owned());
    let flag = use_state(|| "node-monitor-grace-period=20s".to_owned());
    let compare = {
        let (dispatch, error) = (props.dispatch.clone(), error.clone());
        Callback::from(move |with: CompareWith| {
            error.set(None);
            let error = error.clone();
            let failed = Callback::from(move |text: String| error.set(Some(text.into())));
            dispatch.emit(Msg::Compare(with, failed));
        })
    };
    let refuse = |text: &'static str| {
        let error = error.clone();
        Callback::from(move |()| error.set(Some(text.into())))
    };
    let releases = KubernetesRelease::all().rev().filter(|release| *release != props.release);
    let releases = releases.map(|release| release.to_string());
    let with_release = compare.clone();
    let onrelease = Callback::from(move |text: String| {
        if let Ok(release) = KubernetesRelease::parse(&text) {
            with_release.emit(CompareWith::Release(release));
        }
    });
    let with_branch = compare.clone();
    let onbranch = Callback::from(move |id: String| {
        if let Ok(id) = id.parse() {
            with_branch.emit(CompareWith::Branch(id));
        }
    });
    let choices = |values: Vec<(AttrValue, AttrValue)>| {
        let none = [(AttrValue::from(""), AttrValue::from("choose …"))];
        none.into_iter().chain(values).collect::<Vec<_>>()
    };
    let branches = props.branches.iter();
    let branches = branches.map(|it| (it.id.to_string().into(), it.name.to_string().into()));
    let onseconds = {
        let (seconds, compare) = (seconds.clone(), compare.clone());
        let refuse = refuse("tolerationSeconds must be a whole number of seconds, such as 60");
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            match seconds.trim().parse() {
                Ok(seconds) => compare.emit(CompareWith::TolerationSeconds(seconds)),
                Err(_) => refuse.emit(()),
            }
        })
    };
    let onflag = {
        let (flag, compare) = (flag.clone(), compare.clone());
        let refuse = refuse("write a flag and its value, such as node-monitor-grace-period=20s");
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            match flag.trim().trim_start_matches("--").split_once('=') {
                Some((name, value)) => compare.emit(CompareWith::Flag(name.into(), value.into())),
                None => refuse.emit(()),
            }
        })
    };
    let set = |state: &UseStateHandle<String>| {
        let state = state.clone();
        Callback::from(move |text: String| state.set(text))
    };
    html! {
        <Modal title="Compare" dispatch={props.dispatch.clone()} width={1080}>
            <div class="comparewith" data-testid={TestId::CompareWith}>
                if !props.branches.is_empty() {
                    <label class="field"><span>{ "With branch" }</span>
                        <Choice value="" options={choices(branches.collect())} onchange={onbranch}
                            label="Branch to compare with" />
                    </label>
                }
                <label class="field"><span>{ "With Kubernetes" }</span>
                    <Choice value="" options={choices(
                            releases.map(|it| (it.clone().into(), it.into())).collect()
                        )} onchange={onrelease} label="Release to compare this run with" />
                </label>
                <form class="row" onsubmit={onseconds}>
                    <TextField label="With tolerationSeconds" value={(*seconds).clone()}
                        oninput={set(&seconds)} />
                    <button class="btn small">{ "Compare" }</button>
                </form>
                <form class="row" onsubmit={onflag}>
                    <TextField label="With a flag of kube-controller-manager" value={(*flag).clone()}
                        oninput={set(&flag)} />
                    <button class="btn small">{ "Compare" }</button>
                </form>
            </div>
            { error_list(&error.iter().cloned().collect::<Vec<_>>()) }
            if let Some(compared) = &props.compared { { result(compared, &props.dispatch) } }
        </Modal>
    }
}

fn result(compared: &Compared, dispatch: &Dispatch) -> Html {
    let comparison = &compared.comparison;
    let [a, b] = &comparison.names;
    let more = comparison.subjects.len().saturating_sub(compared.lanes.len());
    html! {
        <section class="stack" data-testid={TestId::Compared}>
            <p class="verdict"><b>{ comparison.sentence() }</b></p>
            if !compared.lanes.is_empty() {
                <div class="pairs" role="img" aria-label={format!(
                    "The lanes that differ, of {a} above and {b} below, to {}", at(compared.end))}>
                    { for compared.lanes.iter().map(|(subject, [above, below])| html! {
                        <div class="pair">
                            <span class="clip" title={subject.to_string()}>{ subject.name() }</span>
                            <span class="ptracks">
                                <span class="ltrack" title={a.clone()}>{ for above.iter().map(one_bar) }</span>
                                <span class="ltrack" title={b.clone()}>{ for below.iter().map(one_bar) }</span>
                                if let Some(place) = compared.parts_at {
                                    <i class="lparts" style={format!("left:{place:.3}%")}></i>
                                }
                            </span>
                        </div>
                    }) }
                </div>
                if more > 0 { <p class="hint">{ format!("and {more} more lanes") }</p> }
            }
            <div class="comparetable"><table>
                <thead><tr>
                    <th>{ format!("Until {}", at(comparison.until)) }</th>
                    <th>{ a.clone() }</th><th>{ b.clone() }</th>
                </tr></thead>
                <tbody>
                    { for comparison.rows().into_iter().map(|[what, a, b]| html! {
                        <tr data-differs={(a != b).to_string()}>
                            <td>{ what }</td><td class="num">{ a }</td><td class="num">{ b }</td>
                        </tr>
                    }) }
                </tbody>
            </table></div>
            <div class="actions"><span>{ "As Markdown" }</span>
                { copy(&comparison.to_markdown(), dispatch) }</div>
        </section>
    }
}
