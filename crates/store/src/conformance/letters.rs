//! Dead letters: what they say, how they are retried, settled and given up.

use refire_core::dead_letter::{LetterStatus, Reason, RetryEntry, RetryFrom};
use refire_core::definition::Workflow;
use refire_core::execution::{
    Cancel, Command, Lineage, Outcome, Start, Status, Trigger, TriggerKind,
};
use refire_core::id::DlqId;
use refire_core::time::Timestamp;

use super::Lab;
use super::stage::{Run, Stage, http, json, two_steps};
use crate::{Admit, LetterRetry, LetterRow, Part, PartOutcome, RetryRow, SettleLetter};

pub(super) async fn letter(stage: &Stage, run: &Run) -> LetterRow {
    stage
        .store
        .letter(run.state.dlq_id.unwrap())
        .await
        .unwrap()
        .expect("it is there")
}

/// A retry of a run's letter, not yet committed.
pub(super) fn retry(stage: &mut Stage, workflow: &Workflow, failed: &Run) -> (Run, Admit) {
    let letter = failed.state.dlq_id.unwrap();
    let plain = stage.plain_start("{\"n\":1}");
    let with = Start {
        trigger: Trigger {
            kind: TriggerKind::ManualDlqRetry,
            ..plain.trigger.clone()
        },
        lineage: Lineage {
            parent: Some(failed.id),
            root: failed.id,
            letter: Some(letter),
            generation: 1,
        },
        automatic_retries: false,
        ..plain
    };
    let (run, mut admit) = stage.start(workflow, with);
    admit.letter = Some(LetterRetry {
        id: letter,
        by: "bob".to_owned(),
        expected_generation: 0,
        generation: 0,
        from: RetryFrom::Start,
        edited: true,
    });
    (run, admit)
}

/// What is kept of a retry while it is open.
fn kept(run: &Run, at: Timestamp) -> RetryRow {
    RetryRow {
        execution: run.id,
        at,
        by: "bob".to_owned(),
        from: Some(RetryFrom::Start),
        edited: Some(true),
        ended: None,
    }
}

pub(super) async fn retries(stage: &Stage, failed: &Run, limit: u32) -> Vec<RetryRow> {
    let id = failed.state.dlq_id.unwrap();
    stage.store.letter_retries(id, limit).await.unwrap()
}

async fn retried(stage: &mut Stage, workflow: &Workflow, failed: &Run) -> Run {
    let (run, admit) = retry(stage, workflow, failed);
    assert_eq!(
        stage.commit_one(Part::Admit(Box::new(admit))).await,
        PartOutcome::Done
    );
    run
}

pub async fn a_letter_says_what_happened(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let input = "{\"z\":1,\"a\":12345678901234567890123}";
    let mut run = stage.admit(&workflow, input).await;
    let mut history = Vec::new();
    for (attempt, delay_ms) in [(1, Some(10_000)), (2, Some(20_000)), (3, None)] {
        let error = format!("the target answered {}", 500 + attempt);
        let mut failure = http("503");
        failure.message.clone_from(&error);
        failure.causes = vec!["below".to_owned()];
        failure.response = Some("<html>\u{0}</html>".to_owned());
        history.push(RetryEntry {
            attempt,
            error,
            delay_ms,
            at: stage.now,
        });
        stage.fail(&mut run, "a", failure).await;
        stage.wait(delay_ms.unwrap_or(0) / 1_000);
    }
    let letter = letter(&stage, &run).await;
    assert_eq!(letter.execution, run.id);
    assert_eq!(
        (letter.workflow.as_str(), &*letter.workflow_name),
        ("orders", "The orders")
    );
    assert_eq!(letter.step.as_deref(), Some("a"));
    assert_eq!(letter.input, json(input));
    assert_eq!(letter.reason, Reason::Exhausted);
    assert_eq!(letter.failure.message, "the target answered 503");
    assert_eq!(letter.failure.code.as_deref(), Some("503"));
    assert_eq!(letter.failure.causes, ["below"]);
    assert_eq!((letter.retry_count, letter.max_retries), (2, 2));
    assert_eq!(letter.retry_history, history);
    assert_eq!(letter.state.status, LetterStatus::Pending);
    assert_eq!(
        (letter.failed_at, letter.created_at),
        (stage.now, stage.now)
    );
    assert_eq!(
        (
            letter.state.retry_attempted,
            letter.state.resolved,
            letter.state.deleted
        ),
        (None, None, None)
    );
    let unknown = DlqId::from_bytes([3; 16]);
    assert_eq!(stage.store.letter(unknown).await.unwrap(), None);
}

