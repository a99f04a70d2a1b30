//! The last event in plain words: a caption that follows the clock.

use std::rc::Rc;
use std::time::Duration;

use taintlab_core::api::{ConditionStatus, NodeName, PodKey};
use taintlab_core::controllers::taint_eviction::EvictionDecision;
use taintlab_core::event::EventKind;
use taintlab_core::order::{OrderedMap, OrderedSet};
use taintlab_core::time::Timestamp;

use super::display::command_text;
use super::names::without_suffixes;
use super::selection::Selection;
use crate::session::{Row, RowKind, Session};
use crate::text::{at, count, span};

/// Rows that are looked through at most, from the latest one back.
const MOST_ROWS: usize = 4_000;
/// Time after a taint in which events belong to it.
const TOGETHER: Duration = Duration::from_secs(2);
/// Workloads that a sentence names at most.
const MOST_NAMES: usize = 3;

/// The last event, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caption {
    /// The sentence, with its time.
    pub(crate) text: String,
    /// The subject, for *Why?*.
    pub(crate) about: Option<Selection>,
}

/// The caption of the present moment; none before anything was done or a pod was evicted.
pub(crate) fn caption(session: &Session) -> Option<Caption> {
    let rows = session.rows();
    let rows = rows.get(rows.len().saturating_sub(MOST_ROWS)..).unwrap_or_default();
    let begun = rows.iter().any(|row| is_begin(&row.kind)) || rows.len() == MOST_ROWS;
    begun.then(|| latest(rows)).flatten()
}

/// Whether a row begins what is worth telling: an imported cluster also loses pods without an edit.
fn is_begin(kind: &RowKind) -> bool {
    match kind {
        RowKind::Edit(_) | RowKind::Step(_) => true,
        RowKind::Happened(what) => what.is_eviction(),
        RowKind::Refused { .. } | RowKind::NotRefused(_) | RowKind::Skipped { .. } => false,
    }
}

/// The caption of the latest row that is worth one, and of the rows that belong to it.
fn latest(rows: &[Rc<Row>]) -> Option<Caption> {
    for (place, row) in rows.iter().enumerate().rev() {
        let before = rows.get(..=place).unwrap_or_default();
        match &row.kind {
            RowKind::Edit(command) | RowKind::Step(command) => {
                let about = command.pod().map(Selection::Pod);
                let node = || command.node().map(|node| Selection::Node(node.into()));
                let who = if matches!(row.kind, RowKind::Edit(_)) { "You" } else { "The scenario" };
                return Some(Caption {
                    text: format!("{}: {who}: {}.", at(row.at), command_text(command)),
                    about: about.or_else(node),
                });
            }
            RowKind::Happened(what) => {
                if let Some(caption) = happened(rows, before, row.at, what) {
                    return Some(caption);
                }
            }
            RowKind::Refused { .. } | RowKind::NotRefused(_) | RowKind::Skipped { .. } => {}
        }
    }
    None
}

/// The caption of an event; none if it is not worth one.
fn happened(
    rows: &[Rc<Row>],
    before: &[Rc<Row>],
    moment: Timestamp,
    what: &EventKind,
) -> Option<Caption> {
    if let EventKind::NodeEvaluated { taints, .. } = what
        && !taints.is_empty()
    {
        return Some(tainted(rows, moment));
    }
    if what.is_eviction() {
        return Some(match taint_just_before(before, moment) {
            Some(at) => tainted(rows, at),
            None => evicted(before, moment),
        });
    }
    if let EventKind::NodeConditionChanged { condition, to, reason, .. } = what
        && condition == "Ready"
    {
        return Some(ready_changed(before, moment, to, reason));
    }
    // The errors of a drain, not its warnings.
    if let EventKind::DrainPrinted { is_error: true, line, .. } = what
        && line.contains("error")
    {
        let text = format!("{}: kubectl drain: {line}", at(moment));
        return Some(Caption { text, about: None });
    }
    None
}

/// The time of a taint on a node just before, to which an eviction at this time is due.
fn taint_just_before(rows: &[Rc<Row>], at: Timestamp) -> Option<Timestamp> {
    let recent = rows.iter().rev().take_while(|row| row.at.saturating_add(TOGETHER) >= at);
    let tainted = |kind: &RowKind| {
        matches!(kind, RowKind::Happened(EventKind::NodeEvaluated { taints, .. })
            if !taints.is_empty())
    };
    recent.into_iter().find(|row| tainted(&row.kind)).map(|row| row.at)
}

