//! What `kubectl taint` does with its arguments.
//!
//! Mirrors `k8s.io/kubectl/pkg/cmd/taint`, with its own error texts.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{delete_taint, delete_taints_by_key, taint_exists};
use crate::api::{Taint, TaintEffect};
use crate::policy::validation::{is_qualified_name, is_valid_label_value, label_words};
use crate::quote::go_quote;
use crate::release::KubernetesRelease;

/// What the taint arguments of one command ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaintChanges {
    /// Taints to add.
    pub add: Vec<Taint>,
    /// Taints to remove: key and effect; without an effect, all of that key.
    pub remove: Vec<Taint>,
}

/// Reads arguments such as `key=value:NoSchedule`, `key:NoExecute-` and `key-`. Mirrors
/// `parseTaints`.
///
/// # Errors
/// The text that kubectl of that release prints about the first argument that is wrong.
pub fn parse_taints<S: AsRef<str>>(
    release: KubernetesRelease,
    specs: &[S],
) -> Result<TaintChanges, String> {
    let parse_taint = |text: &str| parse_taint_of(release, text);
    let mut changes = TaintChanges::default();
    for spec in specs.iter().map(AsRef::as_ref) {
        if let Some(body) = spec.strip_suffix('-') {
            let Taint { key, effect, .. } = parse_taint(body)?;
            changes.remove.push(Taint { key, effect, ..Taint::default() });
            continue;
        }
        let taint = parse_taint(spec)?;
        if taint.effect.is_empty() {
            return Err(format!("invalid taint spec: {spec}"));
        }
        if taint_exists(&changes.add, &taint) {
            let Taint { key, value, effect, .. } = taint;
            return Err(format!(
                "duplicated taints with the same key and effect: {{{key} {value} {effect} <nil>}}"
            ));
        }
        changes.add.push(taint);
    }
    Ok(changes)
}

/// Reads one taint; without a colon it is a key alone. Mirrors `parseTaint`, which the kubelet's
/// `--register-with-taints` uses too.
///
/// # Errors
/// The text that kubectl prints to 1.34.
pub fn parse_taint(text: &str) -> Result<Taint, String> {
    parse_taint_of(KubernetesRelease::OLDEST, text)
}

fn parse_taint_of(release: KubernetesRelease, text: &str) -> Result<Taint, String> {
    let invalid = |messages: &[String]| match messages {
        [] => format!("invalid taint spec: {text}"),
        _ => format!("invalid taint spec: {text}, {}", messages.join("; ")),
    };
    let taint = match text.split_once(':') {
        None => Taint { key: text.into(), ..Taint::default() },
        Some((_, rest)) if rest.contains(':') => return Err(invalid(&[])),
        Some((body, effect)) => {
            let effect = TaintEffect::from(effect);
            if !TaintEffect::KNOWN.contains(&effect) {
                return Err(format!("invalid taint effect: {effect}, unsupported taint effect"));
            }
            let (key, value) = body.split_once('=').unwrap_or((body, ""));
            if value.contains('=') {
                return Err(invalid(&[]));
            }
            let messages = label_words(release, is_valid_label_value(value));
            if !messages.is_empty() {
                return Err(invalid(&messages));
            }
            Taint::new(key, value, effect)
        }
    };
    let messages = label_words(release, is_qualified_name(&taint.key));
    if messages.is_empty() { Ok(taint) } else { Err(invalid(&messages)) }
}

/// Refuses to add and remove the same taint in one command. Mirrors a part of
/// `TaintOptions.Validate`.
///
/// # Errors
/// The text that kubectl prints.
pub fn validate_changes(release: KubernetesRelease, changes: &TaintChanges) -> Result<(), String> {
    let mut conflicts = Vec::new();
    for add in &changes.add {
        for remove in changes.remove.iter().filter(|remove| remove.key == add.key) {
            if remove.effect.is_empty() || remove.effect == add.effect {
                conflicts.push(match release.taint_names_conflicts_as_pairs() {
                    true => format!("{}={}", remove.key, remove.effect),
                    false => format!("{{\"{}\":\"{}\"}}", remove.key, remove.effect),
                });
            }
        }
    }
    if conflicts.is_empty() {
        return Ok(());
    }
    Err(format!(
        "can not both modify and remove the following taint(s) in the same command: {}",
        conflicts.join(", ")
    ))
}

