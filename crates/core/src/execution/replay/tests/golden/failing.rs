//! What goes wrong for good: kinds of errors, siblings, bounds, and where no letter is made.

use super::history::History;
use crate::execution::Outcome;
use crate::execution::decide::tests::fixture::failure;
use crate::failure::{ErrorClass, Failure};
use crate::limit;

pub(super) fn histories() -> Vec<History> {
    let mut all = classes();
    all.extend(siblings());
    all.extend(bounds());
    all
}

fn classes() -> Vec<History> {
    vec![
        History::new(
            "every class of error",
            "retry: {jitter: none, maxRetries: 10}",
            &[
                "s00 | needs: []",
                "s01 | needs: []",
                "s02 | needs: []",
                "s03 | needs: []",
                "s04 | needs: []",
                "s05 | needs: []",
                "s06 | needs: []",
                "s07 | needs: []",
                "s08 | needs: []",
                "s09 | needs: []",
                "s10 | needs: []",
                "s11 | needs: []",
                "s12 | needs: []",
                "s13 | needs: []",
                "s14 | needs: []",
                "s15 | needs: []",
                "s16 | needs: []",
            ],
            |run| {
                // Those there were when it was recorded.
                let mut classes = Vec::from(ErrorClass::ALL);
                classes.retain(|class| *class != ErrorClass::Mapping && !class.speaks_for_itself());
                for (at, class) in classes.into_iter().enumerate() {
                    let step = format!("s{at:02}");
                    run.begin(&step).wait(at as u64);
                    let failure = Failure::new(class, format!("{class} happened")).with_code("503");
                    run.report(&step, Outcome::Failed(failure));
                }
            },
        )
        .edit("maxRetries: 10", "maxRetries: 9, retryOn: {errors: [tls]}"),
        History::new(
            "an answer, causes and a code with the failure",
            "",
            &["a"],
            |run| {
                let mut failure = failure("422");
                failure.causes = vec!["outer".to_owned(), "in\u{0}ner \u{1f4a5}".to_owned()];
                failure.response = Some("{\"error\":\"no \u{0} such\r\nsku\"}".repeat(20));
                run.begin("a")
                    .wait(12)
                    .report("a", Outcome::Failed(failure));
            },
        ),
        History::new("a task that marks its error as final", "", &["a"], |run| {
            let mut failure = failure("local").with_code("E-17");
            failure.retryable = false;
            run.report("a", Outcome::Failed(failure));
        }),
        History::new("a task whose error is retried", "", &["a"], |run| {
            let mut failure = failure("local");
            failure.retryable = true;
            run.report("a", Outcome::Failed(failure)).ok("a", "1");
        })
        .edit("jitter: none", "jitter: none, retryOn: {errors: [dns]}"),
        History::new(
            "no letter for what is not retried",
            "deadLetter: exhausted",
            &["a"],
            |run| {
                run.fail("a", "403");
            },
        )
        .edit("deadLetter: exhausted", "deadLetter: all"),
        History::new(
            "a letter for what was exhausted",
            "deadLetter: exhausted\nretry: {maxRetries: 1, jitter: none}",
            &["a"],
            |run| {
                run.fail("a", "503").fail("a", "503");
            },
        )
        .edit("maxRetries: 1", "maxRetries: 2"),
    ]
}

fn siblings() -> Vec<History> {
    let parallel = &[
        "a",
        "b | needs: []",
        "c | needs: []",
        "d | needs: [a, b, c]",
    ];
    vec![
        History::new(
            "siblings finish, fail and are dropped while failing",
            "",
            parallel,
            |run| {
                run.fail("c", "503").begin("a").begin("b").wait(10);
                run.fail("a", "400").wait(10).fail("b", "404");
            },
        ),
        History::new(
            "a sibling fails in a way that would be retried",
            "",
            parallel,
            |run| {
                run.begin("a").begin("b").begin("c").wait(10);
                run.fail("a", "400")
                    .wait(10)
                    .fail("b", "503")
                    .wait(10)
                    .ok("c", "3");
            },
        ),
        History::new(
            "two siblings exhaust their retries",
            "retry: {maxRetries: 1, jitter: none}",
            parallel,
            |run| {
                run.ok("c", "3").fail("a", "503").fail("b", "503");
                run.begin("b").begin("a").fail("a", "503").fail("b", "503");
            },
        )
        .edit("maxRetries: 1", "maxRetries: 2"),
        History::new(
            "a step that cannot be scheduled beside one that can",
            "",
            &[
                "a",
                "b | needs: [a]",
                "c | needs: [a], when: \"${input.x}\"",
            ],
            |run| {
                run.ok("a", "1").ok("b", "2");
            },
        )
        .edit("${input.x}", "${input.x ?? true}"),
    ]
}

/// A failure whose answer alone is as long as a history may be. An output of that length would do
/// as well, but is hashed each time it is folded.
fn endless() -> Outcome {
    let mut failure = failure("503");
    failure.response = Some("x".repeat(usize::try_from(limit::HISTORY_BYTES_MAX).unwrap()));
    Outcome::Failed(failure)
}

fn bounds() -> Vec<History> {
    vec![
        History::new(
            "a failure when the history has reached its bytes",
            "",
            &["a"],
            |run| {
                run.report("a", endless()).fail("a", "503");
            },
        ),
        History::new(
            "a next step when the history has reached its bytes",
            "",
            &["a | compensate: undo", "b", "undo"],
            |run| {
                run.report("a", endless()).ok("a", "1").fail("undo", "503");
            },
        ),
    ]
}
