//! Wall-clock time, turned into targets of simulated time; nothing here decides what happens.

use std::time::Duration;

use taintlab_core::time::Timestamp;

/// Speeds of simulated time, in simulated seconds per second.
pub(crate) const SPEEDS: [u32; 8] = [1, 2, 5, 10, 30, 60, 300, 1000];
/// The most wall-clock time that counts between two frames: a page that was hidden for an hour does
/// not jump. A frame of a large cluster may well take half of it.
const MAX_FRAME: Duration = Duration::from_millis(1_000);
/// A speed of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speed {
    /// Simulated seconds per second.
    Times(u32),
    /// The fastest speed that can be computed.
    Max,
}

impl Speed {
    /// All speeds, slowest first.
    pub(crate) fn all() -> impl DoubleEndedIterator<Item = Self> {
        SPEEDS.into_iter().map(Self::Times).chain([Self::Max])
    }

    /// The label in the list of speeds.
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

    /// The next faster speed; the fastest one stays.
    pub(crate) fn faster(self) -> Self {
        let mut all = Self::all().skip_while(|speed| *speed != self);
        all.nth(1).unwrap_or(self)
    }

    /// The next slower speed; the slowest one stays.
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

/// The playing of simulated time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Playback {
    /// The speed.
    pub(crate) speed: Speed,
    /// The time of the last frame, in milliseconds of the page; `None` while paused and before the
    /// first frame.
    last_frame: Option<f64>,
    /// The target of the last frame: the clock is behind it if that frame took too long.
    owed: Option<Timestamp>,
    playing: bool,
}

impl Default for Playback {
    fn default() -> Self {
        Self { speed: Speed::Times(10), last_frame: None, owed: None, playing: false }
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
        self.owed = None;
    }

    /// The target of the clock, which shows `now`, for a frame that is painted at `frame`
    /// milliseconds. [`Timestamp::MAX`] means as far as there is time for.
    pub(crate) fn frame(&mut self, frame: f64, now: Timestamp) -> Option<Timestamp> {
        if !self.playing {
            return None;
        }
        let last = self.last_frame.replace(frame)?;
        let Speed::Times(times) = self.speed else { return Some(Timestamp::MAX) };
        let passed = Duration::try_from_secs_f64((frame - last) / 1_000.0);
        let passed = passed.unwrap_or_default().min(MAX_FRAME).saturating_mul(times);
        // A debt of more than that is forgiven: the speed cannot be reached.
        let most = now.saturating_add(MAX_FRAME.saturating_mul(times));
        let from = self.owed.map_or(now, |owed| owed.max(now));
        let to = from.saturating_add(passed).min(most);
        self.owed = Some(to);
        Some(to)
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
        assert_eq!(target, Some(Timestamp::from_millis(5_200)));
        let reached = Timestamp::from_millis(5_200);
        let late = playback.frame(60_000.0, reached);
        assert_eq!(late, Some(Timestamp::from_millis(15_200)), "no jump after a nap");
        let reached = Timestamp::from_millis(15_200);
        assert_eq!(playback.frame(59_000.0, reached), Some(reached), "never back");
        playback.speed = Speed::Max;
        assert_eq!(playback.frame(60_000.0, now), Some(Timestamp::MAX));
    }

    #[test]
    fn time_that_a_frame_missed_is_made_up_for() {
        let mut playback = Playback::default();
        playback.set_playing(true);
        let second = Timestamp::from_secs;
        assert_eq!(playback.frame(0.0, second(0)), None);
        assert_eq!(playback.frame(100.0, second(0)), Some(second(1)));
        // The simulation came no further than half a second.
        let halfway = Timestamp::from_millis(500);
        assert_eq!(playback.frame(200.0, halfway), Some(second(2)));
        // The simulation never gets any further: then the debt does not grow forever.
        for frame in 3..100 {
            let to = playback.frame(f64::from(frame) * 100.0, halfway).unwrap();
            assert!(to <= Timestamp::from_millis(10_500), "{to}");
        }
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
