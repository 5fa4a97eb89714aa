//! Whether a request comes from who it should: signature or key, on the raw bytes.
//!
//! Comparisons take the same time whatever is compared. A reason never holds the expected value or a
//! part of a secret; it is meant for the request log, and answers to strangers may say less.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::request::{HeaderTrouble, Headers};
use super::scheme::{HeaderName, Method, Place, Scheme};
use super::secret::{Secret, Secrets};
use super::settings::Authentication;
use super::signature::{self, SIGNATURE_BYTES, SIGNATURE_HEADER_BYTES_MAX};
use super::signed_text::Values;
use crate::time::Timestamp;

/// The longest name of a message that is read, in bytes.
const ID_BYTES_MAX: usize = 256;
/// The longest time of signing, in digits.
const TIMESTAMP_DIGITS_MAX: usize = 15;
/// A time of so many digits counts milliseconds; seconds will have eleven in the year 5138.
const TIMESTAMP_MILLIS_DIGITS: usize = 13;

/// What a genuine request was recognised by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verified {
    /// It was the previous secret: its sender has not changed yet.
    pub previous: bool,
}

/// Why a request is not taken for genuine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

/// Judges the signature or key of a request.
///
/// # Errors
/// When it is missing, malformed, wrong, or too old.
pub fn verify(
    authentication: &Authentication,
    secrets: Option<&Secrets>,
    headers: Headers<'_>,
    body: &[u8],
    now: Timestamp,
) -> Result<Verified, Refused> {
    let secrets = || secrets.ok_or_else(|| Refused("this webhook has no secret".to_owned()));
    match authentication {
        Authentication::None => Ok(Verified { previous: false }),
        Authentication::ApiKey { header } => api_key(header, secrets()?, headers, now),
        Authentication::Signed(scheme) => signed(scheme, secrets()?, headers, body, now),
    }
}

/// Whether a request may turn out to be genuine, as far as its headers tell before its body is there.
/// Where nothing is checked, nobody is known, and this is false.
#[must_use]
pub fn is_promising(
    authentication: &Authentication,
    secrets: Option<&Secrets>,
    headers: Headers<'_>,
    now: Timestamp,
) -> bool {
    match (authentication, secrets) {
        (Authentication::None, _) | (_, None) => false,
        (Authentication::ApiKey { header }, Some(secrets)) => {
            api_key(header, secrets, headers, now).is_ok()
        }
        (Authentication::Signed(scheme), Some(_)) => {
            let name = Names::of(scheme, headers).signature;
            let value = header_value(headers, name, SIGNATURE_HEADER_BYTES_MAX);
            value.is_ok_and(|value| {
                let items = signature::items(scheme, value);
                items.is_ok_and(|items| signature::candidates(scheme, &items).is_ok())
            })
        }
    }
}

fn api_key(
    header: &HeaderName,
    secrets: &Secrets,
    headers: Headers<'_>,
    now: Timestamp,
) -> Result<Verified, Refused> {
    let given = header_value(headers, header.as_str(), SIGNATURE_HEADER_BYTES_MAX)?;
    let given = bearer(header, given);
    // Hashes have one length, so that the time tells nothing of the key's.
    let hash = |text: &str| Sha256::digest(text.as_bytes());
    let given = hash(given);
    let same = |secret: &Secret| bool::from(hash(secret.reveal()).ct_eq(&given));
    let said = Said {
        wrong: "the key is wrong",
        ended: "it is the previous key",
    };
    decide(secrets, now, same, said)
}

/// `Authorization` says before the key what kind of key it is.
fn bearer<'a>(header: &HeaderName, value: &'a str) -> &'a str {
    const SCHEME: &str = "bearer ";
    match value.split_at_checked(SCHEME.len()) {
        Some((scheme, key))
            if header.as_str().eq_ignore_ascii_case("authorization")
                && scheme.eq_ignore_ascii_case(SCHEME) =>
        {
            key.trim_start()
        }
        _ => value,
    }
}

fn signed(
    scheme: &Scheme,
    secrets: &Secrets,
    headers: Headers<'_>,
    body: &[u8],
    now: Timestamp,
) -> Result<Verified, Refused> {
    let names = Names::of(scheme, headers);
    let value = header_value(headers, names.signature, SIGNATURE_HEADER_BYTES_MAX)?;
    let about = |what: String| Refused(format!("the header {} {what}", names.signature));
    let items = signature::items(scheme, value).map_err(about)?;
    let timestamp = names.timestamp_text(scheme, headers, &items)?;
    let id = match names.id {
        Some(name) => message_id(name, header_value(headers, name, ID_BYTES_MAX)?)?,
        None => "",
    };
    let signed_at = timestamp
        .map(|text| seconds(scheme.method, text))
        .transpose()?;
    let candidates = signature::candidates(scheme, &items).map_err(about)?;
    let values = Values {
        timestamp: timestamp.unwrap_or_default(),
        id,
        body,
    };
    let same = |secret: &Secret| fits(scheme, secret, values, &candidates);
    let said = Said {
        wrong: "the signature does not match the body and the secret",
        ended: "it was signed with the previous secret",
    };
    let verified = decide(secrets, now, same, said)?;
    if let (Some(window), Some(signed_at)) = (&scheme.window, signed_at) {
        within(window.tolerance.as_secs(), signed_at, now)?;
    }
    Ok(verified)
}

/// The words for a secret that does not count.
#[derive(Clone, Copy)]
struct Said {
    wrong: &'static str,
    ended: &'static str,
}

