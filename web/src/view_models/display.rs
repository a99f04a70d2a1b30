//! What the page says about commands, events and deadlines, in Kubernetes' words.

use taintlab_core::api::{NodeName, PodKey, Taint, WorkloadKey};
use taintlab_core::command::{ApiErrorKind, Command, PodWrite};
use taintlab_core::event::{EventKind, ObjectReference};
use taintlab_core::protocol::zone::ZoneKey;

use super::selection::Selection;
use crate::session::{Next, NextWhat, Row, RowKind, is_about_zones};
use crate::text::count;

/// Kinds of rows that the log can show or hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    /// Kubernetes Events, which a cluster shows too.
    Event,
    /// What the user or the scenario did.
    Change,
    /// What the controllers thought and asked for, which a cluster does not show.
    Fact,
}

/// A row of the log, to be painted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowText {
    /// For the filter.
    pub(crate) category: Category,
    /// `Normal`, `Warning`, or what stands for it.
    pub(crate) type_: &'static str,
    /// Why, in one word.
    pub(crate) reason: String,
    /// About what, as kubectl writes it: `pod/web-0`.
    pub(crate) object: String,
    /// The message.
    pub(crate) message: String,
    /// Who says so.
    pub(crate) component: &'static str,
    /// What a click selects.
    pub(crate) selects: Option<Selection>,
}

/// The words of a row.
pub(crate) fn row(row: &Row) -> RowText {
    match &row.kind {
        RowKind::Happened(happening) => happened(happening),
        RowKind::Edit(command) => change("Edit", "you", command, command_text(command)),
        RowKind::Step(command) => change("Step", "scenario", command, command_text(command)),
        RowKind::Refused { command, error } => {
            let message = format!("{}: refused, as expected: {error}", command_text(command));
            change("Step", "scenario", command, message)
        }
        RowKind::NotRefused(command) => {
            let text = command_text(command);
            let message = format!("{text}: succeeded, but was expected to be refused");
            RowText { type_: "Warning", ..change("Step", "scenario", command, message) }
        }
        RowKind::Skipped { command, error } => {
            let message = format!("skipped: {}: {error}", command_text(command));
            RowText { type_: "Warning", ..change("Skipped", "playground", command, message) }
        }
    }
}

fn change(reason: &str, component: &'static str, command: &Command, message: String) -> RowText {
    let (object, selects) = match (command.pod(), command.node()) {
        (Some(pod), _) => pod_object(&pod),
        (None, Some(node)) => node_object(&node.into()),
        (None, None) => (String::new(), None),
    };
    let reason = reason.to_owned();
    RowText {
        category: Category::Change,
        type_: "Change",
        reason,
        object,
        message,
        component,
        selects,
    }
}

fn pod_object(pod: &PodKey) -> (String, Option<Selection>) {
    (format!("pod/{}", pod.as_str()), Some(Selection::Pod(pod.clone())))
}

fn node_object(node: &NodeName) -> (String, Option<Selection>) {
    (format!("node/{node}"), Some(Selection::Node(node.clone())))
}

fn zone_object(zone: &ZoneKey) -> (String, Option<Selection>) {
    (format!("zone/{}", zone.name()), Some(Selection::Zone(zone.as_str().into())))
}

fn workload_object(workload: &WorkloadKey) -> (String, Option<Selection>) {
    (workload.to_string(), Some(Selection::Workload(workload.clone())))
}

