//! `kubectl cordon` and `uncordon`. Mirrors `k8s.io/kubectl/pkg/cmd/drain`.

use taintlab_core::command::Command;

use super::arguments::{TypeAlone, select};
use super::failure::Failure;
use super::flags::{self, Arguments};
use super::objects::Object;
use super::resources;
use super::session::{DryRun, Session};

/// `kubectl cordon`.
pub(super) fn cordon(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let nodes = nodes(session, arguments, "cordon")?;
    mark(session, &nodes, true, dry_run)
}

/// `kubectl uncordon`.
pub(super) fn uncordon(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let nodes = nodes(session, arguments, "uncordon")?;
    mark(session, &nodes, false, dry_run)
}

/// The nodes that are meant, as `worker-1`, `node/worker-1` or by label. One that is not there is
/// an error before anything is done.
fn nodes(session: &Session<'_>, arguments: &Arguments, verb: &str) -> Result<Vec<Object>, Failure> {
    let words = &arguments.positional;
    let selects = arguments.get(&flags::SELECTOR).is_some();
    if words.is_empty() && !selects {
        return Err(Failure::usage(verb, &format!("USAGE: {verb} NODE [flags]")));
    }
    if !words.is_empty() && selects {
        return Err(Failure::usage(
            verb,
            "error: cannot specify both a node name and a --selector option",
        ));
    }
    let mut named = vec!["nodes".to_owned()];
    for word in words {
        let name = match word.split_once('/') {
            None => word,
            Some((type_, name)) => {
                let resource = resources::find(type_)?;
                if *resource != resources::NODES {
                    return Err(Failure::plain(format!(
                        "error: expected resource of type node, got {:?}",
                        format!("/v1, Resource={}", resource.plural)
                    )));
                }
                name
            }
        };
        named.push(name.to_owned());
    }
    let mut selection = select(session, &named, arguments, TypeAlone::MeansAll)?;
    match selection.failures.is_empty() {
        true => Ok(selection.objects),
        false => Err(selection.failures.swap_remove(0)),
    }
}

/// Mirrors `RunCordonOrUncordon`.
fn mark(
    session: &mut Session<'_>,
    nodes: &[Object],
    unschedulable: bool,
    dry_run: DryRun,
) -> Result<(), Failure> {
    let verb = if unschedulable { "cordon" } else { "uncordon" };
    for object in nodes {
        let Object::Node(node) = object else { continue };
        let name = node.metadata.name.as_str();
        let already = node.spec.unschedulable == unschedulable;
        if !already {
            let command = Command::SetUnschedulable { node: name.into(), unschedulable };
            if let Err(failure) = session.change(dry_run, command) {
                session.warn(format!("error: unable to {verb} node {name:?}: {}", failure.text()));
                session.outcome.exit_code = 1;
                continue;
            }
        }
        let already = if already { "already " } else { "" };
        session.print(format!("node/{name} {already}{verb}ed{}", dry_run.suffix()));
    }
    Ok(())
}
