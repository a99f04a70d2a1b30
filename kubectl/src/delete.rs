//! `kubectl delete`. Mirrors `k8s.io/kubectl/pkg/cmd/delete`.

use taintlab_core::api::{PodKey, WorkloadKey, WorkloadKind};
use taintlab_core::command::{Cascade, Command};

use crate::arguments::{Selection, TypeAlone, select};
use crate::create;
use crate::failure::Failure;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::resources::{self, Resource};
use crate::session::Session;

/// `kubectl delete`.
pub(crate) fn delete(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let grace = grace_period(session, arguments)?;
    let by_name = match arguments.get(&flags::OUTPUT) {
        None | Some("") => false,
        Some("name") => true,
        Some(other) => {
            return Err(Failure::plain(format!(
                "unexpected -o output mode: {other}. We only support '-o name'"
            )));
        }
    };
    let mut selection = selection(session, arguments)?;
    if arguments.is(&flags::IGNORE_NOT_FOUND) || selects(arguments) {
        selection.failures.clear();
    }
    let found = selection.objects.len() + selection.failures.len();
    let mut failures = selection.failures;
    for object in &selection.objects {
        let result =
            command(object, grace, arguments).and_then(|command| session.change(dry_run, command));
        if let Err(failure) = result {
            failures.push(failure);
        } else if by_name {
            session.print(object.qualified_name());
        } else {
            let deleted = if grace == Some(0) { "force deleted" } else { "deleted" };
            let mut line =
                format!("{} {:?} {deleted}", object.resource().qualified_singular(), object.name());
            let namespace = object.namespace();
            if !namespace.is_empty() && session.release().kubectl_delete_names_namespace() {
                line.push_str(&format!(" from {namespace} namespace"));
            }
            session.print(line + dry_run.suffix());
        }
    }
    if found == 0 {
        session.print("No resources found");
    }
    Failure::all(failures)
}

fn selects(arguments: &Arguments) -> bool {
    arguments.is(&flags::ALL) || arguments.get(&flags::SELECTOR).is_some()
}

/// The grace period that `--grace-period`, `--force` and `--now` ask for. Mirrors
/// `DeleteOptions.Complete`.
fn grace_period(session: &mut Session<'_>, arguments: &Arguments) -> Result<Option<i64>, Failure> {
    let force = arguments.is(&flags::FORCE);
    let mut grace = arguments.number(&flags::GRACE_PERIOD).filter(|seconds| *seconds >= 0);
    if arguments.is(&flags::NOW) {
        if grace.is_some() {
            return Err(Failure::plain("--now and --grace-period cannot be specified together"));
        }
        grace = Some(1);
    }
    match (force, grace) {
        // Without `--force`, 0 becomes 1, so that no data is lost by accident.
        (false, Some(0)) => grace = Some(1),
        (true, None) => grace = Some(0),
        (true, Some(1..)) => {
            return Err(Failure::plain(
                "--force and --grace-period greater than 0 cannot be specified together",
            ));
        }
        _ => {}
    }
    if grace == Some(0) {
        let warning =
            if session.release().kubectl_warns_in_capitals() { "Warning" } else { "warning" };
        session.warn(format!(
            "{warning}: Immediate deletion does not wait for confirmation that the running \
             resource has been terminated. The resource may continue to run on the cluster \
             indefinitely."
        ));
    }
    Ok(grace)
}

fn selection(session: &mut Session<'_>, arguments: &Arguments) -> Result<Selection, Failure> {
    let words = arguments.positional.as_slice();
    if arguments.get(&flags::FILENAME).is_some() {
        let given = create::read(session, arguments, "delete")?;
        let mut selection = Selection { by_name: true, ..Selection::default() };
        for object in given {
            let resource: &'static Resource = object.resource();
            match session.object(resource, object.namespace(), object.name()) {
                Some(object) => selection.objects.push(object),
                None => {
                    let failure = Failure::not_found(&resource.qualified_plural(), object.name());
                    selection.failures.push(failure);
                }
            }
        }
        return Ok(selection);
    }
    if words.is_empty() {
        return Err(Failure::plain(
            "You must provide one or more resources by argument or filename.\n\
             Example resource specifications include:\n   '-f rsrc.yaml'\n   \
             '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'",
        ));
    }
    select(session, words, arguments, TypeAlone::IsAnError)
}

fn command(object: &Object, grace: Option<i64>, arguments: &Arguments) -> Result<Command, Failure> {
    match object {
        Object::Node(node) => Ok(Command::DeleteNode { node: node.metadata.name.as_str().into() }),
        Object::Pod(pod) => Ok(Command::DeletePod {
            pod: pod.key(),
            force: grace == Some(0),
            grace_period_seconds: grace
                .filter(|seconds| *seconds > 0)
                .map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX)),
        }),
        Object::Other(resource, _) => {
            if let Some(kind) = WorkloadKind::from_word(resource.singular) {
                let workload = WorkloadKey::new(kind, object.namespace(), object.name());
                return Ok(Command::DeleteWorkload { workload, cascade: cascade(arguments)? });
            }
            if **resource == resources::BUDGETS {
                let budget = PodKey::new(object.namespace(), object.name());
                return Ok(Command::DeleteBudget { budget });
            }
            if resources::is_of_devices(resource) {
                let (kind, name) = (resource.kind.into(), (object.namespace(), object.name()));
                return Ok(Command::DeleteDeviceObject { kind, name: PodKey::new(name.0, name.1) });
            }
            if **resource == resources::CLAIMS {
                let claim = PodKey::new(object.namespace(), object.name());
                return Ok(Command::DeleteClaim { claim });
            }
            if **resource == resources::VOLUMES {
                return Ok(Command::DeleteVolume { volume: object.name().to_owned() });
            }
            Err(Failure::plain(format!("{} cannot be deleted here", resource.plural)))
        }
    }
}

/// The cascade that `--cascade` asks for. Foreground equals background here: the owner goes first
/// in any case.
fn cascade(arguments: &Arguments) -> Result<Cascade, Failure> {
    match arguments.get(&flags::CASCADE) {
        None | Some("background" | "foreground" | "true") => Ok(Cascade::Background),
        Some("orphan" | "false") => Ok(Cascade::Orphan),
        Some(other) => Err(Failure::plain(format!(
            "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \"orphan\""
        ))),
    }
}
