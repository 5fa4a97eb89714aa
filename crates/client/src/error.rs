//! What can go wrong with a call.

use crate::model::Problem;

/// A call that did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server said no, and why.
    #[error("{}", .0.detail)]
    Problem(Box<Problem>),
    /// The server could not be reached.
    #[error("{url} cannot be reached")]
    Unreachable {
        /// The server's address.
        url: String,
        /// What the system said.
        #[source]
        source: reqwest::Error,
    },
    /// The answer is not one of this API.
    #[error("{url} answered {status} with something that is not an answer of this API")]
    Unexpected {
        /// The address called.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The server's address or the key cannot be used.
    #[error("{0}")]
    Setting(String),
}

impl Error {
    /// The HTTP status of the server's answer; none if there was no answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Problem(problem) => Some(problem.status),
            Self::Unexpected { status, .. } => Some(*status),
            Self::Unreachable { .. } | Self::Setting(_) => None,
        }
    }

    /// Whether the server was there but took too long.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Unreachable { source, .. } if source.is_timeout() && !source.is_connect())
    }

    /// Whether no connection could be made: nothing was sent.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        matches!(self, Self::Unreachable { source, .. } if source.is_connect())
    }

    /// Whether TLS was tried and the server answered in plain HTTP.
    #[must_use]
    pub fn is_plain_http(&self) -> bool {
        matches!(self, Self::Unreachable { url, .. } if url.starts_with("https://"))
            && self.cause().contains("InvalidContentType")
    }

    /// The innermost cause in the system's own words; the errors around it only repeat the address.
    #[must_use]
    pub fn cause(&self) -> String {
        let mut cause: &dyn std::error::Error = self;
        while let Some(source) = cause.source() {
            cause = source;
        }
        cause.to_string()
    }
}
