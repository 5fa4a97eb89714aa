//! Tests of JSON text: what is refused, what survives, and that locating agrees with serde_json.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn key(name: &str) -> Segment {
    Segment::Key(name.into())
}

#[test]
fn the_text_stays_as_it_was() {
    let text = r#"{"b":12345678901234567890123, "a" : "x\u0000y", "b": 1.50e+2}"#;
    let json = Json::parse(text).unwrap();
    assert_eq!(json.as_str(), text);
    assert_eq!(serde_json::to_string(&json).unwrap(), text);
    assert_eq!(serde_json::from_str::<Json>(text).unwrap(), json);
    let wrapped = format!("{{\"payload\":{text}}}");
    #[derive(Serialize, Deserialize)]
    struct Wrapper {
        payload: Json,
    }
    let wrapper: Wrapper = serde_json::from_str(&wrapped).unwrap();
    assert_eq!(wrapper.payload, json);
    assert_eq!(serde_json::to_string(&wrapper).unwrap(), wrapped);
}

#[test]
fn white_space_around_the_value_is_dropped() {
    let json = Json::parse(" \n{ }\t\r\n").unwrap();
    assert_eq!(json.as_str(), "{ }");
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    let table = [
        ("", 1, 1, "the text is empty"),
        ("  ", 1, 2, "the text is empty"),
        ("{\"a\":}", 1, 6, "expected value, found '}'"),
        (
            "{\n  \"a\": 1,\n  \"ü\": x\n}",
            3,
            8,
            "expected value, found 'x'",
        ),
        ("[1,]", 1, 4, "expected value, found ']'"),
        ("{'a':1}", 1, 2, "found '\\''"),
        ("[1", 1, 2, "EOF while parsing a list"),
        ("1 2", 1, 3, "trailing characters, found '2'"),
        ("nulx", 1, 4, "expected ident, found 'x'"),
        ("01", 1, 2, "invalid number"),
        ("\"a\nb\"", 1, 3, "a line break or control character"),
        ("\u{feff}{}", 1, 1, "expected value"),
        ("NaN", 1, 1, "expected value, found 'N'"),
    ];
    for (text, line, column, expected) in table {
        let error = Json::parse(text).expect_err(text);
        assert!(error.message.contains(expected), "{text:?}: {error}");
        assert_eq!(
            (error.line, error.column),
            (line, column),
            "{text:?}: {error}"
        );
    }
}

#[test]
fn bytes_that_are_no_utf8_are_named() {
    let error = Json::from_bytes(b"{\n\"a\":\"\xff\"}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the text is not UTF-8: bad byte at offset 7 (line 2, column 6)"
    );
    assert_eq!(Json::from_bytes(b"[1]").unwrap().as_str(), "[1]");
}

#[test]
fn depth_is_bounded_without_using_stack() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Json::parse(nested(DEPTH_MAX)).is_ok());
    let error = Json::parse(nested(DEPTH_MAX + 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "nested deeper than 128 levels (line 1, column 129)"
    );
    assert!(Json::parse("[".repeat(200_000)).is_err());
    assert!(Json::parse("{\"a\":".repeat(200_000)).is_err());
    assert!(serde_json::from_str::<Json>(&nested(200_000)).is_err());
    // What was accepted can be wrapped, stored and read again.
    let deep = Json::parse(nested(DEPTH_MAX)).unwrap();
    let stored = serde_json::to_string(&ObjectBuilder::new().json("body", &deep).build()).unwrap();
    assert!(serde_json::from_str::<Json>(&stored).is_ok());
    // Brackets inside strings are text.
    assert!(Json::parse(format!("\"{}\"", "[".repeat(1000))).is_ok());
    assert!(Json::parse(format!("\"\\\"{}\"", "[".repeat(1000))).is_ok());
}

