//! The way of a request through all stations, and what comes out.

use super::body::{self, BodyError, JSON_AS_FORM, is_json_as_form};
use super::filter;
use super::key::{self, Key};
use super::request::Request;
use super::secret::Secrets;
use super::settings::Settings;
use super::source;
use super::status::RequestStatus;
use super::verify::{Verified, is_promising, verify};
use crate::json::Json;
use crate::jsonpath::Search;
use crate::time::Timestamp;

/// What a request that passed starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The input of the execution.
    pub input: Json,
    /// Its name; without one every request starts an execution.
    pub key: Option<Key>,
    /// SHA-256 of the body as it came, to tell whether a repeat is the same.
    pub body_hash: [u8; 32],
    /// The sender still uses the previous secret.
    pub previous_secret: bool,
}

/// What is to be done with a request. Only [`Admission::Start`] claims a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// Start an execution, unless its key has one.
    Start(Box<Started>),
    /// It is genuine, but not what the trigger waits for.
    Filtered {
        /// Which filter, from 0, and why.
        filter: usize,
        /// In words.
        reason: String,
    },
    /// It was a handshake: send this back as `text/plain`, and start nothing.
    Challenge {
        /// What is sent back.
        answer: String,
    },
    /// Its signature or key is wrong or missing.
    AuthFailed {
        /// In words.
        reason: String,
    },
    /// Its address is not on the list.
    IpRefused {
        /// In words.
        reason: String,
    },
    /// It is of a type that is not read.
    Unsupported {
        /// In words.
        reason: String,
    },
    /// It is genuine, but its filters could not be evaluated.
    Unjudged {
        /// Which filter and why, in words.
        reason: String,
    },
    /// It is genuine, but cannot be read.
    Invalid {
        /// In words.
        reason: String,
    },
}

impl Admission {
    /// The word for the log. A start may still turn out to be a duplicate when it is written.
    #[must_use]
    pub fn status(&self) -> RequestStatus {
        match self {
            Self::Start(_) => RequestStatus::Triggered,
            Self::Filtered { .. } | Self::Challenge { .. } => RequestStatus::Filtered,
            Self::AuthFailed { .. } => RequestStatus::AuthFailed,
            Self::IpRefused { .. } => RequestStatus::IpRefused,
            Self::Unsupported { .. } | Self::Unjudged { .. } | Self::Invalid { .. } => {
                RequestStatus::Error
            }
        }
    }

    /// The HTTP status of the answer.
    #[must_use]
    pub fn http_status(&self) -> u16 {
        match self {
            Self::Start(_) | Self::Filtered { .. } | Self::Challenge { .. } => 200,
            Self::AuthFailed { .. } => 401,
            Self::IpRefused { .. } => 403,
            Self::Unsupported { .. } => 415,
            Self::Unjudged { .. } | Self::Invalid { .. } => 400,
        }
    }

    /// Whether the reason tells something of the trigger's settings or of its checks, which is not
    /// the sender's business: anybody may be the sender of a webhook without authentication.
    #[must_use]
    pub fn is_private(&self) -> bool {
        match self {
            Self::Filtered { .. }
            | Self::AuthFailed { .. }
            | Self::IpRefused { .. }
            | Self::Unjudged { .. } => true,
            Self::Start(_)
            | Self::Challenge { .. }
            | Self::Unsupported { .. }
            | Self::Invalid { .. } => false,
        }
    }

    /// The reason for the log; a start has none.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Start(_) => None,
            Self::Challenge { .. } => Some("a handshake of the sender was answered"),
            Self::Filtered { reason, .. }
            | Self::AuthFailed { reason }
            | Self::IpRefused { reason }
            | Self::Unsupported { reason }
            | Self::Unjudged { reason }
            | Self::Invalid { reason } => Some(reason),
        }
    }
}

