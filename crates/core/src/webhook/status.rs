//! What became of a request, in the words of the request log.

use std::fmt;
use std::str::FromStr;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It started an execution.
    Triggered,
    /// It was genuine, but is not what the trigger waits for.
    Filtered,
    /// Its signature or key is wrong or missing.
    AuthFailed,
    /// Its key has an execution already.
    Duplicate,
    /// Its body is larger than allowed.
    TooLarge,
    /// There were too many within a short time.
    RateLimited,
    /// Its address is not on the list.
    IpRefused,
    /// The trigger is switched off.
    Disabled,
    /// It could not be read or not be written down.
    Error,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 9] = [
        Self::Triggered,
        Self::Filtered,
        Self::AuthFailed,
        Self::Duplicate,
        Self::TooLarge,
        Self::RateLimited,
        Self::IpRefused,
        Self::Disabled,
        Self::Error,
    ];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Triggered => "triggered",
            Self::Filtered => "filtered",
            Self::AuthFailed => "auth_failed",
            Self::Duplicate => "duplicate",
            Self::TooLarge => "too_large",
            Self::RateLimited => "rate_limited",
            Self::IpRefused => "ip_refused",
            Self::Disabled => "disabled",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a status of a webhook request")]
pub struct UnknownStatus;

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(word: &str) -> Result<Self, UnknownStatus> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == word)
            .ok_or(UnknownStatus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_again() {
        for status in Status::ALL {
            assert_eq!(status.to_string().parse(), Ok(status));
        }
        assert_eq!("".parse::<Status>(), Err(UnknownStatus));
    }
}
