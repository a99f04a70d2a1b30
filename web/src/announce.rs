//! What is said to those who do not see the board.

use std::collections::BTreeSet;
use std::rc::Rc;

use taintlab_core::pod_state::{PodState, PodVerdict};

use crate::model::Model;
use crate::session::{Row, RowKind};
use crate::text::count;

/// The verdicts in the order in which they matter after an edit.
const ORDER: [PodVerdict; PodVerdict::ALL.len()] = [
    PodVerdict::Terminating,
    PodVerdict::Stuck,
    PodVerdict::Counting,
    PodVerdict::Evicted,
    PodVerdict::Gone,
    PodVerdict::Stays,
];

/// How the pods are doing that these rows of the log are about: `5 pods being deleted, 3 counting
/// down`; nothing if they are about no pod.
pub(crate) fn outcome(rows: &[Rc<Row>], model: &Model) -> Option<String> {
    let mut pods = BTreeSet::new();
    for row in rows {
        if let RowKind::Happened(what) = &row.kind {
            pods.extend(what.pod());
        }
    }
    let state = |pod| model.pod(pod).map(|view| view.state);
    if let (1, Some(pod)) = (pods.len(), pods.first()) {
        let words = state(pod).map_or_else(|| PodVerdict::Gone.to_string(), PodState::verdict_text);
        return Some(format!("pod {pod}: {words}"));
    }
    let verdicts: Vec<PodVerdict> = pods
        .into_iter()
        .map(|pod| state(pod).map_or(PodVerdict::Gone, |state| state.verdict))
        .collect();
    let mut parts = Vec::new();
    for verdict in ORDER {
        let number = verdicts.iter().filter(|known| **known == verdict).count();
        if number > 0 {
            let pods = if parts.is_empty() { count(number, "pod") } else { number.to_string() };
            parts.push(format!("{pods} {}", verdict.words(number)));
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Taint, TaintEffect};
    use taintlab_core::command::Command;
    use taintlab_core::scenario::Scenario;

    use super::*;
    use crate::session::Session;

    #[test]
    fn an_edit_is_told_by_what_becomes_of_the_pods() {
        let tolerates = |seconds: Option<i64>| serde_json::json!([{ "key": "k", "operator": "Exists", "tolerationSeconds": seconds }]);
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
        let mut model = Model::default();
        model.update(&mut session);
        let before = session.rows().len();
        let taint = Taint::new("k", "", TaintEffect::NoExecute);
        session.apply(vec![Command::Taint { node: "n".into(), taint }]).unwrap();
        model.update(&mut session);
        let said = outcome(&session.rows()[before..], &model);
        assert_eq!(said.as_deref(), Some("2 pods being deleted, 1 counting down, 1 stays"));
        let before = session.rows().len();
        session.step();
        model.update(&mut session);
        let said = outcome(&session.rows()[before..], &model);
        assert_eq!(said.as_deref(), Some("pod default/c: being deleted, gone at 40s"));
        assert_eq!(outcome(&[], &model), None);
    }
}
