//! Requests to the API server, and their results.

use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

/// Identifies a request of one controller until its result is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub u64);

/// Kind of a controller's request to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum RequestVerb {
    /// `GET` of a pod, before its status is patched.
    Get,
    /// `PATCH` of a pod's status: the condition `DisruptionTarget`.
    PatchStatus,
    /// `DELETE` of a pod.
    Delete,
    /// `POST` of an `Eviction` of a pod, which asks the budgets.
    Evict,
}

impl RequestVerb {
    /// Whether a successful request removes the pod.
    #[must_use]
    pub const fn removes_pod(self) -> bool {
        matches!(self, Self::Delete | Self::Evict)
    }
}

/// Result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", tag = "type", content = "error")]
pub enum RequestResult {
    /// Success.
    Ok,
    /// Accepted, but the pod was terminating already.
    AlreadyTerminating,
    /// 404: the object does not exist.
    NotFound,
    /// Error of a request that was made to fail.
    Error(ApiErrorKind),
}

/// The verb as in a log of requests: `DELETE`.
impl fmt::Display for RequestVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "GET",
            Self::PatchStatus => "PATCH status",
            Self::Delete => "DELETE",
            Self::Evict => "POST eviction of",
        })
    }
}

/// The result in words: `ok`, `not found`, `Conflict`.
impl fmt::Display for RequestResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::AlreadyTerminating => f.write_str("ok, terminating already"),
            Self::NotFound => f.write_str("not found"),
            Self::Error(error) => write!(f, "{error:?}"),
        }
    }
}

impl RequestResult {
    /// Whether the request succeeded.
    #[must_use]
    pub fn is_ok(self) -> bool {
        matches!(self, Self::Ok | Self::AlreadyTerminating)
    }
}

/// A write to a node that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum NodeWrite {
    /// Conditions in the status.
    Status,
    /// Taints of the node.
    Taints,
    /// Labels of the node.
    Labels,
}

/// A write to a pod that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum PodWrite {
    /// `DELETE` of the pod, and `POST` of its eviction.
    Delete,
    /// `PATCH` of the pod's status.
    PatchStatus,
}

/// Error of a request that is made to fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub enum ApiErrorKind {
    /// 500, the API server has a problem.
    #[default]
    InternalError,
    /// 409, the object was modified meanwhile.
    Conflict,
    /// 429, too many requests.
    TooManyRequests,
    /// 403, not allowed.
    Forbidden,
}

impl ApiErrorKind {
    /// Message of a client about a request for this pod. Texts that the API server does not produce
    /// by itself say `simulated`; the client's own text about a 429 mirrors
    /// `NewGenericServerResponse`, in which an eviction belongs to the group of its client.
    #[must_use]
    pub fn message_about_pod(self, verb: RequestVerb, name: &str) -> String {
        match self {
            Self::InternalError => "Internal error occurred: simulated".into(),
            Self::Conflict => format!(
                "Operation cannot be fulfilled on pods {name:?}: the object has been modified; \
                 please apply your changes to the latest version and try again"
            ),
            Self::TooManyRequests => {
                let request = match verb {
                    RequestVerb::Get => "get pods",
                    RequestVerb::PatchStatus => "patch pods",
                    RequestVerb::Delete => "delete pods",
                    RequestVerb::Evict => "post pods.policy",
                };
                format!(
                    "the server has received too many requests and has asked us to try again \
                     later ({request} {name})"
                )
            }
            Self::Forbidden => format!("pods {name:?} is forbidden: simulated"),
        }
    }

    /// Reason as in `kubectl`: `Error from server (InternalError)`.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::InternalError => "InternalError",
            Self::Conflict => "Conflict",
            Self::TooManyRequests => "TooManyRequests",
            Self::Forbidden => "Forbidden",
        }
    }
}
