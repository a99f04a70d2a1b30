//! Warnings about pods with less time to end than their grace period when their node is shut down.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_engine::kubelet::NodeShutdownConfig;
use taintlab_engine::kubelet::node_shutdown::asked_seconds;
use taintlab_rules::api::{NodeName, Pod, PodKey};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::time::format_duration;

use super::pods::Group;
use super::{Fix, FixLanguage, PACE, Settings, Severity, Warning, WarningCode};

const WHY: &str = "A kubelet whose node is shut down gives a pod no more than the period of its \
                   group, whatever terminationGracePeriodSeconds says: then its containers are \
                   killed. The period is that of `shutdownGracePeriod` without \
                   `shutdownGracePeriodCriticalPods`, or these alone for critical pods, or the one \
                   of the pod's priority in `shutdownGracePeriodByPodPriority`.";

/// Adds the warnings. `config` returns the shutdown configuration of a node's kubelet.
pub(super) async fn look<'c>(
    groups: &[Group<'_>],
    settings: &Settings,
    config: impl Fn(&NodeName) -> &'c NodeShutdownConfig,
    found: &mut Vec<Warning>,
) {
    let mut pace = PACE;
    for group in groups {
        // By available and requested time, since the pods of one owner may be on different nodes.
        let mut short: OrderedMap<(Duration, i64), Vec<(&PodKey, &Pod)>> = OrderedMap::new();
        for (key, pod) in &group.pods {
            pace.step().await;
            let config = config(&NodeName::from(pod.spec.node_name.as_str()));
            let Some(has) = config.period_of(settings.release, pod) else { continue };
            let asks = asked_seconds(pod);
            if Duration::from_secs(u64::try_from(asks).unwrap_or_default()) > has {
                short.entry((has, asks)).or_default().push((key, pod));
            }
        }
        for ((has, asks), pods) in short {
            let Some(config) =
                pods.first().map(|(_, pod)| config(&NodeName::from(pod.spec.node_name.as_str())))
            else {
                continue;
            };
            let place = pods.first().map(|(_, pod)| config.place_of(settings.release, pod));
            let ask = group.verb(&pods, "asks", "ask");
            let have = group.verb(&pods, "has", "have");
            found.push(Warning {
                severity: Severity::Note,
                code: WarningCode::ShutdownCutsGracePeriod,
                subjects: group.subjects_of(&pods),
                field: "spec.terminationGracePeriodSeconds".into(),
                message: format!(
                    "{} {ask} for {asks}s to end, and {have} {} when the node is shut down",
                    group.name_of(&pods),
                    format_duration(has)
                ),
                explanation: WHY.to_string(),
                fix: place.map(|place| Fix {
                    what: "Let the kubelets wait for as long as the pods ask.".to_string(),
                    language: FixLanguage::Yaml,
                    text: yaml_of(config, place, asks),
                }),
            });
        }
    }
}

/// KubeletConfiguration with `seconds` as the period at `place`.
fn yaml_of(config: &NodeShutdownConfig, place: usize, seconds: i64) -> String {
    let mut text =
        String::from("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n");
    let mut periods = config.periods().to_vec();
    if let Some(period) = periods.get_mut(place) {
        period.shutdown_grace_period_seconds = seconds;
    }
    if let (true, [others, critical]) = (config.is_of_two_periods(), periods.as_slice()) {
        let critical = critical.shutdown_grace_period_seconds;
        let total = others.shutdown_grace_period_seconds.saturating_add(critical);
        text += &format!(
            "shutdownGracePeriod: {total}s\nshutdownGracePeriodCriticalPods: {critical}s\n"
        );
        return text;
    }
    text += "shutdownGracePeriodByPodPriority:\n";
    for period in periods {
        let (priority, seconds) = (period.priority, period.shutdown_grace_period_seconds);
        text += &format!("- priority: {priority}\n  shutdownGracePeriodSeconds: {seconds}\n");
    }
    text
}
