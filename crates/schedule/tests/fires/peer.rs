//! Expressions with letters, compared with croner where no clock is moved.

use croner::Cron;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use refire_schedule::{Schedule, ScheduleSettings};

/// Fires that are compared per expression.
const FIRES: usize = 40;

fn days() -> impl Strategy<Value = String> {
    let entry = prop_oneof![
        (1..=31_u32).prop_map(|day| day.to_string()),
        (1..=31_u32).prop_map(|day| format!("{day}W")),
        (1..=15_u32, 16..=31_u32).prop_map(|(from, to)| format!("{from}-{to}/3")),
        Just("L".to_owned()),
    ];
    // In a list croner lets `LW` swallow `L`, so it stands alone here.
    prop_oneof![
        Just("*".to_owned()),
        Just("LW".to_owned()),
        entry.clone(),
        (entry.clone(), entry).prop_map(|(one, other)| format!("{one},{other}")),
    ]
}

fn weekdays() -> impl Strategy<Value = String> {
    let entry = prop_oneof![
        (0..=7_u32).prop_map(|day| day.to_string()),
        (0..=6_u32, 1..=5_u32).prop_map(|(day, nth)| format!("{day}#{nth}")),
        (0..=6_u32).prop_map(|day| format!("{day}L")),
        Just("MON-FRI".to_owned()),
        Just("sat".to_owned()),
    ];
    prop_oneof![
        Just("*".to_owned()),
        entry.clone(),
        (entry.clone(), entry).prop_map(|(one, other)| format!("{one},{other}")),
    ]
}

fn months() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("*".to_owned()),
        Just("*/3".to_owned()),
        Just("JAN,FEB".to_owned()),
        Just("2".to_owned()),
        Just("NOV-DEC".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn another_library_fires_at_the_same_moments(
        day in days(),
        month in months(),
        weekday in weekdays(),
        hour in prop::sample::select(vec!["9", "*/7", "9-17/4"]),
        second in 0..2_000_000_000_i64,
    ) {
        let expression = format!("5,35 {hour} {day} {month} {weekday}");
        let Ok(schedule) = Schedule::new(&ScheduleSettings::cron(&expression)) else {
            return Ok(());
        };
        let peer: Cron = expression.parse().unwrap();
        let after = Timestamp::from_second(second).unwrap();
        let mut at = after.to_zoned(TimeZone::UTC);
        for slot in schedule.slots(after, Timestamp::MAX).take(FIRES) {
            at = peer.find_next_occurrence(&at, false).unwrap();
            prop_assert_eq!(slot.at, at.timestamp(), "`{}`", expression);
        }
    }
}
