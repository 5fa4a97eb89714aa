//! Handshakes: what a sender asks to see whether somebody is there, before it sends anything.
//!
//! - Slack sends a signed body `{"type":"url_verification","challenge":"…"}` and wants the challenge
//!   back. It is answered only after the signature was right.
//! - Microsoft Graph (Teams, Outlook) sends `?validationToken=…` without a signature and wants the
//!   token back as plain text. It is answered before anything is checked, which gives nothing away:
//!   the answer is what the caller sent. So it must be asked for in the settings.

use percent_encoding::percent_decode_str;

use crate::json::{Json, Segment};

/// The longest challenge that is answered, in bytes.
pub const CHALLENGE_BYTES_MAX: usize = 4096;

/// The handshake of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    /// There is none.
    None,
    /// Slack's `url_verification`.
    Slack,
    /// Microsoft Graph's `validationToken`.
    MicrosoftGraph,
}

impl Challenge {
    /// Every handshake.
    pub const ALL: [Self; 3] = [Self::None, Self::Slack, Self::MicrosoftGraph];

    /// The word in the settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Slack => "slack",
            Self::MicrosoftGraph => "microsoft_graph",
        }
    }

    /// What is sent back as `text/plain`, to a question that is asked in the address and not signed.
    #[must_use]
    pub fn unsigned(self, query: &str) -> Option<String> {
        if self != Self::MicrosoftGraph {
            return None;
        }
        let token = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("validationToken="))?;
        let token = token.replace('+', " ");
        let token = percent_decode_str(&token).decode_utf8().ok()?;
        (!token.is_empty() && token.len() <= CHALLENGE_BYTES_MAX).then(|| token.into_owned())
    }

    /// What is sent back as `text/plain`, to a question that is asked in a verified body.
    #[must_use]
    pub fn signed(self, body: &Json) -> Option<String> {
        if self != Self::Slack {
            return None;
        }
        let field = |name: &str| body.at(&[Segment::Key(name.into())]);
        if field("type")?.as_text()? != "url_verification" {
            return None;
        }
        let challenge = field("challenge")?;
        let challenge = challenge.as_text()?;
        (challenge.len() <= CHALLENGE_BYTES_MAX).then(|| challenge.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_gets_its_challenge_back() {
        let ask = |text: &str| Challenge::Slack.signed(&Json::parse(text).unwrap());
        let whole = r#"{"token":"x","challenge":"3eZbrw1aB","type":"url_verification"}"#;
        assert_eq!(ask(whole).as_deref(), Some("3eZbrw1aB"));
        for text in [
            r#"{"type":"event_callback","challenge":"3eZbrw1aB"}"#,
            r#"{"type":"url_verification"}"#,
            r#"{"type":"url_verification","challenge":7}"#,
            r#"{"challenge":"x"}"#,
            "[]",
        ] {
            assert_eq!(ask(text), None, "{text}");
        }
        assert_eq!(Challenge::None.signed(&Json::parse(whole).unwrap()), None);
        assert_eq!(Challenge::Slack.unsigned("validationToken=x"), None);
    }

    #[test]
    fn graph_gets_its_token_back() {
        let ask = |query: &str| Challenge::MicrosoftGraph.unsigned(query);
        assert_eq!(
            ask("validationToken=Validation%3A+Testing%20client&x=1").as_deref(),
            Some("Validation: Testing client")
        );
        let long = format!("validationToken={}", "x".repeat(4097));
        for query in [
            "",
            "validationToken=",
            "token=x",
            "validationToken=%FF",
            &long,
        ] {
            assert_eq!(ask(query), None, "{query}");
        }
        assert_eq!(Challenge::None.unsigned("validationToken=x"), None);
    }
}
