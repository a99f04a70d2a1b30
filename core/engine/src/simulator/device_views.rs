//! Devices of nodes, to look at.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_rules::api::PodKey;
use taintlab_rules::order::Order;

use super::Simulator;

/// A device that a driver publishes for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceView {
    /// The driver.
    pub driver: String,
    /// The pool of the device.
    pub pool: String,
    /// Its name in the pool.
    pub device: String,
    /// Its taints, those of rules last: `example.com/unhealthy:NoExecute`, `example.com/old:None of
    /// DeviceTaintRule old`.
    pub taints: Vec<String>,
}

/// The devices of a node, by driver, pool and name: those of the slices that name it, without
/// outdated ones.
#[must_use]
pub fn devices_of_node(simulator: &Simulator, node: &str) -> Vec<DeviceView> {
    let api = &simulator.api;
    let Some(devices) = api.cluster.devices() else { return Vec::new() };
    let slices = devices.slices().filter(|slice| slice.node_name == *node);
    let own: Vec<_> = slices.collect();
    let has_rules = api.gates.has_device_taint_rules(api.config.release);
    let mut views = Vec::new();
    for slice in &own {
        let same_pool = own.iter().filter(|it| it.driver == slice.driver && it.pool == slice.pool);
        if same_pool.map(|it| it.generation).max() > Some(slice.generation) {
            continue;
        }
        for device in &slice.devices {
            let (driver, pool) = (slice.driver.clone(), slice.pool.clone());
            let mut taints: Vec<_> = device.taints.iter().map(ToString::to_string).collect();
            for rule in devices.rules().filter(|_| has_rules) {
                let selector = rule.selector.as_ref();
                if selector.is_some_and(|it| it.selects(&driver, &pool, &device.name)) {
                    taints.push(format!("{} of DeviceTaintRule {}", rule.taint, rule.name));
                }
            }
            views.push(DeviceView { driver, pool, device: device.name.clone(), taints });
        }
    }
    views.order_by(|one, other| {
        let key = |it: &DeviceView| (it.driver.clone(), it.pool.clone(), it.device.clone());
        key(one).cmp(&key(other))
    });
    views
}

/// The pods whose claims have a device.
#[must_use]
pub fn pods_with_device(simulator: &Simulator, view: &DeviceView) -> Vec<PodKey> {
    let mut pods = Vec::new();
    for claim in simulator.api.cluster.devices().into_iter().flat_map(|all| all.claims()) {
        let mut allocated = claim.allocation.iter().flatten();
        let has = allocated
            .any(|it| it.driver == view.driver && it.pool == view.pool && it.device == view.device);
        let users = claim.reserved_for.iter().filter(|user| has && user.is_pod);
        pods.extend(users.map(|user| PodKey::new(claim.key.namespace(), &user.name)));
    }
    pods
}
