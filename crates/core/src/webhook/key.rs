//! By what name a request is known, so that the same one sent again starts nothing.
//!
//! The first of these that is there:
//!
//! 1. the header `Idempotency-Key`, unless the sender signs a name of its own (Standard Webhooks,
//!    Stripe, Slack, Teams) or the trigger ignores it (`ignore_idempotency_header`). That header is not
//!    signed: whoever caught a request could send it again under any number of names;
//! 2. the trigger's `idempotency_paths`, if it has any: all of them together, and if one finds
//!    nothing there is no key. Nothing else is tried then;
//! 3. what the known sender gives each message: `webhook-id` (Standard Webhooks, signed),
//!    `X-GitHub-Delivery`, `X-Shopify-Webhook-Id`, Stripe's event `$.id`, Slack's `$.event_id`, the
//!    `$.conversation.id` and `$.id` of Teams. A delivery repeated by hand has the same id at GitHub,
//!    and so starts nothing;
//! 4. `$.idempotency_key`;
//! 5. `$.incident_id` together with the hash of the body: the id alone would swallow every later
//!    event of an incident.
//!
//! A value counts if it is a string, number or bool, and not empty. Without any of them every
//! request starts an execution; a hash of the body alone would swallow what is meant twice.

use sha2::{Digest, Sha256};

use super::request::{HeaderTrouble, Headers};
use super::scheme::Method;
use super::settings::Settings;
use super::signature::hex;
use crate::json::{ArrayBuilder, Json, Kind, Segment};
use crate::jsonpath::{JsonPath, Search};

/// Characters of a key. What is longer in a header is refused; what is longer in a body is hashed.
pub const KEY_CHARS_MAX: usize = 255;
/// The longest header that is looked at, in bytes.
const KEY_HEADER_BYTES_MAX: usize = 4 * KEY_CHARS_MAX;

/// The name of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The name, at most [`KEY_CHARS_MAX`] characters.
    pub text: String,
    /// The sender chose it; so another body under it is worth a word. Else the body is part of it.
    pub explicit: bool,
    /// Where it was found: a header, the field `idempotency_paths`, or a place in the body.
    pub from: &'static str,
}

/// The hash by which bodies under one key are told apart.
#[must_use]
pub fn body_hash(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// Finds the name of a request.
///
/// # Errors
/// When the header cannot be a key, or a path would be too costly for the body.
pub fn find(
    settings: &Settings,
    headers: Headers<'_>,
    body: &Json,
    hash: &[u8; 32],
    search: &mut Search<'_>,
) -> Result<Option<Key>, String> {
    let method = settings.authentication.method();
    let is_ignored = settings.ignore_idempotency_header || signs_names(method);
    if !is_ignored && headers.has("idempotency-key") {
        let text = header_key(headers)?;
        return Ok(Some(explicit(text, "Idempotency-Key")));
    }
    if !settings.idempotency_paths.is_empty() {
        let found = from_paths(&settings.idempotency_paths, body, search)?;
        return Ok(found.map(|text| explicit(text, "idempotency_paths")));
    }
    let own = || Some((scalar(body, "idempotency_key")?, "$.idempotency_key"));
    let found = of_sender(method, headers, body).or_else(own);
    let found = found.map(|(text, from)| explicit(text, from));
    Ok(found.or_else(|| {
        let incident = scalar(body, "incident_id")?;
        Some(Key {
            text: bounded(format!("{incident}#{}", hex(hash))),
            explicit: false,
            from: "$.incident_id",
        })
    }))
}

/// Whether what the sender calls a message is part of what it signs.
fn signs_names(method: Method) -> bool {
    match method {
        Method::StandardWebhooks | Method::Stripe | Method::Slack | Method::Teams => true,
        Method::None | Method::ApiKey | Method::Hmac | Method::Github | Method::Shopify => false,
    }
}

fn explicit(text: String, from: &'static str) -> Key {
    Key {
        text: bounded(text),
        explicit: true,
        from,
    }
}

fn header_key(headers: Headers<'_>) -> Result<String, String> {
    let refuse = |what: &str| Err(format!("the header Idempotency-Key {what}"));
    let mut values = headers.all("idempotency-key");
    let value = values.next().unwrap_or_default();
    if values.next().is_some() {
        return refuse(&HeaderTrouble::Repeated.to_string());
    }
    if value.len() > KEY_HEADER_BYTES_MAX {
        return refuse("has more than 255 characters");
    }
    match std::str::from_utf8(value) {
        Err(_) => refuse("is not UTF-8"),
        Ok(key) => match key.chars().count() {
            0 => refuse("is empty"),
            1..=KEY_CHARS_MAX => Ok(key.to_owned()),
            _ => refuse("has more than 255 characters"),
        },
    }
}

/// What a known sender calls the message, and where that stands; a header that cannot be read is none.
fn of_sender(method: Method, headers: Headers<'_>, body: &Json) -> Option<(String, &'static str)> {
    let header = |name: &'static str| {
        let value = headers.one(name, KEY_HEADER_BYTES_MAX).ok()?;
        (!value.is_empty()).then(|| (value.to_owned(), name))
    };
    match method {
        Method::StandardWebhooks => header("webhook-id").or_else(|| header("svix-id")),
        Method::Github => header("X-GitHub-Delivery"),
        Method::Shopify => header("X-Shopify-Webhook-Id"),
        Method::Stripe => Some((scalar(body, "id")?, "$.id")),
        Method::Slack => Some((scalar(body, "event_id")?, "$.event_id")),
        // A message's id is a time, and one only within its conversation.
        Method::Teams => {
            let conversation = body.at(&["conversation", "id"].map(|key| Segment::Key(key.into())));
            let conversation = conversation.and_then(|id| usable(&id)).unwrap_or_default();
            let name = joined(&[conversation, scalar(body, "id")?]);
            Some((name, "$.conversation.id, $.id"))
        }
        Method::None | Method::ApiKey | Method::Hmac => None,
    }
}

