//! Values of the engine's types from JSON: what was stored, sent, or is in hand as a tree.
//!
//! All of it goes through the decoder of manifests. `serde_json` would compile each type of the
//! engine once more, which is a twelfth of a page.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use taintlab_core::api::{Node, Pod, SharedPool, Workload};
use taintlab_core::scenario::Scenario;
use taintlab_core::slices::at_once;

use crate::decode::{Entering, Findings, decode};
use crate::diagnostic::{Position, Problem};
use crate::limits::{ImportOptions, Limits};
use crate::tree::{List, Place, Sink, Spanned, Split};
use crate::{foreign, json, memory};

/// Limits of what this program wrote itself: it may be as large as it was.
const OWN: ImportOptions = ImportOptions {
    limits: Limits {
        bytes: usize::MAX,
        depth: 200,
        nodes: usize::MAX,
        copies: usize::MAX,
        objects: usize::MAX,
    },
    keep_all: true,
};

/// The value of a JSON form.
///
/// # Errors
/// The JSON has not the form of the type; the text says what is wrong, and with which field.
pub fn typed<T: DeserializeOwned>(value: &Json) -> Result<T, String> {
    let tree = foreign::tree(value, OWN.limits.depth);
    value_of(tree.map_err(|problem| told(&problem)))
}

/// The value of a JSON text, such as one that [`serde_json`] wrote.
///
/// # Errors
/// The text is not one JSON value, or has not the form of the type; the text says what is wrong,
/// and where.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    value_of(parse(text, Split::Nothing).map(|(document, _)| document))
}

/// Reads a scenario likewise. Its nodes, pods and workloads are decoded one by one, so that a large
/// cluster is never in memory as a tree.
///
/// # Errors
/// Those of [`from_json`].
pub fn scenario_from_json(text: &str) -> Result<Scenario, String> {
    let (document, Reader { nodes, pods, workloads, .. }) = parse(text, Split::Scenario)?;
    let mut scenario: Scenario = value_of(Ok(document))?;
    let objects = &mut scenario.objects;
    (objects.nodes, objects.pods, objects.workloads) = (nodes, pods, workloads);
    Ok(scenario)
}

fn value_of<T: DeserializeOwned>(tree: Result<Spanned<'_>, String>) -> Result<T, String> {
    let mut findings = Findings::default();
    decode(&mut tree?, Entering::ALL, &mut findings).ok_or_else(|| first_of(&findings.errors))
}

/// The one document of a text, and the parts of it that were split off.
fn parse(text: &str, split: Split) -> Result<(Spanned<'_>, Reader<'_>), String> {
    let mut reader = Reader::default();
    at_once(json::parse(text, &OWN, split, &mut reader));
    match reader.document.take() {
        Some(document) if reader.problems.is_empty() => Ok((document, reader)),
        _ => Err(first_of(&reader.problems)),
    }
}

fn first_of(problems: &[Problem]) -> String {
    problems.first().map_or_else(|| "this must be exactly one value".to_owned(), told)
}

fn told(problem: &Problem) -> String {
    let Problem { position, path, message, .. } = problem;
    let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
    match *position {
        Position::START => format!("{path}{message}"),
        Position { line, column } => format!("{path}{message} (line {line}, column {column})"),
    }
}

/// A text as it is read.
#[derive(Default)]
struct Reader<'t> {
    document: Option<Spanned<'t>>,
    problems: Vec<Problem>,
    nodes: Vec<Arc<Node>>,
    pods: Vec<Arc<Pod>>,
    workloads: Vec<Workload>,
    shared: SharedPool,
}

impl<'t> Sink<'t> for Reader<'t> {
    fn object(&mut self, place: Place, mut node: Spanned<'t>, problems: Vec<Problem>) -> bool {
        self.problems.extend(problems);
        let mut findings = Findings::default();
        match place {
            Place::Of(List::Nodes) => {
                let node = decode(&mut node, Entering::ALL, &mut findings);
                self.nodes.extend(node.map(Arc::new));
            }
            Place::Of(List::Pods) => {
                memory::grow_ahead();
                if let Some(mut pod) = decode::<Pod>(&mut node, Entering::ALL, &mut findings) {
                    pod.share_parts(&mut self.shared);
                    self.pods.push(Arc::new(pod));
                }
            }
            Place::Of(List::Workloads) => {
                self.workloads.extend(decode(&mut node, Entering::ALL, &mut findings));
            }
            // A second document makes it none.
            _ if self.document.is_some() => self
                .problems
                .push(Problem::new(node.position, "there is more text after the value")),
            _ => self.document = Some(node),
        }
        self.problems.append(&mut findings.errors);
        self.problems.is_empty()
    }

    fn problem(&mut self, problem: Problem) -> bool {
        self.problems.push(problem);
        false
    }
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::Taint;

    use super::*;

    #[test]
    fn an_error_says_what_is_wrong_and_no_place() {
        let taint = serde_json::json!({ "key": "a", "effect": "NoExecute" });
        assert_eq!(typed::<Taint>(&taint).unwrap().key, "a");
        let error = typed::<Taint>(&serde_json::json!({ "key": 5 })).unwrap_err();
        assert_eq!(error, "key: expected a string, found the number `5`");
    }

    #[test]
    fn an_error_of_a_text_says_where_it_is() {
        assert_eq!(from_json::<Taint>(r#"{"key":"a","effect":"NoExecute"}"#).unwrap().key, "a");
        for (text, error) in [
            ("{\"key\":\n 5}", "key: expected a string, found the number `5` (line 2, column 2)"),
            ("", "this must be exactly one value"),
            ("{} {}", "there is more text after the value (line 1, column 4)"),
            ("{\"key\"", "key: expected `:` after a key (line 1, column 7)"),
        ] {
            assert_eq!(from_json::<Taint>(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn a_scenario_is_the_same_whether_it_is_decoded_whole_or_one_by_one() {
        let text = include_str!("../../examples/service-in-an-outage.yaml");
        let read =
            crate::read_scenario(text, "", ImportOptions::default(), &mut |_| Err(String::new()));
        let scenario = read.scenario.unwrap();
        assert!(!scenario.objects.nodes.is_empty() || !scenario.objects.node_groups.is_empty());
        let json = serde_json::to_string(&scenario).unwrap();
        assert_eq!(scenario_from_json(&json).unwrap(), scenario);
        assert_eq!(from_json::<Scenario>(&json).unwrap(), scenario);
        let wrong = json.replace("\"nodes\":[", "\"nodes\":[{\"metadata\":5},");
        assert!(scenario_from_json(&wrong).unwrap_err().starts_with("metadata: expected"));
    }
}
