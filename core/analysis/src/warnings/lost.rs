//! Warnings about pods that are lost or stuck when their node is lost.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;
use taintlab_rules::api::{Pod, PodKey, Taint, TaintEffect, Toleration, well_known};
use taintlab_rules::policy::matching::{check, tolerations_tolerate_taint};
use taintlab_rules::slices::{Pace, pause};

use super::pods::{Group, Nodes};
use super::{Fix, FixLanguage, PACE, Settings, Severity, Warning, WarningCode};

pub(super) async fn look(
    groups: &[Group<'_>],
    nodes: &Nodes<'_>,
    settings: &Settings,
    found: &mut Vec<Warning>,
) {
    let mut pace = PACE;
    for group in groups {
        if group.is_of("StatefulSet") {
            stateful(group, nodes, settings, &mut pace, found).await;
        }
        if group.owner.is_none() {
            bare(group, nodes, settings, &mut pace, found).await;
        }
    }
}

/// Whether the taint-eviction controller deletes a pod with these tolerations because of these
/// taints, immediately or later.
pub(super) fn is_evicted(
    tolerations: &[Toleration],
    taints: &[&Taint],
    comparison_operators: bool,
) -> bool {
    taints.iter().any(|taint| {
        let first = tolerations.iter().find(|one| check(one, taint, comparison_operators).is_ok());
        first.is_none_or(|first| first.toleration_seconds.is_some())
    })
}

type Pods<'g, 'a> = Vec<(&'g PodKey, &'a Pod)>;

/// Warnings about pods whose name is free again only when their kubelet confirms their end.
async fn stateful(
    group: &Group<'_>,
    nodes: &Nodes<'_>,
    settings: &Settings,
    pace: &mut Pace,
    found: &mut Vec<Warning>,
) {
    let taint = Taint::new(well_known::UNREACHABLE, "", TaintEffect::NoExecute);
    if !is_evicted(group.tolerations, &[&taint], settings.comparison_operators) {
        // Never deleted, so never stuck; another warning explains the consequence.
        return;
    }
    let (mut stuck, mut fine): (Pods<'_, '_>, Pods<'_, '_>) = (Vec::new(), Vec::new());
    for (key, pod) in &group.pods {
        pace.step().await;
        let freed = nodes.evicting(pod).iter().any(|taint| {
            taint.key == well_known::OUT_OF_SERVICE
                && !tolerations_tolerate_taint(
                    group.tolerations,
                    taint,
                    settings.comparison_operators,
                )
        });
        let lost = nodes.unreachable.contains_key(pod.spec.node_name.as_str());
        match (lost, freed) {
            (true, false) => stuck.push((key, pod)),
            (true, true) => {}
            (false, _) if pod.spec.node_name.is_empty() => {}
            (false, _) => fine.push((key, pod)),
        }
    }
    const WHY: &str = "A StatefulSet runs at most one pod of a name. The pod of a lost node stays \
                       Terminating until its kubelet confirms that it has ended; until then the \
                       controller makes no pod of that name. It ends when the kubelet is back, \
                       when the node object is deleted, when the pod is deleted by force, or when \
                       the node carries the out-of-service taint.";
    if let Some((key, pod)) = stuck.first() {
        let terminating = stuck.iter().all(|(_, pod)| pod.is_terminating());
        let node = pod.spec.node_name.as_str();
        let what = if terminating { "stuck Terminating" } else { "going to be stuck Terminating" };
        let fix = if settings.release.has_out_of_service_taint() {
            Fix {
                what: format!("Once you know that {node} is switched off, say so."),
                language: FixLanguage::Kubectl,
                text: format!(
                    "kubectl taint nodes {node} {}=nodeshutdown:NoExecute",
                    well_known::OUT_OF_SERVICE
                ),
            }
        } else {
            Fix {
                what: format!("Once you know that {node} is switched off, force its deletion."),
                language: FixLanguage::Kubectl,
                text: format!(
                    "kubectl delete pod {} -n {} --force --grace-period=0",
                    key.name(),
                    key.namespace()
                ),
            }
        };
        let message = format!(
            "{}: {what} on node {node}, which is unreachable, and not replaced",
            group.name_of(&stuck)
        );
        found.push(Warning {
            severity: Severity::Critical,
            code: WarningCode::StatefulSetStuck,
            subjects: group.subjects_of(&stuck),
            field: String::new(),
            message,
            explanation: WHY.to_owned(),
            fix: Some(fix),
        });
    }
    if !fine.is_empty() {
        found.push(Warning {
            severity: Severity::Note,
            code: WarningCode::StatefulSetStuck,
            subjects: group.subjects_of(&fine),
            field: String::new(),
            message: format!(
                "{}: stuck Terminating if the node is lost, and not replaced until it is back",
                group.name_of(&fine)
            ),
            explanation: WHY.to_owned(),
            fix: None,
        });
    }
}

/// Warnings about pods that no controller recreates.
async fn bare(
    group: &Group<'_>,
    nodes: &Nodes<'_>,
    settings: &Settings,
    pace: &mut Pace,
    found: &mut Vec<Warning>,
) {
    let (mut going, mut staying): (Pods<'_, '_>, Pods<'_, '_>) = (Vec::new(), Vec::new());
    for (key, pod) in &group.pods {
        pace.step().await;
        let goes = pod.is_terminating()
            || is_evicted(group.tolerations, nodes.evicting(pod), settings.comparison_operators);
        if goes { going.push((*key, *pod)) } else { staying.push((*key, *pod)) }
    }
    for (pods, severity, what) in [
        (going, Severity::Critical, "being deleted, and nothing makes it again"),
        (staying, Severity::Note, "lost when evicted, since nothing makes it again"),
    ] {
        let Some((key, pod)) = pods.first() else { continue };
        pause().await;
        found.push(Warning {
            severity,
            code: WarningCode::BarePodLost,
            subjects: group.subjects_of(&pods),
            field: "metadata.ownerReferences".into(),
            message: format!("{}: {what}", group.name_of(&pods)),
            explanation: "A pod is never moved. Eviction deletes it, and its controller makes \
                          another one elsewhere; this one has no controller."
                .into(),
            fix: Some(Fix {
                what: "Let a Deployment make it, or a Job if it comes to an end.".into(),
                language: FixLanguage::Kubectl,
                text: format!(
                    "kubectl create deployment {} -n {} --image={}",
                    key.name(),
                    key.namespace(),
                    image(pod).unwrap_or("IMAGE")
                ),
            }),
        });
    }
}

/// Image of the first container.
fn image(pod: &Pod) -> Option<&str> {
    let containers = pod.spec.other.get("containers").and_then(Value::as_array)?;
    containers.first()?.get("image").and_then(Value::as_str)
}
