//! How long a target asks us to wait. It never reads a clock: a date is compared with the date
//! the target itself sent, or with the moment the caller passes.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, HeaderName, RETRY_AFTER};
use refire_core::limit::RETRY_AFTER_MS_MAX;
use refire_core::time::Timestamp;

const MS_PER_SECOND: u64 = 1_000;

/// The wait of `Retry-After` in milliseconds, at most one hour; `None` when the header is
/// missing, not understood or in the past.
pub(super) fn retry_after_ms(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Digits that do not fit are a wait longer than the longest one.
        let seconds = text.parse().unwrap_or(u64::MAX);
        return Some(
            seconds
                .saturating_mul(MS_PER_SECOND)
                .min(RETRY_AFTER_MS_MAX),
        );
    }
    let until = httpdate::parse_http_date(text).ok()?;
    // The target's own clock comes first, so that a difference between clocks cancels out.
    let from = date(headers, &DATE).or_else(|| moment(now))?;
    let wait = until.duration_since(from).ok()?;
    Some(
        u64::try_from(wait.as_millis())
            .unwrap_or(u64::MAX)
            .min(RETRY_AFTER_MS_MAX),
    )
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?.trim()).ok()
}

fn moment(now: Timestamp) -> Option<SystemTime> {
    let since_epoch = Duration::from_micros(u64::try_from(now.as_micros()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since_epoch)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const NOW: &str = "2026-11-15T09:30:00Z";

    fn wait(retry_after: &str, date: Option<&str>) -> Option<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(retry_after).unwrap());
        if let Some(date) = date {
            headers.insert(DATE, HeaderValue::from_str(date).unwrap());
        }
        retry_after_ms(&headers, NOW.parse().unwrap())
    }

    #[test]
    fn seconds_are_read_and_capped() {
        for (text, expected) in [
            ("0", Some(0)),
            (" 7 ", Some(7_000)),
            ("3600", Some(3_600_000)),
            ("3601", Some(3_600_000)),
            ("99999999999999999999999", Some(3_600_000)),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
            ("1e9", None),
        ] {
            assert_eq!(wait(text, None), expected, "{text:?}");
        }
    }

    #[test]
    fn a_date_counts_from_the_targets_own_date_or_from_now() {
        let later = "Sun, 15 Nov 2026 09:30:45 GMT";
        assert_eq!(wait(later, None), Some(45_000));
        assert_eq!(
            wait(later, Some("Sun, 15 Nov 2026 09:30:40 GMT")),
            Some(5_000)
        );
        assert_eq!(wait(later, Some("nonsense")), Some(45_000));
        assert_eq!(
            wait("Sun, 15 Nov 2026 09:29:59 GMT", None),
            None,
            "in the past"
        );
        assert_eq!(wait("Fri, 31 Dec 9999 23:59:59 GMT", None), Some(3_600_000));
        assert_eq!(wait("Sun, 99 Nov 2026 09:30:45 GMT", None), None);
    }

    #[test]
    fn without_the_header_there_is_no_wait() {
        assert_eq!(
            retry_after_ms(&HeaderMap::new(), NOW.parse().unwrap()),
            None
        );
    }
}
