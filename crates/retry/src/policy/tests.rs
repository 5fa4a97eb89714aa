//! Tables for single policies, and properties for all of them.

use proptest::prelude::{
    Just, Strategy as Values, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

use super::*;
use crate::seed::Seed;
use crate::timeline::Ending;

const SECOND: Duration = Duration::from_secs(1);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Exponential from 1 s, so that retry 3 is nominally 4 s.
fn with(jitter: Jitter) -> Policy {
    Policy::exponential(SECOND).jitter(jitter)
}

fn waits(policy: &Policy) -> Vec<u64> {
    policy
        .timeline()
        .retries
        .iter()
        .map(|planned| planned.delay.as_secs())
        .collect()
}

#[test]
fn the_default_is_what_it_says() {
    let policy = Policy::default();
    let timeline = policy.timeline();
    assert_eq!(waits(&policy), [2, 4, 8, 16, 32]);
    assert_eq!(timeline.total, 62 * SECOND);
    assert_eq!(timeline.total_min, ms(49_600));
    assert_eq!(timeline.total_max, ms(74_400));
    assert_eq!(
        policy.range(1),
        Range {
            nominal: 2 * SECOND,
            min: ms(1_600),
            max: ms(2_400)
        }
    );
    assert_eq!(policy.max_attempts(), 6);
}

#[test]
fn well_known_policies_are_one_line_each() {
    let publish = Policy::exponential(SECOND)
        .attempts(5)
        .max_delay(16 * SECOND);
    assert_eq!(waits(&publish), [1, 2, 4, 8]);
    assert_eq!(publish.timeline().total, 15 * SECOND);

    let connect = Policy::fixed(10 * SECOND).attempts(90);
    assert_eq!(waits(&connect), [10; 89]);

    let download = Policy::exponential(SECOND)
        .attempts(3)
        .max_delay(8 * SECOND);
    assert_eq!(waits(&download), [1, 2]);
    assert_eq!(download.timeline().total, 3 * SECOND);
}

/// Computed by another program from the same seed; see the known answers of `Seed`.
#[test]
fn known_delays() {
    let seed = Seed::new(42).mix(b"charge-card");
    let delays: Vec<_> = (1..=5)
        .map(|retry| Policy::default().delay(retry, None, seed.mix_u64(retry.into()).draw()))
        .map(|delay| delay.as_nanos())
        .collect();
    let expected = [
        1_617_525_230,
        3_524_790_609,
        6_452_032_378,
        16_914_451_556,
        28_127_799_252,
    ];
    assert_eq!(delays, expected);
}

#[test]
fn known_delays_of_each_jitter() {
    let delay = |jitter, previous| {
        with(jitter)
            .delay(3, previous, Seed::new(7).draw())
            .as_nanos()
    };
    assert_eq!(delay(Jitter::None, None), 4_000_000_000);
    assert_eq!(delay(Jitter::Proportional(0.5), None), 3_559_318_993);
    assert_eq!(delay(Jitter::Additive, None), 4_194_914_874);
    assert_eq!(delay(Jitter::Full, None), 1_559_318_993);
    assert_eq!(delay(Jitter::Equal, None), 2_779_659_497);
    assert_eq!(delay(Jitter::Decorrelated, None), 1_779_659_497);
    assert_eq!(delay(Jitter::Decorrelated, Some(2 * SECOND)), 2_949_148_742);
}

#[test]
fn cap_comes_before_jitter_and_the_floor_last() {
    let capped = with(Jitter::Proportional(0.5)).max_delay(2 * SECOND);
    let range = capped.range(3);
    assert_eq!(
        (range.nominal, range.min, range.max),
        (2 * SECOND, SECOND, 3 * SECOND)
    );

    let floored = with(Jitter::Full).min_delay(ms(500));
    assert_eq!(
        floored.range(1),
        Range {
            nominal: SECOND,
            min: ms(500),
            max: SECOND
        }
    );

    let contradicting = Policy::fixed(SECOND).max_delay(ms(10)).min_delay(ms(20));
    assert_eq!(contradicting.delay(1, None, Seed::new(0).draw()), ms(20));
}

#[test]
fn decorrelated_grows_by_the_previous_delay_up_to_the_cap() {
    let policy = with(Jitter::Decorrelated).max_delay(20 * SECOND);
    let ranges: Vec<_> = (1..=4).map(|retry| policy.range(retry)).collect();
    let max: Vec<_> = ranges.iter().map(|range| range.max.as_secs()).collect();
    let nominal: Vec<_> = ranges
        .iter()
        .map(|range| range.nominal.as_millis())
        .collect();
    assert_eq!(max, [3, 9, 20, 20]);
    assert_eq!(nominal, [2_000, 3_500, 5_750, 9_125]);
    assert!(ranges.iter().all(|range| range.min == SECOND));
}

#[test]
fn decorrelated_ignores_a_previous_it_cannot_have_given() {
    let policy = with(Jitter::Decorrelated);
    for seed in 0..100 {
        let delay = policy.delay(1, Some(1_000 * SECOND), Seed::new(seed).draw());
        assert!(delay <= policy.range(1).max);
        let delay = policy.delay(2, Some(Duration::ZERO), Seed::new(seed).draw());
        assert_eq!(delay, SECOND);
    }
}

#[test]
fn attempts_and_retries_are_one_apart() {
    assert_eq!(Policy::fixed(SECOND).attempts(5).max_retries, 4);
    assert_eq!(Policy::fixed(SECOND).attempts(1).max_retries, 0);
    assert_eq!(Policy::fixed(SECOND).attempts(0).max_retries, 0);
    assert_eq!(
        Policy::fixed(SECOND).max_retries(u32::MAX).max_attempts(),
        u32::MAX
    );
}

#[test]
fn a_time_limit_ends_the_timeline() {
    let timeline = Policy::default().max_elapsed(20 * SECOND).timeline();
    assert_eq!(timeline.retries.len(), 3);
    assert_eq!(timeline.ending, Ending::Elapsed);
    assert_eq!(
        (timeline.total, timeline.total_max),
        (14 * SECOND, ms(16_800))
    );
    let exact = Policy::default().max_elapsed(14 * SECOND).timeline();
    assert_eq!((exact.retries.len(), exact.total_max), (3, 14 * SECOND));
}

#[test]
fn endless_timelines_are_cut() {
    let timeline = Policy::fixed(SECOND).max_retries(u32::MAX).timeline();
    assert_eq!(timeline.retries.len(), crate::TIMELINE_RETRIES_MAX as usize);
    assert_eq!(timeline.ending, Ending::Truncated);
    assert_eq!(Policy::fixed(SECOND).max_retries(0).timeline().retries, []);
}

fn durations() -> impl Values<Value = Duration> {
    prop_oneof![
        4 => (0..10_000_000_u64).prop_map(Duration::from_micros),
        1 => any::<(u64, u32)>().prop_map(|(secs, ns)| Duration::new(secs, ns % 1_000_000_000)),
        1 => Just(Duration::ZERO),
        1 => Just(Duration::MAX),
    ]
}

fn jitters() -> impl Values<Value = Jitter> {
    prop_oneof![
        Just(Jitter::None),
        any::<f64>().prop_map(Jitter::Proportional),
        (0.0..1.0).prop_map(Jitter::Proportional),
        Just(Jitter::Additive),
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::Decorrelated),
    ]
}