pub async fn a_retry_resolves_it(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let failed = stage.dead_letter(&workflow, "404").await;
    stage.wait(60);
    let mut run = retried(&mut stage, &workflow, &failed).await;
    let attempted = Some((stage.now, "bob".to_owned()));
    let open = letter(&stage, &failed).await;
    assert_eq!(open.state.status, LetterStatus::Retrying);
    assert_eq!(open.state.retry_attempted, attempted);
    assert_eq!(open.state.resolved_by(), None, "nothing is resolved yet");
    let mut expected = kept(&run, stage.now);
    assert_eq!(retries(&stage, &failed, 9).await, [expected.clone()]);
    stage.succeed(&mut run, "a", "1").await;
    stage.wait(60);
    stage.succeed(&mut run, "b", "2").await;
    let resolved = letter(&stage, &failed).await;
    assert_eq!(resolved.state.status, LetterStatus::Resolved);
    assert_eq!(resolved.state.resolved, Some((stage.now, "bob".to_owned())));
    assert_eq!(resolved.state.retry_attempted, attempted);
    assert_eq!(resolved.state.resolved_by(), Some(run.id));
    expected.ended = Some((Status::Completed, stage.now));
    assert_eq!(retries(&stage, &failed, 9).await, [expected]);
    stage.check(&run).await;
    stage.check(&failed).await;
}

pub async fn a_failed_retry_leaves_it_pending(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let failed = stage.dead_letter(&workflow, "404").await;
    let mut expected = Vec::new();
    for end in [Status::Failed, Status::Cancelled, Status::Failed] {
        let mut run = retried(&mut stage, &workflow, &failed).await;
        expected.push(kept(&run, stage.now));
        assert_eq!(retries(&stage, &failed, 9).await, expected);
        stage.wait(60);
        match end {
            Status::Cancelled => {
                let cancel = Command::Cancel(Cancel::by(None));
                stage.send(&mut run, cancel).await;
            }
            _ => stage.fail(&mut run, "a", http("404")).await,
        }
        expected.last_mut().unwrap().ended = Some((end, stage.now));
        assert_eq!(retries(&stage, &failed, 9).await, expected, "all are kept");
        assert_eq!(
            retries(&stage, &failed, 1).await,
            expected.split_at(expected.len() - 1).1
        );
        assert_eq!(run.state.dlq_id, None, "a retry makes no second letter");
        let pending = letter(&stage, &failed).await;
        assert_eq!(pending.state.status, LetterStatus::Pending);
        assert_eq!(pending.state.resolved_by(), None);
        assert_eq!(pending.state.resolved, None);
    }
}

pub async fn only_a_pending_letter_is_retried(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let failed = stage.dead_letter(&workflow, "404").await;
    // Twice in one batch: the first wins.
    let (first, admit_first) = retry(&mut stage, &workflow, &failed);
    let (second, admit_second) = retry(&mut stage, &workflow, &failed);
    let parts = [admit_first, admit_second]
        .map(|admit| Part::Admit(Box::new(admit)))
        .to_vec();
    let refused = |status| PartOutcome::LetterNotPending(status);
    let outcomes = stage.commit(parts).await;
    assert_eq!(
        outcomes,
        [PartOutcome::Done, refused(Some(LetterStatus::Retrying))]
    );
    stage.check(&first).await;
    stage.check_absent(second.id).await;
    let kept = kept(&first, stage.now);
    assert_eq!(retries(&stage, &failed, 9).await, [kept]);
    let (absent, mut admit) = retry(&mut stage, &workflow, &failed);
    admit.letter = Some(LetterRetry {
        id: DlqId::from_bytes([3; 16]),
        by: "bob".to_owned(),
        expected_generation: 0,
        generation: 0,
        from: RetryFrom::Start,
        edited: true,
    });
    assert_eq!(
        stage.commit_one(Part::Admit(Box::new(admit))).await,
        refused(None)
    );
    stage.check_absent(absent.id).await;
}

