//! Files and texts, imported and exported. `taintlab-manifest` says what they mean.

use std::rc::Rc;

use taintlab_core::api::{Pod, json_value};
use taintlab_core::command::Command;
use taintlab_core::lanes::{Lane, LaneSubject, Lanes};
use taintlab_core::order::{Order, OrderedSet};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::{Scenario, ScenarioMetadata, Step};
use taintlab_core::slices::at_once;
use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::{
    Diagnostic, Dropped, Extent, Format, Import, ImportOptions, ObjectOutcome, ObjectReport,
    Purpose, Severity, SvgOptions, export, import_in_slices, is_scenario_in_slices,
    read_scenario_in_slices, redact_scenario, timeline_svg, write_scenario,
};

use crate::samples;
use crate::session::{Edit, Session, set_release};
use crate::text::at;
use crate::view_models::board::Board;
use crate::view_models::board::density::Detail;
use crate::view_models::board::picture;
use crate::view_models::import_report::{Objects, Planned, State};
use crate::view_models::incident;
use crate::view_models::lanes::pieces;
use crate::view_models::selection::Selection;

/// The content of a text that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// A scenario.
    Scenario(Box<Scenario>),
    /// Objects; [`Reading`] tells the outcome of each apart from them.
    Objects(Box<Import>),
    /// Nothing usable.
    Nothing,
}

/// A text that was read, with all findings about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// The content.
    pub(crate) content: Content,
    /// Errors and warnings.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The outcome of each object.
    pub(crate) objects: Objects,
    /// The data that was dropped.
    pub(crate) dropped: Dropped,
}

/// Reads a manifest or a scenario file; `keep_all` also keeps data that the engine does not read.
pub(crate) fn read(text: &str, name: &str, keep_all: bool) -> Reading {
    at_once(read_in_slices(text, name, keep_all, &|_| {}))
}

/// [`read`] in slices; `watch` gets the number of objects read so far, if they are many.
pub(crate) async fn read_in_slices(
    text: &str,
    name: &str,
    keep_all: bool,
    watch: &dyn Fn(usize),
) -> Reading {
    let options = ImportOptions { keep_all, ..ImportOptions::default() };
    if is_scenario_in_slices(text).await {
        let mut load = |name: &str| {
            let sample = samples::all().find(|(known, _)| name.trim_end_matches(".yaml") == *known);
            let missing =
                || format!("the page cannot read `{name}`; put its objects into this file");
            sample.map(|(_, text)| text.to_owned()).ok_or_else(missing)
        };
        let read = read_scenario_in_slices(text, name, options, &mut load).await;
        let content = match read.scenario {
            Some(scenario) => Content::Scenario(Box::new(scenario)),
            None => Content::Nothing,
        };
        let objects = Objects::Read(Vec::new());
        return Reading { content, diagnostics: read.diagnostics, objects, dropped: read.dropped };
    }
    let mut read = import_in_slices(text, name, options, watch).await;
    let diagnostics = std::mem::take(&mut read.diagnostics);
    let objects = Objects::Read(std::mem::take(&mut read.objects));
    let dropped = read.dropped;
    let content = if read.is_empty() { Content::Nothing } else { Content::Objects(Box::new(read)) };
    Reading { content, diagnostics, objects, dropped }
}

/// The scenario of a text that must be one.
///
/// # Errors
/// The text is no scenario; the message is its first error.
pub(crate) fn scenario(name: &str, text: &str) -> Result<Scenario, String> {
    match read(text, name, false) {
        Reading { content: Content::Scenario(scenario), .. } => Ok(*scenario),
        Reading { diagnostics, .. } => Err(first_error(&diagnostics)),
    }
}

/// The scenario of a link, which contains all of its objects itself.
///
/// # Errors
/// The text is no scenario; the message is its first error.
pub(crate) async fn linked_scenario(json: &str) -> Result<Scenario, String> {
    let mut load = |name: &str| Err(format!("a link holds no file such as `{name}`"));
    let read = read_scenario_in_slices(json, "link", ImportOptions::default(), &mut load).await;
    read.scenario.ok_or_else(|| first_error(&read.diagnostics))
}

/// The sample cluster that the page begins with: the first of the [`samples`].
pub(crate) fn sample() -> Scenario {
    let sample = samples::all().next().and_then(|(name, text)| scenario(name, text).ok());
    sample.unwrap_or_default()
}

