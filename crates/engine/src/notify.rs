//! Telling people: channels, and the messages that are sent through them.

mod raise;
mod wanted;

pub(crate) use raise::dead_letter;
pub(crate) use wanted::Wanted;
