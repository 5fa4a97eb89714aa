//! Answers that get lost: a commit is told as it was written, or written once more, and never twice.

use std::time::{Duration, Instant};

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::Outcome;
use refire_core::failure::{ErrorClass, Failure};
use refire_store::postgres::Scratch;
use refire_store::{
    Batch, Begin, ClaimTimers, CommitError, EventFilter, ExecutionFilter, LIMIT_MAX, NotWritten,
    Part, PartOutcome, Release, Store, Stretch, WorkKey,
};

use crate::proxy::{Cut, Proxy};
use crate::stage::{self, Run, Stage, admission, claimed, key, node, part};

/// Commits whose answers are lost in one way or another.
const ROUNDS: u8 = 60;
/// Executions of a batch that has many.
const CROWD: u8 = 60;
/// Longer than the longest way to an answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(30);
/// How long a commit is looked for while nobody can be asked, and some for a busy machine.
const GIVEN_UP_AFTER: std::ops::Range<Duration> =
    Duration::from_millis(9_500)..Duration::from_secs(18);

/// Where round after round is cut.
fn cut(round: u8) -> Option<Cut> {
    match round % 5 {
        0 => Some(Cut::AfterCommit),
        1 => Some(Cut::BeforeCommit),
        2 => Some(Cut::Middle(u32::from(round) % 23)),
        3 => Some(Cut::AfterCommit),
        _ => None,
    }
}

/// What no retry mends.
fn not_found() -> Outcome {
    let failure = Failure::new(ErrorClass::HttpStatus, "the target answered 404");
    Outcome::Failed(failure.with_code("404"))
}

/// Every kind of part that nodes send, again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_lost_is_told_as_it_was_written() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    stage::join(&store, node(7), Duration::from_secs(600)).await;
    stage.lease = Some(node(7));
    stage.save(&store).await;
    let (mut first, admit) = stage.start("{}");
    let mut admit = admit;
    admit.claim = Some(key(0));
    let batch = stage.batch(vec![admission(admit)]);
    store.commit(&batch).await.unwrap();
    let mut runs = vec![first.clone()];
    let mut held = Vec::new();
    for round in 1..=ROUNDS {
        let (run, mut admit) = stage.start("{\"n\":1}");
        admit.claim = Some(key(round));
        let (_, mut again) = stage.start("{}");
        again.claim = Some(key(round - 1));
        let late = stage.report(&mut first.clone(), "a", not_found());
        let moved = stage.succeed(&mut first, "a");
        let begin = Begin {
            node: node(7),
            work: held.clone(),
        };
        let parts = vec![
            admission(admit),
            admission(again),
            part(moved),
            part(late),
            Part::Begin(begin),
            stage.claim(node(7), 1),
        ];
        let cut = cut(round);
        if let Some(cut) = cut {
            proxy.cut(cut);
        }
        let batch = stage.batch(parts);
        let committed = tokio::time::timeout(ANSWERED_WITHIN, store.commit(&batch)).await;
        let outcomes = committed.unwrap().unwrap();
        let duplicate = PartOutcome::Duplicate {
            execution: first.id,
            body_differs: false,
        };
        let begun = vec![true; held.len()];
        let expected = [
            PartOutcome::Done,
            duplicate,
            PartOutcome::Done,
            PartOutcome::Conflict,
            PartOutcome::Begun(begun),
        ];
        assert_eq!(outcomes[..5], expected, "round {round}, {cut:?}");
        let rows = claimed(&outcomes[5]);
        assert_eq!(rows.len(), 1, "round {round}, {cut:?}");
        assert_eq!(rows[0].execution, first.id, "the oldest is claimed");
        assert_eq!(rows[0].step, "b");
        held = vec![(rows[0].key(), rows[0].attempt)];
        runs.last_mut().unwrap().state = first.state.clone();
        first = run.clone();
        runs.push(run);
    }
    assert!(proxy.cuts() >= u32::from(ROUNDS) / 2, "{}", proxy.cuts());
    check(&store, &runs).await;
    store.close().await;
}

