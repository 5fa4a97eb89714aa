//! Definitions that are refused, each with everything that must be said about it.

use super::{good, parse, said_of_types, steps};
use crate::definition::{ParseOptions, Workflow};

/// A bad definition: the source, and the problems it must give, whole.
fn bad(source: &str, expected: &[&str]) {
    let problems = parse(source).expect_err(source);
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let expected: Vec<String> = expected.iter().map(|one| said_of_types(one)).collect();
    assert_eq!(said, expected, "{source}");
}

#[test]
fn bad_structure() {
    bad(
        "[]",
        &["line 1, column 1: a definition is a mapping with `id` and `steps`, not a list"],
    );
    bad("id: w", &["steps (line 1): `steps` is required"]);
    bad(
        "id: w\nsteps: []",
        &["steps (line 2): a workflow has at least one step"],
    );
    bad(
        "id: w\nsteps: x",
        &["steps (line 2): expected a list of steps, found a string"],
    );
    bad(
        "id: w\nsteps: [x]",
        &["steps[0] (line 2): expected a mapping, found a string"],
    );
    bad(
        &steps(&["a"]).replace("id: w", "id: w\nstep: 1"),
        &["step (line 2): unknown key \"step\"; did you mean \"steps\"?"],
    );
    bad(
        &steps(&["a"]).replace("id: w", "id: w\nretries: 3"),
        &["retries (line 2): unknown key \"retries\"; did you mean \"retry\"?"],
    );
    bad(
        "trigger_type: cron\nname: Weekly\ncron_expression: 0 9 * * MON",
        &[
            "line 1, column 1: this is a trigger, not a workflow; use `refire trigger create <workflow> -f <file>`",
        ],
    );
    bad(
        &steps(&["a"]).replace("id: w", "id: a b"),
        &[
            "id (line 1): an id consists of letters, digits, `_`, `.` and `-`; it cannot contain ' '",
        ],
    );
    bad(
        &steps(&["a", "b", "a"]),
        &["steps[2].id (line 5): the id \"a\" is already taken by steps[0] (line 3)"],
    );
    let many: Vec<String> = (0..501).map(|at| format!("s{at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    bad(
        &steps(&many),
        &["steps (line 3): 501 steps; a workflow has at most 500"],
    );
    bad(
        "id: w\nsteps:\n  - {id: a, type: htpp}\n  - {id: b, type: cobol}\n  - {id: c}\n  - {type: local, config: {}}\n",
        &[
            "steps[0].type (line 3): there is no step type `htpp`; did you mean \"http\"?",
            "steps[1].type (line 4): there is no step type `cobol`; available: {types}",
            "steps[2].type (line 5): `type` is required",
            "steps[3].id (line 6): `id` is required",
            "steps[3].config.task (line 6): `task` is required",
        ],
    );
    bad(
        &steps(&["a"]).replace(
            "id: w",
            "id: w\ndeadLetter: some\nconcurrency: {key: x}\nrateLimit: {max: 0}",
        ),
        &[
            "deadLetter (line 2): \"some\" is not one of all, exhausted",
            "concurrency.key (line 3): `key` needs `maxPerKey` beside it",
            "rateLimit.per (line 4): `per` is required",
            "rateLimit.max (line 4): 0 is not a whole number from 1 to 1000000",
        ],
    );
}

#[test]
fn bad_graphs() {
    bad(
        &steps(&["tickets", "b , needs: [ticketz]"]),
        &["steps[1].needs[0] (line 4): no step is called \"ticketz\"; did you mean \"tickets\"?"],
    );
    bad(
        &steps(&["a , needs: [a]"]),
        &["steps[0].needs[0] (line 3): a step cannot need itself"],
    );
    bad(
        &steps(&[
            "a , needs: [c]",
            "b , needs: [a]",
            "c , needs: [b]",
            "d , needs: [c]",
        ]),
        &["steps[0].needs (line 3): the steps wait for each other: a → b → c → a"],
    );
    bad(
        &steps(&["a", "b , needs: [a, a]"]),
        &["steps[1].needs[1] (line 4): \"a\" is listed twice"],
    );
    bad(
        &steps(&["a , compensate: nobody"]),
        &["steps[0].compensate (line 3): no step is called \"nobody\""],
    );
    bad(
        &steps(&["a , compensate: a"]),
        &["steps[0].compensate (line 3): a step cannot compensate itself"],
    );
    bad(
        &steps(&["a , compensate: u", "b , compensate: u", "u"]),
        &[
            "steps[1].compensate (line 4): \"u\" already compensates steps[0]; one compensation step serves one step",
        ],
    );
    bad(
        &steps(&[
            "a , compensate: u",
            "b",
            "u , needs: [b], when: true",
            "c , needs: [u]",
        ]),
        &[
            "steps[2].needs (line 5): a compensation step runs only to undo; it cannot have `needs`",
            "steps[2].when (line 5): a compensation step runs only to undo; it cannot have `when`",
            "steps[3].needs[0] (line 6): \"u\" is a compensation step; nothing can wait for it",
        ],
    );
}

#[test]
fn bad_references() {
    let input = |input: &str| format!(", config: {{task: t, input: '{input}'}}");
    let three = |extra: &str| {
        format!(
            "id: w\nsteps:\n  - {{id: a, type: local, config: {{task: t}}, compensate: u}}\n  \
             - {{id: b, type: local{extra}}}\n  - {{id: u, type: local, config: {{task: t}}}}\n"
        )
    };
    good(&three(&input("${steps.a.output.x} ${input.x} ${secret.K}")));
    bad(
        &three(&input("${steps.aa.output}")),
        &["steps[1].config.input (line 4): no step is called \"aa\"; did you mean \"a\"?"],
    );
    bad(
        &three(&input("${steps.b.output}")),
        &["steps[1].config.input (line 4): a step cannot refer to its own output"],
    );
    bad(
        &three(&input("${steps.u.output}")),
        &[
            "steps[1].config.input (line 4): \"u\" is a compensation step; its output cannot be referred to",
        ],
    );
    bad(
        &three(&format!("{}, needs: []", input("${steps.a.output}"))),
        &[
            "steps[1].config.input (line 4): \"a\" is not certain to be done before this step; add it to `needs`",
        ],
    );
    bad(
        &three(&input("${inptu.x}")),
        &[
            "steps[1].config.input (line 4): `inptu.x` is not a known reference (at character 3); did you mean `input`?",
        ],
    );
    let config = ", config: {task: t}";
    bad(
        &three(&format!("{config}, when: '${{secret.K}}'")),
        &[
            "steps[1].when (line 4): `${secret.K}`: secrets can only be used in the config of a step",
        ],
    );
    bad(
        &three(&format!("{config}, when: 'a ${{input.x}}'")),
        &[
            "steps[1].when (line 4): `when` must give true or false; write exactly one `${…}`, for example \"${input.urgent}\" or \"${input.urgent ?? false}\"",
        ],
    );
    bad(
        &format!(
            "{}output: {{x: ['${{steps.u.output}}', '${{SECRET_K}}']}}\n",
            three(config)
        ),
        &[
            "output.x[0] (line 6): \"u\" is a compensation step; its output cannot be referred to",
            "output.x[1] (line 6): `${secret.K}`: secrets can only be used in the config of a step",
        ],
    );
    bad(
        &format!(
            "concurrency: {{key: '${{steps.a.output}}', maxPerKey: 1}}\n{}",
            three(config)
        ),
        &[
            "concurrency.key (line 1): the key of a limit is needed before any step runs, so it cannot refer to a step",
        ],
    );
}

#[test]
fn compensation_sees_what_it_undoes() {
    let source = |reference: &str| {
        format!(
            "id: w\nsteps:\n  - {{id: z, type: local, config: {{task: t}}}}\n  - {{id: a, type: local, \
             config: {{task: t}}, compensate: u}}\n  - {{id: u, type: local, config: {{task: t, \
             input: '${{steps.{reference}.output}}'}}}}\n  - {{id: b, type: local, config: {{task: t}}}}\n"
        )
    };
    good(&source("a"));
    good(&source("z"));
    bad(
        &source("b"),
        &[
            "steps[2].config.input (line 5): \"b\" is not certain to be done before this step; add it to `needs`",
        ],
    );
}

#[test]
fn bad_mappings() {
    let map = ", outputMapping: {k: $.x}";
    good(&steps(&[&format!("a {map}"), &format!("b {map}")]));
    bad(
        &steps(&[&format!("a {map}"), &format!("b , needs: []{map}")]),
        &[
            "steps[1].outputMapping.k (line 4): the context key \"k\" is also set in steps[0].outputMapping.k (line 3), which may run at the same time",
        ],
    );
    bad(
        &steps(&["a , outputMapping: {k: body.x, l: '${input.x}', m: 1}"]),
        &[
            "steps[0].outputMapping.k (line 3): `body.x` is not a JSONPath: it must begin with `$`, for example `$.body.id` (at character 1)",
            "steps[0].outputMapping.l (line 3): a mapping is a JSONPath, it takes no `${…}`",
            "steps[0].outputMapping.m (line 3): expected a string, found a number",
        ],
    );
    let many = |names: usize| {
        let names: Vec<String> = (0..names).map(|n| format!("k{n}: $.x")).collect();
        steps(&[&format!("a , outputMapping: {{{}}}", names.join(", "))])
    };
    good(&many(100));
    bad(
        &many(101),
        &["steps[0].outputMapping (line 3): more than 100 names for one step's output"],
    );
}

#[test]
fn bad_http() {
    let step =
        |config: &str| format!("id: w\nsteps:\n- id: a\n  type: http\n  config: {{{config}}}\n");
    bad(
        &step("method: GET"),
        &["steps[0].config.url (line 5): `url` is required"],
    );
    bad(
        &step("url: 'ftp://x/'"),
        &[
            "steps[0].config.url (line 5): the scheme `ftp` is not supported; use http:// or https://",
        ],
    );
    bad(
        &step(
            "url: 'http://x/', method: 'GE T', timeout: 2h, maxResponseBytes: 8388609, followRedirects: 6, expectedStatuses: [20]",
        ),
        &[
            "steps[0].config.method (line 5): `GE T` is not a method that can be used",
            "steps[0].config.timeout (line 5): `2h` is not between 100ms and 1h",
            "steps[0].config.maxResponseBytes (line 5): 8388609 is not a whole number from 1 to 8388608",
            "steps[0].config.followRedirects (line 5): 6 is not a whole number from 0 to 5",
            "steps[0].config.expectedStatuses[0] (line 5): \"20\" is not a status; a status is written 200, \"2xx\" or \"200-204\" (100 to 599)",
        ],
    );
    bad(
        &step(
            "url: 'http://x/', headers: {'a b': x, Content-Length: 5, A: \"x\\ny\", a: z}, expectedStatuses: []",
        ),
        &[
            "steps[0].config.headers.a b (line 5): \"a b\" is not a header name",
            "steps[0].config.headers.Content-Length (line 5): the header `Content-Length` is set by the connection",
            "steps[0].config.headers.A (line 5): a header value cannot contain '\\n'",
            "steps[0].config.headers.a (line 5): the header `a` is given twice",
            "steps[0].config.expectedStatuses (line 5): at least one status must be expected",
        ],
    );
    bad(
        &step("url: 'http://x/', timeout: soon, task: t, query: {a: {b: 1}}"),
        &[
            "steps[0].config.timeout (line 5): `soon` is not a duration (write for example `30s`, `5m`, `1h30m` or `250ms`)",
            "steps[0].config.task (line 5): unknown key \"task\"; use one of method, url, headers, query, body, timeout, expectedStatuses, maxResponseBytes, followRedirects, outputMapping",
            "steps[0].config.query.a (line 5): a query value is a text, a number or a list of them",
        ],
    );
}

#[test]
fn headers_of_the_connection_are_refused_and_read_where_they_are_stored() {
    let source = |name: &str| {
        format!(
            "id: w\nsteps: [{{id: a, type: http, config: {{url: 'http://x/', headers: {{{name}: '1'}}}}}}]"
        )
    };
    let stored = ParseOptions {
        stored: true,
        ..ParseOptions::default()
    };
    for name in [
        "Host",
        "upgrade",
        "Keep-Alive",
        "TE",
        "Trailer",
        "HTTP2-Settings",
        "Proxy-Authorization",
        "Proxy-Authenticate",
        "proxy-connection",
    ] {
        let said = parse(&source(name)).unwrap_err().to_string();
        let refusal = format!(
            "steps[0].config.headers.{name} (line 2): the header `{name}` is set by the connection"
        );
        assert!(said.starts_with(&refusal), "{said}");
        assert!(Workflow::parse(&source(name), &stored).is_ok(), "{name}");
    }
    for name in ["Content-Length", "transfer-encoding", "Connection"] {
        assert!(parse(&source(name)).is_err());
        assert!(
            Workflow::parse(&source(name), &stored).is_err(),
            "always refused"
        );
    }
    assert!(parse(&source("X-Host")).is_ok() && parse(&source("Proxy")).is_ok());
}

#[test]
fn a_key_in_the_wrong_place_is_told_its_place() {
    bad(
        &steps(&["a , timeout: 5s", "b , timeot: 5s"]),
        &[
            "steps[0].timeout (line 3): unknown key \"timeout\"; `timeout` belongs under `config`",
            "steps[1].timeot (line 4): unknown key \"timeot\"; did you mean \"timeout\"? it belongs under `config`",
        ],
    );
    bad(
        "id: w\nsteps:\n- {id: a, type: local, config: {task: t, retry: 3, ned: []}}\n",
        &[
            "steps[0].config.retry (line 3): unknown key \"retry\"; `retry` belongs on the step, beside `config`",
            "steps[0].config.ned (line 3): unknown key \"ned\"; use one of task, input, timeout, outputMapping",
        ],
    );
}

#[test]
fn the_default_of_a_condition_is_true_or_false() {
    let source = |when: &str| steps(&[&format!("a , when: '{when}'")]);
    assert!(good(&source("${input.n ?? false}")).steps[0].when.is_some());
    bad(
        &source("${input.n ?? 0}"),
        &["steps[0].when (line 3): the default of `when` must be true or false"],
    );
}

#[test]
fn all_problems_of_all_steps_are_told() {
    let source = "id: w\nretry: {maxRetries: 99}\nsteps:\n  - {id: a, type: amqp}\n  - {id: b, type: local, needs: [x], config: {task: t, timeout: never}}\n";
    bad(
        source,
        &[
            "retry.maxRetries (line 2): 99 is not a whole number from 1 to 10",
            "steps[0].type (line 4): step type `amqp` is not available in this version (available: {types})",
            "steps[1].needs[0] (line 5): no step is called \"x\"; did you mean \"a\"?",
            "steps[1].config.timeout (line 5): `never` is not a duration (write for example `30s`, `5m`, `1h30m` or `250ms`)",
        ],
    );
}
