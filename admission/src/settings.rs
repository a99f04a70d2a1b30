//! Settings of the policy.

use serde_json::{Map, Value, json};
use taintlab_answers::fields::{Fields, Misread, expected};
use taintlab_core::api::Taint;
use taintlab_core::policy::taints::kubectl::parse_taints;
use taintlab_core::policy::taints::taints_of_kubernetes;
use taintlab_core::release::KubernetesRelease;

/// The answer to an object with findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Acceptance with warnings.
    #[default]
    Warn,
    /// Refusal.
    Deny,
    /// Correction of `tolerationSeconds`, and warnings of all else.
    Mutate,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Warn, Self::Deny, Self::Mutate];

    /// The name of the mode in settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Deny => "deny",
            Self::Mutate => "mutate",
        }
    }
}

/// The least and the most seconds that pods may stay on a node that is lost or not ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The least; `None` is no bound.
    pub min: Option<i64>,
    /// The most; `None` is no bound, and then they may stay forever.
    pub max: Option<i64>,
}

/// Settings of the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `mode`: `warn` unless given.
    pub mode: Mode,
    /// `release`: the release of the cluster; the newest known one unless given.
    pub release: KubernetesRelease,
    /// `taints`: those of the cluster's nodes, as `kubectl taint` takes them. Without any, only keys
    /// in the domains of Kubernetes itself are known to be wrong. What Kubernetes sets by itself is
    /// always known, and never in this list.
    pub taints: Vec<Taint>,
    /// `tolerationSeconds`: how long pods may stay on a lost node.
    pub toleration_seconds: Bounds,
    /// `allowBlanketExists`: whether a pod may tolerate every taint forever. Not unless given.
    pub allow_blanket_exists: bool,
    /// `sayTime`: whether it is always said how long pods stay on a lost node. Not unless given;
    /// it is always said of times beyond the bounds.
    pub say_time: bool,
}

const FIELDS: &[&str] =
    &["mode", "release", "taints", "tolerationSeconds", "allowBlanketExists", "sayTime"];

/// The most taints. A cluster with more kinds of nodes needs no policy but an inventory.
const MOST_TAINTS: usize = 1000;

/// The most seconds of a bound: Kubernetes counts in nanoseconds of 64 bits.
const MOST_SECONDS: i64 = i64::MAX / 1_000_000_000;

impl Settings {
    /// Reads settings in JSON; `null` is as good as `{}`.
    ///
    /// # Errors
    /// A field that there is not, of the wrong type, or with a value that cannot be.
    pub fn read(value: &Value) -> Result<Self, Misread> {
        let mut read = Self::default();
        if value.is_null() {
            return Ok(read);
        }
        let fields = Fields::of(value, "", FIELDS)?;
        if fields.get("mode").is_some() {
            let name = fields.text("mode")?;
            let mode = Mode::ALL.into_iter().find(|mode| mode.as_str() == name);
            read.mode = mode.ok_or_else(|| {
                fields
                    .wrong("mode", &format!("expected `warn`, `deny` or `mutate`, found `{name}`"))
            })?;
        }
        if fields.get("release").is_some() {
            let release = KubernetesRelease::parse(fields.text("release")?);
            read.release = release.map_err(|why| fields.wrong("release", &why.to_string()))?;
        }
        let taints = fields.list("taints")?;
        if taints.len() > MOST_TAINTS {
            let why = format!("{} taints; at most {MOST_TAINTS} are read", taints.len());
            return Err(fields.wrong("taints", &why));
        }
        for (index, taint) in taints.iter().enumerate() {
            read.add_taint(taint_of(taint, &format!("taints[{index}]"))?);
        }
        read.toleration_seconds = bounds(&fields)?;
        read.allow_blanket_exists = flag(&fields, "allowBlanketExists")?;
        read.say_time = flag(&fields, "sayTime")?;
        Ok(read)
    }

    /// All taints that a node may have: those of Kubernetes, and those of the settings.
    pub(crate) fn known_taints(&self) -> Vec<Taint> {
        taints_of_kubernetes().chain(self.taints.iter().cloned()).collect()
    }

    /// Adds a taint of a node, unless it is known already.
    pub fn add_taint(&mut self, taint: Taint) {
        let taint = Taint { time_added: None, ..taint };
        if !taints_of_kubernetes().any(|known| known.key == taint.key)
            && taint.key != taintlab_core::api::well_known::OUT_OF_SERVICE
            && !self.taints.contains(&taint)
        {
            self.taints.push(taint);
        }
    }

    /// The settings in JSON, without those that are as they are unless given.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("mode".into(), self.mode.as_str().into());
        fields.insert("release".into(), self.release.to_string().into());
        if !self.taints.is_empty() {
            let taints: Vec<String> = self.taints.iter().map(ToString::to_string).collect();
            fields.insert("taints".into(), taints.into());
        }
        let Bounds { min, max } = self.toleration_seconds;
        let bounds = [("min", min), ("max", max)].into_iter();
        let bounds: Map<String, Value> =
            bounds.filter_map(|(name, bound)| Some((name.to_owned(), bound?.into()))).collect();
        if !bounds.is_empty() {
            fields.insert("tolerationSeconds".into(), Value::Object(bounds));
        }
        for (name, on) in
            [("allowBlanketExists", self.allow_blanket_exists), ("sayTime", self.say_time)]
        {
            if on {
                fields.insert(name.into(), json!(true));
            }
        }
        Value::Object(fields)
    }
}

fn taint_of(value: &Value, path: &str) -> Result<Taint, Misread> {
    let Some(text) = value.as_str() else {
        return expected(path, "a taint as `kubectl taint` takes it", value);
    };
    let wrong = |why: &str| Misread(format!("{path}: {why}"));
    let changes =
        parse_taints(KubernetesRelease::NEWEST, &[text]).map_err(|why| wrong(&why.to_string()))?;
    changes
        .add
        .into_iter()
        .next()
        .ok_or_else(|| wrong(&format!("expected key=value:effect or key:effect, found `{text}`")))
}

fn bounds(fields: &Fields<'_>) -> Result<Bounds, Misread> {
    let Some(value) = fields.get("tolerationSeconds") else { return Ok(Bounds::default()) };
    let bounds = Fields::of(value, "tolerationSeconds", &["min", "max"])?;
    let seconds = |name: &str| {
        let Some(value) = bounds.get(name) else { return Ok(None) };
        match value.as_i64().filter(|seconds| (0..=MOST_SECONDS).contains(seconds)) {
            Some(seconds) => Ok(Some(seconds)),
            None => expected(&bounds.path(name), "seconds, from 0 to 9223372036", value),
        }
    };
    let (min, max) = (seconds("min")?, seconds("max")?);
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        return Err(
            bounds.wrong("min", &format!("{min} is more than tolerationSeconds.max, {max}"))
        );
    }
    Ok(Bounds { min, max })
}

fn flag(fields: &Fields<'_>, name: &str) -> Result<bool, Misread> {
    match fields.get(name) {
        None => Ok(false),
        Some(Value::Bool(on)) => Ok(*on),
        Some(value) => expected(name, "true or false", value),
    }
}
