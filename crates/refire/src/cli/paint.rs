//! Colours, and text from elsewhere made harmless for a terminal.

use std::borrow::Cow;

use comfy_table::{Attribute, Cell, Color};
use owo_colors::{AnsiColors, OwoColorize as _};

/// The colour of a status, in text and in tables; a quiet one has none.
fn tone(status: &str) -> Option<(AnsiColors, Color)> {
    // Tasks and workers shout.
    Some(match status.to_ascii_lowercase().as_str() {
        "completed" | "resolved" | "compensated" | "enabled" | "fired" | "recovered"
        | "triggered" | "active" => (AnsiColors::Green, Color::DarkGreen),
        "failed" | "dlq" | "overdue" | "broken" | "auth_failed" | "error" | "dead" => {
            (AnsiColors::Red, Color::DarkRed)
        }
        "running" | "locked" => (AnsiColors::Cyan, Color::DarkCyan),
        "retrying" | "paused" | "waiting" | "late" => (AnsiColors::Yellow, Color::DarkYellow),
        _ => return None,
    })
}

/// A status word in its colour.
pub(crate) fn status(status: &str) -> String {
    let word = clean(status);
    match tone(status) {
        Some((colour, _)) => word.color(colour).to_string(),
        None => word.into_owned(),
    }
}

/// The same for a table.
pub(crate) fn status_cell(status: &str) -> Cell {
    status_cell_with(status, "")
}

/// The same with something behind the word.
pub(crate) fn status_cell_with(status: &str, more: &str) -> Cell {
    let cell = Cell::new(clean(&format!("{status}{more}")));
    match tone(status) {
        Some((_, colour)) => cell.fg(colour),
        // A dead letter that waits for somebody is not quiet, but a pending step is.
        None => cell.add_attribute(Attribute::Dim),
    }
}

/// A heading.
pub(crate) fn heading(text: &str) -> String {
    text.bold().to_string()
}

/// Something less important.
pub(crate) fn dim(text: &str) -> String {
    text.dimmed().to_string()
}

/// Something wrong.
pub(crate) fn bad(text: &str) -> String {
    text.red().to_string()
}

/// Something new or good.
pub(crate) fn good(text: &str) -> String {
    text.green().to_string()
}

/// Something changed or to be watched.
pub(crate) fn warning(text: &str) -> String {
    text.yellow().to_string()
}

/// A command to type.
pub(crate) fn command(text: &str) -> String {
    text.cyan().to_string()
}

/// Text that others wrote, on one line and without anything a terminal would obey.
///
/// An error message can hold whatever a target answered, escape sequences included.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => out.push(' '),
            _ if is_unsafe(character) => out.extend(character.escape_unicode()),
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// Control characters, and those that turn the direction of what follows.
pub(crate) fn is_unsafe(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_cannot_steer_the_terminal() {
        assert_eq!(clean("plain ünïcode"), "plain ünïcode");
        assert_eq!(clean("a\nb\tc"), "a b c");
        assert_eq!(clean("\u{1b}[2Jgone"), "\\u{1b}[2Jgone");
        assert_eq!(clean("\u{9b}31m\u{202e}x"), "\\u{9b}31m\\u{202e}x");
    }

    #[test]
    fn statuses_have_colours() {
        assert!(status("completed").contains("\u{1b}[32m"));
        assert!(status("dlq").contains("\u{1b}[31m"));
        assert_eq!(status("pending"), "pending");
    }
}