/// The first error as text; without one, that the file is empty.
fn first_error(diagnostics: &[Diagnostic]) -> String {
    let errors = || diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    errors().next().map_or_else(|| "the file is empty".to_owned(), ToString::to_string)
}

/// Scenarios by subject: the name and the metadata of each.
pub(crate) type Catalogue = Vec<(String, Vec<ScenarioMetadata>)>;

/// The examples by subject, as the page lists them.
pub(crate) fn catalogue() -> Catalogue {
    let about = |(name, text): &(&str, &str)| {
        scenario(name, text).map(|it| it.metadata).unwrap_or_default()
    };
    let subjects = samples::SUBJECTS.iter();
    subjects
        .map(|(subject, files)| ((*subject).to_owned(), files.iter().map(about).collect()))
        .collect()
}

/// A scenario of these objects, on the release that their nodes report if `own_release`, or on the
/// present one, and otherwise on the same Kubernetes as `like`.
pub(crate) fn start_with(
    read: Import,
    like: &Scenario,
    present: KubernetesRelease,
    own_release: bool,
) -> Scenario {
    let detected = read.detected_release().filter(|_| own_release);
    let release = detected.map_or(present, |detected| detected.release);
    let mut base = Scenario { kubernetes: like.kubernetes.clone(), ..Scenario::default() };
    set_release(&mut base, release);
    read.into_scenario(base)
}

/// The effect of adding an object, and the commands for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Addition {
    /// The effect.
    pub(crate) planned: Planned,
    /// The commands.
    pub(crate) commands: Vec<Command>,
}

/// The effect of adding these objects to the cluster; `objects` holds the outcome of reading each.
/// An object that exists is replaced.
pub(crate) fn additions(read: &Import, objects: &Objects, session: &Session) -> Vec<Addition> {
    let cluster = session.simulator().cluster();
    let mut nodes = read.nodes.iter();
    let mut pods = read.pods.iter();
    let mut budgets = read.budgets.iter();
    let mut workloads = read.workloads.iter();
    // The objects of each kind are in the order of the report.
    let mut change = |object: &ObjectReport| {
        let done = match (object.outcome, object.kind.as_str()) {
            (ObjectOutcome::LeftOut, _) => (State::LeftOut, vec![]),
            (ObjectOutcome::Kept, _) => return None,
            (ObjectOutcome::Read, "Node") => {
                let node = nodes.next()?;
                match cluster.get_node(&node.metadata.name) {
                    Some(old) if **old == *node => (State::Unchanged, vec![]),
                    Some(_) => (State::Replaced, vec![Command::UpdateNode(node.clone())]),
                    None => (State::Created, vec![Command::CreateNode(node.clone())]),
                }
            }
            (ObjectOutcome::Read, "Pod") => {
                let pod = pods.next()?;
                match cluster.get_pod(&pod.key()) {
                    Some(old) if **old == *pod => (State::Unchanged, vec![]),
                    Some(_) => (State::Replaced, replace_pod(pod.clone()).into()),
                    None => (State::Created, vec![Command::CreatePod(pod.clone())]),
                }
            }
            (ObjectOutcome::Read, "PodDisruptionBudget") => {
                let budget = budgets.next()?;
                match cluster.get_budget(&budget.key()) {
                    Some(old) if **old == *budget => (State::Unchanged, vec![]),
                    Some(_) => {
                        (State::Replaced, vec![Command::UpdateBudget(budget.clone().into())])
                    }
                    None => (State::Created, vec![Command::CreateBudget(budget.clone().into())]),
                }
            }
            (ObjectOutcome::Read, _) => {
                let workload = workloads.next()?;
                match cluster.get_workload(&workload.key()) {
                    Some(old) if **old == *workload => (State::Unchanged, vec![]),
                    Some(_) => {
                        (State::Replaced, vec![Command::UpdateWorkload(workload.clone().into())])
                    }
                    None => {
                        (State::Created, vec![Command::CreateWorkload(workload.clone().into())])
                    }
                }
            }
        };
        Some(done)
    };
    let objects = objects.reports().map(|object| {
        let (state, commands) = change(object).unwrap_or((State::LeftOut, vec![]));
        let why = match object.outcome {
            ObjectOutcome::Kept => "the simulation does not use objects of this kind",
            ObjectOutcome::Read | ObjectOutcome::LeftOut => "",
        };
        let planned = Planned { object: object.clone(), state, why: why.to_owned() };
        Addition { planned, commands }
    });
    objects.collect()
}

