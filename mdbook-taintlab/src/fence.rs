//! The words after ` ```taintlab `.

use taintlab_core::api::PodKey;
use taintlab_core::time::{Timestamp, parse_duration};

/// What a fence asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fence {
    /// The name of an example; without one the fence holds the scenario.
    pub(crate) scenario: Option<String>,
    /// The moment at which a reader begins.
    pub(crate) start_at: Option<Timestamp>,
    /// The pod whose time budget is shown.
    pub(crate) budget: Option<PodKey>,
}

impl Fence {
    /// Reads the info string of a fence; `None` if the fence is of another kind.
    ///
    /// # Errors
    /// What is wrong, and what would be valid.
    pub(crate) fn parse(info: &str) -> Option<Result<Self, String>> {
        let mut words = info.split_whitespace();
        (words.next() == Some("taintlab")).then(|| Self::parse_words(words))
    }

    fn parse_words<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut fence = Self::default();
        for word in words {
            match word.split_once('=') {
                Some(("scenario", name)) => fence.scenario = Some(name.into()),
                Some(("start-at", at)) => {
                    let at = parse_duration(at).map_err(|error| format!("start-at: {error}"))?;
                    fence.start_at = Some(Timestamp::ZERO.saturating_add(at));
                }
                Some(("budget", pod)) => {
                    fence.budget =
                        Some(PodKey::parse(pod).map_err(|error| format!("budget: {error}"))?);
                }
                _ => {
                    return Err(format!(
                        "`{word}` is no attribute of a `taintlab` fence; valid are `scenario=NAME`, \
                         `start-at=TIME` and `budget=NAMESPACE/POD`"
                    ));
                }
            }
        }
        Ok(fence)
    }
}
