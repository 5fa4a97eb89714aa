//! Dice that can be thrown again: a seed, and the numbers that follow from it.
//!
//! Nothing in this module reads the system's randomness except [`Seed::random`], and nothing here keeps
//! state: the same seed gives the same draw on every machine, in every version of this crate. The
//! algorithm is frozen, because recorded histories are checked against it:
//!
//! - `finish(x)` is the SplitMix64 output function over `x + 0x9E37_79B9_7F4A_7C15`.
//! - [`Seed::draw`] is `finish(seed)`.
//! - [`Seed::mix`] is `finish(h)`, where `h` is 64-bit FNV-1a over the bytes, started from
//!   `finish(seed)` in place of the usual offset.
//! - [`Seed::mix_u64`] is [`Seed::mix`] over the eight little-endian bytes of the number.
//!
//! It is made for spreading delays, never for secrets: whoever sees a few draws can guess the rest.

use std::hash::{BuildHasher, RandomState};

const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
const FNV_PRIME: u64 = 0x0000_0100_0000_01B3;

/// Where a row of random-looking numbers starts.
///
/// Derive one seed per decision by mixing in what identifies it, so that each decision can be redone
/// alone, without redoing those before it:
///
/// ```
/// use refire_retry::Seed;
///
/// let seed = Seed::new(42).mix(b"charge-card").mix_u64(3);
/// assert_eq!(seed.draw(), Seed::new(42).mix(b"charge-card").mix_u64(3).draw());
/// assert_ne!(seed.draw(), Seed::new(42).mix(b"charge-card").mix_u64(4).draw());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed with this number. Every number is a good seed, zero included.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// A seed nobody can foresee, for programs that only want their delays spread.
    ///
    /// Two calls give different seeds. Anything that must be repeatable takes its seed from outside
    /// instead.
    pub fn random() -> Self {
        // The standard library's hash keys are random per process and differ per `RandomState`; a
        // dependency on a random number generator would buy nothing for spreading delays.
        Self(RandomState::new().hash_one(GOLDEN_GAMMA))
    }

    /// A seed that depends on this one and on `bytes`.
    ///
    /// Where one call ends and the next begins matters: mixing `"ab"` then `"c"` differs from mixing
    /// `"a"` then `"bc"`.
    #[must_use]
    pub const fn mix(self, bytes: &[u8]) -> Self {
        // Finishing first keeps the seed's low byte from cancelling against the first byte mixed in:
        // otherwise seed 0 with byte 1 would equal seed 1 with byte 0.
        let mut hash = finish(self.0);
        let mut index = 0;
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u64).wrapping_mul(FNV_PRIME);
            index += 1;
        }
        Self(finish(hash))
    }

    /// A seed that depends on this one and on `number`.
    #[must_use]
    pub const fn mix_u64(self, number: u64) -> Self {
        self.mix(&number.to_le_bytes())
    }

    /// The number this seed stands for. Drawing twice from one seed gives the same number twice.
    pub const fn draw(self) -> Draw {
        Draw(finish(self.0))
    }
}

/// One throw of the dice: 64 uniform bits, read as whichever range is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw(u64);

impl Draw {
    /// The 64 bits themselves.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// A number in `[0, 1)`, in steps of 2⁻⁵³.
    pub const fn unit(self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.0 >> 11) as f64 * STEP
    }

    /// A whole number in `[0, bound)`, or 0 if `bound` is 0.
    ///
    /// Some results are likelier than others by at most one part in `2⁶⁴ / bound`, which no delay can
    /// show.
    pub const fn below(self, bound: u64) -> u64 {
        // The high half of the 128-bit product; it always fits, being less than `bound`.
        ((self.0 as u128 * bound as u128) >> 64) as u64
    }

    /// Like [`Draw::below`], for spans counted in nanoseconds, which can exceed 64 bits.
    ///
    /// Exact for every bound below 2¹²⁷, so also for the longest `Duration`.
    pub(crate) const fn below_wide(self, bound: u128) -> u128 {
        let bits = self.0 as u128;
        let high = (bound >> 64) * bits;
        let low = ((bound & u64::MAX as u128) * bits) >> 64;
        high + low
    }
}

