//! Webhooks: any settings are read or refused; what was read is written and read again as the same;
//! no header is taken for genuine but the one that was signed; filters and keys end.
//!
//! The first line is the settings, the second the value of every header that is read, and the rest
//! is the body.

use std::net::{IpAddr, Ipv4Addr};

use refire_core::time::Timestamp;
use refire_core::webhook::{
    Admission, Authentication, Headers, Request, Secret, Secrets, Settings, admit, headers, key,
    sign,
};

use super::first_line;

/// Headers that are all given the value of the second line.
const NAMES: [&str; 11] = [
    "x-signature",
    "x-api-key",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "x-hub-signature-256",
    "stripe-signature",
    "x-slack-request-timestamp",
    "x-slack-signature",
    "x-shopify-hmac-sha256",
    "authorization",
];

/// Further headers that are given it one at a time.
const OTHERS: [&str; 4] = [
    "content-type",
    "content-encoding",
    "idempotency-key",
    "x-forwarded-for",
];

/// Two lines and a body; what is missing is empty.
pub fn run(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n');
    let (head, rest) = data.split_at(at.map_or(data.len(), |at| at + 1));
    let end = rest.iter().position(|byte| *byte == b'\n');
    let (value, body) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
    let value = value.strip_suffix(b"\n").unwrap_or(value);
    let Ok(head) = std::str::from_utf8(head) else {
        return;
    };
    match Settings::parse(first_line(head).0) {
        Err(problems) => assert!(problems.iter().count() > 0),
        Ok(settings) => {
            let canonical = settings.to_json();
            let again = Settings::parse(canonical.as_str()).expect("what is written can be read");
            assert!(again == settings);
            assert_eq!(again.to_json(), canonical);
            ask(&settings, value, body);
        }
    }
}

fn ask(settings: &Settings, value: &[u8], body: &[u8]) {
    let canonical = settings.to_json();
    let canonical = canonical.as_str().as_bytes();
    // Another one for every input: the fuzzer reads what is compared, and would learn a fixed one.
    let random = key::body_hash(&[canonical, value, body].concat());
    let secret = Secret::from_random(&random, settings.authentication.method());
    let secrets = Secrets::only(secret.clone());
    let now = Timestamp::from_millis(1_614_265_330_000);
    let checked = !matches!(settings.authentication, Authentication::None);
    let judge = |headers: &[(&str, &[u8])]| {
        let request = Request {
            source: IpAddr::V4(Ipv4Addr::LOCALHOST),
            query: std::str::from_utf8(value).unwrap_or_default(),
            headers: Headers(headers),
            body,
        };
        let shown = headers::shown(settings, Some(&secrets), Headers(headers));
        let leaked = |(_, value): &(String, String)| value.contains(secret.reveal());
        assert!(!shown.headers.iter().any(leaked));
        let packed = headers::pack(Some(settings), Headers(headers));
        let unpacked = headers::unpack(&packed).expect("what is packed is unpacked");
        let admission = admit(settings, Some(&secrets), &request, now);
        let reason = admission.reason().unwrap_or_default();
        assert!(!reason.contains(secret.reveal()));
        // What was kept is judged as it was when it came.
        if unpacked.len() == headers.len() {
            let kept = Request {
                headers: Headers(&unpacked),
                ..request
            };
            let again = admit(settings, Some(&secrets), &kept, now);
            assert_eq!(again.status(), admission.status());
        }
        admission
    };
    let forged: Vec<(&str, &[u8])> = NAMES.iter().map(|name| (*name, value)).collect();
    let admission = judge(&forged);
    assert!(!checked || !matches!(admission, Admission::Start(_)));
    let signed = sign(&settings.authentication, Some(&secret), "msg_1", now, body);
    let genuine: Vec<(&str, &[u8])> = signed
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    assert!(!matches!(judge(&genuine), Admission::AuthFailed { .. }));
    for name in OTHERS {
        let mut headers = genuine.clone();
        headers.push((name, value));
        judge(&headers);
    }
}
