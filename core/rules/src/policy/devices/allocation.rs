//! The devices that a node can give to claims. CEL selectors, constraints, counters and capacity are
//! not evaluated: every device suits every class.

use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use super::prevents_allocation;
use crate::api::{
    Device, DeviceRequest, DeviceSubRequest, Labels, ResourceClaim, ResourceSlice, Taint,
};
use crate::cluster::Devices;
use crate::order::Order;

/// The feature gates of the allocator. Mirrors `structured.Features`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocatorFeatures {
    /// Devices have taints: `DRADeviceTaints`.
    pub taints: bool,
    /// Rules taint devices: `DRADeviceTaintRules`.
    pub rules: bool,
}

/// A device that a driver publishes.
#[derive(Clone, Debug)]
pub struct PublishedDevice<'a> {
    /// The slice that publishes it.
    pub slice: &'a ResourceSlice,
    /// The device.
    pub device: &'a Device,
    /// Its taints, and those that rules add.
    taints: Vec<&'a Taint>,
    /// Whether a claim has it.
    is_allocated: bool,
}

impl<'a> PublishedDevice<'a> {
    /// The devices of the newest generation of each complete pool, by driver and pool. A rule without
    /// `deviceSelector` taints every device, although the API says that it selects none. Mirrors
    /// `GatherPools` and `Tracker.applyPatches`.
    #[must_use]
    pub fn all(devices: &'a Devices, features: AllocatorFeatures) -> Vec<Self> {
        let mut slices: Vec<&ResourceSlice> = devices.slices().map(AsRef::as_ref).collect();
        slices.order_by_key(|it| (&*it.driver, &*it.pool, Reverse(it.generation)));
        let allocated = devices.claims().flat_map(|claim| claim.allocation.iter().flatten());
        let mut allocated: Vec<_> =
            allocated.map(|it| (&*it.driver, &*it.pool, &*it.device)).collect();
        allocated.order();
        let mut all = Vec::new();
        for pool in slices.chunk_by(|a, b| (&a.driver, &a.pool) == (&b.driver, &b.pool)) {
            let newest = pool.iter().take_while(|it| Some(it.generation) == generation(pool));
            let count = i64::try_from(newest.clone().count()).unwrap_or(i64::MAX);
            for slice in newest.filter(|it| it.slice_count == 0 || it.slice_count == count) {
                for device in &slice.devices {
                    let name = (&*slice.driver, &*slice.pool, &*device.name);
                    let mut taints = Vec::new();
                    if features.taints {
                        taints.extend(&device.taints);
                    }
                    if features.rules {
                        let rules = devices.rules().filter(|rule| {
                            let selector = rule.selector.as_ref();
                            selector.is_none_or(|it| it.selects(name.0, name.1, name.2))
                        });
                        taints.extend(rules.map(|rule| &rule.taint));
                    }
                    let is_allocated = allocated.binary_search(&name).is_ok();
                    all.push(Self { slice, device, taints, is_allocated });
                }
            }
        }
        all
    }

    /// Whether a node reaches the device. Mirrors `nodeMatches`.
    #[must_use]
    pub fn is_on(&self, node: &str, labels: &Labels) -> bool {
        let ResourceSlice { node_name, all_nodes, node_selector, .. } = self.slice;
        match node_name.is_empty() {
            false => node_name == node,
            true => *all_nodes || node_selector.iter().any(|term| term.matches(node, labels)),
        }
    }

    fn suits(&self, wanted: &DeviceSubRequest) -> bool {
        !self.is_allocated
            && !self.taints.iter().any(|taint| prevents_allocation(taint, &wanted.tolerations))
    }
}

/// The newest generation of a pool.
fn generation(pool: &[&ResourceSlice]) -> Option<i64> {
    pool.first().map(|slice| slice.generation)
}

/// One alternative of a request.
#[derive(Clone, Copy, Debug)]
pub struct Alternative<'a> {
    /// The index of its claim.
    pub claim: usize,
    /// The name of its request.
    pub request: &'a str,
    /// The devices that it wants.
    pub wanted: &'a DeviceSubRequest,
}

