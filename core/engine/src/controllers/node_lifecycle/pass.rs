//! The health pass. Mirrors `Controller.monitorNodeHealth`.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{ConditionStatus, Node, NodeName, Taint, well_known};
use taintlab_rules::cluster::Lister;
use taintlab_rules::order::Order;
use taintlab_rules::protocol::RequestResult;
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState};
use taintlab_rules::queue::rate_limited_timed_queue::RateLimitedTimedQueue;

use super::action::{NodeLifecycleAction, NodeLifecycleReport};
use super::controller::NodeLifecycleController;
use super::health::{HealthSample, NodeHealth, Ready, conditions_of_unreachable_node};
use super::record::{CachedNode, Zone, ZoneCounts};
use super::work::{AfterTaints, Check, MarkPods, Pass, Resume, Step};

/// Attempts to write the status of a node. Mirrors `scheduler.NodeHealthUpdateRetry`.
const ATTEMPTS: u8 = 5;
/// Pause after a failed attempt. Mirrors `retrySleepTime`.
const PAUSE: Duration = Duration::from_millis(20);

impl NodeLifecycleController {
    pub(super) fn begin_pass(&mut self) {
        let now = self.now;
        let (start, period) = (self.start, self.config.node_monitor_period);
        let mut pass = Pass::default();
        let (mut added, mut new_zones, mut deleted) = (Vec::new(), Vec::new(), Vec::new());
        for (name, record) in &mut self.records {
            // Heartbeats known in advance are applied when they are needed.
            let calm = record.listed.as_ref().is_some_and(CachedNode::is_ready)
                && record.due.is_none_or(|due| due > now);
            if !calm || record.heartbeats.is_none() {
                record.settle(start, period, now);
            }
            let Some(listed) = &record.listed else {
                record.counted = None;
                deleted.extend(record.registered.take().map(|_| name.clone()));
                continue;
            };
            if pass.zones.insert(listed.zone.clone())
                && self.zones.get(&listed.zone).is_none_or(|zone| zone.state.is_none())
            {
                new_zones.push(listed.zone.clone());
            }
            if record.registered.is_none() {
                record.registered = Some(listed.node.metadata.uid.clone());
                added.push((name.clone(), listed.node.clone(), listed.zone.clone()));
            }
            if calm {
                // Nothing to do except to record a heartbeat.
                if let Some((zone, _)) = &record.counted {
                    pass.counts.entry(zone.clone()).or_default().ready += 1;
                }
                if record.heartbeats.is_none() {
                    record.settle(start, period, now.saturating_add(Duration::from_nanos(1)));
                }
            } else {
                pass.nodes.push((name.clone(), listed.node.clone()));
            }
        }
        for order in &self.orders {
            // The given order is applied to the positions that these nodes have by name.
            let place = |name: &NodeName| order.iter().position(|other| other == name);
            let mut nodes: Vec<(NodeName, Arc<Node>)> =
                pass.nodes.iter().filter(|(name, _)| place(name).is_some()).cloned().collect();
            nodes.order_by_key(|(name, _)| place(name));
            let places = pass.nodes.iter_mut().filter(|(name, _)| place(name).is_some());
            for (place, node) in places.zip(nodes) {
                *place = node;
            }
        }
        self.order_due = None;
        (self.last_pass, self.next_pass) = (now, now.saturating_add(period));
        self.pass = Some(pass);
        for zone in new_zones {
            self.add_zone(zone);
        }
        self.register(added);
        for node in deleted {
            let what = alloc::format!("event: Removing Node {node} from Controller");
            self.record_node_event(&node, "RemovingNode", &what);
        }
        self.steps.push_back(Step::StartWorkers);
    }

    /// Mirrors `Controller.addPodEvictorForNewZone`, which discards the contents of the queue.
    fn add_zone(&mut self, key: ZoneKey) {
        let zone = Zone {
            state: Some(ZoneState::Initial),
            queue: RateLimitedTimedQueue::with_qps(self.config.rates.node_eviction_rate),
            counts: ZoneCounts::default(),
            evictions: self.zones.get(&key).map_or(0, |zone| zone.evictions),
        };
        let to = zone.state;
        self.zones.insert(key.clone(), zone);
        self.report(NodeLifecycleReport::ZoneState {
            zone: key,
            from: None,
            to,
            not_ready: 0,
            size: 0,
        });
    }

