//! Times and spans as people read them.
//!
//! The API's times are texts; one that cannot be read is shown as it is, never dropped.

use std::time::Duration;

use refire_core::time::Timestamp;

use super::paint::clean;

const SECOND_MS: u64 = 1_000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// `12s ago`, `in 3.2s`, or the text itself if it is no time.
pub(crate) fn relative(text: &str, now: Timestamp) -> String {
    match text.parse::<Timestamp>() {
        Ok(at) if at > now => format!("in {}", ahead(millis(at.since(now)))),
        Ok(at) => match millis(now.since(at)) {
            ms if ms < SECOND_MS => "just now".to_owned(),
            ms => format!("{} ago", span(ms - ms % SECOND_MS)),
        },
        Err(_) => clean(text).into_owned(),
    }
}

/// `2026-11-15 09:30:00.123 UTC`
pub(crate) fn exact(text: &str) -> String {
    match text.parse::<Timestamp>() {
        Ok(at) => {
            let text = at.to_string();
            // Always `YYYY-MM-DDThh:mm:ss.uuuuuuZ`; milliseconds are enough for a person.
            let (date, time) = text.split_once('T').unwrap_or((&text, ""));
            format!("{date} {} UTC", time.get(..12).unwrap_or(time))
        }
        Err(_) => clean(text).into_owned(),
    }
}

/// Both: `2026-11-15 09:30:00.123 UTC (12s ago)`.
pub(crate) fn both(text: &str, now: Timestamp) -> String {
    format!("{} ({})", exact(text), relative(text, now))
}

/// A span in at most two units: `350ms`, `3.2s`, `1m 05s`, `3h 12m`, `5d 2h`.
pub(crate) fn span(ms: u64) -> String {
    match ms {
        _ if ms < SECOND_MS => format!("{ms}ms"),
        _ if ms < MINUTE_MS => seconds(ms),
        _ if ms < HOUR_MS => two(ms, MINUTE_MS, "m", SECOND_MS, "s"),
        _ if ms < DAY_MS => two(ms, HOUR_MS, "h", MINUTE_MS, "m"),
        _ => two(ms, DAY_MS, "d", HOUR_MS, "h"),
    }
}

/// `1 step`, `2 steps`
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// The time between two texts of the API, if both are times.
pub(crate) fn between(from: Option<&str>, to: Option<&str>) -> Option<u64> {
    let from = from?.parse::<Timestamp>().ok()?;
    let to = to?.parse::<Timestamp>().ok()?;
    Some(millis(to.since(from)))
}

/// A wait that a person watches: tenths of a second count.
fn ahead(ms: u64) -> String {
    if ms < MINUTE_MS {
        format!("{}.{}s", ms / SECOND_MS, ms % SECOND_MS / 100)
    } else {
        span(ms)
    }
}

fn seconds(ms: u64) -> String {
    let tenths = ms % SECOND_MS / 100;
    if tenths == 0 {
        format!("{}s", ms / SECOND_MS)
    } else {
        format!("{}.{tenths}s", ms / SECOND_MS)
    }
}

fn two(ms: u64, large_ms: u64, large: &str, small_ms: u64, small: &str) -> String {
    let rest = ms % large_ms / small_ms;
    if rest == 0 {
        format!("{}{large}", ms / large_ms)
    } else {
        format!("{}{large} {rest:02}{small}", ms / large_ms)
    }
}

/// Whole milliseconds of a duration.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_at_most_two_units() {
        let table = [
            (0, "0ms"),
            (350, "350ms"),
            (1_000, "1s"),
            (3_250, "3.2s"),
            (62_000, "1m 02s"),
            (120_000, "2m"),
            (11_520_000, "3h 12m"),
            (2 * DAY_MS + 5 * HOUR_MS, "2d 05h"),
        ];
        for (ms, expected) in table {
            assert_eq!(span(ms), expected);
        }
    }

    #[test]
    fn times_are_told_from_now() {
        let now: Timestamp = "2026-11-15T09:30:00Z".parse().unwrap();
        let table = [
            ("2026-11-15T09:29:59.500000Z", "just now"),
            ("2026-11-15T09:29:48Z", "12s ago"),
            ("2026-11-15T09:29:46.300000Z", "13s ago"),
            ("2026-11-15T09:30:03.250000Z", "in 3.2s"),
            ("2026-11-15T09:35:00Z", "in 5m"),
            ("2026-11-13T08:30:00Z", "2d 01h ago"),
            ("yesterday", "yesterday"),
        ];
        for (at, expected) in table {
            assert_eq!(relative(at, now), expected, "{at}");
        }
    }

    #[test]
    fn exact_times_are_utc_to_the_millisecond() {
        assert_eq!(
            exact("2026-11-15T09:30:00.123456Z"),
            "2026-11-15 09:30:00.123 UTC"
        );
        assert_eq!(exact("?"), "?");
    }

    #[test]
    fn a_difference_needs_two_times() {
        let from = Some("2026-11-15T09:30:00Z");
        assert_eq!(
            between(from, Some("2026-11-15T09:30:01.500000Z")),
            Some(1_500)
        );
        assert_eq!(between(from, None), None);
    }
}