/// The commands that delete a pod and create it again as another one.
pub(crate) fn replace_pod(mut pod: Pod) -> [Command; 2] {
    let key = pod.key();
    pod.metadata.uid.clear();
    pod.metadata.creation_timestamp = None;
    [
        Command::DeletePod { pod: key, force: true, grace_period_seconds: None },
        Command::CreatePod(pod),
    ]
}

/// The cluster as it is now, as text.
pub(crate) fn cluster_text(session: &Session, purpose: Purpose, format: Format) -> String {
    let cluster = session.simulator().cluster();
    let nodes = cluster.nodes().map(|(_, node)| node.as_ref());
    let pods = cluster.pods().map(|(_, pod)| pod.as_ref());
    let workloads = cluster.workloads().filter(|(_, workload)| !workload.inferred);
    let workloads = workloads.map(|(_, workload)| json_value(workload.as_ref()));
    let budgets = cluster.budgets().map(|(_, budget)| json_value(budget.as_ref()));
    let mut others: Vec<serde_json::Value> = workloads.chain(budgets).flatten().collect();
    let mut begin: Vec<&serde_json::Value> =
        session.timeline().start.objects.others.iter().collect();
    if let Some(volumes) = cluster.volumes() {
        // Volumes as they are now, not as they were at the beginning.
        const KINDS: [&str; 4] =
            ["PersistentVolume", "PersistentVolumeClaim", "StorageClass", "VolumeAttachment"];
        begin.retain(|object| {
            !KINDS.iter().any(|kind| object.get("kind").is_some_and(|known| known == kind))
        });
        others.extend(volumes.classes().flat_map(|class| json_value(class.as_ref())));
        let all = volumes.persistent_volumes();
        others.extend(all.flat_map(|volume| json_value(volume.as_ref())));
        others.extend(volumes.claims().flat_map(|(_, claim)| json_value(claim.as_ref())));
        others.extend(volumes.attachments().flat_map(|(_, attachment)| json_value(attachment)));
    }
    if let Some(devices) = cluster.devices() {
        begin.retain(|object| {
            let version = object.get("apiVersion").and_then(serde_json::Value::as_str);
            !version.is_some_and(|version| version.starts_with("resource.k8s.io/"))
        });
        others.extend(devices.objects().flat_map(|object| json_value(object.as_ref())));
    }
    let others = others.iter().chain(begin);
    export(nodes, pods, others, purpose, format)
}

/// A scenario file of the initial state of a session and its edits.
///
/// In a scenario, the consequences of a step come after all steps of that instant, while an edit
/// takes effect immediately. So each edit gets an instant of its own, a nanosecond later if need
/// be.
pub(crate) fn scenario_text(scenario: Scenario, edits: &[Rc<Edit>]) -> String {
    write_scenario(&with_edits(scenario, edits))
}

/// A scenario with edits added to its own steps.
fn with_edits(mut scenario: Scenario, edits: &[Rc<Edit>]) -> Scenario {
    let mut taken: Option<Timestamp> = None;
    let begun = scenario.steps.iter().map(|step| step.at.timestamp()).collect::<Vec<_>>();
    for edit in edits {
        let mut at = edit.at.timestamp();
        // The cluster's own actions at the very beginning come before the first edit.
        let earliest = taken.or_else(|| begun.iter().rev().find(|step| **step <= at).copied());
        let earliest = earliest.unwrap_or(Timestamp::ZERO);
        if at <= earliest {
            at = earliest.saturating_add(std::time::Duration::from_nanos(1));
        }
        taken = Some(at);
        let step = |command: &Command| Step {
            at: Span::from(at),
            command: command.clone(),
            refused: None,
        };
        scenario.steps.extend(edit.commands.iter().map(step));
    }
    scenario.steps.order_by_key(|step| step.at);
    scenario
}

/// Lanes of a picture at most.
const MOST_LANES: u64 = 200;
const TOO_MANY_LANES: &str = "there are too many objects for a picture";

