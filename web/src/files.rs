//! Files and texts, in and out. What they mean, `taintlab-manifest` says.

use serde_json::to_value;
use taintlab_core::api::{Node, Pod};
use taintlab_core::command::Command;
use taintlab_core::scenario::{Scenario, ScenarioMetadata, Step};
use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::{
    Diagnostic, Format, Import, Limits, Purpose, Severity, export, import, is_scenario,
    read_scenario, to_yaml, write_scenario,
};

use crate::app::Export;
use crate::samples;
use crate::session::Session;

/// What a text turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// A scenario.
    Scenario(Box<Scenario>),
    /// Objects.
    Objects(Box<Import>),
    /// Nothing that can be used.
    Nothing,
}

/// A text that was read, with everything there is to say about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// What it is.
    pub(crate) content: Content,
    /// What is wrong with it.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads a manifest or a scenario file.
pub(crate) fn read(text: &str, name: &str) -> Reading {
    let limits = Limits::default();
    if is_scenario(text) {
        let mut load = |name: &str| {
            let sample = samples::all().find(|(known, _)| name.trim_end_matches(".yaml") == *known);
            let missing =
                || format!("the page cannot read `{name}`; put its objects into this file");
            sample.map(|(_, text)| text.to_owned()).ok_or_else(missing)
        };
        let read = read_scenario(text, name, &limits, &mut load);
        let content = match read.scenario {
            Some(scenario) => Content::Scenario(Box::new(scenario)),
            None => Content::Nothing,
        };
        return Reading { content, diagnostics: read.diagnostics };
    }
    let mut read = import(text, name, &limits);
    let diagnostics = std::mem::take(&mut read.diagnostics);
    let content = if read.is_empty() { Content::Nothing } else { Content::Objects(Box::new(read)) };
    Reading { content, diagnostics }
}

/// The scenario of a text that must be one.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn scenario(name: &str, text: &str) -> Result<Scenario, String> {
    match read(text, name) {
        Reading { content: Content::Scenario(scenario), .. } => Ok(*scenario),
        Reading { diagnostics, .. } => Err(first_error(&diagnostics)),
    }
}

/// The first error as text.
fn first_error(diagnostics: &[Diagnostic]) -> String {
    let errors = || diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    errors().next().map_or_else(|| "there is nothing in here".to_owned(), ToString::to_string)
}

/// Scenarios by subject: of each its name and what it is about.
pub(crate) type Catalogue = Vec<(&'static str, Vec<(&'static str, ScenarioMetadata)>)>;

/// The scenarios that come with the page.
pub(crate) fn catalogue() -> Catalogue {
    let metadata = |(name, text): &(&'static str, &str)| {
        scenario(name, text).ok().map(|scenario| (*name, scenario.metadata))
    };
    let subjects = samples::SUBJECTS.iter();
    subjects
        .map(|(subject, files)| (*subject, files.iter().filter_map(metadata).collect()))
        .collect()
}

/// A scenario of these objects, on the same Kubernetes as `like`.
pub(crate) fn start_with(read: Import, like: &Scenario) -> Scenario {
    let mut scenario = Scenario { kubernetes: like.kubernetes.clone(), ..Scenario::default() };
    scenario.objects.nodes = read.nodes;
    scenario.objects.pods = read.pods;
    scenario.objects.workloads = read.workloads;
    scenario.objects.budgets = read.budgets;
    scenario.objects.others = read.others;
    scenario
}

/// What adds these objects to the cluster. An object that is there already is replaced.
pub(crate) fn commands_to_add(read: Import, session: &Session) -> Vec<Command> {
    let cluster = session.simulator().cluster();
    let mut commands = Vec::new();
    for node in read.nodes {
        commands.push(match cluster.get_node(&node.metadata.name) {
            Some(old) if **old == node => continue,
            Some(_) => Command::UpdateNode(node),
            None => Command::CreateNode(node),
        });
    }
    for pod in read.pods {
        match cluster.get_pod(&pod.key()) {
            Some(old) if **old == pod => {}
            Some(_) => commands.extend(replace_pod(pod)),
            None => commands.push(Command::CreatePod(pod)),
        }
    }
    for workload in read.workloads.into_iter().map(Box::new) {
        commands.push(match cluster.get_workload(&workload.key()) {
            Some(old) if **old == *workload => continue,
            Some(_) => Command::UpdateWorkload(workload),
            None => Command::CreateWorkload(workload),
        });
    }
    for budget in read.budgets.into_iter().map(Box::new) {
        commands.push(match cluster.get_budget(&budget.key()) {
            Some(old) if **old == *budget => continue,
            Some(_) => Command::UpdateBudget(budget),
            None => Command::CreateBudget(budget),
        });
    }
    commands
}

/// Deletes a pod and creates it again as another one.
pub(crate) fn replace_pod(mut pod: Pod) -> [Command; 2] {
    let key = pod.key();
    pod.metadata.uid.clear();
    pod.metadata.creation_timestamp = None;
    [
        Command::DeletePod { pod: key, force: true, grace_period_seconds: None },
        Command::CreatePod(pod),
    ]
}

