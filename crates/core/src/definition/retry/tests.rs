//! Tests of retry settings and rules.

use super::*;

fn parsed(source: &str) -> RetrySettings {
    RetrySettings::parse(source).unwrap_or_else(|problems| panic!("{source}: {problems}"))
}

fn rules(source: &str) -> RetryRules {
    parsed(source).rules()
}

#[test]
fn the_defaults() {
    let rules = RetryRules::default();
    assert!(rules.enabled);
    assert_eq!(rules.policy, Policy::default());
    assert_eq!(
        (rules.policy.max_retries, rules.policy.initial.as_secs()),
        (5, 2)
    );
    for status in RETRY_STATUSES {
        assert!(
            rules.is_retryable(ErrorClass::HttpStatus, Some(status)),
            "{status}"
        );
    }
    for status in [200, 302, 400, 401, 403, 404, 409, 418, 501, 505] {
        assert!(
            !rules.is_retryable(ErrorClass::HttpStatus, Some(status)),
            "{status}"
        );
    }
    assert!(!rules.is_retryable(ErrorClass::HttpStatus, None));
    for class in ErrorClass::ALL {
        let expected =
            ErrorClass::RETRYABLE_BY_DEFAULT.contains(&class) || class == ErrorClass::Local;
        assert_eq!(rules.is_retryable(class, None), expected, "{class}");
    }
}

#[test]
fn settings_of_other_systems_are_understood_as_they_are_written() {
    // A row of a table of triggers, in YAML and JSON, and a policy of a program.
    let meant = parsed(
        "{enabled: true, maxRetries: 5, initialDelay: 2s, strategy: exponential,
          jitter: true, retryOn: {statuses: [429, 500, 502, 503, 504]}}",
    );
    for text in [
        "{retry_enabled: true, max_retries: 5, initial_delay_seconds: 2.0,
          backoff_strategy: exponential, jitter_enabled: true,
          retryable_error_codes: [429, 500, 502, 503, 504]}",
        r#"{"retry_enabled": true, "max_retries": 5, "initial_delay_seconds": 2.000,
            "backoff_strategy": "exponential", "jitter_enabled": true,
            "retryable_error_codes": [429, 500, 502, 503, 504]}"#,
        "{retryEnabled: true, maxAttempts: 6, backoff: EXPONENTIAL, baseDelayMs: 2000,
          jitterEnabled: true, retryableErrorCodes: [429, 500, 502, 503, 504]}",
    ] {
        assert_eq!(parsed(text), meant, "{text}");
    }
    assert_eq!(
        parsed("{retry_enabled: false, jitter_enabled: false}"),
        parsed("{enabled: false, jitter: none}")
    );
    assert_eq!(
        parsed("base_delay_ms: 250"),
        parsed("initialDelay: 250ms"),
        "milliseconds, not seconds"
    );
    let said = |text: &str| RetrySettings::parse(text).unwrap_err().to_string();
    assert!(said("{baseDelayMs: 1, initialDelay: 1s}").contains("says the same thing"));
    assert!(said("{jitter: none, jitter_enabled: true}").contains("are the same key"));
    assert!(said("baseDelayMs: 86400001").contains("from 0 to 86400000"));
    assert!(said("baseDelayMs: 1.5").contains("whole number"));
}

#[test]
fn every_spelling_is_understood() {
    let whole = parsed(
        "{enabled: true, maxRetries: 3, initialDelay: 500ms, strategy: LINEAR, multiplier: 1.5,
          maxDelay: 1m, maxElapsed: 1h, jitter: {type: proportional, ratio: 0.3},
          retryOn: {statuses: [429, '5xx'], errors: [dns, tls]}, failOn: {statuses: [501]}}",
    );
    assert_eq!(whole.max_retries, Some(3));
    assert_eq!(whole.initial_delay, Some(Duration::from_millis(500)));
    assert_eq!(whole.strategy, Some(Strategy::Linear));
    assert_eq!(whole.jitter, Some(JitterSetting::Proportional(0.3)));
    assert_eq!(
        whole.retry_errors,
        Some(vec![ErrorClass::Dns, ErrorClass::Tls])
    );
    let snake = parsed(
        "{max_retries: 3, initial_delay_seconds: 0.5, backoff_strategy: linear,
          retryable_errors: [429, 503]}",
    );
    assert_eq!(snake.initial_delay, Some(Duration::from_millis(500)));
    assert_eq!(snake.strategy, Some(Strategy::Linear));
    assert_eq!(
        snake.enabled,
        Some(true),
        "who says how often means retries"
    );
    assert!(
        snake
            .rules()
            .is_retryable(ErrorClass::HttpStatus, Some(503))
    );
    assert!(
        !snake
            .rules()
            .is_retryable(ErrorClass::HttpStatus, Some(500))
    );
    assert_eq!(parsed("backoff: fixed").strategy, Some(Strategy::Fixed));
    assert_eq!(parsed("maxAttempts: 4").max_retries, Some(3));
    assert_eq!(parsed("3"), parsed("{enabled: true, maxRetries: 3}"));
    assert_eq!(parsed("false"), RetrySettings::disabled());
    assert_eq!(
        parsed("jitter: true").jitter,
        Some(JitterSetting::Proportional(0.2))
    );
    assert_eq!(parsed("jitter: false").jitter, Some(JitterSetting::None));
    assert_eq!(
        parsed("jitter: Decorrelated").jitter,
        Some(JitterSetting::Decorrelated)
    );
    assert!(parsed("{}").is_empty());
}

