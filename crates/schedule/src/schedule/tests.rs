//! The questions of a schedule on days and in windows that are special.

use proptest::prelude::*;

use super::*;
use crate::dst::{Dst, Gap, Repeat};
use crate::slot::{SkipReason, SlotKind};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn schedule(json: &str) -> Schedule {
    match Schedule::new(&serde_json::from_str(json).unwrap()) {
        Ok(schedule) => schedule,
        Err(problems) => panic!("{json}: {problems}"),
    }
}

fn cron(expression: &str, zone: &str, dst: Dst) -> Schedule {
    let settings = ScheduleSettings::cron(expression).timezone(zone).dst(dst);
    Schedule::new(&settings).unwrap()
}

/// The day, the time and the offset of each.
fn fires(schedule: &Schedule, after: &str, until: &str) -> Vec<String> {
    let slots = schedule.slots(at(after), at(until));
    let texts = slots.map(|slot| slot.to_string());
    // Seconds are shown only where there are some.
    texts
        .map(|text| {
            text[8..]
                .replace('T', " ")
                .replace(":00-", "-")
                .replace(":00+", "+")
        })
        .collect()
}

const SKIP: Dst = Dst {
    gap: Gap::Skip,
    repeat: Repeat::First,
};
const LAST: Dst = Dst {
    gap: Gap::NextValid,
    repeat: Repeat::Last,
};
const BOTH: Dst = Dst {
    gap: Gap::NextValid,
    repeat: Repeat::Both,
};

#[test]
fn a_time_that_does_not_exist_fires_after_the_gap_or_not_at_all() {
    let night = ("2026-03-08T00:00:00Z", "2026-03-09T12:00:00Z");
    let new_york =
        |expression, dst| fires(&cron(expression, "America/New_York", dst), night.0, night.1);
    assert_eq!(
        new_york("30 2 * * *", Dst::default()),
        ["08 03:00-04:00", "09 02:30-04:00"]
    );
    assert_eq!(new_york("30 2 * * *", SKIP), ["09 02:30-04:00"]);
    // Several that come together, alone or with one that exists, fire once.
    assert_eq!(
        new_york("0,15,30 2 8 * *", Dst::default()),
        ["08 03:00-04:00"]
    );
    assert_eq!(new_york("0 2,3 8 * *", Dst::default()), ["08 03:00-04:00"]);
    assert_eq!(new_york("0 2,3 8 * *", SKIP), ["08 03:00-04:00"]);
    assert_eq!(
        new_york("30 1-3 8 * *", Dst::default()),
        ["08 01:30-05:00", "08 03:00-04:00", "08 03:30-04:00"]
    );
    // Elapsed time is not moved.
    assert_eq!(
        new_york("0 */2 8 * *", Dst::default())[..3],
        ["08 00:00-05:00", "08 04:00-04:00", "08 06:00-04:00"]
    );
    assert_eq!(
        new_york("30 * 8 * *", Dst::default())[1..3],
        ["08 01:30-05:00", "08 03:30-04:00"]
    );
}

#[test]
fn a_time_that_comes_twice_fires_as_often_as_it_should() {
    let night = ("2026-11-01T04:00:00Z", "2026-11-02T06:59:00Z");
    let new_york =
        |expression, dst| fires(&cron(expression, "America/New_York", dst), night.0, night.1);
    assert_eq!(
        new_york("30 1 * * *", Dst::default()),
        ["01 01:30-04:00", "02 01:30-05:00"]
    );
    assert_eq!(
        new_york("30 1 * * *", LAST),
        ["01 01:30-05:00", "02 01:30-05:00"]
    );
    assert_eq!(
        new_york("30 1 * * *", BOTH),
        ["01 01:30-04:00", "01 01:30-05:00", "02 01:30-05:00"]
    );
    assert_eq!(
        new_york("0,30 1 1 * *", BOTH),
        [
            "01 01:00-04:00",
            "01 01:30-04:00",
            "01 01:00-05:00",
            "01 01:30-05:00"
        ]
    );
    assert_eq!(
        new_york("30 * 1 * *", Dst::default())[..4],
        [
            "01 00:30-04:00",
            "01 01:30-04:00",
            "01 01:30-05:00",
            "01 02:30-05:00"
        ]
    );
    // Asked from within the second pass, the first is over.
    let first = cron("30 1 * * *", "America/New_York", Dst::default());
    let next = first.next(at("2026-11-01T06:10:00Z")).unwrap();
    assert_eq!(next.at, at("2026-11-02T06:30:00Z"));
}

