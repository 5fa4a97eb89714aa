//! What a webhook trigger is set to: read from its fields, checked, and written back in one form.
//!
//! Secrets are no part of it. Everything that is wrong is said at once, each with its field. What
//! [`Settings::to_json`] writes holds every default that matters, so that a stored trigger does not
//! change when a default does, and reads back as the same settings.

mod read;
mod write;

use std::time::Duration;

use ipnet::IpNet;

use super::challenge::Challenge;
use super::filter::Filter;
use super::scheme::{HeaderName, Method, Scheme};
use crate::definition::Problems;
use crate::definition::fields::{Field, Fields};
use crate::definition::source::Node;
use crate::json::Json;
use crate::jsonpath::JsonPath;
use crate::trigger::keys::WEBHOOK;

pub(crate) use read::KEYS;

/// Filters of one trigger.
pub const FILTERS_MAX: usize = 50;
/// Paths that make up one idempotency key.
pub const IDEMPOTENCY_PATHS_MAX: usize = 10;
/// How long a key is remembered unless the settings say otherwise.
pub const IDEMPOTENCY_WINDOW_DEFAULT: Duration = Duration::from_secs(7 * 24 * 3_600);
/// The shortest time a key may be remembered: shorter than a sender's retries it is of no use.
pub const IDEMPOTENCY_WINDOW_MIN: Duration = Duration::from_secs(60);
/// The longest: every key is a row.
pub const IDEMPOTENCY_WINDOW_MAX: Duration = Duration::from_secs(90 * 24 * 3_600);
/// The smallest tolerance of the time of signing.
pub const TOLERANCE_MIN: Duration = Duration::from_secs(1);
/// The largest.
pub const TOLERANCE_MAX: Duration = Duration::from_secs(24 * 3_600);
/// Entries of an address list.
pub const IP_ALLOW_MAX: usize = 256;
/// The most requests per second, and the most at once, that a limit can say.
pub const RATE_MAX: u32 = 1_000_000;
/// Bytes of the prefix before a signature.
pub const PREFIX_BYTES_MAX: usize = 32;

/// How a webhook knows its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authentication {
    /// Not at all; it must be said.
    None,
    /// By a key in a header.
    ApiKey {
        /// The header.
        header: HeaderName,
    },
    /// By a signature.
    Signed(Box<Scheme>),
}

impl Authentication {
    /// The word in the settings.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::None => Method::None,
            Self::ApiKey { .. } => Method::ApiKey,
            Self::Signed(scheme) => scheme.method,
        }
    }

    /// How long what was signed counts; none if its time is not looked at.
    #[must_use]
    pub fn tolerance(&self) -> Option<Duration> {
        match self {
            Self::None | Self::ApiKey { .. } => None,
            Self::Signed(scheme) => scheme.window.as_ref().map(|window| window.tolerance),
        }
    }
}

/// How many requests are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// In the long run.
    pub per_second: u32,
    /// At once, after a pause.
    pub burst: u32,
}

/// What a webhook trigger is set to.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How its sender is known.
    pub authentication: Authentication,
    /// What a request must hold; all of them.
    pub filters: Vec<Filter>,
    /// The values that name a request; empty means the usual ones.
    pub idempotency_paths: Vec<JsonPath>,
    /// Whether the header `Idempotency-Key` is no name: nobody signs it.
    pub ignore_idempotency_header: bool,
    /// How long that name is remembered.
    pub idempotency_window: Duration,
    /// Where requests may come from; empty means from everywhere.
    pub ip_allow: Vec<IpNet>,
    /// How many are taken.
    pub rate_limit: Option<RateLimit>,
    /// The handshake of its sender.
    pub challenge: Challenge,
}

impl Settings {
    /// The names of all its fields.
    pub fn fields() -> impl Iterator<Item = &'static str> {
        KEYS.iter().map(|known| known.name)
    }

    /// Reads the settings of a trigger that is a webhook, in JSON or YAML.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        let node = Node::parse(text)?;
        let mut problems = Problems::new();
        let fields = Field::new("", &node).fields(WEBHOOK, &mut problems);
        match fields.and_then(|fields| Self::read(&fields, &mut problems)) {
            Some(settings) if problems.is_empty() => Ok(settings),
            _ => Err(problems.sorted()),
        }
    }

    /// Reads what only a webhook has of a trigger's fields.
    pub(crate) fn read(fields: &Fields<'_>, problems: &mut Problems) -> Option<Self> {
        read::settings(fields, problems)
    }

    /// The one form in which they are stored and shown.
    #[must_use]
    pub fn to_json(&self) -> Json {
        write::settings(self)
    }
}

#[cfg(test)]
mod tests;
