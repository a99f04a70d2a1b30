//! Taints, tolerations and what else questions are about, out of objects of JavaScript.
//!
//! What `null` or absent means, and what is said of a wrong type, is as when the same is read from a
//! file.

use js_sys::{Array, Object};
use taintlab_core::api::{NodeCondition, Taint, Toleration, node_condition_type};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Time;
use wasm_bindgen::{JsCast, JsValue};

use crate::input::{expected, wrong_call};
use crate::options::ReleaseOptions;
use crate::plain::Plain;

/// Whole numbers of 64 bits are from the negative of this to below this.
const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;

/// What is wrong with a field of an object.
struct Wrong {
    field: &'static str,
    message: Message,
}

enum Message {
    /// What was expected, and what was found.
    Type(&'static str, JsValue),
    Said(String),
}

impl Wrong {
    fn type_(field: &'static str, expected: &'static str, found: JsValue) -> Self {
        Self { field, message: Message::Type(expected, found) }
    }

    fn said(field: &'static str, message: String) -> Self {
        Self { field, message: Message::Said(message) }
    }

    /// As an exception about an object of this name.
    fn of(self, what: &str) -> JsValue {
        let path = format!("{what}.{}", self.field);
        match self.message {
            Message::Type(wanted, found) => expected(&path, wanted, &found),
            Message::Said(message) => wrong_call(&format!("{path}: {message}")),
        }
    }
}

/// Reads each element of an array. `what` is the name of the argument.
fn list<T>(
    value: &JsValue,
    what: &str,
    read: impl Fn(&Plain) -> Result<T, Wrong>,
) -> Result<Vec<T>, JsValue> {
    let Some(list) = value.dyn_ref::<Array>() else {
        return Err(expected(what, "an array", value));
    };
    let length = list.length();
    let mut all = Vec::new();
    for index in 0..length {
        let element = list.get(index);
        let here = || format!("{what}[{index}]");
        let Some(object) = object(&element) else {
            return Err(expected(&here(), "an object", &element));
        };
        all.push(read(object).map_err(|wrong| wrong.of(&here()))?);
    }
    Ok(all)
}

fn object(value: &JsValue) -> Option<&Plain> {
    let is_one = value.is_object() && !Array::is_array(value);
    is_one.then(|| value.unchecked_ref())
}

fn is_nothing(value: &JsValue) -> bool {
    value.is_undefined() || value.is_null()
}

/// A text, empty if there is nothing.
fn text(value: JsValue, field: &'static str) -> Result<String, Wrong> {
    match value.as_string() {
        Some(text) => Ok(text),
        None if is_nothing(&value) => Ok(String::new()),
        None => Err(Wrong::type_(field, "a string", value)),
    }
}

/// A list of taints.
///
/// # Errors
/// A `TypeError` that says which field is wrong and what was expected.
pub(crate) fn taints(value: &JsValue, what: &str) -> Result<Vec<Taint>, JsValue> {
    list(value, what, |taint| {
        Ok(Taint {
            key: text(taint.key(), "key")?,
            value: text(taint.value(), "value")?,
            effect: text(taint.effect(), "effect")?.as_str().into(),
            time_added: time(taint.time_added(), "timeAdded")?,
        })
    })
}

/// A list of tolerations.
///
/// # Errors
/// As [`taints`].
pub(crate) fn tolerations(value: &JsValue, what: &str) -> Result<Vec<Toleration>, JsValue> {
    list(value, what, |toleration| {
        Ok(Toleration {
            key: text(toleration.key(), "key")?,
            operator: text(toleration.operator(), "operator")?.as_str().into(),
            value: text(toleration.value(), "value")?,
            effect: text(toleration.effect(), "effect")?.as_str().into(),
            toleration_seconds: whole(toleration.toleration_seconds(), "tolerationSeconds")?,
        })
    })
}

/// A text in RFC 3339, or a date.
fn time(value: JsValue, field: &'static str) -> Result<Option<Time>, Wrong> {
    if is_nothing(&value) {
        return Ok(None);
    }
    let text = match object(&value) {
        Some(date) => date.to_json().ok().and_then(|text| text.as_string()),
        None => value.as_string(),
    };
    match text {
        Some(text) => Time::parse(&text).map(Some).map_err(|error| Wrong::said(field, error)),
        None => Err(Wrong::type_(field, "a time in RFC 3339, or a date", value)),
    }
}

fn whole(value: JsValue, field: &'static str) -> Result<Option<i64>, Wrong> {
    if is_nothing(&value) {
        return Ok(None);
    }
    let in_range = |number: &f64| (-TWO_TO_THE_63..TWO_TO_THE_63).contains(number);
    match value.as_f64().filter(in_range) {
        #[expect(clippy::float_cmp, reason = "a whole number is equal to itself without fraction")]
        Some(number) if number.trunc() == number =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
            Ok(Some(number as i64))
        }
        _ => Err(Wrong::type_(field, "an integer", value)),
    }
}

