//! The conditions that the kubelet posts with the status of its node.

use alloc::format;
use alloc::vec::Vec;

use taintlab_rules::api::{ConditionStatus, NodeCondition, NodeName};
use taintlab_rules::protocol::{ObjectReference, RecordedEvent};
use taintlab_rules::time::Time;

use super::signal::Pressure;

/// What is posted about a pressure: reason, message, reason of the event.
const fn texts(pressure: Pressure, holds: bool) -> (&'static str, &'static str, &'static str) {
    match (pressure, holds) {
        (Pressure::Memory, true) => (
            "KubeletHasInsufficientMemory",
            "kubelet has insufficient memory available",
            "NodeHasInsufficientMemory",
        ),
        (Pressure::Memory, false) => (
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
            "NodeHasSufficientMemory",
        ),
        (Pressure::Disk, true) => {
            ("KubeletHasDiskPressure", "kubelet has disk pressure", "NodeHasDiskPressure")
        }
        (Pressure::Disk, false) => {
            ("KubeletHasNoDiskPressure", "kubelet has no disk pressure", "NodeHasNoDiskPressure")
        }
        (Pressure::Pid, true) => (
            "KubeletHasInsufficientPID",
            "kubelet has insufficient PID available",
            "NodeHasInsufficientPID",
        ),
        (Pressure::Pid, false) => (
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
            "NodeHasSufficientPID",
        ),
    }
}

/// Puts the three conditions of pressure into the status of a node, as the kubelet does whenever it
/// posts that status, and gives the events of those that flipped. Mirrors
/// `nodestatus.MemoryPressureCondition`, `DiskPressureCondition` and `PIDPressureCondition`.
pub fn post_pressures(
    node: &NodeName,
    pressures: &[Pressure],
    now: Time,
    conditions: &mut Vec<NodeCondition>,
) -> Vec<RecordedEvent> {
    let mut events = Vec::new();
    for pressure in Pressure::ALL {
        let name = pressure.name();
        if !conditions.iter().any(|condition| condition.type_ == name) {
            conditions.push(NodeCondition {
                type_: name.into(),
                status: ConditionStatus::Unknown,
                ..NodeCondition::default()
            });
        }
        let condition = conditions.iter_mut().find(|condition| condition.type_ == name);
        let Some(condition) = condition else { continue };
        let holds = pressures.contains(&pressure);
        let status = if holds { ConditionStatus::True } else { ConditionStatus::False };
        condition.last_heartbeat_time = Some(now);
        // A condition that does not hold is left alone if it says so; one that holds, if it is
        // True.
        if condition.status == status {
            continue;
        }
        let (reason, message, event) = texts(pressure, holds);
        condition.status = status;
        condition.reason = reason.into();
        condition.message = message.into();
        condition.last_transition_time = Some(now);
        events.push(RecordedEvent {
            involved_object: ObjectReference::Node { node: node.clone() },
            type_: "Normal",
            reason: event,
            message: format!("Node {node} status is now: {event}"),
            component: "kubelet",
        });
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_flip_with_an_event() {
        let node = NodeName::from("n");
        let at = Time::from_unix_seconds;
        let mut conditions = Vec::new();
        let first = post_pressures(&node, &[], at(0), &mut conditions);
        let reasons: Vec<_> = first.iter().map(|event| event.reason).collect();
        assert_eq!(
            reasons,
            ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"]
        );
        assert!(post_pressures(&node, &[], at(10), &mut conditions).is_empty());
        let events = post_pressures(&node, &[Pressure::Disk], at(20), &mut conditions);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].message, "Node n status is now: NodeHasDiskPressure");
        let disk = &conditions[1];
        assert_eq!(
            (disk.status.as_str(), disk.reason.as_str(), disk.message.as_str()),
            ("True", "KubeletHasDiskPressure", "kubelet has disk pressure")
        );
        assert_eq!(disk.last_transition_time, Some(at(20)));
        let memory = &conditions[0];
        assert_eq!(memory.last_transition_time, Some(at(0)));
        assert_eq!(memory.last_heartbeat_time, Some(at(20)));
    }
}