/// The current secret, then the previous one while it counts. What only an ended secret fits is
/// said, because it is what whoever reads the log must know.
fn decide(
    secrets: &Secrets,
    now: Timestamp,
    same: impl Fn(&Secret) -> bool,
    said: Said,
) -> Result<Verified, Refused> {
    if same(&secrets.current) {
        return Ok(Verified { previous: false });
    }
    if secrets.previous_at(now).is_some_and(&same) {
        return Ok(Verified { previous: true });
    }
    match &secrets.previous {
        Some(ended) if same(&ended.secret) => Err(Refused(format!(
            "{}, which expired at {}",
            said.ended, ended.until
        ))),
        _ => Err(Refused(said.wrong.to_owned())),
    }
}

/// The names of the headers in one request.
struct Names<'a> {
    signature: &'a str,
    id: Option<&'a str>,
    timestamp: Option<&'a str>,
}

impl<'a> Names<'a> {
    fn of(scheme: &'a Scheme, headers: Headers<'_>) -> Self {
        // Svix, where the specification comes from, sends its own names unless told otherwise.
        if scheme.method == Method::StandardWebhooks
            && !headers.has(scheme.header.as_str())
            && headers.has("svix-signature")
        {
            return Self {
                signature: "svix-signature",
                id: Some("svix-id"),
                timestamp: Some("svix-timestamp"),
            };
        }
        let timestamp = scheme
            .window
            .as_ref()
            .and_then(|window| match &window.place {
                Place::Header(name) => Some(name.as_str()),
                Place::Signature(_) => None,
            });
        Self {
            signature: scheme.header.as_str(),
            id: scheme.id.as_ref().map(HeaderName::as_str),
            timestamp,
        }
    }

    /// The time of signing as it was written, if the scheme has one.
    fn timestamp_text<'h>(
        &self,
        scheme: &Scheme,
        headers: Headers<'h>,
        items: &[&'h str],
    ) -> Result<Option<&'h str>, Refused> {
        let Some(window) = &scheme.window else {
            return Ok(None);
        };
        if let Some(name) = self.timestamp {
            return header_value(headers, name, ID_BYTES_MAX).map(Some);
        }
        let Place::Signature(mark) = window.place else {
            return Ok(None);
        };
        let mut times = items.iter().filter_map(|item| item.strip_prefix(mark));
        let refuse = |what: &str| Refused(format!("the header {} {what}", self.signature));
        match (times.next(), times.next()) {
            (Some(time), None) => Ok(Some(time)),
            (None, _) => Err(refuse("has no time `t=`")),
            (Some(_), Some(_)) => Err(refuse("has more than one time `t=`")),
        }
    }
}

fn header_value<'a>(
    headers: Headers<'a>,
    name: &str,
    bytes_max: usize,
) -> Result<&'a str, Refused> {
    let refuse = |what: &str| Refused(format!("the header {name} {what}"));
    match headers.one(name, bytes_max) {
        Ok("") => Err(refuse("is empty")),
        Ok(value) => Ok(value),
        Err(HeaderTrouble::TooLong(bytes)) => Err(refuse(&format!(
            "has {bytes} bytes, at most {bytes_max} are read"
        ))),
        Err(trouble) => Err(refuse(&trouble.to_string())),
    }
}

/// A dot in the name could be moved to the time without changing what was signed.
fn message_id<'a>(header: &str, id: &'a str) -> Result<&'a str, Refused> {
    if id.contains('.') {
        return Err(Refused(format!(
            "the header {header} must not contain a dot"
        )));
    }
    Ok(id)
}

fn seconds(method: Method, text: &str) -> Result<i64, Refused> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number: Option<i64> = match text.len() {
        1..=TIMESTAMP_DIGITS_MAX if digits => text.parse().ok(),
        _ => None,
    };
    match number {
        Some(millis) if method == Method::Hmac && text.len() == TIMESTAMP_MILLIS_DIGITS => {
            Ok(millis / 1_000)
        }
        Some(seconds) => Ok(seconds),
        None => Err(Refused(
            "the time of signing is not a whole number of seconds since 1970".to_owned(),
        )),
    }
}

fn within(tolerance: u64, signed_at: i64, now: Timestamp) -> Result<(), Refused> {
    let now = now.as_millis().div_euclid(1_000);
    let away = now.abs_diff(signed_at);
    if away <= tolerance {
        return Ok(());
    }
    let side = if signed_at < now {
        "ago"
    } else {
        "ahead of our clock"
    };
    Err(Refused(format!(
        "it was signed {away} s {side}, at most {tolerance} s are allowed"
    )))
}

/// Whether one of the candidates is the signature by this secret.
fn fits(
    scheme: &Scheme,
    secret: &Secret,
    values: Values<'_>,
    candidates: &[[u8; SIGNATURE_BYTES]],
) -> bool {
    // The body is read once, however many candidates there are.
    let Some(mac) = mac(scheme, secret, values) else {
        return false;
    };
    candidates.iter().fold(false, |found, candidate| {
        mac.clone().verify_slice(candidate).is_ok() | found
    })
}

/// The code over the signed text, ready to be compared or written.
pub(super) fn mac(scheme: &Scheme, secret: &Secret, values: Values<'_>) -> Option<Hmac<Sha256>> {
    // A key of any length will do, so this never fails.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.key()).ok()?;
    scheme.text.feed(&mut mac, values);
    Some(mac)
}
