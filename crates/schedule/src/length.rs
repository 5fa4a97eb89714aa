//! Lengths of time as people write them: `13h`, `90m`, `1h30m`, `250ms`, `2d`; a bare number counts
//! seconds. A day here is 24 hours.

use std::time::Duration;

use crate::problem::Reason;

/// The longest that is accepted: ten years of 365 days.
pub(crate) const LENGTH_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The units, largest first, in milliseconds.
const UNITS: [(&str, u64); 6] = [
    ("w", 7 * 24 * 60 * 60 * 1000),
    ("d", 24 * 60 * 60 * 1000),
    ("h", 60 * 60 * 1000),
    ("m", 60 * 1000),
    ("s", 1000),
    ("ms", 1),
];

/// Digits after the point that are looked at; more would be finer than a millisecond.
const FRACTION_DIGITS_MAX: usize = 9;

/// Reads a length.
pub(crate) fn parse(text: &str) -> Result<Duration, Reason> {
    let text = text.trim();
    let wrong = |said: &str| {
        Reason::new(format!("`{text}` {said}")).hint("write for example `90s`, `5m` or `1h30m`")
    };
    let mut rest = text;
    let mut total_ms = 0_u64;
    let mut smallest = u64::MAX;
    while !rest.is_empty() || text.is_empty() {
        let number_end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(number_end);
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit() || c == '.' || c == ' ')
            .unwrap_or(tail.len());
        let (unit, after) = tail.split_at(unit_end);
        let bare = unit.is_empty() && rest.len() == text.len() && after.is_empty();
        let unit = if bare { "s" } else { unit };
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        let Some((_, unit_ms)) = known.filter(|_| !number.is_empty()) else {
            return Err(wrong("is not a length of time"));
        };
        if *unit_ms >= smallest {
            return Err(wrong("does not go from large units to small ones"));
        }
        smallest = *unit_ms;
        let part = scaled(number, *unit_ms)
            .ok_or_else(|| wrong("is not a whole number of milliseconds up to ten years"))?;
        total_ms = total_ms.saturating_add(part);
        rest = after.trim_start();
    }
    let length = Duration::from_millis(total_ms);
    if length > LENGTH_MAX {
        return Err(wrong("is longer than ten years"));
    }
    Ok(length)
}

/// The parts of a length, largest unit first.
pub(crate) fn parts(length: Duration) -> Vec<(u64, &'static str)> {
    let mut left = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
    let mut parts = Vec::new();
    // Weeks read as days.
    for (name, unit_ms) in &UNITS[1..] {
        if left >= *unit_ms {
            parts.push((left / unit_ms, *name));
            left %= unit_ms;
        }
    }
    if parts.is_empty() {
        parts.push((0, "s"));
    }
    parts
}

/// A number with or without a fraction, times a unit, if that is exact.
fn scaled(number: &str, unit_ms: u64) -> Option<u64> {
    let (whole, fraction) = match number.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, fraction)) => (whole, fraction.trim_end_matches('0')),
        None => (number, ""),
    };
    let whole_ms = whole.parse::<u64>().ok()?.checked_mul(unit_ms)?;
    if fraction.is_empty() {
        return Some(whole_ms);
    }
    if fraction.len() > FRACTION_DIGITS_MAX {
        return None;
    }
    let scale = 10_u128.pow(fraction.len() as u32);
    let fraction = fraction.parse::<u128>().ok()? * u128::from(unit_ms);
    if fraction % scale != 0 {
        return None;
    }
    whole_ms.checked_add(u64::try_from(fraction / scale).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_write_is_understood() {
        for (text, ms) in [
            ("13h", 46_800_000),
            ("90", 90_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("2d", 172_800_000),
            ("1w", 604_800_000),
            ("250ms", 250),
            ("1.5h", 5_400_000),
            ("0", 0),
            (" 5s ", 5_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_an_example() {
        for (text, expected) in [
            ("", "is not a length"),
            ("-5s", "is not a length"),
            ("5x", "is not a length"),
            ("h", "is not a length"),
            ("1h30", "is not a length"),
            ("1m1h", "from large units to small"),
            ("0.0001s", "whole number of milliseconds"),
            ("0.00000000000001w", "whole number of milliseconds"),
            ("1.s", "whole number of milliseconds"),
            ("1.2.3s", "whole number of milliseconds"),
            ("99999999999999999999h", "up to ten years"),
            ("3651d", "longer than ten years"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(expected), "{text}: {said}");
            assert!(said.contains("`1h30m`"), "{text}: {said}");
        }
    }

    proptest! {
        #[test]
        fn the_parts_are_the_whole(ms in 0..=315_360_000_000_u64) {
            let length = Duration::from_millis(ms);
            let text: String = parts(length).iter().map(|(n, unit)| format!("{n}{unit}")).collect();
            prop_assert_eq!(parse(&text), Ok(length));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = parse(&text);
        }
    }
}
