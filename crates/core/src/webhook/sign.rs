//! Signing as a sender would: for the tester, and for commands to try a webhook with.

use hmac::Mac;

use super::scheme::{Place, Scheme};
use super::secret::Secret;
use super::settings::Authentication;
use super::signature;
use super::signed_text::Values;
use super::verify::mac;
use crate::time::Timestamp;

/// The headers that make a request genuine, in the spelling that is usual for its sender. `id` is
/// the name of the message, for senders that give it one; it must not contain a dot.
#[must_use]
pub fn sign(
    authentication: &Authentication,
    secret: Option<&Secret>,
    id: &str,
    at: Timestamp,
    body: &[u8],
) -> Vec<(String, String)> {
    match (authentication, secret) {
        (Authentication::None, _) | (_, None) => Vec::new(),
        (Authentication::ApiKey { header }, Some(secret)) => {
            let bearer = header.as_str().eq_ignore_ascii_case("authorization");
            let scheme = if bearer { "Bearer " } else { "" };
            vec![(header.to_string(), format!("{scheme}{}", secret.reveal()))]
        }
        (Authentication::Signed(scheme), Some(secret)) => signed(scheme, secret, id, at, body),
    }
}

fn signed(
    scheme: &Scheme,
    secret: &Secret,
    id: &str,
    at: Timestamp,
    body: &[u8],
) -> Vec<(String, String)> {
    let timestamp = at.as_millis().div_euclid(1_000).to_string();
    let values = Values {
        timestamp: &timestamp,
        id,
        body,
    };
    let code = mac(scheme, secret, values).map(|mac| mac.finalize().into_bytes());
    let encoded = signature::encode(scheme.encoding, &code.unwrap_or_default());
    let mut value = format!("{}{encoded}", scheme.mark.written());
    let mut headers = Vec::new();
    if let Some(name) = &scheme.id {
        headers.push((name.to_string(), id.to_owned()));
    }
    match scheme.window.as_ref().map(|window| &window.place) {
        Some(Place::Header(name)) => headers.push((name.to_string(), timestamp)),
        Some(Place::Signature(mark)) => value = format!("{mark}{timestamp},{value}"),
        None => {}
    }
    headers.push((scheme.header.to_string(), value));
    headers
}
