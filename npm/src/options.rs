//! Options: the Kubernetes to simulate, and the settings of other calls.

#[cfg(feature = "simulator")]
use {
    serde::Deserialize,
    std::collections::BTreeMap,
    taintlab_core::{lanes::Lanes, release::KubernetesRelease},
    taintlab_manifest::{SvgOptions, timeline_svg},
    tsify::Tsify,
};

pub use taintlab_answers::options::ReleaseOptions;
#[cfg(feature = "simulator")]
pub use taintlab_answers::options::{DurationText, SimulatorOptions};

/// What is read besides a scenario.
#[cfg(feature = "simulator")]
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScenarioOptions {
    /// The name that errors show, for example `outage.yaml`.
    pub file: String,
    /// The texts of the files that the scenario names in `objects.files`, by name.
    pub files: BTreeMap<String, String>,
    /// Another release than the one that the scenario names.
    #[tsify(type = "KubernetesRelease")]
    pub release: Option<KubernetesRelease>,
    /// Flags of kube-controller-manager that differ from those of the scenario, by name without
    /// dashes.
    pub controller_manager_flags: BTreeMap<String, String>,
    /// Another end than the one that the scenario names: a duration.
    #[tsify(type = "Span")]
    pub until: Option<DurationText>,
    /// Whether to keep what no simulation reads, which may be secret: environment, commands,
    /// annotations, data of Secrets and so on. It is dropped unless this is `true`.
    pub keep_all: bool,
}

/// How a picture of lanes is made.
#[cfg(feature = "simulator")]
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct TimelineOptions {
    /// What the picture is called, for those who do not see it; the title of the scenario unless
    /// given.
    pub title: String,
    /// What its ids begin with. Two pictures in one page need different ones.
    pub id: String,
    /// A moment that is marked, as the time since the start.
    #[tsify(type = "Span")]
    pub at: Option<DurationText>,
}

#[cfg(feature = "simulator")]
impl TimelineOptions {
    /// Draws the picture; `title` is used if the options have no title.
    pub(crate) fn draw(self, lanes: &Lanes, title: &str) -> String {
        let title = if self.title.is_empty() { title.to_owned() } else { self.title };
        let at = self.at.map(|at| at.0.timestamp());
        timeline_svg(lanes, &SvgOptions { title, id: self.id, at, ..SvgOptions::default() })
    }
}
