//! Warnings about tolerations of devices, and about rules that taint devices.

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use taintlab_rules::api::{
    AllocatedDevice, Pod, PodKey, ResourceClaim, Taint, TaintEffect, Toleration,
    pod_resource_claims,
};
use taintlab_rules::cluster::{Cluster, Devices};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::policy::devices::tolerates_device_taint;

use super::pods::{Group, Nodes, yaml_of};
use super::tolerations::covers;
use super::{Fix, FixLanguage, PACE, Settings, Severity, Subject, Warning, WarningCode};

const IN_POD: &str = "`spec.tolerations` of a pod are for taints of nodes. A taint of a device is \
                      tolerated by the request in the ResourceClaim, and when the device is \
                      allocated, its tolerations are copied into the status of the claim.";
const WITHOUT_EFFECT: &str = "A toleration without an effect lets a tainted device be allocated. \
                              Against the eviction only tolerations with the effect NoExecute \
                              count, so that the pods are deleted as soon as the device has a \
                              NoExecute taint. For taints of nodes it is otherwise.";
const TOO_LATE: &str = "The tolerations that count are those in `status.allocation`, which were \
                        copied when the device was allocated. What the request gets later is not \
                        read. A new claim has it.";
const NO_SELECTOR: &str = "A rule without `deviceSelector` selects no device for the \
                           device-taint-eviction-controller, which evicts nobody because of it. \
                           The scheduler takes all devices for tainted. `deviceSelector: {}` \
                           selects all devices for both.";
const RULE_OFF: &str = "The feature gate that lets rules taint devices is off in this cluster. \
                        Neither the scheduler nor the device-taint-eviction-controller reads them.";

pub(super) async fn look(
    cluster: &Cluster,
    groups: &[Group<'_>],
    nodes: &Nodes<'_>,
    settings: &Settings,
    found: &mut Vec<Warning>,
) {
    let Some(devices) = cluster.devices() else { return };
    let taints = known_taints(devices);
    let mut pace = PACE;
    for group in groups {
        for (index, toleration) in group.tolerations.iter().enumerate() {
            pace.step().await;
            in_pod(devices, group, nodes, &taints, (index, toleration), found);
        }
    }
    for claim in devices.claims() {
        pace.step().await;
        look_at_claim(claim, found);
    }
    for rule in devices.rules() {
        let is_off = !settings.device_taint_rules;
        if !is_off && rule.selector.is_some() {
            continue;
        }
        let (code, what, explanation) = if is_off {
            (WarningCode::TaintRuleOff, "has no effect, since its feature gate is off", RULE_OFF)
        } else {
            let what = "has no deviceSelector, and evicts nobody";
            (WarningCode::TaintRuleWithoutSelector, what, NO_SELECTOR)
        };
        found.push(Warning {
            severity: Severity::Warning,
            code,
            subjects: Vec::from([Subject::TaintRule { name: rule.name.clone() }]),
            field: if is_off { String::new() } else { "spec.deviceSelector".into() },
            message: format!("DeviceTaintRule {} {what}", rule.name),
            explanation: explanation.into(),
            fix: None,
        });
    }
}

/// The taints of devices and rules, each once.
fn known_taints(devices: &Devices) -> Vec<&Taint> {
    let devices_of = devices.slices().flat_map(|slice| &slice.devices);
    let taints = devices_of.flat_map(|device| &device.taints);
    let mut known = OrderedMap::new();
    for taint in taints.chain(devices.rules().map(|rule| &rule.taint)) {
        known.insert((&taint.key, &taint.value, &taint.effect), taint);
    }
    known.into_values().collect()
}

/// Warns of a toleration of pods that seems to be meant for their devices.
fn in_pod(
    devices: &Devices,
    group: &Group<'_>,
    nodes: &Nodes<'_>,
    taints: &[&Taint],
    (index, toleration): (usize, &Toleration),
    found: &mut Vec<Warning>,
) {
    let key = toleration.key.as_str();
    if key.is_empty() || nodes.taints.contains_key(key) {
        return;
    }
    let is_known = taints.iter().any(|taint| tolerates_device_taint(toleration, taint));
    // A driver's taints have its name before the slash, as a rule.
    let domain = key.split('/').next().unwrap_or_default();
    let concerns = |device: &AllocatedDevice| {
        (is_known || device.driver == domain)
            && !device.tolerations.iter().any(|own| covers(own, toleration))
    };
    let pods = group.pods.iter().filter(|(_, pod)| devices_of(devices, pod).any(concerns));
    let pods: Vec<_> = pods.copied().collect();
    if pods.is_empty() {
        return;
    }
    let subjects = group.subjects_of(&pods);
    let field = format!("spec.tolerations[{index}]");
    // This one matches no taint of a node, but was not meant to.
    found.retain(|other| {
        other.code != WarningCode::TolerationMatchesNothing
            || other.subjects != group.subjects()
            || !other.field.starts_with(&field)
    });
    let mut instead = toleration.clone();
    instead.effect = TaintEffect::NoExecute;
    found.push(Warning {
        severity: Severity::Warning,
        code: WarningCode::DeviceTolerationInPod,
        subjects,
        field,
        message: format!(
            "{}: a toleration of `{key}` in the pod does not tolerate taints of devices",
            group.name_of(&pods)
        ),
        explanation: IN_POD.into(),
        fix: Some(Fix {
            what:
                "Put it into the request of the claim: spec.devices.requests[].exactly.tolerations."
                    .to_owned(),
            language: FixLanguage::Yaml,
            text: yaml_of(&instead),
        }),
    });
}

/// The devices that the claims of a pod have.
fn devices_of<'a>(devices: &'a Devices, pod: &Pod) -> impl Iterator<Item = &'a AllocatedDevice> {
    let claims = pod_resource_claims(pod).into_iter();
    let claims = claims.filter_map(|used| devices.claim(&used.claim?));
    claims.flat_map(|claim| claim.allocation.iter().flatten())
}