    /// Registers new nodes: their `NoExecute` taints from this controller are removed, whatever
    /// their conditions.
    fn register(&mut self, added: Vec<(NodeName, Arc<Node>, ZoneKey)>) {
        let (resumes, stamp) = (core::mem::take(&mut self.resumes), self.stamp());
        let is_own = |taint: &Taint| {
            [well_known::UNREACHABLE, well_known::NOT_READY].contains(&taint.key.as_str())
                && taint.is_no_execute()
                && taint.time_added.is_some_and(|added| added < stamp)
        };
        for (name, node, zone) in added {
            let what = alloc::format!("event: Registered Node {name} in Controller");
            self.record_node_event(&name, "RegisteredNode", &what);
            let known = resumes && self.config.enable_taint_manager;
            let known = known && node.spec.taints.iter().any(is_own);
            if let Some(zone) = self.zones.get_mut(&zone).filter(|_| known) {
                zone.queue.set_insert(name);
            } else if self.config.enable_taint_manager {
                let then = AfterTaints::Reachable(zone);
                let work = Self::mark_node_as_reachable(&name, &node, then);
                self.steps.push_back(Step::Taints(work));
            } else {
                self.cancel_pod_eviction(&name, &zone);
            }
        }
    }

    /// Starts the workers after new nodes are registered.
    pub(super) fn start_workers(&mut self) {
        if let Some(pass) = &mut self.pass {
            pass.workers = 1;
            self.steps.push_back(Step::NextNode);
        }
    }

    /// Whether a node of the pass is waiting for an idle worker.
    pub(super) fn wants_pass_worker(&self) -> bool {
        !self.config.write_time.is_zero()
            && self.pass.as_ref().is_some_and(|pass| {
                pass.next < pass.nodes.len()
                    && (1..self.release.node_health_workers()).contains(&pass.workers)
            })
    }

    /// Starts another worker while the previous ones wait.
    pub(super) fn begin_pass_worker(&mut self) {
        if let Some(pass) = &mut self.pass {
            pass.workers += 1;
            self.steps.push_back(Step::NextNode);
        }
    }

    pub(super) fn next_node(&mut self) {
        let Some(pass) = &mut self.pass else { return };
        let Some((name, node)) = pass.nodes.get(pass.next).cloned() else {
            pass.workers = pass.workers.saturating_sub(1);
            if pass.workers == 0 {
                self.steps.extend([Step::Disruption, Step::EndPass]);
            }
            return;
        };
        pass.next += 1;
        let zone = match self.records.get(name.as_str()).and_then(|record| record.listed.as_ref()) {
            Some(listed) if Arc::ptr_eq(&listed.node, &node) => listed.zone.clone(),
            _ => ZoneKey::of(&node.metadata.labels),
        };
        self.steps.push_front(Step::NextNode);
        self.steps.push_front(Step::Health(Box::new(Check {
            name,
            node,
            zone,
            attempt: 1,
            observed: None,
            current: None,
            pods: VecDeque::new(),
        })));
    }

    /// Mirrors `Controller.tryUpdateNodeHealth`.
    pub(super) fn check_health(&mut self, mut check: Box<Check>) {
        let now = self.wall_clock(self.now);
        let created = check.node.metadata.creation_timestamp;
        let created = created.unwrap_or(self.start.truncated_to_seconds());
        let Some(record) = self.records.get_mut(check.name.as_str()) else { return };
        let (ready, lease) = record.signs(Ready::of(&check.node), self.start, self.now);
        let sight = HealthSample { ready: ready.as_ref(), created, lease };
        let health = NodeHealth::observe(record.health.as_ref(), sight, now);
        record.pending = None;
        record.health = Some(health.clone());
        let grace = match ready {
            Some(_) => self.config.node_monitor_grace_period,
            None => self.config.node_startup_grace_period,
        };
        let unknown = || Ready {
            status: ConditionStatus::Unknown,
            heartbeat: Some(created),
            transition: Some(created),
        };
        check.current.clone_from(&ready);
        let is_unknown =
            ready.as_ref().is_some_and(|ready| ready.status == ConditionStatus::Unknown);
        check.observed = Some(ready.unwrap_or_else(unknown));
        // An Unknown Ready condition stays as it is, so that nothing is written.
        if !health.is_overdue(grace, now) || is_unknown {
            self.steps.push_front(Step::Decide(check));
            return;
        }
        let stamp = now.truncated_to_seconds();
        let conditions = conditions_of_unreachable_node(&check.node, created, stamp);
        let node = check.name.clone();
        let ready = conditions.iter().find(|condition| condition.type_ == "Ready");
        check.current = ready.map(|ready| Ready {
            status: ready.status.clone(),
            heartbeat: ready.last_heartbeat_time,
            transition: ready.last_transition_time,
        });
        let health = NodeHealth {
            ready: check.current.clone(),
            ready_transition_timestamp: now,
            lease,
            ..health
        };
        self.request(Resume::Status(check, health), |id| NodeLifecycleAction::PatchNodeStatus {
            id,
            node,
            conditions,
        });
    }

