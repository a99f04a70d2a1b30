//! The names by which nodes and pods are found.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::cmp::Ordering;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The name of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(type = "string"))]
#[serde(transparent)]
pub struct NodeName(#[serde(serialize_with = "as_str")] Arc<str>);

impl NodeName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for NodeName {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

// Lets a map that has `NodeName` keys be searched with a `&str`.
impl core::borrow::Borrow<str> for NodeName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for NodeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(String::deserialize(deserializer)?.as_str().into())
    }
}

/// The namespace and name of a pod, written `namespace/name`.
///
/// Ordered by that text, which is the order of Kubernetes' own store.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(type = "string"))]
#[serde(transparent)]
pub struct PodKey(#[serde(serialize_with = "as_str")] Arc<str>);

impl PodKey {
    /// The key of pod `name` in `namespace`; an empty namespace is `default`.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        let namespace = if namespace.is_empty() { "default" } else { namespace };
        // Not `format!`, which a profile of reports shows: keys are made all the time.
        Self([namespace, "/", name].concat().into())
    }

    /// Reads `namespace/name`, or `name` in the namespace `default`.
    ///
    /// # Errors
    /// Says what such a key looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
        if namespace.is_empty() || name.is_empty() || name.contains('/') {
            return Err(format!("`{text}` does not name a pod; write `namespace/name`"));
        }
        Ok(Self::new(namespace, name))
    }

    /// `namespace/name`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.0.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The name, without the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(&*self.0, |(_, name)| name)
    }
}

impl Ord for PodKey {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        let [one, other] = [self, other].map(|key| key.0.as_bytes());
        // Keys begin alike, and WebAssembly has no comparison of texts but byte by byte.
        let (parts, others) = (one.as_chunks::<8>().0, other.as_chunks::<8>().0);
        for (part, other) in parts.iter().zip(others) {
            let (part, other) = (u64::from_ne_bytes(*part), u64::from_ne_bytes(*other));
            if part != other {
                return part.to_be().cmp(&other.to_be());
            }
        }
        let same = parts.len().min(others.len()) * 8;
        one.get(same..).cmp(&other.get(same..))
    }
}

impl PartialOrd for PodKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl core::borrow::Borrow<str> for PodKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PodKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for PodKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

fn as_str<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

#[cfg(feature = "schema")]
mod schema {
    use super::{NodeName, PodKey};

    impl schemars::JsonSchema for NodeName {
        fn schema_name() -> alloc::borrow::Cow<'static, str> {
            "NodeName".into()
        }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({ "type": "string", "description": "The name of a node." })
        }
    }

    impl schemars::JsonSchema for PodKey {
        fn schema_name() -> alloc::borrow::Cow<'static, str> {
            "PodKey".into()
        }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({
                "type": "string",
                "description": "`namespace/name` of a pod, or `name` in the namespace `default`.",
                "pattern": "^([^/]+/)?[^/]+$"
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pod_keys_are_ordered_as_their_texts() {
        let texts = [
            "a/a",
            "a/b",
            "team/web-12345678",
            "team/web-12345679",
            "team/web-1234567",
            "team/web",
            "team/web-0",
            "team/web-00",
            "team/web-\u{e4}",
            "tean/web-12345678",
            "team/web-12345678-9abcdef01",
            "team/web-12345678-9abcdef02",
            "t/12345",
            "t/123456",
        ];
        for (one, other) in texts.iter().flat_map(|one| texts.map(|other| (*one, other))) {
            let keys = [one, other].map(|text| PodKey::parse(text).unwrap());
            assert_eq!(keys[0].cmp(&keys[1]), one.cmp(other), "{one} {other}");
        }
    }

    #[test]
    fn pod_keys_read_and_print() {
        let key = PodKey::parse("web-0").unwrap();
        assert_eq!(
            (key.namespace(), key.name(), key.as_str()),
            ("default", "web-0", "default/web-0")
        );
        assert_eq!(PodKey::new("", "a"), PodKey::parse("default/a").unwrap());
        for bad in ["", "/a", "a/", "a/b/c"] {
            assert!(PodKey::parse(bad).is_err(), "{bad:?}");
        }
    }
}