/// Two people retry with new work, both on what they saw: the second to come is refused even when
/// the first retry has failed already, or two retries would use one generation.
pub async fn a_retry_on_an_old_generation_is_refused(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let failed = stage.dead_letter(&workflow, "404").await;
    assert_eq!(letter(&stage, &failed).await.state.generation, 0);
    let retry_on = |stage: &mut Stage, expected_generation, generation| {
        let (run, mut admit) = retry(stage, &workflow, &failed);
        if let Some(retry) = &mut admit.letter {
            retry.expected_generation = expected_generation;
            retry.generation = generation;
        }
        (run, Part::Admit(Box::new(admit)))
    };
    let (mut first, part) = retry_on(&mut stage, 0, 1);
    let (late, late_part) = retry_on(&mut stage, 0, 1);
    assert_eq!(stage.commit_one(part).await, PartOutcome::Done);
    assert_eq!(letter(&stage, &failed).await.state.generation, 1);
    stage.fail(&mut first, "a", http("404")).await;
    let pending = letter(&stage, &failed).await;
    assert_eq!(
        (pending.state.status, pending.state.generation),
        (LetterStatus::Pending, 1),
        "a failed retry has used its generation"
    );
    assert_eq!(
        stage.commit_one(late_part).await,
        PartOutcome::LetterNotPending(Some(LetterStatus::Pending))
    );
    stage.check_absent(late.id).await;
    assert_eq!(letter(&stage, &failed).await, pending);
    // The same work again keeps the generation; new work takes the next.
    for (expected, generation) in [(1, 1), (1, 2)] {
        let (mut run, part) = retry_on(&mut stage, expected, generation);
        assert_eq!(stage.commit_one(part).await, PartOutcome::Done);
        stage.fail(&mut run, "a", http("404")).await;
        assert_eq!(letter(&stage, &failed).await.state.generation, generation);
    }
}

pub async fn a_letter_is_given_up_once(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let failed = stage.dead_letter(&workflow, "404").await;
    stage.wait(60);
    let id = failed.state.dlq_id.unwrap();
    let delete = |id| Part::DeleteLetter {
        id,
        by: "eve".to_owned(),
    };
    assert_eq!(stage.commit_one(delete(id)).await, PartOutcome::Done);
    let deleted = letter(&stage, &failed).await;
    assert_eq!(
        deleted.state.status,
        LetterStatus::Deleted,
        "still readable"
    );
    assert_eq!(deleted.state.deleted, Some((stage.now, "eve".to_owned())));
    let again = stage.commit_one(delete(id)).await;
    assert_eq!(
        again,
        PartOutcome::LetterNotPending(Some(LetterStatus::Deleted))
    );
    let unknown = stage.commit_one(delete(DlqId::from_bytes([3; 16]))).await;
    assert_eq!(unknown, PartOutcome::LetterNotPending(None));
    let (run, admit) = retry(&mut stage, &workflow, &failed);
    let refused = stage.commit_one(Part::Admit(Box::new(admit))).await;
    assert_eq!(
        refused,
        PartOutcome::LetterNotPending(Some(LetterStatus::Deleted))
    );
    stage.check_absent(run.id).await;
}

/// Only the execution that retries a letter settles it, and only once.
pub async fn a_stray_settlement_changes_nothing(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let failed = stage.dead_letter(&workflow, "404").await;
    let mut retry = retried(&mut stage, &workflow, &failed).await;
    stage.fail(&mut retry, "a", http("404")).await;
    let before = letter(&stage, &failed).await;
    let ended = retries(&stage, &failed, 9).await;
    let mut other = stage.admit(&workflow, "{}").await;
    for (step, execution) in [("a", other.id), ("b", retry.id)] {
        let report = stage.report(&other, step, Outcome::Succeeded(json("1")));
        let mut advance = stage.decide(&mut other, report);
        advance.settle = Some(SettleLetter {
            id: before.id,
            resolved: true,
            execution,
        });
        let outcome = stage.commit_one(Part::Advance(Box::new(advance))).await;
        assert_eq!(outcome, PartOutcome::Done);
        assert_eq!(letter(&stage, &failed).await, before);
        assert_eq!(retries(&stage, &failed, 9).await, ended);
    }
}