/// The lanes of a scenario as an SVG picture; `id` tells pictures of one page apart.
///
/// # Errors
/// The scenario does not run, or is too large for a picture.
pub(crate) fn picture(scenario: &Scenario, id: &str) -> Result<String, String> {
    if scenario.objects.nodes_and_pods() > MOST_LANES {
        return Err(TOO_MANY_LANES.to_owned());
    }
    let lanes = Lanes::of(scenario).map_err(|error| error.to_string())?;
    picture_of(&lanes, &scenario.metadata.title, id, None)
}

/// Lanes as an SVG picture, with a mark at the time `at`.
///
/// # Errors
/// The lanes are too many for a picture.
pub(crate) fn picture_of(
    lanes: &Lanes,
    title: &str,
    id: &str,
    at: Option<Timestamp>,
) -> Result<String, String> {
    if lanes.lanes.len() as u64 > MOST_LANES {
        return Err(TOO_MANY_LANES.to_owned());
    }
    Ok(timeline_svg(
        lanes,
        &SvgOptions { title: title.to_owned(), id: id.to_owned(), at, ..SvgOptions::default() },
    ))
}

/// The work of a session, as a scenario that repeats it.
pub(crate) fn as_scenario(session: &Session) -> Scenario {
    let timeline = session.timeline();
    with_edits(Scenario::clone(&timeline.start), &timeline.log)
}

/// A kind of export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportKind {
    /// The cluster as it is, to be imported again.
    State,
    /// The cluster for `kubectl apply`.
    Apply,
    /// The cluster as JSON.
    Json,
    /// The initial state and every change, as a scenario file.
    Scenario,
    /// The story of the incident, as Markdown.
    Incident,
}

/// An export: the name of its file, and its text.
pub(crate) fn export_as(session: &Session, what: ExportKind) -> (&'static str, String) {
    let cluster = |purpose, format| cluster_text(session, purpose, format);
    match what {
        ExportKind::State => ("cluster.yaml", cluster(Purpose::State, Format::Yaml)),
        ExportKind::Apply => ("cluster-apply.yaml", cluster(Purpose::Apply, Format::Yaml)),
        ExportKind::Json => ("cluster.json", cluster(Purpose::State, Format::Json)),
        ExportKind::Scenario => ("scenario.yaml", write_scenario(&as_scenario(session))),
        ExportKind::Incident => ("incident.md", incident::markdown(session)),
    }
}

/// A session as a scenario file for others: without data that the engine does not read.
///
/// # Errors
/// A part of it has no JSON form; nothing that was read lacks one.
pub(crate) fn shared_text(session: &Session) -> Result<String, String> {
    let mut scenario = as_scenario(session);
    redact_scenario(&mut scenario, Extent::Shown)?;
    Ok(write_scenario(&scenario))
}

/// The commands that apply the edited YAML of a selected node or pod; with `replaces`, a pod is
/// deleted and created again.
///
/// # Errors
/// The text is not that object alone; the diagnostics say why.
pub(crate) fn edited_object(
    selection: &Selection,
    text: &str,
    replaces: bool,
) -> Result<Vec<Command>, Vec<Diagnostic>> {
    match selection {
        Selection::Node(name) => one_object(text, "node", |mut read| {
            let node = read.nodes.pop()?;
            (is_empty(&read) && node.metadata.name == name.as_str())
                .then(|| vec![Command::UpdateNode(node)])
        }),
        Selection::Pod(key) => one_object(text, "pod", |mut read| {
            let pod = read.pods.pop()?;
            let is_it = is_empty(&read) && pod.key() == *key;
            is_it.then(|| match replaces {
                true => replace_pod(pod).into(),
                false => vec![Command::UpdatePod(pod)],
            })
        }),
        Selection::Zone(_) | Selection::Workload(_) | Selection::Pods(_) => {
            one_object(text, "object", |_| None)
        }
    }
}

fn is_empty(read: &Import) -> bool {
    read.nodes.is_empty() && read.pods.is_empty() && read.others.is_empty()
}

