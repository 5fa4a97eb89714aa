//! The log: to stderr, for people or for programs.
//!
//! An event is one line. What comes from outside (a path, a name, an error of a target) may hold line
//! ends, with which a stranger could write lines of their own, and codes that a terminal obeys; so
//! control characters are written as escapes. JSON does that by itself.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Write as _};
use std::io::IsTerminal;

use anyhow::anyhow;
use owo_colors::OwoColorize as _;
use refire_engine::in_words;
use tracing::field::{Field, Visit};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::{FormatFields, Writer};

use crate::config::LogFormat;

/// Libraries that write a line for every certificate that is wrong and every connection that
/// misbehaves or breaks: what strangers do must not fill the log, and what a database does is told
/// by who needed it. A level that names them is taken as it is.
const SILENT: [&str; 4] = [
    "rustls_platform_verifier",
    "h2",
    "tokio_postgres",
    "deadpool",
];

/// Starts the log, and sends panics there too.
pub(super) fn start(format: LogFormat, level: &str) -> anyhow::Result<()> {
    // What the filter says of it is less, and would be said twice.
    let mut filter = EnvFilter::try_new(level).map_err(|_| {
        anyhow!("--log-level: `{level}` is not a level such as info, debug or refire=debug")
    })?;
    for library in SILENT.iter().filter(|library| !level.contains(**library)) {
        filter = filter.add_directive(format!("{library}=off").parse()?);
    }
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let started = match format {
        LogFormat::Text => builder.with_target(false).fmt_fields(OneLine).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        // Somebody (a test) has started one before; that one goes on.
        return Ok(());
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map(ToString::to_string)
            .unwrap_or_default();
        let said = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(place, said, "panicked");
    }));
    Ok(())
}

/// Writes the message and the fields of an event, on one line.
struct OneLine;

impl<'writer> FormatFields<'writer> for OneLine {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut line = Line {
            writer,
            is_begun: false,
            result: Ok(()),
        };
        fields.record(&mut line);
        line.result
    }
}

struct Line<'writer> {
    writer: Writer<'writer>,
    is_begun: bool,
    result: fmt::Result,
}

impl Line<'_> {
    fn add(&mut self, field: &Field, text: &str) -> fmt::Result {
        // What the bridge from another library's log notes for itself.
        if field.name().starts_with("log.") {
            return Ok(());
        }
        if std::mem::replace(&mut self.is_begun, true) {
            self.writer.write_char(' ')?;
        }
        let text = escaped(text);
        match field.name().trim_start_matches("r#") {
            "message" => write!(self.writer, "{text}"),
            name if self.writer.has_ansi_escapes() => {
                write!(self.writer, "{}{}{text}", name.italic(), '='.dimmed())
            }
            name => write!(self.writer, "{name}={text}"),
        }
    }
}

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.result.is_ok() {
            self.result = self.add(field, &format!("{value:?}"));
        }
    }

    /// With its causes.
    fn record_error(&mut self, field: &Field, error: &(dyn Error + 'static)) {
        self.record_debug(field, &format_args!("{}", in_words(error)));
    }
}

/// The same with escapes for all that ends a line or steers a terminal.
fn escaped(text: &str) -> Cow<'_, str> {
    let is_steering =
        |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    if !text.contains(is_steering) {
        return text.into();
    }
    let mut line = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_steering(letter) {
            // Writing to a string cannot fail.
            let _ = write!(line, "{}", letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line.into()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_comes_from_outside_makes_no_line_of_its_own() {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .with_target(false)
            .fmt_fields(OneLine)
            .finish();
        let forged = "x\r\n2026-11-15T21:03:50Z  INFO all is well\u{1b}[2J\u{9b}\u{2028}";
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(path = forged, error = %forged, r#type = ?forged, "no workflow `{forged}`");
            let cause = io::Error::other(io::Error::other("first\nsecond"));
            let error = anyhow::Error::new(cause).context("failed");
            let error: &dyn Error = error.as_ref();
            tracing::warn!(count = 2, error, "as it is: 上 `\\n`");
        });
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        let escaped = r"x\r\n2026-11-15T21:03:50Z  INFO all is well\u{1b}[2J\u{9b}\u{2028}";
        let expected = format!(
            "WARN no workflow `{escaped}` path=\"{escaped}\" error={escaped} type=\"{escaped}\""
        );
        assert!(lines[0].ends_with(&expected), "{}", lines[0]);
        let expected = "WARN as it is: 上 `\\n` count=2 error=failed: first\\nsecond";
        assert!(lines[1].ends_with(expected), "{}", lines[1]);
    }
}
