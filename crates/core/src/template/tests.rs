//! Tests of templates: what is refused, and what comes out byte for byte.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::definition::source::Node;
use crate::json::locate;

/// A scope over fixed texts.
struct World {
    input: &'static str,
}

const INPUT: &str = r#"{ "id": 12345678901234567890123, "o": {"z":1, "a": [ 1.50 ] ,"z":2},
    "s": "a\"b\u0000\u00e4", "nil": null, "yes": true, "odd name": {"}": "brace"}}"#;

impl Scope for World {
    fn resolve(&self, reference: &Reference) -> Option<Cow<'_, str>> {
        let text = match &reference.root {
            Root::Input | Root::Context => self.input,
            Root::Step(id) if &**id == "first" => r#"{"status":200,"body":"ok"}"#,
            Root::Step(_) => return None,
            Root::ExecutionId => "\"exec_1\"",
            Root::WorkflowId => "\"wf\"",
            Root::TriggerType => "\"manual\"",
            Root::TriggerScheduledAt => "null",
            Root::TriggerCycle => "7",
            Root::Attempt => "3",
            Root::CallbackUrl => "\"https://r.example/task-callback/cb_x\"",
            Root::CallbackToken => "\"cb_x\"",
            Root::Secret(name) => return Some(format!("\"<{name}>\"").into()),
            Root::Error(_) | Root::Letter(_) => return None,
        };
        locate(text, &reference.path).map(|range| Cow::Borrowed(&text[range]))
    }
}

const WORLD: World = World { input: INPUT };

fn render(text: &str) -> Result<String, String> {
    let template = Template::parse(text).map_err(|error| error.to_string())?;
    template
        .render(&WORLD)
        .map(|json| json.to_string())
        .map_err(|error| error.to_string())
}

