//! Taints, tolerations and other values of questions, read from JavaScript objects.
//!
//! They are small and asked about often, so they are read field by field and not as JSON. `null`
//! and absent fields mean the same as in a file, and wrong types give the same errors.

use js_sys::{Array, JsString};
use taintlab_core::api::{NodeCondition, Taint, Toleration, node_condition_type};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Time;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsThreadLocal, JsValue};

use crate::input::{expected, found, string, wrong_call};
use crate::js;
use crate::options::ReleaseOptions;

/// Limit of whole numbers of 64 bits: they are at least its negative, and less than it.
const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;

/// The names of an object's fields, separated by spaces.
type Names = JsThreadLocal<JsString>;

// rustfmt drops the strings.
#[rustfmt::skip]
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, static_string)]
    static TAINT: JsString = "key value effect timeAdded";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static TOLERATION: JsString = "key operator value effect tolerationSeconds";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static NODE: JsString = "status";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static STATUS: JsString = "conditions";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static CONDITION: JsString = "type status";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static RELEASE_OPTIONS: JsString = "release featureGates";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ZONE_STATE_OPTIONS: JsString = "unhealthyZoneThreshold";
}

/// An object with its fields read.
struct Record<'a> {
    /// Names of the object's other fields, then the values of the named fields, in order.
    fields: Array,
    names: &'static Names,
    /// The object's name in errors: `taints[0]`.
    what: &'a dyn Fn() -> String,
}

impl<'a> Record<'a> {
    /// `read` comes from JavaScript; a text describes a value that is not an object.
    fn new(
        read: JsValue,
        names: &'static Names,
        what: &'a dyn Fn() -> String,
    ) -> Result<Self, JsValue> {
        match read.as_string() {
            None => Ok(Self { fields: read.unchecked_into(), names, what }),
            Some(text) => Err(found(&what(), "an object", &text)),
        }
    }

    /// The field with that index, from 0.
    fn get(&self, field: u32) -> Option<JsValue> {
        let value = self.fields.get(field + 1);
        (!value.is_undefined() && !value.is_null()).then_some(value)
    }

    fn path(&self, field: u32) -> String {
        let names = self.names.with(|names| String::from(names));
        format!("{}.{}", (self.what)(), names.split(' ').nth(field as usize).unwrap_or_default())
    }

    fn wrong<T>(&self, field: u32, wanted: &str, value: &JsValue) -> Result<T, JsValue> {
        Err(expected(&self.path(field), wanted, value))
    }

    /// A text; empty if absent.
    fn text(&self, field: u32) -> Result<String, JsValue> {
        self.get(field).map_or(Ok(String::new()), |value| string(&value, || self.path(field)))
    }

    /// A time in RFC 3339, or a date.
    fn time(&self, field: u32) -> Result<Option<Time>, JsValue> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let Some(text) = value.as_string() else {
            return self.wrong(field, "a time in RFC 3339, or a date", &value);
        };
        let time = Time::parse(&text);
        time.map(Some).map_err(|error| wrong_call(&format!("{}: {error}", self.path(field))))
    }

    fn whole(&self, field: u32) -> Result<Option<i64>, JsValue> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let in_range = |number: &f64| (-TWO_TO_THE_63..TWO_TO_THE_63).contains(number);
        match value.as_f64().filter(in_range) {
            #[expect(clippy::float_cmp, reason = "whole numbers have no fraction to lose")]
            Some(number) if number.trunc() == number =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
                Ok(Some(number as i64))
            }
            _ => self.wrong(field, "an integer", &value),
        }
    }

    /// The names of the object's other fields, one per line.
    fn others(&self) -> Option<String> {
        self.fields.get(0).as_string()
    }

    /// Refuses other fields only if their name is close to a known one; Kubernetes ignores the
    /// rest.
    fn no_near_miss(&self) -> Result<(), JsValue> {
        let Some(others) = self.others() else { return Ok(()) };
        let names = self.names.with(|names| String::from(names));
        let meant = |other| Some((other, did_you_mean(other, names.split(' '))?));
        others.lines().find_map(meant).map_or(Ok(()), |(other, meant)| {
            let what = (self.what)();
            let help = format!("did you mean `{meant}`?");
            Err(wrong_call(&format!("{what}: there is no field `{other}` here ({help})")))
        })
    }
}

/// The known name that was probably meant.
fn did_you_mean<'n>(name: &str, mut known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let simple = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    // The distance takes time in the product of the lengths.
    let name = Some(name).filter(|name| name.len() < 64).map(simple)?;
    known
        .find(|known| strsim::osa_distance(&name, &simple(known)) <= known.len().div_ceil(4).min(3))
}