#[test]
fn midnight_may_be_missing_and_half_hours_too() {
    let midnight = cron("0 0 * * *", "America/Santiago", Dst::default());
    assert_eq!(
        fires(&midnight, "2026-09-06T00:00:00Z", "2026-09-07T12:00:00Z"),
        ["06 01:00-03:00", "07 00:00-03:00"]
    );
    let moved = midnight.next(at("2026-09-06T00:00:00Z")).unwrap();
    assert_eq!(moved.kind, SlotKind::Moved);
    assert_eq!(moved.planned.to_string(), "2026-09-06T00:00:00");
    assert_eq!(moved.local.to_string(), "2026-09-06T01:00:00");
    let quarter = cron("15 2 * * *", "Australia/Lord_Howe", Dst::default());
    assert_eq!(
        fires(&quarter, "2026-10-03T13:30:00Z", "2026-10-04T13:00:00Z"),
        ["04 02:30+11:00"]
    );
    let repeated = cron("45 1 * * *", "Australia/Lord_Howe", BOTH);
    assert_eq!(
        fires(&repeated, "2026-04-04T13:00:00Z", "2026-04-05T13:00:00Z"),
        ["05 01:45+11:00", "05 01:45+10:30"]
    );
}

#[test]
fn a_day_that_does_not_exist_is_a_gap_as_well() {
    // Samoa left out 30 December 2011.
    let daily = cron("0 9 * * *", "Pacific/Apia", Dst::default());
    assert_eq!(
        fires(&daily, "2011-12-29T00:00:00Z", "2011-12-31T00:00:00Z"),
        ["29 09:00-10:00", "31 00:00+14:00", "31 09:00+14:00"]
    );
    let hourly = cron("0 9-11 * * *", "Pacific/Apia", SKIP);
    let skipped = hourly.skipped(at("2011-12-29T00:00:00Z"), at("2011-12-31T00:00:00Z"));
    assert_eq!(skipped.len(), 3);
    assert!(
        skipped
            .iter()
            .all(|skipped| skipped.reason == SkipReason::Gap)
    );
}

