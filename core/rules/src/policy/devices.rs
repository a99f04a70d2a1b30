//! Taints of devices: which of them a request tolerates, and for how long; and the devices that
//! claims get.

mod allocation;

use alloc::format;
use alloc::vec::Vec;

pub use self::allocation::{AllocatorFeatures, Alternative, PublishedDevice, allocate};
use super::matching::tolerates;
use super::validation::{FieldError, validate_label_name};
use crate::api::{
    DeviceKind, DeviceObject, Taint, TaintEffect, Toleration, TolerationOperator,
    is_valid_label_value,
};

/// Whether a toleration of a request tolerates a taint of a device. Unlike that of a pod it has no
/// operators that compare numbers. Mirrors `resourceclaim.ToleratesTaint`.
#[must_use]
pub fn tolerates_device_taint(toleration: &Toleration, taint: &Taint) -> bool {
    tolerates(toleration, taint, false)
}

/// Whether a taint keeps a device from being allocated for a request. Effects other than
/// `NoSchedule` and `NoExecute` do not, and `tolerationSeconds` plays no part. Mirrors
/// `taintPreventsAllocation`.
#[must_use]
pub fn prevents_allocation(taint: &Taint, tolerations: &[Toleration]) -> bool {
    matches!(taint.effect, TaintEffect::NoSchedule | TaintEffect::NoExecute)
        && !tolerations.iter().any(|toleration| tolerates_device_taint(toleration, taint))
}

/// Time for which the pods of a claim may use a device with a `NoExecute` taint, in nanoseconds
/// from its `timeAdded` on: the least time of all tolerations that tolerate it. `None` is forever:
/// one of them has no time. A toleration without an effect does not count, although it lets
/// the device be allocated. Large times wrap around to negative ones, as upstream. Mirrors
/// `Controller.claimEvictionTime`.
#[must_use]
pub fn device_toleration_time(taint: &Taint, tolerations: &[Toleration]) -> Option<i64> {
    let mut least: Option<i64> = None;
    for (_, toleration) in delaying(taint, tolerations) {
        let seconds = toleration.toleration_seconds?.max(0);
        least = Some(least.map_or(seconds, |least| least.min(seconds)));
    }
    Some(least.unwrap_or_default().wrapping_mul(1_000_000_000))
}

/// The toleration that decides when the pods of a claim are evicted: the first one with the least
/// time, and its index. `None` if no toleration delays the eviction.
#[must_use]
pub fn deciding_device_toleration<'a>(
    taint: &Taint,
    tolerations: &'a [Toleration],
) -> Option<(usize, &'a Toleration)> {
    let seconds = |toleration: &Toleration| toleration.toleration_seconds.unwrap_or(i64::MAX);
    delaying(taint, tolerations).min_by_key(|(_, toleration)| seconds(toleration).max(0))
}

/// The tolerations that count against an eviction, with their indexes.
fn delaying<'a>(
    taint: &Taint,
    tolerations: &'a [Toleration],
) -> impl Iterator<Item = (usize, &'a Toleration)> {
    tolerations.iter().enumerate().filter(move |(_, toleration)| {
        toleration.effect == TaintEffect::NoExecute && tolerates_device_taint(toleration, taint)
    })
}

/// The effects that the API server knows, as its message lists them.
const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

/// Checks the taints of devices and rules, and the tolerations of requests. Mirrors
/// `validateDeviceTaint` and `validateDeviceToleration`.
#[must_use]
pub fn validate_device_object(object: &DeviceObject) -> Vec<FieldError> {
    let mut errors = Vec::new();
    match object.kind {
        DeviceKind::DeviceTaintRule => {
            if let Ok(rule) = object.device_taint_rule() {
                validate_taint(&mut errors, "spec.taint", &rule.taint);
            }
        }
        DeviceKind::ResourceSlice => {
            let devices = object.resource_slice().map(|slice| slice.devices).unwrap_or_default();
            for (at, device) in devices.iter().enumerate() {
                for (index, taint) in device.taints.iter().enumerate() {
                    let path = format!("spec.devices[{at}].taints[{index}]");
                    validate_taint(&mut errors, &path, taint);
                }
            }
        }
        DeviceKind::ResourceClaim => {
            let requests = object.resource_claim().map(|claim| claim.requests).unwrap_or_default();
            for (at, request) in requests.iter().enumerate() {
                for (sub, alternative) in request.alternatives.iter().enumerate() {
                    let part = match alternative.name.is_empty() {
                        true => "exactly".into(),
                        false => format!("firstAvailable[{sub}]"),
                    };
                    for (index, toleration) in alternative.tolerations.iter().enumerate() {
                        let path =
                            format!("spec.devices.requests[{at}].{part}.tolerations[{index}]");
                        validate_toleration(&mut errors, &path, toleration);
                    }
                }
            }
        }
        DeviceKind::DeviceClass
        | DeviceKind::ResourceClaimTemplate
        | DeviceKind::Empty
        | DeviceKind::Other(_) => {}
    }
    errors
}