/// The object of a text that must be exactly that one, or the errors of the text.
fn one_object<T>(
    text: &str,
    what: &str,
    pick: impl FnOnce(Import) -> Option<T>,
) -> Result<T, Vec<Diagnostic>> {
    let name = format!("{what}.yaml");
    // All that is typed here is meant to be in the object.
    let Reading { content, diagnostics, .. } = read(text, &name, true);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let picked = match content {
        Content::Objects(read) => pick(*read),
        Content::Scenario(_) | Content::Nothing => None,
    };
    picked.ok_or_else(|| {
        vec![Diagnostic {
            severity: Severity::Error,
            file: name,
            line: 1,
            column: 1,
            path: String::new(),
            object: None,
            consequence: None,
            message: format!(
                "this must be the {what} itself, under its own name, and nothing else"
            ),
            help: Some("to create something else, use Import".to_owned()),
        }]
    })
}

/// The lanes of objects as a picture: the record, and the forecast in paler colours.
pub(crate) fn lanes_svg(session: &Session, subjects: &OrderedSet<LaneSubject>) -> String {
    let lanes = subjects.iter().map(|subject| Lane {
        subject: subject.clone(),
        segments: pieces(session, subject).into_iter().map(|(_, segment)| segment).collect(),
    });
    let lanes = Lanes {
        until: session.reached(),
        forecast_from: session.lanes_ahead().map(|_| session.reached()),
        lanes: lanes.filter(|lane| !lane.segments.is_empty()).collect(),
    };
    let title = session.timeline().start.metadata.title.clone();
    timeline_svg(
        &lanes,
        &SvgOptions { title, id: "l".into(), at: Some(session.home()), ..SvgOptions::default() },
    )
}

