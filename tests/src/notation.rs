//! Short texts for taints, tolerations and objects, so that a test reads like a table.
//!
//! Taints: `a`, `a=x`, `a:NoSchedule`, `a=x:NoExecute`, `a@5` (with `timeAdded` 5 s after the
//! start); the effect is `NoExecute` unless given.
//!
//! Tolerations: `a/4` (key `a`, `Exists`, `NoExecute`, 4 s), `a/inf` (forever), `*/60` (every
//! key), `a=x/inf` (`Equal`), `a>5/inf` and `a<5/inf` (`Gt`, `Lt`), `a:NoSchedule/inf`; `a:/inf`
//! has no effect.

use std::time::Duration;

use taintlab_core::api::{Node, Pod, PodKey, Taint, TaintEffect, Toleration, TolerationOperator};
use taintlab_core::controllers::node_lifecycle::zone::{REGION_LABEL, ZONE_LABEL};
use taintlab_core::time::Time;

/// Reads one taint.
///
/// # Errors
/// Says which part is wrong.
pub fn taint(text: &str) -> Result<Taint, String> {
    let (rest, added) = match text.split_once('@') {
        Some((rest, seconds)) => (rest, Some(number(seconds, text)?)),
        None => (text, None),
    };
    let (rest, effect) = rest.split_once(':').unwrap_or((rest, "NoExecute"));
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    let mut taint = Taint::new(key, value, TaintEffect::from(effect));
    taint.time_added =
        added.map(|seconds| Time::DEFAULT_START.saturating_add(Duration::from_secs(seconds)));
    Ok(taint)
}

/// Reads taints with blanks between them.
///
/// # Errors
/// Says which one is wrong.
pub fn taints(text: &str) -> Result<Vec<Taint>, String> {
    text.split_whitespace().map(taint).collect()
}

/// Reads one toleration.
///
/// # Errors
/// Says which part is wrong.
pub fn toleration(text: &str) -> Result<Toleration, String> {
    let (rest, seconds) =
        text.rsplit_once('/').ok_or_else(|| format!("toleration `{text}` has no `/SECONDS`"))?;
    let toleration_seconds = match seconds {
        "inf" => None,
        seconds => Some(number(seconds, text)?),
    };
    let (rest, effect) = rest.split_once(':').unwrap_or((rest, "NoExecute"));
    let (key, operator, value) = match rest.find(['=', '>', '<']) {
        Some(at) => {
            let operator = match rest.as_bytes()[at] {
                b'=' => TolerationOperator::Equal,
                b'>' => TolerationOperator::Gt,
                _ => TolerationOperator::Lt,
            };
            (&rest[..at], operator, &rest[at + 1..])
        }
        None => (rest, TolerationOperator::Exists, ""),
    };
    Ok(Toleration {
        key: if key == "*" { String::new() } else { key.into() },
        operator,
        value: value.into(),
        effect: TaintEffect::from(effect),
        toleration_seconds,
    })
}

/// Reads tolerations with blanks between them.
///
/// # Errors
/// Says which one is wrong.
pub fn tolerations(text: &str) -> Result<Vec<Toleration>, String> {
    text.split_whitespace().map(toleration).collect()
}

/// A node with these taints.
#[must_use]
pub fn node(name: &str, taints: Vec<Taint>) -> Node {
    let mut node = Node::default();
    node.metadata.name = name.into();
    node.spec.taints = taints;
    node
}

/// Puts a node into `zone`, or `region/zone`, by its labels.
pub fn put_into_zone(node: &mut Node, zone: &str) {
    let (region, zone) = zone.split_once('/').unwrap_or(("", zone));
    for (label, value) in [(REGION_LABEL, region), (ZONE_LABEL, zone)] {
        if !value.is_empty() {
            node.metadata.labels.insert(label.into(), value.into());
        }
    }
}

/// A pod on a node (or on none, if that is empty) with these tolerations.
#[must_use]
pub fn pod(key: &PodKey, node: &str, tolerations: Vec<Toleration>) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.namespace = key.namespace().into();
    pod.metadata.name = key.name().into();
    pod.spec.node_name = node.into();
    pod.spec.tolerations = tolerations.into();
    pod
}

fn number<T: std::str::FromStr>(text: &str, whole: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` in `{whole}` is not a number"))
}
