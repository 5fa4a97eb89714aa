//! Callbacks: what each of them does, before and after the answer to the call, and what comes after.

use super::fixture::{
    Run, assert_lines, callback, cancel, failure, json, plain_start, read, step_id,
};
use crate::callback::CallbackStatus;
use crate::execution::{Command, EventKind, Outcome, Refusal, Said, StepStatus};
use crate::failure::{ErrorClass, Failure};

const ANSWER: &str = r#"{"status":202,"body":{"id":7}}"#;
const BODY: &str = r#"{"status":"success","result":{"n":[1.50]}}"#;

fn done() -> Said {
    Said::Success(json(BODY))
}

fn failed() -> Said {
    let mut failure = Failure::new(ErrorClass::CallbackFailed, "the target says no");
    failure.response = Some("{}".to_owned());
    Said::Failed(failure)
}

/// A run whose only step has been called and answered.
fn answered(retry: &str) -> Run {
    let mut run = Run::with(retry, &["a^"], "{}");
    run.wait(10).begin("a").wait(20).ok("a", ANSWER);
    run
}

#[test]
fn the_step_waits_after_its_answer() {
    let run = answered("");
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SCHEDULED a#1
         3 STEP_STARTED a#1 waits",
    );
    assert_eq!(run.effects(), "withdraw a, callback a#1 pending open");
    assert_eq!(
        (run.status(), run.steps().as_str()),
        ("waiting", "a waiting")
    );
    assert_eq!(run.work(), "", "no node has anything to do");
    let value = run.log[2].value().unwrap();
    assert_eq!(value.as_str(), ANSWER, "the answer's only copy");
    let awaited = run.state.step(&step_id("a")).unwrap().awaited.clone();
    assert_eq!(
        awaited.unwrap().until,
        run.now.plus(std::time::Duration::from_secs(60))
    );
}

/// Where a record stands, how it comes to stand there, and what becomes of it by each word.
type Stand = (&'static str, fn() -> Run, [&'static str; 3]);

#[expect(clippy::too_many_lines, reason = "a table")]
fn stands() -> [Stand; 10] {
    const NO_RETRY: &str = "retry: false";
    [
        (
            "in flight",
            || {
                let mut run = Run::with(NO_RETRY, &["a^"], "{}");
                run.begin("a");
                run
            },
            ["waiting", "completed", "dlq"],
        ),
        (
            "pending",
            || answered(NO_RETRY),
            ["waiting", "completed", "dlq"],
        ),
        (
            "processing",
            || {
                let mut run = answered(NO_RETRY);
                run.say("a", Said::Processing);
                run
            },
            ["repeated", "completed", "dlq"],
        ),
        (
            "processing, before the answer",
            || {
                let mut run = Run::with(NO_RETRY, &["a^"], "{}");
                run.begin("a").say("a", Said::Processing);
                run
            },
            ["repeated", "completed", "dlq"],
        ),
        (
            "success",
            || {
                let mut run = answered(NO_RETRY);
                run.say("a", done());
                run
            },
            ["refused"; 3],
        ),
        (
            "failed",
            || {
                let mut run = answered(NO_RETRY);
                run.say("a", failed());
                run
            },
            ["refused"; 3],
        ),
        (
            "trigger_failed",
            || {
                let mut run = Run::with(NO_RETRY, &["a^"], "{}");
                run.fail("a", "500");
                run
            },
            ["refused"; 3],
        ),
        (
            "timeout",
            || {
                let mut run = Run::with(NO_RETRY, &["a^"], "{}");
                run.fail("a", "read_timeout");
                run
            },
            ["refused"; 3],
        ),
        (
            "window over",
            || {
                let mut run = answered(NO_RETRY);
                run.window_over("a");
                run
            },
            ["refused"; 3],
        ),
        (
            "cancelled",
            || {
                let mut run = answered(NO_RETRY);
                run.cancel();
                run
            },
            ["refused"; 3],
        ),
    ]
}

