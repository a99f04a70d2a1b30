//! The branches as a tree: fork, switch, rename, delete.

use taintlab_core::time::Timestamp;
use yew::prelude::*;

use crate::components::parts::icon;
use crate::components::parts::modal::Modal;
use crate::components::parts::name_field::NameField;
use crate::messages::{Dialog, Dispatch, Msg};
use crate::protocol::{BranchView, WorkView};
use crate::test_id::TestId;
use crate::text::{at, count};
use crate::view_models::runs::BranchMsg;

/// The tree of branches; the present one has been played to `reached`.
pub(crate) fn branches(work: &WorkView, reached: Timestamp, dispatch: &Dispatch) -> Html {
    let mut branches = work.branches.clone();
    let here = work.branch;
    branches.iter_mut().filter(|it| it.id == here).for_each(|it| it.reached = reached);
    let branches = branches.as_slice();
    html! {
        <Modal title="Branches" dispatch={dispatch.clone()} width={640}>
            <p class="hint">
                { "A branch keeps a future: fork here, do something else, and compare both. \
                   Editing the past starts a new branch automatically." }
            </p>
            <ul class="tree" data-testid={TestId::Branches}>
                { under(None, branches, here, dispatch) }
            </ul>
            <div class="actions">
                <button class="btn" disabled={branches.len() < 2} onclick={dispatch.reform(
                    |_: MouseEvent| Msg::Open(Dialog::Compare)
                )}>{ "Compare" }</button>
                <button class="btn primary" data-testid={TestId::Fork} onclick={dispatch.reform(
                    |_: MouseEvent| Msg::Branch(BranchMsg::Fork)
                )}>{ icon::fork() }{ "Fork here" }</button>
            </div>
        </Modal>
    }
}

/// The branches that were forked from `parent`.
fn under(parent: Option<u32>, all: &[BranchView], here: u32, dispatch: &Dispatch) -> Html {
    let children = all.iter().filter(|branch| branch.parent == parent);
    html! { <>{ for children.map(|branch| one(branch, all, here, dispatch)) }</> }
}

fn one(branch: &BranchView, all: &[BranchView], here: u32, dispatch: &Dispatch) -> Html {
    let id = branch.id;
    let current = id == here;
    let does = |msg: BranchMsg| dispatch.reform(move |_: MouseEvent| Msg::Branch(msg.clone()));
    let onchange = dispatch.reform(move |name| Msg::Branch(BranchMsg::Rename(id, name)));
    let from = match branch.parent {
        Some(_) => format!("forked at {}, ", at(branch.forked_at)),
        None => String::new(),
    };
    let has_children = all.iter().any(|other| other.parent == Some(id));
    html! {
        <li key={id} data-branch={branch.name.to_string()} aria-current={current.then_some("true")}>
            <div class="row">
                <NameField value={AttrValue::from(branch.name.clone())} {onchange}
                    label={format!("Name of {}", branch.name)} />
                <span class="muted">
                    { format!("{from}{}, played to {}", count(branch.edits, "edit"),
                        at(branch.reached)) }
                </span>
                if current {
                    <span class="badge">{ "here" }</span>
                } else {
                    <button class="btn small" onclick={does(BranchMsg::Switch(id))}>
                        { "Switch" }</button>
                    <button class="btn small danger" onclick={does(BranchMsg::Delete(id))}
                        aria-label={format!("Delete {}", branch.name)}>{ icon::bin() }</button>
                }
            </div>
            if has_children { <ul>{ under(Some(id), all, here, dispatch) }</ul> }
        </li>
    }
}
