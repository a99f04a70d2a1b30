//! The resilience report: its options, its progress, and its result.

mod form;
mod map;

use std::rc::Rc;

use taintlab_core::time::Timestamp;
use taintlab_words::report as words;
use taintlab_words::report::FalseAlarms;
use yew::prelude::*;

use self::form::ReportForm;
use self::map::{Map, change, finder};
use crate::components::parts::copy::copy;
use crate::components::parts::forms::error_list;
use crate::components::parts::modal::Modal;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::{at, count};
use crate::view_models::report::{
    FindingRow, Look, Moment, ReportMsg, ReportState, ReportView, Stage, WorkKey, Workloads,
};

/// Properties of [`ReportDialog`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ReportProps {
    /// The state of the report.
    pub(crate) state: ReportState,
    /// The moment whose cluster a new report is about.
    pub(crate) now: Timestamp,
    /// The work on the page.
    pub(crate) work: WorkKey,
    /// Node labels that define pools, with the number of pools.
    pub(crate) pools: Vec<(String, usize)>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The dialog with the report.
#[component]
pub(crate) fn ReportDialog(props: &ReportProps) -> Html {
    let ReportProps { state, now, work, pools, dispatch } = props;
    let asks = use_state(|| false);
    let look = use_state(Look::default);
    let begin = {
        let (asks, dispatch) = (asks.clone(), dispatch.clone());
        Callback::from(move |options| {
            asks.set(false);
            dispatch.emit(Msg::Report(ReportMsg::Begin(Box::new(options))));
        })
    };
    let again = {
        let asks = asks.clone();
        move |_: MouseEvent| asks.set(true)
    };
    let shown = state.report.as_ref().filter(|_| !*asks);
    let body = match (&state.progress, shown) {
        (Some((stage, done, planned)), _) => {
            progress(*stage, *done, *planned, state.stopping, dispatch)
        }
        (None, Some(view)) => html! {
            <>
                <p class="hint" data-testid={TestId::ReportHeading}>
                    { view.report.heading.clone() }
                </p>
                if let Some(verdict) = &view.report.verdict {
                    <p class="rverdict" data-testid={TestId::ReportVerdict}>
                        <b>{ verdict.clone() }</b>
                    </p>
                }
                if let Some(differs) = state.differs(work) {
                    <p class="verdict" data-state="counting" data-testid={TestId::ReportStale}>
                        { differs }
                    </p>
                }
                <div class="row rhead">
                    <p class="grow" data-testid={TestId::ReportScore}>
                        if let Some(score) = &view.report.score {
                            <b class="rscore">{ score.score }</b>{ " of 100" }
                            <span class="muted">{ format!(" · {}", score.arithmetic) }</span>
                        } else {
                            <b>{ format!("No score: {}", view.report.missing.join("; ")) }</b>
                        }
                    </p>
                    <button class="btn" onclick={dispatch.reform(|_: MouseEvent| {
                        Msg::Report(ReportMsg::Download)
                    })}>{ "JSON" }</button>
                    <button class="btn primary" onclick={again}>{ "Run again" }</button>
                </div>
                { result(view, &look, dispatch) }
            </>
        },
        (None, None) => html! {
            <>
                <p class="hint">
                    { format!("What if a node, a zone or a pool fails: who leaves, who comes back, how \
                        long is each workload short, and what would help? Each failure is run by \
                        itself, from the cluster as it is at {}, once it has come to rest.",
                        at(*now)) }
                </p>
                <ReportForm options={state.options.clone()} pools={pools.clone()}
                    fresh={state.asked_of.as_ref() != Some(&work.cluster)} {begin} />
            </>
        },
    };
    html! {
        <Modal title="Resilience report" dispatch={dispatch.clone()} width={1180}>
            { error_list(&state.error.iter().cloned().collect::<Vec<_>>()) }
            { body }
        </Modal>
    }
}

fn progress(
    stage: Stage,
    done: usize,
    planned: usize,
    stopping: bool,
    dispatch: &Dispatch,
) -> Html {
    let text = match stage {
        Stage::Settling => "Settling the cluster…".to_owned(),
        _ if stopping => "Merging the results so far…".to_owned(),
        Stage::Failing => format!("{done} of {planned} failures run"),
        Stage::Helping => format!("What would help: {done} of {planned} runs"),
        Stage::Joining => "Merging the results…".to_owned(),
    };
    let known = planned > 0 && !stopping;
    html! {
        <div class="stack" data-testid={TestId::ReportProgress}>
            <label class="stack">
                <span>{ text }</span>
                <progress max={known.then(|| planned.to_string())}
                    value={known.then(|| done.to_string())}></progress>
            </label>
            <p class="hint">
                { "The page can be used meanwhile: close this, and R shows it again." }
            </p>
            <div class="actions">
                <button class="btn" disabled={stopping} data-testid={TestId::ReportStop}
                    onclick={dispatch.reform(|_: MouseEvent| Msg::Report(ReportMsg::Stop))}>
                    { "Stop, and show what there is" }
                </button>
            </div>
        </div>
    }
}

