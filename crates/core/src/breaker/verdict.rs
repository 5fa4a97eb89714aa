//! What a call says of its target.

use crate::failure::{ErrorClass, Failure};

/// Statuses that say that the target, or what stands before it, cannot do its work.
const BROKEN: [&str; 4] = ["500", "502", "503", "504"];
/// The status of a target that wants fewer calls.
const TOO_MANY: &str = "429";

/// What a call says of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It answers.
    Good,
    /// It does not, or cannot do its work.
    Bad,
    /// It answers that it wants fewer calls: no reason to make none.
    Limited,
    /// Nothing: it was not called, or something of ours failed.
    Nothing,
}

impl Verdict {
    /// What the outcome of a call says; absent = it succeeded.
    #[must_use]
    pub fn of(failure: Option<&Failure>) -> Self {
        let Some(failure) = failure else {
            return Self::Good;
        };
        match failure.class {
            ErrorClass::ConnectTimeout
            | ErrorClass::ReadTimeout
            | ErrorClass::ConnectionReset
            | ErrorClass::ConnectionRefused
            | ErrorClass::Dns => Self::Bad,
            ErrorClass::HttpStatus => match failure.code.as_deref() {
                Some(code) if BROKEN.contains(&code) => Self::Bad,
                Some(TOO_MANY) => Self::Limited,
                _ => Self::Good,
            },
            // An answer, whatever is wrong with it.
            ErrorClass::Redirect | ErrorClass::ResponseTooLarge | ErrorClass::InvalidResponse => {
                Self::Good
            }
            ErrorClass::Tls
            | ErrorClass::AddressRefused
            | ErrorClass::InvalidUrl
            | ErrorClass::Template
            | ErrorClass::Mapping
            | ErrorClass::Local
            | ErrorClass::Worker
            | ErrorClass::TaskTimeout
            | ErrorClass::LockExpired
            | ErrorClass::HeartbeatMissed
            | ErrorClass::CallbackFailed
            | ErrorClass::NodeLost
            | ErrorClass::HistoryLimit
            | ErrorClass::Internal => Self::Nothing,
        }
    }

    /// Whether the next attempt may be put off by how the target fares.
    #[must_use]
    pub fn backs_off(self) -> bool {
        matches!(self, Self::Bad | Self::Limited)
    }
}
