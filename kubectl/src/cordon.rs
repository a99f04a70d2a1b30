//! `kubectl cordon`, `uncordon` and `drain`. Mirrors `k8s.io/kubectl/pkg/cmd/drain`.

use std::collections::BTreeMap;

use taintlab_core::api::{NodeName, PodKey, SelectorOperator};
use taintlab_core::command::{ApiErrorKind, Command, CommandError};
use taintlab_core::policy::drain::{
    AfterError, DrainOptions, aggregate, lines_of_failed_node, lines_of_pending_nodes, named,
    pods_for_deletion, quoted,
};
use taintlab_core::time::{Span, parse_duration};

use crate::arguments::{TypeAlone, select};
use crate::failure::Failure;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::resources;
use crate::selector::parse_labels;
use crate::session::{DryRun, Session};

/// `kubectl cordon`.
pub(crate) fn cordon(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let nodes = nodes(session, arguments, "cordon")?;
    mark(session, &nodes, true, dry_run)
}

/// `kubectl uncordon`.
pub(crate) fn uncordon(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let nodes = nodes(session, arguments, "uncordon")?;
    mark(session, &nodes, false, dry_run)
}

/// The nodes of the line, given as `worker-1`, `node/worker-1` or by label. A missing node is an
/// error before anything is done.
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

/// Cordons or uncordons nodes. Mirrors `RunCordonOrUncordon`.
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

/// The API server's warning, which kubectl prints once.
const OLD_DEFINITIONS: &str = "Warning: apiextensions.k8s.io/v1beta1 CustomResourceDefinition is \
                               deprecated in v1.16+, unavailable in v1.22+; use \
                               apiextensions.k8s.io/v1 CustomResourceDefinition";

/// `kubectl drain`: cordons the nodes and begins the drain, which goes on in time.
pub(crate) fn drain(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let nodes = nodes(session, arguments, "drain")?;
    let options = drain_options(session, arguments)?;
    if dry_run == DryRun::Server && session.release().dry_run_warns_of_old_definitions() {
        session.warn(OLD_DEFINITIONS);
    }
    mark(session, &nodes, true, dry_run)?;
    let names: Vec<NodeName> = nodes.iter().map(|node| node.name().into()).collect();
    if names.is_empty() {
        return Ok(());
    }
    if dry_run == DryRun::No {
        return session.drain(Command::Drain { nodes: names, options });
    }
    let mut failed: Vec<(NodeName, Vec<String>)> = Vec::new();
    let mut is_plain = false;
    for name in &names {
        let (release, now) = (session.release(), session.now());
        let found =
            pods_for_deletion(session.simulator().cluster(), name.as_str(), &options, release, now);
        let mut errors = found.errors;
        if errors.is_empty() && !found.warnings.is_empty() {
            session.warn(format!("{}: {}", release.drain_warning_word(), found.warnings));
        }
        let filtered = !errors.is_empty();
        if !filtered && dry_run == DryRun::Server {
            let Some(tried) = try_on_server(session, &options, &found.pods) else { return Ok(()) };
            errors = tried;
            if !errors.is_empty() {
                let (node, all) = (quoted(name.as_str()), aggregate(&errors));
                session.warn(format!(
                    "There are pending pods in node {node} when an error occurred: {all}"
                ));
                found.pods.iter().for_each(|pod| session.warn(format!("pod/{}", pod.name())));
            }
        }
        if !errors.is_empty() {
            is_plain = options.disable_eviction && !filtered;
            let after = AfterError::of(release, &options, names.len());
            let lines = lines_of_failed_node(release, name.as_str(), &errors, after);
            lines.iter().for_each(|line| session.warn(line));
            match after {
                AfterError::Ignores => continue,
                AfterError::Continues => {
                    failed.push((name.clone(), errors));
                    continue;
                }
                AfterError::Aborts => {
                    failed.push((name.clone(), errors));
                    let left = names.iter().skip_while(|other| *other != name).skip(1);
                    failed.extend(left.map(|name| (name.clone(), Vec::new())));
                    break;
                }
            }
        }
        if dry_run == DryRun::Client {
            found.pods.iter().for_each(|pod| evicting(session, pod, dry_run));
        }
        session.print(format!("node/{name} drained{}", dry_run.suffix()));
    }
    if failed.is_empty() {
        return Ok(());
    }
    let lines = lines_of_pending_nodes(session.release(), &failed, is_plain);
    lines.iter().for_each(|line| session.warn(line));
    session.outcome.exit_code = 1;
    Ok(())
}

fn evicting(session: &mut Session<'_>, pod: &PodKey, dry_run: DryRun) {
    session.print(format!("evicting pod {pod}{}", dry_run.suffix()));
}

