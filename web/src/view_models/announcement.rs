//! Announcements for those who do not see the board.

use std::rc::Rc;

use taintlab_core::order::OrderedSet;
use taintlab_core::pod_state::{PodCounts, PodState, PodVerdict};

use super::board::BoardModel;
use crate::session::{Row, RowKind};

/// The verdicts that have more pods than `before`: `3 pods counting down`; none if there are none,
/// apart from pods that stay.
pub(crate) fn of_counts(before: &PodCounts, now: &PodCounts) -> Option<String> {
    said(&now.news_since(before))
}

/// The states of the pods in these rows of the log: `5 pods being deleted, 3 counting down`; none
/// if the rows are about no pod.
pub(crate) fn of_rows(rows: &[Rc<Row>], board: &BoardModel) -> Option<String> {
    let mut pods = OrderedSet::new();
    for row in rows {
        if let RowKind::Happened(what) = &row.kind {
            pods.extend(what.pod());
        }
    }
    let state = |pod| board.pod(pod).map(|view| view.state);
    if let (1, Some(pod)) = (pods.len(), pods.first()) {
        let words = state(pod).map_or_else(|| PodVerdict::Gone.to_string(), PodState::verdict_text);
        return Some(format!("pod {pod}: {words}"));
    }
    let mut counts = PodCounts::default();
    for pod in pods {
        match state(pod) {
            Some(state) => counts.add(state),
            None => counts.add_gone(1),
        }
    }
    said(&counts)
}

fn said(counts: &PodCounts) -> Option<String> {
    let words = counts.to_string();
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Taint, TaintEffect};
    use taintlab_core::command::Command;
    use taintlab_core::scenario::Scenario;

    use super::*;
    use crate::session::Session;

    #[test]
    fn an_edit_is_announced_by_its_effect_on_pods() {
        let tolerates = |seconds: Option<i64>| {
            let toleration = serde_json::json!({
                "key": "k", "operator": "Exists", "tolerationSeconds": seconds,
            });
            serde_json::json!([toleration])
        };
        let pod = |name: &str, tolerations: serde_json::Value| {
            serde_json::json!({ "metadata": { "name": name },
                "spec": { "nodeName": "n", "tolerations": tolerations } })
        };
        let scenario: Scenario = serde_json::from_value(serde_json::json!({
            "apiVersion": "taintlab/v1",
            "kind": "Scenario",
            "objects": {
                "nodes": [{ "metadata": { "name": "n" } }],
                "pods": [
                    pod("a", serde_json::json!([])),
                    pod("b", serde_json::json!([])),
                    pod("c", tolerates(Some(10))),
                    pod("d", tolerates(None)),
                ],
            }
        }))
        .unwrap();
        let mut session = Session::new(scenario).unwrap();
        let mut model = BoardModel::default();
        model.update(&mut session);
        let before = session.rows().len();
        let taint = Taint::new("k", "", TaintEffect::NoExecute);
        session.apply(vec![Command::Taint { node: "n".into(), taint }]).unwrap();
        model.update(&mut session);
        let said = of_rows(&session.rows()[before..], &model);
        assert_eq!(said.as_deref(), Some("2 pods being deleted, 1 counting down, 1 stays"));
        let before = session.rows().len();
        session.step();
        model.update(&mut session);
        let said = of_rows(&session.rows()[before..], &model);
        assert_eq!(said.as_deref(), Some("pod default/c: being deleted, gone at 40s"));
        assert_eq!(of_rows(&[], &model), None);
    }
}