#[test]
fn a_whole_reference_keeps_the_value_byte_for_byte() {
    let table = [
        ("${input.id}", "12345678901234567890123"),
        ("${ input.o }", r#"{"z":1, "a": [ 1.50 ] ,"z":2}"#),
        ("${input.o.z}", "2"),
        ("${input.o.a[0]}", "1.50"),
        ("${input[\"o\"]['a'][ 0 ]}", "1.50"),
        ("${input.s}", r#""a\"b\u0000\u00e4""#),
        ("${input.nil}", "null"),
        ("${input[\"odd name\"][\"}\"]}", "\"brace\""),
        ("${input}", INPUT),
        ("${workflow.context.yes}", "true"),
        ("${steps.first.output.status}", "200"),
        ("${steps.first.output}", r#"{"status":200,"body":"ok"}"#),
        ("${execution.id}", "\"exec_1\""),
        ("${workflow.id}", "\"wf\""),
        ("${trigger.type}", "\"manual\""),
        ("${trigger.scheduled_at}", "null"),
        ("${trigger.cycle}", "7"),
        ("${secret.CRM_TOKEN}", "\"<CRM_TOKEN>\""),
        ("${step.attempt}", "3"),
        ("${callback.token}", "\"cb_x\""),
        (
            "to ${callback.url}",
            r#""to https://r.example/task-callback/cb_x""#,
        ),
        ("${SECRET_CRM_TOKEN}", "\"<CRM_TOKEN>\""),
    ];
    for (text, expected) in table {
        assert_eq!(render(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn inside_a_longer_text_values_become_text() {
    let table = [
        ("Bearer ${secret.T}", r#""Bearer <T>""#),
        ("${input.id}!", "\"12345678901234567890123!\""),
        ("<${input.s}>", r#""<a\"b\u0000ä>""#),
        ("${input.nil}${input.yes}", "\"nulltrue\""),
        ("x${input.o.a}", r#""x[ 1.50 ]""#),
        ("", "\"\""),
        ("plain $5 and $$ and { }", "\"plain $5 and $$ and { }\""),
        ("$${input.id}", "\"${input.id}\""),
        ("a$${b}${input.yes}", "\"a${b}true\""),
        ("$", "\"$\""),
        ("100%$", "\"100%$\""),
    ];
    for (text, expected) in table {
        assert_eq!(render(text).as_deref(), Ok(expected), "{text}");
    }
    let template = Template::parse("${input.s}").unwrap();
    assert_eq!(template.render_text(&WORLD).unwrap(), "a\"b\u{0}ä");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let table = [
        ("${", "character 3", "expected a name"),
        ("ab ${input.x", "character 4", "never closed"),
        ("${}", "character 3", "`${}` is empty"),
        ("${inptu.x}", "character 3", "did you mean `input`?"),
        (
            "ä${nonsense}",
            "character 4",
            "use one of input, workflow.context.<key>",
        ),
        (
            "${workflow.contxt.x}",
            "character 3",
            "did you mean `workflow.context`?",
        ),
        (
            "${workflow.context}",
            "character 3",
            "needs a name after it",
        ),
        (
            "${workflow}",
            "character 3",
            "use one of workflow.context.<key>, workflow.id",
        ),
        ("${steps.a}", "character 3", "must be followed by `output`"),
        (
            "${steps.a.body}",
            "character 3",
            "write `${steps.a.output}`",
        ),
        ("${execution.id.x}", "character 3", "nothing inside"),
        (
            "${execution.status}",
            "character 3",
            "not a known reference",
        ),
        (
            "${trigger.tpye}",
            "character 3",
            "did you mean `trigger.type`?",
        ),
        ("${secret.a-b}", "character 3", "not the name of a secret"),
        ("${callback}", "character 3", "not a known reference"),
        ("${callback.tokn}", "character 3", "not a known reference"),
        ("${callback.url.x}", "character 3", "nothing inside"),
        ("${step.number}", "character 3", "not a known reference"),
        ("${SECRET_}", "character 3", "not the name of a secret"),
        ("${input.a + 1}", "character 11", "no operators"),
        ("${input.a ? 1}", "character 11", "no operators"),
        ("${input.a ?? }", "character 14", "the default is not JSON"),
        ("${input.a ?? 'x'}", "character 14", "`\"text\"`"),
        ("${input.a ?? input.b}", "character 14", "one JSON value"),
        ("${input.a ?? 1 2}", "character 16", "expected `}`"),
        ("${input.a ?? \"x}", "character 14", "not JSON"),
        ("a ${input.a ??", "character 3", "never closed"),
        ("a ${input.a ?? 1", "character 3", "never closed"),
        ("${inptu.a ?? 1}", "character 3", "did you mean `input`?"),
        ("${input..a}", "character 9", "expected a name, found '.'"),
        (
            "${input[x]}",
            "character 9",
            "expected an index or a quoted name",
        ),
        ("${input[\"x]}", "character 9", "never closed"),
        ("${input[1}", "character 10", "expected `]`"),
        (
            "${input[99999999999999999999999]}",
            "character 9",
            "too large",
        ),
        ("${input.${x}}", "character 9", "expected a name, found '$'"),
    ];
    for (text, place, expected) in table {
        let said = Template::parse(text).expect_err(text).to_string();
        assert!(
            said.contains(expected) && said.contains(place),
            "{text}: {said}"
        );
    }
}

#[test]
fn a_missing_value_is_named_and_is_not_null() {
    assert_eq!(
        render("${input.none.x}"),
        Err("`${input.none.x}` has no value".to_owned())
    );
    assert_eq!(
        render("a ${ steps.second.output[\"odd name\"][0] }"),
        Err("`${steps.second.output[\"odd name\"][0]}` has no value".to_owned())
    );
    assert_eq!(render("${input.nil}").as_deref(), Ok("null"));
}

#[test]
fn a_default_stands_in_for_a_missing_value_and_for_no_other() {
    let table = [
        ("${input.none ?? \"x\"}", "\"x\""),
        ("${input.none??null}", "null"),
        ("${ input.none.deep ?? false }", "false"),
        ("${input.none ?? 1.50}", "1.50"),
        (
            "${input.none ?? {\"a\": [1, \"}\"], \"b\": {}}}",
            r#"{"a": [1, "}"], "b": {}}"#,
        ),
        ("${steps.second.output ?? []}", "[]"),
        ("<${input.none ?? \"a \\\"b\\\"\"}>", r#""<a \"b\">""#),
        ("n=${input.none ?? 0}${input.yes ?? 1}", "\"n=0true\""),
        ("${input.yes ?? false}", "true"),
        ("${input.nil ?? \"x\"}", "null"),
    ];
    for (text, expected) in table {
        assert_eq!(render(text).as_deref(), Ok(expected), "{text}");
    }
    let template = Template::parse("${input.none ?? false}").unwrap();
    assert!(template.is_whole() && !template.is_literal());
    assert_eq!(template.references().count(), 1);
    let body = tree("a: '${input.none ?? 1.0}'\nb: ['x${input.none ?? \"y\"}']\n");
    assert_eq!(
        body.render(&WORLD).unwrap().as_str(),
        r#"{"a":1.0,"b":["xy"]}"#
    );
}

#[test]
fn a_missing_secret_says_where_to_set_it() {
    let reference = Reference {
        root: Root::Secret("NOPE".into()),
        path: Box::default(),
    };
    let message = RenderError::Missing { reference }.to_string();
    assert_eq!(
        message,
        "`${secret.NOPE}` has no value; set REFIRE_SECRET_NOPE in the server's environment"
    );
    assert_eq!(missing_secret(&message), Some("NOPE"));
    assert_eq!(missing_secret("`${input.x}` has no value"), None);
}

#[test]
fn the_result_is_bounded() {
    struct Large;
    impl Scope for Large {
        fn resolve(&self, _: &Reference) -> Option<Cow<'_, str>> {
            Some(format!("\"{}\"", "x".repeat(700_000)).into())
        }
    }
    let once = Template::parse("${input}").unwrap();
    assert!(once.render(&Large).is_ok());
    let twice = Template::parse("${input}${input}").unwrap();
    assert_eq!(twice.render(&Large), Err(RenderError::TooLarge));
    let tree = tree("[\"${input}\", \"${input}\"]");
    assert_eq!(tree.render(&Large), Err(RenderError::TooLarge));
}

#[test]
fn a_scope_that_gives_no_json_is_found_out() {
    struct Broken;
    impl Scope for Broken {
        fn resolve(&self, _: &Reference) -> Option<Cow<'_, str>> {
            Some("not json".into())
        }
    }
    let template = Template::parse("${input}").unwrap();
    assert!(matches!(
        template.render(&Broken),
        Err(RenderError::Invalid(_))
    ));
}

fn tree(source: &str) -> Tree {
    Tree::compile(&Node::parse(source).unwrap()).unwrap()
}

#[test]
fn a_tree_keeps_digits_and_order() {
    let source = "z: 12345678901234567890123\na: [1.50, no, true, null, '${input.o}']\n\
                  m: {t: 'x ${input.yes}', k: '$${literal}'}\n";
    let tree = tree(source);
    assert_eq!(
        tree.render(&WORLD).unwrap().as_str(),
        r#"{"z":12345678901234567890123,"a":[1.50,"no",true,null,{"z":1, "a": [ 1.50 ] ,"z":2}],"m":{"t":"x true","k":"${literal}"}}"#
    );
    assert!(!tree.is_literal());
    let names: Vec<_> = tree.references().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["input.o", "input.yes"]);
}

#[test]
fn a_tree_names_every_bad_string() {
    let node = Node::parse("a:\n  - ok\n  - ${nope}\nb: {c: '${'}\n").unwrap();
    let errors = Tree::compile(&node).unwrap_err();
    let places: Vec<_> = errors
        .iter()
        .map(|e| (e.path.as_str(), e.mark.line))
        .collect();
    assert_eq!(places, [(".a[1]", 3), (".b.c", 4)]);
}

proptest! {
    #[test]
    fn a_literal_renders_to_itself(text in "\\PC{0,60}") {
        prop_assume!(!text.contains("${"));
        let template = Template::parse(&text).unwrap();
        prop_assert!(template.is_literal());
        let rendered = template.render(&WORLD).unwrap();
        prop_assert_eq!(rendered.as_text().unwrap(), text.as_str());
        prop_assert_eq!(template.literal(), Some(text.as_str()));
    }

    #[test]
    fn no_text_panics(text in "[\\$\\{\\}a-z.\\[\\]\"'0-9 ?]{0,40}") {
        if let Ok(template) = Template::parse(&text) {
            let _ = template.render(&WORLD);
            // What a reference says of itself parses to the same reference.
            for reference in template.references() {
                let again = Template::parse(&format!("${{{reference}}}")).unwrap();
                prop_assert_eq!(again.references().next(), Some(reference));
            }
        }
    }
}
