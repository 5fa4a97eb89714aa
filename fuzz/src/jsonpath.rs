//! JSONPath: any expression is refused or evaluated in bounded time, and what it finds is what
//! the library behind finds on the parsed document.

use refire_core::json::Json;
use refire_core::jsonpath::{JsonPath, MATCHES_MAX};
use serde_json::Value;

use super::first_line;

/// The first line is the expression, the rest is the document.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (expression, document) = first_line(text);
    let path = match JsonPath::parse(expression) {
        Ok(path) => path,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert_eq!(path.as_str(), expression);
    let Ok(json) = Json::parse(document) else {
        return;
    };
    let Ok(ranges) = path.matches(&json) else {
        return;
    };
    assert!(ranges.len() <= MATCHES_MAX);
    let found: Vec<Json> = ranges
        .into_iter()
        .map(|range| json.slice(range).expect("a match is a value"))
        .collect();
    let extracted = path.extract(&json).expect("it matched");
    match found.as_slice() {
        [] => assert!(extracted.is_null()),
        [one] => assert_eq!(&extracted, one),
        several => assert_eq!(extracted.elements().count(), several.len()),
    }
    assert_eq!(
        path.first(&json).expect("it matched").as_ref(),
        found.first()
    );
    compare(expression, &json, &found);
}

/// Against the library on a tree that serde_json built. Numbers that it cannot hold, and lone
/// surrogates, which it refuses, are ours alone.
fn compare(expression: &str, json: &Json, found: &[Json]) {
    let Ok(tree) = serde_json::from_str::<Value>(json.as_str()) else {
        return;
    };
    let Ok(path) = serde_json_path::JsonPath::parse(expression) else {
        panic!("{expression}: taken here, refused by the library");
    };
    let expected: Vec<&Value> = path.query(&tree).all();
    let found: Vec<Value> = found
        .iter()
        .map(|value| serde_json::from_str(value.as_str()).expect("a part of what was read"))
        .collect();
    assert_eq!(
        found.iter().collect::<Vec<_>>(),
        expected,
        "{expression} on {json}"
    );
}
