//! `kubectl scale`.

use serde_json::Value;
use taintlab_core::api::{WorkloadKey, WorkloadKind};
use taintlab_core::command::Command;

use crate::arguments::select_some;
use crate::failure::Failure;
use crate::fields::number;
use crate::flags::{self, Arguments};
use crate::get;
use crate::objects::Object;
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
    let output = arguments.get(&flags::OUTPUT).unwrap_or_default();
    if !["", "json", "name", "yaml"].contains(&output) {
        return Err(get::no_printer(output, "json,name,yaml"));
    }
    let selection = select_some(session, arguments)?;
    let mut printed = false;
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
        let now = number(&object.value(), "/spec/replicas").unwrap_or(1);
        let expected = arguments.number(&flags::CURRENT_REPLICAS).filter(|count| *count >= 0);
        if let Some(expected) = expected.filter(|expected| *expected != now) {
            failures.push(Failure::plain(format!("Expected replicas to be {expected}, was {now}")));
            continue;
        }
        match session.change(dry_run, Command::Scale { workload, replicas }) {
            Ok(()) => {
                let mut value = object.value();
                let spec = value.get_mut("spec").and_then(Value::as_object_mut);
                if let Some(spec) = spec.filter(|_| session.release().scale_prints_new_replicas()) {
                    spec.insert("replicas".into(), replicas.into());
                }
                let name = object.qualified_name();
                match output {
                    "" => session.print(format!("{name} scaled{}", dry_run.suffix())),
                    "name" => session.print(name),
                    "json" => session.print(taintlab_manifest::to_json(&value)),
                    _ => {
                        session.print_text(if printed { "---\n" } else { "" });
                        session.print_text(&taintlab_manifest::to_kubectl_yaml(&value));
                    }
                }
                printed = true;
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
