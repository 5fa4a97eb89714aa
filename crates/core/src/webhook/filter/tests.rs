//! Filters: every operator, what is refused in the settings, and what ends quickly.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::*;
use crate::definition::source::Node;

fn read(filter: &str) -> Result<Filter, String> {
    let mut problems = Problems::new();
    let node = Node::parse(filter).unwrap();
    match Filter::read(&Field::new("", &node), &mut problems) {
        Some(filter) if problems.is_empty() => Ok(filter),
        _ => Err(problems.iter().next().unwrap().to_string()),
    }
}

fn filter(path: &str, operator: &str, value: &str) -> Filter {
    let mut text = format!(
        r#"{{"json_path":{},"operator":"{operator}""#,
        Json::string(path)
    );
    if !value.is_empty() {
        write!(text, r#","value":{value}"#).unwrap();
    }
    text.push('}');
    read(&text).unwrap()
}

fn judge(filters: &[Filter], body: &str) -> Result<(), Miss> {
    let body = Json::parse(body).unwrap();
    pass(filters, &body, &mut Search::new(&body))
}

const BODY: &str = r#"{"event_type":"incident.created","priority":"2","n":5,"big":9007199254740993,
    "none":null,"yes":true,"at":"2026-11-15T09:30:00+02:00","tags":["db","prod"],
    "items":[{"id":1,"price":10},{"id":2,"price":200}],"e":"\u0061b"}"#;

