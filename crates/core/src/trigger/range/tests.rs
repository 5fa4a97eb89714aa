//! Ranges of slots.

use super::super::fixture::{at, trigger};
use super::*;
use crate::trigger::ledger::LateReason;

const HOURLY: &str = r#"{"trigger_type":"cron","cron_expression":"0 * * * *"}"#;

fn hour(hour: u32) -> Timestamp {
    at(&format!("2026-01-01T{hour:02}:00:00Z"))
}

fn entry(from: u32, to: u32, outcome: Outcome) -> Entry {
    Entry {
        to: hour(to),
        count: u64::from(to - from + 1),
        ..Entry::one(hour(from), outcome, hour(23))
    }
}

#[test]
fn all_of_a_range_with_both_ends() {
    let trigger = trigger(HOURLY);
    let run =
        |from, to, now, max| backfill(&trigger, Slots::All, hour(from), hour(to), hour(now), max);
    assert_eq!(run(1, 3, 23, 10).unwrap(), [hour(1), hour(2), hour(3)]);
    assert_eq!(
        run(1, 3, 2, 10).unwrap(),
        [hour(1), hour(2)],
        "what is to come is not the past"
    );
    assert_eq!(run(3, 1, 23, 10), Err(BackfillError::Backwards));
    let error = run(1, 3, 23, 2).unwrap_err();
    assert_eq!(error, BackfillError::TooMany { count: 3, max: 2 });
    assert!(error.to_string().contains("there are 3 slots"));
    let year = backfill(
        &trigger,
        Slots::All,
        hour(0),
        at("2027-01-01T00:00:00Z"),
        Timestamp::LAST,
        u64::MAX,
    );
    assert_eq!(
        year,
        Err(BackfillError::TooMany {
            count: 8761,
            max: BACKFILL_MAX
        })
    );
    let webhook =
        super::super::fixture::trigger(r#"{"trigger_type":"webhook","authentication":"none"}"#);
    let none = backfill(&webhook, Slots::All, hour(0), hour(1), hour(2), 5);
    assert_eq!(none, Err(BackfillError::NoSchedule));
}

#[test]
fn only_what_the_ledger_has_as_missed() {
    let trigger = trigger(HOURLY);
    let ledger = [
        entry(1, 4, Outcome::Skipped(SkipReason::Missed)),
        entry(5, 5, Outcome::Fired),
        entry(6, 6, Outcome::Skipped(SkipReason::Overlap)),
        entry(7, 7, Outcome::Skipped(SkipReason::Dst)),
        entry(8, 8, Outcome::Overdue),
        entry(9, 10, Outcome::Skipped(SkipReason::Paused)),
        // Hour 2 has been run again since.
        entry(2, 2, Outcome::Late(LateReason::Missed)),
    ];
    let run = |from, to, max| {
        backfill(
            &trigger,
            Slots::Missed(&ledger),
            hour(from),
            hour(to),
            hour(23),
            max,
        )
    };
    assert_eq!(run(0, 22, 10).unwrap(), [1, 3, 4, 6, 9, 10].map(hour));
    assert_eq!(run(3, 9, 10).unwrap(), [3, 4, 6, 9].map(hour));
    assert_eq!(run(11, 22, 10).unwrap(), []);
    assert_eq!(
        run(0, 22, 5),
        Err(BackfillError::TooMany { count: 6, max: 5 })
    );
    assert_eq!(run(0, 22, 6).unwrap().len(), 6);
}

#[test]
fn what_another_schedule_has_left_out_is_not_guessed() {
    let ledger = [
        entry(1, 4, Outcome::Skipped(SkipReason::Missed)),
        entry(9, 9, Outcome::Skipped(SkipReason::Missed)),
    ];
    let run = |expression: &str, from| {
        let settings = format!(r#"{{"trigger_type":"cron","cron_expression":"{expression}"}}"#);
        let trigger = trigger(&settings);
        backfill(
            &trigger,
            Slots::Missed(&ledger),
            hour(from),
            hour(22),
            hour(23),
            10,
        )
    };
    assert_eq!(run("0 * * * *", 0).unwrap(), [1, 2, 3, 4, 9].map(hour));
    let other = BackfillError::OtherSchedule {
        from: hour(1),
        to: hour(4),
        count: 4,
    };
    // More of them, fewer, as many at other times, and others between the same ends.
    for expression in ["*/30 * * * *", "0 */2 * * *", "30 * * * *", "0 1,2,4 * * *"] {
        assert_eq!(run(expression, 0), Err(other.clone()), "{expression}");
        assert_eq!(run(expression, 3), Err(other.clone()), "also of a part");
        assert_eq!(run(expression, 5).unwrap(), [hour(9)], "it names itself");
    }
    assert!(other.to_string().contains("4 slots"), "{other}");
}

#[test]
fn ten_missed_years_are_counted_and_not_walked() {
    let trigger = trigger(r#"{"trigger_type":"cron","cron_expression":"* * * * *"}"#);
    let (from, to) = (at("2016-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"));
    let ledger = [Entry {
        to,
        count: 5_260_321,
        ..Entry::one(from, Outcome::Skipped(SkipReason::Missed), to)
    }];
    let run = backfill(&trigger, Slots::Missed(&ledger), from, to, to, 1_000);
    let too_many = BackfillError::TooMany {
        count: 5_260_321,
        max: 1_000,
    };
    assert_eq!(run, Err(too_many));
}

#[test]
fn what_comes_next_begins_with_what_its_jitter_put_off() {
    let trigger = trigger(
        r#"{"trigger_type":"cron","cron_expression":"0 * * * *","jitter":"30m","timezone":"Asia/Taipei"}"#,
    );
    let next = upcoming(&trigger, None, hour(1), 2);
    assert_eq!(next.len(), 2);
    assert_eq!(next[0].slot.to_string(), "2026-01-01T09:00:00+08:00");
    assert!(next[0].planned > hour(1));
    let after = upcoming(&trigger, None, next[0].planned, 1);
    assert_eq!(after[0], next[1]);
    // A trigger that was made at nine does not start what was planned for nine.
    let of_new = upcoming(&trigger, Some(hour(1)), hour(1), 1);
    assert_eq!(of_new[0], next[1]);
    assert_eq!(
        upcoming(&trigger, None, hour(1), usize::MAX).len(),
        UPCOMING_MAX
    );
}

#[test]
fn what_is_over_has_no_next() {
    let trigger = trigger(
        r#"{"trigger_type":"schedule","at":["2026-01-01T02:00:00Z","2026-01-01T03:00:00Z"]}"#,
    );
    let count = |now| upcoming(&trigger, None, now, 5).len();
    assert_eq!([1, 2, 3].map(hour).map(count), [2, 1, 0]);
}
