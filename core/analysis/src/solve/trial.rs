//! Combinations of settings, by their size.

use alloc::vec::Vec;

use super::{Knob, Seconds, Setting, SolveOptions};

/// A combination of settings; the values of those in seconds are found when it is tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    pub(super) fixed: Vec<Setting>,
    pub(super) seconds: Vec<Seconds>,
}

impl Trial {
    fn settings(&self) -> impl Iterator<Item = Setting> {
        self.fixed.iter().cloned().chain(self.seconds.iter().map(|it| it.setting(it.now)))
    }

    /// Number of fields that change, and their cost: see [`Setting::fields`] and [`Setting::cost`].
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let each = self.settings().map(|it| (it.fields(), it.cost()));
        each.fold((0, 0), |(fields, cost), it| (fields + it.0, cost + it.1))
    }
}

/// Values of a knob as parts of trials.
fn parts(knob: &Knob) -> Vec<Trial> {
    match knob {
        Knob::Values(values) => {
            let part = |it: &Setting| Trial { fixed: [it.clone()].into(), seconds: Vec::new() };
            values.iter().map(part).collect()
        }
        Knob::Seconds(seconds) => {
            Vec::from([Trial { fixed: Vec::new(), seconds: [seconds.clone()].into() }])
        }
    }
}

/// Number of combinations with 1 to `most` fields.
pub(super) fn combinations(knobs: &[Knob], most: usize) -> usize {
    let mut counts = alloc::vec![0_usize; most.saturating_add(1)];
    if let Some(none) = counts.first_mut() {
        *none = 1;
    }
    for knob in knobs {
        let before = counts.clone();
        for part in parts(knob) {
            for (to, count) in counts.iter_mut().enumerate().skip(part.size().0) {
                let from = before.get(to - part.size().0).copied().unwrap_or_default();
                *count = count.saturating_add(from);
            }
        }
    }
    counts.iter().skip(1).fold(0, |sum, it| sum.saturating_add(*it))
}

/// Combinations by their size, as many as may be tried.
pub(super) fn trials(knobs: &[Knob], options: &SolveOptions) -> Vec<Trial> {
    let parts: Vec<Vec<Trial>> = knobs.iter().map(parts).collect();
    let dearest = parts.iter().flatten().map(|it| it.size().1).max().unwrap_or_default();
    let mut all = Vec::new();
    for fields in 1..=options.most_fields {
        for cost in 1..=dearest * fields {
            combine(&parts, (fields, cost), &Trial::default(), options.most_trials, &mut all);
        }
    }
    all
}

/// Adds the combinations of a size.
fn combine(
    parts: &[Vec<Trial>],
    (fields, cost): (usize, usize),
    begun: &Trial,
    most: usize,
    all: &mut Vec<Trial>,
) {
    if fields == 0 && cost == 0 && all.len() < most {
        all.push(begun.clone());
    }
    let mut rest = parts;
    while let Some((first, later)) = rest.split_first() {
        rest = later;
        for part in first {
            let own = part.size();
            if own.0 > fields || own.1 > cost || all.len() >= most {
                continue;
            }
            let mut trial = begun.clone();
            trial.fixed.extend(part.fixed.iter().cloned());
            trial.seconds.extend(part.seconds.iter().cloned());
            combine(later, (fields - own.0, cost - own.1), &trial, most, all);
        }
    }
}
