//! `kubectl scale`.

use taintlab_core::api::{WorkloadKey, WorkloadKind};
use taintlab_core::command::Command;

use crate::arguments::select_some;
use crate::failure::Failure;
use crate::flags::{self, Arguments};
use crate::objects::{self, Object};
use crate::session::Session;

/// `kubectl scale`.
pub(crate) fn scale(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let Some(replicas) = arguments.number(&flags::REPLICAS) else {
        return Err(Failure::plain("required flag(s) \"replicas\" not set"));
    };
    let Ok(replicas) = u32::try_from(replicas) else {
        return Err(Failure::plain(
            "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0",
        ));
    };
    let selection = select_some(session, arguments)?;
    let mut failures = selection.failures;
    if selection.objects.is_empty() && failures.is_empty() {
        return Err(Failure::plain("no objects passed to scale"));
    }
    for object in selection.objects {
        let Some(workload) = workload_key(&object) else {
            failures.push(Failure::plain(format!(
                "cannot scale {}: could not fetch the scale for {} {}: the server could not find \
                 the requested resource",
                object.resource().kind,
                object.resource().qualified_plural(),
                object.name()
            )));
            continue;
        };
        let now = objects::number(&object.value(), "/spec/replicas").unwrap_or(1);
        let expected = arguments.number(&flags::CURRENT_REPLICAS).filter(|count| *count >= 0);
        if let Some(expected) = expected.filter(|expected| *expected != now) {
            failures.push(Failure::plain(format!("Expected replicas to be {expected}, was {now}")));
            continue;
        }
        match session.change(dry_run, Command::Scale { workload, replicas }) {
            Ok(()) => {
                let name = object.qualified_name();
                session.print(format!("{name} scaled{}", dry_run.suffix()));
            }
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures)
}

/// The key of the workload, if the object is one.
pub(crate) fn workload_key(object: &Object) -> Option<WorkloadKey> {
    let kind = WorkloadKind::from_word(object.resource().singular)?;
    Some(WorkloadKey::new(kind, object.namespace(), object.name()))
}