/// Reads each object of a list. `what` is the name of the argument.
fn list<T>(
    value: &JsValue,
    what: &str,
    names: &'static Names,
    read: impl Fn(&Record<'_>) -> Result<T, JsValue>,
) -> Result<Vec<T>, JsValue> {
    let records = names.with(|names| js::records(value, names))?;
    if records.is_undefined() {
        return Err(expected(what, "an array", value));
    }
    let records: Array = records.unchecked_into();
    let read = |index| {
        let here = || format!("{what}[{index}]");
        read(&Record::new(records.get(index), names, &here)?)
    };
    (0..records.length()).map(read).collect()
}

/// Reads the fields of an object. `what` names it in errors.
fn record<'a>(
    value: &JsValue,
    names: &'static Names,
    what: &'a dyn Fn() -> String,
) -> Result<Record<'a>, JsValue> {
    Record::new(names.with(|names| js::record(value, names))?, names, what)
}

/// Reads a list of taints.
///
/// # Errors
/// A `TypeError` that says which field is wrong and what was expected, or the exception of a
/// getter.
pub(crate) fn taints(value: &JsValue, what: &str) -> Result<Vec<Taint>, JsValue> {
    list(value, what, &TAINT, |taint| {
        taint.no_near_miss()?;
        Ok(Taint {
            key: taint.text(0)?,
            value: taint.text(1)?,
            effect: taint.text(2)?.as_str().into(),
            time_added: taint.time(3)?,
        })
    })
}

/// Reads a list of tolerations.
///
/// # Errors
/// Those of [`taints`].
pub(crate) fn tolerations(value: &JsValue, what: &str) -> Result<Vec<Toleration>, JsValue> {
    list(value, what, &TOLERATION, |toleration| {
        toleration.no_near_miss()?;
        Ok(Toleration {
            key: toleration.text(0)?,
            operator: toleration.text(1)?.as_str().into(),
            value: toleration.text(2)?,
            effect: toleration.text(3)?.as_str().into(),
            toleration_seconds: toleration.whole(4)?,
        })
    })
}

/// Reads the Ready condition of each node in a list, if it has one; of the condition only the
/// status.
///
/// # Errors
/// Those of [`taints`].
pub(crate) fn ready_conditions(
    value: &JsValue,
    what: &str,
) -> Result<Vec<Option<NodeCondition>>, JsValue> {
    list(value, what, &NODE, |node| {
        let Some(status) = node.get(0) else { return Ok(None) };
        let path = || node.path(0);
        let Some(conditions) = record(&status, &STATUS, &path)?.get(0) else { return Ok(None) };
        let path = format!("{}.conditions", path());
        let ready = list(&conditions, &path, &CONDITION, |condition| {
            if condition.text(0)? != node_condition_type::READY {
                return Ok(None);
            }
            let status = condition.text(1)?.as_str().into();
            Ok(Some(NodeCondition { status, ..NodeCondition::default() }))
        })?;
        Ok(ready.into_iter().flatten().next())
    })
}

/// Reads an object of options that may be left out; other fields are errors.
fn options(value: &JsValue, names: &'static Names) -> Result<Option<Record<'static>>, JsValue> {
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let options = record(value, names, &|| "options".into())?;
    let Some(others) = options.others() else { return Ok(Some(options)) };
    let other = others.lines().next().unwrap_or_default();
    let known = names.with(|names| String::from(names));
    let help = match did_you_mean(other, known.split(' ')) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the fields here are `{}`", known.replace(' ', "`, `")),
    };
    Err(wrong_call(&format!("options: there is no field `{other}` here ({help})")))
}

/// Reads the release and the feature gates.
///
/// # Errors
/// Those of [`taints`].
pub(crate) fn release_options(value: &JsValue) -> Result<ReleaseOptions, JsValue> {
    let mut read = ReleaseOptions::default();
    let Some(options) = options(value, &RELEASE_OPTIONS)? else { return Ok(read) };
    if options.get(0).is_some() {
        let parsed = KubernetesRelease::parse(&options.text(0)?);
        let parsed = parsed.map_err(|error| wrong_call(&format!("options.release: {error}")))?;
        read.release = Some(parsed);
    }
    let Some(gates) = options.get(1) else { return Ok(read) };
    let entries = js::entries(&gates)?;
    if entries.is_undefined() {
        return options.wrong(1, "an object", &gates);
    }
    let entries: Array = entries.unchecked_into();
    for index in (0..entries.length()).step_by(2) {
        let (name, on) = (string(&entries.get(index), || options.path(1))?, entries.get(index + 1));
        let Some(on) = on.as_bool() else {
            return Err(expected(&format!("{}.{name}", options.path(1)), "true or false", &on));
        };
        read.feature_gates.insert(name, on);
    }
    Ok(read)
}

/// Reads the fraction from which on a zone is disrupted, if it is given.
///
/// # Errors
/// Those of [`taints`].
pub(crate) fn zone_state_options(value: &JsValue) -> Result<Option<f32>, JsValue> {
    let Some(options) = options(value, &ZONE_STATE_OPTIONS)? else { return Ok(None) };
    let Some(threshold) = options.get(0) else { return Ok(None) };
    #[expect(clippy::cast_possible_truncation, reason = "the flag is a float32")]
    match threshold.as_f64() {
        Some(number) => Ok(Some(number as f32)),
        None => options.wrong(0, "a number", &threshold),
    }
}