#[test]
fn kinds_and_texts() {
    let table = [
        ("null", Kind::Null),
        ("true", Kind::Bool),
        ("-1.5e300", Kind::Number),
        ("\"x\"", Kind::String),
        ("[]", Kind::Array),
        ("{}", Kind::Object),
    ];
    for (text, kind) in table {
        assert_eq!(Json::parse(text).unwrap().kind(), kind);
    }
    assert!(Json::null().is_null() && Json::empty_object().kind() == Kind::Object);
    assert_eq!(Json::bool(true).as_bool(), Some(true));
    assert_eq!(Json::parse("1").unwrap().as_bool(), None);
    let text = Json::parse(r#""a\n\u00e4\ud83d\ude00\/\ud800x\u0000""#).unwrap();
    assert_eq!(text.as_text().unwrap(), "a\nä😀/\u{fffd}x\u{0}");
    assert_eq!(Json::parse("1").unwrap().as_text(), None);
    assert_eq!(
        Json::string("a\"\\\u{1}\n😀").as_str(),
        r#""a\"\\\u0001\n😀""#
    );
}

#[test]
fn members_and_elements_are_raw() {
    let json = Json::parse(r#"{ "a\u0062" : [1 , {"x":2}] ,"c":null, "c" : 3 }"#).unwrap();
    let members: Vec<_> = json.members().map(|(k, v)| (k.into_owned(), v)).collect();
    assert_eq!(
        members,
        [
            ("ab".to_owned(), "[1 , {\"x\":2}]"),
            ("c".to_owned(), "null"),
            ("c".to_owned(), "3")
        ]
    );
    let array = json.at(&[key("ab")]).unwrap();
    assert_eq!(array.elements().collect::<Vec<_>>(), ["1", "{\"x\":2}"]);
    assert_eq!(array.members().count() + json.elements().count(), 0);
    assert_eq!(Json::empty_object().members().count(), 0);
    assert_eq!(Json::parse("[ ]").unwrap().elements().count(), 0);
    assert_eq!(
        json.at(&[key("c")]).unwrap().as_str(),
        "3",
        "the last of two keys counts"
    );
    assert_eq!(json.at(&[key("ab"), Segment::Index(2)]), None);
    assert_eq!(json.at(&[Segment::Index(0)]), None);
    assert_eq!(json.at(&[]), Some(json.clone()));
}

#[test]
fn builders_splice() {
    let body = Json::parse(r#"{"n":12345678901234567890123}"#).unwrap();
    let headers = ObjectBuilder::new().text("x-\"odd\"", "1\n2").build();
    let output = ObjectBuilder::new()
        .number("status", 200)
        .json("headers", &headers)
        .json("body", &body)
        .build();
    assert_eq!(
        output.as_str(),
        r#"{"status":200,"headers":{"x-\"odd\"":"1\n2"},"body":{"n":12345678901234567890123}}"#
    );
    let mut array = ArrayBuilder::new();
    array.push(&body);
    array.push(&Json::null());
    assert_eq!(
        array.build().as_str(),
        r#"[{"n":12345678901234567890123},null]"#
    );
    assert_eq!(ObjectBuilder::default().build().as_str(), "{}");
    assert_eq!(ArrayBuilder::default().build().as_str(), "[]");
}

#[test]
fn slices_are_checked() {
    let json = Json::parse("{\"a\":[1,2]}").unwrap();
    assert_eq!(json.slice(5..10).unwrap().as_str(), "[1,2]");
    assert_eq!(json.slice(5..9), None);
    assert_eq!(json.slice(0..100), None);
}

#[test]
fn locating_in_text_that_was_not_checked_ends() {
    let path = [key("a"), Segment::Index(1)];
    for text in [
        "",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":[",
        "{\"a\":[#,#]}",
        "[#",
        "}}",
        "{\"a\\",
    ] {
        assert_eq!(locate(text, &path), None, "{text}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        "\\PC{0,8}|[\"\\\\\n\t]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"\\\\ü]{0,2}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Every path of a value with what stands there.
fn paths(value: &Value, at: &mut Vec<Segment>, all: &mut Vec<(Vec<Segment>, Value)>) {
    all.push((at.clone(), value.clone()));
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push(Segment::Index(index));
                paths(item, at, all);
                at.pop();
            }
        }
        Value::Object(map) => {
            for (name, item) in map {
                at.push(key(name));
                paths(item, at, all);
                at.pop();
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn locate_agrees_with_serde_json(value in value(), pretty: bool) {
        let text = if pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        let mut all = Vec::new();
        paths(&value, &mut Vec::new(), &mut all);
        for (path, expected) in all {
            let range = locate(&text, &path).expect("the path exists");
            let found: Value = serde_json::from_str(&text[range]).unwrap();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn random_text_never_panics(text in "\\PC{0,60}|[\\[\\]{}\",:0-9a\\\\ ]{0,60}") {
        let ours = Json::parse(text.as_str()).is_ok();
        prop_assert_eq!(ours, serde_json::from_str::<IgnoredAny>(&text).is_ok());
        let _ = locate(&text, &[key("a"), Segment::Index(0)]);
        let string = Json::string(&text);
        prop_assert_eq!(string.as_text().unwrap(), text);
    }
}

#[test]
fn several_paths_are_located_in_one_walk_as_each_alone() {
    let texts = [
        r#" { "a" : { "b": [1, {"c": null}, [2, 3]] , "a": {"b": "x"} }, "d": "{\"a\":1}" } "#,
        r#"{"a":{"b":1},"\u0061":{"c":2},"a":{"b":[],"c":3}}"#,
        r#"{"a":{"b":1},"a":7}"#,
        r#"[[1,2],[3,{"b":4}],{"a":[5]}]"#,
        r#""text""#,
        "0",
        "{}",
        "[]",
    ];
    let key = |name: &str| Segment::Key(name.into());
    let steps = [
        key("a"),
        key("b"),
        key("c"),
        Segment::Index(0),
        Segment::Index(1),
        Segment::Index(9),
    ];
    // Every path of up to three of these.
    let mut paths: Vec<Vec<Segment>> = vec![Vec::new()];
    for length in 0..3 {
        let longest: Vec<_> = paths
            .iter()
            .filter(|path| path.len() == length)
            .cloned()
            .collect();
        for path in longest {
            paths.extend(
                steps
                    .iter()
                    .map(|step| [path.as_slice(), std::slice::from_ref(step)].concat()),
            );
        }
    }
    let paths: Vec<&[Segment]> = paths.iter().map(Vec::as_slice).collect();
    for text in texts {
        let alone: Vec<_> = paths.iter().map(|path| locate(text, path)).collect();
        assert_eq!(locate_all(text, &paths), alone, "{text}");
    }
    let found = paths
        .iter()
        .filter(|path| locate(texts[0], path).is_some())
        .count();
    assert!(found >= 7, "the paths lead somewhere: {found}");
}
