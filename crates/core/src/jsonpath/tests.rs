//! Tests of JSONPath: guards, and answers byte for byte.

use proptest::prelude::*;

use super::*;

fn texts(path: &str, json: &str) -> Vec<String> {
    let json = Json::parse(json).unwrap();
    let ranges = JsonPath::parse(path).unwrap().matches(&json).unwrap();
    ranges
        .into_iter()
        .map(|range| json.as_str()[range].to_owned())
        .collect()
}

#[test]
fn matches_are_copied_byte_for_byte() {
    let json = r#"{"b": {"n": 12345678901234567890123, "s":"\u0000"},
        "list":[ {"id" : 1, "big":1e400}, {"id":2.50} , {"id":"x"}], "d":1, "d": { "z":1,"a":2 }}"#;
    let table: &[(&str, &[&str])] = &[
        ("$.b.n", &["12345678901234567890123"]),
        ("$['b']['s']", &["\"\\u0000\""]),
        (
            "$.b",
            &["{\"n\": 12345678901234567890123, \"s\":\"\\u0000\"}"],
        ),
        ("$.list[*].id", &["1", "2.50", "\"x\""]),
        ("$.list[-1].id", &["\"x\""]),
        ("$.list[2,0].id", &["\"x\"", "1"]),
        ("$.list[0].big", &["1e400"]),
        ("$.list[?@.id == 2.5]", &["{\"id\":2.50}"]),
        ("$.list[?@.id == $.list[0].id].big", &["1e400"]),
        ("$..id", &["1", "2.50", "\"x\""]),
        ("$.d", &["{ \"z\":1,\"a\":2 }"]),
        ("$.d.*", &["2", "1"]),
        ("$.none", &[]),
        ("$.list[9]", &[]),
        ("$.list[1:]['id']", &["2.50", "\"x\""]),
    ];
    for (path, expected) in table {
        assert_eq!(texts(path, json), *expected, "{path}");
    }
    assert_eq!(texts("$", " [1] "), ["[1]"]);
}

