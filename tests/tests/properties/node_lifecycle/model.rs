//! An independent model of zone states and rate limiters, compared with the engine after each
//! health pass.
//!
//! At every fifth second the model receives the nodes and whether each is ready, and it receives
//! when a node was dequeued; from that it computes states, rates and tokens by itself.

use std::collections::BTreeMap;

use taintlab_core::api::ConditionStatus;
use taintlab_core::controllers::node_lifecycle::zone::{ZONE_LABEL, ZoneState};
use taintlab_core::event::EventKind;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

use super::generate::{Faults, Script, scripts};

/// A token bucket of one token, in seconds.
#[derive(Clone, Copy)]
struct Bucket {
    rate: f64,
    /// When it is, or was, full.
    full_at: f64,
}

#[derive(Clone, Copy)]
enum Limiter {
    Never,
    Bucket(Bucket),
}

struct Zone {
    state: ZoneState,
    limiter: Limiter,
    granted: Option<f64>,
}

struct Model {
    rate: f32,
    large: usize,
    zones: BTreeMap<String, Zone>,
}

impl Limiter {
    fn new(rate: f32) -> Self {
        if rate > 0.0 {
            Self::Bucket(Bucket { rate: f64::from(rate), full_at: 0.0 })
        } else {
            Self::Never
        }
    }

    /// A tenth of a microsecond is more than what rounding makes, and less than what matters.
    fn has_token(self, now: f64) -> bool {
        match self {
            Self::Never => false,
            Self::Bucket(bucket) => now >= bucket.full_at - 0.000_000_1,
        }
    }

    fn take(&mut self, now: f64) {
        if let Self::Bucket(bucket) = self {
            bucket.full_at = now + 1.0 / bucket.rate;
        }
    }

    /// What the limiter says its rate is; one that is stopped says 1.
    fn says(self) -> f32 {
        match self {
            Self::Never => 1.0,
            Self::Bucket(bucket) => bucket.rate as f32,
        }
    }

    fn swap(&mut self, now: f64, rate: f32) {
        if self.says() == rate {
            return;
        }
        let had = self.has_token(now);
        *self = Self::new(rate);
        if !had {
            self.take(now);
        }
    }
}

/// Ready, not ready, and whether there are nodes that do not count.
type Counts = BTreeMap<String, (usize, usize, bool)>;

impl Model {
    fn new(script: &Script) -> Self {
        let flag = |name: &str| script.config.controller_manager_flags.get(name);
        Self {
            rate: flag("node-eviction-rate").map_or(0.1, |text| text.parse().unwrap()),
            large: flag("large-cluster-size-threshold").map_or(50, |text| text.parse().unwrap()),
            zones: BTreeMap::new(),
        }
    }

    fn rate_of(&self, state: ZoneState, size: usize) -> f32 {
        match state {
            ZoneState::PartialDisruption if size > self.large => 0.01,
            ZoneState::PartialDisruption => 0.0,
            _ => self.rate,
        }
    }

    fn pass(&mut self, now: f64, counts: &Counts) {
        for zone in counts.keys() {
            if !self.zones.contains_key(zone) {
                let limiter = Limiter::new(self.rate);
                let new = Zone { state: ZoneState::Initial, limiter, granted: None };
                self.zones.insert(zone.clone(), new);
            }
        }
        self.zones.retain(|zone, _| counts.contains_key(zone));
        let state = |ready: usize, not_ready: usize| {
            if ready == 0 && not_ready > 0 {
                ZoneState::FullDisruption
            } else if not_ready > 2 && 20 * not_ready >= 11 * (ready + not_ready) {
                ZoneState::PartialDisruption
            } else {
                ZoneState::Normal
            }
        };
        let counted = || counts.iter().filter(|(_, (ready, not_ready, _))| ready + not_ready > 0);
        let full = ZoneState::FullDisruption;
        let all_now = counted().all(|(_, (ready, not_ready, _))| state(*ready, *not_ready) == full);
        let all_before = counted().all(|(zone, _)| self.zones[zone].state == full);
        let rates: BTreeMap<String, (ZoneState, f32)> = counts
            .iter()
            .map(|(zone, (ready, not_ready, _))| {
                let new = state(*ready, *not_ready);
                (zone.clone(), (new, self.rate_of(new, ready + not_ready)))
            })
            .collect();
        for (name, zone) in &mut self.zones {
            let (ready, not_ready, _) = counts[name];
            let (new, rate) = rates[name];
            if ready + not_ready == 0 {
                // Only nodes that do not count: as a healthy zone.
                zone.limiter.swap(now, rate);
                zone.state = ZoneState::Normal;
                continue;
            }
            match (all_now, all_before) {
                (true, true) => {}
                (true, false) => {
                    zone.limiter.swap(now, 0.0);
                    zone.state = full;
                }
                (false, true) => {
                    zone.limiter.swap(now, rate);
                    zone.state = new;
                }
                (false, false) => {
                    if zone.state != new {
                        zone.limiter.swap(now, rate);
                    }
                    zone.state = new;
                }
            }
        }
    }
}

