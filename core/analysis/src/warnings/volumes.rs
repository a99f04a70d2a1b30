//! Warnings about replacements that cannot start: because of a volume that the lost node holds or
//! that other nodes cannot reach, or a host port that the old pod holds.

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;
use taintlab_rules::api::{PersistentVolume, Pod, PodKey, Workload, WorkloadKind, pod_claims};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::OrderedMap;
use taintlab_rules::slices::Pace;

use super::pods::{Group, is_unreachable};
use super::{Fix, FixLanguage, PACE, Settings, Severity, Subject, Warning, WarningCode};

const HELD: &str = "Such a volume is attached to one node at a time. It is detached when the pod is \
                    gone and the kubelet has unmounted it; from a node that is not healthy only 6 \
                    minutes after the pod is gone. On an unreachable node the pod is never gone by \
                    itself: it stays Terminating until its kubelet is back, or the node is deleted \
                    or out of service.";
const PLACED: &str = "The scheduler asks from where the volume of a pod can be reached. If that node \
                      or zone is lost, no other node will do, however much room it has: the pod is \
                      pending until the place is back, or gets an empty volume elsewhere if its \
                      claim is deleted, too.";
const SURGE: &str = "With maxSurge the new pod of a node comes before the old one goes, and a port of \
                     the node is free only when the old one is gone. The new pod fails to be \
                     scheduled, the old one waits for it, and the update does not end.";