/// The devices that claims get together, in the order of their requests, each with the alternative
/// that it is for; `None` if they cannot all be had. Each request gets its first alternative and the
/// first devices that leave enough for the requests after it. A request for all devices needs every
/// device of the node. Mirrors `Allocator.Allocate`, which tries all combinations.
#[must_use]
pub fn allocate<'a>(
    claims: &[&'a ResourceClaim],
    devices: &[&'a PublishedDevice<'a>],
) -> Option<Vec<(&'a PublishedDevice<'a>, Alternative<'a>)>> {
    let mut alternatives = Vec::new();
    let mut requests = Vec::new();
    for (claim, of) in claims.iter().enumerate() {
        for DeviceRequest { name: request, alternatives: given } in &of.requests {
            let first = alternatives.len();
            let given = given.iter().map(|wanted| Alternative { claim, request, wanted });
            alternatives.extend(given);
            requests.push(first..alternatives.len());
        }
    }
    let search = Search { devices, alternatives: &alternatives };
    let mut owners = alloc::vec![None; devices.len()];
    let mut given = Vec::new();
    let mut rest = requests.as_slice();
    while let Some((request, later)) = rest.split_first() {
        rest = later;
        let chosen = request
            .clone()
            .find(|it| search.is_feasible(*it, search.count(*it), rest, owners.clone()))?;
        for more in (0..search.count(chosen)).rev() {
            let (place, device) = devices.iter().enumerate().find(|(place, device)| {
                let mut owners = owners.clone();
                let owner = owners.get_mut(*place).filter(|owner| owner.is_none());
                owner.is_some_and(|owner| {
                    *owner = Some(FIXED);
                    search.suits(device, chosen)
                }) && search.is_feasible(chosen, more, rest, owners)
            })?;
            *owners.get_mut(place)? = Some(FIXED);
            given.push((*device, *alternatives.get(chosen)?));
        }
    }
    Some(given)
}

/// Owners of devices: for each device the index of an alternative.
type Owners = Vec<Option<usize>>;

/// The owner of a device that does not change hands.
const FIXED: usize = usize::MAX;

struct Search<'a, 'b> {
    devices: &'b [&'a PublishedDevice<'a>],
    alternatives: &'b [Alternative<'a>],
}

impl Search<'_, '_> {
    /// The number of devices that an alternative wants; at least one in the mode `All`.
    fn count(&self, alternative: usize) -> i64 {
        let wanted = self.alternatives.get(alternative).and_then(|it| it.wanted.count);
        wanted.unwrap_or_else(|| i64::try_from(self.devices.len()).unwrap_or(i64::MAX).max(1))
    }

    fn suits(&self, device: &PublishedDevice<'_>, alternative: usize) -> bool {
        self.alternatives.get(alternative).is_some_and(|it| device.suits(it.wanted))
    }

    /// Whether an alternative can get so many devices more, and requests after it what they want.
    fn is_feasible(
        &self,
        alternative: usize,
        count: i64,
        requests: &[Range<usize>],
        mut owners: Owners,
    ) -> bool {
        (0..count).all(|_| self.give(&mut owners, &mut Vec::new(), alternative))
            && requests.split_first().is_none_or(|(request, rest)| {
                let mut alternatives = request.clone();
                alternatives.any(|it| self.is_feasible(it, self.count(it), rest, owners.clone()))
            })
    }

