//! What is refused, and with which words.

use proptest::prelude::*;

use crate::schedule::Schedule;
use crate::settings::{Daily, ScheduleSettings};

/// Settings and what must be said about them.
const WRONG: &[(&str, &str)] = &[
    ("{}", "nothing says when it is due; write `cron`"),
    (
        r#"{"cron": "61 * * * *"}"#,
        "cron: minute: 61 is not from 0 to 59",
    ),
    (
        r#"{"cron": "0 0 30 2 *"}"#,
        "cron: day of month: no month in `2` has a day `30`",
    ),
    (r#"{"cron": "@reboot"}"#, "cron: `@reboot` is not supported"),
    (
        r#"{"cron": "* * * * *", "every": "5m"}"#,
        "every: `cron` already says when",
    ),
    (
        r#"{"cron": "* * * * *", "anchor": "2026-01-01"}"#,
        "anchor: only `every` counts from an anchor",
    ),
    (
        r#"{"cron": "* * * * *", "timezone": "Mars"}"#,
        "timezone: `Mars` is not a time zone",
    ),
    (
        r#"{"cron": "TZ=UTC * * * * *", "timezone": "Asia/Taipei"}"#,
        "timezone: the expression has the time zone `UTC`",
    ),
    (
        r#"{"cron": "* * * * *", "start": "soon"}"#,
        "start: `soon` is not a moment",
    ),
    (
        r#"{"cron": "* * * * *", "start": "2026-01-01T00:00:00+99:00"}"#,
        "start: `2026-01-01T00:00:00+99:00` is not",
    ),
    (
        r#"{"cron": "* * * * *", "start": "2026-01-02", "end": "2026-01-01"}"#,
        "end: the end is before the start",
    ),
    (
        r#"{"cron": "0 9 * * *", "start": "2026-01-01T10:00", "end": "2026-01-01T11:00"}"#,
        "end: nothing is planned between",
    ),
    (
        r#"{"at": "2026-01-01T10:00", "start": "2026-01-02"}"#,
        "start: nothing is planned between",
    ),
    (r#"{"every": "0s"}"#, "every: `0s` is shorter than a second"),
    (
        r#"{"every": "-5m"}"#,
        "every: `-5m` is not a length of time",
    ),
    (r#"{"every": -5}"#, "every: `-5` is not a length of time"),
    (
        r#"{"every": "5m", "jitter": "25h"}"#,
        "jitter: the window is longer than a day",
    ),
    (r#"{"at": []}"#, "at: the list is empty"),
    (
        r#"{"at": ["2026-01-01T10:00", "x"]}"#,
        "at[1]: `x` is not a moment",
    ),
    (
        r#"{"at": "2026-03-08T02:30", "timezone": "America/New_York", "dst": {"gap": "skip"}}"#,
        "at: none of these local times exists",
    ),
    (
        r#"{"daily": {"time": "24:00"}}"#,
        "daily.time: `24:00` is not a time of the day",
    ),
    (
        r#"{"daily": {"time": "9"}}"#,
        "daily.time: `9` is not a time of the day",
    ),
    (
        r#"{"daily": {"time": "09:00:00:00"}}"#,
        "is not a time of the day",
    ),
    (
        r#"{"daily": {"time": "+9:00"}}"#,
        "is not a time of the day",
    ),
    (
        r#"{"weekly": {"dayOfWeek": ["MON", "someday"], "time": "09:00"}}"#,
        "weekly.dayOfWeek[1]: `someday` is not a weekday",
    ),
    (
        r#"{"weekly": {"dayOfWeek": 8, "time": "09:00"}}"#,
        "weekly.dayOfWeek: `8` is not a weekday",
    ),
    (
        r#"{"monthly": {"dayOfMonth": [0], "time": "09:00"}}"#,
        "monthly.dayOfMonth: `0` is neither a day from 1 to 31 nor `last`",
    ),
    (
        r#"{"weekly": {"dayOfWeek": "MON-someday", "time": "09:00"}}"#,
        "weekly.dayOfWeek: `someday` is not a weekday",
    ),
    (
        r#"{"weekly": {"dayOfWeek": -5, "time": "09:00"}}"#,
        "weekly.dayOfWeek: `-5` is not a weekday",
    ),
    (
        r#"{"monthly": {"dayOfMonth": "15-1", "time": "09:00"}}"#,
        "monthly.dayOfMonth: `15-1` ends before it begins; write `1-15`",
    ),
    (
        r#"{"monthly": {"dayOfMonth": "1-32", "time": "09:00"}}"#,
        "monthly.dayOfMonth: `1-32` is neither a day",
    ),
    (
        r#"{"monthly": {"dayOfMonth": [], "time": []}}"#,
        "monthly.dayOfMonth: the list is empty\nmonthly.time: the list is empty",
    ),
];

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    for (json, expected) in WRONG {
        let problems = Schedule::new(&serde_json::from_str(json).unwrap()).unwrap_err();
        assert!(
            problems.to_string().contains(expected),
            "{json}: {problems}"
        );
    }
    let wrong =
        r#"{"cron": "61 * * * *", "timezone": "Mars", "start": "x", "end": "y", "jitter": "z"}"#;
    let problems = Schedule::new(&serde_json::from_str(wrong).unwrap()).unwrap_err();
    let fields: Vec<&str> = problems
        .iter()
        .map(|problem| problem.field.as_str())
        .collect();
    assert_eq!(fields, ["cron", "timezone", "start", "end", "jitter"]);
    let answer = serde_json::to_value(&problems).unwrap();
    let first = serde_json::json!({"field": "cron", "message": "minute: 61 is not from 0 to 59"});
    assert_eq!(answer[0], first);
    let long = ScheduleSettings {
        at: Some((0..1001).map(|_| "2026-01-01").collect()),
        ..ScheduleSettings::default()
    };
    let said = Schedule::new(&long).unwrap_err().to_string();
    assert!(said.contains("at most 1000"), "{said}");
}

#[test]
fn a_range_of_days_is_its_days() {
    let next = |json: &str| {
        let schedule = Schedule::new(&serde_json::from_str(json).unwrap()).unwrap();
        // A Thursday.
        let mut at = "2026-10-01T12:00:00Z".parse().unwrap();
        let mut days = Vec::new();
        for _ in 0..7 {
            let slot = schedule.next(at).unwrap();
            days.push(slot.at.to_string()[8..10].to_owned());
            at = slot.at;
        }
        days.join(" ")
    };
    for (days, expected) in [
        (r#""MON-FRI""#, "02 05 06 07 08 09 12"),
        (r#""fri-monday""#, "02 03 04 05 09 10 11"),
        (r#"["1-2", "SAT"]"#, "03 05 06 10 12 13 17"),
        (r#""0-7""#, "02 03 04 05 06 07 08"),
        (r#""TUE-TUE""#, "06 13 20 27 03 10 17"),
    ] {
        let json = format!(r#"{{"weekly": {{"dayOfWeek": {days}, "time": "09:00"}}}}"#);
        assert_eq!(next(&json), expected, "{days}");
    }
    let json = r#"{"monthly": {"dayOfMonth": ["1-3", 30], "time": "09:00"}}"#;
    assert_eq!(next(json), "02 03 30 01 02 03 30");
}

proptest! {
    #[test]
    fn no_text_of_a_moment_panics(text in "\\PC{0,40}") {
        let settings = ScheduleSettings {
            at: Some([text.as_str()].into_iter().collect()),
            start: Some(text.clone()),
            daily: Some(Daily { time: [text.as_str()].into_iter().collect() }),
            ..ScheduleSettings::default()
        };
        prop_assert!(Schedule::new(&settings).is_err());
    }
}