fn validate_taint(errors: &mut Vec<FieldError>, path: &str, taint: &Taint) {
    errors.extend(validate_label_name(&taint.key, &format!("{path}.key")));
    for message in is_valid_label_value(&taint.value) {
        errors.push(FieldError::invalid(format!("{path}.value"), taint.value.as_str(), message));
    }
    let field = format!("{path}.effect");
    if taint.effect.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else if !EFFECTS.contains(&taint.effect.as_str()) {
        errors.push(FieldError::not_supported(field, taint.effect.as_str(), EFFECTS));
    }
}

fn validate_toleration(errors: &mut Vec<FieldError>, path: &str, toleration: &Toleration) {
    if !toleration.key.is_empty() {
        errors.extend(validate_label_name(&toleration.key, &format!("{path}.key")));
    }
    match &toleration.operator {
        TolerationOperator::Exists if !toleration.value.is_empty() => {
            let (field, value) = (format!("{path}.value"), toleration.value.as_str());
            errors.push(FieldError::invalid(field, value, "must be empty for operator `Exists`"));
        }
        TolerationOperator::Exists => {}
        TolerationOperator::Empty | TolerationOperator::Equal => {
            for message in is_valid_label_value(&toleration.value) {
                let value = toleration.value.as_str();
                errors.push(FieldError::invalid(format!("{path}.value"), value, message));
            }
        }
        other => {
            let field = format!("{path}.operator");
            errors.push(FieldError::not_supported(field, other.as_str(), ["Equal", "Exists"]));
        }
    }
    if !toleration.effect.is_empty() && !EFFECTS.contains(&toleration.effect.as_str()) {
        let field = format!("{path}.effect");
        errors.push(FieldError::not_supported(field, toleration.effect.as_str(), EFFECTS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TolerationOperator;

    fn exists(effect: TaintEffect, seconds: Option<i64>) -> Toleration {
        Toleration {
            operator: TolerationOperator::Exists,
            effect,
            toleration_seconds: seconds,
            ..Toleration::default()
        }
    }

    #[test]
    fn tolerations_without_an_effect_allocate_and_do_not_delay() {
        let taint = Taint::new("broken", "", TaintEffect::NoExecute);
        let any = [exists(TaintEffect::Empty, None)];
        assert!(!prevents_allocation(&taint, &any));
        assert_eq!(device_toleration_time(&taint, &any), Some(0));
        let forever = [exists(TaintEffect::NoExecute, None)];
        assert_eq!(device_toleration_time(&taint, &forever), None);
        let schedule = [exists(TaintEffect::NoSchedule, None)];
        assert!(prevents_allocation(&taint, &schedule));
        let none = Taint::new("broken", "", "None".into());
        assert!(!prevents_allocation(&none, &[]));
    }

    #[test]
    fn the_least_time_counts_and_large_ones_wrap() {
        let taint = Taint::new("broken", "", TaintEffect::NoExecute);
        let of = |times: &[i64]| {
            let given = times.iter().map(|time| exists(TaintEffect::NoExecute, Some(*time)));
            device_toleration_time(&taint, &given.collect::<alloc::vec::Vec<_>>())
        };
        assert_eq!(of(&[120, 5, 30]), Some(5_000_000_000));
        assert_eq!(of(&[-3]), Some(0));
        assert_eq!(of(&[i64::MAX]), Some(-1_000_000_000));
    }
}
