//! Tests of reading YAML and JSON into nodes.

use proptest::prelude::*;

use super::*;

fn json(source: &str) -> String {
    Node::parse(source)
        .unwrap_or_else(|problem| panic!("{source}: {problem}"))
        .to_json()
        .to_string()
}

fn refused(source: &str) -> String {
    Node::parse(source).expect_err(source).to_string()
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    let table = [
        ("no", "\"no\""),
        ("on", "\"on\""),
        ("Yes", "\"Yes\""),
        ("true", "true"),
        ("FALSE", "false"),
        ("~", "null"),
        ("null", "null"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("+5", "5"),
        ("007", "7"),
        ("-0", "-0"),
        ("0x1F", "31"),
        ("0o17", "15"),
        (".5", "0.5"),
        ("1.", "1"),
        ("1.50", "1.50"),
        ("1e3", "1e3"),
        ("-1.5E+3", "-1.5E+3"),
        ("1_000", "\"1_000\""),
        ("1.2.3", "\"1.2.3\""),
        ("2024-01-01", "\"2024-01-01\""),
        ("0x", "\"0x\""),
        ("e3", "\"e3\""),
        ("'5'", "\"5\""),
        ("\"\\u0000\"", "\"\\u0000\""),
        ("!!str 5", "\"5\""),
        ("!!int 5", "5"),
        ("|\n  a\n  b\n", "\"a\\nb\\n\""),
    ];
    for (source, expected) in table {
        assert_eq!(
            json(&format!("a: {source}")),
            format!("{{\"a\":{expected}}}"),
            "{source}"
        );
    }
}

#[test]
fn anchors_and_merge_keys_are_expanded() {
    let source =
        "base: &b {x: 1, y: [2]}\nuse:\n  <<: *b\n  x: 3\nmany:\n  <<: [*b, {z: 4, x: 9}]\n";
    assert_eq!(
        json(source),
        r#"{"base":{"x":1,"y":[2]},"use":{"x":3,"y":[2]},"many":{"x":1,"y":[2],"z":4}}"#
    );
    assert_eq!(json("'<<': 1"), r#"{"<<":1}"#);
}

#[test]
fn json_goes_its_own_way() {
    let long = "k".repeat(3000);
    let source = format!("{{\n\t\"{long}\" :\t1,\n\t\"b\": [1.0, \"\\/\"]}}");
    assert_eq!(json(&source), format!("{{\"{long}\":1,\"b\":[1.0,\"/\"]}}"));
    let node = Node::parse(&source).unwrap();
    let b = node.get("b").unwrap();
    assert_eq!((b.mark.line, b.mark.column), (3, 7));
    // Flow YAML is not JSON and is read all the same.
    assert_eq!(json("{a: 1, b: [x]}"), r#"{"a":1,"b":["x"]}"#);
}

#[test]
fn every_node_knows_its_place() {
    let node = Node::parse("# comment\na:\n  - x\n  - ü: 1\n    z: 2\n").unwrap();
    let Content::Sequence(items) = &node.get("a").unwrap().content else {
        panic!()
    };
    assert_eq!(items[0].mark, Mark { line: 3, column: 5 });
    let Content::Mapping(members) = &items[1].content else {
        panic!()
    };
    assert_eq!(members[0].0.mark, Mark { line: 4, column: 5 });
    assert_eq!(members[0].1.mark, Mark { line: 4, column: 8 });
    assert_eq!(members[1].0.mark, Mark { line: 5, column: 5 });
}

#[test]
fn what_cannot_be_read_is_named() {
    let table = [
        ("", "is empty"),
        ("# only a comment", "is empty"),
        (
            "a: 1\nb: 2\na: 3",
            "\"a\" is given twice, in line 1 and in line 3",
        ),
        (
            "{\"a\": 1,\n\"a\": 2}",
            "\"a\" is given twice, in line 1 and in line 2",
        ),
        ("a: 1\n---\nb: 2", "more than one document"),
        ("a: !secret x", "the tag !secret is not known"),
        ("a: !!binary x", "is not known"),
        ("a: .inf", "has no JSON form"),
        ("a: [${x}, b]", "templates must be quoted"),
        ("a: *nobody", "invalid YAML"),
        ("a: 1\ncron: * * * * *\nb: 2", "put the value in quotes"),
        ("cron: */5 * * * *", "put the value in quotes"),
        ("cron: @daily", "put the value in quotes"),
        ("{ type: cron, cron: * * * * * }", "put the value in quotes"),
        ("a: &x [*x]", "contains it"),
        ("? [a]\n: 1", "a key must be"),
        ("a: 1\n<<: 2", "merges a mapping"),
        ("a:\n\tb: 1", "invalid YAML"),
        ("{\"a\": 1,, }", "invalid JSON"),
        ("a: 'x", "invalid YAML"),
    ];
    for (source, expected) in table {
        let said = refused(source);
        assert!(said.contains(expected), "{source:?}: {said}");
    }
}

#[test]
fn hostile_texts_are_cheap() {
    assert!(refused(&"[".repeat(200_000)).contains("line 1"));
    assert!(refused(&"{\"a\":".repeat(200_000)).contains("line 1"));
    assert!(refused(&"- ".repeat(200_000)).contains("line 1"));
    let json = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert!(refused(&json).contains("nested deeper than 64"));
    let yaml = format!("a: {}x{}", "[".repeat(100), "]".repeat(100));
    assert!(refused(&yaml).contains("nested deeper than 64"));
    assert!(refused(&"a".repeat(SOURCE_BYTES_MAX + 1)).contains("at most 1048576"));
    let many = format!("[{}1]", "1,".repeat(SOURCE_NODES_MAX));
    assert!(refused(&many).contains("more than 20000 values"));
    assert!(refused(&format!("a: {many}")).contains("more than 20000 values"));
}

#[test]
fn an_alias_bomb_is_a_definition_that_is_too_large() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let uses = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
    }
    assert!(refused(&bomb).contains("more than 20000 values (aliases expanded)"));
    let mut deep = String::from("a0: &a0 [x]\n");
    for level in 1..80 {
        deep.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    assert!(refused(&deep).contains("nested deeper than 64"));
}

#[test]
fn a_long_text_aliased_often_is_too_much_text() {
    let long = "x".repeat(1_000_000);
    let uses = "  - *a\n".repeat(3_000);
    let said = refused(&format!("description: &a \"{long}\"\nuses:\n{uses}"));
    // The value itself, the kept copy and two aliases are within four times the largest source.
    assert!(
        said.contains("more than 4194304 bytes of text (aliases expanded)")
            && said.contains("line 5"),
        "{said}"
    );
    let merges = "  - {<<: *a}\n".repeat(3_000);
    let said = refused(&format!("base: &a {{k: \"{long}\"}}\nuses:\n{merges}"));
    assert!(
        said.contains("bytes of text") && said.contains("line 5"),
        "{said}"
    );
    let keys = "  - *a\n".repeat(8_000);
    let said = refused(&format!(
        "base: &a {{{}: 1}}\nuses:\n{keys}",
        "k".repeat(1_000)
    ));
    assert!(said.contains("bytes of text"), "{said}");
    // What is written once is never too much, anchored or not.
    let largest = "x".repeat(SOURCE_BYTES_MAX - 100);
    assert!(Node::parse(&format!("a: &a {largest}\nb: *a")).is_ok());
}

#[test]
fn places_are_right_far_along_a_line() {
    let items = vec![format!("\"{}\"", "ü".repeat(20)); SOURCE_NODES_MAX - 1].join(",");
    let node = Node::parse(&format!("[{items}]")).unwrap();
    let Content::Sequence(items) = node.content else {
        panic!()
    };
    let last = items.last().unwrap();
    assert_eq!(last.mark, Mark::at(1, 2 + (SOURCE_NODES_MAX - 2) * 23));
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}|[-:\\[\\]{}&*<>|#'\"!\n ab1?,]{0,80}") {
        let _ = Node::parse(&text);
    }

    #[test]
    fn json_and_yaml_read_alike(number in any::<i64>(), text in "[a-zA-Z ]{1,10}", flag: bool) {
        let json = format!("{{\"n\":{number},\"t\":\"{text}\",\"l\":[{flag},null]}}");
        let yaml = format!("n: {number}\nt: \"{text}\"\nl:\n  - {flag}\n  -\n");
        prop_assert_eq!(
            Node::parse(&json).unwrap().to_json(),
            Node::parse(&yaml).unwrap().to_json()
        );
    }
}