fn happened(happening: &EventKind) -> RowText {
    let fact = |reason: &str, (object, selects), message: String, component| RowText {
        category: Category::Fact,
        type_: "Fact",
        reason: reason.to_owned(),
        object,
        message,
        component,
        selects,
    };
    let api = "api-server";
    let controller = "taint-eviction";
    match happening {
        EventKind::EventRecorded(event) => {
            let (object, selects) = match &event.involved_object {
                ObjectReference::Pod { pod, .. } => pod_object(pod),
                ObjectReference::Node { node } => node_object(node),
                ObjectReference::Budget { budget } => {
                    (format!("poddisruptionbudget/{budget}"), None)
                }
                ObjectReference::Workload { workload } => workload_object(workload),
            };
            RowText {
                category: Category::Event,
                type_: event.type_,
                reason: event.reason.to_owned(),
                object,
                message: event.message.clone(),
                component: event.component,
                selects,
            }
        }
        EventKind::NodeAdded { node } => fact("Added", node_object(node), "created".into(), api),
        EventKind::NodeUpdated { node } => {
            fact("Updated", node_object(node), "changed".into(), api)
        }
        EventKind::NodeDeleted { node } => {
            fact("Deleted", node_object(node), "the object is gone".into(), api)
        }
        EventKind::PodAdded { pod, .. } => fact("Added", pod_object(pod), "created".into(), api),
        EventKind::PodUpdated { pod, .. } => {
            fact("Updated", pod_object(pod), "changed".into(), api)
        }
        EventKind::PodDeleted { pod, .. } => {
            fact("Deleted", pod_object(pod), "the object is gone".into(), api)
        }
        EventKind::Request { pod, verb, result, .. } => {
            fact("Request", pod_object(pod), format!("{verb}: {result}"), controller)
        }
        EventKind::Decided(decision) => {
            fact("Decision", pod_object(&decision.pod), decision.decision.to_string(), controller)
        }
        EventKind::NodeEvaluated { node, .. } => {
            fact("Evaluated", node_object(node), happening.to_string(), controller)
        }
        EventKind::TaintEvictionControllerRestarted { timers_lost } => {
            let message = format!("restarted; {} lost", count(*timers_lost, "timer"));
            fact("Restarted", (String::new(), None), message, controller)
        }
        other => {
            let of_zone = || other.zone().map(zone_object).unwrap_or_default();
            if let Some(row) = control_plane(other) {
                return row;
            }
            let object = other.node().map_or_else(of_zone, node_object);
            let row = fact("Node lifecycle", object, other.to_string(), "node-controller");
            // A zone has no events of its own in Kubernetes, and yet its state decides so much.
            let category = if is_about_zones(other) { Category::Event } else { row.category };
            RowText { category, ..row }
        }
    }
}

/// What the rest of the control plane did, and kubelets whose node is shut down.
fn control_plane(what: &EventKind) -> Option<RowText> {
    let (reason, (object, selects), component) = match what {
        EventKind::WorkloadAdded { workload }
        | EventKind::WorkloadUpdated { workload }
        | EventKind::WorkloadDeleted { workload } => {
            ("Workload", workload_object(workload), "api-server")
        }
        EventKind::OwnerInferred { workload, .. } => {
            ("Assumed", workload_object(workload), "playground")
        }
        EventKind::PodAdmitted { pod, .. } => ("Admitted", pod_object(pod), "api-server"),
        EventKind::NodeAdmitted { node, .. } => ("Admitted", node_object(node), "api-server"),
        EventKind::BudgetChanged { budget, .. } => {
            ("Budget", (format!("poddisruptionbudget/{budget}"), None), "api-server")
        }
        EventKind::DrainPrinted { .. } => ("Drain", (String::new(), None), "kubectl"),
        EventKind::VolumeDetached { node, .. } => {
            ("VolumeDetached", node_object(node), "attachdetach-controller")
        }
        EventKind::NodeShutdown { node, report } => {
            let object = report.pod().map_or_else(|| node_object(node), pod_object);
            ("Shutdown", object, "kubelet")
        }
        EventKind::BudgetNotAsked { pod, .. } => ("BudgetNotAsked", pod_object(pod), "playground"),
        _ => return None,
    };
    Some(RowText {
        category: Category::Fact,
        type_: "Fact",
        reason: reason.to_owned(),
        object,
        message: what.to_string(),
        component,
        selects,
    })
}

