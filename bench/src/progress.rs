//! What is going on, for people; beside the lines, on the other output.

use std::fmt::Arguments;

/// Says what is measured now.
pub(crate) fn say(what: Arguments<'_>) {
    eprintln!("# {what}");
}
