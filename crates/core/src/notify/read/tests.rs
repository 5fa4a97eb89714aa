//! Channels as people write them, right and wrong.

use super::*;

fn read(text: &str) -> Result<WrittenChannel, Problems> {
    WrittenChannel::read(text, None)
}

/// The paths of all problems, with what they say.
fn problems(text: &str) -> Vec<(String, String)> {
    let problems = read(text).expect_err(text);
    let said = problems.iter().map(|one| {
        let hint = one.hint.clone().unwrap_or_default();
        (one.path.clone(), format!("{} {hint}", one.message))
    });
    said.collect()
}

#[test]
fn each_type_is_read_and_kept_without_its_secret() {
    let table = [
        (
            r#"{"name":"ops","type":"teams","config":{"url":"https://prod-1.logic.azure.com:443/workflows/canary"}}"#,
            true,
        ),
        (
            r#"{"name":"ops","type":"slack","config":{"url":"https://hooks.slack.com/services/T/B/canary"},"language":"zh-TW"}"#,
            true,
        ),
        (
            r#"{"name":"ops","type":"email","config":{"host":"smtp.example.com","username":"u","password":"canary","from":"refire@example.com","to":["a@example.com","b@example.com"]}}"#,
            true,
        ),
        (
            r#"{"name":"ops","type":"webhook","config":{"url":"https://example.com/hook","secret":"whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5"}}"#,
            true,
        ),
        (
            r#"{"name":"ops","type":"webhook","config":{"url":"https://example.com/hook"}}"#,
            false,
        ),
        (
            r#"{"name":"ops","type":"pagerduty","config":{"routing_key":"canary00000000000000000000000000"}}"#,
            true,
        ),
    ];
    for (text, has_secret) in table {
        let written = read(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
        assert_eq!(
            matches!(written.secret, GivenSecret::New(_)),
            has_secret,
            "{text}"
        );
        let kept = written.channel.to_kept();
        let text = String::from_utf8(kept.clone()).unwrap();
        assert!(
            !text.contains("canary") && !text.contains("Y2FuYXJ5"),
            "{text}"
        );
        assert_eq!(Channel::kept(&kept).unwrap(), written.channel);
        assert!(written.enabled);
    }
}

#[test]
fn defaults_follow_from_what_is_written() {
    let email = |tls: &str| {
        let text = format!(
            r#"{{"name":"m","type":"email","config":{{"host":"h","tls":"{tls}","from":"a@b.c","to":"d@e.f"}}}}"#
        );
        match read(&text).unwrap().channel.target {
            Target::Email(email) => email.port,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        (email("starttls"), email("tls"), email("none")),
        (587, 465, 25)
    );
}

#[test]
fn a_retired_connector_of_teams_is_refused_with_the_way() {
    let text = r#"{"name":"ops","type":"teams","config":{"url":"https://acme.webhook.office.com/webhookb2/canary"}}"#;
    let said = problems(text);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].0, "config.url");
    assert!(
        said[0].1.contains("retired") && said[0].1.contains("workflow"),
        "{said:?}"
    );
    assert!(!said[0].1.contains("canary"));
}

#[test]
fn every_wrong_field_is_named_at_once() {
    let text = r#"{"name":" ","type":"email","enabled":"maybe","language":"fr",
        "kinds":["dead_letter.created","dead_leter.created"],"workflows":["a b","ok*"],
        "config":{"host":"a b","port":0,"tls":"ssl","from":"nobody","to":[],"ca":"x","password":"p","colour":1},
        "extra":true}"#;
    let paths: Vec<String> = problems(text).into_iter().map(|(path, _)| path).collect();
    for path in [
        "name",
        "enabled",
        "language",
        "kinds[1]",
        "workflows[0]",
        "config.host",
        "config.port",
        "config.tls",
        "config.from",
        "config.to",
        "config.ca",
        "config.password",
        "config.colour",
        "extra",
    ] {
        assert!(paths.iter().any(|one| one == path), "{path}: {paths:?}");
    }
}

#[test]
fn what_is_missing_or_too_long_is_named() {
    let table = [
        ("{}", "name"),
        (r#"{"name":"a","type":"teams"}"#, "config"),
        (r#"{"name":"a","type":"fax","config":{}}"#, "type"),
        (
            r#"{"name":"a","type":"slack","config":{"url":"ftp://x"}}"#,
            "config.url",
        ),
        (
            r#"{"name":"a","type":"slack","config":{"url":"https://u:p@x/"}}"#,
            "config.url",
        ),
        (
            r#"{"name":"a","type":"slack","config":{"url":"***"}}"#,
            "config.url",
        ),
        (
            r#"{"name":"a","type":"webhook","config":{"url":"https://x","secret":"short"}}"#,
            "config.secret",
        ),
        (
            r#"{"name":"a","type":"pagerduty","config":{"routing_key":"short"}}"#,
            "config.routing_key",
        ),
        (
            r#"{"name":"a","type":"email","config":{"host":"h","tls":"none","username":"u","password":"p","from":"a@b","to":"c@d"}}"#,
            "config.password",
        ),
    ];
    for (text, path) in table {
        let said = problems(text);
        assert!(
            said.iter().any(|(found, _)| found == path),
            "{text}: {said:?}"
        );
    }
    let long = format!(
        r#"{{"name":"{}","type":"slack","config":{{"url":"https://x/{}"}}}}"#,
        "n".repeat(101),
        "y".repeat(2_048)
    );
    let paths: Vec<String> = problems(&long).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["name", "config.url"]);
}

#[test]
fn a_change_keeps_the_secret_and_the_type() {
    let text =
        r#"{"name":"ops","type":"teams","config":{"url":"https://x.logic.azure.com/canary"}}"#;
    let known = read(text).unwrap().channel;
    let shown = r#"{"name":"ops","type":"teams","enabled":true,"config":{"url":"***","envelope":"message"}}"#;
    let changed = patched(shown, r#"{"config":{"envelope":"card"},"enabled":false}"#).unwrap();
    let written = WrittenChannel::read(&changed, Some(&known)).unwrap();
    assert_eq!(written.secret, GivenSecret::AsItWas);
    assert!(!written.enabled);
    let Target::Teams(teams) = &written.channel.target else {
        panic!("{written:?}");
    };
    assert_eq!(
        (teams.host.as_str(), teams.envelope),
        ("x.logic.azure.com", Envelope::Card)
    );
    let other = patched(shown, r#"{"type":"slack"}"#).unwrap();
    assert!(WrittenChannel::read(&other, Some(&known)).is_err());
    assert!(patched(shown, "[]").is_err());
}
