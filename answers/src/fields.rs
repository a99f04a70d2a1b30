//! Objects in JSON, read field by field, so that errors name the field.
//!
//! The errors are those of the npm package. Readers derived by serde know no paths, and are twice
//! the code.

use serde_json::{Map, Value};
use taintlab_core::api::{NodeCondition, Taint, Toleration, node_condition_type};
use taintlab_core::time::Time;

/// A value that cannot be read: its field, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread(pub String);

/// The fields of a taint.
pub const TAINT: &[&str] = &["key", "value", "effect", "timeAdded"];
/// The fields of a toleration.
pub const TOLERATION: &[&str] = &["key", "operator", "value", "effect", "tolerationSeconds"];

/// The most elements of a list: an error about each must fit into memory.
const MOST: usize = 16_384;

/// An object with its name in errors.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    fields: &'a Map<String, Value>,
    path: String,
}

/// Treatment of other fields.
#[derive(Clone, Copy)]
enum Others {
    /// None.
    Refused,
    /// Those whose name is not close to a known one; Kubernetes ignores them.
    UnlessNear,
}

impl<'a> Fields<'a> {
    /// The fields of a request, settings or options; other names than `known` are refused.
    ///
    /// # Errors
    /// The value is no object, or has another field.
    pub fn of(value: &'a Value, path: &str, known: &[&str]) -> Result<Self, Misread> {
        Self::read(value, path.to_owned(), known, Others::Refused)
    }

    /// The fields of an object of Kubernetes; only misspelt names of `known` are refused.
    ///
    /// # Errors
    /// The value is no object, or a name is misspelt.
    pub fn of_object(value: &'a Value, path: &str, known: &[&str]) -> Result<Self, Misread> {
        Self::read(value, path.to_owned(), known, Others::UnlessNear)
    }

    fn read(
        value: &'a Value,
        path: String,
        known: &[&str],
        others: Others,
    ) -> Result<Self, Misread> {
        let Value::Object(fields) = value else {
            return expected(&path, "an object", value);
        };
        for name in fields.keys().filter(|name| !known.contains(&name.as_str())) {
            let help = match (did_you_mean(name, known), others) {
                (Some(meant), _) => format!("did you mean `{meant}`?"),
                (None, Others::Refused) => format!("the fields here are `{}`", known.join("`, `")),
                (None, Others::UnlessNear) => continue,
            };
            let dot = if path.is_empty() { "" } else { ": " };
            let message = format!("{path}{dot}there is no field `{name}` here ({help})");
            return Err(Misread(message));
        }
        Ok(Self { fields, path })
    }

    /// A field; `null` is as good as none.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// A field that there must be.
    ///
    /// # Errors
    /// The field is absent.
    pub fn required(&self, name: &str, wanted: &str) -> Result<&'a Value, Misread> {
        self.get(name).map_or_else(|| expected(&self.path(name), wanted, &Value::Null), Ok)
    }

    /// The path of a field.
    #[must_use]
    pub fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// A text; empty if absent.
    ///
    /// # Errors
    /// The value is no text.
    pub fn text(&self, name: &str) -> Result<&'a str, Misread> {
        let Some(value) = self.get(name) else { return Ok("") };
        value.as_str().map_or_else(|| expected(&self.path(name), "a string", value), Ok)
    }

    /// The elements of a list; none if it is absent.
    ///
    /// # Errors
    /// The value is no list, or has too many elements.
    pub fn list(&self, name: &str) -> Result<&'a [Value], Misread> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(list)) if list.len() > MOST => {
                let message = format!("a list of {} elements; at most {MOST} are read", list.len());
                Err(self.wrong(name, &message))
            }
            Some(Value::Array(list)) => Ok(list),
            Some(value) => expected(&self.path(name), "an array", value),
        }
    }

    /// The taints in the field `taints`.
    ///
    /// # Errors
    /// A taint cannot be read.
    pub fn taints(&self) -> Result<Vec<Taint>, Misread> {
        self.objects("taints", TAINT, |taint| {
            let time = match taint.text("timeAdded")? {
                "" => None,
                text => Some(Time::parse(text).map_err(|error| taint.wrong("timeAdded", &error))?),
            };
            Ok(Taint {
                key: taint.text("key")?.to_owned(),
                value: taint.text("value")?.to_owned(),
                effect: taint.text("effect")?.into(),
                time_added: time,
            })
        })
    }

    /// The tolerations in the field `tolerations`.
    ///
    /// # Errors
    /// A toleration cannot be read.
    pub fn tolerations(&self) -> Result<Vec<Toleration>, Misread> {
        self.objects("tolerations", TOLERATION, |toleration| {
            let seconds = match toleration.get("tolerationSeconds") {
                None => None,
                Some(value) => match value.as_i64() {
                    Some(seconds) => Some(seconds),
                    None => {
                        let path = toleration.path("tolerationSeconds");
                        return expected(&path, "an integer", value);
                    }
                },
            };
            Ok(Toleration {
                key: toleration.text("key")?.to_owned(),
                operator: toleration.text("operator")?.into(),
                value: toleration.text("value")?.to_owned(),
                effect: toleration.text("effect")?.into(),
                toleration_seconds: seconds,
            })
        })
    }

    fn objects<T>(
        &self,
        name: &str,
        known: &[&str],
        read: fn(&Fields<'_>) -> Result<T, Misread>,
    ) -> Result<Vec<T>, Misread> {
        let object = |(index, value)| {
            let path = format!("{}[{index}]", self.path(name));
            read(&Fields::read(value, path, known, Others::UnlessNear)?)
        };
        self.list(name)?.iter().enumerate().map(object).collect()
    }

    /// The Ready condition of each node in the field `nodes`, if it has one; of the condition only
    /// the status.
    ///
    /// # Errors
    /// A node cannot be read.
    pub fn ready_conditions(&self) -> Result<Vec<Option<NodeCondition>>, Misread> {
        self.objects("nodes", &["status"], |node| {
            let Some(status) = node.get("status") else { return Ok(None) };
            let known = &["conditions"];
            let status = Fields::read(status, node.path("status"), known, Others::UnlessNear)?;
            let ready = status.objects("conditions", &["type", "status"], |condition| {
                let is_ready = condition.text("type")? == node_condition_type::READY;
                Ok(if is_ready { Some(condition.text("status")?.into()) } else { None })
            })?;
            let ready = ready.into_iter().flatten().next();
            Ok(ready.map(|status| NodeCondition { status, ..NodeCondition::default() }))
        })
    }

    /// The refusal of a field.
    #[must_use]
    pub fn wrong(&self, name: &str, message: &str) -> Misread {
        Misread(format!("{}: {message}", self.path(name)))
    }
}

/// Refuses a value of the wrong type.
///
/// # Errors
/// Always.
pub fn expected<T>(path: &str, wanted: &str, value: &Value) -> Result<T, Misread> {
    let found = match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(on) => format!("`{on}`"),
        Value::Number(number) => format!("the number `{number}`"),
        Value::String(text) => {
            format!("the string `{}`", text.chars().take(40).collect::<String>())
        }
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    let dot = if path.is_empty() { "" } else { ": " };
    Err(Misread(format!("{path}{dot}expected {wanted}, found {found}")))
}

/// The known name that was probably meant.
#[must_use]
pub fn did_you_mean<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let simple = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    // The distance takes time in the product of the lengths.
    let name = Some(name).filter(|name| name.len() < 64).map(simple)?;
    let is_near = |known: &&&str| {
        strsim::osa_distance(&name, &simple(known)) <= known.len().div_ceil(4).min(3)
    };
    known.iter().find(is_near).copied()
}