/// Everything is there once.
async fn check(store: &dyn Store, runs: &[Run]) {
    let (all, every) = (ExecutionFilter::default(), EventFilter::default());
    let listed = store
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    assert_eq!(listed.len(), runs.len());
    for run in runs {
        let stored = store.execution(run.id).await.unwrap().unwrap();
        assert_eq!(stored.state.version, run.state.version);
        let events = store.history(run.id, &every, 0, LIMIT_MAX).await.unwrap();
        assert_eq!(events.len() as u64, run.state.version);
    }
}

/// However many parts a batch has, its outcomes are found with few questions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowded_batch_is_told_with_few_questions() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let (mut runs, mut parts) = (Vec::new(), Vec::new());
    for n in 0..CROWD {
        let (run, mut admit) = stage.start("{}");
        admit.claim = Some(key(n));
        runs.push(run);
        parts.push(admission(admit));
    }
    parts.push(stage.claim(node(7), CROWD.into()));
    let batch = stage.batch(parts);
    let outcomes = store.commit(&batch).await.unwrap();
    let rows = claimed(outcomes.last().unwrap()).to_vec();
    let (mut parts, mut expected) = (Vec::new(), Vec::new());
    for (n, run) in (0..CROWD).zip(&mut runs) {
        let is_even = n % 2 == 0;
        let (_, mut again) = stage.start("{}");
        again.claim = Some(key(n + if is_even { 0 } else { CROWD }));
        parts.push(admission(again));
        expected.push(if is_even {
            PartOutcome::Duplicate {
                execution: run.id,
                body_differs: false,
            }
        } else {
            PartOutcome::Done
        });
        let mut moved = stage.succeed(run, "a");
        moved.expected_version -= u64::from(is_even);
        parts.push(part(moved));
        expected.push(if is_even {
            PartOutcome::Conflict
        } else {
            PartOutcome::Done
        });
    }
    // Of executions that stay where they are, each time with one attempt that is not theirs.
    let halves = rows.chunks(rows.len() / 2);
    for half in halves {
        let work = half.iter().step_by(2);
        let work: Vec<_> = work.map(|row| (row.key(), row.attempt)).collect();
        let mut begun = vec![true; work.len()];
        begun[0] = false;
        let mut begin = Begin {
            node: node(7),
            work,
        };
        begin.work[0].1 += 1;
        parts.push(Part::Begin(begin));
        expected.push(PartOutcome::Begun(begun));
    }
    proxy.cut(Cut::AfterCommit);
    let before = proxy.asked();
    let batch = stage.batch(parts);
    let outcomes = store.commit(&batch).await.unwrap();
    assert_eq!(outcomes, expected);
    assert_eq!(proxy.cuts(), 1);
    let asked = proxy.asked() - before;
    assert!(asked < u32::from(CROWD), "{asked} statements were sent");
    store.close().await;
}

/// Parts that stand alone are cut off, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rare_parts_are_told_as_they_were_written() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    let (mut run, admit) = stage.start("{}");
    let timers = Part::ClaimTimers(ClaimTimers {
        node: node(7),
        until: stage::NOW.plus(Duration::from_secs(9)),
        up_to: 9,
    });
    let saved = PartOutcome::Saved {
        version: 1,
        created: true,
    };
    let mut steps = vec![
        (stage.put(), saved),
        (admission(admit), PartOutcome::Done),
        (
            Part::DeleteWorkflow {
                id: stage.workflow.id.clone(),
            },
            PartOutcome::OpenExecutions(1),
        ),
    ];
    let end = stage.report(&mut run, "a", not_found());
    let letter = end.new_letter.as_ref().unwrap().id;
    let work = vec![(
        WorkKey {
            execution: run.id,
            step: "a".to_owned(),
        },
        None,
    )];
    let give_up = |by: &str| Part::DeleteLetter {
        id: letter,
        by: by.to_owned(),
    };
    let not_pending = PartOutcome::LetterNotPending(Some(LetterStatus::Deleted));
    steps.extend([
        (timers, PartOutcome::Claimed(Vec::new())),
        (
            Part::Release(Release {
                node: node(7),
                work,
            }),
            PartOutcome::Done,
        ),
        (part(end), PartOutcome::Done),
        (give_up("ada"), PartOutcome::Done),
        (give_up("bob"), not_pending),
        (
            Part::DeleteWorkflow {
                id: stage.workflow.id.clone(),
            },
            PartOutcome::Done,
        ),
    ]);
    for (step, (sent, expected)) in steps.into_iter().enumerate() {
        let cuts = proxy.cuts();
        proxy.cut(if step % 3 == 2 {
            Cut::BeforeCommit
        } else {
            Cut::AfterCommit
        });
        let batch = stage.batch(vec![sent]);
        let outcomes = store.commit(&batch).await.unwrap();
        assert_eq!(outcomes, [expected], "step {step}");
        assert_eq!(proxy.cuts(), cuts + 1);
    }
    store.close().await;
}

