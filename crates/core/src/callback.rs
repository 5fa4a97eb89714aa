//! Callbacks: what a target says later about the attempt that called it, and what that means.
//!
//! Where the record stands is in the execution's log ([`crate::execution`]); the row beside it has the
//! progress, which changes too often for a log. A body is read in [`body`].

pub mod body;
pub mod token;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Where the record of an attempt stands, as far as callbacks tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallbackStatus {
    /// The target has accepted the call and not called back yet.
    Pending,
    /// It is at it.
    Processing,
    /// It is done.
    Success,
    /// It has failed.
    Failed,
}

impl CallbackStatus {
    /// Every status, in the order of their stored numbers.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Processing, Self::Success, Self::Failed];

    /// What a target may say.
    pub const SAID: [Self; 3] = [Self::Processing, Self::Success, Self::Failed];

    /// The word used everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Success => "success",
            Self::Failed => "failed",
        }
    }

    /// Whether nothing may be said after it.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Success | Self::Failed)
    }
}

/// What a callback finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// The call is under way, and its answer not recorded.
    InFlight,
    /// The attempt waits, and the target has said this.
    Waits(CallbackStatus),
    /// Nothing waits for a callback any more, or never did.
    Over,
}

/// What becomes of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It counts.
    Taken,
    /// It says what is known already: only the progress is new.
    Repeated,
    /// It does not count.
    Refused,
}

/// The table: what becomes of a callback that says `said`.
#[must_use]
pub fn hear(stand: Stand, said: CallbackStatus) -> Heard {
    use CallbackStatus::{Failed, Pending, Processing, Success};
    match (stand, said) {
        // Nobody can take back what the answer to the call said.
        (_, Pending) => Heard::Refused,
        (Stand::InFlight | Stand::Waits(Pending), Processing | Success | Failed) => Heard::Taken,
        (Stand::Waits(Processing), Processing) => Heard::Repeated,
        (Stand::Waits(Processing), Success | Failed) => Heard::Taken,
        (Stand::Waits(Success | Failed) | Stand::Over, _) => Heard::Refused,
    }
}

/// The row of an attempt's callback as a decision leaves it. What is `None` in `noted` stays as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct CallbackPut {
    /// What the target has said last.
    pub status: CallbackStatus,
    /// Until when the attempt waits.
    pub until: Timestamp,
    /// Whether it waits still.
    pub is_open: bool,
    /// What else is kept.
    pub noted: Noted,
}

/// What a row keeps that no event has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Noted {
    /// 0 to 100.
    pub progress: Option<u8>,
    /// How far it is, in the target's words.
    pub message: Option<String>,
    /// The other fields of the last callback, as a JSON object.
    pub extra: Option<crate::json::Json>,
    /// How the target can be asked, sealed.
    pub query_config: Option<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table() {
        use CallbackStatus::{Failed, Pending, Processing, Success};
        use Heard::{Refused, Repeated, Taken};
        // pending, processing, success, failed
        for (stand, heard) in [
            (Stand::InFlight, [Refused, Taken, Taken, Taken]),
            (Stand::Waits(Pending), [Refused, Taken, Taken, Taken]),
            (Stand::Waits(Processing), [Refused, Repeated, Taken, Taken]),
            (Stand::Waits(Success), [Refused; 4]),
            (Stand::Waits(Failed), [Refused; 4]),
            (Stand::Over, [Refused; 4]),
        ] {
            for (said, heard) in CallbackStatus::ALL.into_iter().zip(heard) {
                assert_eq!(hear(stand, said), heard, "{stand:?} {said:?}");
            }
        }
    }

    #[test]
    fn serde_and_name_agree() {
        for status in CallbackStatus::ALL {
            let text = serde_json::to_string(&status).unwrap();
            assert_eq!(text, format!("\"{}\"", status.name()));
        }
    }
}
