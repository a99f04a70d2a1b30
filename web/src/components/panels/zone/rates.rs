//! The node lifecycle controller's view of a zone: its state, its rate, and the waiting nodes.

use taintlab_core::controllers::node_lifecycle::ZoneView;
use taintlab_core::time::Timestamp;
use yew::prelude::*;

use crate::components::parts::prose::fact;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::text::at;
use crate::view_models::selection::Selection;

/// The maximum number of waiting nodes listed; the others are only counted.
const QUEUED: usize = 60;

/// The state, rate, tokens and queue of a zone.
pub(crate) fn rates(zone: &ZoneView, now: Timestamp, dispatch: &Dispatch) -> Html {
    let state = zone.state.map_or_else(|| "not seen yet".to_owned(), |state| state.to_string());
    let filled = (zone.tokens / f64::from(zone.capacity.max(1))).clamp(0.0, 1.0);
    html! {
        <section class="stack" data-testid={TestId::ZoneRates}>
            <dl class="facts">
                <dt>{ "State" }</dt>
                <dd data-testid={TestId::ZoneState}><b>{ state }</b></dd>
                <dt>{ "Nodes" }</dt>
                <dd data-testid={TestId::ZoneArithmetic}>{ &zone.arithmetic }</dd>
                <dt>{ "Rate" }</dt>
                <dd data-testid={TestId::ZoneRate}>{ &zone.rate_text }</dd>
                <dt title="Tainting a node takes one token; the rate adds new ones">
                    { "Limiter" }
                </dt>
                <dd>
                    <meter min="0" max="1" value={format!("{filled:.3}")}
                        aria-label="Tokens of the rate limiter"></meter>
                    { format!(" {:.2} of at most {} tokens, one a node", zone.tokens, zone.capacity) }
                    if let Some(next) = zone.next_token {
                        if next > now { { format!(", the next at {}", at(next)) } }
                    }
                </dd>
                { fact("Tainted so far", zone.evictions.to_string()) }
            </dl>
            <h3>{ format!("Waiting to be tainted ({})", zone.queue.len()) }</h3>
            if zone.queue.is_empty() {
                <p class="hint">{ "No node waits for a NoExecute taint." }</p>
            } else {
                <ol class="queue" data-testid={TestId::ZoneQueue}>
                    { for zone.queue.iter().take(QUEUED).map(|queued| {
                        let node = queued.node.clone();
                        let expected = queued.expected_at.map_or_else(
                            || "not while the rate is 0".to_owned(),
                            |expected| format!("at {}", at(expected)),
                        );
                        let orders = queued.order_text().map(|text| format!(" ({text})"));
                        html! {
                            <li>
                                <button class="btn small" onclick={dispatch.reform(move |_| {
                                    Msg::Select(Some(Selection::Node(node.clone())))
                                })}>{ queued.node.to_string() }</button>
                                <span class="muted">
                                    { expected }{ orders }
                                </span>
                            </li>
                        }
                    }) }
                    if zone.queue.len() > QUEUED {
                        <li class="hint">{ format!("and {} more", zone.queue.len() - QUEUED) }</li>
                    }
                </ol>
            }
        </section>
    }
}