/// Every pair: where the record stands, what is said, and what becomes of it.
#[test]
fn the_table() {
    for (stand, make, becomes) in stands() {
        for (said, becomes) in [Said::Processing, done(), failed()]
            .into_iter()
            .zip(becomes)
        {
            let mut run = make();
            let word = said.status();
            let command = run.callback("a", said);
            let before = run.log.len();
            let became = match run.attempt(command) {
                Ok(()) => run.status(),
                Err(Refusal::Repeated { .. }) => "repeated",
                Err(Refusal::NotLive { .. } | Refusal::Ended(_)) => "refused",
                Err(other) => panic!("{stand} {word:?}: {other}"),
            };
            assert_eq!(became, becomes, "{stand} {word:?}");
            let written = run.log.len() > before;
            assert_eq!(written, !["refused", "repeated"].contains(&becomes));
        }
    }
}

#[test]
fn an_attempt_that_was_lost_or_replaced_is_over() {
    for replace in [
        (|run: &mut Run| {
            run.begin("a").lost("a");
        }) as fn(&mut Run),
        |run| {
            run.fail("a", "503");
        },
        |run| {
            run.ok("a", ANSWER).say("a", failed());
        },
    ] {
        let mut run = Run::of(&["a^"]);
        replace(&mut run);
        assert_eq!(run.state.step(&step_id("a")).unwrap().attempt, 2);
        for said in [Said::Processing, done(), failed()] {
            let refusal = run.refused(callback("a", 1, None, said));
            assert!(matches!(refusal, Refusal::NotLive { attempt: 1, .. }));
        }
        // The next one counts, and its body is the output.
        run.begin("a").ok("a", ANSWER).say("a", done());
        assert_eq!(run.status(), "completed");
    }
}

#[test]
fn the_last_word_is_the_output() {
    let mut run = answered("");
    run.wait(5_000).say("a", Said::Processing);
    assert_eq!(run.effects(), "callback a#1 processing open");
    run.wait(1_000).say("a", done());
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SCHEDULED a#1
         3 STEP_STARTED a#1 waits
         4 CALLBACK_RECEIVED a#1 processing 50%
         5 CALLBACK_RECEIVED a#1 success 50%
         6 STEP_COMPLETED a#1
         7 EXECUTION_COMPLETED output of a",
    );
    assert_eq!(run.effects(), "callback a#1 success closed");
    let output = run.state.step(&step_id("a")).unwrap().output.unwrap();
    assert_eq!(
        run.state.payloads.get(output.sequence).unwrap().as_str(),
        BODY
    );
}

#[test]
fn a_failure_goes_by_the_policy() {
    let mut run = answered("retry: {maxRetries: 1, initialDelay: 3s, jitter: none}");
    run.say("a", failed());
    assert_lines(
        &run.news(),
        "4 CALLBACK_RECEIVED a#1 failed 50%
         5 STEP_FAILED a#1
         6 RETRY_SCHEDULED a#2 +3000ms",
    );
    assert_eq!(run.effects(), "callback a#1 failed closed, schedule a#2");
    assert_eq!(run.status(), "retrying");
    run.ok("a", ANSWER).say("a", failed());
    assert_eq!(run.letter().unwrap().reason.name(), "exhausted");
    assert_eq!(
        run.letter().unwrap().failure.class,
        ErrorClass::CallbackFailed
    );
}

#[test]
fn the_answer_counts_when_nobody_calls_back() {
    let source = "
        id: w
        retry: {jitter: none}
        steps:
          - {id: a, type: http, config: {url: 'http://x'}, callback: {window: 1h}, outputMapping: {id: $.body.id}}
          - {id: b, type: local, config: {task: t}, when: '${steps.a.output.body.ok ?? true}'}
        output: '${workflow.context.id}'";
    let mut run = Run::start(read(source), plain_start("{}"));
    run.ok("a", ANSWER).say("a", Said::Processing);
    run.wait(3_599_999);
    let early = Command::WindowOver {
        step: step_id("a"),
        attempt: 1,
    };
    assert!(
        matches!(run.refused(early), Refusal::NotLive { .. }),
        "not yet"
    );
    run.window_over("a");
    assert_lines(
        &run.news(),
        "5 STEP_COMPLETED a#1 with the answer
         6 STEP_SCHEDULED b#1",
    );
    // The row keeps its word.
    assert_eq!(
        run.effects(),
        "callback a#1 processing closed, schedule b#1"
    );
    run.ok("b", "1");
    assert_eq!(run.log.last().unwrap().value().unwrap().as_str(), "7");
}

