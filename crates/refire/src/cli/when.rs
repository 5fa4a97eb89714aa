//! Moments given on the command line: a time, a day, or how long ago.

use std::time::Duration;

use refire_core::duration;
use refire_core::time::Timestamp;

use super::outcome::Usage;

/// A time as it is, a day at its beginning, or so long before now.
pub(crate) fn moment(option: &str, text: &str, now: Timestamp) -> Result<String, Usage> {
    let time = text.parse::<Timestamp>();
    if let Ok(at) = time.or_else(|_| format!("{text}T00:00:00Z").parse()) {
        return Ok(at.to_string());
    }
    match duration::parse(text) {
        // A bare number would be seconds; here it is more likely half a date.
        Ok(ago) if ago > Duration::ZERO && text.parse::<f64>().is_err() => {
            Ok(now.minus(ago).to_string())
        }
        _ => Err(Usage(format!(
            "{option} `{text}` is not a time such as 2026-11-15T09:30:00Z, a day such as \
             2026-11-15, or a duration such as 24h"
        ))),
    }
}

/// Makes times of what `--from` and `--to` say.
pub(crate) fn moments(
    from: &mut Option<String>,
    to: &mut Option<String>,
    now: Timestamp,
) -> Result<(), Usage> {
    for (option, given) in [("--from", from), ("--to", to)] {
        if let Some(text) = given {
            *text = moment(option, text, now)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_may_be_told_as_spans() {
        let now: Timestamp = "2026-11-15T09:30:00Z".parse().unwrap();
        assert_eq!(
            moment("--from", "24h", now).unwrap(),
            "2026-11-14T09:30:00.000000Z"
        );
        assert_eq!(
            moment("--from", "2026-11-15T10:30:00+01:00", now).unwrap(),
            "2026-11-15T09:30:00.000000Z"
        );
        assert_eq!(
            moment("--to", "2026-11-15", now).unwrap(),
            "2026-11-15T00:00:00.000000Z"
        );
        for bad in [
            "yesterday",
            "2026",
            "",
            "0s",
            "2026-13-01",
            "2026-11-15 9:30",
        ] {
            let said = moment("--to", bad, now).unwrap_err().to_string();
            assert!(said.starts_with("--to `"), "{said}");
        }
    }
}