/// An error as `code Reason`.
pub(crate) fn error_text(error: ApiErrorKind) -> &'static str {
    match error {
        ApiErrorKind::InternalError => "500 InternalError",
        ApiErrorKind::Conflict => "409 Conflict",
        ApiErrorKind::TooManyRequests => "429 TooManyRequests",
        ApiErrorKind::Forbidden => "403 Forbidden",
    }
}

fn list(taints: &[Taint]) -> String {
    if taints.is_empty() {
        return "none".to_owned();
    }
    let taints: Vec<String> = taints.iter().map(ToString::to_string).collect();
    taints.join(", ")
}

/// A command, much as one would type it.
pub(crate) fn command_text(command: &Command) -> String {
    match command {
        Command::SetNodeResources(resources) => format!("resources of node {}", resources.node),
        Command::LoadNode(load) => format!("load node {}", load.node),
        Command::SetPodUsage { .. } => "usage of pods".to_owned(),
        Command::LoadPod(load) => format!("load pod {}", load.pod),
        Command::ConfigureKubelet { node, .. } => format!("configure the kubelet of {node}"),
        Command::CreateNode(node) => format!("create node {}", node.metadata.name),
        Command::UpdateNode(node) => format!("replace node {}", node.metadata.name),
        Command::DeleteNode { node } => format!("delete node {node}"),
        Command::SetTaints { node, taints } => {
            format!("taints of node {node}: {}", list(taints))
        }
        Command::Taint { node, taint } => format!("taint node {node} {taint}"),
        Command::Untaint { node, key, effect } if effect.is_empty() => {
            format!("taint node {node} {key}-")
        }
        Command::Untaint { node, key, effect } => format!("taint node {node} {key}:{effect}-"),
        Command::SetUnschedulable { node, unschedulable: true } => format!("cordon {node}"),
        Command::SetUnschedulable { node, unschedulable: false } => format!("uncordon {node}"),
        Command::SetNodeLabels { node, .. } => format!("labels of node {node}"),
        Command::CreatePod(pod) => format!("create pod {}", pod.key()),
        Command::UpdatePod(pod) => format!("replace pod {}", pod.key()),
        Command::DeletePod { pod, force: false, grace_period_seconds: None } => {
            format!("delete pod {pod}")
        }
        Command::DeletePod { pod, force: false, grace_period_seconds: Some(seconds) } => {
            format!("delete pod {pod} --grace-period={seconds}")
        }
        Command::DeletePod { pod, force: true, .. } => {
            format!("delete pod {pod} --force --grace-period=0")
        }
        Command::SetTolerations { pod, tolerations } => {
            format!("{} of pod {pod}", count(tolerations.len(), "toleration"))
        }
        Command::SetPodLabels { pod, .. } => format!("labels of pod {pod}"),
        Command::BindPod { pod, node } => format!("bind pod {pod} to node {node}"),
        Command::FailPodWrites { pod, verb, times, error } => {
            let verb = match verb {
                PodWrite::Delete => "DELETE",
                PodWrite::PatchStatus => "PATCH status",
            };
            format!("{verb} of pod {pod} fails {}: {}", count(*times, "time"), error_text(*error))
        }
        Command::RestartTaintEvictionController => "restart the taint-eviction controller".into(),
        Command::StopKubelet { node } => format!("stop the kubelet of {node}"),
        Command::StartKubelet { node } => format!("start the kubelet of {node}"),
        Command::RestartKubelet { node } => format!("restart the kubelet of {node}"),
        Command::FlapKubelet { node, down, up, .. } => {
            format!("the kubelet of {node} flaps: {down} down, {up} up")
        }
        Command::ShutDownNode { node, .. } => format!("shut {node} down"),
        Command::CancelShutdown { node } => format!("cancel the shutdown of {node}"),
        Command::PowerOffNode { node } => format!("cut the power of {node}"),
        Command::CutNetwork { node } => format!("cut the network of {node}"),
        Command::RestoreNetwork { node } => format!("restore the network of {node}"),
        Command::CutZoneNetwork { zone } => format!("cut the network of zone {zone}"),
        Command::RestoreZoneNetwork { zone } => format!("restore the network of zone {zone}"),
        Command::RegisterNode { node, .. } => {
            format!("create node {} without a kubelet", node.metadata.name)
        }
        Command::SetNodeCondition { node, type_, status, .. } => {
            format!("the kubelet of {node} reports {type_}={status}")
        }
        Command::EvictPod { pod, .. } => format!("evict pod {pod}"),
        Command::Drain { nodes, .. } => {
            let nodes: Vec<&str> = nodes.iter().map(|node| node.as_str()).collect();
            format!("drain {}", nodes.join(" "))
        }
        Command::CancelDrain { drain } => format!("end drain {drain}"),
        Command::CreateWorkload(workload) => format!("create {}", workload.key()),
        Command::UpdateWorkload(workload) => format!("replace {}", workload.key()),
        Command::DeleteWorkload { workload, .. } => format!("delete {workload}"),
        Command::Scale { workload, replicas } => {
            format!("scale {workload} --replicas={replicas}")
        }
        Command::SetStartUpTime { workload, time } => {
            format!("pods of {workload} take {time} to start")
        }
        Command::CreateBudget(budget) => format!("create poddisruptionbudget/{}", budget.key()),
        Command::UpdateBudget(budget) => format!("replace poddisruptionbudget/{}", budget.key()),
        Command::DeleteBudget { budget } => format!("delete poddisruptionbudget/{budget}"),
        Command::DeleteClaim { claim } => format!("delete persistentvolumeclaim/{claim}"),
        Command::DeleteVolume { volume } => format!("delete persistentvolume/{volume}"),
        Command::SetApiServerFlags { flags } => {
            let flags: Vec<String> =
                flags.iter().map(|(name, value)| format!("--{name}={value}")).collect();
            format!("restart kube-apiserver with {}", flags.join(" "))
        }
        Command::RestartControllerManager => "restart kube-controller-manager".into(),
        Command::FailNodeWrites { node, times, error, .. } => {
            let times = count(*times, "time");
            format!("writes to node {node} fail {times}: {}", error_text(*error))
        }
    }
}