/// The API server's errors about evicting the pods of a node in a server dry run; `None` if the
/// drain would never end. Time stands still, so waiting ends immediately. Mirrors `evictPods` and
/// `deletePods`.
fn try_on_server(
    session: &mut Session<'_>,
    options: &DrainOptions,
    pods: &[PodKey],
) -> Option<Vec<String>> {
    let release = session.release();
    let unsupported = "/, Kind= doesn't support dry-run";
    let ends = !options.timeout.0.is_zero();
    if options.disable_eviction {
        // A pod that was not deleted never goes away, for which some releases wait.
        return match (pods, release.drain_can_be_tried_on_server()) {
            ([], _) => Some(Vec::new()),
            (_, false) => Some(vec![unsupported.to_owned()]),
            (_, true) if release.drain_waits_for_dry_deletes() => {
                ends.then(|| vec![options.why_wait_ends(release)])
            }
            (_, true) => Some(Vec::new()),
        };
    }
    let mut goes_on = false;
    let mut errors = Vec::new();
    for pod in pods {
        evicting(session, pod, DryRun::Server);
        let named = named(release, pod);
        let error = if release.drain_can_be_tried_on_server() {
            // Each eviction is tried alone: one that is not stored uses up no budget.
            let mut trial = session.simulator().clone();
            let evict = Command::EvictPod {
                pod: pod.clone(),
                grace_period_seconds: options.grace_period_seconds,
            };
            match trial.handle_command(trial.now(), evict) {
                // Without a control plane there are no PodDisruptionBudgets.
                Ok(()) | Err(CommandError::NoControlPlane | CommandError::PodNotFound(_)) => {
                    continue;
                }
                Err(
                    error @ (CommandError::DisruptionBudget { .. }
                    | CommandError::BudgetNotProcessed { .. }
                    | CommandError::RequestFailed {
                        error: ApiErrorKind::TooManyRequests,
                        ..
                    }),
                ) => {
                    session.warn(format!(
                        "error when evicting {named} (will retry after 5s): {error}"
                    ));
                    goes_on |= !ends;
                    options.timeout_reached()
                }
                Err(error) => error.to_string(),
            }
        } else {
            unsupported.to_owned()
        };
        errors.push(format!("error when evicting {named}: {error}"));
    }
    (!goes_on).then_some(errors)
}

fn drain_options(
    session: &mut Session<'_>,
    arguments: &Arguments,
) -> Result<DrainOptions, Failure> {
    let has_no = |flag: &flags::Flag| {
        let name = flag.name;
        Failure::plain(format!("unknown flag: --{name}\nSee 'kubectl drain --help' for usage."))
    };
    let release = session.release();
    if arguments.get(&flags::IGNORE_ERRORS).is_some() && !release.drain_has_ignore_errors() {
        return Err(has_no(&flags::IGNORE_ERRORS));
    }
    if arguments.get(&flags::DELETE_LOCAL_DATA).is_some()
        && release.drain_has_no_delete_local_data()
    {
        return Err(has_no(&flags::DELETE_LOCAL_DATA));
    }
    if arguments.get(&flags::DELETE_LOCAL_DATA).is_some()
        && session.release().drain_local_storage_error().contains("emptydir")
    {
        session.warn(
            "Flag --delete-local-data has been deprecated, This option is deprecated and will be \
             deleted. Use --delete-emptydir-data.",
        );
    }
    let selector = arguments.get(&flags::POD_SELECTOR).unwrap_or("");
    let invalid = || Failure::plain("--pod-selector=<pod_selector> must be a valid label selector");
    let selector = parse_labels(selector).map_err(|_| invalid())?;
    let mut pod_labels = BTreeMap::new();
    for requirement in selector.requirements {
        match requirement.values.as_slice() {
            [value] if requirement.operator == SelectorOperator::In => {
                pod_labels.insert(requirement.key, value.clone());
            }
            _ => {
                return Err(Failure::plain(
                    "--pod-selector takes only key=value pairs here, separated by commas",
                ));
            }
        }
    }
    let timeout = arguments.get(&flags::TIMEOUT).unwrap_or("0");
    Ok(DrainOptions {
        ignore_daemonsets: arguments.is(&flags::IGNORE_DAEMONSETS),
        force: arguments.is(&flags::FORCE),
        delete_emptydir_data: arguments.is(&flags::DELETE_EMPTYDIR_DATA)
            || arguments.is(&flags::DELETE_LOCAL_DATA),
        disable_eviction: arguments.is(&flags::DISABLE_EVICTION),
        grace_period_seconds: arguments
            .number(&flags::GRACE_PERIOD)
            .filter(|seconds| *seconds >= 0)
            .map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX)),
        timeout: Span(parse_duration(timeout).map_err(Failure::Plain)?),
        pod_labels,
        skip_wait_for_delete_timeout_seconds: arguments
            .number(&flags::SKIP_WAIT_FOR_DELETE_TIMEOUT)
            .and_then(|seconds| u32::try_from(seconds).ok())
            .unwrap_or(0),
        ignore_errors: arguments.is(&flags::IGNORE_ERRORS),
    })
}