/// The board as a picture, with this much detail of each node.
pub(crate) fn board_svg(session: &Session, board: &Board, detail: Detail) -> String {
    let title = &session.timeline().start.metadata.title;
    let release = session.simulator().config().release;
    let moment = format!("{}, Kubernetes {release}", at(session.now()));
    picture::picture(board, detail, title, &moment)
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Taint, TaintEffect};

    use super::*;

    #[test]
    fn the_page_begins_with_the_sample_cluster() {
        assert_eq!(sample().metadata.name, "sample-cluster");
    }

    #[test]
    fn every_sample_runs() {
        for (name, text) in samples::all() {
            let scenario = scenario(name, text).unwrap();
            assert!(!scenario.metadata.title.is_empty(), "{name}");
            let mut session = Session::new(scenario.clone()).unwrap();
            session.run_to_end();
            assert!(
                !session.simulator().cluster().nodes().len() == 0
                    || !session.rows().is_empty()
                    || scenario.steps.is_empty()
            );
        }
        let catalogue = catalogue();
        let listed = catalogue.iter().flat_map(|(_, scenarios)| scenarios);
        let listed: Vec<_> = listed.map(|about| about.name.as_str()).collect();
        let all: Vec<_> = samples::all().map(|(name, _)| name).collect();
        assert_eq!(listed, all);
    }

    /// An exported session does the same as the page showed, also when edits share an instant.
    #[test]
    fn an_exported_session_gives_the_same_evictions() {
        let mut session = Session::new(sample()).unwrap();
        let taint = Taint::new("example.com/x", "", TaintEffect::NoExecute);
        let tainted = |node: &str| Command::Taint { node: node.into(), taint: taint.clone() };
        session.apply(vec![tainted("worker-1")]).unwrap();
        let untaint = Command::Untaint {
            node: "worker-1".into(),
            key: "example.com/x".into(),
            effect: TaintEffect::Empty,
        };
        session.apply(vec![untaint]).unwrap();
        session.apply(vec![tainted("worker-2")]).unwrap();
        session.run_to_end();
        let read = scenario("export.yaml", &export_as(&session, ExportKind::Scenario).1).unwrap();
        let mut again = Session::new(read).unwrap();
        again.run_to_end();
        let evicted = |session: &Session| -> Vec<_> {
            session.gone().iter().map(|gone| gone.pod.clone()).collect()
        };
        assert!(!evicted(&session).is_empty());
        assert_eq!(evicted(&again), evicted(&session));
    }

    #[test]
    fn an_incident_is_told_in_the_order_of_time() {
        let name = "why-345-seconds";
        let (_, text) = samples::all().find(|(known, _)| *known == name).unwrap();
        let mut session = Session::new(scenario(name, text).unwrap()).unwrap();
        session.seek(Timestamp::from_secs(400));
        let told = export_as(&session, ExportKind::Incident).1;
        let parts = [
            "# Why 345 seconds and not 300?",
            "Kubernetes 1.31, 3 nodes, 1 pod. Times count from 2020-01-01T00:00:00Z.",
            "- at 3s: *The kubelet of `worker-1` stops.",
            "- at 40.033s: `node/worker-1` NodeNotReady: ",
            "- at 46s: *The check after that",
            "- at 5m45.1s: `pod/default/web-0` TaintManagerEviction: Marking for deletion",
        ];
        let mut from = 0;
        for part in parts {
            let found = told.get(from..).and_then(|rest| rest.find(part));
            from += found.unwrap_or_else(|| panic!("{part} is not in, or not in order: {told}"));
        }
        // Evictions are counted once, whether the run has ended or not.
        let counted = |told: &str| -> Vec<String> {
            told.lines().filter(|line| line.contains(" evicted")).map(str::to_owned).collect()
        };
        let ended = session.simulator().outcome().unwrap();
        assert_eq!(counted(&told), [ended.to_string()]);
        session.seek(Timestamp::from_secs(300));
        let told = export_as(&session, ExportKind::Incident).1;
        assert_eq!(counted(&told), ["At 5m0s: 0 pods evicted."]);
    }

    /// Events from the start of a healthy cluster are only counted.
    #[test]
    fn an_incident_begins_with_what_was_done() {
        let mut session = Session::new(sample()).unwrap();
        session.seek(Timestamp::from_secs(30));
        session.apply(vec![Command::StopKubelet { node: "worker-1".into() }]).unwrap();
        session.seek(Timestamp::from_secs(120));
        let told = export_as(&session, ExportKind::Incident).1;
        let first = told.lines().find(|line| line.starts_with("- ")).unwrap();
        assert_eq!(first, "- at 30s: **stop the kubelet of worker-1**");
        for start in ["RegisteredNode", "SuccessfulCreate", "Starting", "Scheduled:"] {
            let before = told.split(first).next().unwrap();
            assert!(!before.contains(start), "{start}: {told}");
        }
        assert!(told.contains("of the start left out."), "{told}");
        assert!(told.contains("NodeNotReady"), "{told}");
    }

    #[test]
    fn a_text_is_a_scenario_or_objects_or_nothing() {
        let node = "{apiVersion: v1, kind: Node, metadata: {name: a}}";
        assert!(matches!(read(node, "a", false).content, Content::Objects(_)));
        let nothing = read("hello", "a", false);
        assert_eq!(nothing.content, Content::Nothing);
        assert!(!nothing.diagnostics.is_empty());
        assert!(matches!(
            read(samples::all().next().unwrap().1, "a", false).content,
            Content::Scenario(_)
        ));
    }

    #[test]
    fn adding_replaces_existing_objects_and_leaves_equal_ones() {
        let session = Session::new(sample()).unwrap();
        let text = cluster_text(&session, Purpose::State, Format::Yaml);
        let added = |text: &str| match read(text, "a", true) {
            Reading { content: Content::Objects(read), objects, .. } => {
                additions(&read, &objects, &session)
            }
            other => panic!("{other:?}"),
        };
        let all = added(&text);
        assert!(all.iter().all(|one| one.planned.state == State::Unchanged), "{all:?}");
        let changed = "{kind: List, apiVersion: v1, items: [\
            {apiVersion: v1, kind: Pod, metadata: {name: postgres-0, namespace: data}, \
                spec: {containers: [{name: c, image: i}]}}, \
            {apiVersion: v1, kind: Node, metadata: {name: new}}, \
            {apiVersion: v1, kind: Service, metadata: {name: s}}]}";
        let changes = added(changed).into_iter();
        let changes: Vec<_> = changes.map(|one| (one.planned.state, one.commands)).collect();
        assert!(matches!(
            changes.as_slice(),
            [
                (State::Replaced, pod),
                (State::Created, node),
                (State::LeftOut, service),
            ] if matches!(
                pod.as_slice(),
                [Command::DeletePod { force: true, .. }, Command::CreatePod(_)]
            ) && matches!(node.as_slice(), [Command::CreateNode(_)]) && service.is_empty()
        ));
    }
}
