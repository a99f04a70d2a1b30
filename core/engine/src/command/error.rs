//! Why a command was not carried out.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use taintlab_rules::api::{DeviceKind, NodeName, PodKey, WorkloadKey};
use taintlab_rules::policy::eviction::EvictionError;
use taintlab_rules::policy::validation::FieldError;
use taintlab_rules::protocol::{ApiErrorKind, FlagError, RequestVerb};
use taintlab_rules::time::Timestamp;

use crate::kubelet::KubeletError;

/// Why a command was not carried out. The cluster is as it was before; after
/// [`RequestFailed`](Self::RequestFailed) it will be refused once less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// The command is older than the simulation.
    TimeWentBack {
        /// The time of the command.
        at: Timestamp,
        /// The time the simulation has reached.
        now: Timestamp,
    },
    /// There is no node of that name.
    NodeNotFound(NodeName),
    /// There is no such pod.
    PodNotFound(PodKey),
    /// There is a node of that name already.
    NodeAlreadyExists(NodeName),
    /// There is such a pod already.
    PodAlreadyExists(PodKey),
    /// The pod has a node already.
    PodAlreadyBound {
        /// Which pod.
        pod: PodKey,
        /// Where it is.
        node: NodeName,
    },
    /// No taint of the node has that key (and effect).
    TaintNotFound {
        /// Which node.
        node: NodeName,
        /// The taint as text, `key` or `key:effect`.
        taint: String,
    },
    /// What is said of usage cannot be: what, and what would be valid.
    InvalidUsage(String),
    /// A kubelet would not start with these settings; the words are its own.
    Kubelet(String),
    /// The simulation has no kubelets and no node lifecycle controller.
    NoNodeLifecycle,
    /// The simulation has no scheduler and no controllers of workloads.
    NoControlPlane,
    /// There is no such workload.
    WorkloadNotFound(WorkloadKey),
    /// There is such a workload already.
    WorkloadAlreadyExists(WorkloadKey),
    /// A workload of this kind has no number of replicas.
    CannotScale(WorkloadKey),
    /// There is no such budget.
    BudgetNotFound(PodKey),
    /// There is no claim of that name.
    ClaimNotFound(PodKey),
    /// There is no volume of that name.
    VolumeNotFound(String),
    /// No object has that kind and name.
    DeviceObjectNotFound(DeviceKind, PodKey),
    /// Another object has that kind and name.
    DeviceObjectAlreadyExists(DeviceKind, PodKey),
    /// There is such a budget already.
    BudgetAlreadyExists(PodKey),
    /// A flag of kube-apiserver.
    ApiServerFlag(FlagError),
    /// Admission refuses the object: a plugin, or a field that it cannot read.
    NotAdmitted {
        /// What object, as kubectl names it: `pods "a"`.
        object: String,
        /// Why.
        reason: String,
    },
    /// The API server was made to refuse requests about the pod: the request was sent, and counts.
    RequestFailed {
        /// Which pod.
        pod: PodKey,
        /// What was asked.
        verb: RequestVerb,
        /// The answer.
        error: ApiErrorKind,
    },
    /// 429: a budget does not allow the eviction now.
    DisruptionBudget {
        /// Which budget.
        budget: PodKey,
        /// How many healthy pods it needs.
        needs: i64,
        /// How many there are.
        has: i64,
    },
    /// 429: the disruption controller has not looked at a budget since it was changed.
    BudgetNotProcessed {
        /// Which budget.
        budget: PodKey,
    },
    /// 403: the status of a budget is not what it can be.
    BudgetForbids {
        /// Which budget.
        budget: PodKey,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// 500: several budgets select the pod, which the eviction API does not support.
    SeveralBudgets {
        /// Which.
        budgets: Vec<PodKey>,
    },
    /// There is no such zone, or several.
    ZoneNotFound {
        /// As it was named.
        zone: String,
        /// The zones that it could be; all there are if it is none of them.
        zones: Vec<String>,
        /// Whether it could be several.
        ambiguous: bool,
    },
    /// A value of the command is out of range.
    InvalidValue {
        /// Which field of the command.
        field: &'static str,
        /// Its value.
        value: String,
        /// What would be valid.
        expected: &'static str,
    },
    /// The API server would not accept the object.
    Invalid {
        /// What object, as kubectl names it: `node "a"`.
        object: String,
        /// What is wrong with it.
        errors: Vec<FieldError>,
    },
}

