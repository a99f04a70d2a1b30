//! Leases of nodes.

use alloc::string::String;

use serde::{Deserialize, Serialize, Serializer};

use super::{ApiVersion, Fields, Kind, ObjectMeta, TypeName, is_default, nullable};
use crate::time::Time;

/// Marks [`Lease`] as `coordination.k8s.io/v1`, `Lease`.
pub enum LeaseKind {}

impl TypeName for LeaseKind {
    const KIND: &'static str = "Lease";
    const API_VERSION: &'static str = "coordination.k8s.io/v1";
}

/// `coordination.k8s.io/v1` `Lease`: the light sign of life of a kubelet. That of a node has the
/// node's name, in the namespace `kube-node-lease`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Lease {
    /// `coordination.k8s.io/v1`.
    pub api_version: ApiVersion<LeaseKind>,
    /// `Lease`.
    pub kind: Kind<LeaseKind>,
    /// Name, namespace and so on.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// Who holds it, and since when.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spec: LeaseSpec,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

impl Lease {
    /// The namespace of the leases of nodes. Mirrors `v1.NamespaceNodeLease`.
    pub const NODE_NAMESPACE: &'static str = "kube-node-lease";
}

/// `coordination.k8s.io/v1` `LeaseSpec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LeaseSpec {
    /// Who holds it: the node's name.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub holder_identity: String,
    /// How long it counts, in seconds; 40 for a node.
    #[serde(skip_serializing_if = "is_default")]
    pub lease_duration_seconds: Option<i32>,
    /// When the holder renewed it last.
    #[serde(skip_serializing_if = "is_default", serialize_with = "micro_time")]
    pub renew_time: Option<Time>,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// As `metav1.MicroTime` is written, which the API server insists on: six digits of a second.
fn micro_time<S: Serializer>(time: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(&time.to_micro_string()),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_written_as_it_was_read() {
        let text = concat!(
            r#"{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","#,
            r#""metadata":{"name":"a","namespace":"kube-node-lease"},"#,
            r#""spec":{"holderIdentity":"a","leaseDurationSeconds":40,"#,
            r#""renewTime":"2020-01-01T00:00:10.000000Z","#,
            r#""acquireTime":"2020-01-01T00:00:00.000000Z"}}"#,
        );
        let lease: Lease = serde_json::from_str(text).unwrap();
        assert_eq!(lease.spec.renew_time, Some(Time::from_unix_seconds(1_577_836_810)));
        assert_eq!(serde_json::to_string(&lease).unwrap(), text);
        assert!(serde_json::from_str::<Lease>(r#"{"kind":"Node"}"#).is_err());
    }
}
