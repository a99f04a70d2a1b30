//! Warnings about tolerations.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_rules::api::{
    Pod, Taint, TaintEffect, Toleration, TolerationOperator, extended_resources, well_known,
};
use taintlab_rules::policy::matching::{Mismatch, check};

use super::pods::{Group, Nodes, loosely, yaml_of};
use super::{Fix, FixLanguage, PACE, Settings, Severity, Warning, WarningCode};

pub(super) async fn look(
    groups: &[Group<'_>],
    nodes: &Nodes<'_>,
    settings: &Settings,
    found: &mut Vec<Warning>,
) {
    let mut pace = PACE;
    for group in groups {
        pace.step().await;
        let daemon = group.is_of("DaemonSet");
        for (index, toleration) in group.tolerations.iter().enumerate() {
            let one = One { group, index, toleration };
            found.extend(exists_with_value(one));
            found.extend(empty_key(one));
            found.extend(seconds(one));
            found.extend(hidden(one));
            // Pods that run everywhere tolerate taints of other clusters, too.
            if !daemon && nodes.count > 0 {
                found.extend(matches_nothing(one, nodes, settings.comparison_operators));
            }
        }
        if !daemon {
            found.extend(forever(group));
        }
    }
}

/// One toleration of a group.
#[derive(Clone, Copy)]
struct One<'a> {
    group: &'a Group<'a>,
    index: usize,
    toleration: &'a Toleration,
}

impl One<'_> {
    fn field(self, name: &str) -> String {
        let dot = if name.is_empty() { "" } else { "." };
        format!("spec.tolerations[{}]{dot}{name}", self.index)
    }

    /// Warning about a field of the toleration.
    fn warn(
        self,
        code: WarningCode,
        name: &str,
        message: String,
        explanation: String,
        fix: Option<Fix>,
    ) -> Warning {
        Warning {
            severity: Severity::Warning,
            code,
            subjects: self.group.subjects(),
            field: self.field(name),
            message: format!("{}: {message}", self.group.name()),
            explanation,
            fix,
        }
    }

    /// Fix that changes the toleration.
    fn instead(self, what: &str, change: impl FnOnce(&mut Toleration)) -> Option<Fix> {
        let mut toleration = self.toleration.clone();
        change(&mut toleration);
        Some(Fix { what: what.to_owned(), language: FixLanguage::Yaml, text: yaml_of(&toleration) })
    }
}

fn exists_with_value(one: One<'_>) -> Option<Warning> {
    let Toleration { operator, value, .. } = one.toleration;
    if *operator != TolerationOperator::Exists || value.is_empty() {
        return None;
    }
    Some(one.warn(
        WarningCode::ExistsWithValue,
        "value",
        format!("operator `Exists` does not look at the value `{value}`"),
        "With operator `Exists` a toleration matches whatever value the taint has. The API server \
         refuses such a toleration: value must be empty when `operator` is 'Exists'."
            .into(),
        one.instead("Compare the value.", |toleration| {
            toleration.operator = TolerationOperator::Equal;
        }),
    ))
}

fn empty_key(one: One<'_>) -> Option<Warning> {
    let Toleration { key, operator, value, .. } = one.toleration;
    if !key.is_empty() || *operator == TolerationOperator::Exists {
        return None;
    }
    let values = if value.is_empty() {
        "the empty value".to_owned()
    } else {
        format!("the value `{value}`")
    };
    Some(
        one.warn(
            WarningCode::EmptyKeyWithoutExists,
            "key",
            format!("an empty key stands for every key, but only for taints with {values}"),
            "An empty key matches every key; values are still compared unless the operator is \
         `Exists`. The API server refuses such a toleration: operator must be Exists when `key` is \
         empty, which means \"match all values and all keys\"."
                .into(),
            one.instead("Tolerate every key and every value.", |toleration| {
                toleration.operator = TolerationOperator::Exists;
                toleration.value.clear();
            }),
        ),
    )
}

fn seconds(one: One<'_>) -> Option<Warning> {
    let Toleration { effect, toleration_seconds: Some(seconds), .. } = one.toleration else {
        return None;
    };
    if *effect == TaintEffect::NoExecute {
        return None;
    }
    let (message, explanation) = if effect.is_empty() {
        (
            format!("tolerationSeconds {seconds} without an effect counts for NoExecute only"),
            "No pod leaves a node because of another effect, so that there is no time to wait for. ",
        )
    } else {
        (
            format!("tolerationSeconds {seconds} means nothing with effect {effect}"),
            "Only taints with effect NoExecute evict pods; with any other effect there is no time \
             to wait for, and the pod is tolerated forever. ",
        )
    };
    Some(one.warn(
        WarningCode::SecondsWithoutNoExecute,
        "tolerationSeconds",
        message,
        format!(
            "{explanation}The API server refuses such a toleration: effect must be 'NoExecute' \
             when `tolerationSeconds` is set."
        ),
        one.instead("Say which effect the time is for.", |toleration| {
            toleration.effect = TaintEffect::NoExecute;
        }),
    ))
}