fn counts(simulator: &Simulator, minor: &str) -> Counts {
    let mut counts = Counts::new();
    for (name, node) in simulator.cluster().nodes() {
        assert!(!name.as_str().ends_with("master"), "{minor}");
        let labels = &node.metadata.labels;
        let zone = labels.get(ZONE_LABEL).cloned().unwrap_or_default();
        let excluded = labels.contains_key("node.kubernetes.io/exclude-disruption");
        let ready = node.condition("Ready").is_some_and(|c| c.status == ConditionStatus::True);
        let count = counts.entry(zone).or_default();
        match (excluded, ready) {
            (true, _) => count.2 = true,
            (false, true) => count.0 += 1,
            (false, false) => count.1 += 1,
        }
    }
    counts
}

/// Turns are granted as the model has tokens, and no earlier; states and rates are the model's.
#[test]
fn zones_and_limiters_are_those_of_the_model() {
    let turns = std::cell::Cell::new(0);
    scripts(400, Faults::InStep, |script, _| {
        let mut simulator = script.simulator();
        let mut model = Model::new(script);
        let mut commands = script.commands.iter().peekable();
        let last = script.end.as_nanos() / 5_000_000_000;
        for step in 0..=last {
            let at = Timestamp::from_secs(step * 5);
            // Commands of the moment of a pass come after it, but at zero.
            while let Some((time, command)) =
                commands.next_if(|(time, _)| *time < at || step == 0 && *time == at)
            {
                let _ = simulator.handle_command(*time, command.clone());
            }
            simulator.advance_to(at).unwrap();
            let now = at.as_secs_f64();
            for event in simulator.drain_events() {
                let EventKind::NodeDequeued { zone, .. } = &event.what else { continue };
                let time = event.at.as_secs_f64();
                // A turn at the moment of a pass comes after the pass.
                if event.at < at {
                    let zone = model.zones.get_mut(&zone.name()).unwrap();
                    assert!(zone.limiter.has_token(time), "at {time}");
                    zone.limiter.take(time);
                    turns.set(turns.get() + 1);
                } else {
                    model.zones.get_mut(&zone.name()).into_iter().for_each(|zone| {
                        zone.granted = Some(time);
                    });
                }
            }
            let granted: BTreeMap<String, bool> = model
                .zones
                .iter_mut()
                .map(|(name, zone)| (name.clone(), zone.granted.take().is_some()))
                .collect();
            model.pass(now, &counts(&simulator, ""));
            for view in simulator.zones() {
                let name = view.key.name();
                let Some(zone) = model.zones.get_mut(&name) else {
                    assert_eq!(view.state, None, "{name} at {now}");
                    continue;
                };
                if granted
                    .get(&name)
                    .copied()
                    .unwrap_or(view.tokens < 0.001 && zone.limiter.has_token(now))
                {
                    assert!(zone.limiter.has_token(now), "{name} at {now}");
                    zone.limiter.take(now);
                    turns.set(turns.get() + 1);
                }
                assert_eq!(view.state, Some(zone.state), "{name} at {now}");
                let rate = if let Limiter::Bucket(bucket) = zone.limiter {
                    bucket.rate as f32
                } else {
                    0.0
                };
                assert_eq!(view.qps, rate, "{name} at {now}");
                let (has, sees) = (zone.limiter.has_token(now), view.next_token == Some(at));
                assert_eq!(has, sees, "{name} at {now}: {} tokens", view.tokens);
                // With a token nobody waits whose time has come.
                let waits = view.queue.iter().any(|queued| queued.process_at <= at);
                assert!(!(has && waits), "{name} at {now}");
            }
        }
    });
    assert!(turns.get() > 500, "{}", turns.get());
}
