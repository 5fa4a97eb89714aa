//! What holds for every body and every secret: what is signed is genuine, what is changed is not.

use proptest::prelude::*;

use super::*;

/// One of each way to sign, and the generic one in its spellings.
const SIGNED: [&str; 12] = [
    r#"{"authentication":"standard_webhooks"}"#,
    r#"{"authentication":"github"}"#,
    r#"{"authentication":"stripe"}"#,
    r#"{"authentication":"slack"}"#,
    r#"{"authentication":"shopify"}"#,
    r#"{"authentication":"teams"}"#,
    r#"{"authentication":"hmac"}"#,
    r#"{"authentication":"hmac","encoding":"base64"}"#,
    r#"{"authentication":"hmac","encoding":"hex","prefix":""}"#,
    r#"{"authentication":"hmac","prefix":"HMAC ","encoding":"base64","signature_header":"Authorization"}"#,
    r#"{"authentication":"hmac","signed_text":"a:{timestamp}:{body}:z","timestamp_header":"X-Time"}"#,
    r#"{"authentication":"api_key"}"#,
];

struct Genuine {
    settings: Settings,
    secrets: Secrets,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    at: Timestamp,
}

impl Genuine {
    fn new(way: usize, random: [u8; 32], at: i64, body: Vec<u8>) -> Self {
        let settings = settings(SIGNED[way]);
        let secret = Secret::from_random(&random, settings.authentication.method());
        let at = second(at);
        let headers = sign(&settings.authentication, Some(&secret), "msg_1", at, &body);
        Self {
            settings,
            secrets: Secrets::only(secret),
            headers,
            body,
            at,
        }
    }

    fn is_genuine(&self, headers: &[(String, Vec<u8>)], body: &[u8]) -> bool {
        let headers: Vec<(&str, &[u8])> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()))
            .collect();
        let secrets = Some(&self.secrets);
        verify(
            &self.settings.authentication,
            secrets,
            Headers(&headers),
            body,
            self.at,
        )
        .is_ok()
    }

    fn headers(&self) -> Vec<(String, Vec<u8>)> {
        let headers = self.headers.iter();
        headers
            .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_signed_is_genuine_and_only_that(
        way in 0..SIGNED.len(),
        random: [u8; 32],
        other: [u8; 32],
        at in 0_i64..4_000_000_000,
        body in proptest::collection::vec(any::<u8>(), 0..200),
        flip: prop::sample::Index,
        bit in 0..8_u32,
    ) {
        let genuine = Genuine::new(way, random, at, body);
        let headers = genuine.headers();
        prop_assert!(genuine.is_genuine(&headers, &genuine.body));
        // A bit of the body; a key in a header says nothing of the body.
        let signs_body = genuine.settings.authentication.method() != Method::ApiKey;
        if !genuine.body.is_empty() && signs_body {
            let mut body = genuine.body.clone();
            let place = flip.index(body.len());
            body[place] ^= 1 << bit;
            prop_assert!(!genuine.is_genuine(&headers, &body));
        }
        // Another secret.
        if other != random {
            let forged = Genuine::new(way, other, at, genuine.body.clone());
            prop_assert!(!genuine.is_genuine(&forged.headers(), &genuine.body));
        }
    }

    #[test]
    fn a_bit_of_a_header_matters_unless_it_spells_the_same(
        way in 0..SIGNED.len(),
        random: [u8; 32],
        at in 1_000_000_000_i64..4_000_000_000,
        which: prop::sample::Index,
        flip: prop::sample::Index,
        bit in 0..8_u32,
    ) {
        let genuine = Genuine::new(way, random, at, b"{}".to_vec());
        let mut headers = genuine.headers();
        let header = which.index(headers.len());
        let value = &mut headers[header].1;
        let place = flip.index(value.len());
        let before = value[place];
        value[place] ^= 1 << bit;
        let after = value[place];
        if genuine.is_genuine(&headers, b"{}") {
            // Hex digits may be of either case; nothing else has two spellings one bit apart.
            let spelling = before.is_ascii_hexdigit() && before.eq_ignore_ascii_case(&after);
            prop_assert!(spelling, "{:?} {:?}", char::from(before), char::from(after));
        }
    }

    #[test]
    fn no_header_and_no_body_panics(
        way in 0..SIGNED.len(),
        value in proptest::collection::vec(any::<u8>(), 0..80),
        body in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let genuine = Genuine::new(way, [1; 32], 0, Vec::new());
        let mut headers = genuine.headers();
        for header in &mut headers {
            header.1.clone_from(&value);
        }
        prop_assert!(!genuine.is_genuine(&headers, &body));
    }
}
