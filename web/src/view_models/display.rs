//! The words of the page for commands, events and deadlines, in Kubernetes' terms.

use taintlab_core::api::{NodeName, PodKey, Taint, WorkloadKey};
use taintlab_core::command::{ApiErrorKind, Command, PodWrite};
use taintlab_core::event::{
    EventKind, EventSubject, ObjectReference, RecordedEvent, RequestResult, RequestVerb,
};
use taintlab_core::protocol::zone::ZoneKey;

use super::selection::Selection;
use crate::session::{Next, NextWhat, Row, RowKind, is_about_zones};
use crate::text::count;

/// Kinds of rows that the log can show or hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    /// Kubernetes Events, which a cluster shows too.
    Event,
    /// Changes by the user or the scenario.
    Change,
    /// Decisions and requests of the controllers, which a cluster does not show.
    Fact,
}

/// A row of the log, to be painted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowText {
    /// The kind, for the filter.
    pub(crate) category: Category,
    /// `Normal`, `Warning`, or the word in their place.
    pub(crate) type_: &'static str,
    /// The reason, in one word.
    pub(crate) reason: String,
    /// The object, as kubectl writes it: `pod/web-0`.
    pub(crate) object: String,
    /// The message.
    pub(crate) message: String,
    /// The component that says so.
    pub(crate) component: &'static str,
    /// The selection of a click.
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

fn budget_object(budget: &PodKey) -> (String, Option<Selection>) {
    (format!("poddisruptionbudget/{budget}"), None)
}

fn workload_object(workload: &WorkloadKey) -> (String, Option<Selection>) {
    (workload.to_string(), Some(Selection::Workload(workload.clone())))
}

fn happened(what: &EventKind) -> RowText {
    let (api, taint_eviction) = ("api-server", "taint-eviction");
    let (reason, component, message) = match what {
        EventKind::EventRecorded(event) => return recorded(event),
        EventKind::NodeAdded { .. } | EventKind::PodAdded { .. } => {
            ("Added", api, "created".into())
        }
        EventKind::NodeUpdated { .. } | EventKind::PodUpdated { .. } => {
            ("Updated", api, "changed".into())
        }
        EventKind::NodeDeleted { .. } | EventKind::PodDeleted { .. } => {
            ("Deleted", api, "the object is gone".into())
        }
        EventKind::PodAdmitted { .. } | EventKind::NodeAdmitted { .. } => {
            ("Admitted", api, what.to_string())
        }
        EventKind::WorkloadAdded { .. }
        | EventKind::WorkloadUpdated { .. }
        | EventKind::WorkloadDeleted { .. } => ("Workload", api, what.to_string()),
        EventKind::BudgetChanged { .. } => ("Budget", api, what.to_string()),
        EventKind::Request { verb, result, .. } => {
            // Users are refused, too.
            let refused = matches!(result, RequestResult::Error(_));
            let by_api = refused || *verb == RequestVerb::Evict;
            ("Request", if by_api { api } else { taint_eviction }, format!("{verb}: {result}"))
        }
        EventKind::Decided(decision) => ("Decision", taint_eviction, decision.decision.to_string()),
        EventKind::DeviceEvictionPlanned { eviction, .. } => {
            ("Decision", "device-taint-eviction", eviction.decision())
        }
        EventKind::NodeEvaluated { .. } => ("Evaluated", taint_eviction, what.to_string()),
        EventKind::TaintEvictionControllerRestarted { timers_lost } => {
            let message = format!("restarted; {} lost", count(*timers_lost, "timer"));
            ("Restarted", taint_eviction, message)
        }
        EventKind::OwnerInferred { .. } => ("OwnerInferred", "playground", what.to_string()),
        EventKind::BudgetNotAsked { .. } => ("BudgetNotAsked", "playground", what.to_string()),
        EventKind::DrainStarted { .. }
        | EventKind::DrainPrinted { .. }
        | EventKind::DrainEnded { .. } => ("Drain", "kubectl", what.to_string()),
        EventKind::VolumeDetached { .. } => {
            ("VolumeDetached", "attachdetach-controller", what.to_string())
        }
        EventKind::NodeShutdown { .. } => ("Shutdown", "kubelet", what.to_string()),
        EventKind::KubeletEviction { .. } => ("Node pressure", "kubelet", what.to_string()),
        EventKind::ZoneStateChanged { .. }
        | EventKind::ZoneRateChanged { .. }
        | EventKind::MasterDisruptionEntered
        | EventKind::MasterDisruptionLeft
        | EventKind::ControllerManagerRestarted
        | EventKind::HeartbeatLost { .. }
        | EventKind::HeartbeatResumed { .. }
        | EventKind::NodeConditionChanged { .. }
        | EventKind::NodeTaintsChanged { .. }
        | EventKind::NodeWriteRefused { .. }
        | EventKind::NodeSkipped { .. }
        | EventKind::NodeQueued { .. }
        | EventKind::NodeDequeued { .. } => ("Node lifecycle", "node-controller", what.to_string()),
    };
    // A zone has no events of its own in Kubernetes, yet its state decides a lot.
    let category = if is_about_zones(what) { Category::Event } else { Category::Fact };
    let (object, selects) = object(what);
    let reason = reason.to_owned();
    RowText { category, type_: "Decision", reason, object, message, component, selects }
}

/// The subject of an event of the simulation.
fn object(what: &EventKind) -> (String, Option<Selection>) {
    let EventSubject { pod, node, workload, zone } = what.subject();
    let of_zone = || zone.map(zone_object).unwrap_or_default();
    let of_workload = || workload.map_or_else(of_zone, workload_object);
    let of_node = || node.map_or_else(of_workload, node_object);
    if let EventKind::BudgetChanged { budget, .. } = what {
        return budget_object(budget);
    }
    pod.map_or_else(of_node, pod_object)
}

/// A Kubernetes Event.
fn recorded(event: &RecordedEvent) -> RowText {
    let (object, selects) = match &event.involved_object {
        ObjectReference::Pod { pod, .. } => pod_object(pod),
        ObjectReference::Node { node } => node_object(node),
        ObjectReference::Budget { budget } => budget_object(budget),
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
        Command::CreateDeviceObject(object) => {
            format!("create {}/{}", object.kind.as_str().to_ascii_lowercase(), object.metadata.name)
        }
        Command::UpdateDeviceObject(object) => {
            format!(
                "replace {}/{}",
                object.kind.as_str().to_ascii_lowercase(),
                object.metadata.name
            )
        }
        Command::DeleteDeviceObject { kind, name } => {
            format!("delete {}/{}", kind.as_str().to_ascii_lowercase(), name.name())
        }
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

/// The next event, as the end of a sentence.
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