/// Judges a request by the moment it came. One that was refused and kept is judged again by the same
/// moment: it must have been signed shortly before, and a previous secret counts if it did then.
#[must_use]
pub fn admit(
    settings: &Settings,
    secrets: Option<&Secrets>,
    request: &Request<'_>,
    came_at: Timestamp,
) -> Admission {
    enter(settings, secrets, request, came_at).map_or_else(
        |refused| refused,
        |verified| judge(settings, request, verified),
    )
}

/// Judges a request again whose signature or key was checked when it came. It is not checked again: the
/// secret may have been changed since. Everything else counts as it is now.
#[must_use]
pub fn admit_verified(settings: &Settings, request: &Request<'_>) -> Admission {
    allowed(settings, request).map_or_else(
        |refused| refused,
        |()| judge(settings, request, Verified::default()),
    )
}

/// The first stations, which tell the sender from strangers.
///
/// # Errors
/// The last word about a request that is not from the sender, as far as can be known.
pub fn enter(
    settings: &Settings,
    secrets: Option<&Secrets>,
    request: &Request<'_>,
    now: Timestamp,
) -> Result<Verified, Admission> {
    allowed(settings, request)?;
    if let Some(answer) = settings.challenge.unsigned(request.query) {
        return Err(Admission::Challenge { answer });
    }
    let verified = verify(
        &settings.authentication,
        secrets,
        request.headers,
        request.body,
        now,
    );
    verified.map_err(|refused| Admission::AuthFailed {
        reason: refused.to_string(),
    })
}

/// Whether a request may come from the sender, as far as can be known before its body is there.
#[must_use]
pub fn may_enter(
    settings: &Settings,
    secrets: Option<&Secrets>,
    request: &Request<'_>,
    now: Timestamp,
) -> bool {
    let authentication = &settings.authentication;
    allowed(settings, request).is_ok()
        && is_promising(authentication, secrets, request.headers, now)
}

/// The stations behind [`enter`].
#[must_use]
pub fn judge(settings: &Settings, request: &Request<'_>, verified: Verified) -> Admission {
    walk(settings, request, verified).unwrap_or_else(|refused| refused)
}

/// In their order; the first that does not let the request pass has the last word.
fn walk(
    settings: &Settings,
    request: &Request<'_>,
    verified: Verified,
) -> Result<Admission, Admission> {
    let input = body::read(request.headers, request.body).map_err(|error| match error {
        BodyError::Unsupported(reason) => Admission::Unsupported { reason },
        BodyError::Invalid(reason) => Admission::Invalid { reason },
    })?;
    if let Some(answer) = settings.challenge.signed(&input) {
        return Ok(Admission::Challenge { answer });
    }
    let hinted = |reason: String| match is_json_as_form(&input) {
        true => format!("{reason}; {JSON_AS_FORM}"),
        false => reason,
    };
    // Filters and key paths share one reading of the body and one bound for their cost.
    let mut search = Search::new(&input);
    filter::pass(&settings.filters, &input, &mut search).map_err(|miss| match miss {
        filter::Miss {
            fault: true,
            reason,
            ..
        } => Admission::Unjudged {
            reason: hinted(reason),
        },
        filter::Miss { index, reason, .. } => Admission::Filtered {
            filter: index,
            reason: hinted(reason),
        },
    })?;
    let body_hash = key::body_hash(request.body);
    let key = key::find(settings, request.headers, &input, &body_hash, &mut search).map_err(
        |reason| Admission::Invalid {
            reason: hinted(reason),
        },
    )?;
    drop(search);
    Ok(Admission::Start(Box::new(Started {
        input,
        key,
        body_hash,
        previous_secret: verified.previous,
    })))
}

fn allowed(settings: &Settings, request: &Request<'_>) -> Result<(), Admission> {
    if settings.ip_allow.is_empty() || source::contains(&settings.ip_allow, request.source) {
        return Ok(());
    }
    Err(Admission::IpRefused {
        reason: format!(
            "the address {} is not in the `ip_allow` list of this webhook",
            request.source
        ),
    })
}
