//! A scenario with other `tolerationSeconds`: what a comparison changes.

use alloc::string::ToString;
use alloc::sync::Arc;

use super::Scenario;
use crate::api::{PodSpec, TaintEffect, well_known};
use crate::policy::admission::default_tolerations;

/// The flags of kube-apiserver that say what new pods get.
const FLAGS: [&str; 2] =
    ["default-not-ready-toleration-seconds", "default-unreachable-toleration-seconds"];

impl Scenario {
    /// Lets every pod that tolerates a failed node for some time tolerate it for so many seconds:
    /// the pods and templates of workloads that are there at the beginning, and the pods that
    /// admission gives its defaults. Who tolerates it forever still does.
    pub fn set_toleration_seconds(&mut self, seconds: i64) {
        let pods = self.objects.pods.iter_mut().map(|pod| &mut Arc::make_mut(pod).spec);
        let templates = self.objects.workloads.iter_mut().map(|it| &mut it.spec.template.spec);
        for spec in pods.chain(templates) {
            set(spec, seconds);
        }
        for group in self.objects.node_groups.iter_mut().filter(|group| group.pods_per_node > 0) {
            let pod = group.pod.get_or_insert_default();
            if pod.spec.tolerations.is_empty() {
                pod.spec.tolerations = default_tolerations().into();
            }
            set(&mut pod.spec, seconds);
        }
        for flag in FLAGS {
            self.kubernetes.api_server_flags.insert(flag.to_string(), seconds.to_string());
        }
    }
}

fn set(spec: &mut PodSpec, seconds: i64) {
    for toleration in spec.tolerations.iter_mut() {
        let failed = [well_known::NOT_READY, well_known::UNREACHABLE].contains(&&*toleration.key);
        let evicts = matches!(toleration.effect, TaintEffect::NoExecute | TaintEffect::Empty);
        if failed && evicts && toleration.toleration_seconds.is_some() {
            toleration.toleration_seconds = Some(seconds);
        }
    }
}
