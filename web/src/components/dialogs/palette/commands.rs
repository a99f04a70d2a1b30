//! The commands of the palette: every command with a key, and every action that is possible now.

use std::rc::Rc;

use taintlab_core::api::{Taint, WorkloadKind};
use taintlab_core::command::Command as Edit;
use taintlab_core::protocol::zone::ZoneKey;
use taintlab_core::release::KubernetesRelease;
use yew::prelude::*;

use crate::components::dialogs::Asked;
use crate::components::dialogs::export::{KINDS, PICTURES};
use crate::components::panels::faults::{fault_of_zone, faults_of, reports_of};
use crate::components::parts::taint_editor::{QUICK, quick_taints};
use crate::keyboard::SHORTCUTS;
use crate::messages::{Dialog, Dispatch, ExportTarget, Msg, refused};
use crate::session::{MarkKind, StartChange};
use crate::text::at;
use crate::view_models::board::density::Density;
use crate::view_models::display::Category;
use crate::view_models::inspector_model::{InspectedNode, InspectedPod, InspectorModel};
use crate::view_models::lanes::{LanesMsg, Picture, subject_of};
use crate::view_models::runs::BranchMsg;
use crate::view_models::selection::Selection;

/// A command.
#[derive(Clone)]
pub(crate) struct Command {
    /// The name of the command.
    pub(crate) words: AttrValue,
    /// The keys that run the command too.
    pub(crate) keys: &'static [&'static str],
    /// Makes the command's message.
    pub(crate) does: Rc<dyn Fn() -> Msg>,
}

/// Commands are equal if their names are.
impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

/// Commands that are being collected.
#[derive(Default)]
struct Commands(Vec<Command>);

impl Commands {
    fn add(&mut self, words: impl Into<AttrValue>, does: impl Fn() -> Msg + 'static) {
        self.0.push(Command { words: words.into(), keys: &[], does: Rc::new(does) });
    }

    /// Adds an edit of an object. If it is refused, a notice tells why.
    fn edit(&mut self, of: &str, words: &str, commands: Vec<Edit>, dispatch: &Dispatch) {
        let refused = refused(dispatch);
        self.add(format!("{of}: {words}"), move || Msg::Edit(commands.clone(), refused.clone()));
    }
}

/// All commands that are possible now.
pub(crate) fn commands(asked: &Asked<'_>) -> Vec<Command> {
    let mut all = Commands::default();
    for row in SHORTCUTS.iter().filter(|row| row.is_command()) {
        if let Some(does) = row.does() {
            let words = AttrValue::from(row.meaning);
            all.0.push(Command { words, keys: row.keys, does: Rc::new(does) });
        }
    }
    of_selection(&mut all, asked);
    of_work(&mut all, asked);
    exports(&mut all);
    of_page(&mut all, asked);
    scenarios(&mut all, asked);
    objects(&mut all, asked);
    all.0
}