fn result(view: &Rc<ReportView>, look: &UseStateHandle<Look>, dispatch: &Dispatch) -> Html {
    let open = dispatch.reform(|moment: Rc<Moment>| Msg::Report(ReportMsg::Open(moment)));
    html! {
        <>
            if let Some(changes) = &view.changes { <p class="verdict">{ changes.clone() }</p> }
            <ul class="rnotes">
                { for view.report.notes.iter().map(|note| html! { <li>{ note.clone() }</li> }) }
            </ul>
            if !view.report.rows.is_empty() {
                { finder(look) }
                <Map view={view.clone()} look={look.clone()} open={open.clone()} />
            }
            if !view.findings.is_empty() {
                <section class="stack">
                    <h3>{ words::CAUSES }</h3>
                    <ol class="rfindings" data-testid={TestId::ReportFindings}>
                        { for view.findings.iter().map(|row| finding(row, &open, dispatch)) }
                    </ol>
                </section>
            }
            { workloads(&view.workloads(look), look) }
        </>
    }
}

fn workloads(workloads: &Workloads, look: &UseStateHandle<Look>) -> Html {
    let Workloads { rows, more, unharmed, all: number } = workloads;
    let all = {
        let look = look.clone();
        move |_: MouseEvent| change(&look, |it| it.all_workloads = true)
    };
    html! {
        <section class="stack">
            <h3>{ "Workloads" }</h3>
            if !rows.is_empty() {
                <div class="comparetable"><table data-testid={TestId::ReportWorkloads}>
                    <thead><tr>
                        { for words::WORKLOAD_COLUMNS.map(|title| html! { <th scope="col">{ title }</th> }) }
                    </tr></thead>
                    <tbody>
                        { for rows.iter().map(|row| html! {
                            <tr>
                                <td class="num" title={row.score.1.clone()}>
                                    { row.score.0.map_or_else(|| "–".into(), |it| it.to_string()) }
                                    if let Some(before) = row.before {
                                        <span class="muted">{ format!(" (was {before})") }</span>
                                    }
                                </td>
                                <th scope="row">{ row.name.clone() }</th>
                                { for row.worst.iter().map(|text| html! {
                                    <td>{ text.clone() }</td>
                                }) }
                            </tr>
                        }) }
                    </tbody>
                </table></div>
            }
            <p class="row hint">
                <span>{ format!("{}.", words::unharmed(*unharmed, *number)) }</span>
                if *more > 0 {
                    <button class="btn small" onclick={all}>
                        { format!("Show {}", count(*more, "more workload")) }
                    </button>
                }
            </p>
        </section>
    }
}

fn finding(row: &FindingRow, open: &Callback<Rc<Moment>>, dispatch: &Dispatch) -> Html {
    html! {
        <li>
            <p><b>{ row.what.clone() }</b>{ ": " }{ row.why.clone() }{ " " }
                { open_button(&row.moment, format!("Open {} after the failure", row.moment.at), open) }
            </p>
            if !row.others.is_empty() {
                <details>
                    <summary>{ format!("{} like this", count(row.others.len(), "more finding")) }</summary>
                    <ul>
                        { for row.others.iter().map(|other| html! {
                            <li>{ other.what.clone() }{ " " }
                                { open_button(other, "Open".to_owned(), open) }
                            </li>
                        }) }
                    </ul>
                </details>
            }
            { for row.effects.iter().map(|(effect, yaml)| html! {
                <details>
                    <summary>{ effect.clone() }</summary>
                    <pre tabindex="0" aria-label="What makes the change">{ yaml.to_string() }</pre>
                    { copy(yaml, dispatch) }
                </details>
            }) }
            if let Some(no_help) = &row.no_help { <p class="muted">{ no_help.clone() }</p> }
            if let Some(FalseAlarms { outages, rows }) = &row.false_alarms {
                <details>
                    <summary>{ "Unnecessary evictions, by the length of the outage" }</summary>
                    <div class="comparetable"><table>
                        <thead><tr>
                            <th scope="col">{ "tolerationSeconds" }</th>
                            { for outages.iter().map(|it| html! {
                                <th scope="col">{ it.clone() }</th>
                            }) }
                        </tr></thead>
                        <tbody>
                            { for rows.iter().map(|(name, cells)| html! {
                                <tr><th scope="row">{ name.clone() }</th>
                                    { for cells.iter().map(|it| html! {
                                        <td class="num">{ it.clone() }</td>
                                    }) }
                                </tr>
                            }) }
                        </tbody>
                    </table></div>
                </details>
            }
        </li>
    }
}

fn open_button(moment: &Rc<Moment>, label: String, open: &Callback<Rc<Moment>>) -> Html {
    let moment = moment.clone();
    let onclick = open.reform(move |_: MouseEvent| moment.clone());
    html! { <button class="btn small" {onclick}>{ label }</button> }
}
