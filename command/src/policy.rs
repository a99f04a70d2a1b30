//! `taintlab policy`: a policy about tolerations for admission.

use serde_json::{Value, json};
use taintlab_admission::{Misread, Settings, Target, policies};
use taintlab_answers::problem::{Problem, ProblemCode};
use taintlab_manifest::{Limits, Sought, places_of, read_value, to_yaml};

use crate::host::Host;
use crate::json;
use crate::line::PolicyLine;
use crate::options::one_of;
use crate::reading::{files_of, named, objects_of, read_text};
use crate::stop::{Done, OK, Stop};

pub(crate) fn policy(host: &dyn Host, line: &PolicyLine) -> Done<u8> {
    let target = match one_of("--as", &line.target, &["vap", "kyverno", "kubewarden"])? {
        "kyverno" => Target::Kyverno,
        "kubewarden" => Target::Kubewarden,
        _ => Target::ValidatingAdmissionPolicy,
    };
    let mut settings = match &line.settings {
        Some(file) => read(host, file)?,
        None => Settings::default(),
    };
    if !line.nodes.is_empty() {
        let (import, _) = objects_of(host, files_of(&line.nodes, "policy")?)?;
        if import.nodes.is_empty() {
            return Err(Stop::failed("error: --nodes: there is no node"));
        }
        for taint in import.nodes.into_iter().flat_map(|node| node.spec.taints) {
            settings.add_taint(taint);
        }
    }
    let manifests =
        policies(target, &settings).map_err(|why| Stop::usage(format!("--as: {why}")))?;
    if line.json {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
        host.out(&(json::lines(&list) + "\n"));
        return Ok(OK);
    }
    let documents: Result<Vec<String>, _> = manifests.iter().map(to_yaml).collect();
    let documents = documents.map_err(|why| Stop::failed(format!("error: {why}")))?;
    host.out(&documents.join("---\n"));
    Ok(OK)
}

fn read(host: &dyn Host, file: &str) -> Done<Settings> {
    let text = read_text(host, file)?;
    let value: Value = read_value(&text, named(file), &Limits::default()).map_err(|wrong| {
        let problem = |it| Problem::of_diagnostic(it, ProblemCode::InvalidManifest);
        Stop::problems(&wrong.into_iter().map(problem).collect::<Vec<_>>())
    })?;
    Settings::read(&value).map_err(|Misread(why)| {
        let place = place_of(&text, &why).map(|(line, column)| format!(":{line}:{column}"));
        let place = place.unwrap_or_default();
        Stop::failed(format!("{}{place}: error: {why}", named(file)))
    })
}

/// Line and column of the field that a message begins with, or of the unknown one that it quotes.
fn place_of(text: &str, message: &str) -> Option<(u32, u32)> {
    let field = message.split_once(": ").map_or("", |(field, _)| field);
    let quoted = message.split('`').nth(1).unwrap_or_default();
    let fields = vec![field.to_owned(), format!("{field}.{quoted}")];
    places_of(text, &[Sought { fields, ..Sought::default() }]).first().copied().flatten()
}