#[test]
fn the_plain_way_and_the_general_way_agree() {
    let json = Json::parse(r#"{"a":{"b":[0,{"c d":7}]},"a b":1,"0":2}"#).unwrap();
    for path in [
        "$",
        "$.a",
        "$.a.b[1]",
        "$.a.b[1]['c d']",
        "$[\"a b\"]",
        "$['0']",
        "$.x",
        "$[0]",
    ] {
        assert!(plain(path).is_some(), "{path}");
        let general = serde_json_path::JsonPath::parse(path).expect(path);
        let document = document::Document::read(json.as_str());
        let expected = document.ranges(&general.query(document.root()).all());
        assert_eq!(
            JsonPath::parse(path).unwrap().matches(&json).unwrap(),
            expected,
            "{path}"
        );
    }
    for path in [
        "$.a[-1]",
        "$.*",
        "$..a",
        "$[01]",
        "$.ä",
        "$['a\\'b']",
        "$[ 0 ]",
        "$.a[0:1]",
    ] {
        assert!(plain(path).is_none(), "{path}");
    }
}

#[test]
fn the_last_of_equal_keys_counts_whatever_stands_under_the_first() {
    for first in [
        "1",
        "[1,2]",
        r#"["b",7]"#,
        r#"{"b":5,"c":6}"#,
        r#"{}"#,
        r#""b""#,
    ] {
        let json = Json::parse(format!(r#"{{"a":{first},"a":{{"b":2}}}}"#)).unwrap();
        for path in ["$..b", "$.a.b", "$[?@.b].b", "$.a.*"] {
            let found = JsonPath::parse(path).unwrap().extract(&json).unwrap();
            assert_eq!(found.as_str(), "2", "{path} on {json}");
        }
    }
    let json = Json::parse(r#"{"a":{"x":1},"a":[3,[4]],"b":0}"#).unwrap();
    let found = JsonPath::parse("$..*").unwrap().extract(&json).unwrap();
    assert_eq!(found.as_str(), "[[3,[4]],0,3,[4],4]");
}

#[test]
fn a_text_that_ends_inside_a_quote_is_an_error() {
    for (path, at) in [
        ("$['", 3),
        (r"$['\u", 3),
        (r#"$.a["\uD"#, 5),
        (r"$[?@.a == '\uD83D\ud", 11),
        (r"$['\'", 3),
    ] {
        let said = JsonPath::parse(path).unwrap_err().to_string();
        let expected = format!("the quote is never closed (at character {at})");
        assert!(said.ends_with(&expected), "{path}: {said}");
    }
}

#[test]
fn queries_of_one_document_have_a_bound_together() {
    let numbers = Json::parse(format!("[{}1]", "1,".repeat(7_999))).unwrap();
    let (all, one) = (
        JsonPath::parse("$[*]").unwrap(),
        JsonPath::parse("$[1]").unwrap(),
    );
    let mut search = Search::new(&numbers);
    assert_eq!(search.matches(&all).unwrap().len(), 8_000);
    assert_eq!(search.matches(&all).unwrap().len(), 8_000);
    assert_eq!(
        search.matches(&all),
        Err(PathError::TooManyMatches {
            path: "$[*]".to_owned(),
            count: 8_000
        }),
        "{MATCHES_TOGETHER_MAX} in all"
    );
    let found = search.matches(&one).unwrap();
    assert_eq!(found.len(), 1, "a small one still fits");
    // A deep document makes the estimate high and leaves the query cheap.
    let costly = JsonPath::parse("$..[?@[?@[?@.a]]]").unwrap();
    let deep = format!("{}1{}", "[".repeat(13), "]".repeat(13));
    let document = Json::parse(format!("[{}1]", format!("{deep},").repeat(20))).unwrap();
    let mut search = Search::new(&document);
    let answers: Vec<bool> = (0..30).map(|_| search.matches(&costly).is_ok()).collect();
    assert!(answers[0] && !answers[29], "{answers:?}");
    assert!(
        answers.is_sorted_by(|a, b| a >= b),
        "once it is over it stays so: {answers:?}"
    );
}

#[test]
fn extraction_follows_the_number_of_matches() {
    let json = Json::parse(r#"{"l":[{"x":1},{"x":  2}]}"#).unwrap();
    let extract = |path: &str| {
        JsonPath::parse(path)
            .unwrap()
            .extract(&json)
            .unwrap()
            .to_string()
    };
    assert_eq!(extract("$.none"), "null");
    assert_eq!(extract("$.l[0].x"), "1");
    assert_eq!(extract("$.l[*].x"), "[1,2]");
    assert_eq!(
        JsonPath::parse("$..x")
            .unwrap()
            .first(&json)
            .unwrap()
            .unwrap()
            .as_str(),
        "1"
    );
}

#[test]
fn what_is_wrong_is_refused_before_the_recursive_parser_sees_it() {
    let table = [
        ("".to_owned(), "must begin with `$`"),
        ("body.id".to_owned(), "must begin with `$`"),
        ("$.".to_owned(), "not a JSONPath"),
        ("$.a[".to_owned(), "not a JSONPath"),
        (
            format!("$[?{}@.a{}]", "(".repeat(5000), ")".repeat(5000)),
            "at most 1024",
        ),
        (
            format!("$[?{}@.a{}]", "(".repeat(400), ")".repeat(400)),
            "nested deeper than 32",
        ),
        (format!("$[?{}@.a]", "!".repeat(900)), "`!!`"),
        (
            "$..*..*..*".to_owned(),
            "3 descendant segments (`..`), at most 2",
        ),
        (format!("${}", "[*,*]".repeat(20)), "multiply to more than"),
    ];
    for (path, expected) in table {
        let said = JsonPath::parse(&path).expect_err(&path).to_string();
        assert!(said.contains(expected), "{said}");
    }
    assert!(
        JsonPath::parse("$['((((..??']").is_ok(),
        "quoted text is no structure"
    );
}

#[test]
fn costly_queries_are_refused_for_large_documents() {
    let large = Json::parse(format!("[{}]", vec!["[[[1]]]"; 20_000].join(","))).unwrap();
    let run = |path: &str| JsonPath::parse(path).unwrap().matches(&large);
    assert!(matches!(
        run("$..*"),
        Err(PathError::TooManyMatches { count: 80_000, .. })
    ));
    assert!(matches!(
        run("$[?count($..*) > 1]"),
        Err(PathError::DocumentTooLarge { .. })
    ));
    assert!(matches!(
        run("$[?match(@[0], 'a.*')]"),
        Err(PathError::DocumentTooLarge { .. })
    ));
    assert_eq!(run("$[0][0][0][0]").unwrap().len(), 1);
    let texts = Json::parse(format!("[{}]", vec!["{\"a\":\"b\"}"; 100].join(","))).unwrap();
    let run = |path: &str| JsonPath::parse(path).unwrap().matches(&texts);
    assert_eq!(run("$[?match(@.a, 'b+')]").unwrap().len(), 100);
    assert_eq!(run("$[?search(@['a'], \"\\\\w\")]").unwrap().len(), 100);
    for costly in [
        r"$[?match(@.a, '\\pL{50}')]",
        r"$[?match(@.a, '\\pL\u007b50}')]",
        "$[?match(@.a, @.re)]",
        "$[?match(@.a, @['re'])]",
    ] {
        assert!(
            matches!(run(costly), Err(PathError::DocumentTooLarge { .. })),
            "{costly}"
        );
    }
    let small = Json::parse("[1,[2]]").unwrap();
    assert_eq!(
        JsonPath::parse("$..*..*")
            .unwrap()
            .matches(&small)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn whole_values_compared_for_each_value_are_refused() {
    let ones = vec!["1"; 60_000].join(",");
    let large = Json::parse(format!("{{\"body\":[[{ones}],{ones}]}}")).unwrap();
    // Carried out, most of them would compare billions of values; they are refused before that.
    for path in [
        "$.body[?$.body[0] == $.body[0]]",
        "$.body[?$.body[0] != $['body'][0]]",
        "$.body[?@ == 1 || $.body == $.body]",
        "$.body[?(1 == 1) && ($ == $)]",
        "$.body[*][?$.body[0] == 1]",
        "$[?@[?$.body[0] == $.body[0]]]",
        "$[?$.body[?$.body[0] == $.body[0]]]",
        "$.body[?$.body[0]]",
        "$.body[?length($.body[0]) > 1]",
    ] {
        let answer = JsonPath::parse(path).unwrap().matches(&large);
        assert!(
            matches!(answer, Err(PathError::DocumentTooLarge { .. })),
            "{path}"
        );
    }
    // One look at each value is what a filter is for.
    let each = JsonPath::parse("$.body[?@ == 2]").unwrap();
    assert_eq!(each.matches(&large).unwrap().len(), 0);
    // Values inside each other are compared once for each level.
    let deep = format!("{}{ones}{}", "[".repeat(100), "]".repeat(100));
    let deep = Json::parse(deep).unwrap();
    let within = JsonPath::parse("$..[?@ == @]").unwrap().matches(&deep);
    assert!(matches!(within, Err(PathError::DocumentTooLarge { .. })));
    // Few values, but long ones.
    let text = "x".repeat(1_000_000);
    let numbers = vec!["1"; 1_000].join(",");
    let long = Json::parse(format!("{{\"t\":\"{text}\",\"l\":[{numbers}]}}")).unwrap();
    let compared = JsonPath::parse("$.l[?$.t == $.t]").unwrap().matches(&long);
    assert!(matches!(compared, Err(PathError::DocumentTooLarge { .. })));
}

#[test]
fn a_long_condition_costs_more_than_a_short_one() {
    let numbers = Json::parse(format!("[{}]", vec!["1"; 60_000].join(","))).unwrap();
    for condition in ["1==1&&", "@==1&&"] {
        let path = format!("$[?{}@==2]", condition.repeat(160));
        assert!(matches!(
            JsonPath::parse(&path).unwrap().matches(&numbers),
            Err(PathError::DocumentTooLarge { .. })
        ));
    }
}

#[test]
fn ordinary_filters_pass() {
    let item = |at: usize| {
        format!(
            r#"{{"id":{at},"name":"n{at}","price":{at},"tags":["a","b"],"at":{{"city":"x","zip":"y"}},"note":"some words of text"}}"#
        )
    };
    let items = (0..200).map(item).collect::<Vec<_>>().join(",");
    let json = Json::parse(format!(r#"{{"wanted":7,"body":{{"items":[{items}]}}}}"#)).unwrap();
    let table = [
        ("$.body.items[?@.price > 100 && @.name != 'n3']", 99),
        ("$.body.items[?@.id == $.wanted]", 1),
        (
            "$.body.items[?@.id == $.wanted || @.id == $.body.items[0].id]",
            2,
        ),
        (
            "$.body.items[?@.id == $.wanted && @.at.city == 'x'].at.zip",
            1,
        ),
        ("$.body.items[?@.tags[?@ == 'a']].id", 200),
        ("$.body.items[?match(@.name, 'n1.*')].id", 111),
        ("$..items[?@.id == 5]", 1),
        ("$..[?@.city == 'x']", 200),
    ];
    for (path, expected) in table {
        let found = JsonPath::parse(path).unwrap().matches(&json);
        assert_eq!(found.map(|found| found.len()), Ok(expected), "{path}");
    }
}

#[test]
fn deep_documents_are_fine() {
    let text = format!("{}1{}", "[".repeat(128), "]".repeat(128));
    let json = Json::parse(text).unwrap();
    assert_eq!(
        JsonPath::parse("$..[0]")
            .unwrap()
            .matches(&json)
            .unwrap()
            .len(),
        128
    );
}

proptest! {
    #[test]
    fn no_expression_panics(path in "[$@.*\\[\\]()?'\"a0,:!&=-]{0,40}|\\PC{0,30}") {
        if let Ok(path) = JsonPath::parse(&format!("${path}")) {
            let json = Json::parse(r#"{"a":[0,{"a":"0"},[[]]],"0":null}"#).unwrap();
            let _ = path.matches(&json);
        }
    }
}

#[test]
fn the_parser_behind_is_quick_on_everything_the_guard_lets_through() {
    let nested = |open: &str, close: &str, levels: usize| {
        format!("$[?{}@.a==1{}]", open.repeat(levels), close.repeat(levels))
    };
    let allowed = [
        nested("(", ")", 31),
        nested("!(", ")", 31),
        nested("(@.a&&(", "))", 15),
        nested("@[?", "]", PATH_FILTERS_NESTED_MAX - 1),
        format!("$[?{}@.a{}>1]", "length(".repeat(31), ")".repeat(31)),
        format!("$[?{}@.a]", "@.a&&".repeat(190)),
        format!(
            "$[?{}]",
            vec!["count(@[?count(@[?@.a==1])>1])>1"; 28].join("&&")
        ),
    ];
    for path in allowed {
        JsonPath::parse(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    // The parser tries each level twice, so the time would double with every one.
    let said = JsonPath::parse(&nested("@[?", "]", 30))
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("filters are nested deeper than 3 levels"),
        "{said}"
    );
}
