//! What goes well: steps, conditions, mappings, templates and outputs.

use super::history::History;

/// A workflow as people write it, with everything a call can have.
const HTTP: &str = r#"id: w
name: Order
description: Everything that an http step can have.
concurrency: {max: 10, key: "${input.customer}", maxPerKey: 2}
rateLimit: {max: 100, per: 1m, key: "${input.region ?? \"eu\"}"}
retry:
  maxRetries: 3
  initialDelay: 1s
  jitter: {type: proportional, ratio: 0.25}
  retryOn: {statuses: [408, 5xx], errors: [connect_timeout, dns]}
steps:
  - id: reserve
    type: http
    config:
      method: POST
      url: https://stock.example/reserve/${input.sku}
      headers: {authorization: "Bearer ${secret.STOCK}", x-trace: "${execution.id}"}
      query: {dry: false, tag: [a, "${input.tag ?? \"none\"}"]}
      body: {sku: "${input.sku}", amount: "${input.amount ?? 1}"}
      timeout: 5s
      expectedStatuses: [200, 201]
      maxResponseBytes: 4096
    compensate: release
    outputMapping: {reservation: $.body.id}
  - id: charge
    type: http
    needs: [reserve]
    retry: {maxRetries: 1, strategy: fixed, initialDelay: 250ms, jitter: none}
    config: {method: POST, url: "https://pay.example/charge", body: "${steps.reserve.output.body}"}
  - id: release
    type: http
    config: {method: DELETE, url: "https://stock.example/reserve/${workflow.context.reservation}"}
output: {reservation: "${workflow.context.reservation}", paid: "${steps.charge.output.body.paid}"}
"#;

pub(super) fn histories() -> Vec<History> {
    let mut all = plain();
    all.extend(conditions());
    all.extend(mappings());
    all.extend(outputs());
    all
}