#[test]
fn every_operator_compares_the_first_match() {
    for (path, operator, value, expected) in [
        ("$.event_type", "equals", r#""incident.created""#, true),
        ("$.event_type", "equals", r#""incident""#, false),
        ("$.event_type", "not_equals", r#""incident.closed""#, true),
        ("$.event_type", "not_equals", r#""incident.created""#, false),
        ("$.missing", "not_equals", "1", false),
        ("$.missing", "equals", "null", false),
        ("$.priority", "equals", "2", false),
        ("$.priority", "equals", r#""2""#, true),
        ("$.n", "equals", "5.0", true),
        ("$.big", "equals", "9007199254740992", false),
        ("$.big", "equals", "9007199254740993", true),
        ("$.none", "equals", "null", true),
        ("$.tags", "equals", r#"[ "db", "prod" ]"#, true),
        ("$.e", "equals", r#""ab""#, true),
        ("$.event_type", "contains", r#""created""#, true),
        ("$.event_type", "contains", r#""Created""#, false),
        ("$.n", "contains", "5", true),
        ("$.tags", "contains", r#""prod""#, true),
        ("$.yes", "contains", r#""ru""#, true),
        ("$.none", "exists", "", true),
        ("$.missing", "exists", "", false),
        ("$.none", "not_exists", "", false),
        ("$.missing", "not_exists", "", true),
        ("$.priority", "in", r#"[1,"2"]"#, true),
        ("$.priority", "in", "[1,2]", false),
        ("$.missing", "in", "[null]", false),
        (
            "$.event_type",
            "matches",
            r#""^incident\\.(created|updated)$""#,
            true,
        ),
        ("$.event_type", "matches", r#""^created""#, false),
        ("$.n", "matches", r#""^[0-9]$""#, true),
        ("$.n", "gt", "4", true),
        ("$.n", "gt", "5", false),
        ("$.n", "gte", "5.0", true),
        ("$.n", "lt", "5e0", false),
        ("$.n", "lte", "5", true),
        ("$.big", "gt", "9007199254740992", true),
        ("$.priority", "gt", "1", false),
        ("$.at", "lt", r#""2026-11-15T08:00:00Z""#, true),
        ("$.at", "gte", r#""2026-11-15T07:30:00Z""#, true),
        ("$.at", "gt", r#""2026-11-15T07:30:00.000001Z""#, false),
        ("$.n", "gt", r#""2026-11-15T07:30:00Z""#, false),
        ("$.items[*].id", "equals", "1", true),
        ("$.items[*].id", "equals", "2", false),
        ("$.items[?@.price > 100].id", "equals", "2", true),
        ("$", "exists", "", true),
    ] {
        let filter = filter(path, operator, value);
        let passed = judge(std::slice::from_ref(&filter), BODY);
        assert_eq!(passed.is_ok(), expected, "{filter}: {passed:?}");
        assert_eq!(read(filter.to_json().as_str()).as_ref(), Ok(&filter));
    }
}

#[test]
fn the_reason_names_the_filter_and_the_value() {
    let filters = [
        filter("$.n", "exists", ""),
        filter("$.event_type", "equals", r#""incident.updated""#),
    ];
    let miss = judge(&filters, BODY).unwrap_err();
    assert_eq!(
        miss.reason,
        "filter 2 ($.event_type equals \"incident.updated\"): the value is \"incident.created\""
    );
    assert!(miss.index == 1 && !miss.fault);
    for (filter, expected) in [
        (filter("$.x", "not_equals", "1"), "there is no such value"),
        (
            filter("$.priority", "gt", "1"),
            "the value \"2\" is not a number",
        ),
        (
            filter("$.n", "lt", r#""2026-11-15T07:30:00Z""#),
            "not an RFC 3339 time",
        ),
        (filter("$.n", "not_exists", ""), "the value is 5"),
    ] {
        let miss = judge(&[filter], BODY).unwrap_err();
        assert!(miss.reason.contains(expected), "{}", miss.reason);
    }
}

#[test]
fn what_is_wrong_with_a_value_is_said() {
    let long = format!(r#""{}""#, "x".repeat(4_096));
    let deep = format!("{}{}", "[".repeat(17), "]".repeat(17));
    let pattern = format!(r#""{}""#, "x".repeat(513));
    let many = format!("[{}1]", "1,".repeat(100));
    for (operator, value, expected) in [
        ("equals", "", "is missing; \"equals\" needs one"),
        ("exists", "1", "has no effect with \"exists\""),
        ("exists", "null", "has no effect with \"exists\""),
        ("contains", r#""""#, "would match everything"),
        ("contains", "[]", "must be a string"),
        ("contains", "null", "must be a string"),
        ("in", r#""a""#, "must be a list"),
        ("in", "[]", "would match nothing"),
        ("in", &many, "has 101 entries"),
        ("matches", "1", "must be a regular expression"),
        (
            "matches",
            r#""(""#,
            "not a regular expression: unclosed group",
        ),
        ("matches", r#""(?=a)""#, "look-ahead"),
        ("matches", r#""(a)\\1""#, "backreferences are not supported"),
        ("matches", r#""((a{100}){100}){100}""#, "repeats too much"),
        ("matches", &pattern, "at most 512"),
        ("gt", r#""x""#, "a number or an RFC 3339 time"),
        ("gt", "true", "a number or an RFC 3339 time"),
        ("equals", &long, "at most 4096"),
        ("equals", &deep, "deeper than 16"),
    ] {
        let value = if value.is_empty() {
            String::new()
        } else {
            format!(r#","value":{value}"#)
        };
        let text = format!(r#"{{"json_path":"$.a","operator":"{operator}"{value}}}"#);
        let said = read(&text).expect_err(&text);
        assert!(said.contains(expected), "{text}: {said}");
    }
}

/// Ample for a busy machine and an unoptimised build; without the guards it would be minutes.
const QUICK: Duration = Duration::from_secs(20);

#[test]
fn a_costly_path_on_a_big_body_ends_with_a_reason() {
    // Half a megabyte, nested so deep that every further descent multiplies.
    let body = format!(
        "{}{}{}",
        "[".repeat(100),
        "[1],".repeat(120_000) + "1",
        "]".repeat(100)
    );
    let began = Instant::now();
    let miss = judge(&[filter("$..*..*", "equals", "7")], &body).unwrap_err();
    assert!(miss.fault, "{}", miss.reason);
    assert!(
        miss.reason.contains("too costly for this document"),
        "{}",
        miss.reason
    );
    assert!(began.elapsed() < QUICK, "{:?}", began.elapsed());
}

#[test]
fn a_regular_expression_cannot_take_long() {
    let evil = [
        r#""(a+)+$""#,
        r#""(a|aa)+$""#,
        r#""(.*a){12}$""#,
        r#""(\\w\\w?){4}x$""#,
        r#""(?:a?){200}a{200}$""#,
        r#""[a-q][^u-z]{13}x""#,
    ];
    let text = format!(r#"{{"t":"{}!"}}"#, "a".repeat(MATCHED_BYTES_MAX - 1));
    let began = Instant::now();
    for pattern in evil {
        let outcome = judge(&[filter("$.t", "matches", pattern)], &text);
        assert!(outcome.is_err() || pattern.contains("200"), "{pattern}");
    }
    assert!(began.elapsed() < QUICK, "{:?}", began.elapsed());
    let longer = format!(r#"{{"t":"{}"}}"#, "a".repeat(MATCHED_BYTES_MAX + 1));
    let miss = judge(&[filter("$.t", "matches", r#""a""#)], &longer).unwrap_err();
    assert!(
        miss.reason.contains("at most 16384 can be searched"),
        "{}",
        miss.reason
    );
}
