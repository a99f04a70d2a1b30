//! Times within the bounds.

use serde_json::{Value, json};
use taintlab_answers::fields::Misread;
use taintlab_core::api::{Taint, TaintEffect, Toleration, TolerationOperator};

use crate::judge::{LOST, Time, admitted, answering};
use crate::settings::{Bounds, Settings};
use crate::subject::{Subject, place};

/// The object with `tolerationSeconds` within the bounds; `None` if they are already.
///
/// A toleration of more than a lost node stays as it is, and one of the lost node alone comes before
/// it. The pods of a DaemonSet stay on lost nodes anyway.
///
/// # Errors
/// A toleration that cannot be read.
pub fn correct(object: &Value, settings: &Settings) -> Result<Option<Value>, Misread> {
    let Some(subject) = Subject::of(object)? else { return Ok(None) };
    if subject.daemon {
        return Ok(None);
    }
    let mut tolerations = subject.tolerations.clone();
    for key in LOST {
        let all = admitted(&tolerations);
        let time = Time::of(&all, key);
        let Some(seconds) = within(time, settings.toleration_seconds) else { continue };
        let taint = Taint::new(key, "", TaintEffect::NoExecute);
        let wanted = Toleration {
            key: key.to_owned(),
            operator: TolerationOperator::Exists,
            effect: TaintEffect::NoExecute,
            toleration_seconds: Some(seconds),
            ..Toleration::default()
        };
        match answering(&tolerations, &taint) {
            None => tolerations.push(wanted),
            Some(first) => match tolerations.get_mut(first) {
                Some(it) if it.key == key && it.effect == TaintEffect::NoExecute => {
                    it.toleration_seconds = Some(seconds);
                }
                _ => tolerations.insert(first, wanted),
            },
        }
    }
    if tolerations == subject.tolerations {
        return Ok(None);
    }
    let mut object = object.clone();
    let spec = place(&object).and_then(|place| object.pointer_mut(place));
    if let Some(spec) = spec.and_then(Value::as_object_mut) {
        spec.insert("tolerations".into(), json!(tolerations));
    }
    Ok(Some(object))
}

/// The seconds that a time should have instead.
fn within(time: Time, Bounds { min, max }: Bounds) -> Option<i64> {
    match time {
        Time::Forever => max,
        Time::Seconds(seconds) => {
            let corrected = seconds.max(min.unwrap_or(0)).min(max.unwrap_or(i64::MAX));
            (corrected != seconds).then_some(corrected)
        }
    }
}
