//! The level of the log. The filter takes a word that it does not know for the name of a part of the
//! program, and then writes only what that part says, which is nothing.

use anyhow::bail;

/// The words for a level.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What is logged, in the words of the filter: a level, or a list such as `info,refire=debug`.
pub(super) fn checked(setting: &str, text: &str) -> anyhow::Result<String> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let parts: Vec<String> = parts
        .map(|part| {
            let (place, level) = match part.rsplit_once('=') {
                Some((place, level)) => (Some(place), level),
                None => (None, part),
            };
            let level = level.to_ascii_lowercase();
            let level = if level == "warning" { "warn" } else { &level };
            if !LEVELS.contains(&level) || place.is_some_and(str::is_empty) {
                bail!(
                    "{setting}: `{part}` is not a log level; use off, error, warn, info, debug or \
                     trace, or a list such as info,refire=debug"
                );
            }
            Ok(place.map_or_else(|| level.to_owned(), |place| format!("{place}={level}")))
        })
        .collect::<Result<_, _>>()?;
    Ok(parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_one_of_the_known_words() {
        for (text, expected) in [
            ("info", "info"),
            ("WARNING", "warn"),
            ("refire=Warning, debug", "refire=warn,debug"),
            ("refire::api=trace", "refire::api=trace"),
        ] {
            assert_eq!(checked("--log-level", text).unwrap(), expected, "{text}");
        }
        for text in [
            "inf",
            "trce",
            "nonsense",
            "refire",
            "refire=inf",
            "==",
            "=info",
        ] {
            let said = checked("RUST_LOG", text).unwrap_err().to_string();
            assert!(said.starts_with("RUST_LOG: `"), "{said}");
            assert!(said.contains("error, warn, info, debug or trace"), "{said}");
        }
    }
}
