//! What went wrong with an attempt: a class from a closed list, a code, words for a person.
//!
//! Classification into retryable or not is the policy's business (`definition/retry.rs`);
//! this file only names things. It never holds a secret: whoever builds a [`Failure`] from a
//! response cuts secret values out first.

use serde::{Deserialize, Serialize};

/// The classes an attempt's failure can have. The name is what users see and put in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The target answered with a status that is not expected; the code is that status.
    HttpStatus,
    /// No connection within the step's time.
    ConnectTimeout,
    /// Connected, but no complete answer within the step's time.
    ReadTimeout,
    /// The connection was closed or reset in the middle.
    ConnectionReset,
    /// Nothing listens there.
    ConnectionRefused,
    /// The name could not be resolved.
    Dns,
    /// The TLS handshake or the certificate failed.
    Tls,
    /// The address is inside a network that calls may not reach.
    AddressRefused,
    /// The target answered with a redirect that is not followed.
    Redirect,
    /// The answer is larger than `maxResponseBytes`.
    ResponseTooLarge,
    /// The answer is not HTTP, or its body is not UTF-8 text.
    InvalidResponse,
    /// The URL that the template gave is not a usable address.
    InvalidUrl,
    /// A template could not be resolved or gave the wrong kind of value.
    Template,
    /// The step's `outputMapping` could not be worked out on its output.
    Mapping,
    /// A `local` step returned an error or panicked.
    Local,
    /// The worker of an external task said that it failed.
    Worker,
    /// An external task was not done within its time.
    TaskTimeout,
    /// The lock of an external task ran out: its worker was not heard of.
    LockExpired,
    /// The worker of an external task sent no heartbeats.
    HeartbeatMissed,
    /// The target called back that it failed.
    CallbackFailed,
    /// The node died too often while this step was running.
    NodeLost,
    /// The execution's history reached its limit.
    HistoryLimit,
    /// The engine could not carry out the step (a defect, or an unreadable definition).
    Internal,
}

impl ErrorClass {
    /// Every class, in the order of the documentation.
    pub const ALL: [Self; 23] = [
        Self::HttpStatus,
        Self::ConnectTimeout,
        Self::ReadTimeout,
        Self::ConnectionReset,
        Self::ConnectionRefused,
        Self::Dns,
        Self::Tls,
        Self::AddressRefused,
        Self::Redirect,
        Self::ResponseTooLarge,
        Self::InvalidResponse,
        Self::InvalidUrl,
        Self::Template,
        Self::Mapping,
        Self::Local,
        Self::Worker,
        Self::TaskTimeout,
        Self::LockExpired,
        Self::HeartbeatMissed,
        Self::CallbackFailed,
        Self::NodeLost,
        Self::HistoryLimit,
        Self::Internal,
    ];

    /// The network errors that are retried unless a policy says otherwise.
    pub const RETRYABLE_BY_DEFAULT: [Self; 5] = [
        Self::ConnectTimeout,
        Self::ReadTimeout,
        Self::ConnectionReset,
        Self::ConnectionRefused,
        Self::Dns,
    ];

    /// Whether retry policies have no say in it: it may be retried unless its sender says otherwise.
    #[must_use]
    pub fn speaks_for_itself(self) -> bool {
        matches!(
            self,
            Self::Worker
                | Self::TaskTimeout
                | Self::LockExpired
                | Self::HeartbeatMissed
                | Self::CallbackFailed
        )
    }

    /// Whether it says nothing about how the target fares: no answer came, which may have been lost.
    #[must_use]
    pub fn is_silence(self) -> bool {
        matches!(
            self,
            Self::ConnectTimeout | Self::ReadTimeout | Self::ConnectionReset
        )
    }

    /// The name as written in definitions, the API and the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::HttpStatus => "http_status",
            Self::ConnectTimeout => "connect_timeout",
            Self::ReadTimeout => "read_timeout",
            Self::ConnectionReset => "connection_reset",
            Self::ConnectionRefused => "connection_refused",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::AddressRefused => "address_refused",
            Self::Redirect => "redirect",
            Self::ResponseTooLarge => "response_too_large",
            Self::InvalidResponse => "invalid_response",
            Self::InvalidUrl => "invalid_url",
            Self::Template => "template",
            Self::Mapping => "mapping",
            Self::Local => "local",
            Self::Worker => "worker",
            Self::TaskTimeout => "task_timeout",
            Self::LockExpired => "lock_expired",
            Self::HeartbeatMissed => "heartbeat_missed",
            Self::CallbackFailed => "callback_failed",
            Self::NodeLost => "node_lost",
            Self::HistoryLimit => "history_limit",
            Self::Internal => "internal",
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl std::fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Why one attempt, or a whole execution, failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The class, also the `error_type` of lists and dead letters.
    #[serde(rename = "type")]
    pub class: ErrorClass,
    /// The HTTP status or the task's own code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// One sentence for a person.
    pub message: String,
    /// Whether the policy may try again; set when the failure was classified.
    pub retryable: bool,
    /// The causes below the message, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// The first bytes of the target's answer, as text, at most 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// How long the target asked us to wait (`Retry-After`), at most one hour; or how long it is left alone
    /// because most calls to it fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Who was called: the host, with the port unless that is the scheme's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl Failure {
    /// A failure with the class's own word on retrying.
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            code: None,
            message: message.into(),
            retryable: class.speaks_for_itself()
                || ErrorClass::RETRYABLE_BY_DEFAULT.contains(&class),
            causes: Vec::new(),
            response: None,
            retry_after_ms: None,
            target: None,
        }
    }

    /// The same with a code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// The same with its causes, outermost first.
    #[must_use]
    pub fn with_causes(mut self, causes: Vec<String>) -> Self {
        self.causes = causes;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_name_that_finds_it_again() {
        for class in ErrorClass::ALL {
            assert_eq!(ErrorClass::from_name(class.name()), Some(class));
            assert_eq!(
                serde_json::to_string(&class).unwrap(),
                format!("\"{}\"", class.name()),
                "serde and name() agree"
            );
        }
        assert_eq!(ErrorClass::from_name("nonsense"), None);
    }
}
