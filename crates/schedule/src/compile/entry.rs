//! Entries of lists: times of the day and weekdays.

use jiff::civil::{Time, time};

use crate::problem::Reason;

const WEEKDAYS: [&str; 7] = [
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];

/// Reads `09:00` or `09:00:30`.
pub(super) fn time_of_day(text: &str) -> Result<Time, Reason> {
    let wrong = || {
        Reason::new(format!("`{text}` is not a time of the day"))
            .hint("write for example `09:00` or `17:30:15`")
    };
    let mut parts = text.trim().split(':');
    let mut number = |max: i8| -> Option<Option<i8>> {
        let Some(part) = parts.next() else {
            return Some(None);
        };
        let plain = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        let number = part.parse().ok().filter(|number| plain && *number <= max)?;
        Some(Some(number))
    };
    let (hour, minute, second) = (number(23), number(59), number(59));
    match (hour, minute, second, parts.next()) {
        (Some(Some(hour)), Some(Some(minute)), Some(second), None) => {
            Ok(time(hour, minute, second.unwrap_or(0), 0))
        }
        _ => Err(wrong()),
    }
}

/// Reads `MON`, `Monday` or 1; Sunday is 0 and 7.
pub(super) fn weekday(text: &str) -> Result<u8, Reason> {
    let lower = text.trim().to_ascii_lowercase();
    if let Ok(number @ 0..=7) = lower.parse::<u8>() {
        return Ok(number % 7);
    }
    let known = WEEKDAYS
        .iter()
        .position(|name| lower == *name || lower == name[..3]);
    match known {
        Some(weekday) => Ok(weekday as u8),
        None => Err(Reason::new(format!("`{text}` is not a weekday"))
            .hint("write `MON`, `monday`, or 0 to 6 from Sunday")),
    }
}
