//! `workflow validate`: every kind of mistake is shown at its place.

use crate::refire::Place;

const GOOD: &str = "\
id: hello
steps:
  - id: call
    type: http
    config: { method: GET, url: \"https://example.com/\" }
";

/// A definition, and how the first line about it begins and what it contains.
const BAD: &[(&str, &str, &str)] = &[
    ("not a mapping", "- a\n- b\n", "1:1"),
    ("broken YAML", "id: a\nsteps: [\n", ""),
    ("broken JSON", "{\"id\": \"a\", \"steps\": [}\n", "1:"),
    ("empty file", "", "1:1"),
    (
        "no id",
        "steps:\n  - { id: a, type: http, config: { url: \"https://x.example/\" } }\n",
        "1:1",
    ),
    (
        "bad id",
        "id: \"a b\"\nsteps:\n  - { id: a, type: http, config: { url: \"https://x.example/\" } }\n",
        "1:5",
    ),
    ("no steps", "id: a\n", "1:1"),
    (
        "unknown key",
        "ID: a\nid: a\nsteps:\n  - { id: x, type: http, config: { url: \"https://x.example/\" } }\n",
        "1:1",
    ),
    (
        "unknown type",
        "id: a\nsteps:\n  - id: x\n    type: htp\n",
        "4:11",
    ),
    (
        "unknown step",
        "id: a\nsteps:\n  - id: x\n    type: http\n    needs: [y]\n    config: { url: \"https://x.example/\" }\n",
        "5:13",
    ),
    (
        "a step twice",
        "id: a\nsteps:\n  - { id: x, type: http, config: { url: \"https://x.example/\" } }\n  - { id: x, type: http, config: { url: \"https://x.example/\" } }\n",
        "4:",
    ),
    (
        "a cycle",
        "id: a\nsteps:\n  - { id: x, type: http, needs: [y], config: { url: \"https://x.example/\" } }\n  - { id: y, type: http, needs: [x], config: { url: \"https://x.example/\" } }\n",
        "",
    ),
    (
        "bad duration",
        "id: a\nsteps:\n  - id: x\n    type: http\n    config:\n      url: \"https://x.example/\"\n      timeout: soon\n",
        "7:16",
    ),
    (
        "bad retry",
        "id: a\nretry: { maxRetries: 99 }\nsteps:\n  - { id: x, type: http, config: { url: \"https://x.example/\" } }\n",
        "2:22",
    ),
    (
        "bad template",
        "id: a\nsteps:\n  - id: x\n    type: http\n    config: { url: \"https://x.example/${inpt.a}\" }\n",
        "5:",
    ),
    (
        "unknown scope",
        "id: a\nsteps:\n  - id: x\n    type: http\n    config: { url: \"https://x.example/\", body: \"${steps.nope.output}\" }\n",
        "5:",
    ),
    ("a key twice", "id: a\nid: b\n", "2:1"),
];

#[test]
fn each_mistake_has_its_place_in_the_file() {
    let place = Place::new();
    for (name, text, at) in BAD {
        place.write("w.yaml", text);
        let run = place.run(&["workflow", "validate", "-f", "w.yaml"]).code(1);
        assert!(run.out.is_empty(), "{name}: {run:?}");
        let first = run.err.lines().next().unwrap_or_default();
        assert!(
            first.starts_with(&format!("w.yaml:{at}")),
            "{name}: {run:#?}"
        );
        let places: Vec<_> = first.split(':').take(4).collect();
        assert!(places[1].parse::<u32>().is_ok(), "{name}: {first}");
        assert!(places[2].parse::<u32>().is_ok(), "{name}: {first}");
        assert_eq!(places[3], " error", "{name}: {first}");
    }
}

#[test]
fn the_line_is_shown_with_a_caret_and_a_hint() {
    let place = Place::new();
    place.write("w.yaml", "id: a\nsteps:\n  - id: x\n    type: htp\n");
    let run = place.run(&["workflow", "validate", "-f", "w.yaml"]).code(1);
    assert!(
        run.err.contains("\n 4 |     type: htp\n   |           ^\n"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("= hint: did you mean \"http\"?"),
        "{}",
        run.err
    );
}

#[test]
fn a_good_definition_needs_no_server() {
    let place = Place::new();
    place.write("w.yaml", GOOD);
    let run = place.run(&["workflow", "validate", "-f", "w.yaml"]).code(0);
    assert_eq!(run.out, "w.yaml: valid (hello, 1 step)\n");
    let run = place
        .run_with(&["workflow", "validate", "-f", "-"], GOOD)
        .code(0);
    assert_eq!(run.out, "<stdin>: valid (hello, 1 step)\n");
}

#[test]
fn a_directory_is_checked_as_a_whole() {
    let place = Place::new();
    place.write("a.yaml", GOOD);
    place.write("b.yml", "id: b\n");
    place.write("ignored.txt", "!");
    let run = place.run(&["workflow", "validate", "-f", "."]).code(1);
    assert!(run.out.contains("a.yaml: valid"), "{run:?}");
    assert!(run.err.contains("b.yml:1:1: error"), "{run:?}");
    let gone = place
        .run(&["workflow", "validate", "-f", "gone.yaml"])
        .code(1);
    assert!(gone.err.contains("gone.yaml cannot be read"), "{gone:?}");
}

#[test]
fn programs_get_the_problems_as_json() {
    let place = Place::new();
    place.write("a.yaml", GOOD);
    place.write("b.yaml", "id: b\n");
    let args = [
        "workflow", "validate", "-f", "a.yaml", "b.yaml", "--format", "json",
    ];
    let json = place.run(&args).code(1).json();
    assert_eq!(json["valid"], false);
    assert_eq!(json["files"][0]["workflow_id"], "hello");
    assert_eq!(json["files"][1]["problems"][0]["line"], 1);
}

/// A mistake is shown even if no server would answer: nothing is sent.
#[test]
fn apply_checks_everything_before_it_sends_anything() {
    let place = Place::new();
    place.write("a.yaml", GOOD);
    place.write("b.yaml", "id: b\n");
    let args = [
        "workflow",
        "apply",
        "-f",
        ".",
        "--url",
        "http://127.0.0.1:1",
    ];
    let run = place.run(&args).code(1);
    assert!(run.err.contains("b.yaml:1:1: error"), "{run:?}");
    assert!(run.err.contains("error: nothing was saved"), "{run:?}");
    assert!(!run.err.contains("cannot reach"), "{run:?}");
}
