//! The words, kept as snapshots so that a change of them is seen.

use super::*;
use crate::settings::ScheduleSettings;

fn explained(settings: &ScheduleSettings) -> String {
    let from = "2026-01-01T00:00:00Z".parse().unwrap();
    let schedule = Schedule::new(settings).unwrap();
    let english = schedule.explain(Language::English, from);
    let chinese = schedule.explain(Language::TraditionalChinese, from);
    format!("  {english}\n  {chinese}\n")
}

/// Without the expression, which would say everything twice.
macro_rules! assert_words {
    ($words:expr) => {
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!($words);
        });
    };
}

fn cron(expressions: &[&str]) -> String {
    let each = expressions.iter().map(|expression| {
        let settings = ScheduleSettings::cron(*expression);
        format!("{expression}\n{}", explained(&settings))
    });
    each.collect()
}

fn written(texts: &[&str]) -> String {
    let each = texts.iter().map(|text| {
        let settings = serde_json::from_str(text).unwrap();
        format!("{text}\n{}", explained(&settings))
    });
    each.collect()
}

#[test]
fn times_in_words() {
    assert_words!(cron(&[
        "* * * * *",
        "*/5 * * * *",
        "*/15 * * * *",
        "5/15 * * * *",
        "*/7 * * * *",
        "0 * * * *",
        "30 * * * *",
        "10-20 * * * *",
        "30 2 * * *",
        "0 9,12,17 * * *",
        "30 1-3 * * *",
        "30 9-17 * * *",
        "0 */2 * * *",
        "0 */13 * * *",
        "*/15 9-17 * * *",
        "* 9-17 * * *",
        "* 9 * * *",
        "*/15 */2 * * *",
        "0,20 1,5,9,13 * * *",
        "* * * * * *",
        "*/10 * * * * *",
        "15 30 2 * * *",
        "0,30 * * * * *",
        "* 0 2 * * *",
        "*/7 0,30 9-17 * * *",
        "@hourly",
        "@daily",
    ]));
}

#[test]
fn days_in_words() {
    assert_words!(cron(&[
        "0 9 * * MON",
        "0 9 * * MON-FRI",
        "*/15 9-17 * * MON-FRI",
        "0 9 * * MON,WED,FRI",
        "0 9 * * FRI-SUN",
        "0 9 * * SAT,SUN",
        "0 9 * * FRI#2",
        "0 9 * * 1#1,1#3",
        "0 9 * * 5L",
        "0 9 * * MON,5L",
        "0 9 1 * *",
        "0 9 1,15 * *",
        "0 9 1-7 * *",
        "0 9 1-7,20 * *",
        "0 9 */2 * *",
        "0 9 5/10 * *",
        "0 9 L * *",
        "0 9 LW * *",
        "0 9 15W * *",
        "0 9 1,15W,L * *",
        "0 9 13 * FRI",
        "0 9 1 1 *",
        "0 0 29 2 *",
        "0 0 1 */3 *",
        "0 0 * 6-8 *",
        "0 9 * 1,7 MON",
        "0 9 * 12 5L",
        "0 9 13 1 FRI",
        "*/5 * * * MON-FRI",
        "0 * 1 * *",
        "@weekly",
        "@monthly",
        "@yearly",
    ]));
}

#[test]
fn other_forms_in_words() {
    assert_words!(written(&[
        r#"{"every": "13h"}"#,
        r#"{"every": "1h"}"#,
        r#"{"every": "90m", "anchor": "2026-01-01T00:00:00Z"}"#,
        r#"{"every": "1d12h", "start": "2026-02-01T06:00"}"#,
        r#"{"every": "1500ms"}"#,
        r#"{"at": "2026-11-15T09:30:00Z"}"#,
        r#"{"at": ["2026-11-15T09:30", "2026-11-16T09:30:15"], "timezone": "Asia/Taipei"}"#,
        r#"{"at": ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05", "2026-01-06", "2026-01-07"]}"#,
        r#"{"daily": {"time": "09:00"}}"#,
        r#"{"daily": {"time": ["09:00", "17:30:15"]}, "timezone": "Asia/Taipei"}"#,
        r#"{"weekly": {"dayOfWeek": ["MON", "FRI"], "time": "09:00"}}"#,
        r#"{"monthly": {"dayOfMonth": 15, "time": "09:00"}}"#,
        r#"{"monthly": {"dayOfMonth": [1, 31, "last"], "time": "09:00"}}"#,
        r#"{"cron": "0 9 * * *", "start": "2026-03-01", "end": "2026-06-30T23:59:59"}"#,
        r#"{"cron": "0 9 * * *", "end": "2026-06-30T00:00:00Z", "jitter": "30s"}"#,
    ]));
}

#[test]
fn changes_of_the_clock_in_words() {
    assert_words!(written(&[
        r#"{"cron": "30 2 * * *", "timezone": "America/New_York"}"#,
        r#"{"cron": "30 1 * * *", "timezone": "America/New_York"}"#,
        r#"{"cron": "30 1-3 * * *", "timezone": "America/New_York", "dst": {"gap": "skip", "repeat": "both"}}"#,
        r#"{"cron": "30 1-3 * * *", "timezone": "America/New_York", "dst": {"repeat": "last"}}"#,
        r#"{"cron": "0 9 * * *", "timezone": "America/New_York"}"#,
        r#"{"cron": "*/15 * * * *", "timezone": "America/New_York"}"#,
        r#"{"cron": "30 2 * * *", "timezone": "Asia/Taipei"}"#,
        r#"{"at": "2026-03-08T02:30", "timezone": "America/New_York"}"#,
    ]));
}

#[test]
fn a_slot_says_what_the_clock_did_to_it() {
    let schedule = |text: &str| Schedule::new(&serde_json::from_str(text).unwrap()).unwrap();
    let spring = schedule(r#"{"cron": "30 2 * * *", "timezone": "America/New_York"}"#);
    let autumn = schedule(
        r#"{"cron": "30 1 * * *", "timezone": "America/New_York", "dst": {"repeat": "last"}}"#,
    );
    for (schedule, from, english, chinese) in [
        (&spring, "2026-03-07T00:00:00Z", None, None),
        (
            &spring,
            "2026-03-08T00:00:00Z",
            Some("02:30:00 does not exist on that day"),
            Some("當天沒有 02:30:00"),
        ),
        (
            &autumn,
            "2026-11-01T00:00:00Z",
            Some("second occurrence of that hour"),
            Some("該小時第二次出現"),
        ),
    ] {
        let slot = schedule.next(from.parse().unwrap()).unwrap();
        let notes = [Language::English, Language::TraditionalChinese].map(|it| slot.note(it));
        assert_eq!(notes.each_ref().map(Option::as_deref), [english, chinese]);
    }
}

#[test]
fn tags_choose_the_language() {
    assert_eq!(Language::of_tag("zh-TW"), Language::TraditionalChinese);
    assert_eq!(Language::of_tag("zh_Hant"), Language::TraditionalChinese);
    assert_eq!(Language::of_tag("en-GB"), Language::English);
    assert_eq!(Language::of_tag(""), Language::English);
}
