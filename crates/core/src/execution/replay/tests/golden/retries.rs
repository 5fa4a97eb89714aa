//! Retries: strategies, jitter, limits, and what the target asks for.

use super::history::History;
use crate::execution::Outcome;
use crate::execution::decide::tests::fixture::{Run, failure, retry_now};

/// Fails the step `a` until it is given up.
fn until_given_up(run: &mut Run) {
    while run.work.get("a").is_some() {
        run.begin("a").wait(35).fail("a", "503");
    }
}

fn asking(ms: u64) -> Outcome {
    let mut failure = failure("429");
    failure.retry_after_ms = Some(ms);
    Outcome::Failed(failure)
}

/// What a task of the program says when it does not mark its error as final.
fn of_a_task() -> Outcome {
    let mut failure = failure("local");
    failure.retryable = true;
    Outcome::Failed(failure)
}

fn given_up(name: &'static str, retry: &str) -> History {
    History::new(name, &format!("retry: {retry}"), &["a"], until_given_up)
}

pub(super) fn histories() -> Vec<History> {
    let mut all = vec![
        given_up("delays that stay", "{strategy: fixed, initialDelay: 3s, jitter: none}")
            .edit("initialDelay: 3s", "initialDelay: 4s"),
        given_up("delays that grow evenly", "{strategy: linear, initialDelay: 3s, jitter: none}")
            .edit("linear", "fixed"),
        given_up(
            "delays that grow by a tenth",
            "{strategy: exponential, multiplier: 1.1, initialDelay: 3s, jitter: none, maxRetries: 10}",
        )
        .edit("multiplier: 1.1", "multiplier: 1.2"),
        given_up("delays up to a cap", "{initialDelay: 10s, maxDelay: 25s, jitter: none}")
            .edit("maxDelay: 25s", "maxDelay: 26s"),
        given_up("no delay at all", "{initialDelay: 0s, jitter: none, maxRetries: 2}")
            .edit("initialDelay: 0s", "initialDelay: 1s"),
        given_up("jitter by a share", "{jitter: {type: proportional, ratio: 0.5}}")
            .edit("ratio: 0.5", "ratio: 0.4"),
        given_up("jitter on top", "{jitter: additive}").edit("additive", "none"),
        given_up("full jitter", "{jitter: full}").edit("full", "equal"),
        given_up("equal jitter", "{jitter: equal}").edit("equal", "full"),
        given_up("decorrelated jitter", "{jitter: decorrelated, maxRetries: 8, maxDelay: 40s}")
            .edit("maxDelay: 40s", "maxDelay: 10s"),
        given_up("the time limit ends it before the count", "{jitter: none, maxElapsed: 20s, maxRetries: 10}")
            .edit("maxElapsed: 20s", "maxElapsed: 60s"),
        given_up("no retries", "false").edit("retry: false", "retry: 1"),
        given_up("the defaults", "{}").edit("retry: {}", "retry: {jitter: none}"),
    ];
    all.extend(asked());
    all.extend(hurried());
    all.extend(kinds());
    all
}

fn hurried() -> Vec<History> {
    vec![
        History::new(
            "a retry that somebody did not wait for",
            "",
            &["a"],
            |run| {
                run.fail("a", "503").wait(100).send(retry_now());
                run.fail("a", "503").send(retry_now()).ok("a", "1");
            },
        )
        .edit("jitter: none", "jitter: none, initialDelay: 9s"),
        History::new(
            "retries side by side that somebody did not wait for",
            "",
            &["a", "b~ | needs: []", "c | needs: []"],
            |run| {
                run.fail("a", "503").fail("b", "worker").send(retry_now());
                run.pause().wait(50).resume();
                run.ok("a", "1").ok("b", "2").ok("c", "3");
            },
        ),
    ]
}

fn asked() -> Vec<History> {
    let steps = &["a"];
    vec![
        History::new(
            "the target asks for less than the delay",
            "",
            steps,
            |run| {
                run.report("a", asking(500)).ok("a", "1");
            },
        ),
        History::new("the target asks for more than an hour", "", steps, |run| {
            run.report("a", asking(7_200_000)).ok("a", "1");
        }),
        History::new(
            "the target asks for more than the time limit",
            "retry: {jitter: none, maxElapsed: 30s}",
            steps,
            |run| {
                run.report("a", asking(31_000));
            },
        )
        .edit("maxElapsed: 30s", "maxElapsed: 32s"),
        History::new(
            "decorrelated jitter goes on from what the target asked for",
            "retry: {jitter: decorrelated}",
            steps,
            |run| {
                run.report("a", asking(30_000))
                    .fail("a", "503")
                    .ok("a", "1");
            },
        )
        .edit("decorrelated", "none"),
    ]
}

fn kinds() -> Vec<History> {
    vec![
        History::new(
            "statuses and errors that the workflow lists",
            "retry: {jitter: none, retryOn: {statuses: [404, 5xx], errors: [tls, local]}, failOn: {statuses: [503]}}",
            &["a", "b"],
            |run| {
                run.fail("a", "404").fail("a", "599").fail("a", "tls").report("a", of_a_task());
                run.ok("a", "1").fail("b", "503");
            },
        )
        .edit("failOn: {statuses: [503]}", "failOn: {statuses: [504]}"),
        History::new(
            "an error that is not listed",
            "retry: {jitter: none, retryOn: {errors: [dns]}}",
            &["a"],
            |run| {
                run.fail("a", "dns").fail("a", "read_timeout");
            },
        )
        .edit("errors: [dns]", "errors: [dns, read_timeout]"),
        History::new(
            "timeouts of both kinds, then a success",
            "",
            &["a"],
            |run| {
                run.begin("a").wait(30_000).fail("a", "read_timeout");
                run.begin("a").wait(5_000).fail("a", "connect_timeout");
                run.begin("a").wait(29_999).ok("a", "1");
            },
        )
        .edit("retry: {jitter: none}", "retry: {jitter: none, maxElapsed: 30s}"),
        History::new(
            "a step's own settings over the workflow's",
            "retry: {jitter: none, maxRetries: 1}",
            &["a | retry: {maxRetries: 3, strategy: linear}", "b | retry: false"],
            |run| {
                run.fail("a", "503").fail("a", "503").fail("a", "503").ok("a", "1");
                run.fail("b", "503");
            },
        )
        .edit("retry: false", "retry: true"),
        History::new(
            "a delay across the turn of a year",
            "retry: {jitter: none, initialDelay: 24h, multiplier: 10, maxDelay: 7d}",
            &["a"],
            |run| {
                run.fail("a", "503").fail("a", "503").fail("a", "503").ok("a", "1");
            },
        )
        .edit("maxDelay: 7d", "maxDelay: 6d"),
    ]
}