pub(super) async fn look(
    cluster: &Cluster,
    groups: &[Group<'_>],
    settings: &Settings,
    found: &mut Vec<Warning>,
) {
    let mut pace = PACE;
    for group in groups {
        look_at_volumes(cluster, group, settings, &mut pace, found).await;
    }
    if settings.release.has_daemon_set_surge() {
        let sets = cluster.workloads().map(|(_, workload)| workload);
        let sets = sets.filter(|set| set.kind == WorkloadKind::DaemonSet);
        found.extend(sets.filter(|set| surges(set)).filter_map(|set| surge_with_host_port(set)));
    }
}

async fn look_at_volumes(
    cluster: &Cluster,
    group: &Group<'_>,
    settings: &Settings,
    pace: &mut Pace,
    found: &mut Vec<Warning>,
) {
    let Some(volumes) = cluster.volumes() else { return };
    let (mut held, mut lost) = (Vec::new(), None);
    let mut placed: OrderedMap<String, Vec<(&PodKey, &Pod)>> = OrderedMap::new();
    for (key, pod) in &group.pods {
        pace.step().await;
        let claims = pod_claims(pod);
        let claims = claims.iter().filter_map(|claim| volumes.claim(claim));
        let used: Vec<_> =
            claims.filter_map(|claim| volumes.persistent_volume(&claim.spec.volume_name)).collect();
        // A pod that is not replaced leaves nothing waiting for its volume.
        if group.owner.is_some() && used.iter().any(|one| one.is_exclusive() && one.is_attachable())
        {
            held.push((*key, *pod));
            let node = cluster.get_node(&pod.spec.node_name);
            lost = lost.or(node.filter(|node| is_unreachable(node)));
        }
        if let Some(place) = used.iter().find_map(|volume| place_of(cluster, volume)) {
            placed.entry(place).or_default().push((*key, *pod));
        }
    }
    if let Some((_, first)) = held.first() {
        let node = lost.map_or(first.spec.node_name.as_str(), |node| &node.metadata.name);
        let (what, text) = if settings.release.has_out_of_service_taint() {
            let taint = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute";
            ("is out of service", format!("kubectl taint nodes {node} {taint}"))
        } else {
            ("is gone", format!("kubectl delete node {node}"))
        };
        found.push(Warning {
            severity: if lost.is_some() { Severity::Critical } else { Severity::Note },
            code: WarningCode::VolumeHeldByNode,
            subjects: group.subjects_of(&held),
            field: "spec.volumes".into(),
            message: format!(
                "{} has a ReadWriteOnce volume that its replacement must wait for when the node is \
                 lost",
                group.name_of(&held)
            ),
            explanation: HELD.into(),
            fix: Some(Fix {
                what: format!("When the node is certainly off, say that it {what}."),
                language: FixLanguage::Kubectl,
                text,
            }),
        });
    }
    for (place, pods) in placed {
        let run = group.verb(&pods, "runs", "run");
        found.push(Warning {
            severity: Severity::Note,
            code: WarningCode::VolumeInOnePlace,
            subjects: group.subjects_of(&pods),
            field: "spec.volumes".into(),
            message: format!("{} {run} only {place}, where the volume is", group.name_of(&pods)),
            explanation: PLACED.into(),
            fix: None,
        });
    }
}

/// The only node or zone from which a volume is reachable, if there are other ones.
fn place_of(cluster: &Cluster, volume: &PersistentVolume) -> Option<String> {
    let terms = volume.spec.other.get("nodeAffinity")?.pointer("/required/nodeSelectorTerms")?;
    let places = [
        ("kubernetes.io/hostname", "on node"),
        ("topology.kubernetes.io/zone", "in zone"),
        ("failure-domain.beta.kubernetes.io/zone", "in zone"),
    ];
    places.into_iter().find_map(|(key, words)| {
        let mut values = terms.as_array()?.iter().map(|term| {
            let expressions = term.get("matchExpressions")?.as_array()?;
            let of_key = expressions.iter().find(|known| known.get("key") == Some(&key.into()))?;
            match of_key.get("values")?.as_array()?.as_slice() {
                [Value::String(one)] if of_key.get("operator") == Some(&"In".into()) => Some(one),
                _ => None,
            }
        });
        let only = values.next()??;
        let mut elsewhere = cluster.nodes().filter_map(|(_, node)| {
            let name = (key == "kubernetes.io/hostname").then_some(&node.metadata.name);
            node.metadata.labels.get(key).or(name)
        });
        let is_one = values.all(|other| other == Some(only));
        (is_one && elsewhere.any(|other| other != only)).then(|| format!("{words} {only}"))
    })
}

/// Whether updates of a DaemonSet create new pods beside the old ones.
fn surges(set: &Workload) -> bool {
    let strategy = set.spec.other.get("updateStrategy");
    let most = strategy.and_then(|strategy| strategy.pointer("/rollingUpdate/maxSurge"));
    most.is_some_and(|most| *most != 0 && *most != "0" && *most != "0%" && !most.is_null())
}

fn surge_with_host_port(set: &Workload) -> Option<Warning> {
    let containers = set.spec.template.spec.other.get("containers")?.as_array()?;
    let ports = containers.iter().filter_map(|one| one.get("ports")?.as_array()).flatten();
    let mut taken = ports.filter_map(|port| port.get("hostPort")?.as_i64());
    let port = taken.find(|port| *port != 0)?;
    let (namespace, name) = (&set.metadata.namespace, &set.metadata.name);
    let one_by_one =
        r#"{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}}"#;
    Some(Warning {
        severity: Severity::Warning,
        code: WarningCode::SurgeWithHostPort,
        subjects: Vec::from([Subject::Owner {
            kind: set.kind.as_str().to_owned(),
            name: PodKey::new(namespace, name),
        }]),
        field: "spec.updateStrategy.rollingUpdate.maxSurge".into(),
        message: format!(
            "DaemonSet {namespace}/{name} surges and takes the host port {port}: the new pod cannot \
             start beside the old one"
        ),
        explanation: SURGE.into(),
        fix: Some(Fix {
            what: "Let the old pod of a node go first.".into(),
            language: FixLanguage::Kubectl,
            text: format!(
                "kubectl patch daemonset {name} -n {namespace} --type merge -p '{one_by_one}'"
            ),
        }),
    })
}
