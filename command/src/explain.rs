//! `taintlab explain`: how tolerations answer taints.

use serde::Serialize;
use serde_json::Value;
use taintlab_answers::options::ReleaseOptions;
use taintlab_core::api::{Taint, TaintEffect, Toleration};
use taintlab_core::policy::matching::{Explanation, explain as matched};
use taintlab_core::policy::validation::{ValidationOptions, validate_tolerations};
use taintlab_core::release::KubernetesRelease;
use taintlab_words::matching::explanation;

use crate::cluster::{NotRead, PodRead, key_of, no_node, pod_named, read_pod_and_node};
use crate::host::Host;
use crate::json;
use crate::line::{ExplainLine, PluginExplain};
use crate::options::{json as parse, release, taint, value};
use crate::run::{Simulated, tell};
use crate::stop::{Done, OK, Stop};

/// A toleration in the short form of the command line, or as JSON, that the API server takes.
fn toleration(text: &str, options: &ValidationOptions) -> Done<Toleration> {
    let toleration = match text.starts_with('{') {
        true => value(&format!("--toleration {text}"), parse("--toleration", text)?)?,
        false => short(text)?,
    };
    let errors = validate_tolerations(std::slice::from_ref(&toleration), "", options);
    match errors.first() {
        Some(error) => {
            let why = error.to_string();
            let why = why.trim_start_matches("[0].");
            Err(Stop::usage(format!("--toleration {text}: the API server refuses it: {why}")))
        }
        None => Ok(toleration),
    }
}

/// A toleration in the short form of the command line.
fn short(text: &str) -> Done<Toleration> {
    let wrong = || {
        let wanted = "expected key=value:effect@seconds, or * for every key";
        Stop::usage(format!("--toleration: {wanted}, found `{text}`"))
    };
    let (body, seconds) = match text.rsplit_once('@') {
        Some((body, seconds)) => (body, Some(seconds.parse().map_err(|_| wrong())?)),
        None => (text, None),
    };
    let mut parts = body.split(':');
    let (pair, effect) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if parts.next().is_some() || body.contains('@') {
        return Err(wrong());
    }
    let known: Vec<&str> = TaintEffect::KNOWN.iter().map(TaintEffect::as_str).collect();
    if !effect.is_empty() && !known.contains(&effect) {
        let known = known.join(", ");
        let why = format!("--toleration: expected one of {known}, found `{effect}`");
        return Err(Stop::usage(why));
    }
    let (key, operator, text) = match pair.split_once('=') {
        Some((key, value)) => (key, "Equal", value),
        None if pair == "*" => ("", "Exists", ""),
        None if pair.is_empty() => return Err(wrong()),
        None => (pair, "Exists", ""),
    };
    Ok(Toleration {
        key: key.into(),
        operator: operator.into(),
        value: text.into(),
        effect: effect.into(),
        toleration_seconds: seconds,
    })
}

/// How the API server of a release validates.
fn validation(release: Option<KubernetesRelease>) -> Done<ValidationOptions> {
    let options = ReleaseOptions { release, ..ReleaseOptions::default() };
    options.validation().map_err(|wrong| Stop::problems(&[wrong]))
}

pub(crate) fn explain(host: &dyn Host, line: &ExplainLine) -> Done<u8> {
    if let Some(file) = line.files.first() {
        return Err(Stop::usage(format!("explain: it reads no file, found `{file}`")));
    }
    if line.taints.is_empty() {
        return Err(Stop::usage("explain: which --taint?"));
    }
    let options = validation(release(line.release.as_ref())?)?;
    let taints: Vec<Taint> =
        line.taints.iter().map(|text| taint("--taint", text)).collect::<Done<_>>()?;
    let tolerations: Vec<Toleration> =
        line.tolerations.iter().map(|text| toleration(text, &options)).collect::<Done<_>>()?;
    let answer = matched(&taints, &tolerations, options.comparison_operators);
    let text = match line.json {
        true => json::lines(&answer) + "\n",
        false => explanation(&answer, host.style()),
    };
    host.out(&text);
    Ok(OK)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Said<'a> {
    pod: &'a str,
    node: &'a str,
    #[serde(flatten)]
    known: &'a Simulated,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_read: &'a [NotRead],
    #[serde(flatten)]
    answer: &'a Explanation,
}

/// `kubectl taintlab explain`: how the tolerations of a pod answer the taints of its node.
pub(crate) fn explain_pod(host: &dyn Host, line: &PluginExplain) -> Done<u8> {
    let wanted = pod_named("explain", &line.pods, line.connection.namespace.as_ref())?;
    let added: Vec<Taint> =
        line.taints.iter().map(|text| taint("--taint", text)).collect::<Done<_>>()?;
    release(line.release.as_ref())?;
    let node = line.node.as_ref();
    let (read, found) = read_pod_and_node(
        host,
        &wanted,
        &line.connection,
        line.release.as_ref(),
        node,
        !added.is_empty(),
    )?;
    let PodRead { pod, node: of_pod } = &read.pod()?;
    let key = key_of(pod);
    let name = node.or(of_pod.as_ref()).ok_or_else(|| no_node(&key))?;
    let imported = read.imported();
    tell(host, &imported, line.release.as_deref(), "");
    let part = |object: Option<&Value>, path: &str| {
        object.and_then(|object| object.pointer(path)).cloned().unwrap_or(Value::Array(Vec::new()))
    };
    let taints: Vec<Taint> = value("node", part(found.as_ref(), "/spec/taints"))?;
    let taints: Vec<Taint> = taints.into_iter().chain(added).collect();
    let tolerations: Vec<Toleration> = value("pod", part(Some(pod), "/spec/tolerations"))?;
    let operators = validation(read.release)?.comparison_operators;
    let answer = matched(&taints, &tolerations, operators);
    let known = Simulated::of(&imported, line.release.as_deref());
    if line.json {
        let not_read = &read.not_read;
        let said = Said { pod: &key, node: name, known: &known, not_read, answer: &answer };
        host.out(&(json::lines(&said) + "\n"));
        return Ok(OK);
    }
    let alone = match found {
        None => ", whose taints are not known but for those of --taint",
        Some(_) => "",
    };
    let style = host.style();
    host.out(&format!("{key} on {name}{alone}\n{}", explanation(&answer, style)));
    let notes = known.line().into_iter().chain(read.not_read.iter().map(ToString::to_string));
    for line in notes {
        host.out(&format!("{}\n", style.dim(&line)));
    }
    Ok(OK)
}
