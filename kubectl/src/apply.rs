//! `kubectl apply`.

use serde_json::{Map, Value};
use taintlab_manifest::LAST_APPLIED;

use crate::commands::update;
use crate::create::{create_one, each, from_file};
use crate::failure::Failure;
use crate::fields::text;
use crate::flags::Arguments;
use crate::objects::Object;
use crate::patch::{merge, rebuild};
use crate::session::{DryRun, Session};

/// `kubectl apply`.
pub(crate) fn apply(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    each(session, arguments, "apply", |session, object| apply_one(session, &object, dry_run))
}

/// Creates an object, or merges it into the existing one. Mirrors the three-way merge of `apply`:
/// fields that were applied before and are no longer given are removed.
fn apply_one(session: &mut Session<'_>, given: &Object, dry_run: DryRun) -> Result<(), Failure> {
    let wanted = given.value();
    let Some(live) = session.object(given.resource(), given.namespace(), given.name()) else {
        let object = rebuild(given, with_last_applied(wanted.clone(), &wanted))?;
        return create_one(session, &object, dry_run);
    };
    let live = live.value();
    let pointer = format!("/metadata/annotations/{}", LAST_APPLIED.replace('/', "~1"));
    let last = serde_json::from_str(text(&live, &pointer)).unwrap_or(Value::Null);
    let name = given.qualified_name();
    if last.is_null() {
        let plural = given.resource().plural;
        session.warn(format!(
            "Warning: resource {plural}/{} is missing the {LAST_APPLIED} annotation which is \
             required by kubectl apply. kubectl apply should only be used on resources created \
             declaratively by either kubectl create --save-config or kubectl apply. The missing \
             annotation will be patched automatically.",
            given.name()
        ));
    }
    let wanted = with_last_applied(wanted.clone(), &wanted);
    let merged = merge(&live, &last, &wanted);
    if merged == live {
        session.print(format!("{name} unchanged{}", dry_run.suffix()));
        return Ok(());
    }
    let object = rebuild(given, merged)?;
    session
        .change(dry_run, update(&object)?)
        .map_err(|failure| from_file(failure, "applying patch for"))?;
    session.print(format!("{name} configured{}", dry_run.suffix()));
    Ok(())
}

fn with_last_applied(mut value: Value, applied: &Value) -> Value {
    let text = serde_json::to_string(applied).unwrap_or_default() + "\n";
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        let annotations =
            metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(annotations) = annotations {
            annotations.insert(LAST_APPLIED.into(), text.into());
        }
    }
    value
}
