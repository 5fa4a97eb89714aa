//! What rules say, and everything that is wrong with them.

use super::*;

fn wrong(source: &str) -> String {
    Rule::read(source).unwrap_err().to_string()
}

#[test]
fn a_rule_is_read_and_written_with_all_its_fields() {
    for (source, expected) in [
        (
            "{name: r, kind: failure_rate, above: 12.5}",
            r#"{"name":"r","kind":"failure_rate","window":"10m","above":12.5,"min_count":10,"for":"0s","channels":[],"repeat":"4h","enabled":true}"#,
        ),
        (
            "{name: ' r ', kind: DLQ_GROWTH, workflowId: w, window: 90s, above: 3, for: 1m, channels: [a, b], repeat: 1d, enabled: false}",
            r#"{"name":"r","kind":"dlq_growth","workflow":"w","window":"90s","above":3,"for":"1m","channels":["a","b"],"repeat":"1d","enabled":false}"#,
        ),
        (
            "{name: r, kind: long_processing, after: 2h}",
            r#"{"name":"r","kind":"long_processing","after":"2h","for":"0s","channels":[],"repeat":"4h","enabled":true}"#,
        ),
        (
            "{name: r, kind: dead_workers, channels: ops}",
            r#"{"name":"r","kind":"dead_workers","for":"0s","channels":["ops"],"repeat":"4h","enabled":true}"#,
        ),
    ] {
        let rule = Rule::read(source).unwrap();
        assert_eq!(rule.text.as_str(), expected);
        assert_eq!(Rule::read(rule.text.as_str()).unwrap(), rule, "{source}");
    }
}

#[test]
fn every_kind_reads_what_it_writes() {
    for kind in RuleKind::ALL {
        let above = if kind == RuleKind::FailureRate {
            ", above: 5"
        } else {
            ""
        };
        let rule = Rule::read(&format!("{{name: r, kind: {}{above}}}", kind.name())).unwrap();
        assert_eq!(rule.kind(), kind);
        assert_eq!(Rule::read(rule.text.as_str()).unwrap(), rule);
        assert_eq!(kind.has_past(), rule.condition.window().is_some());
        assert_eq!(RuleKind::from_name(kind.name()), Some(kind));
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (source, expected) in [
        ("[]", "a rule is a mapping with `kind`"),
        ("{name: r}", "`kind` is required; write one of failure_rate"),
        (
            "{name: r, kind: failure_rat}",
            "did you mean \"failure_rate\"?",
        ),
        (
            "{name: r, kind: many_errors}",
            "\"many_errors\" is not one of",
        ),
        ("{kind: dead_man}", "`name` is required"),
        ("{name: '', kind: dead_man}", "the name is empty"),
        ("{name: r, kind: failure_rate}", "`above` is required"),
        (
            "{name: r, kind: failure_rate, above: 101}",
            "101 is not a number from 0 to 100",
        ),
        (
            "{name: r, kind: failure_rate, above: -1}",
            "-1 is not a number from 0 to 100",
        ),
        (
            "{name: r, kind: failure_rate, above: 5, window: 0}",
            "`0` is not between 1m and 1d",
        ),
        (
            "{name: r, kind: failure_rate, above: 5, window: 2d}",
            "is not between 1m and 1d",
        ),
        (
            "{name: r, kind: failure_rate, above: 5, min_count: 0}",
            "0 is not a whole number from 1",
        ),
        (
            "{name: r, kind: dlq_growth, above: 1.5}",
            "1.5 is not a whole number",
        ),
        (
            "{name: r, kind: dead_man, repeat: 1s}",
            "is not between 1m and 30d",
        ),
        (
            "{name: r, kind: dead_man, for: 2d}",
            "is not between 0s and 1d",
        ),
        ("{name: r, kind: dead_man, workflow: 'a b'}", "workflow"),
        (
            "{name: r, kind: dead_man, channels: [a, a]}",
            "\"a\" stands here twice",
        ),
        (
            "{name: r, kind: dead_man, channels: ['']}",
            "the name of a channel is empty",
        ),
        (
            "{name: r, kind: dead_man, channels: 3}",
            "expected a string",
        ),
        (
            "{name: r, kind: dead_man, window: 5m}",
            "`window` belongs to rules that count executions",
        ),
        (
            "{name: r, kind: dlq_growth, threshold: 5}",
            "did you mean \"above\"?",
        ),
        (
            "{name: r, kind: dead_man, enabled: 1}",
            "expected true or false",
        ),
    ] {
        let wrong = wrong(source);
        assert!(wrong.contains(expected), "{source}: {wrong}");
    }
    let all = wrong("{kind: failure_rate, window: 0, above: 200, min_count: x}");
    assert_eq!(all.lines().count(), 4, "{all}");
}

#[test]
fn a_change_is_laid_over_what_is_there() {
    let rule = Rule::read("{name: r, kind: dlq_growth, workflow: w, channels: [a]}").unwrap();
    let stored = rule.text.as_str();
    let changed = Rule::patched(stored, "{above: 7, channels: [b], workflow_id: null}").unwrap();
    assert_eq!(changed.condition.threshold(), Some(7_000));
    assert_eq!(
        (changed.workflow, changed.channels),
        (None, vec!["b".to_owned()])
    );
    assert_eq!(changed.name, "r");
    let wrong = Rule::patched(stored, "{above: -1}").unwrap_err();
    let wrong = wrong.iter().next().unwrap();
    assert_eq!((wrong.path.as_str(), wrong.line), ("above", 0));
    assert!(Rule::patched(stored, "3").is_err());
}