fn plain() -> Vec<History> {
    vec![
        History::new("one step", "", &["a"], |run| {
            run.begin("a").wait(120).ok("a", "1");
        })
        .edit("task: t}", "task: t}, when: \"false\""),
        History::new(
            "a diamond of four steps",
            "",
            &["a", "b | needs: [a]", "c | needs: [a]", "d | needs: [b, c]"],
            |run| {
                run.ok("a", "1").begin("b").begin("c").wait(30);
                run.ok("c", "3").wait(5).ok("b", "2").ok("d", "4");
            },
        )
        .edit("needs: [b, c]", "needs: [c]"),
        History::of_source("http steps with everything", HTTP.to_owned(), |run| {
            run.begin("reserve").wait(80).fail("reserve", "500");
            run.begin("reserve").wait(70).ok(
                "reserve",
                r#"{"status":201,"headers":{},"body":{"id":"r-1","amount":2}}"#,
            );
            run.fail("charge", "dns").begin("charge").wait(40);
            run.ok(
                "charge",
                r#"{"status":200,"headers":{},"body":{"paid":12.50}}"#,
            );
        })
        .input(r#"{"sku":"s/1","amount":2,"customer":"c-7","region":"us"}"#)
        .edit("maxRetries: 3", "enabled: false")
        .edit("ratio: 0.25", "ratio: 0.5")
        .edit("statuses: [408, 5xx]", "statuses: [408]")
        .edit("key: \"${input.customer}\"", "key: \"${input.sku}\""),
    ]
}

fn conditions() -> Vec<History> {
    vec![
        History::new(
            "skipped by its condition and what follows runs",
            "",
            &["a", "b | when: \"${input.go}\"", "c"],
            |run| {
                run.ok("a", "1").ok("c", "3");
            },
        )
        .input(r#"{"go":false}"#)
        .edit("${input.go}", "true"),
        History::new(
            "a condition on an output",
            "",
            &["a", "b | when: \"${steps.a.output.ok}\""],
            |run| {
                run.ok("a", r#"{"ok":"true"}"#).ok("b", "2");
            },
        )
        .edit("output.ok", "output.other"),
        History::new(
            "every step is skipped",
            "",
            &["a | when: \"false\"", "b | when: \"false\""],
            |_| {},
        )
        .edit(
            "b, type: local, config: {task: t},  when: \"false\"",
            "b, type: local, config: {task: t},  when: \"true\"",
        ),
        History::new(
            "a condition that is neither true nor false",
            "",
            &["a", "b | when: \"${steps.a.output}\""],
            |run| {
                run.ok("a", "[1,2]");
            },
        )
        .edit("${steps.a.output}", "true"),
        History::new(
            "a condition without a value",
            "",
            &["a | when: \"${input.missing}\""],
            |_| {},
        )
        .edit("${input.missing}", "${input.missing ?? false}"),
        History::new(
            "a skipped step in an output",
            "output: {b: \"${steps.b.output}\", deep: \"${steps.b.output.x.y}\"}",
            &["a", "b | when: \"${workflow.context.go ?? false}\""],
            |run| {
                run.ok("a", "1");
            },
        )
        .edit("?? false", "?? true"),
    ]
}

fn mappings() -> Vec<History> {
    vec![
        History::new(
            "one value, several and none are mapped",
            "output: {one: \"${workflow.context.one}\", many: \"${workflow.context.many}\", none: \"${workflow.context.none}\"}",
            &["a | outputMapping: {one: $.x, many: '$.items[*].n', none: $.nothing}"],
            |run| {
                run.ok("a", r#"{"x":{"y":1},"items":[{"n":1},{"n":"two"},{}]}"#);
            },
        )
        .edit("$.items[*].n", "$.items[0].n"),
        History::new(
            "a mapped value goes over the input and a later one over it",
            "output: \"${workflow.context.x}\"",
            &["a | outputMapping: {x: $.v}", "b | outputMapping: {x: $.v}"],
            |run| {
                run.ok("a", r#"{"v":2}"#).ok("b", r#"{"v":3}"#);
            },
        )
        .input(r#"{"x":1}"#)
        .edit("output: \"${workflow.context.x}\"", "output: \"${input.x}\""),
        History::new(
            "filters and descents in a mapping",
            "output: {cheap: \"${workflow.context.cheap}\", all: \"${workflow.context.all}\"}",
            &["a | outputMapping: {cheap: '$.items[?@.price < 10].name', all: '$..name'}"],
            |run| {
                run.ok(
                    "a",
                    r#"{"items":[{"name":"pen","price":2},{"name":"desk","price":200}],"name":"shop"}"#,
                );
            },
        )
        .edit("@.price < 10", "@.price < 1"),
    ]
}

fn outputs() -> Vec<History> {
    vec![
        History::new(
            "templates with defaults",
            "output: {n: '${input.n ?? 7}', who: 'for ${input.who ?? \"nobody\"} in ${input.where}', list: '${input.list ?? [1, {\"a\": null}]}', literal: '$${input.n}', null_is_a_value: '${input.nothing ?? 1}'}",
            &["a"],
            |run| {
                run.ok("a", "1");
            },
        )
        .input(r#"{"where":"Uelzen","nothing":null}"#)
        .edit("?? 7", "?? 8"),
        History::new(
            "big integers, zero characters and the order of keys",
            "output: {input: \"${input}\", mapped: \"${workflow.context.big}\", text: \"<${steps.a.output.s}>\"}",
            &["a | outputMapping: {big: $.n}"],
            |run| {
                run.ok(
                    "a",
                    r#"{"z":1,"n":123456789012345678901234567890,"s":"\u0000\ud83d\ude00 \"q\"","a":1.50e+300}"#,
                );
            },
        )
        .input(r#"{"z":18446744073709551616,"a":{"\u0000":"\u0000","b":-0.0,"B":1E400}}"#)
        .edit("mapped: \"${workflow.context.big}\"", "mapped: \"${steps.a.output}\""),
        History::new(
            "several last steps",
            "",
            &["a", "b | needs: [a]", "c | needs: [a], when: \"false\""],
            |run| {
                run.ok("a", "1").ok("b", "2");
            },
        )
        .edit("needs: [a], when: \"false\"", "needs: [a], when: \"true\""),
        History::new("an output of null", "output: \"${input.x}\"", &["a"], |run| {
            run.ok("a", "1");
        })
        .input(r#"{"x":null}"#)
        .edit("output: \"${input.x}\"", "output: 0"),
        History::new(
            "what an execution knows about itself",
            "output: {id: \"${execution.id}\", workflow: \"${workflow.id}\", trigger: \"${trigger.type}\", slot: \"${trigger.scheduled_at}\"}",
            &["a"],
            |run| {
                run.ok("a", "1");
            },
        )
        .edit("trigger: \"${trigger.type}\"", "trigger: \"${input}\""),
        History::new(
            "an output that cannot be filled in undoes",
            "output: \"${steps.a.output.n}\"",
            &["a | compensate: undo", "undo"],
            |run| {
                run.ok("a", "{}").ok("undo", "null");
            },
        )
        .edit("output: \"${steps.a.output.n}\"", "output: \"${steps.a.output}\""),
    ]
}
