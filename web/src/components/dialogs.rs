//! Whichever dialog is open.

mod bookmarks;
mod branches;
mod compare;
mod create;
pub(crate) mod export;
mod help;
mod import;
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

use std::cell::OnceCell;
use std::rc::Rc;

use taintlab_core::warnings::Warning;
use yew::prelude::*;

use crate::components::dialogs::bookmarks::Bookmarks;
use crate::components::dialogs::branches::branches;
use crate::components::dialogs::compare::Compare;
use crate::components::dialogs::create::{CreateNode, CreatePod};
use crate::components::dialogs::export::export;
use crate::components::dialogs::help::help;
use crate::components::dialogs::import::Import;
use crate::components::dialogs::palette::Palette;
use crate::components::dialogs::release::release;
use crate::components::dialogs::report::ReportDialog;
use crate::components::dialogs::scenarios::Scenarios;
use crate::components::dialogs::sessions::Sessions;
use crate::components::dialogs::settings::Settings;
use crate::components::dialogs::share::{Share, offered};
use crate::components::dialogs::until::{Completer, UntilDialog};
use crate::components::dialogs::warnings::warnings;
use crate::files;
use crate::messages::{Dialog, Dispatch};
use crate::session::Session;
use crate::view_models::board::BoardModel;
use crate::view_models::report::ReportState;
use crate::view_models::runs::{Breakpoint, Compared};
use crate::view_models::selection::Selection;

/// A dialog, and what it may show.
pub(crate) struct Asked<'a> {
    /// Which.
    pub(crate) dialog: &'a Dialog,
    /// What there is.
    pub(crate) session: &'a Session,
    /// How it looks.
    pub(crate) model: &'a BoardModel,
    /// The scenarios that come with the page, once they were asked for.
    pub(crate) catalogue: &'a OnceCell<Rc<files::Catalogue>>,
    /// What is selected.
    pub(crate) selection: Option<&'a Selection>,
    /// What is likely to surprise.
    pub(crate) warnings: &'a [Warning],
    /// Where time stops.
    pub(crate) breakpoints: &'a [Breakpoint],
    /// Two runs that were compared last.
    pub(crate) compared: Option<&'a Rc<Compared>>,
    /// What there is of a resilience report.
    pub(crate) report: &'a ReportState,
    /// Where messages go.
    pub(crate) dispatch: &'a Dispatch,
}

/// The dialog that is open.
pub(crate) fn dialog(asked: &Asked<'_>) -> Html {
    let dispatch = asked.dispatch.clone();
    let simulator = asked.session.simulator();
    match asked.dialog {
        Dialog::Import(text, name) => html! {
            <Import key={text.as_ptr().addr()} text={text.clone()}
                name={AttrValue::from(name.clone())} release={simulator.config().release}
                {dispatch} />
        },
        Dialog::Export => export(&dispatch),
        Dialog::Sessions(present) => html! {
            <Sessions present={AttrValue::from(present.clone())} {dispatch} />
        },
        Dialog::Help => help(&dispatch),
        Dialog::Release => release(simulator.config().release, &dispatch),
        // Read when they are first asked for.
        Dialog::Scenarios => {
            let catalogue = asked.catalogue.get_or_init(|| Rc::new(files::catalogue())).clone();
            html! { <Scenarios {catalogue} {dispatch} /> }
        }
        Dialog::Settings => {
            let config = simulator.config();
            html! {
                <Settings release={config.release} node_lifecycle={config.node_lifecycle}
                    flags={config.controller_manager_flags.clone()} {dispatch} />
            }
        }
        Dialog::Warnings(about) => warnings(asked.warnings, about.as_ref(), &dispatch),
        Dialog::Until(line) => html! {
            <UntilDialog line={line.clone()} breakpoints={asked.breakpoints.to_vec()}
                complete={Completer::of(simulator)} {dispatch} />
        },
        Dialog::Branches => {
            branches(&asked.session.branches(), asked.session.timeline().branch, &dispatch)
        }
        Dialog::Compare => {
            let mut branches = asked.session.branches();
            branches.retain(|branch| branch.id != asked.session.timeline().branch);
            html! {
                <Compare release={simulator.config().release} {branches}
                    compared={asked.compared.cloned()} {dispatch} />
            }
        }
        Dialog::Share => html! { <Share {dispatch} /> },
        Dialog::Link(contents) => offered(contents, &dispatch),
        Dialog::Bookmarks => {
            let select = asked.selection.map(Selection::to_text).unwrap_or_default();
            html! {
                <Bookmarks start={asked.session.timeline().start.clone()} now={asked.session.now()}
                    select={AttrValue::from(select)} {dispatch} />
            }
        }
        Dialog::Report => html! {
            <ReportDialog state={asked.report.clone()} now={asked.session.now()} {dispatch} />
        },
        Dialog::Palette => html! { <Palette {dispatch} /> },
        Dialog::CreateNode => {
            let zones = asked.model.board().zones.iter();
            let zones: Vec<(AttrValue, AttrValue)> = zones
                .filter(|zone| zone.key.contains('\0') && zone.key.len() > 1)
                .map(|zone| (zone.name.clone().into(), zone.region.clone().into()))
                .collect();
            let options = simulator.validation_options();
            html! { <CreateNode {zones} {options} {dispatch} /> }
        }
        Dialog::CreatePod(node) => {
            let nodes = simulator.cluster().nodes();
            let nodes: Vec<AttrValue> =
                nodes.map(|(name, _)| AttrValue::from(name.as_str().to_owned())).collect();
            html! {
                <CreatePod node={AttrValue::from(node.clone())} {nodes}
                    options={simulator.validation_options()} {dispatch} />
            }
        }
    }
}
