//! What is read, and how what cannot be read is answered.

use proptest::prelude::*;

use super::Field::{DayOfMonth, DayOfWeek, Hour, Minute, Month, Second};
use super::*;

fn refused(text: &str) -> CronError {
    match Cron::parse(text) {
        Err(error) => error,
        Ok(_) => panic!("`{text}` was accepted"),
    }
}

fn calendar_of(text: &str) -> Calendar {
    match Cron::parse(text) {
        Ok(cron) => cron.calendar,
        Err(error) => panic!("`{text}`: {error}"),
    }
}

/// Expressions, the field that is wrong, and what must be said about it.
const WRONG: &[(&str, Field, &str)] = &[
    ("61 * * * *", Minute, "61 is not from 0 to 59"),
    ("0 24 * * *", Hour, "24 is not from 0 to 23"),
    ("0 0 0 * *", DayOfMonth, "0 is not from 1 to 31"),
    ("0 0 32 * *", DayOfMonth, "32 is not from 1 to 31"),
    ("0 0 * 13 *", Month, "13 is not from 1 to 12"),
    ("0 0 * 0 *", Month, "0 is not from 1 to 12"),
    (
        "0 0 * * 8",
        DayOfWeek,
        "8 is not from 0 to 6 (or 7 for Sunday)",
    ),
    ("60 * * * * *", Second, "60 is not from 0 to 59"),
    (
        "0 0 30 2 *",
        DayOfMonth,
        "no month in `2` has a day `30`, so it never fires",
    ),
    ("0 0 31 2,4,6,9,11 *", DayOfMonth, "it never fires"),
    ("0 0 30W FEB *", DayOfMonth, "it never fires"),
    (
        "0 0 L-3 * *",
        DayOfMonth,
        "counts days back from the end of the month, which is not supported",
    ),
    ("0 0 * * L", DayOfWeek, "`5L` is the last Friday"),
    ("0 L * * *", Hour, "`L` is only for the day of month"),
    (
        "0 0 15#2 * *",
        DayOfMonth,
        "`#` is only for the day of week",
    ),
    ("0 0 * * 5#6", DayOfWeek, "names week `6` of the month"),
    ("0 0 * * 5#0", DayOfWeek, "names week `0` of the month"),
    ("0 0 32W * *", DayOfMonth, "32 is not from 1 to 31"),
    ("0 0 W * *", DayOfMonth, "a number is missing"),
    ("0 0 1-5W * *", DayOfMonth, "`1-5` is not a number"),
    (
        "? * * * *",
        Minute,
        "`?` is only for the day of month and the day of week",
    ),
    (
        "0 17-9 * * *",
        Hour,
        "the range 17-9 runs backwards; write `17-23,0-9`",
    ),
    ("0 0 * * FRI-MON", DayOfWeek, "write `5-6,0-1`"),
    ("0 0 * * 7-2", DayOfWeek, "write `0-2`"),
    ("*/0 * * * *", Minute, "a step must be at least 1"),
    (
        "*/90 * * * *",
        Minute,
        "larger than the field, which has 60 numbers",
    ),
    ("*/x * * * *", Minute, "the step `x` is not a number"),
    ("*/ * * * *", Minute, "the step `` is not a number"),
    ("1,,2 * * * *", Minute, "an entry of the list is empty"),
    (", * * * *", Minute, "an entry of the list is empty"),
    ("1- * * * *", Minute, "a number is missing"),
    ("-5 * * * *", Minute, "a number is missing"),
    ("five * * * *", Minute, "`five` is not a number"),
    ("1.5 * * * *", Minute, "`1.5` is not a number"),
    ("+5 * * * *", Minute, "`+5` is not a number"),
    ("0 0 * JANUARY *", Month, "did you mean `JAN`?"),
    ("0 0 * * Monday", DayOfWeek, "did you mean `MON`?"),
    (
        "0 0 * * x",
        DayOfWeek,
        "`x` is neither a number nor a name from SUN to SAT",
    ),
    (
        "0 0 * * MOM",
        DayOfWeek,
        "`MOM` is neither a number nor a name from SUN to SAT; did you mean `MON`?",
    ),
    (
        "0 12 1 1 * 2027",
        DayOfWeek,
        "2027 is not from 0 to 6 (or 7 for Sunday); with six fields the first is seconds, and there is \
         none for years",
    ),
    (
        "0 9 * * MON *",
        Month,
        "`MON` is neither a number nor a name from JAN to DEC; with six fields the first is seconds",
    ),
    (
        "99999999999999999999999 * * * *",
        Minute,
        "is not from 0 to 59",
    ),
    (
        "*/99999999999999999999999 * * * *",
        Minute,
        "larger than the field",
    ),
    ("0 0 é * *", DayOfMonth, "`é` is not a number"),
    ("0 0 * éé *", Month, "is neither a number nor a name"),
];