#[test]
fn what_does_not_fire_is_told_with_the_reason() {
    let year = (at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"));
    let told = |expression, dst| -> Vec<(String, String, SkipReason)> {
        let schedule = cron(expression, "America/New_York", dst);
        let skipped = schedule.skipped(year.0, year.1).into_iter();
        skipped
            .map(|s| (s.at.to_string(), s.planned.to_string(), s.reason))
            .collect()
    };
    let line = |at: &str, planned: &str, reason| (at.to_owned(), planned.to_owned(), reason);
    let gap = "2026-03-08T07:00:00Z";
    assert_eq!(told("30 2 * * *", Dst::default()), []);
    assert_eq!(
        told("30 2 * * *", SKIP),
        [line(gap, "2026-03-08T02:30:00", SkipReason::Gap)]
    );
    assert_eq!(
        told("0,30 2 * * *", Dst::default()),
        [line(gap, "2026-03-08T02:30:00", SkipReason::Merged)]
    );
    let pass = |at| [line(at, "2026-11-01T01:30:00", SkipReason::OtherPass)];
    assert_eq!(
        told("30 1 * * *", Dst::default()),
        pass("2026-11-01T06:30:00Z")
    );
    assert_eq!(told("30 1 * * *", LAST), pass("2026-11-01T05:30:00Z"));
    assert_eq!(told("30 1 * * *", BOTH), []);
    assert_eq!(told("30 * * * *", SKIP), []);
}

#[test]
fn the_window_bounds_every_question() {
    let schedule = schedule(
        r#"{"cron": "0 9 * * *", "start": "2026-03-02T09:00:00Z", "end": "2026-03-04T09:00:00Z"}"#,
    );
    let all = ["02 09:00+00:00", "03 09:00+00:00", "04 09:00+00:00"];
    assert_eq!(
        fires(&schedule, "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
        all
    );
    let first = schedule.next(at("1980-01-01T00:00:00Z")).unwrap();
    assert_eq!(first.at, at("2026-03-02T09:00:00Z"));
    assert_eq!(schedule.next(at("2026-03-04T09:00:00Z")), None);
    let last = schedule.previous(at("2199-01-01T00:00:00Z")).unwrap();
    assert_eq!(last.at, at("2026-03-04T09:00:00Z"));
    assert_eq!(schedule.previous(at("2026-03-02T09:00:00Z")), None);
    assert_eq!(schedule.count(Timestamp::MIN, Timestamp::MAX), 3);
    assert_eq!(schedule.slots(Timestamp::MAX, Timestamp::MIN).count(), 0);
}

#[test]
fn both_ends_of_a_walk_meet() {
    let schedule = schedule(r#"{"every": "1h", "anchor": "2026-01-01T00:00:00Z"}"#);
    let mut slots = schedule.slots(at("2026-01-01T00:00:00Z"), at("2026-01-01T03:00:00Z"));
    let hours: Vec<_> = [
        slots.next(),
        slots.next_back(),
        slots.next(),
        slots.next(),
        slots.next_back(),
    ]
    .into_iter()
    .map(|slot| slot.map(|slot| slot.local.hour()))
    .collect();
    assert_eq!(hours, [Some(1), Some(3), Some(2), None, None]);
}

#[test]
fn forms_in_words_are_calendars() {
    let weekly =
        schedule(r#"{"weekly": {"dayOfWeek": ["fri", "MON", 0], "time": ["17:30", "09:00"]}}"#);
    assert_eq!(
        fires(&weekly, "2026-11-14T00:00:00Z", "2026-11-17T00:00:00Z"),
        [
            "15 09:00+00:00",
            "15 17:30+00:00",
            "16 09:00+00:00",
            "16 17:30+00:00"
        ]
    );
    let monthly = schedule(r#"{"monthly": {"dayOfMonth": [1, 31], "time": "09:00"}}"#);
    assert_eq!(
        fires(&monthly, "2026-01-30T00:00:00Z", "2026-03-02T00:00:00Z"),
        [
            "31 09:00+00:00",
            "01 09:00+00:00",
            "28 09:00+00:00",
            "01 09:00+00:00"
        ]
    );
    let last = schedule(r#"{"monthly": {"dayOfMonth": "last", "time": "09:00:30"}}"#);
    assert_eq!(
        fires(&last, "2028-02-01T00:00:00Z", "2028-04-01T00:00:00Z"),
        ["29 09:00:30+00:00", "31 09:00:30+00:00"]
    );
    let daily =
        r#"{"daily": {"time": "02:30"}, "timezone": "America/New_York", "dst": {"gap": "skip"}}"#;
    assert_eq!(
        fires(
            &schedule(daily),
            "2026-03-07T00:00:00Z",
            "2026-03-09T12:00:00Z"
        ),
        ["07 02:30-05:00", "09 02:30-04:00"]
    );
}

#[test]
fn moments_are_placed_by_the_policy() {
    let list = r#""at": ["2026-11-01T01:30", "2026-03-08T02:30", "2026-03-08T02:45", "2026-06-01T00:00:00Z"]"#;
    let zoned = |dst: &str| {
        let settings = format!(r#"{{{list}, "timezone": "America/New_York", "dst": {dst}}}"#);
        let schedule = schedule(&settings);
        fires(&schedule, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")
    };
    let (gap, june) = ("08 03:00-04:00", "31 20:00-04:00");
    let (first, second) = ("01 01:30-04:00", "01 01:30-05:00");
    assert_eq!(zoned("{}"), [gap, june, first]);
    assert_eq!(zoned(r#"{"repeat": "both"}"#), [gap, june, first, second]);
    assert_eq!(
        zoned(r#"{"gap": "skip", "repeat": "last"}"#),
        [june, second]
    );
    let moving = format!(r#"{{{list}, "timezone": "America/New_York"}}"#);
    let merged = schedule(&moving).skipped(Timestamp::MIN, at("2026-06-01T00:00:00Z"));
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].reason, SkipReason::Merged);
    assert_eq!(merged[0].planned.to_string(), "2026-03-08T02:45:00");
    let skipping =
        format!(r#"{{{list}, "timezone": "America/New_York", "dst": {{"gap": "skip"}}}}"#);
    let skipped = schedule(&skipping).skipped(Timestamp::MIN, Timestamp::MAX);
    let reasons: Vec<SkipReason> = skipped.iter().map(|skipped| skipped.reason).collect();
    assert_eq!(
        reasons,
        [SkipReason::Gap, SkipReason::Gap, SkipReason::OtherPass]
    );
    assert_eq!(skipped[0].at, at("2026-03-08T07:00:00Z"));
}

#[test]
fn rare_days_are_found_and_the_search_ends() {
    let leap = cron("0 0 29 2 *", "UTC", Dst::default());
    assert_eq!(
        leap.next(at("2096-03-01T00:00:00Z")).unwrap().at,
        at("2104-02-29T00:00:00Z")
    );
    assert_eq!(
        leap.previous(at("2104-02-29T00:00:00Z")).unwrap().at,
        at("2096-02-29T00:00:00Z")
    );
    let fifth = cron("0 0 * 2 SUN#5", "Europe/Warsaw", Dst::default());
    let year = |after: &str| fifth.next(at(after)).unwrap().local.year();
    assert_eq!(year("2061-01-01T00:00:00Z"), 2088);
    assert_eq!(year("2089-01-01T00:00:00Z"), 2128);
    for edge in [Timestamp::MIN, Timestamp::MAX] {
        for schedule in [&leap, &fifth] {
            let _ = (schedule.next(edge), schedule.previous(edge));
        }
    }
    assert_eq!(leap.next(Timestamp::MAX), None);
    let far = schedule(r#"{"at": ["2026-01-01", "4052-01-01"]}"#);
    let next = far.next(at("2026-01-01T00:00:00Z")).unwrap();
    assert_eq!(next.at, at("4052-01-01T00:00:00Z"));
    assert_eq!(far.previous(next.at).unwrap().local.year(), 2026);
    assert_eq!(leap.previous(Timestamp::MIN), None);
}

#[test]
fn ten_years_of_minutes_are_counted_without_a_walk() {
    let schedule = cron("* * * * *", "Europe/Warsaw", Dst::default());
    let (from, until) = (at("2016-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"));
    assert_eq!(schedule.count(from, until), 5_260_320);
    let last: Vec<_> = schedule.slots(from, until).rev().take(100).collect();
    assert_eq!(last[0].at, until);
    assert_eq!(last[99].at, at("2025-12-31T22:21:00Z"));
}

#[test]
fn jitter_delays_the_start_and_not_the_slot() {
    let plain = cron("0 9 * * *", "UTC", Dst::default());
    let slot = plain.next(at("2026-01-01T00:00:00Z")).unwrap().at;
    assert_eq!(plain.due(slot, 7), slot);
    let spread = schedule(r#"{"cron": "0 9 * * *", "jitter": "10m"}"#);
    assert_eq!(spread.next(at("2026-01-01T00:00:00Z")).unwrap().at, slot);
    let starts: std::collections::BTreeSet<Timestamp> =
        (0..100).map(|seed| spread.due(slot, seed)).collect();
    assert!(starts.len() > 90);
    assert!(
        starts
            .iter()
            .all(|start| (slot..at("2026-01-01T09:10:00Z")).contains(start))
    );
    assert_eq!(
        spread.due(slot, 3),
        schedule(r#"{"cron": "0 9 * * *", "jitter": "10m"}"#).due(slot, 3)
    );
}

proptest! {
    #[test]
    fn no_moment_panics(
        second in Timestamp::MIN.as_second()..=Timestamp::MAX.as_second(),
        nanosecond in 0..1_000_000_000_i32,
        expression in prop::sample::select(vec!["* * * * *", "30 2 * * *", "0 0 29 2 *", "0 0 LW * 5#5"]),
        zone in prop::sample::select(vec!["UTC", "America/New_York", "Pacific/Apia", "Africa/Casablanca"]),
    ) {
        let at = Timestamp::new(second, nanosecond).unwrap_or(Timestamp::MAX);
        let schedule = cron(expression, zone, Dst::default());
        if let Some(slot) = schedule.next(at) {
            prop_assert!(slot.at > at);
            prop_assert_eq!(schedule.previous(slot.at).map(|slot| slot.at <= at), schedule.previous(slot.at).map(|_| true));
            prop_assert_eq!(schedule.count(at, slot.at), 1);
        }
        if let Some(slot) = schedule.previous(at) {
            prop_assert!(slot.at < at);
        }
    }
}
