//! Durations: any text is read or refused, and what was read can be written and read again.

use refire_core::duration::{MAX, format, parse};

/// The whole input is the text.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match parse(text) {
        Ok(duration) => {
            assert!(duration <= MAX, "{text:?} is {duration:?}");
            assert_eq!(
                duration.subsec_nanos() % 1_000_000,
                0,
                "{text:?} is finer than it may be"
            );
            assert_eq!(parse(&format(duration)), Ok(duration), "{text:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