fn multipliers() -> impl Values<Value = f64> {
    use proptest::num::f64::ANY;
    prop_oneof![ANY, 1.0..4.0]
}

fn policies() -> impl Values<Value = Policy> {
    use Strategy::{Exponential, Fixed, Linear};
    let strategies = prop_oneof![Just(Exponential), Just(Linear), Just(Fixed)];
    let limits = (option(), option());
    (
        0..40_u32,
        durations(),
        strategies,
        multipliers(),
        limits,
        jitters(),
        durations(),
    )
        .prop_map(
            |(max_retries, initial, strategy, multiplier, limits, jitter, min_delay)| {
                let (max_delay, max_elapsed) = limits;
                Policy {
                    max_retries,
                    initial,
                    strategy,
                    multiplier,
                    max_delay,
                    max_elapsed,
                    jitter,
                    min_delay,
                }
            },
        )
}

fn option() -> impl Values<Value = Option<Duration>> {
    proptest::option::of(durations())
}

proptest! {
    #[test]
    fn every_delay_is_in_its_range(
        policy in policies(),
        retry in prop_oneof![0..100_u32, any::<u32>()],
        previous in option(),
        seed: u64,
    ) {
        let range = policy.range(retry);
        let delay = policy.delay(retry, previous, Seed::new(seed).draw());
        prop_assert!(range.min <= delay && delay <= range.max, "{delay:?} not in {range:?}");
        prop_assert!(range.min <= range.nominal && range.nominal <= range.max, "{range:?}");
        prop_assert!(range.min >= policy.min_delay);
    }

    #[test]
    fn the_same_seed_gives_the_same_delays(policy in policies(), seed: u64) {
        let run = || {
            let mut previous = None;
            let mut delays = Vec::new();
            for retry in 1..=policy.max_retries {
                let draw = Seed::new(seed).mix_u64(retry.into()).draw();
                previous = Some(policy.delay(retry, previous, draw));
                delays.extend(previous);
            }
            delays
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn a_run_stays_within_the_timeline(policy in policies(), seed: u64) {
        let timeline = policy.timeline();
        let mut previous = None;
        let mut total = Duration::ZERO;
        for planned in &timeline.retries {
            let draw = Seed::new(seed).mix_u64(planned.retry.into()).draw();
            let delay = policy.delay(planned.retry, previous, draw);
            prop_assert!(planned.min <= delay && delay <= planned.max);
            previous = Some(delay);
            total = total.saturating_add(delay);
        }
        prop_assert!(timeline.total_min <= total);
        prop_assert!(total <= timeline.total_max || policy.max_elapsed.is_some());
        prop_assert!(timeline.total <= policy.max_elapsed.unwrap_or(Duration::MAX));
        prop_assert_eq!(timeline.total, timeline.retries.last().map_or(Duration::ZERO, |p| p.at));
    }

    #[test]
    fn without_odd_multipliers_the_nominal_delay_never_shrinks(
        policy in policies(),
        multiplier in 1.0..5.0_f64,
        retry in 1..1_000_u32,
    ) {
        let policy = policy.multiplier(multiplier);
        prop_assert!(policy.range(retry).nominal <= policy.range(retry + 1).nominal);
    }
}