#[test]
fn an_answer_that_is_not_at_hand_is_asked_for() {
    let source = "
        id: w
        steps: [{id: a, type: http, config: {url: 'http://x'}, callback: {}, outputMapping: {id: $.body.id}}]";
    let mut run = Run::start(read(source), plain_start("{}"));
    run.ok("a", ANSWER);
    let mut bare = run.state.clone();
    bare.payloads = crate::execution::state::Payloads::default();
    assert!(bare.missing_values().contains(&3));
    let over = Command::WindowOver {
        step: step_id("a"),
        attempt: 1,
    };
    let later = run.now.plus(std::time::Duration::from_secs(24 * 3600));
    let refused = crate::execution::decide(&run.workflow, &bare, over.clone(), later);
    assert_eq!(refused.unwrap_err(), Refusal::MissingPayload(3));
    let heavy = crate::execution::decide_within(&run.workflow, &run.state, over, later, 3);
    assert_eq!(heavy.unwrap_err(), Refusal::TooHeavy);
}

#[test]
fn a_clock_that_is_behind_records_no_call_before_its_time() {
    let mut run = answered("retry: {maxRetries: 2, initialDelay: 5s, jitter: none}");
    // By the clock of the node that called, the time of the retry had come.
    run.say("a", failed()).say("a", Said::Processing);
    let fired = run.log.iter().find_map(|event| match &event.kind {
        EventKind::TimerFired(timer) => Some((timer.due_at, timer.fired_at)),
        _ => None,
    });
    let (due_at, fired_at) = fired.unwrap();
    assert_eq!(fired_at, due_at);
}

#[test]
fn a_callback_may_be_faster_than_the_answer() {
    let mut run = Run::of(&["a^"]);
    run.wait(5).begin("a").wait(10).say("a", Said::Processing);
    assert_lines(
        &run.news(),
        "3 STEP_STARTED a#1 waits
         4 CALLBACK_RECEIVED a#1 processing 50% early",
    );
    assert_eq!(run.effects(), "callback a#1 processing open, withdraw a");
    let lost = super::fixture::lost("a", 1, true);
    assert!(
        matches!(run.refused(lost), Refusal::NotLive { .. }),
        "a node that dies loses nothing"
    );
    run.wait(10).answer("a", Outcome::Succeeded(json(ANSWER)));
    assert_lines(&run.news(), "5 CALL_ANSWERED a#1");
    assert_eq!(run.effects(), "");
    let again = run.answered("a", Outcome::Succeeded(json(ANSWER)));
    assert!(
        matches!(run.refused(again), Refusal::NotLive { .. }),
        "it answers once"
    );
    run.window_over("a");
    assert_eq!(run.status(), "completed");
    let output = run.state.step(&step_id("a")).unwrap().output.unwrap();
    assert_eq!(output.sequence, 5);
}

#[test]
fn a_last_word_before_the_answer_wins_over_it() {
    for (said, steps) in [(done(), "a completed"), (failed(), "a failed")] {
        let mut run = Run::with("retry: false", &["a^", "b"], "{}");
        run.begin("a").say("a", said);
        assert!(run.steps().starts_with(steps), "{}", run.steps());
        assert!(run.effects().contains("withdraw a"), "{}", run.effects());
        for outcome in [
            Outcome::Succeeded(json(ANSWER)),
            Outcome::Failed(failure("500")),
            Outcome::Failed(failure("read_timeout")),
        ] {
            let late = super::fixture::stray("a", 1, outcome);
            run.refused(late);
        }
    }
}

#[test]
fn what_the_call_says_after_the_first_word() {
    for (outcome, news) in [
        ("500", "5 STEP_FAILED a#1 non_retryable"),
        ("connection_refused", "5 STEP_FAILED a#1 non_retryable"),
        ("read_timeout", "5 CALL_ANSWERED a#1 read_timeout"),
        ("connection_reset", "5 CALL_ANSWERED a#1 connection_reset"),
    ] {
        let head = "retry: {retryOn: {statuses: [], errors: []}, failOn: {statuses: [500]}}";
        let mut run = Run::with(head, &["a^", "b"], "{}");
        run.begin("a").say("a", Said::Processing);
        run.answer("a", Outcome::Failed(failure(outcome)));
        assert_eq!(run.news().lines().next(), Some(news));
        if news.contains("CALL_ANSWERED") {
            assert_eq!(run.steps(), "a waiting", "a silence is no word");
            run.window_over("a");
            let output = run.state.step(&step_id("a")).unwrap().output.unwrap();
            assert_eq!(
                run.state.payloads.get(output.sequence).unwrap().as_str(),
                "null"
            );
        }
    }
}

