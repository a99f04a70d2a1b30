//! The time budget of a pod: the terms that add up to the moment of its deletion.

use taintlab_core::eviction_timeline::time_budget::{Term, TermKind, TimeBudget};
use taintlab_core::time::{Timestamp, format_duration};
use yew::prelude::*;

use super::copy::copy;
use super::style::style;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::moment;

/// The terms as a bar and as a table.
pub(crate) fn time_budget(budget: &TimeBudget, dispatch: &Dispatch) -> Html {
    if budget.terms.is_empty() {
        return Html::default();
    }
    let all: f64 = budget.terms.iter().map(|term| term.duration.as_secs_f64()).sum();
    let share = |seconds: f64| if all > 0.0 { 100.0 * seconds / all } else { 0.0 };
    let kind = if budget.over { "record" } else { "projection" };
    let (after, before): (Vec<&Term>, Vec<&Term>) =
        budget.terms.iter().partition(|term| term.is_after_deletion());
    let text = budget.to_string();
    let total = budget.rounded_total();
    html! {
        <section class="budget stack" data-testid={TestId::TimeBudget} data-kind={kind}>
            <h3 class="row">
                <span>{ budget.question() }</span>
                <span class="badge">{ kind }</span>
                <span class="grow"></span>
                <span title="With exact times, as a table">{ copy(&text, dispatch) }</span>
            </h3>
            <div class="terms" aria-hidden="true">
                { for budget.terms.iter().map(|term| html! {
                    <span data-term={word(term.kind)} title={exact(term)}
                        ~style={style(format!("width:{:.3}%", share(term.duration.as_secs_f64())))}></span>
                }) }
            </div>
            <table>
                <thead><tr><th>{ "From" }</th><th>{ "Takes" }</th><th>{ "What" }</th></tr></thead>
                <tbody>{ for before.into_iter().map(|term| row(term, dispatch)) }</tbody>
                <tbody class="sum"><tr>
                    <td title={budget.evicted_at.to_string()} data-testid={TestId::TimeBudgetAt}>
                        { moment(budget.evicted_at) }</td>
                    <td class="number" data-testid={TestId::TimeBudgetTotal}
                        title={format_duration(budget.total())}>{ format_duration(total) }</td>
                    <td>
                        { if budget.over { "deleted, counted from " } else { "to be deleted, counted from " } }
                        { budget.counted_from }
                    </td>
                </tr></tbody>
                <tbody>{ for after.into_iter().map(|term| row(term, dispatch)) }</tbody>
                if let Some(gone_at) = budget.gone_at {
                    <tbody class="sum"><tr>
                        <td title={gone_at.to_string()}>{ moment(gone_at) }</td>
                        <td></td>
                        <td>{ if budget.over { "gone" } else { "to be gone" } }</td>
                    </tr></tbody>
                }
            </table>
            if let Some(range) = &budget.range {
                <p class="hint" data-testid={TestId::TimeBudgetRange}>
                    { "In a cluster " }{ &range.text }
                </p>
            }
        </section>
    }
}

/// A row for a term: rounded as text, exact in the tip.
fn row(term: &Term, dispatch: &Dispatch) -> Html {
    let start = moment(term.start);
    let to = u64::try_from(term.start.as_nanos()).ok().map(Timestamp::from_nanos);
    html! {
        <tr data-term-row={word(term.kind)}>
            <td title={term.start.to_string()}>
                if let Some(to) = to {
                    <button class="link num" title={format!("Go to {}", term.start)}
                        onclick={dispatch.reform(move |_: MouseEvent| Msg::Seek(to))}>
                        { start }</button>
                } else {
                    { start }
                }
            </td>
            <td class="number" title={format_duration(term.duration)}>
                <i data-term={word(term.kind)}></i>{ format_duration(term.rounded_duration()) }</td>
            <td>
                <span class="text">{ &term.text }</span>
                if !term.set_by.is_empty() { <code>{ breakable(&term.set_by) }</code> }
            </td>
        </tr>
    }
}

/// A term in one line, exactly.
fn exact(term: &Term) -> String {
    format!("{}: {}", format_duration(term.duration), term.text)
}

/// A flag or field with its value. Lines may break between its words, never within a number.
fn breakable(set_by: &str) -> Html {
    let parts = set_by.split_inclusive(['.', '=', '-']);
    html! { <>{ for parts.map(|part| html! { <><span>{ part }</span><wbr /></> }) }</> }
}

/// The group of a term, which determines its colour.
fn word(kind: TermKind) -> &'static str {
    match kind {
        TermKind::LastHeartbeat | TermKind::Report | TermKind::DisruptionOver => "heartbeat",
        TermKind::GracePeriod => "grace",
        TermKind::MonitorPass | TermKind::QueueingPass => "pass",
        TermKind::Limiter | TermKind::TaintingTick => "limiter",
        TermKind::Tainted | TermKind::Noticed => "taint",
        TermKind::Toleration | TermKind::PodEvictionTimeout => "toleration",
        TermKind::Client
        | TermKind::Retries
        | TermKind::TerminationGrace
        | TermKind::KubeletAway => "delete",
    }
}
