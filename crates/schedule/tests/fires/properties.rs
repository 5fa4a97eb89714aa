//! Random expressions near random changes of the clock, in every zone there is.

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use proptest::prelude::*;
use refire_schedule::{Schedule, ScheduleSettings, SkipReason, SlotKind};

use crate::table::dst;
use crate::walk::{Clock, POLICIES, Reading, walk};

/// Before it, some clocks were off by seconds, which a walk over minutes does not see.
const FROM_S: i64 = 157_766_400; // 1975
const END_S: i64 = 2_524_608_000; // 2050

/// A day and a half to either side of a change.
const AROUND_S: i64 = 36 * 3600;

fn zones() -> Vec<String> {
    let zones = TimeZoneDatabase::bundled();
    let names: Vec<String> = zones.available().map(|name| name.to_string()).collect();
    assert!(names.len() > 400);
    names
}

fn field(min: u32, max: u32) -> impl Strategy<Value = String> {
    let range = (min..=max, min..=max).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b)));
    let entry = prop_oneof![
        3 => (min..=max).prop_map(|number| number.to_string()),
        2 => range.clone(),
        1 => (range, 1..=5_u32).prop_map(|(range, step)| format!("{range}/{step}")),
    ];
    prop_oneof![
        2 => Just("*".to_owned()),
        1 => (2..=max.min(20)).prop_map(|step| format!("*/{step}")),
        4 => entry.clone(),
        2 => prop::collection::vec(entry, 2..4).prop_map(|entries| entries.join(",")),
    ]
}

/// Hours near midnight and in the small hours, when clocks are moved.
fn hour() -> impl Strategy<Value = String> {
    prop_oneof![field(0, 23), field(0, 4)]
}

fn expression() -> impl Strategy<Value = String> {
    let any_day = prop_oneof![4 => Just("*".to_owned()), 1 => field(1, 31)];
    let any_weekday = prop_oneof![4 => Just("*".to_owned()), 1 => field(0, 7)];
    (field(0, 59), hour(), any_day, any_weekday)
        .prop_map(|(minute, hour, day, weekday)| format!("{minute} {hour} {day} * {weekday}"))
}

/// A minute near the first change of a zone's clock after a random moment, or near that moment.
fn near_a_change(zone: &TimeZone, second: i64) -> i64 {
    let at = Timestamp::from_second(second).unwrap();
    let change = zone.following(at).next().map(|change| change.timestamp());
    let near = change.map_or(second, Timestamp::as_second);
    let near = if near > END_S { second } else { near };
    near - near.rem_euclid(60)
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_question_is_answered_as_by_the_slow_walk(
        expression in expression(),
        zone in prop::sample::select(zones()),
        second in FROM_S..END_S,
        policy in prop::sample::select(POLICIES.to_vec()),
        asked in -AROUND_S..AROUND_S,
    ) {
        let zone_data = TimeZoneDatabase::bundled().get(&zone).unwrap();
        let middle = near_a_change(&zone_data, second);
        let (from, end) = (middle - AROUND_S, middle + AROUND_S);
        let clock = Clock::new(&zone_data, from, end);
        let walked = walk(&clock, &Reading::new(&expression), &[policy]).remove(0);
        let settings = ScheduleSettings::cron(&expression).timezone(&zone).dst(dst(policy));
        let schedule = match Schedule::new(&settings) {
            Ok(schedule) => schedule,
            // Days that no month has are refused, and the walk finds nothing either.
            Err(_) => {
                prop_assert!(walked.fires.is_empty());
                return Ok(());
            }
        };
        let (after, until) = (at(from - 1), at(end - 1));
        let slots: Vec<_> = schedule.slots(after, until).collect();
        let found: Vec<i64> = slots.iter().map(|slot| slot.at.as_second()).collect();
        prop_assert_eq!(&found, &walked.fires);
        let back: Vec<i64> = schedule.slots(after, until).rev().map(|slot| slot.at.as_second()).collect();
        prop_assert!(found.iter().rev().eq(&back));
        prop_assert_eq!(schedule.count(after, until), found.len() as u64);

        let asked = middle + asked;
        let next = schedule.next(at(asked)).map(|slot| slot.at.as_second()).filter(|next| *next < end);
        prop_assert_eq!(next, found.iter().copied().find(|fire| *fire > asked));
        let previous = schedule.previous(at(asked)).map(|slot| slot.at.as_second()).filter(|last| *last >= from);
        prop_assert_eq!(previous, found.iter().copied().rfind(|fire| *fire < asked));
        let before = found.iter().filter(|fire| **fire <= asked).count() as u64;
        prop_assert_eq!(schedule.count(after, at(asked)), before);

        for slot in &slots {
            let zoned = slot.at.to_zoned(zone_data.clone());
            prop_assert_eq!(zoned.datetime(), slot.local);
            prop_assert_eq!(zoned.offset(), slot.offset);
            prop_assert_eq!(slot.kind == SlotKind::Moved, slot.planned != slot.local);
        }
        let skipped = schedule.skipped(after, until);
        let other_pass = skipped.iter().filter(|s| s.reason == SkipReason::OtherPass).count();
        prop_assert_eq!(other_pass, walked.other_pass);
        // What was jumped over was skipped, fell together with another slot, or was moved.
        let moved = slots.iter().filter(|slot| slot.kind == SlotKind::Moved).count();
        prop_assert_eq!(skipped.len() - other_pass + moved, walked.jumped_over);
        prop_assert!(skipped.is_sorted_by_key(|skipped| skipped.at));
    }
}
