//! `taintlab policy`: a policy about tolerations for admission.

use serde_json::{Value, json};
use taintlab_admission::{Misread, Settings, Target, policies};
use taintlab_answers::problem::{Problem, ProblemCode};
use taintlab_manifest::{Limits, read_value, to_yaml};

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
    Settings::read(&value)
        .map_err(|Misread(why)| Stop::failed(format!("{}: error: {why}", named(file))))
}
