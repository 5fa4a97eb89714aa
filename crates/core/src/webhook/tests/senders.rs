//! What each sender sends, from its own documentation where that has an example, and every way in
//! which it could be a little wrong.

use super::*;

/// Headers that a test changes.
type Pairs = Vec<(&'static str, String)>;

/// One genuine request.
struct Sample {
    settings: &'static str,
    secret: &'static str,
    headers: Pairs,
    body: &'static str,
    at: i64,
}

impl Sample {
    fn judge(&self, change: impl Fn(&mut Pairs), now: i64) -> Admission {
        let settings = settings(self.settings);
        let secrets = secrets(self.secret, settings.authentication.method());
        let mut headers = self.headers.clone();
        change(&mut headers);
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        judge(
            &settings,
            Some(&secrets),
            &headers,
            self.body.as_bytes(),
            second(now),
        )
    }

    /// The signature header.
    fn signature(&self) -> (&'static str, &str) {
        let (name, value) = self.headers.last().unwrap();
        (name, value)
    }
}

fn sample(
    settings: &'static str,
    secret: &'static str,
    headers: &[(&'static str, &str)],
    body: &'static str,
    at: i64,
) -> Sample {
    Sample {
        settings,
        secret,
        headers: headers
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect(),
        body,
        at,
    }
}

fn standard() -> Sample {
    sample(
        r#"{"authentication":"standard_webhooks"}"#,
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        &[
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            (
                "webhook-signature",
                "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            ),
        ],
        r#"{"test": 2432232314}"#,
        SIGNED_AT,
    )
}

fn github() -> Sample {
    sample(
        r#"{"authentication":"github"}"#,
        "It's a Secret to Everybody",
        &[
            ("Content-Type", "application/json"),
            (
                "X-Hub-Signature-256",
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
            ),
        ],
        "Hello, World!",
        0,
    )
}

fn slack() -> Sample {
    sample(
        r#"{"authentication":"slack"}"#,
        "8f742231b10e8888abcd99yyyzzz85a5",
        &[
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("X-Slack-Request-Timestamp", "1531420618"),
            (
                "X-Slack-Signature",
                "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
            ),
        ],
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V\
         &channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=\
         &response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibI\
         GlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
        1_531_420_618,
    )
}

fn stripe() -> Sample {
    sample(
        r#"{"authentication":"stripe"}"#,
        "whsec_stripe-secret-of-the-tests",
        &[(
            "Stripe-Signature",
            "t=1614265330,v1=89c55bd2e740b3b5218903f85261873a56f1bf431c57b1470faa256d48576714,v0=6ffbb59b",
        )],
        r#"{"id":"evt_1"}"#,
        SIGNED_AT,
    )
}

fn shopify() -> Sample {
    sample(
        r#"{"authentication":"shopify"}"#,
        "hush-hush-hush-hush-hush-hush",
        &[(
            "X-Shopify-Hmac-Sha256",
            "2bapCSV+VrKb1zIq6F1ChBT0gSIGIOOlb38EH7Md27M=",
        )],
        r#"{"id":1}"#,
        0,
    )
}

/// The key is what the token encodes.
fn teams() -> Sample {
    sample(
        r#"{"authentication":"teams"}"#,
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        &[
            ("Content-Type", "application/json; charset=utf-8"),
            (
                "Authorization",
                "HMAC aLcMI2LdziI+3yrksNZP7kTCY9iHJEClCFkLipnPhF4=",
            ),
        ],
        r#"{"type":"message","id":"1485983408511","text":"<at>refire</at> restart","conversation":{"id":"19:253b1f341670408fb6fe51050b6e5ceb@thread.skype;messageid=1485983194839"}}"#,
        0,
    )
}

/// Base64 behind `sha256=`, in a header of its own name.
fn servicenow() -> Sample {
    sample(
        r#"{"authentication":"hmac","signature_header":"X-ServiceNow-Signature",
            "filters":[{"json_path":"$.event_type","operator":"equals","value":"incident.created"}]}"#,
        "your_webhook_secret_key_of_32byte",
        &[
            ("Content-Type", "application/json"),
            (
                "X-ServiceNow-Signature",
                "sha256=tkgQD7Xnf2guHlinvrMe0coHqzovLbWPCCgKO3Y6tqw=",
            ),
        ],
        r#"{"event_type":"incident.created","incident_id":"INC0012345","priority":"2","description":"Server DB-01 is not responding","assigned_to":"","created_at":"2025-11-19 14:23:15"}"#,
        0,
    )
}

fn all() -> [Sample; 7] {
    [
        standard(),
        github(),
        slack(),
        stripe(),
        shopify(),
        teams(),
        servicenow(),
    ]
}

#[test]
fn what_they_send_is_genuine() {
    for sample in all() {
        match sample.judge(|_| {}, sample.at) {
            Admission::Start(_) => {}
            // GitHub's example signs a text that is not JSON; it came past the signature.
            Admission::Invalid { reason } if sample.body.starts_with("Hello") => {
                assert!(reason.contains("not JSON"), "{reason}");
            }
            other => panic!("{}: {other:?}", sample.settings),
        }
    }
    let started = started(servicenow().judge(|_| {}, 0));
    assert_eq!(started.input.as_str(), servicenow().body);
    let key = started.key.unwrap();
    assert!(
        key.text.starts_with("INC0012345#") && !key.explicit,
        "{key:?}"
    );
}

#[test]
fn svix_may_use_its_own_names() {
    let rename = |headers: &mut Pairs| {
        for (header, name) in
            headers
                .iter_mut()
                .zip(["svix-id", "svix-timestamp", "svix-signature"])
        {
            header.0 = name;
        }
    };
    let started = started(standard().judge(rename, SIGNED_AT));
    assert_eq!(started.key.unwrap().text, "msg_p5jXN8AQM9LWM0D4loKWxJek");
}

#[test]
fn every_part_of_a_signature_is_refused() {
    for sample in all() {
        let (_, whole) = sample.signature();
        let mark = whole.find("v1=").map_or_else(
            || whole.find(['=', ',']).map_or(0, |at| at + 1),
            |at| at + 3,
        );
        let mark = match sample.settings {
            shopify if shopify.contains("shopify") => 0,
            teams if teams.contains("teams") => "HMAC ".len(),
            _ => mark,
        };
        let end = whole.find(",v0=").unwrap_or(whole.len());
        let end = mark + whole[mark..end].trim_end_matches('=').len();
        for length in 0..end {
            let cut = |headers: &mut Pairs| {
                headers.last_mut().unwrap().1.truncate(length);
            };
            let reason = forged(sample.judge(cut, sample.at));
            assert!(!reason.is_empty());
        }
        for glued in ["0", "=", "AA", &whole[mark..end]] {
            let longer = |headers: &mut Pairs| {
                headers.last_mut().unwrap().1 = format!("{}{glued}", &whole[..end]);
            };
            // One padding character is how the same bytes are spelt in base64.
            let same = glued == "=" && whole.ends_with('=') && whole.len() == end + 1;
            let judged = sample.judge(longer, sample.at);
            assert_eq!(
                judged.status() == RequestStatus::AuthFailed,
                !same,
                "{whole} {glued}"
            );
        }
    }
}

#[test]
fn a_header_that_is_missing_repeated_or_odd_is_named() {
    for sample in all() {
        let (name, value) = sample.signature();
        let (name, value) = (name.to_owned(), value.to_owned());
        let judge = |change: &dyn Fn(&mut Pairs)| forged(sample.judge(change, sample.at));
        let missing = judge(&|headers| drop(headers.pop()));
        assert_eq!(missing, format!("the header {name} is missing"));
        let repeated = judge(&|headers| headers.push(headers.last().unwrap().clone()));
        assert_eq!(
            repeated,
            format!("the header {name} is given more than once")
        );
        let empty = judge(&|headers| headers.last_mut().unwrap().1.clear());
        assert_eq!(empty, format!("the header {name} is empty"));
        let odd = judge(&|headers| headers.last_mut().unwrap().1.push('é'));
        assert!(odd.contains("outside of printable ASCII"), "{odd}");
        let long = judge(&|headers| headers.last_mut().unwrap().1 = "x".repeat(4_097));
        assert!(long.contains("has 4097 bytes, at most 4096"), "{long}");
        for reason in [&missing, &repeated, &empty, &odd, &long] {
            assert!(
                !reason.contains(sample.secret) && !reason.contains(&value),
                "{reason}"
            );
        }
    }
}

#[test]
fn several_signatures_are_looked_at_up_to_a_bound() {
    let wrong = "0".repeat(64);
    let with = |value: String| {
        move |headers: &mut Pairs| {
            headers.last_mut().unwrap().1.clone_from(&value);
        }
    };
    let right = servicenow().signature().1.to_owned();
    for before in [0, 1, 15] {
        let value = format!("{}{right}", format!("{wrong}, ").repeat(before));
        started(servicenow().judge(with(value), 0));
    }
    let value = format!("{}{right}", format!("{wrong},").repeat(16));
    let reason = forged(servicenow().judge(with(value), 0));
    assert!(
        reason.contains("holds 17 signatures, at most 16"),
        "{reason}"
    );
    let many = vec!["v1,AA"; 650].join(" ");
    let reason = forged(standard().judge(with(many), SIGNED_AT));
    assert!(reason.contains("holds 650 signatures"), "{reason}");
    let thousand = vec![wrong.as_str(); 1_000].join(",");
    let reason = forged(servicenow().judge(with(thousand), 0));
    assert!(reason.contains("at most 4096 are read"), "{reason}");
    // Unknown versions are passed over; alone they are nothing.
    let right = standard().signature().1.to_owned();
    started(standard().judge(with(format!("v1a,AAAA v2,x {right}")), SIGNED_AT));
    let reason = forged(standard().judge(with("v1a,AAAA".to_owned()), SIGNED_AT));
    assert!(
        reason.contains("no signature that begins with `v1,`"),
        "{reason}"
    );
    let only_old = "t=1614265330,v0=89c55bd2".to_owned();
    let reason = forged(stripe().judge(with(only_old), SIGNED_AT));
    assert!(reason.contains("begins with `v1=`"), "{reason}");
}

#[test]
fn the_time_of_signing_must_be_near() {
    for sample in [standard(), slack(), stripe()] {
        for away in [0, 1, 299, 300] {
            started(sample.judge(|_| {}, sample.at + away));
            started(sample.judge(|_| {}, sample.at - away));
        }
        for (away, side) in [(301, "301 s ago"), (-301, "301 s ahead of our clock")] {
            let reason = forged(sample.judge(|_| {}, sample.at + away));
            assert!(
                reason.contains(side) && reason.contains("at most 300 s"),
                "{reason}"
            );
        }
    }
    // A time that is changed is not what was signed, wherever it points.
    for time in ["0", "1614265331", "01614265330", "9999999999"] {
        let change = |headers: &mut Pairs| time.clone_into(&mut headers[1].1);
        assert!(
            forged(standard().judge(change, SIGNED_AT)).contains("does not match"),
            "{time}"
        );
    }
    for time in [
        "-1",
        "1e9",
        "1614265330.5",
        "99999999999999999999",
        "x",
        "+1614265330",
        "0x5",
    ] {
        let change = |headers: &mut Pairs| time.clone_into(&mut headers[1].1);
        let reason = forged(standard().judge(change, SIGNED_AT));
        assert!(
            reason.contains("not a whole number of seconds"),
            "{time}: {reason}"
        );
    }
    let twice = |headers: &mut Pairs| headers.push(headers[1].clone());
    assert!(forged(standard().judge(twice, SIGNED_AT)).contains("webhook-timestamp is given more"));
    for (value, expected) in [
        ("v1=00", "has no time"),
        ("t=1,t=1,v1=00", "more than one time"),
    ] {
        let change = |headers: &mut Pairs| value.clone_into(&mut headers[0].1);
        assert!(forged(stripe().judge(change, SIGNED_AT)).contains(expected));
    }
}

#[test]
fn a_dot_cannot_wander_from_the_name_to_the_time() {
    let change = |headers: &mut Pairs| {
        "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330".clone_into(&mut headers[0].1);
    };
    let reason = forged(standard().judge(change, SIGNED_AT));
    assert!(
        reason.contains("webhook-id must not contain a dot"),
        "{reason}"
    );
}

#[test]
fn milliseconds_are_understood_in_the_generic_form() {
    let written = settings(
        r#"{"authentication":"hmac","signed_text":"{timestamp}.{body}","timestamp_header":"X-Time","prefix":""}"#,
    );
    let text = "generic-generic-generic-generic";
    let secrets = secrets(text, Method::Hmac);
    // The same text signed as the body of the plain form.
    let plain = settings(r#"{"authentication":"hmac","prefix":""}"#);
    let signed = sign(
        &plain.authentication,
        Some(&secrets.current),
        "",
        second(0),
        b"1614265330123.{}",
    );
    for (away, genuine) in [(300, true), (301, false)] {
        let headers = [
            ("X-Time", "1614265330123"),
            ("X-Signature", signed[0].1.as_str()),
        ];
        let now = second(SIGNED_AT + away);
        let judged = judge(&written, Some(&secrets), &headers, b"{}", now);
        assert_eq!(
            judged.status() == RequestStatus::Triggered,
            genuine,
            "{judged:?}"
        );
    }
}

#[test]
fn a_key_in_a_header_is_compared_whole() {
    let key = "0123456789abcdef0123456789abcdef";
    let secrets = secrets(key, Method::ApiKey);
    let written = settings(r#"{"authentication":"api_key"}"#);
    let ask = |value: &str| {
        judge(
            &written,
            Some(&secrets),
            &[("x-api-key", value)],
            b"{}",
            second(0),
        )
    };
    started(ask(key));
    started(ask(&format!(" {key} ")));
    for length in 1..key.len() {
        assert_eq!(forged(ask(&key[..length])), "the key is wrong");
    }
    assert_eq!(forged(ask(&format!("{key}0"))), "the key is wrong");
    assert_eq!(forged(ask(&key.to_uppercase())), "the key is wrong");
    let none = judge(&written, Some(&secrets), &[], b"{}", second(0));
    assert_eq!(forged(none), "the header X-API-Key is missing");
    let bearer = settings(r#"{"authentication":"api_key","signature_header":"Authorization"}"#);
    for value in [
        format!("Bearer {key}"),
        format!("bearer  {key}"),
        key.to_owned(),
    ] {
        started(judge(
            &bearer,
            Some(&secrets),
            &[("authorization", &value)],
            b"{}",
            second(0),
        ));
    }
    let basic = format!("Basic {key}");
    forged(judge(
        &bearer,
        Some(&secrets),
        &[("authorization", &basic)],
        b"{}",
        second(0),
    ));
}
