//! Changes to lists of taints and tolerations, as controllers and `kubectl taint` make them.
//!
//! Mirrors `k8s.io/kubernetes/pkg/util/taints`; what `kubectl taint` does is in [`kubectl`].

pub mod kubectl;

use alloc::vec::Vec;

use crate::api::{Taint, TaintEffect, Toleration, well_known};

/// Replaces every taint of the same key and effect by `taint`, or appends it.
///
/// True if the list has changed; if one of those taints is equal to `taint` already, nothing
/// changes. Mirrors `AddOrUpdateTaint`.
pub fn add_or_update_taint(taints: &mut Vec<Taint>, taint: &Taint) -> bool {
    if taints.contains(taint) {
        return false;
    }
    let mut updated = false;
    for old in taints.iter_mut().filter(|old| old.matches(taint)) {
        old.clone_from(taint);
        updated = true;
    }
    if !updated {
        taints.push(taint.clone());
    }
    true
}

/// Removes every taint of the same key and effect; true if there was one. Mirrors `RemoveTaint`.
pub fn remove_taint(taints: &mut Vec<Taint>, taint: &Taint) -> bool {
    delete_taint(taints, taint)
}

/// Removes every taint of the same key and effect; true if there was one. Mirrors `DeleteTaint`.
pub fn delete_taint(taints: &mut Vec<Taint>, taint: &Taint) -> bool {
    retain(taints, |old| !old.matches(taint))
}

/// Removes every taint of that key; true if there was one. Mirrors `DeleteTaintsByKey`.
pub fn delete_taints_by_key(taints: &mut Vec<Taint>, key: &str) -> bool {
    retain(taints, |old| old.key != key)
}

fn retain(taints: &mut Vec<Taint>, keep: impl Fn(&Taint) -> bool) -> bool {
    let before = taints.len();
    taints.retain(keep);
    taints.len() != before
}

/// Whether the list has a taint of the same key and effect. Mirrors `TaintExists`.
#[must_use]
pub fn taint_exists(taints: &[Taint], taint: &Taint) -> bool {
    taints.iter().any(|old| old.matches(taint))
}

/// What is to be added to `have`, and what removed from it, so that it has the keys and effects of
/// `want`. Values are not looked at. Mirrors `TaintSetDiff`.
#[must_use]
pub fn taint_set_diff(want: &[Taint], have: &[Taint]) -> (Vec<Taint>, Vec<Taint>) {
    let to_add = taint_set_filter(want, |taint| !taint_exists(have, taint));
    let to_remove = taint_set_filter(have, |taint| !taint_exists(want, taint));
    (to_add, to_remove)
}

/// The taints for which `keep` is true, in their order. Mirrors `TaintSetFilter`.
#[must_use]
pub fn taint_set_filter(taints: &[Taint], keep: impl Fn(&Taint) -> bool) -> Vec<Taint> {
    taints.iter().filter(|taint| keep(taint)).cloned().collect()
}

/// The taints that Kubernetes itself or kubeadm puts on nodes. `out-of-service` is set by hand.
pub fn taints_of_kubernetes() -> impl Iterator<Item = Taint> {
    use TaintEffect::{NoExecute, NoSchedule};
    let both = [well_known::NOT_READY, well_known::UNREACHABLE]
        .into_iter()
        .flat_map(|key| [(key, NoSchedule), (key, NoExecute)]);
    let others = [
        well_known::UNSCHEDULABLE,
        well_known::MEMORY_PRESSURE,
        well_known::DISK_PRESSURE,
        well_known::PID_PRESSURE,
        well_known::NETWORK_UNAVAILABLE,
        well_known::SHUTDOWN,
        well_known::CONTROL_PLANE,
        "node-role.kubernetes.io/master",
    ];
    both.chain(others.into_iter().map(|key| (key, NoSchedule)))
        .map(|(key, effect)| Taint::new(key, "", effect))
        // The only one of these taints with a value.
        .chain([Taint::new(well_known::UNINITIALIZED, "true", NoSchedule)])
}

