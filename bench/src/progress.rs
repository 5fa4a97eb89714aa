//! What is going on, for people; beside the lines, on the other output.

use std::fmt::Arguments;
use std::fmt::Display;

/// Says what is measured now.
pub(crate) fn say(what: Arguments<'_>) {
    eprintln!("# {what}");
}

/// Counts the repeats of a measurement from 0, and says so.
pub(crate) fn repeats(count: u32, what: impl Display) -> impl Iterator<Item = u32> {
    (0..count).inspect(move |repeat| say(format_args!("{what}, {} of {count}", repeat + 1)))
}
