//! Wall-clock time becomes targets of simulated time; nothing here decides what happens.

use std::time::Duration;

use taintlab_core::time::Timestamp;

/// How fast simulated time passes, in simulated seconds per second.
pub(crate) const SPEEDS: [u32; 8] = [1, 2, 5, 10, 30, 60, 300, 1000];
/// At most this much wall-clock time counts between two frames: a page that was hidden for an hour
/// does not jump.
const MAX_FRAME: Duration = Duration::from_millis(250);

/// How fast simulated time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speed {
    /// So many simulated seconds per second.
    Times(u32),
    /// From event to event, one every frame.
    Max,
}

impl Speed {
    /// All of them, slowest first.
    pub(crate) fn all() -> impl DoubleEndedIterator<Item = Self> {
        SPEEDS.into_iter().map(Self::Times).chain([Self::Max])
    }

    /// As in the list of speeds.
    pub(crate) fn label(self) -> String {
        match self {
            Self::Times(times) => format!("{times}×"),
            Self::Max => "max".to_owned(),
        }
    }

    /// The speed with that label.
    pub(crate) fn parse(label: &str) -> Option<Self> {
        Self::all().find(|speed| speed.label() == label)
    }

    /// The next one that is faster.
    pub(crate) fn faster(self) -> Self {
        let mut all = Self::all().skip_while(|speed| *speed != self);
        all.nth(1).unwrap_or(self)
    }

    /// The next one that is slower.
    pub(crate) fn slower(self) -> Self {
        let mut all = Self::all().rev().skip_while(|speed| *speed != self);
        all.nth(1).unwrap_or(self)
    }

    /// Simulated seconds per second, for animations.
    pub(crate) fn factor(self) -> u32 {
        match self {
            Self::Times(times) => times,
            Self::Max => 1_000_000,
        }
    }
}

/// Where the clock is to be, given where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// At this time.
    Time(Timestamp),
    /// At whatever comes next.
    NextEvent,
}

/// Plays simulated time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Playback {
    /// How fast.
    pub(crate) speed: Speed,
    /// When the last frame was, in milliseconds of the page; `None` while paused and before the
    /// first frame.
    last_frame: Option<f64>,
    playing: bool,
}

impl Default for Playback {
    fn default() -> Self {
        Self { speed: Speed::Times(10), last_frame: None, playing: false }
    }
}

impl Playback {
    /// Whether time passes.
    pub(crate) fn is_playing(&self) -> bool {
        self.playing
    }

    /// Lets time pass, or stops it.
    pub(crate) fn set_playing(&mut self, playing: bool) {
        self.playing = playing;
        self.last_frame = None;
    }

    /// A frame is painted at `frame` milliseconds: where should the clock be, if it is now at
    /// `now`?
    pub(crate) fn frame(&mut self, frame: f64, now: Timestamp) -> Option<Target> {
        if !self.playing {
            return None;
        }
        let last = self.last_frame.replace(frame)?;
        match self.speed {
            Speed::Max => Some(Target::NextEvent),
            Speed::Times(times) => {
                let passed = Duration::try_from_secs_f64((frame - last) / 1_000.0);
                let passed = passed.unwrap_or_default().min(MAX_FRAME);
                Some(Target::Time(now.saturating_add(passed.saturating_mul(times))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_become_targets() {
        let mut playback = Playback::default();
        let now = Timestamp::from_secs(5);
        assert_eq!(playback.frame(0.0, now), None, "paused");
        playback.set_playing(true);
        assert_eq!(playback.frame(1_000.0, now), None, "the first frame only starts the watch");
        let target = playback.frame(1_020.0, now);
        assert_eq!(target, Some(Target::Time(Timestamp::from_millis(5_200))));
        let late = playback.frame(60_000.0, now);
        assert_eq!(late, Some(Target::Time(Timestamp::from_millis(7_500))), "no jump after a nap");
        assert_eq!(playback.frame(59_000.0, now), Some(Target::Time(now)), "never back");
        playback.speed = Speed::Max;
        assert_eq!(playback.frame(60_000.0, now), Some(Target::NextEvent));
    }

    #[test]
    fn speeds_are_a_ladder() {
        assert_eq!(Speed::Times(1).slower(), Speed::Times(1));
        assert_eq!(Speed::Times(1).faster(), Speed::Times(2));
        assert_eq!(Speed::Times(1000).faster(), Speed::Max);
        assert_eq!(Speed::Max.faster(), Speed::Max);
        assert_eq!(Speed::Max.slower(), Speed::Times(1000));
        for speed in Speed::all() {
            assert_eq!(Speed::parse(&speed.label()), Some(speed));
        }
        assert_eq!(Speed::parse("7×"), None);
    }
}