impl CommandError {
    /// Whether the request was made to fail: it is part of the run, and whoever plays the run again
    /// sends it again.
    #[must_use]
    pub const fn is_simulated(&self) -> bool {
        matches!(self, Self::RequestFailed { .. })
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeWentBack { at, now } => {
                write!(f, "the command is for {at}, but the simulation is already at {now}")
            }
            Self::NodeNotFound(node) => write!(f, "nodes \"{node}\" not found"),
            Self::PodNotFound(pod) => {
                write!(f, "pods \"{}\" not found in namespace \"{}\"", pod.name(), pod.namespace())
            }
            Self::NodeAlreadyExists(node) => write!(f, "nodes \"{node}\" already exists"),
            Self::PodAlreadyExists(pod) => write!(
                f,
                "pods \"{}\" already exists in namespace \"{}\"",
                pod.name(),
                pod.namespace()
            ),
            Self::PodAlreadyBound { pod, node } => {
                write!(f, "pod {} is already assigned to node \"{node}\"", pod.name())
            }
            Self::TaintNotFound { node, taint } => {
                write!(f, "taint \"{taint}\" not found on node \"{node}\"")
            }
            Self::InvalidUsage(error) | Self::Kubelet(error) => f.write_str(error),
            Self::NoNodeLifecycle => f.write_str(
                "this simulation has no kubelets and no node lifecycle controller; \
                 set `nodeLifecycle: true`",
            ),
            Self::NoControlPlane => f.write_str(
                "this simulation has no scheduler and no controllers of workloads; set \
                 `controlPlane: true`",
            ),
            Self::WorkloadNotFound(key) => {
                let (resource, group) = (key.kind.resource(), key.kind.group());
                write!(f, "{resource}.{group} \"{}\" not found", key.name.name())
            }
            Self::WorkloadAlreadyExists(key) => {
                let (resource, group) = (key.kind.resource(), key.kind.group());
                write!(f, "{resource}.{group} \"{}\" already exists", key.name.name())
            }
            Self::CannotScale(_) => f.write_str("the server could not find the requested resource"),
            Self::BudgetNotFound(key) => {
                write!(f, "poddisruptionbudgets.policy \"{}\" not found", key.name())
            }
            Self::ClaimNotFound(key) => {
                write!(f, "persistentvolumeclaims \"{}\" not found", key.name())
            }
            Self::VolumeNotFound(name) => write!(f, "persistentvolumes \"{name}\" not found"),
            Self::DeviceObjectNotFound(kind, key) => {
                write!(f, "{}.resource.k8s.io \"{}\" not found", kind.resource(), key.name())
            }
            Self::DeviceObjectAlreadyExists(kind, key) => {
                write!(f, "{}.resource.k8s.io \"{}\" already exists", kind.resource(), key.name())
            }
            Self::BudgetAlreadyExists(key) => {
                write!(f, "poddisruptionbudgets.policy \"{}\" already exists", key.name())
            }
            Self::ApiServerFlag(error) => error.fmt(f),
            Self::NotAdmitted { object, reason } => write!(f, "{object} is forbidden: {reason}"),
            Self::RequestFailed { pod, verb, error } => {
                f.write_str(&error.message_about_pod(*verb, pod.name()))
            }
            Self::DisruptionBudget { budget, needs, has } => {
                let (budget, needs, has) = (budget.clone(), *needs, *has);
                let cause = String::new();
                EvictionError::DisruptionBudget { budget, needs, has, cause }.fmt(f)
            }
            Self::BudgetNotProcessed { budget } => {
                EvictionError::NotProcessed { budget: budget.clone() }.fmt(f)
            }
            Self::BudgetForbids { budget, reason } => {
                EvictionError::Forbidden { budget: budget.clone(), reason, cause: String::new() }
                    .fmt(f)
            }
            Self::SeveralBudgets { budgets } => {
                EvictionError::SeveralBudgets { budgets: budgets.clone() }.fmt(f)
            }
            Self::ZoneNotFound { zone, zones, ambiguous } => {
                let known: Vec<String> = zones.iter().map(|zone| format!("\"{zone}\"")).collect();
                let known = known.join(", ");
                if *ambiguous {
                    write!(f, "zone \"{zone}\" could be one of {known}; name region and zone")
                } else {
                    write!(f, "zone \"{zone}\" not found; the zones of the nodes are {known}")
                }
            }
            Self::InvalidValue { field, value, expected } => {
                write!(f, "{field}: invalid value \"{value}\": must be {expected}")
            }
            Self::Invalid { object, errors } => {
                write!(f, "{object} is invalid: ")?;
                for (index, error) in errors.iter().enumerate() {
                    write!(f, "{}{error}", if index == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

impl core::error::Error for CommandError {}

impl From<KubeletError> for CommandError {
    fn from(error: KubeletError) -> Self {
        match error {
            KubeletError::NodeNotFound(node) => Self::NodeNotFound(node),
            KubeletError::PodNotFound(pod) => Self::PodNotFound(pod),
            KubeletError::ZoneNotFound { zone, zones, ambiguous } => {
                Self::ZoneNotFound { zone, zones, ambiguous }
            }
            KubeletError::InvalidUsage(error) => Self::InvalidUsage(error),
        }
    }
}

impl From<EvictionError> for CommandError {
    fn from(error: EvictionError) -> Self {
        match error {
            EvictionError::PodNotFound(pod) => Self::PodNotFound(pod),
            EvictionError::SeveralBudgets { budgets } => Self::SeveralBudgets { budgets },
            EvictionError::NotProcessed { budget } => Self::BudgetNotProcessed { budget },
            EvictionError::Forbidden { budget, reason, .. } => {
                Self::BudgetForbids { budget, reason }
            }
            EvictionError::DisruptionBudget { budget, needs, has, .. } => {
                Self::DisruptionBudget { budget, needs, has }
            }
        }
    }
}
