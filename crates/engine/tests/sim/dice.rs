//! Seeded dice. Everything that is left to chance in a run is rolled here, so that a seed is a run.

/// SplitMix64: small, fast, and good enough to choose faults with.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice of their own for each purpose: a roll for one does not move the others.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
        for byte in purpose.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut dice = Self(state);
        dice.roll();
        dice
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `n` − 1.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.roll() % n.max(1)
    }

    /// Both ends included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True so many times in a thousand.
    pub(crate) fn chance(&mut self, per_mille: u32) -> bool {
        // Nothing is rolled for what cannot happen: a kind of fault that is off changes nothing.
        per_mille > 0 && self.below(1_000) < u64::from(per_mille)
    }

    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        let index = usize::try_from(self.below(among.len() as u64)).unwrap_or(0);
        &among[index]
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let rolled = self.roll().to_le_bytes();
            chunk.copy_from_slice(&rolled[..chunk.len()]);
        }
    }
}
