//! Whether two JSON texts mean the same value.
//!
//! Both stay text: the wanted one is small and shallow, the other may be most of a body, which is
//! walked only as long as it agrees.

use std::collections::HashMap;

use crate::json::{Elements, Members, scan};
use crate::webhook::decimal;

/// Whether two valid JSON texts mean the same. Numbers by value, strings by characters, objects
/// whatever the order of their keys; where a key occurs twice the last one counts.
pub(super) fn equal(wanted: &str, found: &str) -> bool {
    match (first(wanted), first(found)) {
        (b'{', b'{') => objects(wanted, found),
        (b'[', b'[') => lists(wanted, found),
        (b'"', b'"') => scan::unescape(wanted) == scan::unescape(found),
        (a, b) if is_number(a) && is_number(b) => decimal::compare(wanted, found).is_eq(),
        _ => wanted == found,
    }
}

fn first(text: &str) -> u8 {
    text.as_bytes().first().copied().unwrap_or(0)
}

fn is_number(byte: u8) -> bool {
    byte == b'-' || byte.is_ascii_digit()
}

fn lists(wanted: &str, found: &str) -> bool {
    let mut found = Elements::of(found);
    Elements::of(wanted).all(|wanted| found.next().is_some_and(|found| equal(wanted, found)))
        && found.next().is_none()
}

fn objects(wanted: &str, found: &str) -> bool {
    let wanted: HashMap<_, _> = Members::of(wanted).collect();
    let mut last: HashMap<_, &str> = HashMap::with_capacity(wanted.len());
    for (name, value) in Members::of(found) {
        if !wanted.contains_key(&name) {
            return false;
        }
        last.insert(name, value);
    }
    wanted
        .iter()
        .all(|(name, wanted)| last.get(name).is_some_and(|found| equal(wanted, found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_by_meaning_and_type() {
        for (left, right, expected) in [
            ("1", "1.0", true),
            ("9007199254740993", "9007199254740992", false),
            ("-1", "1", false),
            ("2", "\"2\"", false),
            ("\"a\"", "\"\\u0061\"", true),
            ("\"a\"", "\"A\"", false),
            ("null", "null", true),
            ("null", "false", false),
            ("true", "true", true),
            ("true", "\"true\"", false),
            (
                r#"{"a":1,"b":[2]}"#,
                r#"{ "b" : [ 2.0 ], "\u0061":1e0 }"#,
                true,
            ),
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false),
            (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, false),
            (r#"{"a":1}"#, r#"{"a":2,"a":1}"#, true),
            (r#"{"a":1,"a":2}"#, r#"{"a":1}"#, false),
            ("[1,2]", "[2,1]", false),
            ("[1]", "[1,2]", false),
            ("[1,2]", "[1]", false),
            ("[]", "[]", true),
            ("[]", "{}", false),
        ] {
            assert_eq!(equal(left, right), expected, "{left} {right}");
        }
    }
}
