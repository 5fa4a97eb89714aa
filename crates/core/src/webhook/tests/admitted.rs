//! The order of the stations, two secrets, handshakes, and a second look at what was refused.

use super::*;

const SECRET: &str = "current-current-current-current";
const OLD: &str = "former-former-former-former";

fn rotating(until: i64) -> Secrets {
    Secrets {
        current: Secret::new(SECRET, Method::Hmac).unwrap(),
        previous: Some(Previous {
            secret: Secret::new(OLD, Method::Hmac).unwrap(),
            until: second(until),
        }),
    }
}

fn signature(secret: &str, body: &[u8]) -> String {
    let hmac = settings(r#"{"authentication":"hmac"}"#);
    let secret = Secret::new(secret, Method::Hmac).unwrap();
    sign(&hmac.authentication, Some(&secret), "", second(0), body)[0]
        .1
        .clone()
}

#[test]
fn the_former_secret_counts_until_its_end() {
    let hmac = settings(r#"{"authentication":"hmac"}"#);
    let secrets = rotating(1_000);
    let ask = |secret: &str, now| {
        let signature = signature(secret, b"{}");
        judge(
            &hmac,
            Some(&secrets),
            &[("X-Signature", &signature)],
            b"{}",
            now,
        )
    };
    assert!(!started(ask(SECRET, second(999))).previous_secret);
    assert!(!started(ask(SECRET, second(2_000))).previous_secret);
    assert!(started(ask(OLD, second(999))).previous_secret);
    for now in [second(1_000), second(5_000)] {
        let reason = forged(ask(OLD, now));
        assert!(
            reason.contains("previous secret, which expired at 1970-01-01T00:16:40"),
            "{reason}"
        );
        assert!(!reason.contains(OLD), "{reason}");
    }
    let reason = forged(ask("another-another-another-another", second(999)));
    assert_eq!(
        reason,
        "the signature does not match the body and the secret"
    );
}

#[test]
fn a_key_that_is_sent_as_it_is_is_called_a_key() {
    let keyed = settings(r#"{"authentication":"api_key"}"#);
    let secrets = rotating(1_000);
    let ask = |key: &str| {
        let headers = [("X-API-Key", key)];
        forged(judge(
            &keyed,
            Some(&secrets),
            &headers,
            b"{}",
            second(1_000),
        ))
    };
    let reason = ask(OLD);
    assert!(
        reason.starts_with("it is the previous key, which expired at 1970-"),
        "{reason}"
    );
    let reason = ask("another-another-another-another");
    assert_eq!(reason, "the key is wrong");
}

#[test]
fn a_webhook_without_its_secret_trusts_nobody() {
    for word in ["hmac", "api_key", "github"] {
        let settings = settings(&format!(r#"{{"authentication":"{word}"}}"#));
        let judged = judge(&settings, None, &[("X-API-Key", "")], b"{}", second(0));
        assert_eq!(forged(judged), "this webhook has no secret");
    }
    let none = settings(r#"{"authentication":"none"}"#);
    started(judge(&none, None, &[], b"{}", second(0)));
}

#[test]
fn the_first_station_that_refuses_has_the_last_word() {
    let strict = settings(
        r#"{"authentication":"hmac","ip_allow":["127.0.0.0/8"],
            "filters":[{"json_path":"$.a","operator":"equals","value":1}]}"#,
    );
    let elsewhere = settings(r#"{"authentication":"hmac","ip_allow":["10.0.0.0/8"]}"#);
    let secrets = rotating(0);
    let ask = |settings: &Settings, kind: &str, body: &[u8], genuine: bool, key: &str| {
        let signature = signature(if genuine { SECRET } else { OLD }, body);
        let headers = [
            ("Content-Type", kind),
            ("X-Signature", &signature),
            ("Idempotency-Key", key),
        ];
        judge(settings, Some(&secrets), &headers, body, second(1))
    };
    let json = "application/json";
    // Each line is right in one thing more than the one before it.
    for (admission, status, http, expected) in [
        (
            ask(&elsewhere, "text/html", b"<", false, ""),
            RequestStatus::IpRefused,
            403,
            "127.0.0.1",
        ),
        (
            ask(&strict, "text/html", b"<", false, ""),
            RequestStatus::AuthFailed,
            401,
            "previous secret",
        ),
        (
            ask(&strict, "text/html", b"<", true, ""),
            RequestStatus::Error,
            415,
            "text/html",
        ),
        (
            ask(&strict, json, b"<", true, ""),
            RequestStatus::Error,
            400,
            "line 1, column 1",
        ),
        (
            ask(&strict, json, br#"{"a":2}"#, true, ""),
            RequestStatus::Filtered,
            200,
            "filter 1 ($.a equals 1): the value is 2",
        ),
        (
            ask(&strict, json, br#"{"a":1}"#, true, ""),
            RequestStatus::Error,
            400,
            "Idempotency-Key is empty",
        ),
    ] {
        assert_eq!(
            (admission.status(), admission.http_status()),
            (status, http),
            "{admission:?}"
        );
        let reason = admission.reason().unwrap();
        assert!(reason.contains(expected), "{reason}");
    }
    let admission = ask(&strict, json, br#"{"a":1}"#, true, "k");
    assert_eq!(
        (admission.status(), admission.http_status()),
        (RequestStatus::Triggered, 200)
    );
    assert_eq!(admission.reason(), None);
    let started = started(admission);
    assert_eq!(started.body_hash, key::body_hash(br#"{"a":1}"#));
    let expected = Key {
        text: "k".to_owned(),
        explicit: true,
        from: "Idempotency-Key",
    };
    assert_eq!(started.key, Some(expected));
}

#[test]
fn handshakes_start_nothing() {
    let slack = settings(r#"{"authentication":"slack"}"#);
    let secrets = secrets(SECRET, Method::Slack);
    let body = br#"{"type":"url_verification","challenge":"abc"}"#;
    let signed = sign(
        &slack.authentication,
        Some(&secrets.current),
        "",
        second(0),
        body,
    );
    let headers: Vec<(&str, &str)> = signed
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let answered = judge(&slack, Some(&secrets), &headers, body, second(0));
    let answer = "abc".to_owned();
    assert_eq!(answered, Admission::Challenge { answer });
    assert_eq!(
        (answered.status(), answered.http_status()),
        (RequestStatus::Filtered, 200)
    );
    // Only to Slack itself.
    forged(judge(
        &slack,
        Some(&secrets),
        &headers[..1],
        body,
        second(0),
    ));

    let graph = settings(r#"{"authentication":"hmac","challenge":"microsoft_graph"}"#);
    let request = Request {
        source: IpAddr::V4(Ipv4Addr::LOCALHOST),
        query: "validationToken=a%20b",
        headers: Headers(&[]),
        body: b"",
    };
    let answer = "a b".to_owned();
    assert_eq!(
        admit(&graph, Some(&secrets), &request, second(0)),
        Admission::Challenge { answer }
    );
    let hmac = settings(r#"{"authentication":"hmac"}"#);
    forged(admit(&hmac, Some(&secrets), &request, second(0)));
}

#[test]
fn what_was_refused_can_be_judged_again() {
    let stripe = settings(r#"{"authentication":"stripe"}"#);
    let right = secrets(SECRET, Method::Stripe);
    let wrong = secrets(OLD, Method::Stripe);
    let signed = sign(
        &stripe.authentication,
        Some(&right.current),
        "",
        second(0),
        b"{}",
    );
    let headers: Vec<(&str, &[u8])> = signed
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let packed = headers::pack(Some(&stripe), Headers(&headers));
    let headers = headers::unpack(&packed).unwrap();
    let request = Request {
        source: IpAddr::V4(Ipv4Addr::LOCALHOST),
        query: "",
        headers: Headers(&headers),
        body: b"{}",
    };
    forged(admit(&stripe, Some(&wrong), &request, second(0)));
    // A day later the secret is mended, and the request is as old as it is.
    forged(admit(&stripe, Some(&right), &request, second(86_400)));
    started(admit(&stripe, Some(&right), &request, second(0)));
    forged(admit(&stripe, Some(&wrong), &request, second(0)));
    // It was old when it came, and stays so unless the trigger is told to bear that.
    forged(admit(&stripe, Some(&right), &request, second(900)));
    let patient = settings(r#"{"authentication":"stripe","tolerance":"1h"}"#);
    started(admit(&patient, Some(&right), &request, second(900)));
}