/// The cluster as it is now.
pub(crate) fn cluster_text(session: &Session, purpose: Purpose, format: Format) -> String {
    let cluster = session.simulator().cluster();
    let nodes = cluster.nodes().map(|(_, node)| node.as_ref());
    let pods = cluster.pods().map(|(_, pod)| pod.as_ref());
    let workloads = cluster.workloads().filter(|(_, workload)| !workload.assumed);
    let workloads = workloads.map(|(_, workload)| to_value(workload.as_ref()));
    let budgets = cluster.budgets().map(|(_, budget)| to_value(budget.as_ref()));
    let others: Vec<serde_json::Value> = workloads.chain(budgets).flatten().collect();
    let others = others.iter().chain(&session.timeline().start.objects.others);
    export(nodes, pods, others, purpose, format)
}

/// The session as a scenario file: where it began, its steps and edits.
///
/// In a scenario, what follows from a step comes after all steps of that instant, while an edit
/// takes effect at once. So each edit gets an instant of its own, a nanosecond later if need be.
pub(crate) fn scenario_text(session: &Session) -> String {
    let timeline = session.timeline();
    let mut scenario = Scenario::clone(&timeline.start);
    let mut taken: Option<Timestamp> = None;
    let begun = scenario.steps.iter().map(|step| step.at.timestamp()).collect::<Vec<_>>();
    for edit in &timeline.log {
        let mut at = edit.at.timestamp();
        // What the cluster does by itself at the very beginning comes before the first edit.
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
    scenario.steps.sort_by_key(|step| step.at);
    write_scenario(&scenario)
}

/// What is handed out: the name of a file, and its text.
pub(crate) fn export_as(session: &Session, what: Export) -> (&'static str, String) {
    let cluster = |purpose, format| cluster_text(session, purpose, format);
    match what {
        Export::State => ("cluster.yaml", cluster(Purpose::State, Format::Yaml)),
        Export::Apply => ("cluster-apply.yaml", cluster(Purpose::Apply, Format::Yaml)),
        Export::Json => ("cluster.json", cluster(Purpose::State, Format::Json)),
        Export::Scenario => ("scenario.yaml", scenario_text(session)),
    }
}

/// One object as YAML.
pub(crate) fn node_text(node: &Node) -> String {
    to_yaml(node).unwrap_or_default()
}

/// One object as YAML.
pub(crate) fn pod_text(pod: &Pod) -> String {
    to_yaml(pod).unwrap_or_default()
}

/// What is wrong with a text that is to be exactly one object, or that object.
pub(crate) fn one_object<T>(
    text: &str,
    what: &str,
    pick: impl FnOnce(Import) -> Option<T>,
) -> Result<T, Vec<Diagnostic>> {
    let name = format!("{what}.yaml");
    let Reading { content, diagnostics } = read(text, &name);
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
            message: format!(
                "this must be the {what} itself, under its own name, and nothing else"
            ),
            help: Some("to create something else, use Import".to_owned()),
        }]
    })
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Taint, TaintEffect};

    use super::*;
    use crate::sample::sample;

    #[test]
    fn the_page_begins_with_the_sample_cluster() {
        let (name, text) = samples::all().next().unwrap();
        assert_eq!(Ok(sample()), scenario(name, text));
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
        let listed = catalogue().iter().map(|(_, scenarios)| scenarios.len()).sum::<usize>();
        assert_eq!(listed, samples::all().count());
    }

    /// What the page exports says the same as what it showed, also when edits share an instant.
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
        let read = scenario("export.yaml", &scenario_text(&session)).unwrap();
        let mut again = Session::new(read).unwrap();
        again.run_to_end();
        let evicted = |session: &Session| -> Vec<_> {
            session.gone().iter().map(|gone| gone.pod.clone()).collect()
        };
        assert!(!evicted(&session).is_empty());
        assert_eq!(evicted(&again), evicted(&session));
    }

    #[test]
    fn a_text_is_a_scenario_or_objects_or_nothing() {
        let node = "{apiVersion: v1, kind: Node, metadata: {name: a}}";
        assert!(matches!(read(node, "a").content, Content::Objects(_)));
        let nothing = read("hello", "a");
        assert_eq!(nothing.content, Content::Nothing);
        assert!(!nothing.diagnostics.is_empty());
        assert!(matches!(
            read(samples::all().next().unwrap().1, "a").content,
            Content::Scenario(_)
        ));
    }

    #[test]
    fn adding_replaces_what_is_there_and_leaves_what_is_the_same() {
        let session = Session::new(sample()).unwrap();
        let text = cluster_text(&session, Purpose::State, Format::Yaml);
        let Content::Objects(read) = read(&text, "a").content else { panic!("objects") };
        assert_eq!(commands_to_add(Import::clone(&read), &session), []);
        let mut changed = Import::clone(&read);
        changed.pods.truncate(1);
        changed.pods[0].spec.tolerations.clear();
        changed.nodes.truncate(1);
        changed.nodes[0].metadata.name = "new".into();
        let commands = commands_to_add(changed, &session);
        assert!(matches!(
            commands.as_slice(),
            [Command::CreateNode(_), Command::DeletePod { force: true, .. }, Command::CreatePod(_)]
        ));
    }
}
