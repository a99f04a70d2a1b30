//! Answers about taints, tolerations and zones: no simulation.

use std::collections::BTreeMap;

use serde_json::Value;
use taintlab_answers::fields::{Fields, Misread, expected};
use taintlab_answers::options::ReleaseOptions;
use taintlab_answers::problem::Problem;
use taintlab_answers::questions::{Valid, ZoneStateAnswer, ZoneStateOptions};
use taintlab_core::api::{Taint, Toleration};
use taintlab_core::policy::matching::{TolerationTime, explain, min_toleration_time};
use taintlab_core::policy::validation::{validate_node_taints, validate_tolerations};
use taintlab_core::protocol::zone::compute_zone_state;
use taintlab_core::release::KubernetesRelease;

use crate::{Answer, Refusal, write};

pub(crate) fn match_(request: &Fields<'_>, room: usize) -> Answer {
    request.required("taints", "an array")?;
    request.required("tolerations", "an array")?;
    let (taints, tolerations) = (request.taints()?, request.tolerations()?);
    let operators = options(request)?.comparison_operators().map_err(in_options)?;
    fits(&taints, &tolerations, room)?;
    write(&explain(&taints, &tolerations, operators))
}

pub(crate) fn toleration_time(request: &Fields<'_>) -> Answer {
    request.required("tolerations", "an array")?;
    let nanos = min_toleration_time(&request.tolerations()?);
    write(&match TolerationTime::from_nanos(nanos) {
        TolerationTime::Forever => None,
        TolerationTime::After(time) => Some(time.as_secs()),
    })
}

pub(crate) fn zone_state(request: &Fields<'_>) -> Answer {
    request.required("nodes", "an array")?;
    let mut threshold = ZoneStateOptions::default().unhealthy_zone_threshold;
    if let Some(options) = request.get("options") {
        let options = Fields::of(options, "options", ZONE_STATE_OPTIONS)?;
        if let Some(value) = options.get("unhealthyZoneThreshold") {
            #[expect(clippy::cast_possible_truncation, reason = "the flag is a float32")]
            let read = value.as_f64().map(|number| number as f32);
            let path = options.path("unhealthyZoneThreshold");
            threshold = read.map_or_else(|| expected(&path, "a number", value), Ok)?;
        }
    }
    let nodes = request.ready_conditions()?;
    let (not_ready, state) = compute_zone_state(nodes.iter().map(Option::as_ref), threshold);
    write(&ZoneStateAnswer { state, ready: nodes.len() - not_ready, not_ready })
}

pub(crate) fn validate(request: &Fields<'_>) -> Answer {
    let options = options(request)?.validation().map_err(in_options)?;
    let mut errors = validate_node_taints(&request.taints()?, "spec.taints");
    errors.extend(validate_tolerations(&request.tolerations()?, "spec.tolerations", &options));
    if errors.is_empty() {
        return write(&Valid { ok: true });
    }
    Err(Refusal::Values(errors.iter().map(Problem::of_field).collect()))
}

/// Refuses lists whose explanation could be longer than `room` bytes: it has the fields of each
/// taint and toleration once for each pair.
pub(crate) fn fits(
    taints: &[Taint],
    tolerations: &[Toleration],
    room: usize,
) -> Result<(), Refusal> {
    const WORDS: usize = 128;
    let of_taint =
        |taint: &Taint| WORDS + taint.key.len() + taint.value.len() + taint.effect.as_str().len();
    let of_toleration = |toleration: &Toleration| {
        let Toleration { key, operator, value, effect, .. } = toleration;
        WORDS + key.len() + value.len() + operator.as_str().len() + effect.as_str().len()
    };
    let taint_bytes: usize = taints.iter().map(of_taint).sum();
    let toleration_bytes: usize = tolerations.iter().map(of_toleration).sum();
    let size = taint_bytes
        .saturating_mul(tolerations.len() + 1)
        .saturating_add(toleration_bytes.saturating_mul(taints.len() + 1));
    if size <= room {
        return Ok(());
    }
    let (taints, tolerations) = (taints.len(), tolerations.len());
    Err(Refusal::Request(format!(
        "{taints} taints against {tolerations} tolerations may need an answer of {size} bytes; it \
         may have {room}"
    )))
}

/// The fields of the options that name a Kubernetes.
pub(crate) const RELEASE_OPTIONS: &[&str] = &["release", "featureGates"];
/// The fields of the options of `zone_state`.
pub(crate) const ZONE_STATE_OPTIONS: &[&str] = &["unhealthyZoneThreshold"];

fn options(request: &Fields<'_>) -> Result<ReleaseOptions, Refusal> {
    let mut read = ReleaseOptions::default();
    let Some(options) = request.get("options") else { return Ok(read) };
    let options = Fields::of(options, "options", RELEASE_OPTIONS)?;
    if options.get("release").is_some() {
        let release = KubernetesRelease::parse(options.text("release")?);
        read.release = Some(release.map_err(|error| options.wrong("release", &error.to_string()))?);
    }
    read.feature_gates = match options.get("featureGates") {
        None => BTreeMap::new(),
        Some(Value::Object(gates)) => {
            let gate = |(name, on): (&String, &Value)| {
                let path = || format!("{}.{name}", options.path("featureGates"));
                let on = on.as_bool().map_or_else(|| expected(&path(), "true or false", on), Ok)?;
                Ok((name.clone(), on))
            };
            gates.iter().map(gate).collect::<Result<_, Misread>>()?
        }
        Some(value) => return Ok(expected(&options.path("featureGates"), "an object", value)?),
    };
    Ok(read)
}

/// Options come from the programmer, so wrong options are a wrong request.
fn in_options(problem: Problem) -> Refusal {
    Refusal::Request(format!("options.{}: {}", problem.path, problem.message))
}
