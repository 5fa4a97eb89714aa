//! What became of a request, in the words of the request log.

/// What became of a request to a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestStatus {
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

impl RequestStatus {
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

    /// What is worth another look once the trigger or its sender is mended.
    pub const REFUSED: [Self; 7] = [
        Self::AuthFailed,
        Self::Filtered,
        Self::IpRefused,
        Self::RateLimited,
        Self::TooLarge,
        Self::Disabled,
        Self::Error,
    ];

    /// Those of them that somebody should look at: what was filtered is not what the trigger waits for, and
    /// meant so.
    pub const QUARANTINED: [Self; 6] = [
        Self::AuthFailed,
        Self::IpRefused,
        Self::RateLimited,
        Self::TooLarge,
        Self::Disabled,
        Self::Error,
    ];

    /// The word used everywhere.
    #[must_use]
    pub const fn name(self) -> &'static str {
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

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_again() {
        for status in RequestStatus::ALL {
            assert_eq!(RequestStatus::from_name(status.name()), Some(status));
        }
        assert_eq!(RequestStatus::from_name(""), None);
    }
}