/// Adds the actions on the selection.
fn of_selection(all: &mut Commands, asked: &Asked<'_>) {
    let Some(selection) = asked.selection.cloned() else { return };
    match asked.inspector {
        InspectorModel::Node(node) => of_node(all, node, asked.dispatch),
        InspectorModel::Pod(pod) => of_pod(all, pod, asked.dispatch),
        InspectorModel::Zone(zone) => {
            let name = ZoneKey::from(&*zone.key).name();
            let cut = zone.rates.as_ref().is_some_and(|rates| rates.network_cut);
            let fault = fault_of_zone(&name, cut);
            all.edit(&name, fault.words, fault.commands, asked.dispatch);
            let board = asked.board.zones.iter().find(|board| board.key == zone.key);
            let nodes = || board.into_iter().flat_map(|board| &board.nodes).filter(|it| it.exists);
            for (key, effect) in QUICK {
                let taint = Taint::new(key, "", effect);
                let words = format!("taint all nodes {taint}");
                let commands = nodes().map(|node| {
                    let (node, taint) = (node.name.clone(), taint.clone());
                    Edit::Taint { node, taint }
                });
                all.edit(&name, &words, commands.collect(), asked.dispatch);
            }
        }
        InspectorModel::Workload(track, _) => {
            let (workload, desired) = (&track.view.workload, track.view.desired);
            let scaled = matches!(
                workload.kind,
                WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::StatefulSet
            );
            let sizes = [desired.saturating_add(1), desired.saturating_sub(1)];
            let sizes = sizes.into_iter().filter_map(|size| u32::try_from(size).ok());
            for replicas in sizes.filter(|_| scaled) {
                let words = format!("Scale to {replicas}");
                let command = Edit::Scale { workload: workload.clone(), replicas };
                all.edit(&workload.to_string(), &words, vec![command], asked.dispatch);
            }
        }
        InspectorModel::Overview(_) | InspectorModel::Pods(_) | InspectorModel::Gone(..) => {}
    }
    if let Some(subject) = subject_of(&selection)
        && !asked.lanes.wanted.pins.contains(&subject)
    {
        let words = format!("Keep {} at the top of the lanes", subject.name());
        all.add(words, move || Msg::Lanes(LanesMsg::Pin(subject.clone())));
    }
    all.add("Warnings about what is selected", move || {
        Msg::Open(Dialog::Warnings(Some(selection.clone())))
    });
    all.add("Select nothing", || Msg::Select(None));
}

fn of_node(all: &mut Commands, node: &InspectedNode, dispatch: &Dispatch) {
    let view = &node.view;
    let (name, of) = (view.name.clone(), view.name.as_str());
    if !view.exists {
        return;
    }
    for fault in faults_of(&name, node.kubelet.as_deref()) {
        all.edit(of, fault.words, fault.commands, dispatch);
    }
    for (words, is_bad, command) in reports_of(node) {
        let words = if is_bad { format!("report no {words}") } else { format!("report {words}") };
        all.edit(of, &words, vec![command], dispatch);
    }
    for (taint, has, command) in quick_taints(&name, &view.taints) {
        let words = if has { format!("untaint {taint}") } else { format!("taint {taint}") };
        all.edit(of, &words, vec![command], dispatch);
    }
    let unschedulable = !view.unschedulable;
    let words = if unschedulable { "Cordon" } else { "Uncordon" };
    let cordon = Edit::SetUnschedulable { node: name.clone(), unschedulable };
    all.edit(of, words, vec![cordon], dispatch);
    all.edit(of, "Delete", vec![Edit::DeleteNode { node: name.clone() }], dispatch);
    all.add(format!("{of}: Create a pod on it"), move || {
        Msg::Open(Dialog::CreatePod(name.as_str().into()))
    });
}

fn of_pod(all: &mut Commands, pod: &InspectedPod, dispatch: &Dispatch) {
    let key = &pod.view.key;
    let delete =
        |force| vec![Edit::DeletePod { pod: key.clone(), force, grace_period_seconds: None }];
    all.edit(key.name(), "Delete", delete(false), dispatch);
    all.edit(key.name(), "Force delete", delete(true), dispatch);
    let evict = vec![Edit::EvictPod { pod: key.clone(), grace_period_seconds: None }];
    all.edit(key.name(), "Evict, as kubectl drain does", evict, dispatch);
    let node = pod.view.node.clone();
    if !node.is_empty() {
        all.add(format!("{}: Select its node", key.name()), move || {
            Msg::Select(Some(Selection::Node(node.as_str().into())))
        });
    }
}

/// Adds branches, releases and bookmarks.
fn of_work(all: &mut Commands, asked: &Asked<'_>) {
    let work = asked.work;
    for branch in work.branches.iter().filter(|branch| branch.id != work.branch) {
        let id = branch.id;
        all.add(format!("Switch to branch “{}”", branch.name), move || {
            Msg::Branch(BranchMsg::Switch(id))
        });
    }
    all.add("Fork: begin a branch here", || Msg::Branch(BranchMsg::Fork));
    for (index, bookmark) in work.start.bookmarks.iter().enumerate() {
        let words = format!("Bookmark {}: {}", at(bookmark.at.timestamp()), bookmark.note);
        all.add(words, move || Msg::Tell(Some(index)));
    }
    for release in KubernetesRelease::all().rev().filter(|release| *release != work.release) {
        all.add(format!("Run on Kubernetes {release}"), move || {
            Msg::ChangeStart(StartChange::Release(release))
        });
    }
}

