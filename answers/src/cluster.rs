//! Clusters made of manifests.

use serde::Serialize;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Time;
use taintlab_manifest::memory::grow_ahead;
use taintlab_manifest::{Diagnostic, Dropped, Import, ImportOptions, Limits, import};

use crate::options::SimulatorOptions;
use crate::problem::{Problem, ProblemCode};

/// A cluster made of manifests.
pub struct ManifestCluster {
    /// The simulator of the cluster.
    pub engine: Simulator,
    /// The scenario that begins with this cluster.
    pub scenario: Scenario,
    /// Warnings about the manifests.
    pub problems: Vec<Problem>,
    /// What the manifests say of their cluster.
    pub imported: Imported,
}

/// The scenario that begins with a cluster.
pub struct ManifestScenario {
    /// The scenario, without steps.
    pub scenario: Scenario,
    /// Warnings about the manifests.
    pub problems: Vec<Problem>,
    /// What the manifests say of their cluster.
    pub imported: Imported,
}

/// The scenario that begins with objects that were read.
///
/// # Errors
/// Lists what is wrong with the manifests.
pub fn scenario_of(
    mut read: Import,
    options: SimulatorOptions,
) -> Result<ManifestScenario, Vec<Problem>> {
    let (errors, problems) =
        sort(std::mem::take(&mut read.diagnostics), ProblemCode::InvalidManifest);
    if !errors.is_empty() {
        return Err(errors);
    }
    let imported = Imported::of(&read);
    Ok(ManifestScenario { scenario: read.into_scenario(options.scenario()), problems, imported })
}

/// Reads manifests.
#[must_use]
pub fn read(text: &str, options: &SimulatorOptions) -> Import {
    import(text, &options.file, import_options(options.keep_all))
}

/// Starts a cluster with objects that were read.
///
/// # Errors
/// Lists what is wrong with the manifests or the options.
pub fn cluster_of(
    read: Import,
    options: SimulatorOptions,
) -> Result<ManifestCluster, Vec<Problem>> {
    let ManifestScenario { mut scenario, problems, imported } = scenario_of(read, options)?;
    // The cluster's own memory grows while it takes over the objects.
    let nodes = std::mem::take(&mut scenario.objects.nodes).into_iter();
    let pods = std::mem::take(&mut scenario.objects.pods).into_iter();
    let nodes = nodes.inspect(|_| grow_ahead());
    let pods = pods.inspect(|_| grow_ahead());
    match scenario.simulator_with(nodes, pods) {
        Ok(engine) => Ok(ManifestCluster { engine, scenario, problems, imported }),
        Err(error) => Err(vec![Problem::of_config(&error)]),
    }
}

/// What manifests say of the cluster that they were taken from, and what of them does not enter.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// The release that the kubelets of the nodes suggest; absent if no node reports a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", tsify(type = "KubernetesRelease"))]
    pub release: Option<KubernetesRelease>,
    /// What the nodes report, in words: `3 nodes report v1.30.4; the control plane is at least
    /// 1.30`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_text: Option<String>,
    /// The newest time in the objects, at which a simulation begins unless told otherwise; absent
    /// if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest_time: Option<Time>,
    /// What was dropped because no simulation reads it, so that nothing secret enters, in words;
    /// absent if nothing was. `keepAll` keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
}

impl Imported {
    /// Facts about what was read.
    #[must_use]
    pub fn of(import: &Import) -> Self {
        let release = import.detected_release();
        Self {
            release: release.as_ref().map(|detected| detected.release),
            release_text: release.as_ref().map(ToString::to_string),
            newest_time: import.newest_time,
            ..Self::of_dropped(&import.dropped)
        }
    }

    /// Facts about a text of which only the dropped fields are known.
    #[must_use]
    pub fn of_dropped(dropped: &Dropped) -> Self {
        let dropped = Some(dropped).filter(|dropped| !dropped.is_empty());
        Self { dropped: dropped.map(ToString::to_string), ..Self::default() }
    }
}

/// Options of reading a text, with the default limits.
#[must_use]
pub fn import_options(keep_all: bool) -> ImportOptions {
    ImportOptions { limits: Limits::default(), keep_all }
}

/// Separates errors from warnings.
#[must_use]
pub fn sort(diagnostics: Vec<Diagnostic>, code: ProblemCode) -> (Vec<Problem>, Vec<Problem>) {
    let (errors, warnings): (Vec<_>, Vec<_>) =
        diagnostics.into_iter().partition(Diagnostic::is_error);
    let problems = |list: Vec<Diagnostic>| {
        list.into_iter().map(|diagnostic| Problem::of_diagnostic(diagnostic, code)).collect()
    };
    (problems(errors), problems(warnings))
}
