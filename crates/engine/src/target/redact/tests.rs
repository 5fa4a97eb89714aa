//! Secrets in every spelling, in texts and in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::*;

const SECRET: &str = "s3cr/t \"ké+y";

fn redactor() -> Redactor {
    Redactor::new([SECRET])
}

#[test]
fn every_spelling_of_a_secret_is_masked() {
    let spellings = [
        SECRET.to_owned(),
        "s3cr%2Ft%20%22k%C3%A9%2By".to_owned(),
        "s3cr%2ft%20%22k%c3%a9%2by".to_owned(),
        "s3cr%2Ft+%22k%C3%A9%2By".to_owned(),
        "s3cr/t%20%22k%C3%A9+y".to_owned(),
        "s3cr/t \\\"ké+y".to_owned(),
        "s3cr\\/t \\\"ké+y".to_owned(),
        "s3cr/t \\\"k\\u00e9+y".to_owned(),
    ];
    for spelling in spellings {
        assert_eq!(
            redactor().text(&format!("a {spelling} b")),
            "a *** b",
            "{spelling}"
        );
    }
}

#[test]
fn a_secret_is_found_as_it_is_written_in_host_names_and_addresses() {
    for (secret, spellings) in [
        (
            "Tenant-QuiTe-Secret",
            &["tenant-quite-secret", "tenant%2Dquite%2Dsecret"][..],
        ),
        ("Bücher-Regal", &["xn--bcher-regal-thb", "bücher-regal"]),
        (
            "https://Hooks.Example:443/T0A1/B2c3/x y?k=Ä",
            &[
                "https://hooks.example/T0A1/B2c3/x%20y?k=%C3%84",
                "/T0A1/B2c3/x%20y?k=%C3%84",
            ],
        ),
        (
            "a<b>&\"c'D",
            &[
                "a&lt;b&gt;&amp;&quot;c&#39;D",
                "a&lt;b&gt;&amp;&#34;c&#x27;D",
            ],
        ),
    ] {
        let redactor = Redactor::new([secret]);
        for spelling in spellings {
            assert_eq!(redactor.text(&format!("<{spelling}>")), "<***>", "{secret}");
        }
    }
}

#[test]
fn base64_is_found_at_every_offset() {
    for prefix in ["", "u", "us", "user:", "someone:"] {
        for suffix in ["", "!", "!!", "@host"] {
            let whole = format!("{prefix}{SECRET}{suffix}");
            for encoded in [STANDARD.encode(&whole), URL_SAFE_NO_PAD.encode(&whole)] {
                let masked = redactor().text(&encoded).into_owned();
                assert!(masked.contains(MASK), "{whole}: {masked}");
                assert!(masked.len() <= encoded.len() - 12, "{whole}: {masked}");
            }
        }
    }
}

#[test]
fn secrets_that_touch_overlap_or_repeat_leave_nothing_behind() {
    let redactor = Redactor::new(["abcdefgh", "efghijkl", "aaaaaa"]);
    assert_eq!(redactor.text("<abcdefghijkl>"), "<***>");
    assert_eq!(redactor.text("<abcdefghabcdefgh>"), "<***>");
    assert_eq!(redactor.text("<aaaaaaaaa>"), "<***>");
    assert_eq!(redactor.text("nothing here"), "nothing here");
}

#[test]
fn short_secrets_are_left_alone() {
    let redactor = Redactor::new(["", "a", "abc", "five5"]);
    assert_eq!(redactor.text("abc five5"), "abc ***");
    assert_eq!(redactor.output("abc five5"), "abc five5");
    assert_eq!(Redactor::default().text("abc"), "abc");
}

#[test]
fn a_secret_cut_off_at_the_end_goes_as_well() {
    let redactor = Redactor::new(["abcdefgh"]);
    assert_eq!(redactor.cut_text("see abcdefg"), "see ***");
    assert_eq!(redactor.cut_text("see abcd"), "see ***");
    assert_eq!(redactor.cut_text("see abc"), "see abc", "too little to say");
    assert_eq!(redactor.cut_text("abcdefgh abcdef"), "*** ***");
}

#[test]
fn json_stays_json() {
    let redactor = Redactor::new(["12345678", "hunter2hunter2"]);
    for (given, expected) in [
        (r#"{"n":12345678,"m":1}"#, r#"{"n":"***","m":1}"#),
        (r#"[123456789, -12345678]"#, r#"["***", "***"]"#),
        (
            r#"{"hunter2hunter2" : "x hunter2hunter2 y"}"#,
            r#"{"***" : "x *** y"}"#,
        ),
        (r#""\u0068unter2hunter\u0032""#, r#""***""#),
        (r#"["\ud800 hunter2hunter2"]"#, r#"["***"]"#),
        // Untouched bytes stay: escapes, big numbers, white space, order.
        (
            r#"{"b":"\u0041\/", "a":1e400 ,"c":"\u0000"}"#,
            r#"{"b":"\u0041\/", "a":1e400 ,"c":"\u0000"}"#,
        ),
        (r#"["\ud800"]"#, r#"["\ud800"]"#),
    ] {
        assert_eq!(
            redactor.json(&Json::parse(given).unwrap()).as_str(),
            expected
        );
    }
}

#[test]
fn a_secret_that_is_json_itself_is_cut_out_of_json() {
    let redactor = Redactor::new([r#"{"key":"abc"}"#]);
    let echoed = Json::parse(r#"{"sent":{"key":"abc"}}"#).unwrap();
    assert_eq!(redactor.json(&echoed), Json::string(r#"{"sent":***}"#));
}

#[test]
fn nothing_shows_the_secret() {
    assert_eq!(format!("{:?}", redactor()), "Redactor(***)");
}