/// What kubectl says it has done to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `modified`: taints were overwritten, or some added and others removed.
    Modified,
    /// `tainted`: taints were added.
    Tainted,
    /// `untainted`: taints were removed.
    Untainted,
}

impl Operation {
    /// The word that kubectl prints after the node's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Modified => "modified",
            Self::Tainted => "tainted",
            Self::Untainted => "untainted",
        }
    }
}

/// Applies changes to the taints of the node `name`: the new ones come first. Mirrors
/// `TaintOptions.updateTaints`.
///
/// # Errors
/// The text that kubectl prints; the node is to stay as it is.
pub fn update_taints(
    name: &str,
    taints: &[Taint],
    changes: &TaintChanges,
    overwrite: bool,
) -> Result<(Operation, Vec<Taint>), String> {
    if !overwrite {
        refuse_existing(name, taints, changes)?;
    }
    let mut updated = changes.add.clone();
    updated.extend(taints.iter().filter(|taint| !taint_exists(&changes.add, taint)).cloned());
    let added = updated.len() != taints.len();
    // As upstream, only the last removal decides which word is printed.
    let mut deleted = false;
    let mut errors: Vec<String> = Vec::new();
    for remove in &changes.remove {
        deleted = if remove.effect.is_empty() {
            delete_taints_by_key(&mut updated, &remove.key)
        } else {
            delete_taint(&mut updated, remove)
        };
        let error = format!("taint {} not found", go_quote(&remove.to_string()));
        if !deleted && !errors.contains(&error) {
            errors.push(error);
        }
    }
    match errors.as_slice() {
        [] => {}
        [error] => return Err(error.clone()),
        errors => return Err(format!("[{}]", errors.join(", "))),
    }
    let operation = match (added, deleted) {
        _ if overwrite => Operation::Modified,
        (true, true) => Operation::Modified,
        (true, false) => Operation::Tainted,
        (false, _) => Operation::Untainted,
    };
    Ok((operation, updated))
}