    /// Gives one device more to an alternative, a free one or one whose owner can get another one.
    /// `seen` are devices that have been tried.
    fn give(&self, owners: &mut Owners, seen: &mut Vec<usize>, alternative: usize) -> bool {
        for (at, device) in self.devices.iter().enumerate() {
            if seen.contains(&at) || !self.suits(device, alternative) {
                continue;
            }
            seen.push(at);
            let owner = owners.get(at).copied().flatten();
            if owner.is_none_or(|owner| self.give(owners, seen, owner))
                && let Some(place) = owners.get_mut(at)
            {
                *place = Some(alternative);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use alloc::format;
    use alloc::string::String;

    use serde_json::{Value, json};

    use super::*;
    use crate::api::DeviceObject;

    fn object(kind: &str, name: &str, spec: &Value) -> DeviceObject {
        let value = json!({ "kind": kind, "metadata": { "name": name }, "spec": spec });
        serde_json::from_value(value).unwrap()
    }

    fn slice(name: &str, pool: &str, generation: i64, count: i64, devices: &Value) -> DeviceObject {
        let pool = json!({ "name": pool, "generation": generation, "resourceSliceCount": count });
        let spec = json!({ "driver": "d", "pool": pool, "nodeName": "n", "devices": devices });
        object("ResourceSlice", name, &spec)
    }

    /// Devices that the requests of one claim get on the node `n`.
    fn given(objects: &[DeviceObject], requests: &Value) -> String {
        let mut devices = Devices::default();
        for object in objects {
            devices.put(object.clone().into()).unwrap();
        }
        let spec = json!({ "devices": { "requests": requests } });
        let claim = object("ResourceClaim", "c", &spec).resource_claim().unwrap();
        let features = AllocatorFeatures { taints: true, rules: true };
        let all = PublishedDevice::all(&devices, features);
        let here: Vec<_> = all.iter().filter(|it| it.is_on("n", &Labels::new())).collect();
        let Some(given) = allocate(&[&claim], &here) else { return "none".to_owned() };
        let text = |(device, it): &(&PublishedDevice<'_>, Alternative<'_>)| {
            let (name, of) = (&device.device.name, &it.wanted.name);
            format!("{}{}{of}={name}", it.request, if of.is_empty() { "" } else { "/" })
        };
        given.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn requests_get_devices_that_are_free_and_whose_taints_they_tolerate() {
        let worn = json!({ "name": "worn", "taints": [{ "key": "worn", "effect": "NoSchedule" }] });
        let two = [slice("s", "p", 1, 1, &json!([worn, { "name": "good" }]))];
        let one = |name: &str| json!({ "name": name, "exactly": {} });
        let count = |count: i64| json!([{ "name": "a", "exactly": { "count": count } }]);
        let tolerations = json!([{ "operator": "Exists" }]);
        let tolerant = |fields: Value| {
            let mut fields = fields;
            fields["tolerations"] = tolerations.clone();
            fields
        };
        let all = json!({ "allocationMode": "All" });
        for (requests, expected) in [
            (json!([one("a")]), "a=good"),
            (json!([one("a"), one("b")]), "none"),
            (count(2), "none"),
            (json!([{ "name": "a", "exactly": all }]), "none"),
            (json!([{ "name": "a", "exactly": tolerant(all.clone()) }]), "a=worn a=good"),
            (json!([{ "name": "a", "exactly": tolerant(json!({})) }, one("b")]), "a=worn b=good"),
            (json!([{ "name": "a", "exactly": tolerant(json!({ "count": 2 })) }]), "a=worn a=good"),
            (
                json!([{ "name": "a", "firstAvailable": [
                    { "name": "two", "count": 2 }, { "name": "one" }, tolerant(json!({ "name": "x" })),
                ] }]),
                "a/one=good",
            ),
        ] {
            assert_eq!(given(&two, &requests), expected, "{requests}");
        }
        let turned = [slice("s", "p", 1, 1, &json!([{ "name": "good" }, worn]))];
        let requests = json!([{ "name": "a", "exactly": tolerant(json!({})) }, one("b")]);
        assert_eq!(given(&turned, &requests), "a=worn b=good");
        let either = json!([
            { "name": "a", "firstAvailable": [{ "name": "x" }, tolerant(json!({ "name": "y" }))] },
            one("b"),
        ]);
        assert_eq!(given(&two, &either), "a/y=worn b=good");
    }

    #[test]
    fn pools_count_in_their_newest_generation_and_when_they_are_complete() {
        let one = json!([{ "name": "a", "exactly": {} }]);
        let device = |name: &str| json!([{ "name": name }]);
        let old = slice("a", "p", 1, 1, &device("old"));
        let new = slice("b", "p", 2, 2, &device("new"));
        let rest = slice("c", "p", 2, 2, &device("rest"));
        assert_eq!(given(core::slice::from_ref(&old), &one), "a=old");
        assert_eq!(given(&[old.clone(), new.clone()], &one), "none");
        assert_eq!(given(&[old.clone(), new, rest], &one), "a=new");
        let elsewhere = json!({ "driver": "d", "pool": { "name": "q" }, "nodeName": "m",
            "devices": device("far") });
        assert_eq!(given(&[object("ResourceSlice", "q", &elsewhere)], &one), "none");
        let anywhere = json!({ "driver": "d", "pool": { "name": "q" }, "allNodes": true,
            "devices": device("net") });
        assert_eq!(given(&[object("ResourceSlice", "q", &anywhere)], &one), "a=net");
        let term = json!({ "key": "metadata.name", "operator": "In", "values": ["n"] });
        let selected = json!({ "driver": "d", "pool": { "name": "q" }, "devices": device("net"),
            "nodeSelector": { "nodeSelectorTerms": [{ "matchFields": [term] }] } });
        assert_eq!(given(&[object("ResourceSlice", "q", &selected)], &one), "a=net");
        let mut taken = object("ResourceClaim", "other", &json!({}));
        let result = json!({ "driver": "d", "pool": "p", "device": "old" });
        taken.status.set("allocation", json!({ "devices": { "results": [result] } }));
        assert_eq!(given(&[old, taken], &one), "none");
    }

    #[test]
    fn a_rule_without_a_selector_taints_every_device_and_one_with_the_effect_none_nothing() {
        let one = json!([{ "name": "a", "exactly": {} }]);
        let there = slice("s", "p", 1, 1, &json!([{ "name": "gpu" }]));
        for (spec, expected) in [
            (json!({ "taint": { "key": "k", "effect": "NoSchedule" } }), "none"),
            (json!({ "taint": { "key": "k", "effect": "None" } }), "a=gpu"),
            (
                json!({ "deviceSelector": { "pool": "other" },
                    "taint": { "key": "k", "effect": "NoExecute" } }),
                "a=gpu",
            ),
        ] {
            let rule = object("DeviceTaintRule", "r", &spec);
            assert_eq!(given(&[there.clone(), rule], &one), expected, "{spec}");
        }
    }
}
