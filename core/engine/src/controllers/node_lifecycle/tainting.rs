//! `NoExecute` taints: which nodes get them, and when.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{ConditionStatus, Node, NodeName, Taint, well_known};
use taintlab_rules::cluster::Lister;
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::queue::rate_limited_timed_queue::{RETRY_AFTER, TimedValue};
use taintlab_rules::release::Requeue;
use taintlab_rules::time::Timestamp;

use super::action::{DequeueOutcome, NodeLifecycleAction, NodeLifecycleReport, TaintPatch};
use super::controller::NodeLifecycleController;
use super::no_schedule;
use super::rate::RateSource;
use super::record::{has_no_execute, no_execute, taint_keys};
use super::taint_history::Dequeued;
use super::work::{AfterTaints, Check, Resume, Step, TaintWork};

impl NodeLifecycleController {
    /// Decides about the taints of a node by its condition before this pass or, since 1.34, after
    /// it. Mirrors `Controller.processTaintBaseEviction`.
    pub(super) fn process_taint_base_eviction(&mut self, check: &Check) -> Option<Step> {
        let status = self.status_of(check)?;
        if *status == ConditionStatus::True {
            let then = AfterTaints::Reachable(check.zone.clone());
            let work = Self::mark_node_as_reachable(&check.name, &check.node, then);
            return Some(Step::Taints(work));
        }
        let (wanted, opposite) = taint_keys(status)?;
        if has_no_execute(&check.node, opposite) {
            let (add, remove) = (no_execute(wanted), no_execute(opposite));
            let work = self.swap(&check.name, &check.node, [add].into(), [remove].into());
            if let Some(record) = self.records.get_mut(check.name.as_str()) {
                record.taint_history.swapped_at = Some(self.now);
            }
            return Some(Step::Taints(TaintWork { then: AfterTaints::Nothing, ..work }));
        }
        self.mark_node_for_tainting(check, has_no_execute(&check.node, wanted));
        None
    }