/// Nodes are tainted: some pods go now, some have time, and some stay.
fn tainted(rows: &[Rc<Row>], latest: Timestamp) -> Caption {
    let recent = |row: &&Rc<Row>| {
        row.at.saturating_add(TOGETHER) >= latest && row.at <= latest.saturating_add(TOGETHER)
    };
    let first = rows.partition_point(|row| row.at.saturating_add(TOGETHER) < latest);
    let rows = rows.get(first..).unwrap_or_default();
    let mut nodes: OrderedSet<&NodeName> = OrderedSet::new();
    let mut decided: OrderedMap<&PodKey, &EvictionDecision> = OrderedMap::new();
    for row in rows.iter().take_while(recent) {
        let RowKind::Happened(what) = &row.kind else { continue };
        if let EventKind::NodeEvaluated { node, taints, .. } = what
            && !taints.is_empty()
        {
            nodes.insert(node);
        } else if let EventKind::Decided(decision) = what {
            let is_news = !matches!(
                decision.decision,
                EvictionDecision::TimerKept { .. }
                    | EvictionDecision::AlreadyDeleted
                    | EvictionDecision::PodGone { .. }
                    | EvictionDecision::TaintsRemoved { .. }
            );
            if is_news {
                decided.insert(&decision.pod, &decision.decision);
            }
        }
    }
    let (mut now, mut later, mut stay) = (Names::default(), OrderedMap::new(), 0);
    for (pod, decision) in &decided {
        match decision {
            EvictionDecision::NotTolerated { .. } | EvictionDecision::ToleratedForNoTime => {
                now.add(pod);
            }
            EvictionDecision::Scheduled { created_at, fire_at } => {
                let time = fire_at.since_zero().saturating_sub(created_at.since_zero());
                later.entry(time).or_insert_with(Names::default).add(pod);
            }
            _ => stay += 1,
        }
    }
    let names: Vec<&str> = nodes.iter().map(|node| node.as_str()).collect();
    let is = if names.len() == 1 { "is" } else { "are" };
    let mut text = format!("{}: {} {is} tainted.", at(latest), listed(&names));
    let mut parts = Vec::new();
    if !now.is_empty() {
        let (goes, tolerates) = now.verbs(("goes", "go"), ("it does", "they do"));
        parts.push(format!("{now} {goes} now, because {tolerates} not tolerate the taint"));
    }
    parts.extend(who_has_time(&later));
    if stay > 0 {
        let stays = if stay == 1 { "stays" } else { "stay" };
        parts.push(format!("{} {stays}", count(stay, "pod")));
    }
    if !parts.is_empty() {
        text = format!("{text} {}.", parts.join("; "));
    }
    let about = later.values().next().unwrap_or(&now).first.clone();
    let node = || nodes.first().map(|node| Selection::Node((*node).clone()));
    Caption { text, about: about.map(Selection::Pod).or_else(node) }
}

/// The words for pods that have time: `web has 5 minutes, because it tolerates it for 300 s`; none
/// without pods.
fn who_has_time(later: &OrderedMap<Duration, Names>) -> Option<String> {
    let (time, names) = later.first_key_value()?;
    let (has, tolerates) = names.verbs(("has", "have"), ("it tolerates", "they tolerate"));
    let first = format!("{names} {has} {}", in_words(*time));
    if later.len() == 1 {
        return Some(format!("{first}, because {tolerates} the taint for {} s", time.as_secs()));
    }
    let others = later.iter().skip(1).map(|(time, names)| format!("{names} {}", in_words(*time)));
    let all: Vec<String> = [first].into_iter().chain(others).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    Some(format!("{}, because they tolerate the taint for that long", joined(&all)))
}

/// Pods were evicted at this time, without a taint just before.
fn evicted(rows: &[Rc<Row>], latest: Timestamp) -> Caption {
    let mut names = Names::default();
    for row in rows.iter().rev().take_while(|row| row.at.saturating_add(TOGETHER) >= latest) {
        if let RowKind::Happened(what) = &row.kind
            && what.is_eviction()
            && let Some(pod) = what.pod()
        {
            names.add(pod);
        }
    }
    let (is, _) = names.verbs(("is", "are"), ("", ""));
    let text = format!("{}: {names} {is} evicted.", at(latest));
    Caption { text, about: names.first.map(Selection::Pod) }
}

