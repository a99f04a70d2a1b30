//! Knobs: values of a scenario that the reader of a demo can turn.

use std::sync::Arc;

use taintlab_core::api::PodSpec;
use taintlab_core::order::Order;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;

use super::recording::RecordedKnob;

/// The name of the knob for all `tolerationSeconds`.
const SECONDS: &str = "tolerationSeconds";
/// The name of the knob for the release.
const RELEASE: &str = "release";
/// The value for a toleration without an end.
const NONE: &str = "none";

/// A setting of a scenario that is recorded with several values, written
/// `tolerationSeconds:0,30,300`.
///
/// The knob is `tolerationSeconds` (of every toleration that has them; `none` for no end),
/// `release`, or a flag of kube-controller-manager such as `node-monitor-grace-period`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    name: String,
    values: Vec<String>,
}

impl Knob {
    /// Reads `NAME:VALUE,VALUE`.
    ///
    /// # Errors
    /// The text is malformed; the message says what would be valid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, values) = text.split_once(':').unwrap_or((text, ""));
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if name.is_empty() || values.iter().any(String::is_empty) {
            return Err(format!(
                "`{text}`: write a knob as `NAME:VALUE,VALUE`, for example \
                 `{SECONDS}:0,30,300`, `{RELEASE}:1.18,1.35` or \
                 `node-monitor-grace-period:20s,40s`"
            ));
        }
        Ok(Self { name: name.into(), values })
    }

    /// The knob with its values; the scenario's own value comes first unless it is among them.
    pub(super) fn recorded(
        &self,
        scenario: &Scenario,
        simulator: &Simulator,
    ) -> Result<RecordedKnob, String> {
        let written = self.written(scenario, simulator)?;
        let mut values: Vec<String> = Vec::new();
        let first = (!self.values.contains(&written)).then_some(&written);
        for value in first.into_iter().chain(&self.values) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        Ok(RecordedKnob { name: self.name.clone(), written, values })
    }

    /// The value in the scenario; several different `tolerationSeconds` are joined by `and`.
    fn written(&self, scenario: &Scenario, simulator: &Simulator) -> Result<String, String> {
        let config = simulator.config();
        match self.name.as_str() {
            RELEASE => Ok(config.release.to_string()),
            SECONDS => {
                let mut found: Vec<i64> = Vec::new();
                let mut scenario = scenario.clone();
                for toleration in pod_specs(&mut scenario).flat_map(|spec| &spec.tolerations) {
                    found.extend(toleration.toleration_seconds);
                }
                found.order();
                found.dedup();
                if found.is_empty() {
                    return Err(format!("knob `{SECONDS}`: no toleration of the scenario has any"));
                }
                Ok(found.iter().map(i64::to_string).collect::<Vec<_>>().join(" and "))
            }
            flag => {
                let flags = || simulator.flags().flags(config.release);
                let value = flags().find(|(name, _)| *name == flag).map(|(_, value)| value);
                value.ok_or_else(|| {
                    let known = flags().map(|(name, _)| name).collect::<Vec<_>>().join("`, `");
                    format!(
                        "there is no knob `{flag}`; there are `{SECONDS}`, `{RELEASE}` and the \
                         flags `{known}`"
                    )
                })
            }
        }
    }

    /// Sets another value in the scenario.
    pub(super) fn turn(&self, scenario: &mut Scenario, value: &str) -> Result<(), String> {
        match self.name.as_str() {
            RELEASE => {
                let release = KubernetesRelease::parse(value);
                let release = release.map_err(|error| format!("knob `{RELEASE}`: {error}"))?;
                scenario.kubernetes.release = Some(release);
            }
            SECONDS => {
                let seconds = match value {
                    NONE => None,
                    number => Some(number.parse::<i64>().map_err(|_| {
                        format!("knob `{SECONDS}`: `{value}` is no whole number, nor `{NONE}`")
                    })?),
                };
                for spec in pod_specs(scenario) {
                    for toleration in spec.tolerations.iter_mut() {
                        if toleration.toleration_seconds.is_some() {
                            toleration.toleration_seconds = seconds;
                        }
                    }
                }
            }
            flag => {
                scenario.kubernetes.controller_manager_flags.insert(flag.into(), value.into());
            }
        }
        Ok(())
    }
}

/// The specs of all pods of a scenario, those of groups and workloads included.
fn pod_specs(scenario: &mut Scenario) -> impl Iterator<Item = &mut PodSpec> {
    let objects = &mut scenario.objects;
    let groups = objects.node_groups.iter_mut().filter_map(|group| group.pod.as_mut());
    let pods = objects.pods.iter_mut().map(Arc::make_mut).chain(groups).map(|pod| &mut pod.spec);
    pods.chain(objects.workloads.iter_mut().map(|workload| &mut workload.spec.template.spec))
}
