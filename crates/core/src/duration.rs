//! Lengths of time as people write them: `600s`, `5m`, `1h30m`, `250ms`, `2d`, `1w`, `90`.
//!
//! The unit everything is kept in is the millisecond. This module never rounds: a text that is
//! finer than one millisecond is an error, and [`format()`] gives a text that parses to the same
//! value. Calendar lengths (months, years) are not here; they have no fixed length.

use std::time::Duration;

/// The longest duration that is accepted: ten years of 365 days.
pub const MAX: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The units, largest first, in milliseconds.
const UNITS: [(&str, u64); 6] = [
    ("w", 7 * 24 * 60 * 60 * 1000),
    ("d", 24 * 60 * 60 * 1000),
    ("h", 60 * 60 * 1000),
    ("m", 60 * 1000),
    ("s", 1000),
    ("ms", 1),
];

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} (write for example `30s`, `5m`, `1h30m` or `250ms`)")]
pub struct DurationError(String);

/// Reads a duration. A bare number counts seconds, and may have a fraction (`0.5`, `1.5h`).
///
/// # Errors
/// When the text is empty, negative, has an unknown unit, is finer than a millisecond or longer
/// than [`MAX`].
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(DurationError("the duration is empty".to_owned()));
    }
    if text.starts_with('-') {
        return Err(DurationError(format!("the duration `{text}` is negative")));
    }
    let mut rest = text;
    let mut total_ms = 0_u64;
    let mut smallest = u64::MAX;
    while !rest.is_empty() {
        let number_end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(number_end);
        let tail = tail.trim_start();
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit() || c == '.' || c == ' ')
            .unwrap_or(tail.len());
        let (unit, after) = tail.split_at(unit_end);
        let bare = unit.is_empty() && rest.len() == text.len() && after.is_empty();
        let unit_ms = if bare { Some(1000) } else { unit_ms(unit) };
        let Some(unit_ms) = unit_ms else {
            return Err(unknown_unit(text, unit));
        };
        if unit_ms >= smallest {
            return Err(DurationError(format!(
                "in `{text}` the units are not in order from large to small"
            )));
        }
        smallest = unit_ms;
        total_ms = scaled(text, number, unit_ms)?
            .checked_add(total_ms)
            .ok_or_else(|| too_long(text))?;
        rest = after.trim_start();
    }
    let duration = Duration::from_millis(total_ms);
    if duration > MAX {
        Err(too_long(text))
    } else {
        Ok(duration)
    }
}

/// The shortest exact text of a duration; what is finer than a millisecond is dropped.
#[must_use]
pub fn format(duration: Duration) -> String {
    let mut left = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    if left == 0 {
        return "0s".to_owned();
    }
    let mut parts = String::new();
    for (name, unit_ms) in UNITS {
        if left >= unit_ms {
            parts.push_str(&format!("{}{name}", left / unit_ms));
            left %= unit_ms;
        }
    }
    parts
}

/// A duration in the largest unit that it is a whole number of, as people say it: `90d` and not
/// `12w6d`. Weeks are not used, since nobody counts in them here.
#[must_use]
pub fn plain(duration: Duration) -> String {
    let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let unit = UNITS
        .iter()
        .find(|(name, unit_ms)| *name != "w" && ms.is_multiple_of(*unit_ms));
    match unit {
        Some((name, unit_ms)) if ms > 0 => format!("{}{name}", ms / unit_ms),
        _ => format(duration),
    }
}

fn unit_ms(unit: &str) -> Option<u64> {
    UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, unit_ms)| *unit_ms)
}

/// `number` × `unit_ms`, exactly.
fn scaled(text: &str, number: &str, unit_ms: u64) -> Result<u64, DurationError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let malformed = whole.is_empty() && fraction.is_empty()
        || fraction.contains('.')
        || number.ends_with('.')
        || whole.is_empty();
    if malformed {
        return Err(DurationError(format!("`{text}` is not a duration")));
    }
    let whole: u64 = whole.parse().map_err(|_| too_long(text))?;
    let whole_ms = whole.checked_mul(unit_ms).ok_or_else(|| too_long(text))?;
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        return Ok(whole_ms);
    }
    // Nine digits of the largest unit stay far below u128::MAX, more are finer than 1 ms.
    let too_fine = || DurationError(format!("`{text}` is finer than one millisecond"));
    let digits = u32::try_from(fraction.len()).map_err(|_| too_fine())?;
    if digits > 9 {
        return Err(too_fine());
    }
    let scale = 10_u128.pow(digits);
    let parts = fraction.parse::<u128>().map_err(|_| too_fine())? * u128::from(unit_ms);
    if parts % scale != 0 {
        return Err(too_fine());
    }
    let fraction_ms = u64::try_from(parts / scale).map_err(|_| too_long(text))?;
    whole_ms
        .checked_add(fraction_ms)
        .ok_or_else(|| too_long(text))
}

fn unknown_unit(text: &str, unit: &str) -> DurationError {
    if unit.is_empty() {
        return DurationError(format!("in `{text}` a number has no unit"));
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return DurationError(format!("`{text}` is not a duration"));
    }
    DurationError(format!(
        "`{text}` has the unknown unit `{unit}`; units are w, d, h, m, s, ms"
    ))
}

fn too_long(text: &str) -> DurationError {
    DurationError(format!("`{text}` is longer than ten years"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_write_is_understood() {
        let table = [
            ("600s", 600_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("250ms", 250),
            ("2d", 172_800_000),
            ("1w", 604_800_000),
            ("90", 90_000),
            ("0.5", 500),
            ("1.5h", 5_400_000),
            ("0", 0),
            (" 2s ", 2_000),
            ("5 m", 300_000),
            ("1m0.25s", 60_250),
        ];
        for (text, expected_ms) in table {
            assert_eq!(
                parse(text),
                Ok(Duration::from_millis(expected_ms)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_an_example() {
        let table = [
            ("", "is empty"),
            ("   ", "is empty"),
            ("-5s", "is negative"),
            ("NaN", "`NaN` is not a duration"),
            ("inf", "`inf` is not a duration"),
            ("5x", "unknown unit `x`"),
            ("5 minutes", "unknown unit `minutes`"),
            ("1 30m", "a number has no unit"),
            ("5m3", "a number has no unit"),
            ("1s1m", "not in order"),
            ("1s1s", "not in order"),
            ("0.0001s", "finer than one millisecond"),
            ("0.00000000001s", "finer than one millisecond"),
            ("1.2.3s", "is not a duration"),
            ("1.s", "is not a duration"),
            (".s", "is not a duration"),
            ("11w99999999999999999999d", "longer than ten years"),
            ("3651d", "longer than ten years"),
            ("1e3", "unknown unit `e`"),
        ];
        for (text, expected) in table {
            let said = parse(text).expect_err(text).to_string();
            assert!(said.contains(expected), "{text:?}: {said}");
            assert!(said.contains("`1h30m`"), "an example in {said}");
        }
        assert!(parse("3650d").is_ok());
    }

    #[test]
    fn people_count_in_one_unit() {
        for (text, expected) in [
            ("12w6d", "90d"),
            ("52w1d", "365d"),
            ("1w", "7d"),
            ("24h", "1d"),
            ("90m", "90m"),
            ("1m", "1m"),
            ("1500ms", "1500ms"),
            ("0", "0s"),
        ] {
            assert_eq!(plain(parse(text).unwrap()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_formatted_duration_parses_to_itself(ms in 0..=315_360_000_000_u64) {
            let duration = Duration::from_millis(ms);
            prop_assert_eq!(parse(&format(duration)), Ok(duration));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = parse(&text);
        }
    }
}