/// The condition Ready of nodes changed.
fn ready_changed(
    rows: &[Rc<Row>],
    latest: Timestamp,
    status: &ConditionStatus,
    reason: &str,
) -> Caption {
    let mut nodes = OrderedSet::new();
    for row in rows.iter().rev().take_while(|row| row.at.saturating_add(TOGETHER) >= latest) {
        if let RowKind::Happened(EventKind::NodeConditionChanged { node, condition, to, .. }) =
            &row.kind
            && condition == "Ready"
            && to == status
        {
            nodes.insert(node);
        }
    }
    let names: Vec<&str> = nodes.iter().map(|node| node.as_str()).collect();
    let is = if names.len() == 1 { "is" } else { "are" };
    let what = match status {
        ConditionStatus::True => "ready again".to_owned(),
        ConditionStatus::False => format!("not ready ({reason})"),
        _ => format!("Unknown ({reason})"),
    };
    let about = nodes.first().map(|node| Selection::Node((*node).clone()));
    Caption { text: format!("{}: {} {is} {what}.", at(latest), listed(&names)), about }
}

/// Workloads, named after their pods.
#[derive(Default)]
struct Names {
    names: OrderedSet<String>,
    pods: usize,
    first: Option<PodKey>,
}

impl Names {
    fn add(&mut self, pod: &PodKey) {
        self.names.insert(without_suffixes(pod.name()).to_owned());
        self.pods += 1;
        self.first.get_or_insert_with(|| pod.clone());
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The verbs for one workload or for many.
    fn verbs<T>(&self, a: (T, T), b: (T, T)) -> (T, T) {
        if self.names.len() == 1 { (a.0, b.0) } else { (a.1, b.1) }
    }
}

/// The names in a list: `report`, `report and web`, `report, web and 2 more`.
impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&listed(&self.names.iter().map(String::as_str).collect::<Vec<_>>()))
    }
}

fn listed(names: &[&str]) -> String {
    match names {
        _ if names.len() <= MOST_NAMES => joined(names),
        _ => {
            let some = names.get(..MOST_NAMES - 1).unwrap_or_default();
            format!("{} and {} more", some.join(", "), names.len() - some.len())
        }
    }
}