    pub(super) fn status_written(
        &mut self,
        mut check: Box<Check>,
        health: NodeHealth,
        result: RequestResult,
    ) {
        let Some(record) = self.records.get_mut(check.name.as_str()) else { return };
        if result.is_ok() {
            let was_ready =
                check.observed.as_ref().is_some_and(|it| it.status == ConditionStatus::True);
            if was_ready {
                let answered_at = self.now.saturating_add(self.config.write_time);
                record.known_at = answered_at.saturating_add(self.config.informer_lag);
            }
            let before = record.health.replace(health);
            if let Some(before) = before {
                let never_ready = Ready::of(&check.node).is_none();
                self.record_missed_heartbeats(&check.name, &before, never_ready);
            }
            self.steps.push_front(Step::Decide(check));
            if !self.config.write_time.is_zero() {
                self.sleep(self.config.write_time);
            }
            return;
        }
        // The node is read again; if it is gone, the attempts end.
        match &record.listed {
            Some(listed) if check.attempt < ATTEMPTS => {
                check.attempt += 1;
                check.node = listed.node.clone();
                check.zone = listed.zone.clone();
                self.steps.push_front(Step::Health(check));
                self.sleep(PAUSE);
            }
            _ => {
                record.counted = None;
                self.report(NodeLifecycleReport::NodeSkipped { node: check.name });
            }
        }
    }

    /// Counts the node for its zone and decides by its *observed* condition.
    pub(super) fn decide(&mut self, mut check: Box<Check>, lister: &impl Lister) {
        let excluded = self.is_excluded(&check);
        let is_ready = |ready: Option<&Ready>| {
            ready.is_some_and(|ready| ready.status == ConditionStatus::True)
        };
        let ready = is_ready(check.current.as_ref());
        if let Some(record) = self.records.get_mut(check.name.as_str()) {
            record.counted = (!excluded).then(|| (check.zone.clone(), ready));
        }
        if !excluded && let Some(pass) = &mut self.pass {
            let counts = pass.counts.entry(check.zone.clone()).or_default();
            if ready {
                counts.ready += 1;
            } else {
                counts.not_ready += 1;
            }
        }
        if check.current.is_none() {
            self.pods_marked(&check.name, false);
            return;
        }
        if ready {
            self.forget_taint_history(&check.name);
        }
        if !ready || !self.config.enable_taint_manager {
            let pods = lister.pods_on_node(check.name.as_str());
            check.pods = pods.map(|(key, _)| key.clone()).collect();
        }
        let step = if self.config.enable_taint_manager {
            self.process_taint_base_eviction(&check)
        } else {
            self.process_no_taint_base_eviction(&check)
        };
        self.steps.push_front(Step::Follow(check));
        if let Some(step) = step {
            self.steps.push_front(step);
        }
    }

    fn is_excluded(&self, check: &Check) -> bool {
        let record = self.records.get(check.name.as_str());
        match record.and_then(|record| record.listed.as_ref()) {
            Some(listed) if Arc::ptr_eq(&listed.node, &check.node) => listed.excluded,
            before => {
                super::record::CachedNode::new(check.node.clone(), before, self.release, self.start)
                    .excluded
            }
        }
    }

    /// Marks the pods of a node that this pass has found unreachable as not ready.
    pub(super) fn follow(&mut self, check: Check) {
        let is_true = |ready: &Option<Ready>| {
            ready.as_ref().is_some_and(|ready| ready.status == ConditionStatus::True)
        };
        let retry = self.records.get(check.name.as_str()).is_some_and(|record| record.retry_pods);
        let flipped = !is_true(&check.current) && is_true(&check.observed);
        if flipped {
            self.record_node_event(&check.name, "NodeNotReady", "status is now: NodeNotReady");
        }
        if flipped || retry && !is_true(&check.observed) {
            let (node, pods) = (check.name, check.pods);
            let work = MarkPods { node, pods, failed: false, item: None };
            self.steps.push_front(Step::MarkPods(work));
        } else {
            self.pods_marked(&check.name, false);
        }
    }

    pub(super) fn end_pass(&mut self, lister: &impl Lister) {
        let Some(pass) = self.pass.take() else { return };
        let next = self.now.saturating_add(self.config.node_monitor_period);
        let moved = next != self.next_pass;
        self.next_pass = next;
        if moved || pass.resets_health {
            let names: Vec<NodeName> = self.records.keys().cloned().collect();
            for name in names {
                self.look_again(&name, lister);
            }
            return;
        }
        for (name, _) in &pass.nodes {
            self.look_again(name, lister);
        }
        // Nodes that changed during the pass, or were deleted before it started.
        let names =
            self.records.iter().filter(|(_, record)| record.due.is_some_and(|due| due <= self.now));
        let names: Vec<NodeName> = names.map(|(name, _)| name.clone()).collect();
        for name in names {
            self.look_again(&name, lister);
        }
    }

    fn look_again(&mut self, name: &NodeName, lister: &impl Lister) {
        let (start, period) = (self.start, self.config.node_monitor_period);
        let after = self.last_pass.saturating_add(Duration::from_nanos(1));
        if let Some(record) = self.records.get_mut(name.as_str()) {
            // Apply the heartbeats that this pass and earlier ones saw, before the passes move.
            record.settle(start, period, after);
            record.pending = Some(self.next_pass);
            record.has_pods = lister.pods_on_node(name.as_str()).next().is_some();
        }
        self.update_due(name);
    }
}
