//! Fields that the engine does not read but keeps, and the constant ones.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// The fields of an object that the engine does not read, kept for export.
///
/// One pointer wide, since most parts of most objects have none. Copies share them until one is
/// changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fields(Option<Arc<Map<String, Value>>>);

// The other fields of each type have a name of their own, so that TypeScript can say which there
// are.

/// The other fields of an object whose fields are all typed.
pub type NoOtherFields = Fields;
/// The other fields of `v1.NodeSpec`.
pub type NodeSpecFields = Fields;
/// The other fields of `v1.NodeStatus`.
pub type NodeStatusFields = Fields;
/// The other fields of `metav1.ObjectMeta`.
pub type ObjectMetaFields = Fields;
/// The other fields of `metav1.OwnerReference`.
pub type OwnerReferenceFields = Fields;
/// The other fields of `v1.PodCondition`.
pub type PodConditionFields = Fields;
/// The other fields of `v1.PodSpec`.
pub type PodSpecFields = Fields;
/// The other fields of `v1.PodStatus`.
pub type PodStatusFields = Fields;
/// The other fields of a workload or a budget.
pub type WorkloadFields = Fields;
/// The other fields of the `spec` of a workload.
pub type WorkloadSpecFields = Fields;

impl Fields {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value of field `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    /// All fields, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter().flat_map(|map| map.iter())
    }

    /// Sets field `name`, or removes it when `value` is `null`.
    pub fn set(&mut self, name: &str, value: Value) {
        if value.is_null() && self.get(name).is_none() {
            return;
        }
        let shared = self.0.get_or_insert_default();
        if Arc::get_mut(shared).is_none() {
            // What is replaced is not copied: it can be all that there is, as the status is.
            let mut kept = Map::new();
            for (other, value) in shared.iter().filter(|(other, _)| *other != name) {
                kept.insert(other.clone(), value.clone());
            }
            *shared = Arc::new(kept);
        }
        let map = Arc::make_mut(shared);
        if value.is_null() {
            map.remove(name);
        } else {
            map.insert(name.into(), value);
        }
        self.0.take_if(|map| map.is_empty());
    }
}

impl From<Map<String, Value>> for Fields {
    fn from(map: Map<String, Value>) -> Self {
        Self((!map.is_empty()).then(|| Arc::new(map)))
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut map = Map::<String, Value>::deserialize(deserializer)?;
        map.retain(|_, value| !value.is_null());
        Ok(map.into())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Fields {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Fields".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": true })
    }
}

/// What `kind` and `apiVersion` an object type has; implemented by marker types.
pub trait TypeName {
    /// The value of `kind`.
    const KIND: &'static str;
    /// The value of `apiVersion`.
    const API_VERSION: &'static str = "v1";
}

macro_rules! constant_field {
    ($(#[$meta:meta])* $name:ident, $field:literal, $constant:ident) => {
        $(#[$meta])*
        pub struct $name<T>(PhantomData<T>);

        // Not derived: a derive would ask the same of `T`.
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                Self(PhantomData)
            }
        }
        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self(PhantomData)
            }
        }
        impl<T> PartialEq for $name<T> {
            fn eq(&self, _: &Self) -> bool {
                true
            }
        }
        impl<T> Eq for $name<T> {}
        impl<T: TypeName> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::$constant)
            }
        }
        impl<T: TypeName> Serialize for $name<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(T::$constant)
            }
        }
        impl<'de, T: TypeName> Deserialize<'de> for $name<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor<T>(PhantomData<T>);
                impl<T: TypeName> de::Visitor<'_> for Visitor<T> {
                    type Value = $name<T>;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "`{}: {}`", $field, T::$constant)
                    }
                    // The API server fills in an empty one, and so do we.
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                        if text.is_empty() || text == T::$constant {
                            return Ok($name(PhantomData));
                        }
                        Err(E::invalid_value(de::Unexpected::Str(text), &self))
                    }
                    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                        Ok($name(PhantomData))
                    }
                }
                deserializer.deserialize_any(Visitor(PhantomData))
            }
        }
        #[cfg(feature = "schema")]
        impl<T: TypeName> schemars::JsonSchema for $name<T> {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                alloc::format!("{}{}", T::KIND, stringify!($name)).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "const": T::$constant })
            }
        }
    };
}

constant_field!(
    /// The `kind` of an object: a constant that takes no memory, always there on export.
    Kind, "kind", KIND
);
constant_field!(
    /// The `apiVersion` of an object: a constant that takes no memory, always there on export.
    ApiVersion, "apiVersion", API_VERSION
);

/// JSON form of a value, by way of its text: `serde_json::to_value` would compile each type once more.
///
/// # Errors
/// The value has no JSON form, for example a map whose keys are not strings.
pub fn json_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&serde_json::to_string(value)?)
}

/// Object with these fields, whose values it takes. `json!` makes the same, with code of its own for each
/// field: several times as many bytes of WebAssembly.
#[must_use]
pub fn object(fields: &mut [(&str, Value)]) -> Value {
    let mut map = Map::new();
    for (name, value) in fields {
        map.insert((*name).into(), value.take());
    }
    map.into()
}

/// Reads a field in which `null` means the default, as Kubernetes does.
pub fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Whether a field is left out of JSON, as Go's `omitempty` does.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
