//! Time budgets: they add up, they tell the truth, and a forecast comes true.

use std::cell::Cell;
use std::time::Duration;

use taintlab_core::api::PodKey;
use taintlab_core::event::{EventKind, RequestResult, RequestVerb};
use taintlab_core::eviction_timeline::time_budget::{Moment, TermKind, TimeBudget};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

use super::generate::{Faults, scripts};

fn check_sum(budget: &TimeBudget) {
    let mut sum = Duration::ZERO;
    let mut end = budget.terms.first().map_or(budget.evicted_at, |term| term.start);
    for term in &budget.terms {
        assert_eq!(term.start, end, "{budget}");
        assert_eq!(term.duration, term.end.since(term.start), "{budget}");
        assert!(term.end > term.start || term.kind == TermKind::Tainted, "{budget}");
        end = term.end;
        let after = matches!(term.kind, TermKind::TerminationGrace | TermKind::KubeletAway);
        sum += if after { Duration::ZERO } else { term.duration };
    }
    assert_eq!(sum, budget.total(), "{budget}");
    assert_eq!(end, budget.gone_at.unwrap_or(budget.evicted_at).max(budget.evicted_at), "{budget}");
}

fn deletions(simulator: &mut Simulator) -> Vec<(PodKey, Timestamp)> {
    let events = simulator.drain_events();
    let accepted = events.into_iter().filter_map(|event| match event.what {
        EventKind::Request {
            pod, verb: RequestVerb::Delete, result: RequestResult::Ok, ..
        } => Some((pod, event.at)),
        _ => None,
    });
    accepted.collect()
}

/// Every eviction has a budget that ends at its moment and adds up.
#[test]
fn budgets_add_up_to_the_moment() {
    let (count, with_node) = (Cell::new(0), Cell::new(0));
    scripts(600, Faults::All, |script, _| {
        let mut simulator = script.play();
        for (pod, at) in deletions(&mut simulator) {
            let budget = simulator.time_budget(&pod).unwrap_or_else(|| panic!("{pod} at {at}"));
            assert!(budget.over);
            assert_eq!(budget.evicted_at, Moment::from(at), "{budget}");
            check_sum(&budget);
            count.set(count.get() + 1);
            let grace = |kind| kind == TermKind::GracePeriod;
            let node = budget.terms.iter().any(|term| grace(term.kind));
            with_node.set(with_node.get() + usize::from(node));
        }
    });
    assert!(count.get() > 500 && with_node.get() > 200, "{} {}", count.get(), with_node.get());
}

/// What a forecast says about a pod is what happens if nobody does anything.
#[test]
fn forecasts_come_true() {
    let count = Cell::new(0);
    scripts(300, Faults::All, |script, dice| {
        let mut simulator = script.simulator();
        for (at, command) in &script.commands {
            let _ = simulator.handle_command(*at, command.clone());
        }
        let wait = Duration::from_secs(dice.roll() % 100);
        let from = simulator.now().saturating_add(wait);
        simulator.advance_to(from).unwrap();
        let forecast = simulator.forecast(script.end.max(from), usize::MAX);
        simulator.drain_events();
        simulator.advance_to(script.end.max(from)).unwrap();
        for (pod, at) in deletions(&mut simulator) {
            let budget = forecast.time_budget(&pod).unwrap_or_else(|| panic!("{pod} at {at}"));
            assert_eq!(budget.evicted_at, Moment::from(at), "{budget}");
            assert_eq!(budget.over, at <= from, "{budget}");
            assert_eq!(budget.terms, simulator.time_budget(&pod).unwrap().terms);
            check_sum(&budget);
            count.set(count.get() + 1);
        }
    });
    assert!(count.get() > 50, "{}", count.get());
}