/// Warns of tolerations of a claim that do not delay an eviction.
fn look_at_claim(claim: &ResourceClaim, found: &mut Vec<Warning>) {
    let allocated = claim.allocation.iter().flatten();
    for (at, device) in allocated.clone().enumerate() {
        let field = format!("status.allocation.devices.results[{at}]");
        without_effect(claim, &field, &device.tolerations, found);
    }
    for (at, request) in claim.requests.iter().enumerate() {
        for (sub, alternative) in request.alternatives.iter().enumerate() {
            let exactly = alternative.name.is_empty();
            let part =
                if exactly { "exactly".to_owned() } else { format!("firstAvailable[{sub}]") };
            let field = format!("spec.devices.requests[{at}].{part}");
            if claim.allocation.is_none() {
                without_effect(claim, &field, &alternative.tolerations, found);
                continue;
            }
            for (index, toleration) in alternative.tolerations.iter().enumerate() {
                let counts = toleration.effect == TaintEffect::NoExecute;
                let copied = || allocated.clone().any(|it| it.tolerations.contains(toleration));
                // Of several alternatives one was taken, with its tolerations alone.
                if exactly && counts && !copied() {
                    let field = format!("{field}.tolerations[{index}]");
                    let message = "came after the allocation, and is not read";
                    let code = WarningCode::DeviceTolerationTooLate;
                    found.push(warn(claim, code, field, (message, TOO_LATE), None));
                }
            }
        }
    }
}

fn without_effect(
    claim: &ResourceClaim,
    field: &str,
    tolerations: &[Toleration],
    found: &mut Vec<Warning>,
) {
    for (index, toleration) in tolerations.iter().enumerate() {
        let has_other = || {
            tolerations
                .iter()
                .any(|other| other.effect == TaintEffect::NoExecute && covers(other, toleration))
        };
        if !toleration.effect.is_empty() || has_other() {
            continue;
        }
        let mut instead = toleration.clone();
        instead.effect = TaintEffect::NoExecute;
        let fix = Fix {
            what:
                "Add one with the effect NoExecute to the request, before the device is allocated."
                    .to_owned(),
            language: FixLanguage::Yaml,
            text: yaml_of(&instead),
        };
        let field = format!("{field}.tolerations[{index}].effect");
        let code = WarningCode::DeviceTolerationWithoutEffect;
        let message = "has no effect NoExecute, and does not delay an eviction";
        found.push(warn(claim, code, field, (message, WITHOUT_EFFECT), Some(fix)));
    }
}

fn warn(
    claim: &ResourceClaim,
    code: WarningCode,
    field: String,
    (message, explanation): (&str, &str),
    fix: Option<Fix>,
) -> Warning {
    let pods = claim.reserved_for.iter().filter(|consumer| consumer.is_pod);
    let namespace = claim.key.namespace();
    let pods = pods.map(|pod| Subject::Pod { name: PodKey::new(namespace, &pod.name) });
    let claimed = Subject::ResourceClaim { name: claim.key.clone() };
    Warning {
        severity: Severity::Warning,
        code,
        subjects: [claimed].into_iter().chain(pods).collect(),
        field,
        message: format!("ResourceClaim {}: a toleration of devices {message}", claim.key),
        explanation: explanation.into(),
        fix,
    }
}
