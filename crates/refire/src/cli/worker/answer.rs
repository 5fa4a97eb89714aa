//! What a program says, read: its output, its exit, its progress.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use refire_client::Failure;
use refire_client::model::Raw;
use serde_json::value::{RawValue, to_raw_value};

/// The exit code of a program whose task no retry can help: `EX_DATAERR` of sysexits, "the input is wrong".
const NO_RETRY: i32 = 65;
/// Bytes of the message that a failure has.
const MESSAGE_BYTES_MAX: usize = 2_000;

/// The output: JSON byte for byte; other text as a string, without the line ends behind it; nothing is null.
pub(super) fn output(written: Vec<u8>) -> Result<Raw, Failure> {
    let text = String::from_utf8(written)
        .map_err(|_| Failure::permanent("the program's output is not UTF-8"))?;
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(RawValue::NULL.to_owned());
    }
    match RawValue::from_string(trimmed.to_owned()) {
        Ok(json) => Ok(json),
        Err(_) => Ok(to_raw_value(text.trim_end_matches(['\r', '\n']))?),
    }
}

/// Why a program that ended like this, with this on its standard error, has not done its task.
pub(super) fn failure(status: ExitStatus, stderr: &[u8]) -> Failure {
    let ending = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => status.to_string(),
    };
    let trace = String::from_utf8_lossy(stderr).replace('\0', "\u{fffd}");
    let last = trace
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty());
    let message = match last {
        Some(line) => {
            let line = &line[..line.floor_char_boundary(MESSAGE_BYTES_MAX)];
            format!("{ending}: {line}")
        }
        None => ending,
    };
    let failure = match status.code() {
        Some(NO_RETRY) => Failure::permanent(message),
        _ => Failure::new(message),
    };
    match last {
        Some(_) => failure.trace(trace),
        None => failure,
    }
}

/// A line about progress: percent, and words behind them.
pub(super) fn progress(line: &str) -> Option<(u8, &str)> {
    let line = line.trim();
    let (percent, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let percent = percent.strip_suffix('%').unwrap_or(percent);
    let percent = percent.parse().ok().filter(|percent| *percent <= 100)?;
    Some((percent, words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_no_json_is_a_string() {
        for (written, expected) in [
            ("", "null"),
            (" \n", "null"),
            ("{\"a\": 1.00}\n", "{\"a\": 1.00}"),
            ("12\n", "12"),
            ("\"x\"", "\"x\""),
            ("OPS-42\n", "\"OPS-42\""),
            ("{\"a\":1}\n{\"a\":2}\n", r#""{\"a\":1}\n{\"a\":2}""#),
            ("  indented\r\n", "\"  indented\""),
        ] {
            let output = output(written.into()).expect("an output");
            assert_eq!(output.get(), expected, "{written:?}");
        }
        assert!(!output(vec![0xff]).expect_err("no text").is_retryable());
    }

    #[test]
    fn the_exit_and_the_last_line_are_the_message() {
        let exit = |code: i32| ExitStatus::from_raw(code << 8);
        for (status, stderr, message, retryable) in [
            (exit(1), "", "exit code 1", true),
            (exit(1), "a\nb\n\n", "exit code 1: b", true),
            (
                exit(65),
                "no such project",
                "exit code 65: no such project",
                false,
            ),
            (ExitStatus::from_raw(9), "", "ended by signal 9", true),
        ] {
            let failure = failure(status, stderr.as_bytes());
            assert_eq!(failure.to_string(), message);
            assert_eq!(failure.is_retryable(), retryable, "{message}");
        }
    }

    #[test]
    fn progress_is_percent_and_words() {
        for (line, expected) in [
            ("50 half done", Some((50, "half done"))),
            ("50%\thalf", Some((50, "half"))),
            (" 100 ", Some((100, ""))),
            ("101", None),
            ("half", None),
            ("", None),
        ] {
            assert_eq!(progress(line), expected, "{line:?}");
        }
    }
}
