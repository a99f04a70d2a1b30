//! One error about one field.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use chrono::{DateTime, Datelike, Month, Timelike};
use serde::Serialize;

use crate::api::{IntOrPercent, Taint, Toleration};
use crate::quote::{cut, go_quote, json_quote};
use crate::time::Time;

/// What is wrong with one field. Mirrors `field.Error`.
///
/// It prints as the API server writes it, for example
/// `spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FieldError {
    /// Where, for example `spec.tolerations[0].operator`.
    pub field: String,
    /// What kind of error.
    #[serde(rename = "type")]
    pub type_: FieldErrorType,
    /// The value; empty for errors that have none.
    pub bad_value: BadValue,
    /// Why, and often what would be valid.
    pub detail: String,
}

/// The kinds of errors. Mirrors `field.ErrorType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FieldErrorType {
    /// The value has the wrong form.
    #[serde(rename = "FieldValueInvalid")]
    Invalid,
    /// The value is none of those that are allowed.
    #[serde(rename = "FieldValueNotSupported")]
    NotSupported,
    /// There is no value.
    #[serde(rename = "FieldValueRequired")]
    Required,
    /// Another element of the list has this value already.
    #[serde(rename = "FieldValueDuplicate")]
    Duplicate,
    /// This change is not allowed.
    #[serde(rename = "FieldValueForbidden")]
    Forbidden,
}

impl FieldErrorType {
    /// The name in the API, for example `FieldValueInvalid`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
        }
    }
}

/// As in messages, for example `Invalid value`. Mirrors `ErrorType.String`.
impl fmt::Display for FieldErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
        })
    }
}

/// The value that an error is about.
///
/// It prints as Go does: a text in quotes, an object as a Go literal or as JSON. Addresses in
/// memory, which say nothing, are `0xPTR`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum BadValue {
    /// The value of a text field.
    Text(String),
    /// A whole toleration.
    Toleration(Toleration),
    /// A whole taint, as a Go literal.
    Taint(Taint),
    /// A whole taint, as JSON of the API server's own type.
    TaintAsJson(Taint),
    /// A number.
    Number(i64),
    /// Something else, as a Go literal.
    Literal(String),
}

/// The text, or its beginning if it is longer than 1,000 characters.
impl From<&str> for BadValue {
    fn from(text: &str) -> Self {
        Self::Text(cut(text).into_owned())
    }
}

impl From<i64> for BadValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<IntOrPercent> for BadValue {
    fn from(value: IntOrPercent) -> Self {
        let (type_, number, text) = match value {
            IntOrPercent::Int(number) => (0, number, String::new()),
            IntOrPercent::Percent(part) => (1, 0, format!("{part}%")),
        };
        Self::Literal(format!(
            "intstr.IntOrString{{Type:{type_}, IntVal:{number}, StrVal:{}}}",
            go_quote(&text)
        ))
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&go_quote(text)),
            Self::Toleration(toleration) => {
                let seconds = toleration.toleration_seconds.map_or("nil", |_| "0xPTR");
                write!(
                    f,
                    "core.Toleration{{Key:{}, Operator:{}, Value:{}, Effect:{}, \
                     TolerationSeconds:(*int64)({seconds})}}",
                    go_quote(&toleration.key),
                    go_quote(toleration.operator.as_str()),
                    go_quote(&toleration.value),
                    go_quote(toleration.effect.as_str()),
                )
            }
            Self::Taint(taint) => {
                write!(
                    f,
                    "core.Taint{{Key:{}, Value:{}, Effect:{}, TimeAdded:",
                    go_quote(&taint.key),
                    go_quote(&taint.value),
                    go_quote(taint.effect.as_str()),
                )?;
                write_go_time(f, taint.time_added)?;
                f.write_str("}")
            }
            Self::TaintAsJson(taint) => {
                // Upstream's own type names its fields so.
                write!(
                    f,
                    "{{\"Key\":{},\"Value\":{},\"Effect\":{},\"TimeAdded\":",
                    json_quote(&taint.key),
                    json_quote(&taint.value),
                    json_quote(taint.effect.as_str()),
                )?;
                match taint.time_added {
                    Some(time) => write!(f, "\"{time}\"}}"),
                    None => f.write_str("null}"),
                }
            }
            Self::Number(number) => write!(f, "{number}"),
            Self::Literal(literal) => f.write_str(literal),
        }
    }
}

/// Not chrono's formatter, which is much code for one word.
fn month(number: u32) -> &'static str {
    let month = u8::try_from(number).ok().and_then(|number| Month::try_from(number).ok());
    month.map_or("January", |month| month.name())
}

/// As `time.Time.GoString` prints a time that was read from JSON on a machine in UTC.
fn write_go_time(f: &mut fmt::Formatter<'_>, time: Option<Time>) -> fmt::Result {
    let Some(time) = time.and_then(|time| DateTime::from_timestamp(time.unix_seconds(), 0)) else {
        return f.write_str("<nil>");
    };
    write!(
        f,
        "time.Date({}, time.{}, {}, {}, {}, {}, 0, time.Local)",
        time.year(),
        month(time.month()),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
    )
}

/// As the API server writes it. Mirrors `field.Error.Error`.
impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.type_)?;
        if !matches!(self.type_, FieldErrorType::Required | FieldErrorType::Forbidden) {
            write!(f, ": {}", self.bad_value)?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl core::error::Error for FieldError {}

impl FieldError {
    /// The value has the wrong form. Mirrors `field.Invalid`.
    pub fn invalid(
        field: impl Into<String>,
        bad_value: impl Into<BadValue>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(field, FieldErrorType::Invalid, bad_value, detail)
    }

    /// The value is none of `supported`. Mirrors `field.NotSupported`.
    pub fn not_supported<'a>(
        field: impl Into<String>,
        bad_value: impl Into<BadValue>,
        supported: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let supported: Vec<_> = supported.into_iter().map(go_quote).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        Self::new(field, FieldErrorType::NotSupported, bad_value, detail)
    }

    /// There is no value. Mirrors `field.Required`.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, FieldErrorType::Required, "", detail)
    }

    /// Another element of the list has this value already. Mirrors `field.Duplicate`.
    pub fn duplicate(
        field: impl Into<String>,
        bad_value: impl Into<BadValue>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(field, FieldErrorType::Duplicate, bad_value, detail)
    }

    /// This change is not allowed. Mirrors `field.Forbidden`.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, FieldErrorType::Forbidden, "", detail)
    }

    fn new(
        field: impl Into<String>,
        type_: FieldErrorType,
        bad_value: impl Into<BadValue>,
        detail: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), type_, bad_value: bad_value.into(), detail: detail.into() }
    }
}