/// A list: `a`, `a and b`, `a, b and c`.
fn joined(parts: &[&str]) -> String {
    match parts {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// A duration: `5 minutes`, `1 minute`, `90 seconds`.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => span(time),
        _ if seconds.is_multiple_of(60) => count(seconds / 60, "minute"),
        _ => count(seconds, "second"),
    }
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Taint, TaintEffect};
    use taintlab_core::command::Command;
    use taintlab_core::policy::drain::DrainOptions;
    use taintlab_core::scenario::Scenario;
    use taintlab_core::time::Span;

    use super::*;

    fn cluster(other: &str, seconds: Option<i64>) -> Session {
        let pod = |name: &str, tolerations: serde_json::Value| {
            serde_json::json!({ "metadata": { "name": name },
                "spec": { "nodeName": "n", "tolerations": tolerations } })
        };
        let tolerates = |seconds: Option<i64>| {
            let toleration = serde_json::json!({
                "key": "k", "operator": "Exists", "tolerationSeconds": seconds,
            });
            serde_json::json!([toleration])
        };
        let scenario: Scenario = serde_json::from_value(serde_json::json!({
            "apiVersion": "taintlab/v1",
            "kind": "Scenario",
            "objects": {
                "nodes": [{ "metadata": { "name": "n" } }],
                "pods": [
                    pod("report-28930120-vq7x4", serde_json::json!([])),
                    pod("web-7d4b9c6f5-x2x8p", tolerates(Some(300))),
                    pod("agent", tolerates(None)),
                    pod(other, tolerates(seconds)),
                ],
            }
        }))
        .unwrap();
        Session::new(scenario).unwrap()
    }

    #[test]
    fn a_taint_is_told_by_pods_that_go_have_time_and_stay() {
        let mut session = cluster("node-exporter-k8n2s", None);
        assert_eq!(caption(&session), None);
        let taint = Taint::new("k", "", TaintEffect::NoExecute);
        session.apply(vec![Command::Taint { node: "n".into(), taint }]).unwrap();
        let told = caption(&session).unwrap();
        assert_eq!(
            told.text,
            "0s: n is tainted. report-28930120 goes now, because it does not tolerate the taint; \
             web has 5 minutes, because it tolerates the taint for 300 s; 2 pods stay."
        );
        let web = PodKey::new("default", "web-7d4b9c6f5-x2x8p");
        assert_eq!(told.about, Some(Selection::Pod(web.clone())));
        // The caption follows the clock, and goes back with it.
        while session.next().is_some() {
            session.step();
        }
        let later = caption(&session).unwrap();
        assert_eq!(later.text, "5m0s: web is evicted.");
        assert_eq!(later.about, Some(Selection::Pod(web)));
    }

    #[test]
    fn an_edit_is_told_until_something_comes_of_it() {
        let mut session = cluster("agent-2", None);
        let cordon = Command::SetUnschedulable { node: "n".into(), unschedulable: true };
        session.apply(vec![cordon]).unwrap();
        let told = caption(&session).unwrap();
        assert_eq!(told.text, "0s: You: cordon n.");
        assert_eq!(told.about, Some(Selection::Node("n".into())));
    }

    #[test]
    fn an_eviction_is_told_without_an_edit() {
        let scenario: Scenario = serde_json::from_value(serde_json::json!({
            "apiVersion": "taintlab/v1",
            "kind": "Scenario",
            "objects": {
                "nodes": [{ "metadata": { "name": "n" },
                    "spec": { "taints": [{ "key": "k", "effect": "NoExecute" }] } }],
                "pods": [{ "metadata": { "name": "web" }, "spec": { "nodeName": "n",
                    "tolerations": [{ "key": "k", "operator": "Exists",
                        "tolerationSeconds": 300 }] } }],
            }
        }))
        .unwrap();
        let mut session = Session::new(scenario).unwrap();
        assert_eq!(caption(&session), None);
        session.run_to_end();
        assert_eq!(caption(&session).unwrap().text, "5m0s: web is evicted.");
    }

    #[test]
    fn a_drain_that_a_budget_blocks_says_so() {
        let labels = serde_json::json!({ "app": "web" });
        let scenario: Scenario = serde_json::from_value(serde_json::json!({
            "apiVersion": "taintlab/v1",
            "kind": "Scenario",
            "objects": {
                "nodes": [{ "metadata": { "name": "n" } }],
                "pods": [{ "metadata": { "name": "web", "labels": labels },
                    "spec": { "nodeName": "n" } }],
                "budgets": [{ "metadata": { "name": "web" },
                    "spec": { "minAvailable": 1, "selector": { "matchLabels": labels } } }],
            }
        }))
        .unwrap();
        let mut session = Session::new(scenario).unwrap();
        let timeout = Span(Duration::from_secs(60));
        let options = DrainOptions { force: true, timeout, ..DrainOptions::default() };
        session.apply(vec![Command::Drain { nodes: vec!["n".into()], options }]).unwrap();
        let blocked = caption(&session).unwrap().text;
        assert!(blocked.starts_with("0s: kubectl drain: error when evicting"), "{blocked}");
        session.run_to_end();
        let failed = caption(&session).unwrap().text;
        assert!(failed.starts_with("1m0s: kubectl drain: error when evicting"), "{failed}");
        assert!(failed.ends_with("global timeout reached: 1m0s"), "{failed}");
    }

    #[test]
    fn times_that_differ_are_told_in_one_sentence() {
        let mut session = cluster("search-1", Some(60));
        let taint = Taint::new("k", "", TaintEffect::NoExecute);
        session.apply(vec![Command::Taint { node: "n".into(), taint }]).unwrap();
        let text = caption(&session).unwrap().text;
        let times = "search-1 has 1 minute and web 5 minutes, because they tolerate the taint";
        assert!(text.contains(times), "{text}");
    }

    #[test]
    fn lists_are_short_and_times_plain() {
        assert_eq!(listed(&["a", "b"]), "a and b");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!(listed(&["a", "b", "c", "d"]), "a, b and 2 more");
        assert_eq!(in_words(Duration::from_secs(60)), "1 minute");
        assert_eq!(in_words(Duration::from_secs(90)), "90 seconds");
    }
}
