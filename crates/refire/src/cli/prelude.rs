//! What a command is made of: its options, the session, how it answers, and words for people.

pub(crate) use std::fmt::Write as _;

pub(crate) use clap::{Args, Subcommand};
pub(crate) use comfy_table::Cell;
pub(crate) use refire_core::time::Timestamp;

pub(crate) use super::moment::{between, both, counted, exact, millis, relative, span};
pub(crate) use super::outcome::{Outcome, Usage};
pub(crate) use super::output::{confirm, print, print_json, print_raw, say};
pub(crate) use super::paint::{
    bad, clean, command, dim, good, heading, status, status_cell, status_cell_with, warning,
};
pub(crate) use super::pretty::{indented, pretty};
pub(crate) use super::screen::Screen;
pub(crate) use super::session::Session;
pub(crate) use super::table::{Column, Grid, cell, faint, maybe, number, optional, table, text};
pub(crate) use super::wait::{Waiting, until_over};
pub(crate) use super::when::{moment, moments};
pub(super) use super::{ids, input};
