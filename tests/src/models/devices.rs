//! Devices of a node for requests, found by trying everything in order.

use serde_json::Value;

use super::{list, number, text};

/// A device that a request gets: the indexes of the request, its alternative and the device.
pub type Given = (usize, usize, usize);

/// The first solution for the requests of a claim, if there is one: the alternatives of each request
/// in their order, and for each of them the devices in theirs. `devices` are all of a node, with
/// `taints`, and `taken` if another claim has one.
#[must_use]
pub fn allocate(requests: &[Value], devices: &[Value]) -> Option<Vec<Given>> {
    let mut given = Vec::new();
    serve(requests, devices, 0, &mut given).then_some(given)
}

fn serve(requests: &[Value], devices: &[Value], at: usize, given: &mut Vec<Given>) -> bool {
    let Some(request) = requests.get(at) else { return true };
    let exactly = request.get("exactly").map_or(&[][..], std::slice::from_ref);
    let alternatives = [exactly, list(request, "/firstAvailable")].concat();
    alternatives.iter().enumerate().any(|(which, wanted)| {
        let all = text(wanted, "/allocationMode") == "All";
        let one = number(wanted, "/count").unwrap_or(1);
        let count = if all { devices.len().max(1) } else { usize::try_from(one).unwrap() };
        pick(requests, devices, (at, which, wanted), count, given)
    })
}

/// Tries every device for the next of `count` that an alternative still wants.
fn pick(
    requests: &[Value],
    devices: &[Value],
    (at, which, wanted): (usize, usize, &Value),
    count: usize,
    given: &mut Vec<Given>,
) -> bool {
    let Some(rest) = count.checked_sub(1) else { return serve(requests, devices, at + 1, given) };
    devices.iter().enumerate().any(|(device, it)| {
        let is_taken = it.get("taken").is_some() || given.iter().any(|known| known.2 == device);
        if is_taken || !tolerates_all(wanted, it) {
            return false;
        }
        given.push((at, which, device));
        pick(requests, devices, (at, which, wanted), rest, given) || {
            given.pop();
            false
        }
    })
}

fn tolerates_all(wanted: &Value, device: &Value) -> bool {
    list(device, "/taints").iter().all(|taint| {
        let effect = text(taint, "/effect");
        let tolerates = |toleration: &Value| {
            let or_any = |field: &str| {
                text(toleration, field).is_empty() || text(toleration, field) == text(taint, field)
            };
            or_any("/effect")
                && or_any("/key")
                && (text(toleration, "/operator") == "Exists"
                    || text(toleration, "/value") == text(taint, "/value"))
        };
        !["NoSchedule", "NoExecute"].contains(&effect)
            || list(wanted, "/tolerations").iter().any(tolerates)
    })
}
