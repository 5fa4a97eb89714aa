//! How a sender signs: which header, which spelling, which text, how old it may be.
//!
//! Every known sender is one value of [`Scheme`], so that signing and verifying go the same way for
//! all of them.

use std::fmt;
use std::time::Duration;

use super::signed_text::SignedText;

/// How old, and how far in the future, a signed request may be unless the settings say otherwise.
pub(super) const TOLERANCE_DEFAULT: Duration = Duration::from_secs(300);
/// The bytes that the name of a header may have.
const HEADER_NAME_BYTES_MAX: usize = 64;

/// The word in `authentication`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Nothing is asked for.
    None,
    /// A key in a header.
    ApiKey,
    /// A signature of the generic form.
    Hmac,
    /// The open specification of that name; also as Svix sends it.
    StandardWebhooks,
    /// GitHub.
    Github,
    /// Stripe.
    Stripe,
    /// Slack.
    Slack,
    /// Shopify.
    Shopify,
    /// An outgoing webhook of Microsoft Teams.
    Teams,
}

impl Method {
    /// Every way.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::ApiKey,
        Self::Hmac,
        Self::StandardWebhooks,
        Self::Github,
        Self::Stripe,
        Self::Slack,
        Self::Shopify,
        Self::Teams,
    ];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ApiKey => "api_key",
            Self::Hmac => "hmac",
            Self::StandardWebhooks => "standard_webhooks",
            Self::Github => "github",
            Self::Stripe => "stripe",
            Self::Slack => "slack",
            Self::Shopify => "shopify",
            Self::Teams => "teams",
        }
    }

    /// Whether it needs a secret.
    #[must_use]
    pub const fn has_secret(self) -> bool {
        !matches!(self, Self::None)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a header, as it was written; the case never matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderName(Box<str>);

impl HeaderName {
    pub(super) fn known(name: &'static str) -> Self {
        Self(name.into())
    }

    pub(super) fn parse(name: &str) -> Result<Self, String> {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        match name.len() {
            0 => Err("is empty".to_owned()),
            1..=HEADER_NAME_BYTES_MAX if name.bytes().all(token) => Ok(Self(name.into())),
            1..=HEADER_NAME_BYTES_MAX => Err(format!("{name:?} is not the name of a header")),
            length => Err(format!(
                "has {length} bytes, at most {HEADER_NAME_BYTES_MAX} are allowed"
            )),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HeaderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the bytes of a signature are spelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Either; they differ in length.
    Auto,
    /// 64 digits of either case.
    Hex,
    /// Standard or URL-safe, padded or not.
    Base64,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Hex, Self::Base64];

    /// The word in the settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Hex => "hex",
            Self::Base64 => "base64",
        }
    }
}

/// What stands before each signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// `sha256=`, or nothing.
    Usual,
    /// This, or it is no signature of ours.
    Exactly(Box<str>),
}

impl Mark {
    /// What is written before a signature of our own.
    pub(super) fn written(&self) -> &str {
        match self {
            Self::Usual => Self::USUAL,
            Self::Exactly(mark) => mark,
        }
    }

    const USUAL: &'static str = "sha256=";

    /// The signature behind the mark.
    pub(super) fn strip<'a>(&self, item: &'a str) -> Option<&'a str> {
        match self {
            Self::Usual => Some(item.strip_prefix(Self::USUAL).unwrap_or(item)),
            Self::Exactly(mark) => item.strip_prefix(&**mark),
        }
    }
}

/// How several signatures stand in one header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// There is only one.
    One,
    /// With commas between them.
    Commas,
    /// With spaces between them.
    Spaces,
}

/// Where the time of signing stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// In a header of its own.
    Header(HeaderName),
    /// Beside the signatures, behind this mark.
    Signature(&'static str),
}

/// The time of signing and how far it may be away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) place: Place,
    pub(super) tolerance: Duration,
}

/// How a sender signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheme {
    pub(super) method: Method,
    pub(super) header: HeaderName,
    pub(super) list: List,
    pub(super) mark: Mark,
    pub(super) encoding: Encoding,
    pub(super) text: SignedText,
    pub(super) id: Option<HeaderName>,
    pub(super) window: Option<Window>,
}

impl Scheme {
    /// The default of the generic form.
    pub(super) fn generic() -> Self {
        Self {
            method: Method::Hmac,
            header: HeaderName::known("X-Signature"),
            list: List::Commas,
            mark: Mark::Usual,
            encoding: Encoding::Auto,
            text: SignedText::body(),
            id: None,
            window: None,
        }
    }

    /// The same for those who sign as one.
    #[must_use]
    pub fn of_sender(method: Method) -> Option<Self> {
        Self::preset(method)
    }

    /// What a known sender does; `None` for ways that are no known sender's.
    pub(super) fn preset(method: Method) -> Option<Self> {
        let window = |place| {
            Some(Window {
                place,
                tolerance: TOLERANCE_DEFAULT,
            })
        };
        let hex = Self {
            method,
            list: List::One,
            encoding: Encoding::Hex,
            ..Self::generic()
        };
        Some(match method {
            Method::None | Method::ApiKey | Method::Hmac => return None,
            Method::StandardWebhooks => Self {
                header: HeaderName::known("webhook-signature"),
                list: List::Spaces,
                mark: Mark::Exactly("v1,".into()),
                encoding: Encoding::Base64,
                text: SignedText::standard_webhooks(),
                id: Some(HeaderName::known("webhook-id")),
                window: window(Place::Header(HeaderName::known("webhook-timestamp"))),
                ..hex
            },
            Method::Github => Self {
                header: HeaderName::known("X-Hub-Signature-256"),
                mark: Mark::Exactly("sha256=".into()),
                ..hex
            },
            Method::Stripe => Self {
                header: HeaderName::known("Stripe-Signature"),
                list: List::Commas,
                mark: Mark::Exactly("v1=".into()),
                text: SignedText::stripe(),
                window: window(Place::Signature("t=")),
                ..hex
            },
            Method::Slack => Self {
                header: HeaderName::known("X-Slack-Signature"),
                mark: Mark::Exactly("v0=".into()),
                text: SignedText::slack(),
                window: window(Place::Header(HeaderName::known(
                    "X-Slack-Request-Timestamp",
                ))),
                ..hex
            },
            Method::Shopify => Self {
                header: HeaderName::known("X-Shopify-Hmac-Sha256"),
                mark: Mark::Exactly("".into()),
                encoding: Encoding::Base64,
                ..hex
            },
            Method::Teams => Self {
                header: HeaderName::known("Authorization"),
                mark: Mark::Exactly("HMAC ".into()),
                encoding: Encoding::Base64,
                ..hex
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_header_is_checked() {
        assert_eq!(
            HeaderName::parse("X-ServiceNow-Signature")
                .unwrap()
                .as_str(),
            "X-ServiceNow-Signature"
        );
        for (name, expected) in [
            ("", "is empty"),
            ("X Signature", "is not the name"),
            ("X-Signature:", "is not the name"),
            ("X-Signatür", "is not the name"),
            (&"x".repeat(65), "at most 64"),
        ] {
            let said = HeaderName::parse(name).expect_err(name);
            assert!(said.contains(expected), "{name}: {said}");
        }
    }
}
