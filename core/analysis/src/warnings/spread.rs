//! Warnings about zones that are too small, and Deployments with all pods in one zone.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_rules::api::NodeName;
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::plural::count;
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState, compute_zone_state, zone_state};
use taintlab_rules::quote::go_quote;

use super::pods::Group;
use super::{Fix, FixLanguage, PACE, Settings, Severity, Subject, Warning, WarningCode, some_of};

pub(super) async fn look(
    cluster: &Cluster,
    groups: &[Group<'_>],
    settings: &Settings,
    found: &mut Vec<Warning>,
) {
    let mut zones: OrderedMap<ZoneKey, Vec<NodeName>> = OrderedMap::new();
    let mut zone_of: OrderedMap<&str, ZoneKey> = OrderedMap::new();
    for (name, node) in cluster.nodes() {
        let zone = ZoneKey::of(&node.metadata.labels);
        zones.entry(zone.clone()).or_default().push(name.clone());
        zone_of.insert(name.as_str(), zone);
    }
    too_small(cluster, &zones, settings, found);
    // Nodes without zone labels are no zone that could fail as a whole.
    let named = zones.keys().filter(|zone| !zone.as_str().is_empty()).count();
    if named > 1 {
        let mut pace = PACE;
        for group in deployments(groups) {
            pace.step().await;
            found.extend(one_zone(&group, &zone_of));
        }
    }
}

/// Name of a zone in a sentence.
fn name(zone: &ZoneKey) -> String {
    let name = zone.name();
    if name.is_empty() {
        "the group of nodes without a zone".into()
    } else {
        format!("zone {name}")
    }
}

fn too_small(
    cluster: &Cluster,
    zones: &OrderedMap<ZoneKey, Vec<NodeName>>,
    settings: &Settings,
    found: &mut Vec<Warning>,
) {
    let flags = &settings.flags;
    let (mut never, mut halts): (Vec<&ZoneKey>, Vec<&ZoneKey>) = (Vec::new(), Vec::new());
    for (zone, nodes) in zones {
        let conditions = nodes
            .iter()
            .map(|name| cluster.get_node(name.as_str()).and_then(|node| node.condition("Ready")));
        let (not_ready, state) = compute_zone_state(conditions, flags.unhealthy_zone_threshold);
        let size = nodes.len();
        let stops = |state| flags.rates.qps(state, size) == Some(0.0);
        if state == ZoneState::PartialDisruption && stops(state) {
            found.push(halted(zone, size, not_ready, settings));
            continue;
        }
        // With a single ready node left: the worst state short of losing the whole zone.
        let worst = zone_state(1, size.saturating_sub(1), flags.unhealthy_zone_threshold);
        match worst {
            ZoneState::PartialDisruption if stops(worst) => halts.push(zone),
            ZoneState::PartialDisruption => {}
            _ if size > 1 => never.push(zone),
            _ => {}
        }
    }
    let threshold = flags.rates.large_cluster_size_threshold;
    for (zones, what, why) in [
        (
            halts,
            "no larger than --large-cluster-size-threshold: evictions stop in a partial disruption",
            format!(
                "When at least three nodes of a zone and at least the fraction \
                 --unhealthy-zone-threshold ({}) of them are not ready, the zone is partially \
                 disrupted. A zone of more than {threshold} nodes is then evicted slowly \
                 (--secondary-node-eviction-rate); a smaller one not at all, and its pods stay on \
                 dead nodes until more nodes are ready, or none.",
                flags.unhealthy_zone_threshold
            ),
        ),
        (
            never,
            "too small ever to be partially disrupted: nothing slows evictions down",
            "A zone is partially disrupted only if more than two of its nodes are not ready and \
             some are. With so few nodes the limiter goes from normal to full disruption, and \
             both have the full rate."
                .to_string(),
        ),
    ] {
        if zones.is_empty() {
            continue;
        }
        let names: Vec<String> = zones.iter().map(|zone| name(zone)).collect();
        let are = if names.len() == 1 { "is" } else { "are" };
        found.push(Warning {
            severity: Severity::Note,
            code: WarningCode::ZoneTooSmall,
            subjects: zones.iter().map(|zone| Subject::Zone { name: (*zone).clone() }).collect(),
            field: String::new(),
            message: format!("{} {are} {what}", some_of(&names)),
            explanation: why,
            fix: None,
        });
    }
}

/// Warning about a zone in which evictions have stopped.
fn halted(zone: &ZoneKey, size: usize, not_ready: usize, settings: &Settings) -> Warning {
    let below = size.saturating_sub(1);
    let threshold = settings.flags.rates.large_cluster_size_threshold;
    Warning {
        severity: Severity::Critical,
        code: WarningCode::ZoneTooSmall,
        subjects: [Subject::Zone { name: zone.clone() }].into(),
        field: String::new(),
        message: format!(
            "{} is partially disrupted and has only {}: evictions stand still",
            name(zone),
            count(size, "node")
        ),
        explanation: format!(
            "{not_ready} of {size} nodes are not ready. A zone of at most \
             --large-cluster-size-threshold ({threshold}) nodes that is partially disrupted has an \
             eviction rate of 0: nodes that are lost are not tainted, and their pods stay, until \
             more nodes are ready, or none."
        ),
        fix: Some(Fix {
            what: "Count the zone as large: then it is evicted at --secondary-node-eviction-rate."
                .into(),
            language: FixLanguage::Flag,
            text: format!("--large-cluster-size-threshold={below}"),
        }),
    }
}

/// Pods of Deployments and of standalone ReplicaSets, whatever their tolerations.
fn deployments<'a>(groups: &'a [Group<'a>]) -> Vec<Group<'a>> {
    let mut merged: Vec<Group<'a>> = Vec::new();
    let mut known = OrderedMap::new();
    for group in groups {
        let Some(owner) = &group.owner else { continue };
        if !matches!(owner.kind.as_str(), "Deployment" | "ReplicaSet") {
            continue;
        }
        let index = *known.entry((group.namespace, owner)).or_insert_with(|| {
            merged.push(Group {
                namespace: group.namespace,
                owner: Some(owner.clone()),
                tolerations: &[],
                pods: Vec::new(),
            });
            merged.len() - 1
        });
        if let Some(all) = merged.get_mut(index) {
            all.pods.extend(group.pods.iter().copied());
        }
    }
    merged
}

fn one_zone(group: &Group<'_>, zone_of: &OrderedMap<&str, ZoneKey>) -> Option<Warning> {
    let placed: Vec<_> = group
        .pods
        .iter()
        .copied()
        .filter(|(_, pod)| !pod.spec.node_name.is_empty() && !pod.is_terminating())
        .collect();
    let zones: OrderedSet<_> =
        placed.iter().map(|(_, pod)| zone_of.get(pod.spec.node_name.as_str())).collect();
    let mut zones = zones.into_iter();
    let (Some(Some(zone)), None) = (zones.next(), zones.next()) else { return None };
    // A single pod is always in one zone; nodes without labels are in none.
    if placed.len() < 2 || zone.as_str().is_empty() {
        return None;
    }
    let labels = &placed.first()?.1.metadata.labels;
    let label = labels.iter().find(|(key, _)| key.as_str() != "pod-template-hash");
    let mut text = String::from(
        "topologySpreadConstraints:\n- maxSkew: 1\n  topologyKey: topology.kubernetes.io/zone\n  \
         whenUnsatisfiable: ScheduleAnyway\n  labelSelector:\n    matchLabels:\n",
    );
    match label {
        Some((key, value)) => text += &format!("      {key}: {}\n", go_quote(value)),
        None => text += "      app: \"NAME\"\n",
    }
    let mut subjects = group.subjects_of(&placed);
    subjects.push(Subject::Zone { name: zone.clone() });
    Some(Warning {
        severity: Severity::Warning,
        code: WarningCode::OneZone,
        subjects,
        field: "spec.topologySpreadConstraints".into(),
        message: format!("{}: all in {}", group.name_of(&placed), name(zone)),
        explanation:
            "When that zone is lost, no replica is left until the pods are evicted, after \
                      the grace period, the limiter and tolerationSeconds, and have started \
                      elsewhere."
                .into(),
        fix: Some(Fix {
            what: "Spread the pods over zones, in the template of the workload.".into(),
            language: FixLanguage::Yaml,
            text,
        }),
    })
}