#[test]
fn what_is_wrong_is_said_with_the_field() {
    for (text, field, expected) in WRONG {
        let error = refused(text);
        assert_eq!(error.field(), Some(*field), "{text}: {error}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
        assert!(error.to_string().starts_with(field.name()), "{error}");
    }
}

#[test]
fn what_is_wrong_with_the_whole_is_said() {
    let table = [
        ("", "the expression is empty"),
        ("   ", "the expression is empty"),
        ("*", "the expression has 1 field; write 5: minute, hour"),
        (
            "* * * *",
            "the expression has 4 fields; write 5: minute, hour",
        ),
        ("* * * * * * *", "there is no field for years"),
        ("* * * * * * * *", "the expression has 8 fields"),
        ("@reboot", "`@reboot` is not supported"),
        ("@every 5m", "write `every` instead of `cron`"),
        (
            "@fortnightly",
            "`@fortnightly` is not supported; use one of @yearly",
        ),
        ("@", "`@` is not supported"),
        (
            "TZ=Europe/Warsav 0 0 * * *",
            "did you mean `Europe/Warsaw`?",
        ),
        ("TZ= 0 0 * * *", "the time zone is empty"),
        ("TZ=UTC", "the expression is empty"),
    ];
    for (text, expected) in table {
        let error = refused(text);
        assert_eq!(error.field(), None, "{text}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    assert!(
        refused(&"*".repeat(10_000))
            .to_string()
            .contains("longer than 512 bytes")
    );
}

#[test]
fn different_spellings_are_the_same() {
    let table = [
        ("@hourly", "0 * * * *"),
        ("@DAILY", "0 0 * * *"),
        ("@midnight", "0 0 0 * * *"),
        ("@weekly", "0 0 * * SUN"),
        ("@weekly", "0 0 * * 7"),
        ("@monthly", "0 0 1 * ?"),
        ("@yearly", "0 0 1 JAN *"),
        ("@annually", "0 0 1 jan *"),
        ("  0   9 *\t* mon-fri ", "0 9 * * 1-5"),
        ("0 9 * * FRI-SUN", "0 9 * * 5,6,0"),
        ("0 9 * * SUN-TUE", "0 9 * * 0-2"),
        ("0 9 * * 5-7", "0 9 * * 5,6,7"),
        ("5/20 * * * *", "5,25,45 * * * *"),
        ("0-59/15 * * * *", "*/15 * * * *"),
        ("0 9 * * FRI#2", "0 9 * * 5#2"),
        ("0 9 * * 5#L", "0 9 * * FRIL"),
        ("0 9 * * 7L", "0 9 * * 0L"),
        ("0 9 LW * *", "0 9 lw * *"),
        ("0 0 1 */3 *", "0 0 1 1,4,7,10 *"),
        ("TZ=Asia/Taipei 0 0 * * *", "CRON_TZ=asia/taipei 0 0 * * *"),
    ];
    for (one, other) in table {
        assert_eq!(calendar_of(one), calendar_of(other), "{one} and {other}");
    }
    let zoned = Cron::parse("CRON_TZ=asia/taipei @daily").unwrap();
    assert_eq!(zoned.timezone(), Some("Asia/Taipei"));
    assert_eq!(Cron::parse("@daily").unwrap().timezone(), None);
}

#[test]
fn only_a_star_as_the_hour_follows_elapsed_time() {
    for text in [
        "* * * * *",
        "*/15 * * * *",
        "0 */2 * * *",
        "5 */13 1 * *",
        "*/7 * * * * *",
    ] {
        assert!(Cron::parse(text).unwrap().follows_elapsed_time(), "{text}");
    }
    for text in [
        "30 2 * * *",
        "30 1-3 * * *",
        "* 0-23 * * *",
        "* 0-23/2 * * *",
        "0 1,2 * * *",
        "0 */2,3 * * *",
    ] {
        assert!(!Cron::parse(text).unwrap().follows_elapsed_time(), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = Cron::parse(&text);
    }

    #[test]
    fn nothing_like_an_expression_panics(text in "(TZ=[A-Za-z/_]{0,12} )?@?([0-9*/,#?LW-]{1,8}[ \t]){3,7}[A-Z0-9#L]{0,4}") {
        if let Ok(cron) = Cron::parse(&text) {
            prop_assert!(cron.calendar.first(FIRES_WITHIN_DAYS.0 * DAY_S, i64::MAX / 2).is_some());
        }
    }
}
