//! Settings: what is read, what is refused, and what is written back.

use super::*;
use crate::definition::Problem;
use crate::webhook::Encoding;

fn read(text: &str) -> Result<Settings, Vec<Problem>> {
    Settings::parse(text).map_err(|problems| problems.into_iter().collect())
}

fn refused(text: &str) -> Vec<String> {
    let problems = read(text).expect_err(text);
    problems.iter().map(ToString::to_string).collect()
}

fn signed(settings: &Settings) -> &Scheme {
    match &settings.authentication {
        Authentication::Signed(scheme) => scheme,
        other => panic!("{other:?}"),
    }
}

#[test]
fn defaults_are_the_documented_ones() {
    let hmac = read(r#"{"trigger_type":"webhook","authentication":"hmac","secret":null}"#).unwrap();
    let scheme = signed(&hmac);
    assert_eq!(scheme.header.as_str(), "X-Signature");
    assert_eq!(scheme.encoding, Encoding::Auto);
    assert_eq!(hmac.idempotency_window, Duration::from_secs(604_800));
    assert_eq!(hmac.challenge, Challenge::None);
    let key = read(r#"{"authentication":"api_key"}"#).unwrap();
    let header = HeaderName::known("X-API-Key");
    assert_eq!(key.authentication, Authentication::ApiKey { header });
    let slack = read(r#"{"authentication":"slack"}"#).unwrap();
    assert_eq!(slack.challenge, Challenge::Slack);
    let none = read(r#"{"authentication":"none","rate_limit":20}"#).unwrap();
    let limit = RateLimit {
        per_second: 20,
        burst: 20,
    };
    assert_eq!(none.rate_limit, Some(limit));
}

#[test]
fn what_is_written_reads_back_as_the_same() {
    for text in [
        r#"{"authentication":"none","idempotency_window":"1w"}"#,
        r#"{"authentication":"api_key","signature_header":"X-Key","idempotency_window":"1h"}"#,
        r#"{"authentication":"hmac","signature_header":"X-Signature","encoding":"auto","signed_text":"{body}","idempotency_window":"1w"}"#,
        r#"{"authentication":"hmac","signature_header":"X-Sig","prefix":"","encoding":"base64","signed_text":"{timestamp}.{body}","timestamp_header":"X-Time","tolerance":"1m","idempotency_window":"1w"}"#,
        r#"{"authentication":"standard_webhooks","tolerance":"5m","idempotency_window":"1w"}"#,
        r#"{"authentication":"github","idempotency_window":"1w"}"#,
        r#"{"authentication":"stripe","tolerance":"10m","idempotency_window":"1w"}"#,
        r#"{"authentication":"slack","tolerance":"5m","idempotency_window":"1w","challenge":"slack"}"#,
        r#"{"authentication":"slack","tolerance":"5m","idempotency_window":"1w","challenge":"none"}"#,
        r#"{"authentication":"shopify","idempotency_window":"1w"}"#,
        r#"{"authentication":"none","filters":[{"json_path":"$.a","operator":"equals","value":12345678901234567890123},{"json_path":"$..b","operator":"exists"},{"json_path":"$.c","operator":"equals","value":null}],"idempotency_paths":["$.a","$['b c']"],"idempotency_window":"90s","ip_allow":["10.0.0.0/8","::1/128"],"rate_limit":{"per_second":50,"burst":100},"challenge":"microsoft_graph"}"#,
    ] {
        let settings = read(text).unwrap();
        let written = settings.to_json();
        let expected = text.replace("\"90s\"", "\"1m30s\"");
        assert_eq!(written.as_str(), expected);
        assert_eq!(read(written.as_str()).unwrap(), settings);
    }
}

#[test]
fn what_is_left_out_is_written_with_its_default() {
    let settings = read(
        r#"{"authentication":"hmac","signed_text":"v1:{timestamp}:{body}","timestamp_header":"X-T",
            "idempotency_window":86400,"ip_allow":["192.0.2.1"],"filters":[],"challenge":"none"}"#,
    );
    assert_eq!(
        settings.unwrap().to_json().as_str(),
        r#"{"authentication":"hmac","signature_header":"X-Signature","encoding":"auto","signed_text":"v1:{timestamp}:{body}","timestamp_header":"X-T","tolerance":"5m","idempotency_window":"1d","ip_allow":["192.0.2.1/32"]}"#
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let said = refused(
        r#"{"authentication":"hmacc","signature_header":"X Y","idempotency_window":"1s",
            "filter":[],"ip_allow":["10.0.0.1/8",7],"rate_limit":0,"challenge":"slak",
            "filters":[{"json_path":"a","operator":"equal","value":1},{"operator":"in","value":[]},7],
            "idempotency_paths":["$.a","$["]}"#,
    );
    let expected = [
        ("authentication (line 1):", "did you mean \"hmac\"?"),
        ("idempotency_window (line 1):", "not between 1m and 90d"),
        ("filter (line 2):", "did you mean \"filters\"?"),
        ("ip_allow[0] (line 2):", "write 10.0.0.0/8 or 10.0.0.1"),
        ("ip_allow[1] (line 2):", "expected a string, found a number"),
        ("rate_limit (line 2):", "whole number from 1 to 1000000"),
        ("challenge (line 2):", "did you mean \"slack\"?"),
        ("filters[0].json_path (line 3):", "must begin with `$`"),
        ("filters[0].operator (line 3):", "did you mean \"equals\"?"),
        ("filters[1].json_path (line 3):", "is required"),
        ("filters[1].value (line 3):", "is empty"),
        ("filters[2] (line 3):", "expected a mapping"),
        ("idempotency_paths[1] (line 4):", "is not a JSONPath"),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, (field, reason)) in said.iter().zip(expected) {
        assert!(
            said.starts_with(field) && said.contains(reason),
            "{said}: {field} {reason}"
        );
    }
}

/// Settings, the field that is wrong, and a part of the reason.
const WRONG: &str = r#"
{} => authentication => is missing; it says how requests are checked ("none" = not at all): one of none, api_key, hmac,
{"authentication":null} => authentication => is missing
{"authentication":7} => authentication => expected a string
{"authentication":"NONE"} => authentication => did you mean "none"
{"authentication":"none","ip_allow":[],"ipAllow":[]} => ipAllow => are the same key
{"authentication":"none","signature_header":"X"} => signature_header => has no effect
{"authentication":"none","tolerance":"5m"} => tolerance => has no effect
{"authentication":"github","signature_header":"X-Y"} => signature_header => X-Hub-Signature-256
{"authentication":"github","tolerance":"5m"} => tolerance => signs no time
{"authentication":"api_key","tolerance":"5m"} => tolerance => signs no time
{"authentication":"api_key","signature_header":""} => signature_header => is empty
{"authentication":"stripe","prefix":"x"} => prefix => only for "hmac"
{"authentication":"stripe","tolerance":"0s"} => tolerance => between 1s and 1d
{"authentication":"stripe","tolerance":"2d"} => tolerance => between 1s and 1d
{"authentication":"stripe","tolerance":"soon"} => tolerance => not a duration
{"authentication":"stripe","tolerance":[]} => tolerance => expected a duration
{"authentication":"hmac","tolerance":"5m"} => tolerance => without `timestamp_header`
{"authentication":"hmac","timestamp_header":"X-T"} => timestamp_header => anybody could change
{"authentication":"hmac","signed_text":"{timestamp}{body}","timestamp_header":"x-signature"} => timestamp_header => of the signature itself
{"authentication":"hmac","signed_text":"{timestamp}{body}"} => timestamp_header => is missing
{"authentication":"hmac","signed_text":"{bod}"} => signed_text => did you mean
{"authentication":"hmac","signed_text":"{bod}","timestamp_header":"X-T","tolerance":"5m"} => signed_text => did you mean
{"authentication":"hmac","encoding":"hexx"} => encoding => did you mean "hex"
{"authentication":"hmac","prefix":"a,"} => prefix => without a comma
{"authentication":"hmac","prefix":" a"} => prefix => a space at its start
{"authentication":"hmac","prefix":"sha256=sha256=sha256=sha256=sha256="} => prefix => at most 32
{"authentication":"none","rate_limit":1.5} => rate_limit => whole number
{"authentication":"none","rate_limit":-1} => rate_limit => whole number
{"authentication":"none","rate_limit":"9"} => rate_limit => expected a number or {"per_second": 50
{"authentication":"none","rate_limit":{"burst":9}} => rate_limit.per_second => is required
{"authentication":"none","rate_limit":{"per_second":1,"bursts":9}} => rate_limit.bursts => did you mean "burst"
{"authentication":"none","ip_allow":"::1"} => ip_allow => expected a list
{"authentication":"none","secrets":"x"} => secrets => did you mean "secret"
{"authentication":"none","filters":[{"json_path":"$..*..*..*","operator":"exists"}]} => filters[0].json_path => too costly
{"authentication":"none","filters":[{"json_path":"$.a","operator":"exists","op":"exists"}]} => filters[0].op => did you mean "operator"
{"authentication":"none","filters":[{"path":"$.b","json_path":"$.a","operator":"exists"}]} => filters[0].path => did you mean "json_path"
{"authentication":"none","auth":"hmac"} => auth => did you mean "authentication"
{"authentication":"none","filters":[{"json_path":"$.a","operator":"in","value":"a"}]} => filters[0].value => such as ["a", "b"]
"#;

#[test]
fn each_field_is_checked() {
    for line in WRONG.lines().filter(|line| !line.is_empty()) {
        let parts: Vec<&str> = line.split(" => ").collect();
        wrong(parts[0], parts[1], parts[2]);
    }
    let open = |count| format!("$[?{}@.a{}]", "(".repeat(count), ")".repeat(count));
    for (path, reason) in [(open(5_000), "too costly"), (open(100), "deeper than 32")] {
        let text = format!(
            r#"{{"authentication":"none","filters":[{{"json_path":"{path}","operator":"exists"}}]}}"#
        );
        wrong(&text, "filters[0].json_path", reason);
    }
    let many = "\"::1\",".repeat(256);
    let many = format!(r#"{{"authentication":"none","ip_allow":[{many}"::1"]}}"#);
    wrong(&many, "ip_allow", "has 257 entries");
    assert!(refused("[]")[0].contains("expected a mapping"));
    assert!(
        read(r#"{"authentication":"github","signature_header":"x-hub-signature-256"}"#).is_ok()
    );
}

/// One problem and no other.
fn wrong(text: &str, field: &str, reason: &str) {
    let said = read(text).expect_err(text);
    assert_eq!(said.len(), 1, "{text}: {said:?}");
    assert_eq!(said[0].path, field, "{text}");
    assert!(said[0].to_string().contains(reason), "{text}: {}", said[0]);
}
