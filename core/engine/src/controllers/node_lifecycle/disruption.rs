//! Reaction to many lost nodes. Mirrors `Controller.handleDisruption`.

use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::protocol::zone::{ZoneKey, ZoneState, zone_state};

use super::action::NodeLifecycleReport;
use super::controller::NodeLifecycleController;
use super::record::ZoneCounts;
use super::work::{AfterTaints, Step};

impl NodeLifecycleController {
    pub(super) fn handle_disruption(&mut self) {
        let Some(pass) = &mut self.pass else { return };
        let counts = core::mem::take(&mut pass.counts);
        let mut states: Vec<(ZoneKey, ZoneCounts, ZoneState)> = Vec::new();
        for (key, counts) in counts {
            let threshold = self.config.unhealthy_zone_threshold;
            let state = zone_state(counts.ready, counts.not_ready, threshold);
            states.push((key, counts, state));
        }
        self.forget_zones(&states);
        for (key, counts, _) in &states {
            if let Some(zone) = self.zones.get_mut(key) {
                zone.counts = *counts;
                zone.state.get_or_insert_default();
            }
        }
        let all_now_full = states.iter().all(|(_, _, state)| *state == ZoneState::FullDisruption);
        let all_were_full = states.iter().all(|(key, ..)| {
            let zone = self.zones.get(key);
            zone.is_some_and(|zone| zone.state == Some(ZoneState::FullDisruption))
        });
        match (all_now_full, all_were_full) {
            (true, true) => {}
            (true, false) => self.enter_master_disruption(),
            (false, true) => {
                self.leave_master_disruption();
                for (key, counts, state) in states {
                    self.set_limiter(&key, counts, state);
                    self.set_state(&key, Some(state));
                }
            }
            (false, false) => {
                for (key, counts, state) in states {
                    if self.zones.get(&key).is_some_and(|zone| zone.state != Some(state)) {
                        self.set_limiter(&key, counts, state);
                        self.set_state(&key, Some(state));
                    }
                }
            }
        }
    }

    /// Handles zones without counted nodes. A zone without nodes is forgotten. A zone whose nodes
    /// are all excluded is forgotten by Kubernetes or not, along with its queue, depending on the
    /// order of a map; here it is treated as healthy and does not affect the others.
    fn forget_zones(&mut self, states: &[(ZoneKey, ZoneCounts, ZoneState)]) {
        let Some(pass) = &self.pass else { return };
        let counted = |key: &ZoneKey| states.binary_search_by(|(known, ..)| known.cmp(key)).is_ok();
        let others: Vec<(ZoneKey, bool)> = self
            .zones
            .iter()
            .filter(|(key, zone)| zone.state.is_some() && !counted(key))
            .map(|(key, _)| (key.clone(), pass.zones.contains(key)))
            .collect();
        for (key, has_nodes) in others {
            if let Some(zone) = self.zones.get_mut(&key) {
                zone.counts = ZoneCounts::default();
            }
            if has_nodes {
                self.set_limiter(&key, ZoneCounts::default(), ZoneState::Normal);
                self.set_state(&key, Some(ZoneState::Normal));
            } else {
                self.set_state(&key, None);
            }
        }
    }

    /// Stops all queues and removes taints: with no node ready, the fault is probably here.
    fn enter_master_disruption(&mut self) {
        self.report(NodeLifecycleReport::MasterDisruptionEntered);
        let nodes = self.pass.as_ref().map(|pass| pass.nodes.clone()).unwrap_or_default();
        let mut steps = Vec::new();
        for (name, node) in nodes {
            let zone: ZoneKey = ZoneKey::of(&node.metadata.labels);
            if self.config.enable_taint_manager {
                let then = AfterTaints::Reachable(zone);
                steps.push(Step::Taints(Self::mark_node_as_reachable(&name, &node, then)));
            } else {
                self.cancel_pod_eviction(&name, &zone);
            }
        }
        steps.push(Step::StopQueues);
        for step in steps.into_iter().rev() {
            self.steps.push_front(step);
        }
    }

    pub(super) fn stop_queues(&mut self) {
        for key in self.zones_with(|zone| zone.state.is_some()) {
            if self.zones.get(&key).is_some_and(|zone| zone.counts.size() > 0) {
                self.swap_limiter(&key, 0.0);
                self.set_state(&key, Some(ZoneState::FullDisruption));
            }
        }
    }

    /// Gives every node a new grace period, since some node is ready again.
    fn leave_master_disruption(&mut self) {
        self.report(NodeLifecycleReport::MasterDisruptionLeft);
        let now = self.wall_clock(self.now);
        let after = self.now.saturating_add(Duration::from_nanos(1));
        let (start, period) = (self.start, self.config.node_monitor_period);
        for record in self.records.values_mut().filter(|record| record.listed.is_some()) {
            record.settle(start, period, after);
            record.grace_restarted = Some(now);
            if let Some(health) = &mut record.health {
                health.probe_timestamp = now;
                health.ready_transition_timestamp = now;
            }
        }
        if let Some(pass) = &mut self.pass {
            pass.resets_health = true;
        }
    }

    fn zones_with(&self, keep: impl Fn(&super::record::Zone) -> bool) -> Vec<ZoneKey> {
        self.zones.iter().filter(|(_, zone)| keep(zone)).map(|(key, _)| key.clone()).collect()
    }

    /// Mirrors `Controller.setLimiterInZone`.
    fn set_limiter(&mut self, key: &ZoneKey, counts: ZoneCounts, state: ZoneState) {
        if let Some(qps) = self.config.rates.qps(state, counts.size()) {
            self.swap_limiter(key, qps);
        }
    }

    fn swap_limiter(&mut self, key: &ZoneKey, qps: f32) {
        let Some(zone) = self.zones.get_mut(key) else { return };
        let rate = |zone: &super::record::Zone| {
            let limiter = zone.queue.limiter();
            (!limiter.is_never()).then(|| limiter.qps())
        };
        let before = rate(zone);
        zone.queue.swap_limiter(self.now, qps);
        let after = rate(zone);
        self.queues_changed = self.now;
        if before != after {
            self.report(NodeLifecycleReport::Limiter { zone: key.clone(), qps: after });
        }
    }

    fn set_state(&mut self, key: &ZoneKey, to: Option<ZoneState>) {
        let Some(zone) = self.zones.get_mut(key) else { return };
        let from = core::mem::replace(&mut zone.state, to);
        let ZoneCounts { not_ready, .. } = zone.counts;
        let size = zone.counts.size();
        if from != to {
            self.report(NodeLifecycleReport::ZoneState {
                zone: key.clone(),
                from,
                to,
                not_ready,
                size,
            });
        }
    }
}
