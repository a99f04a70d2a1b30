//! `kubectl patch`, and merging of JSON patches.

use std::sync::Arc;

use serde_json::{Map, Value};
use taintlab_manifest::Limits;

use crate::arguments::select_some;
use crate::commands::update;
use crate::failure::Failure;
use crate::fields::text;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::session::Session;
use taintlab_manifest::typed;

/// `kubectl patch`.
pub(crate) fn patch(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let Some(text) = arguments.get(&flags::PATCH).filter(|text| !text.is_empty()) else {
        return Err(Failure::plain(
            "must specify --patch or --patch-file containing the contents of the patch",
        ));
    };
    let type_ = arguments.get(&flags::PATCH_TYPE).unwrap_or("strategic").to_ascii_lowercase();
    if !matches!(type_.as_str(), "strategic" | "merge") {
        return Err(Failure::plain(format!(
            "--type must be one of [merge strategic] here, not {type_:?}"
        )));
    }
    let patch: Value = taintlab_manifest::read_value(text, "--patch", &Limits::default()).map_err(
        |diagnostics| {
            let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            Failure::plain(format!("unable to parse {text:?}: {}", lines.join("\n")))
        },
    )?;
    let selection = select_some(session, arguments)?;
    let mut failures = selection.failures;
    for object in selection.objects {
        let old = object.value();
        let new = if type_ == "merge" {
            merge_patch(&old, &patch)
        } else {
            merge(&old, &Value::Null, &patch)
        };
        let name = object.qualified_name();
        if new == old {
            session.print(format!("{name} patched (no change){}", dry_run.suffix()));
            continue;
        }
        let changed =
            rebuild(&object, new).and_then(|object| session.change(dry_run, update(&object)?));
        match changed {
            Ok(()) => session.print(format!("{name} patched{}", dry_run.suffix())),
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures)
}

/// Applies a patch as RFC 7396 defines it.
fn merge_patch(old: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut merged = old.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        if value.is_null() {
            merged.remove(key);
        } else {
            let old = merged.get(key).unwrap_or(&Value::Null);
            let value = merge_patch(old, value);
            merged.insert(key.clone(), value);
        }
    }
    Value::Object(merged)
}

/// Reads an object of the same type from this JSON form.
pub(crate) fn rebuild(like: &Object, value: Value) -> Result<Object, Failure> {
    Ok(match like {
        Object::Node(_) => Object::Node(Arc::new(typed(&value).map_err(Failure::plain)?)),
        Object::Pod(_) => Object::Pod(Arc::new(typed(&value).map_err(Failure::plain)?)),
        Object::Other(resource, _) => Object::Other(resource, value),
    })
}

/// Lays `wanted` over `live`, without keys that are in `last` and no longer wanted. Lists are
/// replaced, unless all of their items have names, as containers and volumes do.
pub(crate) fn merge(live: &Value, last: &Value, wanted: &Value) -> Value {
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            let mut merged = live.clone();
            for key in last.as_object().into_iter().flat_map(Map::keys) {
                // Remove keys that were applied before and are no longer wanted.
                if !wanted.contains_key(key) {
                    merged.remove(key);
                }
            }
            for (key, value) in wanted {
                if value.is_null() {
                    merged.remove(key);
                    continue;
                }
                let last = last.get(key).unwrap_or(&Value::Null);
                let value = match live.get(key) {
                    Some(live) => merge(live, last, value),
                    None => value.clone(),
                };
                merged.insert(key.clone(), value);
            }
            Value::Object(merged)
        }
        (Value::Array(old), Value::Array(new)) if named(old) && named(new) => {
            let find = |items: &[Value], name: &str| {
                items.iter().find(|item| text(item, "/name") == name).cloned()
            };
            let applied = last.as_array().map_or(&[][..], Vec::as_slice);
            let mut merged: Vec<Value> = Vec::new();
            for item in old {
                let name = text(item, "/name");
                let last = find(applied, name);
                match find(new, name) {
                    Some(new) => merged.push(merge(item, &last.unwrap_or_default(), &new)),
                    None if last.is_some() => {}
                    None => merged.push(item.clone()),
                }
            }
            let is_new = |item: &&Value| find(old, text(item, "/name")).is_none();
            merged.extend(new.iter().filter(is_new).cloned());
            Value::Array(merged)
        }
        (_, wanted) => wanted.clone(),
    }
}

fn named(items: &[Value]) -> bool {
    items.iter().all(|item| !text(item, "/name").is_empty())
}
