//! Chance that can be repeated: the same seed gives the same throws.

/// See the module.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64.
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to one less than `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    pub(crate) fn small(&mut self, bound: u64) -> u32 {
        u32::try_from(self.below(bound)).unwrap()
    }

    pub(crate) fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    /// One of them, if there are any.
    pub(crate) fn pick_from<T>(&mut self, from: impl ExactSizeIterator<Item = T>) -> Option<T> {
        let mut from = from;
        match from.len() {
            0 => None,
            count => from.nth(self.below(count as u64) as usize),
        }
    }

    /// Some of them, perhaps none.
    pub(crate) fn some<T: Clone>(&mut self, from: &[T]) -> Vec<T> {
        from.iter().filter(|_| self.one_in(2)).cloned().collect()
    }

    pub(crate) fn maybe<T>(&mut self, value: T) -> Option<T> {
        self.one_in(2).then_some(value)
    }
}