fn exports(all: &mut Commands) {
    for (kind, name, _) in KINDS {
        for (verb, target) in [("Download", ExportTarget::Download), ("Copy", ExportTarget::Copy)] {
            all.add(format!("{verb}: {name}"), move || Msg::Export(kind, target));
        }
    }
    for (of, name, _) in PICTURES {
        for (format, picture) in [("SVG", Picture::Svg), ("PNG", Picture::Png)] {
            all.add(format!("Download: {name}, {format}"), move || Msg::Picture(of, picture));
        }
    }
}

/// Adds switches for parts of the page: marks, lanes, the log, nodes.
fn of_page(all: &mut Commands, asked: &Asked<'_>) {
    for kind in MarkKind::ALL {
        let kind_words = kind.words().to_ascii_lowercase();
        let words = if asked.work.hidden.contains(&kind) {
            format!("Timeline: show {kind_words}")
        } else {
            format!("Timeline: hide {kind_words}")
        };
        all.add(words, move || Msg::ToggleKind(kind));
    }
    for subject in &asked.lanes.wanted.pins {
        let subject = subject.clone();
        let words = format!("Keep {} no longer at the top of the lanes", subject.name());
        all.add(words, move || Msg::Lanes(LanesMsg::Pin(subject.clone())));
    }
    let changed = if asked.lanes.wanted.changed {
        "Lanes: show unchanged lanes"
    } else {
        "Lanes: hide unchanged lanes"
    };
    for (words, msg) in [
        ("Lanes: a shorter time", LanesMsg::Zoom(0.5, None)),
        ("Lanes: a longer time", LanesMsg::Zoom(2.0, None)),
        ("Lanes: an earlier time", LanesMsg::Pan(-0.25)),
        ("Lanes: a later time", LanesMsg::Pan(0.25)),
        ("Lanes: fold all nodes", LanesMsg::FoldAll(true)),
        ("Lanes: unfold all nodes", LanesMsg::FoldAll(false)),
        (changed, LanesMsg::ToggleChanged),
    ] {
        all.add(words, move || Msg::Lanes(msg.clone()));
    }
    for (category, name) in
        [(Category::Event, "Events"), (Category::Change, "Changes"), (Category::Fact, "Decisions")]
    {
        let shown = asked.log.categories.contains(&category);
        let words = if shown { "hide" } else { "show" };
        all.add(format!("Event log: {words} {name}"), move || Msg::ToggleLog(category));
    }
    if asked.log.only_selected {
        all.add("Event log: show everything", || Msg::ToggleLogSelected);
    } else if asked.selection.is_some() {
        all.add("Event log: only what is selected", || Msg::ToggleLogSelected);
    }
    let nodes = asked.board.totals.nodes;
    for density in Density::ALL.into_iter().filter(|density| density.is_possible(nodes)) {
        all.add(format!("Board: {}", density.word()), move || Msg::SetDensity(density));
    }
}

/// Adds a command to select each node, and each pod that is drawn.
fn objects(all: &mut Commands, asked: &Asked<'_>) {
    let zones = asked.board.zones.iter();
    let nodes = || zones.clone().flat_map(|zone| &zone.nodes);
    for node in nodes() {
        let name = node.name.clone();
        all.add(format!("Select node {name}"), move || {
            Msg::Select(Some(Selection::Node(name.clone())))
        });
    }
    for pod in nodes().flat_map(|node| &node.pods).chain(&asked.board.pending) {
        let key = pod.key.clone();
        all.add(format!("Select pod {key}"), move || {
            Msg::Select(Some(Selection::Pod(key.clone())))
        });
    }
}

fn scenarios(all: &mut Commands, asked: &Asked<'_>) {
    for about in asked.catalogue.iter().flat_map(|(_, scenarios)| scenarios) {
        let name = about.name.clone();
        all.add(format!("Scenario: {}", about.title), move || Msg::OpenExample(name.clone()));
    }
}
