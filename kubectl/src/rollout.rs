//! `kubectl rollout status` and `restart`.

use serde_json::{Value, json};
use taintlab_core::api::WorkloadKind;
use taintlab_core::time::parse_duration;

use crate::arguments::{TypeAlone, select};
use crate::commands::update;
use crate::failure::Failure;
use crate::fields::{number, text};
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
            match rollout_status(&object) {
                Ok((line, done)) => {
                    session.print(line);
                    // Time stands still, so waiting cannot change anything.
                    let waits =
                        arguments.get(&flags::WATCH).is_none_or(|_| arguments.is(&flags::WATCH));
                    let timeout = arguments.get(&flags::TIMEOUT).map(parse_duration);
                    let in_vain = timeout.is_some_and(|time| time.is_ok_and(|it| !it.is_zero()));
                    if !done && waits && in_vain {
                        failures.push(Failure::plain("timed out waiting for the condition"));
                    }
                }
                Err(failure) => failures.push(failure),
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

/// The state of a rollout in a line, and whether it is complete. Mirrors
/// `DeploymentStatusViewer.Status` and the others.
fn rollout_status(object: &Object) -> Result<(String, bool), Failure> {
    let value = object.value();
    let status = |name: &str| number(&value, &format!("/status/{name}")).unwrap_or(0);
    let desired = number(&value, "/spec/replicas").unwrap_or(1);
    let name = object.name();
    let is_deployment = *object.resource() == resources::DEPLOYMENTS;
    let strategy = text(&value, "/spec/updateStrategy/type");
    if !is_deployment && !matches!(strategy, "" | "RollingUpdate") {
        return Err(Failure::plain(
            "rollout status is only available for RollingUpdate strategy type",
        ));
    }
    let kind = match object.resource().kind {
        "Deployment" => "deployment",
        "DaemonSet" => "daemon set",
        _ => "statefulset",
    };
    let observed = number(&value, "/status/observedGeneration");
    if observed < observed.and(number(&value, "/metadata/generation")) {
        return Ok((format!("Waiting for {kind} spec update to be observed..."), false));
    }
    let wait = format!("Waiting for {kind} {name:?} rollout to finish:");
    let complete = format!("{kind} {name:?} successfully rolled out");
    let line = if is_deployment {
        let conditions = value.pointer("/status/conditions").and_then(Value::as_array);
        let is_late = |known: &Value| text(known, "/reason") == "ProgressDeadlineExceeded";
        if conditions.is_some_and(|conditions| conditions.iter().any(is_late)) {
            let text = format!("deployment {name:?} exceeded its progress deadline");
            return Err(Failure::plain(text));
        }
        let (updated, available) = (status("updatedReplicas"), status("availableReplicas"));
        if updated < desired {
            format!("{wait} {updated} out of {desired} new replicas have been updated...")
        } else if status("replicas") > updated {
            let old = status("replicas") - updated;
            format!("{wait} {old} old replicas are pending termination...")
        } else if available < updated {
            format!("{wait} {available} of {updated} updated replicas are available...")
        } else {
            return Ok((complete, true));
        }
    } else if *object.resource() == resources::DAEMON_SETS {
        let desired = status("desiredNumberScheduled");
        let (updated, available) = (status("updatedNumberScheduled"), status("numberAvailable"));
        if updated < desired {
            format!("{wait} {updated} out of {desired} new pods have been updated...")
        } else if available < desired {
            format!("{wait} {available} of {desired} updated pods are available...")
        } else {
            return Ok((complete, true));
        }
    } else {
        return Ok(stateful_set_status(&value, desired));
    };
    Ok((line, false))
}

/// Mirrors `StatefulSetStatusViewer.Status` for a set that its controller has seen.
fn stateful_set_status(set: &Value, desired: i64) -> (String, bool) {
    let status = |name: &str| number(set, &format!("/status/{name}")).unwrap_or(0);
    let (ready, updated) = (status("readyReplicas"), status("updatedReplicas"));
    let revision = |name: &str| text(set, &format!("/status/{name}Revision"));
    if ready < desired {
        return (format!("Waiting for {} pods to be ready...", desired - ready), false);
    }
    // Without a type, the API server sets the partition 0 as well.
    let is_partitioned = text(set, "/spec/updateStrategy/type").is_empty()
        || set.pointer("/spec/updateStrategy/rollingUpdate").is_some_and(Value::is_object);
    if is_partitioned {
        let kept = number(set, "/spec/updateStrategy/rollingUpdate/partition").unwrap_or(0);
        let wanted = desired - kept;
        if updated < wanted {
            let wait = "Waiting for partitioned roll out to finish:";
            let line = format!("{wait} {updated} out of {wanted} new pods have been updated...");
            return (line, false);
        }
        let line =
            format!("partitioned roll out complete: {updated} new pods have been updated...");
        return (line, true);
    }
    let complete = revision("update") == revision("current");
    let line = if complete {
        let (pods, revision) = (status("currentReplicas"), revision("current"));
        format!("statefulset rolling update complete {pods} pods at revision {revision}...")
    } else {
        let revision = revision("update");
        let wait = "waiting for statefulset rolling update to complete";
        format!("{wait} {updated} pods at revision {revision}...")
    };
    (line, complete)
}
