//! Options: the Kubernetes to simulate, and the settings of other calls.

#[cfg(feature = "simulator")]
use {
    serde::Deserialize,
    taintlab_core::lanes::Lanes,
    taintlab_manifest::{SvgOptions, timeline_svg},
    tsify::Tsify,
};

pub use taintlab_answers::options::ReleaseOptions;
#[cfg(feature = "simulator")]
pub use taintlab_answers::{
    options::{DurationText, SimulatorOptions},
    scenario::ScenarioOptions,
};

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