const fn finish(number: u64) -> u64 {
    let mut bits = number.wrapping_add(GOLDEN_GAMMA);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// These numbers were computed by another program. They must never change: if one does, recorded
    /// histories no longer match.
    #[test]
    fn known_answers() {
        // The first output of SplitMix64 for these seeds, as published elsewhere too.
        assert_eq!(Seed::new(0).draw().bits(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(Seed::new(1).draw().bits(), 0x910A_2DEC_8902_5CC1);
        assert_eq!(Seed::new(42).draw().bits(), 0xBDD7_3226_2FEB_6E95);
        assert_eq!(Seed::new(u64::MAX).draw().bits(), 0xE4D9_7177_1B65_2C20);

        assert_eq!(Seed::new(0).mix(b""), Seed(0xA706_DD2F_4D19_7E6F));
        assert_eq!(Seed::new(0).mix(b"a"), Seed(0xF04F_BBA2_F459_ED6E));
        assert_eq!(Seed::new(0).mix(b"foobar"), Seed(0x497F_DA42_4991_44A5));
        assert_eq!(
            Seed::new(42).mix(b"charge-card"),
            Seed(0x54ED_2996_9848_E59D)
        );
        assert_eq!(
            Seed::new(u64::MAX).mix(&[0x00, 0xFF]),
            Seed(0xF753_1749_0283_582B)
        );

        assert_eq!(Seed::new(0).mix_u64(0), Seed(0xDF55_1C73_5404_99D8));
        assert_eq!(Seed::new(0).mix_u64(1), Seed(0xFCB6_E8A6_1A84_1D93));
        assert_eq!(Seed::new(1).mix_u64(0), Seed(0x3FEC_CC18_2474_B71B));
        assert_eq!(Seed::new(42).mix_u64(7), Seed(0xE7CF_1C2D_94DF_776E));
        assert_eq!(
            Seed::new(u64::MAX).mix_u64(u64::MAX),
            Seed(0x6D3D_BB19_6E22_C59F)
        );

        assert_eq!(Seed::new(7).draw().unit(), 0.389_829_748_391_271_5);
        assert_eq!(Seed::new(7).draw().below(1_000), 389);
    }

    #[test]
    fn calls_do_not_run_together() {
        let seed = Seed::new(9);
        assert_ne!(seed.mix(b"ab").mix(b"c"), seed.mix(b"a").mix(b"bc"));
        assert_ne!(seed.mix(b""), seed);
    }

    #[test]
    fn random_seeds_differ() {
        assert_ne!(Seed::random(), Seed::random());
    }

    #[test]
    fn the_ends_of_the_ranges() {
        let (lowest, highest) = (Draw(0), Draw(u64::MAX));
        assert_eq!(lowest.unit(), 0.0);
        assert!(highest.unit() < 1.0);
        assert_eq!((lowest.below(10), highest.below(10)), (0, 9));
        assert_eq!((highest.below(0), highest.below(1)), (0, 0));
        assert_eq!(
            highest.below_wide(u128::from(u64::MAX) << 30),
            (u128::from(u64::MAX) << 30) - (1 << 30)
        );
    }

    #[test]
    fn draws_fill_their_range_evenly() {
        let mut counts = [0_u32; 10];
        for number in 0..10_000 {
            counts[Seed::new(3).mix_u64(number).draw().below(10) as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (850..1_150).contains(count)),
            "{counts:?}"
        );
    }

    proptest! {
        #[test]
        fn draws_stay_in_range(bits: u64, bound in 1_u64.., wide in 1_u128..(1 << 95)) {
            let draw = Draw(bits);
            prop_assert!((0.0..1.0).contains(&draw.unit()));
            prop_assert!(draw.below(bound) < bound);
            prop_assert!(draw.below_wide(wide) < wide);
            prop_assert_eq!(draw.below_wide(u128::from(bound)), u128::from(draw.below(bound)));
        }

        #[test]
        fn what_is_mixed_in_matters(seed: u64, one: Vec<u8>, two: Vec<u8>) {
            prop_assume!(one != two);
            prop_assert_ne!(Seed::new(seed).mix(&one), Seed::new(seed).mix(&two));
        }
    }
}
