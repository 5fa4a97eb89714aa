//! How often a task is tried again: `retryConfig` alone decides, so whatever goes wrong counts alike, except
//! that a target which does not answer in time is only called again if somebody says so.

use std::time::Duration;

use serde_json::{Value, json};

use crate::definition::Problems;
use crate::definition::fields::Field;
use crate::definition::keys::Known;
use crate::failure::ErrorClass;

/// The most retries of a cycle.
const RETRIES_MAX: u64 = 5;
/// How many there are if nobody says how many.
const RETRIES_DEFAULT: u64 = 3;
/// How long after a failure the next attempt begins if nobody says, in minutes.
const INTERVAL_MINUTES_DEFAULT: f64 = 5.0;
/// The longest that somebody may say: a day.
const INTERVAL_MINUTES_MAX: f64 = 24.0 * 60.0;

const KEYS: &[Known] = &[
    Known::new("retryOnTimeout"),
    Known::new("maxRetries"),
    Known::new("retryIntervalMinutes"),
];

/// The classes of errors that a call can end with, but for statuses and timeouts.
const FAILURES: [ErrorClass; 10] = [
    ErrorClass::ConnectionReset,
    ErrorClass::ConnectionRefused,
    ErrorClass::Dns,
    ErrorClass::Tls,
    ErrorClass::AddressRefused,
    ErrorClass::Redirect,
    ErrorClass::ResponseTooLarge,
    ErrorClass::InvalidResponse,
    ErrorClass::InvalidUrl,
    ErrorClass::Template,
];

/// No answer in time.
const TIMEOUTS: [ErrorClass; 2] = [ErrorClass::ConnectTimeout, ErrorClass::ReadTimeout];

/// How often a task is tried again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Retry {
    retries: u64,
    interval: Duration,
    on_timeout: bool,
}

impl Retry {
    pub(super) fn read(field: Option<&Field<'_>>, problems: &mut Problems) -> Option<Self> {
        let Some(field) = field else {
            return Some(Self {
                retries: 0,
                interval: Duration::ZERO,
                on_timeout: false,
            });
        };
        let before = problems.len();
        let fields = field.fields(KEYS, problems)?;
        let on_timeout = fields.get("retryOnTimeout");
        let on_timeout = on_timeout.and_then(|field| field.bool(problems));
        let retries = fields.get("maxRetries");
        let retries = retries.and_then(|field| field.whole(0..=RETRIES_MAX, problems));
        let minutes = fields.get("retryIntervalMinutes");
        let minutes = minutes.and_then(|field| field.number(0.0..=INTERVAL_MINUTES_MAX, problems));
        let seconds = minutes.unwrap_or(INTERVAL_MINUTES_DEFAULT) * 60.0;
        (problems.len() == before).then(|| Self {
            retries: retries.unwrap_or(RETRIES_DEFAULT),
            interval: Duration::from_secs_f64(seconds),
            on_timeout: on_timeout.unwrap_or(false),
        })
    }

    /// The policy of the step.
    pub(super) fn policy(&self) -> Value {
        if self.retries == 0 {
            return json!({"enabled": false});
        }
        let timeouts = TIMEOUTS.iter().filter(|_| self.on_timeout);
        let errors: Vec<&str> = FAILURES
            .iter()
            .chain(timeouts)
            .map(|class| class.name())
            .collect();
        json!({
            "maxRetries": self.retries,
            "strategy": "fixed",
            "initialDelay": format!("{}ms", self.interval.as_millis()),
            "jitter": "none",
            "retryOn": {"statuses": ["100-599"], "errors": errors},
            "failOn": {"statuses": []},
        })
    }
}
