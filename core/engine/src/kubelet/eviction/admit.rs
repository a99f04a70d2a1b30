//! Whether the kubelet admits a new pod.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use taintlab_rules::api::{QosClass, Taint, TaintEffect, well_known};
use taintlab_rules::policy::matching::tolerates;
use taintlab_rules::release::KubernetesRelease;

use super::action::{EvictionManagerAction, PodStatusPatch};
use super::manager::EvictionManager;
use super::message::EVICTED;
use super::pod::KubeletPod;
use super::signal::Pressure;
use super::version::KubeletVersion;

/// Whether the kubelet takes a new pod, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "admission", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Admission {
    /// It does.
    Admitted {
        /// Why.
        because: AdmittedBecause,
    },
    /// It does not; the pod fails.
    Rejected {
        /// Always `Evicted`.
        reason: &'static str,
        /// The message of the event; the pod's status has `Pod ` before it, or since 1.26 `Pod was
        /// rejected: `.
        message: String,
    },
}

/// Why a pod is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AdmittedBecause {
    /// The node is under no pressure.
    NoPressure,
    /// The pod is critical.
    Critical,
    /// The node lacks memory only, and the pod has asked for some.
    NotBestEffort,
    /// The node lacks memory only, and the pod tolerates that.
    ToleratesMemoryPressure,
}

impl Admission {
    /// Whether the pod is taken.
    #[must_use]
    pub const fn is_admitted(&self) -> bool {
        matches!(self, Self::Admitted { .. })
    }
}

/// Whether a kubelet under these pressures takes a pod. Mirrors `managerImpl.Admit`.
#[must_use]
pub fn admit(version: KubeletVersion, pressures: &[Pressure], pod: &KubeletPod) -> Admission {
    let admitted = |because| Admission::Admitted { because };
    let memory = pressures.contains(&Pressure::Memory);
    if pressures.is_empty() {
        return admitted(AdmittedBecause::NoPressure);
    }
    let is_best_effort = pod.qos_class == QosClass::BestEffort;
    if version.is_qos_era() {
        if memory && !is_best_effort {
            return admitted(AdmittedBecause::NotBestEffort);
        }
        if memory && pod.critical.is_some() {
            return admitted(AdmittedBecause::Critical);
        }
    } else {
        if pod.is_spared() {
            return admitted(AdmittedBecause::Critical);
        }
        if memory && pressures.len() == 1 {
            if !is_best_effort {
                return admitted(AdmittedBecause::NotBestEffort);
            }
            let taint = Taint::new(well_known::MEMORY_PRESSURE, "", TaintEffect::NoSchedule);
            if pod.tolerations.iter().any(|toleration| tolerates(toleration, &taint, false)) {
                return admitted(AdmittedBecause::ToleratesMemoryPressure);
            }
        }
    }
    let names = pressures.iter().map(|pressure| pressure.name()).collect::<Vec<_>>().join(" ");
    let message = if version.is_qos_era() {
        format!("The node was low on resource: [{names}].")
    } else {
        format!("The node had condition: [{names}]. ")
    };
    Admission::Rejected { reason: EVICTED, message }
}

impl EvictionManager {
    /// Whether the kubelet takes a pod that was bound to its node. If it does not, the actions that
    /// follow are the event and the status of the pod.
    pub fn admit(&mut self, pod: &KubeletPod) -> Admission {
        let admission = admit(self.version(), self.node_conditions(), pod);
        if let Admission::Rejected { message, .. } = &admission {
            let prefix = self.version().rule("Pod ", KubernetesRelease::rejected_pod_prefix);
            self.record_pod_event(&pod.key, EVICTED, message.clone(), Default::default());
            let patch =
                PodStatusPatch { message: format!("{prefix}{message}"), disruption_target: None };
            self.push(EvictionManagerAction::PatchPodStatus { pod: pod.key.clone(), patch });
        }
        admission
    }
}