/// Of each node of a list its Ready condition, if it has one: of that only the status.
///
/// # Errors
/// As [`taints`].
pub(crate) fn ready_conditions(
    value: &JsValue,
    what: &str,
) -> Result<Vec<Option<NodeCondition>>, JsValue> {
    list(value, what, |node| {
        let status = node.status();
        if is_nothing(&status) {
            return Ok(None);
        }
        let Some(observed) = object(&status) else {
            return Err(Wrong::type_("status", "an object", status));
        };
        let conditions = observed.conditions();
        if is_nothing(&conditions) {
            return Ok(None);
        }
        let Some(conditions) = conditions.dyn_ref::<Array>() else {
            return Err(Wrong::type_("status.conditions", "an array", conditions));
        };
        for index in 0..conditions.length() {
            let condition = conditions.get(index);
            let Some(condition) = object(&condition) else {
                return Err(Wrong::type_("status.conditions", "an array of objects", condition));
            };
            if text(condition.type_(), "status.conditions.type")? == node_condition_type::READY {
                let status = text(condition.status(), "status.conditions.status")?;
                let status = status.as_str().into();
                return Ok(Some(NodeCondition { status, ..NodeCondition::default() }));
            }
        }
        Ok(None)
    })
}

/// An object of options that may be left out; it has no fields but these.
fn options<'a>(value: &'a JsValue, known: &[&str]) -> Result<Option<&'a Plain>, JsValue> {
    if is_nothing(value) {
        return Ok(None);
    }
    let Some(options) = object(value) else {
        return Err(expected("options", "an object", value));
    };
    for name in Object::keys(options.unchecked_ref::<Object>()) {
        let name = name.as_string().unwrap_or_default();
        if !known.contains(&name.as_str()) {
            let known = known.join("`, `");
            let message = format!("there is no field `{name}` here (write one of `{known}`)");
            return Err(wrong_call(&format!("options: {message}")));
        }
    }
    Ok(Some(options))
}

/// Which release, with which feature gates.
///
/// # Errors
/// As [`taints`].
pub(crate) fn release_options(value: &JsValue) -> Result<ReleaseOptions, JsValue> {
    let mut read = ReleaseOptions::default();
    let Some(options) = options(value, &["release", "featureGates"])? else { return Ok(read) };
    let release = options.release();
    if !is_nothing(&release) {
        let release = text(release, "release").map_err(|wrong| wrong.of("options"))?;
        let parsed = KubernetesRelease::parse(&release);
        let parsed = parsed.map_err(|error| wrong_call(&format!("options.release: {error}")))?;
        read.release = Some(parsed);
    }
    let gates = options.feature_gates();
    if !is_nothing(&gates) {
        let Some(gates) = object(&gates) else {
            return Err(expected("options.featureGates", "an object", &gates));
        };
        for entry in Object::entries(gates.unchecked_ref::<Object>()) {
            let entry: Array = entry.unchecked_into();
            let (name, on) = (entry.get(0).as_string().unwrap_or_default(), entry.get(1));
            let Some(on) = on.as_bool() else {
                let path = format!("options.featureGates.{name}");
                return Err(expected(&path, "true or false", &entry.get(1)));
            };
            read.feature_gates.insert(name, on);
        }
    }
    Ok(read)
}

/// From which fraction on a zone is disrupted, if it is said.
///
/// # Errors
/// As [`taints`].
pub(crate) fn zone_state_options(value: &JsValue) -> Result<Option<f32>, JsValue> {
    let Some(options) = options(value, &["unhealthyZoneThreshold"])? else { return Ok(None) };
    let threshold = options.unhealthy_zone_threshold();
    if is_nothing(&threshold) {
        return Ok(None);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the flag is a float32")]
    match threshold.as_f64() {
        Some(number) => Ok(Some(number as f32)),
        None => Err(expected("options.unhealthyZoneThreshold", "a number", &threshold)),
    }
}
