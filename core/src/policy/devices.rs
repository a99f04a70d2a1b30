//! Taints of devices: which of them a request tolerates, and for how long.

use super::matching::tolerates;
use crate::api::{Taint, TaintEffect, Toleration};

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

/// How long the pods of a claim may go on using a device with a `NoExecute` taint, in nanoseconds
/// from its `timeAdded` on: the least time of all tolerations that tolerate it; `None` is forever, as
/// soon as one of them has no time. A toleration without an effect does not count, although it lets
/// the device be allocated. Large times wrap around to negative ones, as upstream. Mirrors
/// `Controller.claimEvictionTime`.
#[must_use]
pub fn device_toleration_time(taint: &Taint, tolerations: &[Toleration]) -> Option<i64> {
    let mut least: Option<i64> = None;
    for toleration in tolerations {
        if toleration.effect == TaintEffect::NoExecute && tolerates_device_taint(toleration, taint)
        {
            let seconds = toleration.toleration_seconds?.max(0);
            least = Some(least.map_or(seconds, |least| least.min(seconds)));
        }
    }
    Some(least.unwrap_or_default().wrapping_mul(1_000_000_000))
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