/// Time that pods stay because of a toleration, for comparison; the maximum for no limit.
fn time_of(toleration: &Toleration) -> i64 {
    toleration.toleration_seconds.map_or(i64::MAX, |seconds| seconds.max(0))
}

fn time_text(toleration: &Toleration) -> String {
    match toleration.toleration_seconds {
        None => "forever".to_owned(),
        Some(seconds) => format!("for {} s", seconds.max(0)),
    }
}

/// Whether `first` tolerates every taint with effect NoExecute that `second` tolerates.
pub(super) fn covers(first: &Toleration, second: &Toleration) -> bool {
    let no_execute =
        |one: &Toleration| one.effect.is_empty() || one.effect == TaintEffect::NoExecute;
    let key = first.key.is_empty() || first.key == second.key;
    let value = match (&first.operator, &second.operator) {
        (TolerationOperator::Exists, _) => true,
        (
            TolerationOperator::Equal | TolerationOperator::Empty,
            TolerationOperator::Equal | TolerationOperator::Empty,
        ) => first.value == second.value,
        _ => false,
    };
    no_execute(first) && no_execute(second) && key && value
}

fn hidden(one: One<'_>) -> Option<Warning> {
    let second = one.toleration;
    let earlier = one.group.tolerations.iter().take(one.index).enumerate();
    let (index, first) = earlier.into_iter().find(|(_, first)| covers(first, second))?;
    let shorter = time_of(second) < time_of(first);
    // For all keys, a limited time before no limit was meant the other way round. A time for one
    // key before another one for all keys is the usual form of an exception.
    let wildcard = first.key.is_empty() && second.key.is_empty();
    let longer = wildcard && time_of(second) > time_of(first);
    if !(shorter || longer) {
        return None;
    }
    let lost = if shorter { "shorter" } else { "longer" };
    let (takes, hides) = (time_text(first), time_text(second));
    let mut list: Vec<Toleration> = one.group.tolerations.to_vec();
    let moved = if one.index < list.len() { list.remove(one.index) } else { second.clone() };
    list.insert(index, moved);
    Some(one.warn(
        WarningCode::HiddenByOrder,
        if second.toleration_seconds.is_some() { "tolerationSeconds" } else { "" },
        format!(
            "the {lost} time of this toleration ({hides}) never counts, since \
             spec.tolerations[{index}] matches first ({takes})"
        ),
        "For each taint the first toleration of the list that matches is the one that counts, not \
         the shortest, the longest or the most specific one. An earlier toleration matches \
         whatever this one matches."
            .into(),
        Some(Fix {
            what: "Put it before the toleration that hides it.".into(),
            language: FixLanguage::Yaml,
            text: format!("tolerations:\n{}", list.iter().map(yaml_of).collect::<String>()),
        }),
    ))
}

/// Whether the API server may have added the toleration for a requested resource.
fn is_of_resource(pod: &Pod, toleration: &Toleration) -> bool {
    toleration.operator == TolerationOperator::Exists
        && extended_resources(pod).is_ok_and(|names| names.contains(&toleration.key))
}

fn matches_nothing(one: One<'_>, nodes: &Nodes<'_>, comparison_operators: bool) -> Option<Warning> {
    let toleration = one.toleration;
    let key = toleration.key.as_str();
    // An empty key has a warning of its own; `out-of-service` may have any value. Cluster API
    // writes the last one, which is no misspelling of the cloud provider's `uninitialized`.
    if key.is_empty()
        || [well_known::OUT_OF_SERVICE, "node.cluster.x-k8s.io/uninitialized"].contains(&key)
    {
        return None;
    }
    let taints = nodes.taints.get(key).map(Vec::as_slice).unwrap_or_default();
    if taints.iter().any(|(taint, _)| check(toleration, taint, comparison_operators).is_ok()) {
        return None;
    }
    if one.group.pods.first().is_some_and(|(_, pod)| is_of_resource(pod, toleration)) {
        return None;
    }
    let message = format!("no taint of this cluster can match the toleration `{toleration}`");
    // A taint with the intended effect gives a better explanation.
    let meant = |(taint, _): &&(Taint, _)| taint.effect == toleration.effect;
    if let Some((taint, node)) = taints.iter().find(meant).or(taints.first()) {
        let mismatch = check(toleration, taint, comparison_operators).err()?;
        let place = node.map_or_else(
            || format!("Kubernetes sets it as `{taint}`"),
            |node| format!("node {node} has `{taint}`"),
        );
        let explanation = format!("There is such a key, but {place}: {}.", differs(mismatch));
        let what = "Match the taint that is there.";
        let fix = one.instead(what, |toleration| repair(toleration, taint, mismatch));
        let code = WarningCode::TolerationMatchesNothing;
        return Some(one.warn(code, field_of(mismatch), message, explanation, fix));
    }
    let similar = nodes.loosely.get(&loosely(key)).copied();
    let explanation = match similar {
        Some(similar) => {
            format!("No node has a taint with the key `{key}`, but there is `{similar}`.")
        }
        None => format!(
            "No node has a taint with the key `{key}`, and Kubernetes sets none by itself. That is \
             fine if such nodes are still to come; a toleration alone keeps nothing away and \
             attracts nothing."
        ),
    };
    let fix = match similar {
        Some(similar) => one.instead("Use the key that is there.", |toleration| {
            toleration.key = similar.to_owned();
        }),
        None => Some(taint_a_node(toleration)),
    };
    let mut warning =
        one.warn(WarningCode::TolerationMatchesNothing, "key", message, explanation, fix);
    if similar.is_none() {
        warning.severity = Severity::Note;
    }
    Some(warning)
}

