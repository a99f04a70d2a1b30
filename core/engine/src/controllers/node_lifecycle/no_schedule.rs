//! `NoSchedule` taints that follow conditions, and labels that follow other labels.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use taintlab_rules::api::node_condition_type::{
    DISK_PRESSURE, MEMORY_PRESSURE, NETWORK_UNAVAILABLE, PID_PRESSURE, READY,
};
use taintlab_rules::api::{ConditionStatus, Node, Taint, TaintEffect, well_known};
use taintlab_rules::order::tree;
use taintlab_rules::policy::taints::taint_set_diff;

/// Taint for each condition type and status. Mirrors `nodeConditionToTaintKeyStatusMap`.
const TAINTS_BY_CONDITION: [(&str, ConditionStatus, &str); 6] = [
    (READY, ConditionStatus::False, well_known::NOT_READY),
    (READY, ConditionStatus::Unknown, well_known::UNREACHABLE),
    (MEMORY_PRESSURE, ConditionStatus::True, well_known::MEMORY_PRESSURE),
    (DISK_PRESSURE, ConditionStatus::True, well_known::DISK_PRESSURE),
    (PID_PRESSURE, ConditionStatus::True, well_known::PID_PRESSURE),
    (NETWORK_UNAVAILABLE, ConditionStatus::True, well_known::NETWORK_UNAVAILABLE),
];

/// Pairs of labels: the second follows the first. Mirrors `labelReconcileInfo`.
const LABELS: [(&str, &str); 2] = [
    ("kubernetes.io/os", "beta.kubernetes.io/os"),
    ("kubernetes.io/arch", "beta.kubernetes.io/arch"),
];

fn is_own(taint: &Taint) -> bool {
    taint.effect == TaintEffect::NoSchedule
        && (taint.key == well_known::UNSCHEDULABLE
            || TAINTS_BY_CONDITION.iter().any(|(_, _, key)| taint.key == *key))
}

/// Taints required by the conditions of a node and by `spec.unschedulable`.
fn wanted(node: &Node) -> impl Iterator<Item = Taint> {
    let by_condition = node.status.conditions.iter().filter_map(|condition| {
        TAINTS_BY_CONDITION
            .iter()
            .find(|(type_, status, _)| condition.type_ == *type_ && condition.status == *status)
            .map(|(_, _, key)| *key)
    });
    let unschedulable = node.spec.unschedulable.then_some(well_known::UNSCHEDULABLE);
    by_condition.chain(unschedulable).map(|key| Taint::new(key, "", TaintEffect::NoSchedule))
}

/// Taints to add, and taints to remove. Mirrors `Controller.doNoScheduleTaintingPass`.
pub(super) fn taint_changes(node: &Node) -> (Vec<Taint>, Vec<Taint>) {
    let want: Vec<Taint> = wanted(node).collect();
    let have: Vec<Taint> = node.spec.taints.iter().filter(|t| is_own(t)).cloned().collect();
    taint_set_diff(&want, &have)
}

/// Labels to set. Mirrors `Controller.reconcileNodeLabels`.
pub(super) fn label_changes(node: &Node) -> BTreeMap<String, String> {
    let labels = &node.metadata.labels;
    tree(LABELS.iter().filter_map(|(stable, beta)| {
        let value = labels.get(*stable)?;
        (labels.get(*beta) != Some(value)).then(|| ((*beta).into(), value.clone()))
    }))
}

/// Whether taints or labels have to change.
pub(super) fn has_changes(node: &Node) -> bool {
    let (add, remove) = taint_changes(node);
    !add.is_empty() || !remove.is_empty() || !label_changes(node).is_empty()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use taintlab_rules::api::NodeCondition;

    fn condition(type_: &str, status: &str) -> NodeCondition {
        NodeCondition { type_: type_.into(), status: status.into(), ..NodeCondition::default() }
    }

    fn keys(taints: &[Taint]) -> Vec<&str> {
        taints.iter().map(|t| t.key.rsplit('/').next().unwrap()).collect()
    }

    #[test]
    fn every_condition_brings_its_taint() {
        for (type_, status, expected) in [
            ("Ready", "True", &[][..]),
            ("Ready", "False", &["not-ready"]),
            ("Ready", "Unknown", &["unreachable"]),
            ("MemoryPressure", "True", &["memory-pressure"]),
            ("MemoryPressure", "Unknown", &[]),
            ("DiskPressure", "True", &["disk-pressure"]),
            ("DiskPressure", "False", &[]),
            ("PIDPressure", "True", &["pid-pressure"]),
            ("NetworkUnavailable", "True", &["network-unavailable"]),
            ("NetworkUnavailable", "Unknown", &[]),
            ("FrequentReboot", "True", &[]),
        ] {
            let mut node = Node::default();
            node.status.conditions = vec![condition(type_, status)];
            let (add, remove) = taint_changes(&node);
            assert_eq!(keys(&add), expected, "{type_} {status}");
            assert!(add.iter().all(|taint| taint.effect == TaintEffect::NoSchedule));
            assert_eq!(remove, []);
        }
    }

    #[test]
    fn only_own_taints_are_removed_and_order_is_that_of_the_conditions() {
        let mut node = Node::default();
        node.spec.unschedulable = true;
        node.status.conditions =
            vec![condition("PIDPressure", "True"), condition("Ready", "False")];
        let stale = Taint::new(well_known::UNREACHABLE, "", TaintEffect::NoSchedule);
        node.spec.taints = vec![
            stale.clone(),
            Taint::new(well_known::UNREACHABLE, "", TaintEffect::NoExecute),
            Taint::new("dedicated", "x", TaintEffect::NoSchedule),
            Taint::new(well_known::NOT_READY, "by-hand", TaintEffect::NoSchedule),
        ];
        let (add, remove) = taint_changes(&node);
        assert_eq!(keys(&add), ["pid-pressure", "unschedulable"]);
        assert_eq!(remove, [stale]);
    }

    #[test]
    fn beta_labels_follow_the_stable_ones() {
        let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
        };
        for (have, expected) in [
            (&[][..], &[][..]),
            (&[("beta.kubernetes.io/os", "linux")], &[]),
            (&[("kubernetes.io/os", "linux")], &[("beta.kubernetes.io/os", "linux")]),
            (
                &[("kubernetes.io/arch", "arm64"), ("beta.kubernetes.io/arch", "amd64")],
                &[("beta.kubernetes.io/arch", "arm64")],
            ),
            (&[("kubernetes.io/os", "linux"), ("beta.kubernetes.io/os", "linux")], &[]),
        ] {
            let mut node = Node::default();
            node.metadata.labels = labels(have).into();
            assert_eq!(label_changes(&node), labels(expected), "{have:?}");
            assert_eq!(has_changes(&node), !expected.is_empty());
        }
    }
}
