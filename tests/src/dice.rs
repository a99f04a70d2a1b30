//! Numbers that look random and come from one number, so that they come again.

/// A generator of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice {
    /// From which the next numbers follow.
    pub state: u64,
}

impl Dice {
    /// The numbers that follow from one number.
    #[must_use]
    pub const fn new(state: u64) -> Self {
        Self { state }
    }

    /// The next number.
    pub const fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `limit - 1`.
    pub const fn below(&mut self, limit: usize) -> usize {
        (self.roll() % limit as u64) as usize
    }

    /// `true` once in `number` times on average.
    pub const fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    /// An element of a list that is not empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}
