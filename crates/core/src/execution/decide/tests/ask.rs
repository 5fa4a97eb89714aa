//! Commands in one word each.

use super::fixture::{BEGINNING, step_id};
use crate::callback::Noted;
use crate::execution::{Began, Callback, Cancel, Command, Lost, Outcome, Report, RetryNow, Said};
use crate::time::Timestamp;

pub(in crate::execution) fn by() -> Option<String> {
    Some("ada".to_owned())
}

pub(in crate::execution) fn pause() -> Command {
    Command::Pause { by: by() }
}

pub(in crate::execution) fn resume() -> Command {
    Command::Resume { by: by() }
}

pub(in crate::execution) fn retry_now() -> Command {
    Command::RetryNow(RetryNow {
        step: None,
        by: by(),
    })
}

pub(in crate::execution) fn cancel() -> Command {
    Command::Cancel(Cancel::by(by()))
}

pub(in crate::execution) fn cancel_and_undo() -> Command {
    Command::Cancel(Cancel {
        compensate: true,
        ..Cancel::by(by())
    })
}

pub(in crate::execution) fn lost(step: &str, attempt: u32, begun: bool) -> Command {
    Command::Lost(Lost {
        step: step_id(step),
        attempt,
        node: None,
        begun,
    })
}

/// A report that no node of this run would send: late, doubled or made up.
pub(in crate::execution) fn stray(step: &str, attempt: u32, outcome: Outcome) -> Command {
    Command::Report(Report {
        step: step_id(step),
        attempt,
        began: Began::Called(BEGINNING),
        duration_ms: 0,
        outcome,
        mapped: None,
    })
}

/// What a target says about an attempt.
pub(in crate::execution) fn callback(
    step: &str,
    attempt: u32,
    began: Option<Timestamp>,
    said: Said,
) -> Command {
    Command::Callback(Callback {
        step: step_id(step),
        attempt,
        began,
        said,
        mapped: None,
        noted: Noted {
            progress: Some(50),
            message: Some("half of it".to_owned()),
            ..Noted::default()
        },
    })
}
