//! The time budget of a pod: the terms that add up to the moment at which it goes.

use taintlab_core::time_budget::{TermKind, TimeBudget};
use yew::prelude::*;

use crate::text::span;

/// The terms as a bar and as a table.
pub(crate) fn time_budget(budget: &TimeBudget) -> Html {
    if budget.terms.is_empty() {
        return Html::default();
    }
    let all: f64 = budget.terms.iter().map(|term| term.duration.as_secs_f64()).sum();
    let share = |seconds: f64| if all > 0.0 { 100.0 * seconds / all } else { 0.0 };
    let kind = if budget.over { "record" } else { "projection" };
    html! {
        <section class="budget stack" data-testid="time-budget" data-kind={kind}>
            <h3>
                { format!("Why {}? ", span(budget.total())) }
                <span class="badge">{ kind }</span>
            </h3>
            <div class="terms" aria-hidden="true">
                { for budget.terms.iter().map(|term| html! {
                    <span data-term={word(term.kind)} title={term.text.clone()}
                        style={format!("width:{:.3}%", share(term.duration.as_secs_f64()))}></span>
                }) }
            </div>
            <table>
                <thead><tr>
                    <th>{ "From" }</th><th>{ "Takes" }</th><th>{ "What" }</th><th>{ "Set by" }</th>
                </tr></thead>
                <tbody>
                    { for budget.terms.iter().map(|term| html! {
                        <tr>
                            <td>{ term.start.to_string() }</td>
                            <td class="number"><i data-term={word(term.kind)}></i>
                                { span(term.duration) }</td>
                            <td>{ &term.text }</td>
                            <td><code>{ &term.set_by }</code></td>
                        </tr>
                    }) }
                </tbody>
                <tfoot><tr>
                    <td>{ budget.evicted_at.to_string() }</td>
                    <td class="number" data-testid="time-budget-total">{ span(budget.total()) }</td>
                    <td colspan="2">
                        { if budget.over { "deleted, counted from " } else { "to be deleted, counted from " } }
                        { budget.counted_from }
                    </td>
                </tr></tfoot>
            </table>
        </section>
    }
}

/// What a term is spent on, for its colour.
fn word(kind: TermKind) -> &'static str {
    match kind {
        TermKind::LastHeartbeat | TermKind::Report | TermKind::DisruptionOver => "heartbeat",
        TermKind::GracePeriod => "grace",
        TermKind::MonitorPass | TermKind::QueueingPass => "pass",
        TermKind::Limiter | TermKind::TaintingTick => "limiter",
        TermKind::Tainted | TermKind::Noticed => "taint",
        TermKind::Toleration | TermKind::PodEvictionTimeout => "toleration",
        TermKind::Retries | TermKind::TerminationGrace | TermKind::KubeletAway => "delete",
    }
}
