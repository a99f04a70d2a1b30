//! Bounds for the order in which waiting nodes of a zone are tainted.

use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::order::Order;
use taintlab_rules::release::Requeue;

use super::time_budget::Moment;
use crate::controllers::node_lifecycle::NODE_EVICTION_PERIOD;

/// Queue of a zone, as far as it decides when each node is tainted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZoneQueue {
    /// Effect of a health pass on waiting nodes.
    pub(crate) requeue: Requeue,
    /// Times between two tokens at the highest and at the lowest rate of the zone.
    pub(crate) tokens_every: (Duration, Duration),
    /// Latest time of the first token, if the first node has to wait for it.
    pub(crate) first_token: Option<Moment>,
    /// Whether the zone may have been partially disrupted until all nodes were found, which stops
    /// the queue or slows it down, and leaves the limiter without a token.
    pub(crate) is_disrupted: bool,
    /// Time between two health passes.
    pub(crate) period: Duration,
}

impl ZoneQueue {
    /// Earliest and latest time of the token for each node, from the earliest and latest time at
    /// which it is queued. Both are bounds: times outside them are impossible, but not all within
    /// them are possible.
    ///
    /// At least the nodes certainly queued earlier come before a node, and at most those that may
    /// be queued earlier. Since 1.21 each health pass queues waiting nodes again, in an unspecified
    /// order, so that any of them may be next, and nodes that arrive while a node waits may
    /// overtake it.
    pub(crate) fn tokens(&self, queued: &[(Moment, Moment)]) -> Vec<(Moment, Moment)> {
        let mut firsts: Vec<Moment> = queued.iter().map(|(first, _)| *first).collect();
        let mut lasts: Vec<Moment> = queued.iter().map(|(_, last)| *last).collect();
        firsts.order();
        lasts.order();
        let fast = self.tokens_every.0;
        // The next tainting pass takes a token, and the time to the following one starts then.
        let slow = self.tokens_every.1.saturating_add(NODE_EVICTION_PERIOD);
        // Times of the tokens one after the other, if all nodes arrive as early, or as late, as
        // possible.
        let one_by_one = |come: &[Moment], every: Duration, first_token: Option<Moment>| {
            let mut free = first_token;
            let mut next = |at: &Moment| {
                let token = free.map_or(*at, |free| free.max(*at));
                free = Some(token.plus(every));
                token
            };
            come.iter().map(&mut next).collect::<Vec<_>>()
        };
        let early = one_by_one(&firsts, fast, None);
        let late = one_by_one(&lasts, slow, self.first_token);
        // Time of the token that follows the first `number` ones.
        let after = |tokens: &[Moment], number: usize, every: Duration| {
            Some(tokens.get(number.checked_sub(1)?)?.plus(every))
        };
        let moves = self.requeue == Requeue::MovesBack;
        let of_one = |&(first, last): &(Moment, Moment)| {
            let certain = lasts.partition_point(|other| *other < first);
            let early = after(&early, certain, fast).filter(|_| !moves);
            // All counts exclude the node itself.
            let come_by = |at: Moment| firsts.partition_point(|other| *other <= at);
            let before = lasts.partition_point(|other| *other <= last).saturating_sub(1);
            let mut counted = come_by(last).saturating_sub(1);
            let free = after(&late, before, slow).or(self.first_token);
            let mut token = free.map_or(last, |free| free.max(last));
            token = token.plus(times(slow, counted.saturating_sub(before)));
            loop {
                let come = come_by(token).saturating_sub(1);
                if !moves || come <= counted {
                    break;
                }
                token = token.plus(times(slow, come - counted));
                counted = come;
            }
            if self.requeue == Requeue::Duplicates {
                // Each pass has added another entry for each waiting node, and every entry takes a
                // token.
                let waited = firsts.first().map_or(Duration::ZERO, |begin| last.since(*begin));
                let passes = waited.as_nanos() / self.period.as_nanos().max(1) + 2;
                let entries = usize::try_from(passes).unwrap_or(0).saturating_mul(counted);
                token = token.max(last.plus(times(slow, entries)));
            }
            if self.is_disrupted {
                let found = lasts.last().copied().unwrap_or(last);
                token = token.max(found.plus(times(slow, queued.len())));
            }
            (early.map_or(first, |early| early.max(first)), token)
        };
        queued.iter().map(of_one).collect()
    }
}

fn times(every: Duration, number: usize) -> Duration {
    every.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX))
}
