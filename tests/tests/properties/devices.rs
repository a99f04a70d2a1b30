//! The devices that claims get, against a second opinion (`models::devices`).

use proptest::prelude::*;
use serde_json::{Value, json};
use taintlab_core::api::{DeviceObject, Labels};
use taintlab_core::cluster::Devices;
use taintlab_core::policy::devices::{AllocatorFeatures, PublishedDevice, allocate};
use taintlab_tests::models;

use super::check;
use taintlab_tests::dice::Dice;

fn taint(dice: &mut Dice) -> Value {
    let effect = dice.pick(&["NoSchedule", "NoExecute", "None"]);
    json!({ "key": dice.pick(&["a", "b"]), "value": dice.pick(&["x", "y"]), "effect": effect })
}

fn wanted(dice: &mut Dice, name: &str) -> Value {
    let tolerations = (0..dice.below(3)).map(|_| {
        json!({
            "key": dice.pick(&["a", "b", ""]), "value": dice.pick(&["x", "y"]),
            "operator": dice.pick(&["Exists", "Equal"]), "effect": dice.pick(&["", "NoSchedule"]),
        })
    });
    let tolerations: Vec<Value> = tolerations.collect();
    let mut wanted = json!({ "name": name, "tolerations": tolerations });
    if dice.one_in(6) {
        wanted["allocationMode"] = "All".into();
    } else if dice.one_in(2) {
        wanted["count"] = (1 + dice.below(3)).into();
    }
    wanted
}

/// The requests of a claim, and the devices of a node.
fn problem(dice: &mut Dice) -> (Vec<Value>, Vec<Value>) {
    let devices = (0..1 + dice.below(5)).map(|number| {
        let taints: Vec<Value> = (0..dice.below(3)).map(|_| taint(dice)).collect();
        let mut device = json!({ "name": format!("d{number}"), "taints": taints });
        if dice.one_in(6) {
            device["taken"] = true.into();
        }
        device
    });
    let devices = devices.collect();
    let requests = (0..1 + dice.below(3)).map(|number| {
        let name = format!("r{number}");
        if dice.one_in(2) {
            return json!({ "name": name, "exactly": wanted(dice, "") });
        }
        let alternatives: Vec<Value> = ["x", "y"].map(|name| wanted(dice, name)).into();
        json!({ "name": name, "firstAvailable": alternatives })
    });
    (requests.collect(), devices)
}

fn object(kind: &str, name: &str, parts: &Value) -> DeviceObject {
    let mut object = json!({ "kind": kind, "metadata": { "name": name } });
    object.as_object_mut().unwrap().extend(parts.as_object().unwrap().clone());
    serde_json::from_value(object).unwrap()
}

#[test]
fn claims_get_the_devices_of_the_first_combination() {
    check(3_000, any::<u64>(), |seed| {
        let (requests, given) = problem(&mut Dice::new(seed));
        let taken = given.iter().filter(|device| device.get("taken").is_some());
        let results = taken.map(|it| json!({ "driver": "d", "pool": "p", "device": it["name"] }));
        let results: Vec<Value> = results.collect();
        let pool =
            json!({ "driver": "d", "pool": { "name": "p" }, "nodeName": "n", "devices": given });
        let allocation = json!({ "allocation": { "devices": { "results": results } } });
        let mut devices = Devices::default();
        for it in [
            object("ResourceSlice", "s", &json!({ "spec": pool })),
            object("ResourceClaim", "other", &json!({ "status": allocation })),
        ] {
            devices.put(it.into()).unwrap();
        }
        let spec = json!({ "spec": { "devices": { "requests": requests } } });
        let claim = object("ResourceClaim", "c", &spec).resource_claim().unwrap();
        let features = AllocatorFeatures { taints: true, rules: false };
        let all = PublishedDevice::all(&devices, features);
        let here: Vec<_> = all.iter().filter(|it| it.is_on("n", &Labels::new())).collect();
        let ours = allocate(&[&claim], &here);
        let model = models::devices::allocate(&requests, &given);
        prop_assert_eq!(ours.is_some(), model.is_some(), "{:?} {:?}", requests, given);
        let (Some(ours), Some(model)) = (ours, model) else { return Ok(()) };
        let theirs = model.iter().map(|(request, which, device)| {
            let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
            let request = &requests[*request];
            let alternative = request.get("firstAvailable").map(|of| name(&of[*which]));
            (name(request), alternative.unwrap_or_default(), name(&given[*device]))
        });
        let mine = ours.iter().map(|(device, it)| {
            (it.request.to_owned(), it.wanted.name.clone(), device.device.name.clone())
        });
        prop_assert_eq!(mine.collect::<Vec<_>>(), theirs.collect::<Vec<_>>(), "{:?}", requests);
        Ok(())
    });
}
