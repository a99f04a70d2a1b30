//! `kubectl rollout status` and `restart`.

use serde_json::{Value, json};
use taintlab_core::api::WorkloadKind;
use taintlab_core::time::parse_duration;

use crate::arguments::{TypeAlone, select};
use crate::commands::update;
use crate::failure::Failure;
use crate::fields::number;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::patch::merge;
use crate::resources;
use crate::scale::workload_key;
use crate::session::{DryRun, Session};

/// `kubectl rollout status` and `restart`.
pub(crate) fn rollout(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let Some((what, words)) = arguments.positional.split_first() else {
        return Err(Failure::usage("rollout", "a subcommand is missing: status or restart"));
    };
    if !matches!(what.as_str(), "status" | "restart") {
        return Err(Failure::usage(
            "rollout",
            &format!("`rollout {what}` is not possible here, only status and restart are"),
        ));
    }
    if words.is_empty() {
        return Err(Failure::plain("required resource not specified"));
    }
    let selection = select(session, words, arguments, TypeAlone::MeansAll)?;
    let mut failures = selection.failures;
    for object in selection.objects {
        let kind = workload_key(&object).map(|key| key.kind);
        let rolls = matches!(
            kind,
            Some(WorkloadKind::Deployment | WorkloadKind::StatefulSet | WorkloadKind::DaemonSet)
        );
        if !rolls {
            failures.push(Failure::plain(format!(
                "{} {:?} has no rollout",
                object.resource().qualified_plural(),
                object.name()
            )));
        } else if what == "status" {
            let done = rollout_status(session, &object);
            // Time stands still, so waiting cannot change anything.
            let waits = arguments.get(&flags::WATCH).is_none_or(|_| arguments.is(&flags::WATCH));
            let timeout = arguments.get(&flags::TIMEOUT).map(parse_duration);
            let in_vain = timeout.is_some_and(|time| time.is_ok_and(|time| !time.is_zero()));
            if !done && waits && in_vain {
                failures.push(Failure::plain("timed out waiting for the condition"));
            }
        } else if let Err(failure) = restart(session, &object) {
            failures.push(failure);
        }
    }
    Failure::all(failures)
}

/// Notes a restart in the template, as `kubectl` does. Mirrors `defaultObjectRestarter`.
fn restart(session: &mut Session<'_>, object: &Object) -> Result<(), Failure> {
    let at = session.now().truncated_to_seconds().to_string();
    let mark = json!({ "spec": { "template": { "metadata": {
        "annotations": { "kubectl.kubernetes.io/restartedAt": at } } } } });
    let changed = merge(&object.value(), &Value::Null, &mark);
    let changed = Object::Other(object.resource(), changed);
    session.change(DryRun::No, update(&changed)?)?;
    session.print(format!("{} restarted", object.qualified_name()));
    Ok(())
}

/// Prints the state of a rollout; returns whether it is complete. Mirrors
/// `DeploymentStatusViewer.Status` and the others.
fn rollout_status(session: &mut Session<'_>, object: &Object) -> bool {
    let value = object.value();
    let status = |name: &str| number(&value, &format!("/status/{name}")).unwrap_or(0);
    let desired = number(&value, "/spec/replicas").unwrap_or(1);
    let name = object.name();
    let line = if *object.resource() == resources::DEPLOYMENTS {
        let (updated, available) = (status("updatedReplicas"), status("availableReplicas"));
        let wait = format!("Waiting for deployment {name:?} rollout to finish:");
        if updated < desired {
            format!("{wait} {updated} out of {desired} new replicas have been updated...")
        } else if status("replicas") > updated {
            let old = status("replicas") - updated;
            format!("{wait} {old} old replicas are pending termination...")
        } else if available < updated {
            format!("{wait} {available} of {updated} updated replicas are available...")
        } else {
            format!("deployment {name:?} successfully rolled out")
        }
    } else if *object.resource() == resources::DAEMON_SETS {
        let desired = status("desiredNumberScheduled");
        let (updated, available) = (status("updatedNumberScheduled"), status("numberAvailable"));
        let wait = format!("Waiting for daemon set {name:?} rollout to finish:");
        if updated < desired {
            format!("{wait} {updated} out of {desired} new pods have been updated...")
        } else if available < desired {
            format!("{wait} {available} of {desired} updated pods are available...")
        } else {
            format!("daemon set {name:?} successfully rolled out")
        }
    } else if status("readyReplicas") < desired {
        format!("Waiting for {} pods to be ready...", desired - status("readyReplicas"))
    } else {
        format!("statefulset rolling update complete {desired} pods at revision {name}...")
    };
    let done = !line.starts_with("Waiting ");
    session.print(line);
    done
}
