//! Spreading slots that would all be due at once.
//!
//! The delay of a slot is derived from the trigger's seed and the slot's moment, so that every node
//! comes to the same one and a restart changes nothing.

use std::time::Duration;

use jiff::Timestamp;

/// How long after its moment a slot is to start: at least nothing and less than `window`, in whole
/// milliseconds. It must never change for a given seed and moment: a slot that is due on one node
/// would be early on another that runs a newer version.
pub(crate) fn delay(window: Duration, seed: u64, at: Timestamp) -> Duration {
    let window_ms = u64::try_from(window.as_millis()).unwrap_or(u64::MAX);
    if window_ms == 0 {
        return Duration::ZERO;
    }
    let random = mix(mix(seed).wrapping_add(at.as_millisecond() as u64));
    // The high half of the product is even over the window without a division.
    let delay_ms = (u128::from(random) * u128::from(window_ms)) >> 64;
    Duration::from_millis(delay_ms as u64)
}

/// SplitMix64's step: every bit of the answer depends on every bit of the question.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_even_over_the_window_and_never_leave_it() {
        let window = Duration::from_secs(10);
        let mut tenths = [0_u32; 10];
        for seed in 0..100 {
            for minute in 0..100 {
                let at = Timestamp::from_second(1_800_000_000 + minute * 60).unwrap();
                let delay = delay(window, seed, at);
                assert!(delay < window);
                tenths[delay.as_secs() as usize] += 1;
            }
        }
        for count in tenths {
            assert!((850..1150).contains(&count), "{tenths:?}");
        }
    }

    #[test]
    fn a_delay_is_the_same_for_ever() {
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        let ms = |seed| delay(Duration::from_secs(60), seed, at).as_millis();
        assert_eq!([ms(0), ms(1), ms(u64::MAX)], [48_884, 2_536, 39_267]);
        assert_eq!(delay(Duration::ZERO, 7, at), Duration::ZERO);
    }
}
