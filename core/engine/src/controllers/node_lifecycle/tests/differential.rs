//! Skipped passes have no effect: a controller that runs every pass over every node has the same
//! actions and the same state.

use super::*;

impl NodeLifecycleController {
    /// Forces the pass of this moment to run over every node.
    fn force_pass(&mut self) {
        if self.first_pass(self.now) != self.now {
            return;
        }
        let names: Vec<NodeName> = self.records.keys().cloned().collect();
        for name in names {
            let record = self.records.get_mut(name.as_str()).unwrap();
            let before = record.due.replace(self.now);
            self.wakeups.replace(before, Some(self.now));
        }
    }
}

/// Deterministic pseudo-random numbers.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// State of a controller, without the queuing times of waiting nodes, which a skipped pass does not
/// renew.
fn knowledge(world: &World, secs: u64) -> String {
    let mut text = String::new();
    for zone in world.controller.zones(at(secs)) {
        let mut zone = zone;
        for queued in &mut zone.queue {
            (queued.added_at, queued.process_at) = (at(0), at(0));
        }
        text += &format!("{zone:?}\n");
    }
    for name in world.controller.records.keys() {
        let health = world.controller.node_health(at(secs), name.as_str());
        text += &format!("{name} {health:?}\n");
    }
    text + &format!("{:?}", world.controller.nodes_to_retry())
}

fn change(world: &mut World, numbers: &mut Numbers, secs: u64) {
    let name = format!("n{}", numbers.below(9));
    let labels = |numbers: &mut Numbers| -> BTreeMap<String, String> {
        [(zone::ZONE_LABEL.into(), format!("z{}", numbers.below(3)))].into()
    };
    let stored = world.cluster.get_node(&name).map(|node| Node::clone(node));
    match (numbers.below(12), stored) {
        (0..=2, _) => world.send_heartbeat(&name),
        (3..=6, Some(mut stored)) => {
            let ready = ["True", "True", "True", "False", "Unknown"][numbers.below(5) as usize];
            let fresh = node(&name, ready, secs);
            if stored.condition("Ready").is_some_and(|old| old.status.as_str() == ready) {
                stored.status.conditions[0].last_heartbeat_time = Some(wall(secs));
            } else {
                stored.status = fresh.status;
            }
            world.put(stored);
        }
        (7, Some(mut stored)) => {
            stored.spec.taints.clear();
            world.put(stored);
        }
        (8, Some(mut stored)) => {
            stored.metadata.labels = labels(numbers).into();
            world.put(stored);
        }
        (9, Some(_)) => {
            let old = world.cluster.remove_node(&name);
            world.controller.handle_node_update(world.now, old.as_ref(), None);
        }
        (10, _) => world.put_pod(&format!("p{secs}"), &name),
        (11, _) => {
            // No failures of status writes: nodes with heartbeats only are recorded when such a
            // pass starts.
            let kind = ["taints", "podstatus", "delete"][numbers.below(3) as usize];
            world.answers.insert(kind, vec![FAILED; numbers.below(3) as usize]);
        }
        (_, Some(_)) => {}
        (_, None) => {
            let mut new = node(&name, "True", secs);
            new.metadata.creation_timestamp = Some(wall(secs));
            new.metadata.labels = labels(numbers).into();
            if numbers.below(4) == 0 {
                new.status.conditions.clear();
            }
            world.put(new);
        }
    }
}

#[test]
fn passes_that_are_left_out_change_nothing() {
    for (minor, flags) in [(18, &[][..]), (20, &[]), (26, LEGACY), (35, &[])] {
        for seed in 0..12 {
            let mut lazy = World::new(minor, flags);
            let mut eager = World::new(minor, flags);
            let (mut numbers, mut same) = (Numbers(seed), Numbers(seed));
            let quiet = 1 + seed % 9;
            for secs in 0..400_u64 {
                for (world, numbers) in [(&mut lazy, &mut numbers), (&mut eager, &mut same)] {
                    world.run_until(Timestamp::from_nanos(at(secs).as_nanos().saturating_sub(1)));
                    world.now = at(secs);
                    if numbers.below(quiet) == 0 {
                        change(world, numbers, secs);
                    }
                    while world.controller.has_queued_work() {
                        world.controller.handle_timeout(world.now, &world.cluster);
                        world.act();
                    }
                }
                let log = lazy.run_to(secs);
                eager.controller.now = at(secs);
                if eager.controller.next_timer().is_none_or(|next| next >= at(secs)) {
                    eager.controller.force_pass();
                }
                assert_eq!(log, eager.run_to(secs), "1.{minor} seed {seed} at {secs}");
                // Later reports are for the next pass in both worlds.
                lazy.controller.end_instant(at(secs));
                eager.controller.end_instant(at(secs));
                if secs % 7 != 0 {
                    continue;
                }
                let known = knowledge(&lazy, secs + 1);
                assert_eq!(known, knowledge(&eager, secs + 1), "1.{minor} seed {seed} at {secs}");
            }
        }
    }
}
