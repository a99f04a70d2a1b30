//! The engine as a WebAssembly module for any host: a request in JSON, an answer in JSON.
//!
//! `docs/policy-module.md` is the contract. The module has no imports, so it has no clock, no
//! files and no random numbers. It converts and forwards; every rule of Kubernetes is in
//! `taintlab_core`, and the answers are those of the npm package, byte for byte.

#[cfg(target_family = "wasm")]
mod abi;
mod number;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(feature = "simulator")]
mod simulated;
#[cfg(test)]
mod tests;
mod values;

use serde::Serialize;
use serde_json::Value;
use taintlab_answers::fields::{Fields, Misread};
use taintlab_answers::problem::{Failure, Problem, bounded};

/// The version of the contract. A host refuses a module whose version it does not know.
pub const CONTRACT: u32 = 1;

/// The longest request in bytes, unless the host says otherwise.
pub const DEFAULT_LIMIT: usize = 1 << 20;

/// The longest request in bytes that a host can allow.
pub const MAX_LIMIT: usize = 16 << 20;

/// An answer may be as many times longer than the longest request.
const ANSWER_FACTOR: usize = 16;

/// Why there is no answer.
pub(crate) enum Refusal {
    /// The request cannot be read; the text says why.
    Request(String),
    /// The request is read, and its values are wrong.
    Values(Vec<Problem>),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Values(vec![problem])
    }
}

impl From<Misread> for Refusal {
    fn from(Misread(message): Misread) -> Self {
        Self::Request(message)
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Self::Request(error.to_string())
    }
}

/// An answer in JSON, or why there is none.
pub(crate) type Answer = Result<Vec<u8>, Refusal>;

/// Answers a request of at most `limit` bytes; 0 stands for [`DEFAULT_LIMIT`]. Whatever is wrong is
/// in the answer: `{"ok":false,"errors":[…]}`.
#[must_use]
pub fn call(request: &[u8], limit: usize) -> Vec<u8> {
    let limit = if limit == 0 { DEFAULT_LIMIT } else { limit.min(MAX_LIMIT) };
    match answer(request, limit) {
        Ok(answer) => answer,
        Err(Refusal::Values(errors)) => write(&Failure { ok: false, errors }).unwrap_or_default(),
        Err(Refusal::Request(message)) => refused(&message),
    }
}

/// The answer to a request that cannot be read.
pub(crate) fn refused(message: &str) -> Vec<u8> {
    #[derive(Serialize)]
    struct Refused {
        ok: bool,
        errors: [Error; 1],
    }
    #[derive(Serialize)]
    struct Error {
        code: &'static str,
        message: String,
        path: &'static str,
    }
    let message = bounded(message).into_owned();
    let error = Error { code: "invalidRequest", message, path: "" };
    write(&Refused { ok: false, errors: [error] }).unwrap_or_default()
}

/// The functions, and the fields of their requests.
pub(crate) const FUNCTIONS: &[(&str, &[&str])] = &[
    ("match", &["function", "taints", "tolerations", "options"]),
    ("toleration_time", &["function", "tolerations"]),
    ("zone_state", &["function", "nodes", "options"]),
    ("validate", &["function", "taints", "tolerations", "options"]),
    #[cfg(feature = "simulator")]
    ("when", &["function", "pod", "node", "options"]),
    #[cfg(feature = "simulator")]
    ("lint", &["function", "manifests", "options"]),
    #[cfg(feature = "simulator")]
    ("explain", &["function", "manifests", "pod", "options"]),
];

fn answer(request: &[u8], limit: usize) -> Answer {
    if request.len() > limit {
        let message = format!("a request may have {limit} bytes; this one has {}", request.len());
        return Err(Refusal::Request(message));
    }
    let room = limit.saturating_mul(ANSWER_FACTOR);
    let request: Value = serde_json::from_slice(request)?;
    let function = request.get("function").and_then(Value::as_str).unwrap_or_default();
    let Some((_, known)) = FUNCTIONS.iter().find(|(name, _)| *name == function) else {
        let names: Vec<_> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
        let names = names.join("`, `");
        let message = format!("there is no function `{function}`; the functions are `{names}`");
        return Err(Refusal::Request(message));
    };
    let request = Fields::of(&request, "", known)?;
    match function {
        "match" => values::match_(&request, room),
        "toleration_time" => values::toleration_time(&request),
        "zone_state" => values::zone_state(&request),
        #[cfg(feature = "simulator")]
        "when" => simulated::when(&request, room),
        #[cfg(feature = "simulator")]
        "lint" => simulated::lint(&request),
        #[cfg(feature = "simulator")]
        "explain" => simulated::explain(&request, room),
        _ => values::validate(&request),
    }
}

/// Writes JSON as JavaScript does.
pub(crate) fn write(value: &impl Serialize) -> Answer {
    let mut text = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut text, number::JavaScript))?;
    Ok(text)
}