/// What happens next, as the end of a sentence.
pub(crate) fn next(next: &Next) -> String {
    match &next.what {
        NextWhat::Step(command) => format!("scenario: {}", command_text(command)),
        NextWhat::Edit(edit) => match edit.commands.as_slice() {
            [command] => format!("your edit: {}", command_text(command)),
            commands => format!("your edit of {}", count(commands.len(), "object")),
        },
        NextWhat::Deadline(reason) => reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::TaintEffect;
    use taintlab_core::event::RecordedEvent;
    use taintlab_core::time::Timestamp;

    use super::*;

    #[test]
    fn commands_read_as_kubectl() {
        let taint = Taint::new("k", "v", TaintEffect::NoExecute);
        let command = Command::Taint { node: "a".into(), taint };
        assert_eq!(command_text(&command), "taint node a k=v:NoExecute");
        let row = row(&Row { at: Timestamp::ZERO, kind: RowKind::Edit(Box::new(command)) });
        assert_eq!(row.object, "node/a");
        assert_eq!(row.selects, Some(Selection::Node("a".into())));
    }

    #[test]
    fn events_keep_kubernetes_words() {
        let event = RecordedEvent {
            involved_object: ObjectReference::Pod { api_version: "v1", pod: PodKey::new("", "p") },
            type_: "Normal",
            reason: "TaintManagerEviction",
            message: "Marking for deletion Pod default/p".into(),
            component: "taint-eviction-controller",
        };
        let text = happened(&EventKind::EventRecorded(event));
        assert_eq!(text.category, Category::Event);
        assert_eq!((text.type_, text.object.as_str()), ("Normal", "pod/default/p"));
        assert_eq!(text.component, "taint-eviction-controller");
    }
}
