//! Entries of lists: times of the day, weekdays and days of the month.

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

/// Reads `MON` or `MON-FRI`, which may go past the end of the week: bit 0 is Sunday.
pub(super) fn weekdays(text: &str) -> Result<u8, Reason> {
    let (from, to) = ends(text);
    let (first, last) = (weekday(from)?, weekday(to)?);
    // From Sunday (0) to Sunday (7) is the whole week, and not Sunday alone.
    let further = match (last + 7 - first) % 7 {
        0 if to.trim() == "7" && from.trim() != "7" => 6,
        further => further,
    };
    Ok((0..=further).fold(0, |days, day| days | 1 << ((first + day) % 7)))
}

/// Reads `15` or `1-15`: bit n is day n.
pub(super) fn month_days(text: &str) -> Result<u32, Reason> {
    let (from, to) = ends(text);
    let day = |text: &str| {
        text.trim()
            .parse()
            .ok()
            .filter(|day| (1..=31).contains(day))
    };
    match (day(from), day(to)) {
        (Some(first), Some(last)) if first <= last => {
            Ok((first..=last).fold(0, |days, day: u32| days | 1 << day))
        }
        (Some(_), Some(_)) => Err(Reason::new(format!(
            "`{text}` ends before it begins; write `{to}-{from}`"
        ))),
        _ => Err(Reason::new(format!(
            "`{text}` is neither a day from 1 to 31 nor `last`"
        ))),
    }
}

/// The ends of a range; of what is none, the whole twice.
fn ends(text: &str) -> (&str, &str) {
    match text.split_once('-') {
        Some((from, to)) if !from.trim().is_empty() && !to.trim().is_empty() => (from, to),
        _ => (text, text),
    }
}

/// Reads `MON`, `Monday` or 1; Sunday is 0 and 7.
fn weekday(text: &str) -> Result<u8, Reason> {
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
            .hint("write `MON`, `MON-FRI`, `monday`, or a number from 0 (Sunday) to 6")),
    }
}
