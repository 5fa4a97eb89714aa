//! `Retry-After`: any header a target may send gives a bounded wait or none.

// The function is private to the engine, which takes minutes to build with a fuzzer; its file
// needs nothing of the engine.
#[path = "../../crates/engine/src/target/retry_after.rs"]
mod header;

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use refire_core::limit::RETRY_AFTER_MS_MAX;
use refire_core::time::Timestamp;

/// The first line is the header, the second the target's `Date`, the third our own time in
/// microseconds; lines may be missing.
pub fn run(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let mut headers = HeaderMap::new();
    for name in [RETRY_AFTER, DATE] {
        let value = lines.next().map(HeaderValue::from_bytes);
        if let Some(Ok(value)) = value {
            headers.insert(name, value);
        }
    }
    let now = lines
        .next()
        .and_then(|line| std::str::from_utf8(line).ok()?.trim().parse().ok())
        .unwrap_or(1_800_000_000_000_000);
    let wait = header::retry_after_ms(&headers, Timestamp::from_micros(now));
    assert!(wait.is_none_or(|ms| ms <= RETRY_AFTER_MS_MAX), "{wait:?}");
    let seconds = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok());
    if let Some(seconds) = seconds.filter(|_| !signed(&headers)) {
        let expected = u64::saturating_mul(seconds, 1_000).min(RETRY_AFTER_MS_MAX);
        assert_eq!(wait, Some(expected));
    }
}

/// `+7` is a number for Rust, but not for HTTP.
fn signed(headers: &HeaderMap) -> bool {
    let text = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    text.is_some_and(|text| text.trim().starts_with('+'))
}