    /// Status that decides about the taints of a node.
    fn status_of<'a>(&self, check: &'a Check) -> Option<&'a ConditionStatus> {
        let by_written = self.release.taints_by_written_condition();
        let ready = if by_written { &check.current } else { &check.observed };
        ready.as_ref().map(|ready| &ready.status)
    }

    /// Mirrors `Controller.markNodeForTainting`.
    fn mark_node_for_tainting(&mut self, check: &Check, has_taint: bool) {
        let now = self.now;
        let Some(zone) = self.zones.get_mut(&check.zone) else { return };
        let seen = zone.queue.set().contains(&check.name);
        match self.release.requeue() {
            Requeue::Duplicates if !has_taint => zone.queue.set_remove(&check.name),
            Requeue::MovesBack if !has_taint => {
                zone.queue.remove(&check.name);
            }
            _ => {}
        }
        let uid = check.node.metadata.uid.as_str();
        self.queues_changed = now;
        if zone.queue.add_in_turn(now, check.name.clone(), uid) && !seen {
            let status = self.status_of(check).cloned().unwrap_or_default();
            self.record_queued(&check.name, &status, None);
            self.report(NodeLifecycleReport::Queued {
                node: check.name.clone(),
                zone: check.zone.clone(),
            });
        }
    }

    /// Removes the taints of a ready node and then takes it out of the queue. Mirrors
    /// `Controller.markNodeAsReachable`.
    pub(super) fn mark_node_as_reachable(
        name: &NodeName,
        node: &Node,
        then: AfterTaints,
    ) -> TaintWork {
        let keys = [well_known::UNREACHABLE, well_known::NOT_READY];
        let carried = keys.into_iter().filter(|key| has_no_execute(node, key));
        let patches = carried.map(|key| TaintPatch::Remove([no_execute(key)].into())).collect();
        TaintWork { node: name.clone(), patches, then }
    }

    /// Adds taints, then removes others if the given version of the node has any of them. Mirrors
    /// `nodeutil.SwapNodeControllerTaint`.
    fn swap(&self, name: &NodeName, node: &Node, add: Vec<Taint>, remove: Vec<Taint>) -> TaintWork {
        let mut patches = VecDeque::new();
        if !add.is_empty() {
            let time_added = Some(self.stamp());
            let add = add.into_iter().map(|taint| Taint { time_added, ..taint }).collect();
            patches.push_back(TaintPatch::AddOrUpdate(add));
        }
        if remove.iter().any(|taint| node.spec.taints.iter().any(|old| old.matches(taint))) {
            patches.push_back(TaintPatch::Remove(remove));
        }
        TaintWork { node: name.clone(), patches, then: AfterTaints::Nothing }
    }

    pub(super) fn change_taints(&mut self, mut work: TaintWork) {
        match work.patches.pop_front() {
            Some(patch) => {
                let node = work.node.clone();
                self.request(Resume::Taints(work), |id| NodeLifecycleAction::PatchNodeTaints {
                    id,
                    node,
                    patch,
                });
            }
            None => self.taints_changed(work, true),
        }
    }

    pub(super) fn taints_changed(&mut self, work: TaintWork, ok: bool) {
        match work.then {
            AfterTaints::Reachable(zone) if ok => {
                if let Some(zone) = self.zones.get_mut(&zone) {
                    zone.queue.remove(&work.node);
                }
            }
            // The entry stays: the next pass tries again.
            AfterTaints::Nothing | AfterTaints::Reachable(_) => {}
            AfterTaints::Tainted(zone, entry) => {
                self.end_turn(
                    &zone,
                    entry,
                    if ok { DequeueOutcome::Done } else { DequeueOutcome::Failed },
                );
            }
        }
    }

    /// Ends a node's turn: it leaves the queue, or waits for the next token.
    pub(super) fn end_turn(
        &mut self,
        key: &ZoneKey,
        entry: TimedValue<NodeName>,
        outcome: DequeueOutcome,
    ) {
        let node = entry.value.clone();
        if let Some(zone) = self.zones.get_mut(key) {
            match outcome {
                DequeueOutcome::Failed => zone.queue.retry(self.now, entry, Duration::ZERO),
                DequeueOutcome::NoReadyCondition => zone.queue.retry(self.now, entry, RETRY_AFTER),
                DequeueOutcome::Done
                | DequeueOutcome::NodeGone
                | DequeueOutcome::Ready
                | DequeueOutcome::ReadyInCache
                | DequeueOutcome::WouldCrash => {
                    zone.queue.done(&entry.value);
                    zone.evictions += u64::from(outcome == DequeueOutcome::Done);
                }
            }
        }
        if matches!(outcome, DequeueOutcome::Failed | DequeueOutcome::NoReadyCondition) {
            self.order_due = Some(self.first_pass(self.now));
        }
        self.report(NodeLifecycleReport::Dequeued {
            node: node.clone(),
            zone: key.clone(),
            outcome,
        });
        self.update_due(&node);
    }

    /// Takes the next node of a zone, if the zone has a token. Mirrors one iteration of
    /// `Controller.doNoExecuteTaintingPass` or `doEvictionPass`.
    pub(super) fn try_zone(&mut self, key: ZoneKey, lister: &impl Lister) {
        let Some(zone) = self.zones.get_mut(&key) else { return };
        let limiter = *zone.queue.limiter();
        let Some(entry) = zone.queue.try_next(self.now) else { return };
        let turn = Dequeued {
            // The limiter has not changed since the node was queued, except by tokens for others.
            token_at: limiter.next_accept(Timestamp::ZERO).unwrap_or(self.now).min(self.now),
            at: self.now,
            rate_source: RateSource::of(&limiter, zone.state),
            qps: limiter.qps(),
        };
        if let Some(record) = self.records.get_mut(entry.value.as_str()) {
            let history = &mut record.taint_history;
            let before = history.dequeued.replace(turn).map(|before| before.at);
            history.lost_token_at = if self.now < record.known_at {
                Some(self.now)
            } else {
                history.lost_token_at.filter(|lost_at| before == Some(*lost_at))
            };
        }
        self.steps.push_front(Step::TryZone(key.clone()));
        if !self.config.enable_taint_manager {
            self.evict(key, entry, lister);
            return;
        }
        let record = self.records.get(entry.value.as_str());
        let Some(listed) = record.and_then(|record| record.listed.as_ref()) else {
            self.end_turn(&key, entry, DequeueOutcome::NodeGone);
            return;
        };
        if record.is_some_and(|record| self.now < record.known_at) {
            self.end_turn(&key, entry, DequeueOutcome::ReadyInCache);
            return;
        }
        let Some(status) = listed.status() else {
            let waits = self.release.awaits_missing_ready_condition();
            let outcome =
                if waits { DequeueOutcome::NoReadyCondition } else { DequeueOutcome::WouldCrash };
            self.end_turn(&key, entry, outcome);
            return;
        };
        let Some((wanted, opposite)) = taint_keys(status) else {
            self.end_turn(&key, entry, DequeueOutcome::Ready);
            return;
        };
        let (add, remove) = (no_execute(wanted), no_execute(opposite));
        let work = self.swap(&entry.value, &listed.node, [add].into(), [remove].into());
        let then = AfterTaints::Tainted(key, entry);
        self.steps.push_front(Step::Taints(TaintWork { then, ..work }));
    }

    /// Handles a changed node. Mirrors `Controller.doNodeProcessingPassWorker`: the labels are
    /// reconciled even if the change of taints failed.
    pub(super) fn begin_node_item(&mut self, name: NodeName) {
        let record = self.records.get(name.as_str());
        let Some(listed) = record.and_then(|record| record.listed.as_ref()) else { return };
        let (add, remove) = no_schedule::taint_changes(&listed.node);
        let work = self.swap(&name, &listed.node, add, remove);
        self.steps.push_back(Step::Taints(work));
        self.steps.push_back(Step::Labels(name));
    }

    pub(super) fn reconcile_labels(&mut self, name: &NodeName) {
        let record = self.records.get(name.as_str());
        let Some(listed) = record.and_then(|record| record.listed.as_ref()) else { return };
        let labels = no_schedule::label_changes(&listed.node);
        if !labels.is_empty() {
            let node = name.clone();
            self.request(Resume::Labels, |id| NodeLifecycleAction::PatchNodeLabels {
                id,
                node,
                labels,
            });
        }
    }
}
