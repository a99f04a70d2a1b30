//! Questions to begin with, on the first screen.

use std::time::Duration;

use taintlab_core::api::NodeName;
use taintlab_core::command::Command;
use yew::prelude::*;

use crate::messages::{Dialog, Dispatch, Msg, Source, refused};
use crate::test_id::TestId;
use crate::view_models::board::Board;
use crate::view_models::late_eviction::in_minutes;
use crate::view_models::runs::Until;

/// Three questions, each a click from its answer, about the present cluster and its release. `late`
/// is the time that the release takes to delete a pod that tolerates a lost node for five minutes.
pub(crate) fn questions(board: &Board, late: Option<Duration>, dispatch: &Dispatch) -> Html {
    let question = |id: TestId, text: String, does: Callback<MouseEvent>| {
        html! { <button class="btn" data-testid={id} onclick={does}>{ text }</button> }
    };
    html! {
        <div class="questions" role="group" aria-label="Begin with a question"
            data-testid={TestId::Questions}>
            if let Some(node) = busiest(board) {
                { question(TestId::QuestionNode,
                    format!("{node} dies: which pods leave, and when?"),
                    dies(&node, dispatch)) }
            }
            if let Some(late) = late {
                { question(TestId::QuestionWhy,
                    format!("Why {}, and not 5 min?", in_minutes(late)),
                    dispatch.reform(|_| Msg::LateEviction)) }
            }
            { question(TestId::QuestionPaste, "Paste my cluster".into(),
                dispatch.reform(|_| Msg::Open(Dialog::Import(Source::empty())))) }
        </div>
    }
}

/// The node with the most pods; of several, the first.
fn busiest(board: &Board) -> Option<NodeName> {
    let nodes = board.zones.iter().flat_map(|zone| &zone.nodes).rev();
    nodes.max_by_key(|node| node.pod_count).map(|node| node.name.clone())
}

/// Stops the node's kubelet, and runs until the node is tainted.
fn dies(node: &NodeName, dispatch: &Dispatch) -> Callback<MouseEvent> {
    let (node, dispatch) = (node.clone(), dispatch.clone());
    Callback::from(move |_| {
        let command = Command::StopKubelet { node: node.clone() };
        dispatch.emit(Msg::Edit(vec![command], refused(&dispatch)));
        dispatch.emit(Msg::Until(Until::Run(format!("node/{node} tainted")), refused(&dispatch)));
    })
}
