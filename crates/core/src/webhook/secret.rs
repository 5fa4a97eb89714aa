//! The secrets of a webhook: what they must be like, and two of them during a change.
//!
//! They never appear in a message, in `Debug` or in the settings, and are wiped when dropped. The
//! shell seals their text before it is stored.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use super::scheme::Method;
use super::signature::decode_base64;
use crate::definition::{Mark, Problem};
use crate::time::Timestamp;

/// The least that a secret must have, in bytes: what is shorter can be guessed.
pub const SECRET_BYTES_MIN: usize = 24;
/// The most, in bytes.
pub(super) const SECRET_BYTES_MAX: usize = 512;
/// Random bytes that a new secret is made of.
pub const SECRET_RANDOM_BYTES: usize = 32;
/// What Standard Webhooks put before the encoded bytes.
const STANDARD_MARK: &str = "whsec_";

/// A secret that was checked.
#[derive(Clone)]
pub struct Secret {
    text: Zeroizing<String>,
    /// The bytes that sign: those of the text, or those it encodes.
    key: Zeroizing<Vec<u8>>,
}

fn wrong(message: impl Into<String>) -> Problem {
    Problem::new("secret", Mark::NOWHERE, message)
}

impl Secret {
    /// Checks a secret for a way of authentication.
    ///
    /// # Errors
    /// When it is empty, too short or too long, has white space around it or characters that cannot
    /// be sent, or is not encoded as its senders expect. Never quotes the secret.
    pub fn new(text: &str, method: Method) -> Result<Self, Problem> {
        let refuse = |message: String| Err(wrong(message));
        if text.is_empty() {
            return refuse("is empty".to_owned());
        }
        if text.trim() != text || text.chars().any(char::is_control) {
            // Nearly always a line break that was copied with it.
            return refuse("has white space around it or control characters".to_owned());
        }
        if method == Method::ApiKey && !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return refuse("has characters that cannot be sent in a header".to_owned());
        }
        let key = match method {
            Method::StandardWebhooks => {
                let encoded = text.strip_prefix(STANDARD_MARK).unwrap_or(text);
                decode_base64(encoded).ok_or_else(|| {
                    let message = format!("is not `{STANDARD_MARK}` followed by base64");
                    wrong(message).with_hint("leave it out to have one created")
                })?
            }
            Method::Teams => decode_base64(text).ok_or_else(|| {
                wrong("is not base64").with_hint("copy the whole token from Teams")
            })?,
            _ => text.as_bytes().to_vec(),
        };
        let key = Zeroizing::new(key);
        let bytes = key.len();
        if bytes < SECRET_BYTES_MIN {
            return Err(wrong(format!(
                "has {bytes} bytes, at least {SECRET_BYTES_MIN} are needed"
            ))
            .with_hint("leave it out to have one created"));
        }
        if bytes > SECRET_BYTES_MAX {
            return refuse(format!(
                "has {bytes} bytes, at most {SECRET_BYTES_MAX} are allowed"
            ));
        }
        Ok(Self {
            text: Zeroizing::new(text.to_owned()),
            key,
        })
    }

    /// A new secret out of random bytes.
    #[must_use]
    pub fn from_random(random: &[u8; SECRET_RANDOM_BYTES], method: Method) -> Self {
        let text = match method {
            Method::StandardWebhooks => {
                let encoded = Zeroizing::new(STANDARD.encode(random));
                format!("{STANDARD_MARK}{}", *encoded)
            }
            Method::Teams => STANDARD.encode(random),
            _ => URL_SAFE_NO_PAD.encode(random),
        };
        let key = match method {
            Method::StandardWebhooks | Method::Teams => random.to_vec(),
            _ => text.as_bytes().to_vec(),
        };
        Self {
            text: Zeroizing::new(text),
            key: Zeroizing::new(key),
        }
    }

    /// The text, to be shown once to whoever made it and to be sealed.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The bytes that sign.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The secret before this one, which is still accepted for a while.
#[derive(Debug, Clone)]
pub struct Previous {
    /// The secret.
    pub secret: Secret,
    /// From this moment on it is refused.
    pub until: Timestamp,
}

/// The secrets of a webhook.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// The one that signs.
    pub current: Secret,
    /// The one before, during a change.
    pub previous: Option<Previous>,
}

impl Secrets {
    /// One secret and no other.
    #[must_use]
    pub fn only(current: Secret) -> Self {
        Self {
            current,
            previous: None,
        }
    }

    /// Until when the previous one is accepted, if it still is.
    #[must_use]
    pub fn previous_until(&self, now: Timestamp) -> Option<Timestamp> {
        let until = self.previous.as_ref()?.until;
        (now < until).then_some(until)
    }

    /// The previous one, if it is still accepted.
    pub(super) fn previous_at(&self, now: Timestamp) -> Option<&Secret> {
        let previous = self.previous.as_ref()?;
        (now < previous.until).then_some(&previous.secret)
    }

    /// Every text that must not be shown.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let previous = self.previous.as_ref().map(|one| one.secret.reveal());
        std::iter::once(self.current.reveal()).chain(previous)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "It's a Secret to Everybody";

    #[test]
    fn a_secret_is_refused_with_a_reason_that_does_not_quote_it() {
        use Method::{ApiKey, Hmac, Slack, StandardWebhooks};
        let short = "x".repeat(23);
        let long = "x".repeat(513);
        let small = format!("whsec_{}", STANDARD.encode([7; 23]));
        let line = format!("{LONG}\n");
        for (text, method, expected) in [
            ("", Hmac, "is empty"),
            (&short, Hmac, "has 23 bytes, at least 24"),
            (&short, Slack, "has 23 bytes, at least 24"),
            (&long, Hmac, "has 513 bytes, at most 512"),
            (&line, Hmac, "white space around it"),
            (LONG, ApiKey, "cannot be sent in a header"),
            ("schlüssel-schlüssel-schlüssel", ApiKey, "cannot be sent"),
            (LONG, StandardWebhooks, "is not `whsec_`"),
            ("whsec_", StandardWebhooks, "has 0 bytes"),
            (&small, StandardWebhooks, "has 23 bytes"),
        ] {
            let problem = Secret::new(text, method).expect_err(text);
            assert_eq!(problem.path, "secret");
            let said = problem.to_string();
            assert!(said.contains(expected), "{text:?}: {said}");
            assert!(text.len() < 10 || !said.contains(text), "{said}");
        }
        for (text, method) in [
            (LONG, Hmac),
            ("schlüssel-schlüssel-schlüssel", Hmac),
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", StandardWebhooks),
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", StandardWebhooks),
            ("0123456789abcdef01234567", ApiKey),
        ] {
            assert_eq!(Secret::new(text, method).unwrap().reveal(), text);
        }
    }

    #[test]
    fn a_made_secret_passes_its_own_rules() {
        for method in Method::ALL {
            let made = Secret::from_random(&[0xA7; SECRET_RANDOM_BYTES], method);
            let read = Secret::new(made.reveal(), method).unwrap();
            assert_eq!(read.key(), made.key());
        }
    }

    #[test]
    fn debug_shows_nothing() {
        let secret = Secret::new(LONG, Method::Hmac).unwrap();
        let secrets = Secrets {
            current: secret.clone(),
            previous: Some(Previous {
                secret,
                until: Timestamp::from_millis(0),
            }),
        };
        let said = format!("{secrets:?}");
        assert!(!said.contains("Secret to"), "{said}");
        assert!(!said.contains("73"), "{said}");
    }
}
