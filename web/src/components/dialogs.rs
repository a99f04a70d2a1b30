//! The open dialog.

mod bookmarks;
mod branches;
mod compare;
mod create;
pub(crate) mod export;
mod help;
pub(crate) mod import;
mod object_list;
mod palette;
mod release;
mod report;
mod scenarios;
mod sessions;
mod settings;
mod share;
mod until;
mod warnings;

use std::rc::Rc;

use taintlab_core::api::NodeName;
use taintlab_core::order::Order;
use yew::prelude::*;

use crate::components::dialogs::bookmarks::Bookmarks;
use crate::components::dialogs::branches::branches;
use crate::components::dialogs::compare::Compare;
use crate::components::dialogs::create::{CreateNode, CreatePod};
use crate::components::dialogs::export::export;
use crate::components::dialogs::help::help;
use crate::components::dialogs::import::Import;
use crate::components::dialogs::palette::Palette;
use crate::components::dialogs::palette::commands::commands;
use crate::components::dialogs::release::release;
use crate::components::dialogs::report::ReportDialog;
use crate::components::dialogs::scenarios::Scenarios;
use crate::components::dialogs::sessions::Sessions;
use crate::components::dialogs::settings::Settings;
use crate::components::dialogs::share::{Share, offered};
use crate::components::dialogs::until::UntilDialog;
use crate::components::dialogs::warnings::warnings;
use crate::files;
use crate::messages::{Dialog, Dispatch};
use crate::protocol::{ClockView, WarningView, WorkView};
use crate::view_models::about_release::AboutRelease;
use crate::view_models::board::Board;
use crate::view_models::inspector_model::InspectorModel;
use crate::view_models::lanes::LanesView;
use crate::view_models::log::LogWanted;
use crate::view_models::report::ReportState;
use crate::view_models::runs::Compared;
use crate::view_models::selection::Selection;

/// The open dialog, and the state that it may show.
pub(crate) struct Asked<'a> {
    /// The dialog.
    pub(crate) dialog: &'a Dialog,
    /// The time that the clock shows.
    pub(crate) clock: &'a ClockView,
    /// The work: its start, branches and settings.
    pub(crate) work: &'a Rc<WorkView>,
    /// The zones, nodes and pods of the board.
    pub(crate) board: &'a Board,
    /// Nodes that an autoscaler's node group can copy.
    pub(crate) nodes: &'a Rc<Vec<NodeName>>,
    /// The scenarios that come with the page; empty until they are requested.
    pub(crate) catalogue: &'a Rc<files::Catalogue>,
    /// The evidence for the release, once it is there.
    pub(crate) about_release: Option<&'a AboutRelease>,
    /// The selection.
    pub(crate) selection: Option<&'a Selection>,
    /// The details of the selection.
    pub(crate) inspector: &'a InspectorModel,
    /// The lanes.
    pub(crate) lanes: &'a LanesView,
    /// The filters and the visible part of the event log.
    pub(crate) log: &'a LogWanted,
    /// The warnings, as far as the dialog shows them.
    pub(crate) warnings: &'a [WarningView],
    /// The number of warnings about the whole cluster.
    pub(crate) all_warnings: usize,
    /// The two runs that were compared last.
    pub(crate) compared: Option<&'a Rc<Compared>>,
    /// The state of the resilience report.
    pub(crate) report: &'a ReportState,
    /// Sends messages to the application.
    pub(crate) dispatch: &'a Dispatch,
}

/// The view of the open dialog.
pub(crate) fn dialog(asked: &Asked<'_>) -> Html {
    let dispatch = asked.dispatch.clone();
    let Asked { work, clock, .. } = asked;
    match asked.dialog {
        Dialog::Import(source) => html! {
            <Import key={source.key()} source={source.clone()} release={work.release} {dispatch} />
        },
        Dialog::Export => export(&dispatch),
        Dialog::Sessions(present) => html! {
            <Sessions present={AttrValue::from(present.clone())} {dispatch} />
        },
        Dialog::Help => help(&dispatch),
        Dialog::Release => release(work.release, asked.about_release, &dispatch),
        Dialog::Scenarios => html! {
            <Scenarios catalogue={asked.catalogue.clone()} {dispatch} />
        },
        Dialog::Settings => html! {
            <Settings release={work.release} node_lifecycle={work.node_lifecycle}
                flags={work.flags.clone()} health_pass={work.health_pass}
                kubelets={work.kubelets}
                descheduler={work.descheduler.clone()}
                autoscaler={work.autoscaler.clone()} nodes={asked.nodes.clone()} {dispatch} />
        },
        Dialog::Warnings(about) => {
            warnings(asked.warnings, asked.all_warnings, about.as_ref(), &dispatch)
        }
        Dialog::Until(line) => html! {
            <UntilDialog line={line.clone()} breakpoints={work.breakpoints.clone()}
                now={clock.now} {dispatch} />
        },
        Dialog::Branches => branches(work, clock.reached, &dispatch),
        Dialog::Compare => html! {
            <Compare release={work.release} here={work.branch} branches={work.branches.clone()}
                compared={asked.compared.cloned()} {dispatch} />
        },
        Dialog::Share => html! { <Share {dispatch} /> },
        Dialog::Link(contents) => offered(contents, &dispatch),
        Dialog::Bookmarks => {
            let select = asked.selection.map(Selection::to_text).unwrap_or_default();
            html! {
                <Bookmarks start={work.start.clone()} now={clock.now}
                    select={AttrValue::from(select)} {dispatch} />
            }
        }
        Dialog::Report => html! {
            <ReportDialog state={asked.report.clone()} now={clock.now} work={work.key(clock.now)}
                pools={work.pools.clone()} {dispatch} />
        },
        Dialog::Palette => html! { <Palette commands={commands(asked)} {dispatch} /> },
        Dialog::CreateNode => {
            let zones = asked.board.zones.iter();
            let zones: Vec<(AttrValue, AttrValue)> = zones
                .filter(|zone| zone.key.contains('\0') && zone.key.len() > 1)
                .map(|zone| (zone.name.clone().into(), zone.region.clone().into()))
                .collect();
            html! { <CreateNode {zones} options={work.options} {dispatch} /> }
        }
        Dialog::CreatePod(node) => {
            let nodes = asked.board.zones.iter().flat_map(|zone| &zone.nodes);
            let mut nodes: Vec<AttrValue> = nodes
                .filter(|node| node.exists)
                .map(|node| AttrValue::from(node.name.as_str().to_owned()))
                .collect();
            nodes.order();
            html! {
                <CreatePod node={AttrValue::from(node.clone())} {nodes} options={work.options}
                    {dispatch} />
            }
        }
    }
}
