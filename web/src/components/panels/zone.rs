//! The panel of a zone: actions on all of its nodes together.

mod rates;

use std::rc::Rc;

use taintlab_core::api::Taint;
use taintlab_core::command::Command;
use taintlab_core::controllers::node_lifecycle::zone::ZoneKey;
use yew::prelude::*;

use super::faults::zone_faults;
use super::head::head;
use super::zone::rates::rates;
use crate::components::parts::icon;
use crate::components::parts::name::cut_name;
use crate::components::parts::taint_editor::{QUICK, TaintEditor, taint_errors};
use crate::messages::{Dispatch, Msg, refused};
use crate::test_id::TestId;
use crate::text::count;
use crate::view_models::board::ZoneView;
use crate::view_models::inspector_model::InspectedZone;
use crate::view_models::names::Shared;
use crate::view_models::selection::Selection;

/// The maximum number of nodes listed; the others are only counted.
const MOST_NODES: usize = 400;

/// Properties of [`ZonePanel`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ZonePanelProps {
    /// The zone.
    pub(crate) zone: InspectedZone,
    /// The zone as it is on the board.
    pub(crate) view: Rc<ZoneView>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// The panel of a zone.
#[component]
pub(crate) fn ZonePanel(props: &ZonePanelProps) -> Html {
    let taint = use_state(|| {
        let [(key, effect), ..] = &QUICK;
        Taint::new(key, "", effect.clone())
    });
    let (zone, dispatch) = (&props.view, &props.dispatch);
    let rates_of = props.zone.rates.as_deref();
    let name = rates_of.map_or_else(|| zone_name(zone), |rates| rates.key.name());
    let existing = || zone.nodes.iter().filter(|node| node.exists);
    let with: Vec<_> = existing().filter(|n| n.taints.iter().any(|t| t.matches(&taint))).collect();
    let without = existing().filter(|n| !n.taints.iter().any(|t| t == &*taint));
    let edit = |commands: Vec<Command>| {
        let refused = refused(dispatch);
        dispatch.reform(move |_: MouseEvent| Msg::Edit(commands.clone(), refused.clone()))
    };
    let add: Vec<_> = without
        .map(|node| Command::Taint { node: node.name.clone(), taint: (*taint).clone() })
        .collect();
    let remove: Vec<_> = with
        .iter()
        .map(|node| Command::Untaint {
            node: node.name.clone(),
            key: taint.key.clone(),
            effect: taint.effect.clone(),
        })
        .collect();
    let valid = taint_errors(&[(*taint).clone()]).is_empty();
    let onchange = {
        let taint = taint.clone();
        Callback::from(move |taints: Vec<Taint>| {
            if let Some(new) = taints.into_iter().next() {
                taint.set(new);
            }
        })
    };
    let badge = html! { <span class="badge">{ count(zone.nodes.len(), "node") }</span> };
    let names = Shared::of(zone.nodes.iter().map(|node| node.name.as_str()));
    html! {
        <>
            { head("Zone", html! { { &zone.name } }, badge, Html::default(), dispatch) }
            <div class="body stack" data-testid={TestId::ZonePanel}>
                { zone_faults(&name, rates_of.is_some_and(|rates| rates.network_cut), dispatch) }
                { rates_of.map(|zone| rates(zone, props.zone.now, dispatch)) }
                <h3>{ "Taint every node" }</h3>
                <TaintEditor taints={vec![(*taint).clone()]} {onchange} removable=false />
                <div class="row">
                    <button class="btn primary" disabled={!valid || add.is_empty()}
                        onclick={edit(add.clone())} data-testid={TestId::TaintZone}>
                        { format!("Taint {}", count(add.len(), "node")) }
                    </button>
                    <button class="btn" disabled={remove.is_empty()} onclick={edit(remove.clone())}>
                        { if remove.is_empty() {
                            "No node has this taint".to_owned()
                        } else {
                            format!("Remove it from {}", count(remove.len(), "node"))
                        } }
                    </button>
                </div>
                <h3>{ "Nodes" }</h3>
                <div class="podlist">
                    { for zone.nodes.iter().take(MOST_NODES).map(|node| {
                        let name = node.name.clone();
                        html! {
                            <button class="pod" onclick={dispatch.reform(move |_| {
                                Msg::Select(Some(Selection::Node(name.clone())))
                            })}>
                                <span class="dot" data-ready={node.ready.to_string()}></span>
                                <span class="clip grow" title={node.name.to_string()}>
                                    { cut_name(node.name.as_str(), names) }</span>
                                if let Some(taint) = node.taints.first() {
                                    <span class="muted">{ count(node.taints.len(), "taint") }</span>
                                    { icon::effect(&taint.effect) }
                                }
                            </button>
                        }
                    }) }
                </div>
                if zone.nodes.len() > MOST_NODES {
                    <p class="hint">{ format!("and {} more", zone.nodes.len() - MOST_NODES) }</p>
                }
            </div>
        </>
    }
}

/// The name of the zone in commands, before the controller has seen it.
fn zone_name(zone: &ZoneView) -> String {
    ZoneKey::from(&*zone.key).name()
}