/// The bytes of a commit that was given up arrive long after it was sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_arrives_late_is_refused() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let mut parts = Vec::new();
    for _ in 0..4 {
        parts.push(admission(stage.start("{}").1));
    }
    let batch = stage.batch(parts);
    store.commit(&batch).await.unwrap();
    proxy.cut(Cut::Late);
    let batch = stage.batch(vec![stage.claim(node(7), 1)]);
    let outcomes = store.commit(&batch).await.unwrap();
    assert_eq!(claimed(&outcomes[0]).len(), 1);
    assert_eq!(proxy.cuts(), 1);
    assert_eq!(proxy.let_go().await, 1);
    proxy.heard("RF002").await;
    let left = stage.batch(vec![stage.claim(node(9), 9)]);
    let outcomes = store.commit(&left).await.unwrap();
    assert_eq!(claimed(&outcomes[0]).len(), 3, "one claim took one");
    store.close().await;
}

/// A transaction that has begun and hears no more from its sender is waited for until the server
/// gives it up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_hangs_is_waited_for() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let (run, admit) = stage.start("{}");
    proxy.cut(Cut::Hanging);
    let batch = stage.batch(vec![admission(admit)]);
    let outcomes = store.commit(&batch).await.unwrap();
    assert_eq!(outcomes, [PartOutcome::Done]);
    // The connection is gone by then, or the transaction is.
    let _ = proxy.let_go().await;
    check(&store, &[run]).await;
    store.close().await;
}

/// Nobody can be asked for so long that whoever waits is told that nobody knows. The process goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_found_out_is_unknown_after_ten_seconds() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let (mut first, admit) = stage.start("{}");
    proxy.refuse_after_cut();
    proxy.cut_commit_with("INSERT INTO executions");
    let batch = stage.batch(vec![admission(admit)]);
    let began = Instant::now();
    let committed = store.commit(&batch).await;
    let took = began.elapsed();
    assert!(
        matches!(committed, Err(CommitError::Unknown(_))),
        "{committed:?}"
    );
    assert!(GIVEN_UP_AFTER.contains(&took), "{took:?}");
    assert_eq!(proxy.cuts(), 1);

    proxy.refuse(false);
    let (second, admit) = stage.start("{}");
    let moved = stage.succeed(&mut first, "a");
    let batch = stage.batch(vec![admission(admit), part(moved)]);
    let outcomes = eventually(&store, &batch).await;
    assert_eq!(outcomes, [PartOutcome::Done, PartOutcome::Done]);
    check(&store, &[first, second]).await;
    store.close().await;
}

/// Commits once the database is tried for again: it is left alone for a while.
async fn eventually(store: &dyn Store, batch: &Batch) -> Vec<PartOutcome> {
    let until = Instant::now() + ANSWERED_WITHIN;
    loop {
        match store.commit(batch).await {
            Ok(outcomes) => return outcomes,
            Err(CommitError::NotWritten {
                reason: NotWritten::Unavailable,
                ..
            }) if Instant::now() < until => tokio::task::yield_now().await,
            Err(other) => panic!("{other:?}"),
        }
    }
}
