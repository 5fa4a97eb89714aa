//! Where text goes: data to the standard output, everything else to the standard error.
//!
//! Colour codes may be in any text; they are taken out where nobody would see the colours.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::bail;
use serde::Serialize;

use super::outcome::Outcome;
use super::pretty::pretty;

/// Writes data. An error here is mostly a reader that has seen enough; `report` knows that one.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Writes data byte for byte.
pub(crate) fn print_raw(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Writes a document of the API: as it is for programs, in lines on a terminal.
pub(crate) fn print_json(document: &impl Serialize) -> anyhow::Result<Outcome> {
    let text = serde_json::to_string(document)?;
    let text = if io::stdout().is_terminal() {
        pretty(&text)
    } else {
        text
    };
    print_raw(format!("{text}\n").as_bytes())?;
    Ok(Outcome::Done)
}

/// Says something that is not data. That nobody hears it is no reason to stop.
pub(crate) fn say(text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{text}");
}

/// The same with what stands in braces.
macro_rules! say_formatted {
    ($($text:tt)+) => { crate::cli::output::say(&format!($($text)+)) };
}
pub(crate) use say_formatted as say;

/// Whether somebody watches the standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Asks before something that cannot be undone.
pub(crate) fn confirm(question: &str, yes: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        bail!("{question} There is no terminal to ask on; to confirm, add --yes");
    }
    let mut err = anstream::stderr().lock();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let agreed = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    if !agreed {
        writeln!(err, "nothing was done")?;
    }
    Ok(agreed)
}
