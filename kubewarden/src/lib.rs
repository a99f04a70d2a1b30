//! A policy of Kubewarden about tolerations: requests and answers in JSON.
//!
//! `taintlab_admission` decides; this crate translates requests and answers of Kubewarden. `cargo
//! xtask policy` builds the module.

#[cfg(target_family = "wasm")]
mod guest;

use serde_json::{Map, Value, json};
use taintlab_admission::{Judgement, Misread, Mode, Settings, correct, judge};

/// The version of Kubewarden's protocol, in JSON.
pub const PROTOCOL_VERSION: &[u8] = b"\"v1\"";

/// The most warnings of an answer; the last one says how many more there are.
const MOST_WARNINGS: usize = 10;

/// The status code of an object that is refused (`Unprocessable Entity`).
const UNPROCESSABLE: u16 = 422;
/// The status code of a request that cannot be read.
const BAD_REQUEST: u16 = 400;

/// Answer about settings: `{"valid": true}`, or the reason why not.
#[must_use]
pub fn validate_settings(settings: &[u8]) -> Vec<u8> {
    let answer = match read(settings).and_then(|value| Settings::read(&value)) {
        Ok(_) => json!({"valid": true}),
        Err(Misread(message)) => json!({"valid": false, "message": message}),
    };
    answer.to_string().into_bytes()
}

/// Answer to a request with an object and settings: accepted, accepted with warnings, corrected, or
/// refused.
#[must_use]
pub fn validate(request: &[u8]) -> Vec<u8> {
    let answer = match answer(request) {
        Ok(answer) => Value::Object(answer),
        Err(Misread(message)) => {
            json!({"accepted": false, "message": message, "code": BAD_REQUEST})
        }
    };
    answer.to_string().into_bytes()
}

fn read(bytes: &[u8]) -> Result<Value, Misread> {
    serde_json::from_slice(bytes).map_err(|why| Misread(format!("this is no JSON: {why}")))
}

fn answer(request: &[u8]) -> Result<Map<String, Value>, Misread> {
    let mut request = read(request)?;
    let settings = request.get("settings").unwrap_or(&Value::Null);
    let settings =
        Settings::read(settings).map_err(|Misread(why)| Misread(format!("settings: {why}")))?;
    let mut answer = Map::from_iter([("accepted".to_owned(), Value::Bool(true))]);
    let Some(object) = request.pointer_mut("/request/object").map(Value::take) else {
        return Err(Misread("request.object: expected an object, found nothing".into()));
    };
    let corrected = match settings.mode {
        Mode::Mutate => correct(&object, &settings)?,
        Mode::Warn | Mode::Deny => None,
    };
    let Judgement { findings, notes } = judge(corrected.as_ref().unwrap_or(&object), &settings)?;
    if let Some(corrected) = corrected {
        answer.insert("mutated_object".into(), corrected);
    }
    let mut said: Vec<String> = findings.into_iter().map(|finding| finding.message).collect();
    if settings.mode == Mode::Deny && !said.is_empty() {
        answer.insert("accepted".into(), Value::Bool(false));
        answer.insert("code".into(), UNPROCESSABLE.into());
        answer.insert("message".into(), limited(std::mem::take(&mut said)).join("; ").into());
    }
    said.extend(notes);
    if !said.is_empty() {
        answer.insert("warnings".into(), limited(said).into());
    }
    Ok(answer)
}

/// At most [`MOST_WARNINGS`] of these.
fn limited(mut said: Vec<String>) -> Vec<String> {
    if said.len() > MOST_WARNINGS {
        let more = said.len() - (MOST_WARNINGS - 1);
        said.truncate(MOST_WARNINGS - 1);
        said.push(format!("and {more} more"));
    }
    said
}
