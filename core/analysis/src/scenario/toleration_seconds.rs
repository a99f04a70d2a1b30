//! Changes `tolerationSeconds` in a scenario, for comparisons.

use alloc::string::ToString;
use alloc::sync::Arc;

use taintlab_rules::api::{PodSpec, TaintEffect, well_known};
use taintlab_rules::policy::admission::default_tolerations;

use super::Scenario;

/// Flags of kube-apiserver with the default `tolerationSeconds` of new pods.
const FLAGS: [&str; 2] =
    ["default-not-ready-toleration-seconds", "default-unreachable-toleration-seconds"];

impl Scenario {
    /// Sets the `tolerationSeconds` of every pod that tolerates a failed node for a limited time:
    /// in the initial pods and workload templates, and in the defaults that admission adds to pods.
    /// Unlimited tolerations stay.
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