fn taint_a_node(toleration: &Toleration) -> Fix {
    let effect = match &toleration.effect {
        effect if effect.is_empty() => TaintEffect::NoSchedule,
        effect => effect.clone(),
    };
    let value = match toleration.operator {
        TolerationOperator::Equal | TolerationOperator::Empty => toleration.value.as_str(),
        _ => "",
    };
    let taint = Taint::new(&toleration.key, value, effect);
    Fix {
        what: "Taint the node that it was written for.".into(),
        language: FixLanguage::Kubectl,
        text: format!("kubectl taint nodes NODE {taint}"),
    }
}

/// Difference between a toleration and a taint of the same key.
fn differs(mismatch: Mismatch) -> &'static str {
    match mismatch {
        Mismatch::Effect => "the effects differ",
        Mismatch::Key => "the keys differ",
        Mismatch::Value => "the values differ",
        Mismatch::UnknownOperator => "there is no such operator",
        Mismatch::ComparisonOperatorsOff => {
            "operators Lt and Gt need the feature gate TaintTolerationComparisonOperators, which is \
             off"
        }
        Mismatch::TolerationNotInteger => "the value of the toleration is not a number",
        Mismatch::TaintNotInteger => "the value of the taint is not a number",
        Mismatch::NotLess => "its number is not less",
        Mismatch::NotGreater => "its number is not greater",
    }
}

fn field_of(mismatch: Mismatch) -> &'static str {
    match mismatch {
        Mismatch::Effect => "effect",
        Mismatch::Key => "key",
        Mismatch::UnknownOperator | Mismatch::ComparisonOperatorsOff => "operator",
        _ => "value",
    }
}

/// Makes a toleration match a taint of the same key.
fn repair(toleration: &mut Toleration, taint: &Taint, mismatch: Mismatch) {
    if !toleration.effect.is_empty() {
        toleration.effect = taint.effect.clone();
    }
    if taint.effect != TaintEffect::NoExecute {
        toleration.toleration_seconds = None;
    }
    let compares = !matches!(toleration.operator, TolerationOperator::Exists);
    if compares && (mismatch != Mismatch::Effect || toleration.value != taint.value) {
        toleration.operator = TolerationOperator::Equal;
        toleration.value.clone_from(&taint.value);
    }
}

/// Warning about pods that stay on an unreachable node forever.
fn forever(group: &Group<'_>) -> Option<Warning> {
    let taint = Taint::new(well_known::UNREACHABLE, "", TaintEffect::NoExecute);
    let mut matching = group.tolerations.iter().enumerate();
    let (index, first) = matching.find(|(_, one)| check(one, &taint, false).is_ok())?;
    let timed = matching.any(|(_, later)| {
        later.toleration_seconds.is_some() && check(later, &taint, false).is_ok()
    });
    // A hidden time has a warning of its own.
    if first.toleration_seconds.is_some() || timed {
        return None;
    }
    let what = if group.owner.is_some() { "not replaced" } else { "not evicted" };
    let mut with_time = Toleration {
        key: well_known::UNREACHABLE.into(),
        operator: TolerationOperator::Exists,
        effect: TaintEffect::NoExecute,
        toleration_seconds: Some(300),
        ..Toleration::default()
    };
    let mut text = yaml_of(&with_time);
    let wide = first.key.is_empty();
    if wide {
        with_time.key = well_known::NOT_READY.into();
        text += &yaml_of(&with_time);
        text += &yaml_of(first);
    }
    Some(Warning {
        severity: Severity::Warning,
        code: WarningCode::ToleratesUnreachableForever,
        subjects: group.subjects(),
        field: format!("spec.tolerations[{index}].tolerationSeconds"),
        message: format!(
            "{}: kept forever by a node that is unreachable, and {what}",
            group.name()
        ),
        explanation: format!(
            "`{}` tolerates {}:NoExecute without tolerationSeconds. Admission adds its 300 s only \
             where no toleration covers the taint. While the node is gone, the pod counts as \
             there, but nobody can reach it.",
            first.to_string().trim(),
            well_known::UNREACHABLE,
        ),
        fix: Some(Fix {
            what: if wide {
                "Put a time for lost nodes before the toleration of everything.".into()
            } else {
                "Give it a time.".into()
            },
            language: FixLanguage::Yaml,
            text,
        }),
    })
}
