//! Warnings about pods that the descheduler leaves on nodes whose taint they do not tolerate.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use taintlab_engine::controllers::descheduler::DeschedulerSettings;
use taintlab_rules::api::{Pod, PodKey};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::OrderedMap;

use super::pods::Group;
use super::{PACE, Severity, Warning, WarningCode};

pub(super) async fn look(
    cluster: &Cluster,
    groups: &[Group<'_>],
    descheduler: &DeschedulerSettings,
    found: &mut Vec<Warning>,
) {
    let mut pace = PACE;
    for group in groups {
        // The descheduler does not decide where a DaemonSet puts its pods.
        if group.is_of("DaemonSet") {
            continue;
        }
        let taint_of = |pod: &Pod| {
            let node = cluster.get_node(&pod.spec.node_name)?;
            descheduler.violated_taint(pod, node)
        };
        let mut left: OrderedMap<&'static str, Vec<(&PodKey, &Pod)>> = OrderedMap::new();
        for (key, pod) in group.pods.iter().filter(|(_, pod)| !pod.is_terminating()) {
            pace.step().await;
            if taint_of(pod).is_some()
                && let Some(why) = descheduler.why_not(pod)
            {
                left.entry(why).or_default().push((*key, *pod));
            }
        }
        for (why, pods) in left {
            let Some(taint) = pods.first().and_then(|(_, pod)| taint_of(pod)) else { continue };
            let verb = if pods.len() == 1 { "does" } else { "do" };
            found.push(Warning {
                severity: Severity::Note,
                code: WarningCode::DeschedulerLeavesPod,
                subjects: group.subjects_of(&pods),
                field: String::new(),
                message: format!(
                    "{} {verb} not tolerate {taint}, and the descheduler leaves what is there: {why}",
                    group.name_of(&pods),
                ),
                explanation: "The taint keeps new pods away and evicts no running pod. The descheduler evicts \
                              what does not tolerate it, but for pods that its evictor protects."
                    .into(),
                fix: None,
            });
        }
    }
}