/// Mirrors `checkIfTaintsAlreadyExists`.
fn refuse_existing(name: &str, taints: &[Taint], changes: &TaintChanges) -> Result<(), String> {
    let existing: Vec<_> = changes
        .add
        .iter()
        .flat_map(|add| taints.iter().filter(|old| old.matches(add)).map(|old| old.key.as_str()))
        .collect();
    if existing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "node {name} already has {} taint(s) with same effect(s) and --overwrite is false",
        existing.join(",")
    ))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn taint(text: &str) -> Taint {
        parse_taint(text).unwrap()
    }

    /// The samples of SPEC arguments.
    #[test]
    fn arguments() {
        let added = |taint| TaintChanges { add: vec![taint], remove: vec![] };
        let removed = |taint| TaintChanges { add: vec![], remove: vec![taint] };
        for (spec, expected) in [
            ("k=v:NoSchedule", added(Taint::new("k", "v", TaintEffect::NoSchedule))),
            ("k:NoSchedule", added(Taint::new("k", "", TaintEffect::NoSchedule))),
            ("k=:NoSchedule", added(Taint::new("k", "", TaintEffect::NoSchedule))),
            ("k-", removed(Taint::new("k", "", TaintEffect::Empty))),
            ("k:NoSchedule-", removed(Taint::new("k", "", TaintEffect::NoSchedule))),
            ("k=v:NoSchedule-", removed(Taint::new("k", "", TaintEffect::NoSchedule))),
        ] {
            assert_eq!(parse_taints(KubernetesRelease::OLDEST, &[spec]), Ok(expected), "{spec}");
        }
        for (spec, error) in [
            ("k", "invalid taint spec: k"),
            ("k=v", "invalid taint spec: k=v, name part must consist of"),
            ("k=v-", "invalid taint spec: k=v, name part must consist of"),
            ("k--", "invalid taint spec: k-, name part must consist of"),
            ("-", "invalid taint spec: , name part must be non-empty; name part must consist of"),
            ("k:", "invalid taint effect: , unsupported taint effect"),
            ("k:-", "invalid taint effect: , unsupported taint effect"),
            ("k:noschedule", "invalid taint effect: noschedule, unsupported taint effect"),
            ("k=v=w:NoSchedule", "invalid taint spec: k=v=w:NoSchedule"),
            ("k:NoSchedule:NoExecute", "invalid taint spec: k:NoSchedule:NoExecute"),
            ("*:NoSchedule", "invalid taint spec: *:NoSchedule, name part must consist of"),
            ("k=x y:NoSchedule", "invalid taint spec: k=x y:NoSchedule, a valid label must be"),
        ] {
            let text = parse_taints(KubernetesRelease::OLDEST, &[spec]).unwrap_err();
            assert!(text.starts_with(error), "{spec}: {text}");
            assert!(error.ends_with(" of") || error.ends_with(" be") || text == error, "{text}");
        }
        assert_eq!(
            parse_taints(KubernetesRelease::OLDEST, &["k=a:NoSchedule", "k=b:NoSchedule"])
                .unwrap_err(),
            "duplicated taints with the same key and effect: {k b NoSchedule <nil>}"
        );
        let both = parse_taints(
            KubernetesRelease::OLDEST,
            &["k=a:NoSchedule", "j:NoExecute", "k-", "j:NoExecute-"],
        )
        .unwrap();
        for (minor, taints) in
            [(22, "{\"k\":\"\"}, {\"j\":\"NoExecute\"}"), (23, "k=, j=NoExecute")]
        {
            let release = KubernetesRelease::new(minor).unwrap();
            let text = "can not both modify and remove the following taint(s) in the same command";
            let refused = validate_changes(release, &both).unwrap_err();
            assert_eq!(refused, format!("{text}: {taints}"));
        }
        assert_eq!(
            validate_changes(
                KubernetesRelease::NEWEST,
                &parse_taints(KubernetesRelease::OLDEST, &["k:NoSchedule", "k:NoExecute-"])
                    .unwrap()
            ),
            Ok(())
        );
    }

    /// The table of updates of a node with `a=1:NoSchedule`, `b=2:NoExecute`, `a=1:NoExecute`.
    #[test]
    fn updates() {
        let node = [taint("a=1:NoSchedule"), taint("b=2:NoExecute"), taint("a=1:NoExecute")];
        let ok = |operation: &str, taints: &[&str]| {
            Ok((operation.to_string(), taints.iter().map(|text| taint(text)).collect::<Vec<_>>()))
        };
        let already = |keys| {
            Err(format!(
                "node n already has {keys} taint(s) with same effect(s) and --overwrite is false"
            ))
        };
        for (args, overwrite, expected) in [
            (
                "c=3:NoSchedule",
                false,
                ok(
                    "tainted",
                    &["c=3:NoSchedule", "a=1:NoSchedule", "b=2:NoExecute", "a=1:NoExecute"],
                ),
            ),
            ("a=9:NoSchedule", false, already("a")),
            (
                "a=9:NoSchedule",
                true,
                ok("modified", &["a=9:NoSchedule", "b=2:NoExecute", "a=1:NoExecute"]),
            ),
            ("a-", false, ok("untainted", &["b=2:NoExecute"])),
            ("a:NoExecute-", false, ok("untainted", &["a=1:NoSchedule", "b=2:NoExecute"])),
            (
                "c=3:NoSchedule b-",
                false,
                ok("modified", &["c=3:NoSchedule", "a=1:NoSchedule", "a=1:NoExecute"]),
            ),
            ("c=3:NoSchedule b- zz-", false, Err("taint \"zz\" not found".to_string())),
            (
                "yy:NoExecute- zz- zz-",
                false,
                Err("[taint \"yy:NoExecute\" not found, taint \"zz\" not found]".to_string()),
            ),
            ("a- b-", false, ok("untainted", &[])),
            ("a-", true, ok("modified", &["b=2:NoExecute"])),
            ("a=9:NoSchedule a=8:NoExecute", false, already("a,a")),
        ] {
            let specs: Vec<_> = args.split(' ').collect();
            let changes = parse_taints(KubernetesRelease::OLDEST, &specs).unwrap();
            let result = update_taints("n", &node, &changes, overwrite)
                .map(|(operation, taints)| (operation.as_str().to_string(), taints));
            assert_eq!(result, expected, "{args}");
        }
    }
}