/// Replaces every toleration that differs at most in its `tolerationSeconds`, or appends it.
///
/// Mirrors `AddOrUpdateTolerationInPodSpec`, which compares a pointer with a value, and therefore
/// says *changed* always; so there is no answer here.
pub fn add_or_update_toleration(tolerations: &mut Vec<Toleration>, toleration: &Toleration) {
    let mut updated = false;
    for old in tolerations.iter_mut().filter(|old| old.matches(toleration)) {
        old.clone_from(toleration);
        updated = true;
    }
    if !updated {
        tolerations.push(toleration.clone());
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::api::TaintEffect::{NoExecute, NoSchedule};
    use crate::time::Time;

    #[test]
    fn add_or_update_replaces_in_place_or_appends() {
        let old = vec![Taint::new("a", "1", NoSchedule), Taint::new("b", "", NoSchedule)];
        for (name, taint, changed, expected) in [
            ("equal", Taint::new("a", "1", NoSchedule), false, old.clone()),
            (
                "another value",
                Taint::new("a", "2", NoSchedule),
                true,
                vec![Taint::new("a", "2", NoSchedule), old[1].clone()],
            ),
            (
                "another effect",
                Taint::new("a", "1", NoExecute),
                true,
                vec![old[0].clone(), old[1].clone(), Taint::new("a", "1", NoExecute)],
            ),
        ] {
            let mut taints = old.clone();
            assert_eq!(add_or_update_taint(&mut taints, &taint), changed, "{name}");
            assert_eq!(taints, expected, "{name}");
        }
        let mut taints = old.clone();
        let stamped = Taint { time_added: Some(Time::DEFAULT_START), ..old[0].clone() };
        assert!(add_or_update_taint(&mut taints, &stamped), "a new timeAdded is a change");
        assert_eq!(taints, [stamped, old[1].clone()]);
    }

    #[test]
    fn an_equal_one_among_several_of_its_kind_stops_the_update() {
        let mut taints = vec![Taint::new("a", "1", NoSchedule), Taint::new("a", "2", NoSchedule)];
        assert!(!add_or_update_taint(&mut taints, &Taint::new("a", "2", NoSchedule)));
        assert!(add_or_update_taint(&mut taints, &Taint::new("a", "3", NoSchedule)));
        assert_eq!(taints, vec![Taint::new("a", "3", NoSchedule); 2]);
    }

    #[test]
    fn removal_and_difference_look_at_key_and_effect() {
        let old = vec![
            Taint::new("a", "1", NoSchedule),
            Taint::new("b", "", NoSchedule),
            Taint::new("a", "1", NoExecute),
        ];
        let mut taints = old.clone();
        assert!(remove_taint(&mut taints, &Taint::new("a", "other", NoExecute)));
        assert_eq!(taints, old[..2]);
        assert!(!remove_taint(&mut taints, &Taint::new("b", "", NoExecute)));
        let mut taints = old.clone();
        assert!(delete_taints_by_key(&mut taints, "a"));
        assert_eq!(taints, old[1..2]);
        assert!(!delete_taints_by_key(&mut taints, "a"));
        let want = [Taint::new("a", "9", NoSchedule), Taint::new("c", "", NoSchedule)];
        let (to_add, to_remove) = taint_set_diff(&want, &old);
        assert_eq!(to_add, want[1..]);
        assert_eq!(to_remove, old[1..]);
    }

    #[test]
    fn a_toleration_is_replaced_whatever_its_seconds() {
        let toleration = |key: &str, toleration_seconds| Toleration {
            key: key.into(),
            toleration_seconds,
            ..Toleration::default()
        };
        let mut tolerations = vec![toleration("a", Some(5)), toleration("b", None)];
        add_or_update_toleration(&mut tolerations, &toleration("a", None));
        add_or_update_toleration(&mut tolerations, &toleration("c", Some(1)));
        let expected = [toleration("a", None), toleration("b", None), toleration("c", Some(1))];
        assert_eq!(tolerations, expected);
    }
}