#[test]
fn a_pause_keeps_nobody_from_calling_back() {
    let mut run = Run::of(&["a^", "b"]);
    run.ok("a", ANSWER).pause();
    assert_eq!(run.effects(), "hold");
    run.wait(9).say("a", Said::Processing).say("a", done());
    assert_eq!(
        (run.status(), run.steps().as_str()),
        ("paused", "a completed")
    );
    run.resume();
    assert_eq!(run.effects(), "schedule b#1");
    let mut run = Run::of(&["a^", "b"]);
    run.ok("a", ANSWER).pause().resume();
    assert_eq!(run.effects(), "", "its target has it still");
    run.pause().window_over("a").resume();
    assert_eq!(run.effects(), "schedule b#1");
}

#[test]
fn a_failing_execution_waits_for_what_its_targets_have() {
    let mut run = Run::of(&["a^ | needs: []", "b | needs: []"]);
    run.ok("a", ANSWER).fail("b", "400");
    assert_eq!(run.status(), "waiting");
    run.say("a", failed());
    assert_eq!(run.status(), "dlq", "without a retry");
    let mut run = Run::of(&["a^ | needs: []", "b | needs: []"]);
    run.ok("a", ANSWER).fail("b", "400").window_over("a");
    assert_eq!(run.status(), "dlq");
}

#[test]
fn a_step_may_be_undone_by_callback() {
    for end in [
        (|run: &mut Run| {
            run.say("undo", done());
        }) as fn(&mut Run),
        |run| {
            run.window_over("undo");
        },
    ] {
        let mut run = Run::of(&["a | compensate: undo", "b", "undo^"]);
        run.ok("a", "1").fail("b", "400").ok("undo", ANSWER);
        assert_eq!(run.status(), "running");
        end(&mut run);
        assert!(run.news().contains("COMPENSATION_COMPLETED undo#1"));
        let step = run.state.step(&step_id("a")).unwrap();
        assert_eq!(step.status, StepStatus::Compensated);
        assert_eq!(run.status(), "dlq");
    }
}

#[test]
fn a_cancel_ends_the_wait() {
    let mut run = answered("");
    run.send(cancel());
    assert_eq!(run.steps(), "a cancelled");
    let mut run = Run::of(&["a^ | compensate: undo", "undo"]);
    run.ok("a", ANSWER).cancel_and_undo();
    assert_eq!(
        run.status(),
        "cancelled",
        "it was not done, so there is nothing to undo"
    );
}

#[test]
fn an_output_that_cannot_be_mapped_fails_the_step() {
    let source = "
        id: w
        retry: false
        steps: [{id: a, type: http, config: {url: 'http://x'}, callback: {}, outputMapping: {x: '$..[?@.a.b.c == 1]'}}]";
    for window in [false, true] {
        let mut run = Run::start(read(source), plain_start("{}"));
        let deep = format!("{}1{}", r#"{"a":["#.repeat(60), "]}".repeat(60));
        let long = json(&format!("[{}]", vec![deep; 3_000].join(",")));
        match window {
            true => {
                run.report("a", Outcome::Succeeded(long)).window_over("a");
            }
            false => {
                run.ok("a", ANSWER).say("a", Said::Success(long));
                assert!(run.news().contains("CALLBACK_RECEIVED a#1 success"));
            }
        }
        let failing = run.state.failing.as_ref().expect("the path is too costly");
        assert_eq!(failing.failure.class, ErrorClass::Mapping);
    }
}

#[test]
fn a_step_without_callbacks_hears_none() {
    let mut run = Run::of(&["a"]);
    run.begin("a");
    for status in CallbackStatus::SAID {
        let said = match status {
            CallbackStatus::Success => done(),
            CallbackStatus::Failed => failed(),
            _ => Said::Processing,
        };
        let refusal = run.refused(callback("a", 1, None, said));
        assert!(matches!(refusal, Refusal::NotLive { .. }));
    }
}