/// The value of a field of the body, if it can be a name.
fn scalar(body: &Json, name: &str) -> Option<String> {
    usable(&body.at(&[Segment::Key(name.into())])?)
}

fn usable(value: &Json) -> Option<String> {
    let text = match value.kind() {
        Kind::String => value.as_text()?.into_owned(),
        Kind::Number | Kind::Bool => value.as_str().to_owned(),
        Kind::Null | Kind::Array | Kind::Object => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The values of all paths: one as it is, several as a JSON list, so that no two lists look alike.
fn from_paths(
    paths: &[JsonPath],
    body: &Json,
    search: &mut Search<'_>,
) -> Result<Option<String>, String> {
    let mut values = Vec::with_capacity(paths.len());
    for path in paths {
        let found = search.matches(path).map_err(|error| error.to_string())?;
        let first = found.into_iter().next();
        let value = first.and_then(|range| usable(&Json::trusted(&body.as_str()[range])));
        match value {
            Some(value) => values.push(value),
            None => return Ok(None),
        }
    }
    Ok(match values.as_slice() {
        [one] => Some(one.clone()),
        several => Some(joined(several)),
    })
}

/// Several values as a JSON list, so that no two lists look alike.
fn joined(values: &[String]) -> String {
    let mut list = ArrayBuilder::new();
    for value in values {
        list.push(&Json::string(value));
    }
    list.build().as_str().to_owned()
}

/// A name that is too long stands for itself by its hash.
fn bounded(text: String) -> String {
    if text.chars().count() <= KEY_CHARS_MAX {
        return text;
    }
    format!("sha256:{}", hex(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(settings: &str, headers: &[(&str, &str)], body: &str) -> Result<Option<Key>, String> {
        let settings = Settings::parse(settings).unwrap();
        let headers: Vec<(&str, &[u8])> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()))
            .collect();
        let json = Json::parse(body).unwrap();
        let hash = body_hash(body.as_bytes());
        find(
            &settings,
            Headers(&headers),
            &json,
            &hash,
            &mut Search::new(&json),
        )
    }

    fn text(settings: &str, headers: &[(&str, &str)], body: &str) -> Option<String> {
        ask(settings, headers, body).unwrap().map(|key| key.text)
    }

    const NONE: &str = r#"{"authentication":"none"}"#;

    #[test]
    fn the_header_comes_first() {
        let body = r#"{"idempotency_key":"body"}"#;
        assert_eq!(
            text(NONE, &[("idempotency-KEY", "ä 1")], body).as_deref(),
            Some("ä 1")
        );
        let long = "x".repeat(256);
        for (headers, expected) in [
            (vec![("Idempotency-Key", "")], "is empty"),
            (
                vec![("Idempotency-Key", long.as_str())],
                "more than 255 characters",
            ),
            (
                vec![("Idempotency-Key", "a"), ("idempotency-key", "a")],
                "more than once",
            ),
        ] {
            let error = ask(NONE, &headers, body).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let pairs: [(&str, &[u8]); 1] = [("Idempotency-Key", b"\xff")];
        assert!(header_key(Headers(&pairs)).unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn a_header_that_is_not_signed_does_not_go_over_a_name_that_is() {
        let other = ("Idempotency-Key", "another");
        for (settings, header, body, expected) in [
            (
                r#"{"authentication":"standard_webhooks"}"#,
                ("webhook-id", "msg_1"),
                "{}",
                Some("msg_1"),
            ),
            (
                r#"{"authentication":"stripe"}"#,
                ("x", "y"),
                r#"{"id":"evt_1"}"#,
                Some("evt_1"),
            ),
            (
                r#"{"authentication":"slack","idempotency_paths":["$.a"]}"#,
                ("x", "y"),
                r#"{"event_id":"Ev08","a":"b"}"#,
                Some("b"),
            ),
            (r#"{"authentication":"slack"}"#, ("x", "y"), "{}", None),
            // Its own name is in a header as well.
            (
                r#"{"authentication":"github"}"#,
                ("X-GitHub-Delivery", "72d3162e"),
                "{}",
                Some("another"),
            ),
        ] {
            let found = text(settings, &[other, header], body);
            assert_eq!(found.as_deref(), expected, "{settings}");
        }
    }

    #[test]
    fn a_header_that_is_ignored_names_nothing() {
        let signed = r#"{"authentication":"hmac","idempotency_paths":["$.a"],
            "ignore_idempotency_header":true}"#;
        let body = r#"{"a":"INC1"}"#;
        for key in ["one", "another", ""] {
            let found = text(signed, &[("Idempotency-Key", key)], body);
            assert_eq!(found.as_deref(), Some("INC1"), "{key}");
        }
        // Unless it is said, the header counts as before.
        let default = r#"{"authentication":"hmac","idempotency_paths":["$.a"]}"#;
        let found = text(default, &[("Idempotency-Key", "one")], body);
        assert_eq!(found.as_deref(), Some("one"));
        // Without paths the rest counts as if it were not there.
        let usual = r#"{"authentication":"github","ignore_idempotency_header":true}"#;
        let headers = [
            ("Idempotency-Key", "one"),
            ("X-GitHub-Delivery", "72d3162e"),
        ];
        assert_eq!(text(usual, &headers, "{}").as_deref(), Some("72d3162e"));
    }

    #[test]
    fn without_paths_the_usual_fields_count() {
        for (body, expected) in [
            (r#"{"idempotency_key":"k","incident_id":"i"}"#, Some("k")),
            (r#"{"idempotency_key":7}"#, Some("7")),
            (r#"{"idempotency_key":null}"#, None),
            (r#"{"idempotency_key":""}"#, None),
            (r#"{"idempotency_key":{"a":1}}"#, None),
            ("{}", None),
            ("[1]", None),
        ] {
            assert_eq!(text(NONE, &[], body).as_deref(), expected, "{body}");
        }
        // The same incident with another body is another event.
        let [one, two] = [
            r#"{"incident_id":"INC1","n":1}"#,
            r#"{"incident_id":"INC1","n":2}"#,
        ]
        .map(|body| ask(NONE, &[], body).unwrap().unwrap());
        assert!(one.text.starts_with("INC1#") && !one.explicit);
        assert_ne!(one, two);
        assert!(
            ask(NONE, &[("Idempotency-Key", "a")], "{}")
                .unwrap()
                .unwrap()
                .explicit
        );
    }

    #[test]
    fn paths_are_joined_so_that_no_two_look_alike() {
        let two = r#"{"authentication":"none","idempotency_paths":["$.a","$.b.c"]}"#;
        let key = |body: &str| text(two, &[], body);
        let one = key(r#"{"a":"x","b":{"c":"y\",\"z"}}"#);
        assert_eq!(one.as_deref(), Some(r#"["x","y\",\"z"]"#));
        assert_ne!(one, key(r#"{"a":"x\",\"y","b":{"c":"z"}}"#));
        // Another spelling of the same values is the same key.
        assert_eq!(
            key(r#"{"a":"\u0078","b":{"c":"q"}}"#),
            key(r#"{"b":{"c":"q"},"a":"x"}"#)
        );
        // What was asked for and is not there is not replaced by something else.
        assert_eq!(key(r#"{"a":"x","idempotency_key":"k"}"#), None);
        let single = r#"{"authentication":"none","idempotency_paths":["$.a"]}"#;
        assert_eq!(
            text(single, &[], r#"{"a":"INC1"}"#).as_deref(),
            Some("INC1")
        );
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(300));
        let hashed = text(single, &[], &long).unwrap();
        assert!(
            hashed.starts_with("sha256:") && hashed.len() == 71,
            "{hashed}"
        );
    }

    /// Stored names depend on it: a number counts as it is written, and as the text of the same
    /// characters.
    #[test]
    fn a_number_is_the_name_that_it_is_written_as() {
        let paths = r#"{"authentication":"none","idempotency_paths":["$.a"]}"#;
        let plain = r#"{"authentication":"none"}"#;
        for (value, expected) in [
            ("1", "1"),
            (r#""1""#, "1"),
            ("1.0", "1.0"),
            ("1e0", "1e0"),
            (r#""1.0""#, "1.0"),
            ("true", "true"),
            (r#""true""#, "true"),
        ] {
            let at_path = text(paths, &[], &format!(r#"{{"a":{value}}}"#));
            let in_field = text(plain, &[], &format!(r#"{{"idempotency_key":{value}}}"#));
            assert_eq!(at_path.as_deref(), Some(expected), "{value}");
            assert_eq!(in_field.as_deref(), Some(expected), "{value}");
        }
        let header = text(plain, &[("Idempotency-Key", "1")], "{}");
        assert_eq!(header.as_deref(), Some("1"), "a header has the same names");
        let two = r#"{"authentication":"none","idempotency_paths":["$.a","$.b"]}"#;
        let both = |body: &str| text(two, &[], body);
        assert_eq!(both(r#"{"a":1,"b":2}"#), both(r#"{"a":"1","b":"2"}"#));
        assert_ne!(both(r#"{"a":1,"b":2}"#), both(r#"{"a":1.0,"b":2}"#));
    }

    #[test]
    fn known_senders_name_their_messages() {
        for (method, header, body, expected) in [
            (
                "standard_webhooks",
                ("webhook-id", "msg_1"),
                "{}",
                Some("msg_1"),
            ),
            (
                "standard_webhooks",
                ("svix-id", "msg_2"),
                "{}",
                Some("msg_2"),
            ),
            (
                "github",
                ("X-GitHub-Delivery", "72d3162e"),
                "{}",
                Some("72d3162e"),
            ),
            (
                "shopify",
                ("X-Shopify-Webhook-Id", "b54"),
                "{}",
                Some("b54"),
            ),
            ("stripe", ("x", "y"), r#"{"id":"evt_1"}"#, Some("evt_1")),
            ("slack", ("x", "y"), r#"{"event_id":"Ev08"}"#, Some("Ev08")),
            ("slack", ("x", "y"), r#"{"idempotency_key":"k"}"#, Some("k")),
            (
                "teams",
                ("Idempotency-Key", "not signed"),
                r#"{"id":"1485983408511","conversation":{"id":"19:a@thread"}}"#,
                Some(r#"["19:a@thread","1485983408511"]"#),
            ),
            ("teams", ("x", "y"), r#"{"id":"1"}"#, Some(r#"["","1"]"#)),
            (
                "teams",
                ("x", "y"),
                r#"{"conversation":{"id":"19:a"}}"#,
                None,
            ),
            ("github", ("x", "y"), "{}", None),
            ("none", ("webhook-id", "msg_1"), "{}", None),
        ] {
            let settings = format!(r#"{{"authentication":"{method}"}}"#);
            assert_eq!(
                text(&settings, &[header], body).as_deref(),
                expected,
                "{method}"
            );
        }
    }
}