#[test]
fn what_is_out_of_range_is_said_with_the_range() {
    let table = [
        (
            "maxRetries: 0",
            "maxRetries (line 1): 0 is not a whole number from 1 to 10",
        ),
        ("maxRetries: 11", "11 is not a whole number from 1 to 10"),
        ("maxRetries: 2.5", "2.5 is not a whole number"),
        (
            "maxRetries: '3'",
            "expected a whole number from 1 to 10, found a string",
        ),
        ("maxAttempts: 1", "1 is not a whole number from 2 to 11"),
        ("{maxRetries: 1, maxAttempts: 2}", "say the same thing"),
        (
            "{maxRetries: 1, max_retries: 2}",
            "\"max_retries\" and \"maxRetries\" are the same key",
        ),
        ("initialDelay: 2x", "unknown unit `x`"),
        ("initialDelay: -1s", "is negative"),
        ("initialDelay: 25h", "`25h` is not between 0s and 1d"),
        (
            "initialDelay: [1]",
            "expected a duration such as 30s, found a list",
        ),
        (
            "strategy: expo",
            "\"expo\" is not one of exponential, linear, fixed",
        ),
        ("strategy: exponentail", "did you mean \"exponential\"?"),
        ("multiplier: 0.5", "0.5 is not a number from 1 to 10"),
        ("maxDelay: 10ms", "is not between 100ms and 7d"),
        (
            "{initialDelay: 1m, maxDelay: 1s}",
            "`maxDelay` is shorter than `initialDelay`",
        ),
        ("jitter: lots", "\"lots\" is not one of none, proportional"),
        (
            "jitter: {type: full, ratio: 0.5}",
            "belongs to the type `proportional`",
        ),
        ("jitter: {ratio: 0.5}", "`type` is required"),
        (
            "jitter: {type: proportional, ratio: 2}",
            "2 is not a number from 0 to 1",
        ),
        (
            "retryOn: {statuses: [99]}",
            "retryOn.statuses[0] (line 1): \"99\" is not a status",
        ),
        ("retryOn: {errors: [dsn]}", "did you mean \"dns\"?"),
        ("retryOn: {errors: [node_lost]}", "is not a kind of error"),
        ("{retryOn: {}, retryable_errors: [500]}", "keep `retryOn`"),
        (
            "maxRetrys: 3",
            "unknown key \"maxRetrys\"; did you mean \"maxRetries\"?",
        ),
        ("yes please", "expected a mapping, found a string"),
        ("11", "11 is not a whole number from 1 to 10"),
        ("0", "1 to 10; for no retries, write `retry: false`"),
        ("maxRetries: 0", "for no retries, write `retry: false`"),
    ];
    for (source, expected) in table {
        let said = RetrySettings::parse(source).expect_err(source).to_string();
        assert!(said.contains(expected), "{source}: {said}");
    }
    let two = RetrySettings::parse("{maxRetries: 0, strategy: x}").unwrap_err();
    assert_eq!(two.len(), 2, "all problems are told");
}

#[test]
fn settings_lie_over_each_other_field_by_field() {
    let workflow = parsed("{maxRetries: 5, initialDelay: 10s, strategy: fixed}");
    let step = parsed("{initialDelay: 1s}");
    let both = step.over(&workflow).rules();
    assert_eq!(both.policy.max_retries, 5);
    assert_eq!(both.policy.initial, Duration::from_secs(1));
    assert_eq!(both.policy.strategy, Strategy::Fixed);
    let off = RetrySettings::disabled().over(&workflow).rules();
    assert!(!off.enabled && off.policy.max_retries == 0);
    assert!(
        off.is_retryable(ErrorClass::HttpStatus, Some(503)),
        "the kind stays what it is"
    );
    let on_again = parsed("3").over(&RetrySettings::disabled()).rules();
    assert!(on_again.enabled && on_again.policy.max_retries == 3);
}

#[test]
fn asked_for_statuses_win_over_the_default_failures_but_not_over_written_ones() {
    let asked = rules("retryOn: {statuses: [4xx]}");
    assert!(asked.is_retryable(ErrorClass::HttpStatus, Some(404)));
    let both = rules("{retryOn: {statuses: [4xx]}, failOn: {statuses: [404]}}");
    assert!(!both.is_retryable(ErrorClass::HttpStatus, Some(404)));
    assert!(both.is_retryable(ErrorClass::HttpStatus, Some(409)));
    assert!(!both.is_retryable(ErrorClass::HttpStatus, Some(503)));
}

#[test]
fn the_stored_form_is_stable() {
    let settings = parsed(
        "{maxRetries: 3, initialDelay: 500ms, strategy: linear, multiplier: 1.5, maxDelay: 1m,
          maxElapsed: 1h, jitter: {type: proportional, ratio: 0.3},
          retryOn: {statuses: [429, '5xx'], errors: [dns]}, failOn: {statuses: [501]}}",
    );
    let stored = serde_json::to_string(&settings).unwrap();
    assert_eq!(
        stored,
        r#"{"enabled":true,"max_retries":3,"initial_delay_ms":500,"strategy":"linear","multiplier":1.5,"max_delay_ms":60000,"max_elapsed_ms":3600000,"jitter":{"proportional":0.3},"retry_statuses":[429,"5xx"],"retry_errors":["dns"],"fail_statuses":[501]}"#
    );
    assert_eq!(
        serde_json::from_str::<RetrySettings>(&stored).unwrap(),
        settings
    );
    assert_eq!(
        serde_json::to_string(&RetrySettings::default()).unwrap(),
        "{}"
    );
    assert_eq!(
        serde_json::from_str::<RetrySettings>("{}").unwrap(),
        RetrySettings::default()
    );
    assert!(serde_json::from_str::<RetrySettings>(r#"{"strategy":"x"}"#).is_err());
}
