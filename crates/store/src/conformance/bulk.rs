//! Bulk jobs: each thing has one row for a job, written with what is done to it; counts are exact.

use std::time::Duration;

use refire_core::bulk::{Action, Counts, ItemOutcome, JobState, LetterWork, Verdict};
use refire_core::dead_letter::LetterStatus;
use refire_core::definition::Workflow;
use refire_core::id::{BulkId, DlqId, ExecutionId, ItemId};

use super::Lab;
use super::letters::{letter, retries, retry};
use super::stage::{Run, Stage, two_steps};
use crate::{
    Admit, BulkItem, BulkItemRow, BulkLetters, BulkOptions, BulkPart, BulkRow, BulkStep, BulkWish,
    LIMIT_MAX, LetterFilter, NewBulk, Part, PartOutcome, Prune, Selection,
};

fn job(number: u8) -> BulkId {
    BulkId::from_bytes([number; 16])
}

fn wish(ids: Vec<ItemId>) -> BulkWish {
    BulkWish {
        selection: Selection::of(ids),
        options: BulkOptions::default(),
    }
}

async fn create(stage: &mut Stage, id: BulkId, action: Action, wish: BulkWish) {
    let new = NewBulk {
        id,
        action,
        wish,
        total: Some(3),
        rate: 50,
        by: "ann\u{0}".to_owned(),
    };
    let part = Part::Bulk(BulkPart::Create(Box::new(new)));
    assert_eq!(stage.commit_one(part.clone()).await, PartOutcome::Done);
    assert_eq!(stage.commit_one(part).await, PartOutcome::Conflict);
}

fn step(id: BulkId, rev: u64) -> BulkStep {
    BulkStep {
        job: id,
        rev,
        items: Vec::new(),
        letters: None,
        cursor: None,
        ends: false,
    }
}

async fn take(stage: &mut Stage, step: BulkStep) -> PartOutcome {
    let part = Part::Bulk(BulkPart::Step(Box::new(step)));
    stage.commit_one(part).await
}

async fn row(stage: &Stage, id: BulkId) -> BulkRow {
    stage
        .store
        .bulk_job(id)
        .await
        .unwrap()
        .expect("it is there")
}

async fn items(stage: &Stage, id: BulkId) -> Vec<BulkItemRow> {
    let all = stage.store.bulk_items(id, &[], None, LIMIT_MAX).await;
    all.unwrap()
}

/// A retry of a run's letter for a job.
fn retry_for(stage: &mut Stage, workflow: &Workflow, failed: &Run, id: BulkId) -> (Run, Admit) {
    let (run, mut admit) = retry(stage, workflow, failed);
    let item = failed.state.dlq_id.unwrap().into();
    admit.bulk = Some(BulkItem { job: id, item });
    (run, admit)
}

fn judged(item: u8, outcome: ItemOutcome, stage: &Stage) -> BulkItemRow {
    let verdict = Verdict {
        outcome,
        detail: (outcome != ItemOutcome::Ok).then(|| "why\u{0}".to_owned()),
    };
    BulkItemRow::judged(ItemId::from_bytes([item; 16]), verdict, stage.now)
}

pub async fn a_job_is_kept_as_it_was_asked_for(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let filter = LetterFilter {
        error_types: vec!["dns".to_owned()],
        statuses: vec![LetterStatus::Pending],
        from: Some(stage.now),
        text: Some("ü\u{0}".to_owned()),
        fingerprint: Some(u64::MAX),
        ..LetterFilter::default()
    };
    let asked = vec![("error_type".to_owned(), "dns".to_owned())];
    let wish = BulkWish {
        selection: Selection::Letters { filter, asked },
        options: BulkOptions {
            retries: true,
            transform: Some("{\"merge\": {}}".to_owned()),
            ..BulkOptions::default()
        },
    };
    create(&mut stage, job(5), Action::Retry, wish.clone()).await;
    assert_eq!(stage.store.bulk_wish(job(5)).await.unwrap(), Some(wish));
    let found = row(&stage, job(5)).await;
    let expected = BulkRow {
        id: job(5),
        action: Action::Retry,
        state: JobState::Running,
        cursor: None,
        total: Some(3),
        counts: Counts::default(),
        rate: 50,
        by: "ann\u{0}".to_owned(),
        rev: 1,
        created_at: stage.now,
        updated_at: stage.now,
        ended_at: None,
    };
    assert_eq!(found, expected);
    create(&mut stage, job(6), Action::Delete, self::wish(Vec::new())).await;
    let jobs = stage.store.bulk_jobs(&[], None, 10).await.unwrap();
    assert_eq!(
        jobs.iter().map(|it| it.id).collect::<Vec<_>>(),
        [job(6), job(5)]
    );
    let behind = stage.store.bulk_jobs(&[], Some(job(6)), 10).await.unwrap();
    assert_eq!(behind.len(), 1);
    let change = BulkPart::Change {
        id: job(6),
        rev: 1,
        state: JobState::Paused,
    };
    let touched = stage.commit_one(Part::Bulk(change)).await;
    assert_eq!(touched, PartOutcome::Touched(true));
    for (states, expected) in [
        (&[JobState::Running][..], vec![job(5)]),
        (
            &[JobState::Paused, JobState::Running][..],
            vec![job(6), job(5)],
        ),
        (&[JobState::Completed][..], vec![]),
    ] {
        let jobs = stage.store.bulk_jobs(states, None, 10).await.unwrap();
        assert_eq!(jobs.iter().map(|it| it.id).collect::<Vec<_>>(), expected);
    }
    assert_eq!(stage.store.bulk_job(job(9)).await.unwrap(), None);
    assert_eq!(stage.store.bulk_wish(job(9)).await.unwrap(), None);
}

pub async fn a_retry_is_made_once_for_each_job(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let failed = stage.dead_letter(&workflow, "404").await;
    let item: ItemId = failed.state.dlq_id.unwrap().into();
    for number in [1, 2] {
        create(&mut stage, job(number), Action::Retry, wish(vec![item])).await;
    }
    let (mut first, admit) = retry_for(&mut stage, &workflow, &failed, job(1));
    let done = stage.commit_one(Part::Admit(Box::new(admit))).await;
    assert_eq!(done, PartOutcome::Done);
    let kept = BulkItemRow {
        execution: Some(first.id),
        ..BulkItemRow::judged(item, Verdict::OK, stage.now)
    };
    assert_eq!(items(&stage, job(1)).await, std::slice::from_ref(&kept));
    assert_eq!(row(&stage, job(1)).await.counts.ok, 1, "behind the cursor");
    // The retry fails, and the letter waits again: the same job does not take it twice.
    stage.wait(1);
    let failure = super::stage::http("404");
    stage.fail(&mut first, "a", failure).await;
    assert_eq!(
        letter(&stage, &failed).await.state.status,
        LetterStatus::Pending
    );
    let (again, admit) = retry_for(&mut stage, &workflow, &failed, job(1));
    let refused = stage.commit_one(Part::Admit(Box::new(admit))).await;
    assert_eq!(refused, PartOutcome::ItemDone);
    stage.check_absent(again.id).await;
    // A verdict that comes late changes nothing.
    let late = BulkItemRow::judged(item, Verdict::failed("late"), stage.now);
    let late = BulkStep {
        items: vec![late],
        ..step(job(1), 1)
    };
    assert_eq!(take(&mut stage, late).await, PartOutcome::Touched(true));
    assert_eq!(items(&stage, job(1)).await, [kept]);
    // Another job has its own row.
    let (_, admit) = retry_for(&mut stage, &workflow, &failed, job(2));
    let done = stage.commit_one(Part::Admit(Box::new(admit))).await;
    assert_eq!(done, PartOutcome::Done);
    assert_eq!(retries(&stage, &failed, 9).await.len(), 2);
}

pub async fn what_is_refused_leaves_no_row(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let failed = stage.dead_letter(&workflow, "404").await;
    let id = failed.state.dlq_id.unwrap();
    create(&mut stage, job(1), Action::Retry, wish(vec![id.into()])).await;
    let by = "bob".to_owned();
    stage.commit_one(Part::DeleteLetter { id, by }).await;
    let (run, admit) = retry_for(&mut stage, &workflow, &failed, job(1));
    let refused = stage.commit_one(Part::Admit(Box::new(admit))).await;
    let expected = PartOutcome::LetterNotPending(Some(LetterStatus::Deleted));
    assert_eq!(refused, expected);
    stage.check_absent(run.id).await;
    assert_eq!(items(&stage, job(1)).await, []);
    assert_eq!(row(&stage, job(1)).await.counts, Counts::default());
}

pub async fn letters_are_given_up_with_their_rows(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let failed = stage.dead_letter(&workflow, "404").await;
        ids.push(failed.state.dlq_id.unwrap());
        stage.wait(1);
    }
    let by = "bob".to_owned();
    stage
        .commit_one(Part::DeleteLetter { id: ids[1], by })
        .await;
    let unknown = DlqId::from_bytes([1; 16]);
    create(&mut stage, job(1), Action::Delete, wish(Vec::new())).await;
    let letters = BulkLetters {
        ids: vec![ids[2], ids[1], ids[0], unknown],
        work: LetterWork::Delete,
        by: "ann".to_owned(),
    };
    let all = BulkStep {
        letters: Some(letters.clone()),
        cursor: Some(ItemId::END),
        ends: true,
        ..step(job(1), 1)
    };
    assert_eq!(
        take(&mut stage, all.clone()).await,
        PartOutcome::Touched(true)
    );
    let outcomes: Vec<ItemOutcome> = items(&stage, job(1))
        .await
        .iter()
        .map(|it| it.outcome)
        .collect();
    use ItemOutcome::{Ok, Skipped};
    assert_eq!(outcomes, [Ok, Skipped, Ok, Skipped]);
    let found = row(&stage, job(1)).await;
    assert_eq!(
        (found.state, found.ended_at),
        (JobState::Completed, Some(stage.now))
    );
    assert_eq!((found.counts.ok, found.counts.skipped), (2, 2));
    for (id, by) in ids.iter().zip(["ann", "bob", "ann"]) {
        let state = stage.store.letter(*id).await.unwrap().unwrap().state;
        assert_eq!(state.deleted.unwrap().1, by);
    }
    // A job that is over does nothing more.
    assert_eq!(take(&mut stage, all).await, PartOutcome::Touched(false));
}

pub async fn a_purge_takes_the_execution_along(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let waits = stage.dead_letter(&workflow, "404").await;
    let over = stage.dead_letter(&workflow, "404").await;
    let stays = stage.admit(&workflow, "{}").await;
    let [waiting, gone] = [&waits, &over].map(|run| run.state.dlq_id.unwrap());
    let by = "bob".to_owned();
    stage.commit_one(Part::DeleteLetter { id: gone, by }).await;
    create(&mut stage, job(1), Action::Purge, wish(Vec::new())).await;
    for (rev, pending) in [(1, false), (2, true)] {
        let letters = BulkLetters {
            ids: vec![gone, waiting],
            work: LetterWork::Purge { pending },
            by: "ann".to_owned(),
        };
        let purge = BulkStep {
            letters: Some(letters),
            ..step(job(1), rev)
        };
        assert_eq!(take(&mut stage, purge).await, PartOutcome::Touched(true));
        stage.check_absent(over.id).await;
        assert_eq!(stage.store.letter(gone).await.unwrap(), None);
        // One thing, one row: it was passed over, and stays so for this job.
        assert!(stage.store.letter(waiting).await.unwrap().is_some());
    }
    create(&mut stage, job(2), Action::Purge, wish(Vec::new())).await;
    let letters = BulkLetters {
        ids: vec![waiting],
        work: LetterWork::Purge { pending: true },
        by: "ann".to_owned(),
    };
    let purge = BulkStep {
        letters: Some(letters),
        ..step(job(2), 1)
    };
    assert_eq!(take(&mut stage, purge).await, PartOutcome::Touched(true));
    stage.check_absent(waits.id).await;
    stage.check(&stays).await;
    let left = stage.store.letter_summary(&LetterFilter::default()).await;
    assert_eq!(left.unwrap().count, 0, "they are counted no more");
}

pub async fn a_job_that_moved_on_is_not_moved(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    create(&mut stage, job(1), Action::Retry, wish(Vec::new())).await;
    let pass = |rev| BulkStep {
        cursor: Some(ItemId::from_bytes([5; 16])),
        ..step(job(1), rev)
    };
    assert_eq!(take(&mut stage, pass(7)).await, PartOutcome::Touched(false));
    assert_eq!(row(&stage, job(1)).await.cursor, None);
    assert_eq!(take(&mut stage, pass(1)).await, PartOutcome::Touched(true));
    assert_eq!(take(&mut stage, pass(1)).await, PartOutcome::Touched(false));
    let change = |rev, state| {
        Part::Bulk(BulkPart::Change {
            id: job(1),
            rev,
            state,
        })
    };
    let paused = stage.commit_one(change(2, JobState::Paused)).await;
    assert_eq!(paused, PartOutcome::Touched(true));
    let items = vec![judged(3, ItemOutcome::Ok, &stage)];
    let late = BulkStep { items, ..pass(3) };
    assert_eq!(
        take(&mut stage, late).await,
        PartOutcome::Touched(false),
        "it is paused"
    );
    assert_eq!(self::items(&stage, job(1)).await, []);
    let again = stage.commit_one(change(2, JobState::Running)).await;
    assert_eq!(again, PartOutcome::Touched(false), "another number");
    let ended = stage.commit_one(change(3, JobState::Cancelled)).await;
    assert_eq!(ended, PartOutcome::Touched(true));
    let never = stage.commit_one(change(4, JobState::Running)).await;
    assert_eq!(never, PartOutcome::Touched(false), "it has ended");
    assert_eq!(row(&stage, job(1)).await.state, JobState::Cancelled);
}

pub async fn counts_are_exact_wherever_the_cursor_is(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    create(&mut stage, job(1), Action::Retry, wish(Vec::new())).await;
    let outcomes = |item: u8| ItemOutcome::ALL[usize::from(item) % 3];
    let rows: Vec<BulkItemRow> = (1..=12)
        .map(|item| judged(item, outcomes(item), &stage))
        .collect();
    let whole = Counts {
        ok: 4,
        failed: 4,
        skipped: 4,
    };
    let cursors = [
        None,
        Some(13),
        Some(10),
        Some(10),
        Some(7),
        Some(1),
        Some(0),
    ];
    for (rev, cursor) in (1..).zip(cursors) {
        let next = BulkStep {
            items: rows.clone(),
            cursor: cursor.map(|cursor| ItemId::from_bytes([cursor; 16])),
            ..step(job(1), rev)
        };
        assert_eq!(take(&mut stage, next).await, PartOutcome::Touched(true));
        assert_eq!(row(&stage, job(1)).await.counts, whole, "{cursor:?}");
    }
    let found = stage
        .store
        .bulk_items(job(1), &[ItemOutcome::Failed], None, 2);
    let found: Vec<ItemId> = found.await.unwrap().iter().map(|it| it.item).collect();
    assert_eq!(found, [10, 7].map(|item| ItemId::from_bytes([item; 16])));
    let behind = Some(ItemId::from_bytes([3; 16]));
    let found = stage
        .store
        .bulk_items(job(1), &[], behind, 9)
        .await
        .unwrap();
    assert_eq!(found, [rows[1].clone(), rows[0].clone()]);
}

pub async fn old_rows_go_and_counts_stay(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    for number in [1, 2] {
        create(&mut stage, job(number), Action::Retry, wish(Vec::new())).await;
        let items = (1..=5).map(|item| judged(item, ItemOutcome::Ok, &stage));
        let next = BulkStep {
            items: items.collect(),
            ..step(job(number), 1)
        };
        take(&mut stage, next).await;
    }
    // One is cancelled where it stands: things behind its cursor have rows.
    let cancel = BulkPart::Change {
        id: job(1),
        rev: 2,
        state: JobState::Cancelled,
    };
    stage.commit_one(Part::Bulk(cancel)).await;
    let ended = stage.now;
    stage.wait(100);
    let prune = |before, limit| Part::Prune(Prune::BulkItems { before, limit });
    let removed = |removed| PartOutcome::Pruned {
        removed,
        next: None,
    };
    assert_eq!(
        stage.commit_one(prune(ended, 3)).await,
        removed(0),
        "not yet"
    );
    let after = ended.plus(Duration::from_secs(1));
    assert_eq!(stage.commit_one(prune(after, 3)).await, removed(3));
    assert_eq!(row(&stage, job(1)).await.counts.ok, 5);
    assert_eq!(items(&stage, job(1)).await.len(), 2);
    let jobs = |before| Part::Prune(Prune::BulkJobs { before, limit: 9 });
    assert_eq!(
        stage.commit_one(jobs(after)).await,
        removed(0),
        "it has rows"
    );
    assert_eq!(stage.commit_one(prune(after, 3)).await, removed(2));
    assert_eq!(row(&stage, job(1)).await.counts.ok, 5);
    assert_eq!(items(&stage, job(2)).await.len(), 5, "it is open");
    assert_eq!(stage.commit_one(jobs(ended)).await, removed(0));
    assert_eq!(stage.commit_one(jobs(after)).await, removed(1));
    assert_eq!(stage.store.bulk_job(job(1)).await.unwrap(), None);
    assert!(stage.store.bulk_job(job(2)).await.unwrap().is_some());
}

pub async fn what_is_there_is_told_from_what_is_not(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let failed = stage.dead_letter(&workflow, "404").await;
    let letter = failed.state.dlq_id.unwrap();
    let many: Vec<DlqId> = (0..2_500_u16)
        .map(|number| {
            let mut bytes = [0; 16];
            bytes[..2].copy_from_slice(&number.to_be_bytes());
            DlqId::from_bytes(bytes)
        })
        .chain([letter])
        .collect();
    assert_eq!(stage.store.known_letters(&many).await.unwrap(), [letter]);
    assert_eq!(stage.store.known_letters(&[]).await.unwrap(), []);
    let some = [failed.id, ExecutionId::from_bytes([1; 16])];
    assert_eq!(
        stage.store.known_executions(&some).await.unwrap(),
        [failed.id]
    );
}

pub async fn a_backup_has_the_jobs(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    create(&mut stage, job(1), Action::Retry, wish(Vec::new())).await;
    let next = BulkStep {
        items: vec![judged(3, ItemOutcome::Failed, &stage)],
        cursor: Some(ItemId::from_bytes([2; 16])),
        ..step(job(1), 1)
    };
    take(&mut stage, next).await;
    let target = lab.directory().join("copy");
    stage.store.backup(&target, &|_, _| ()).await.unwrap();
    let copy = lab.open_backup(&target).await;
    let expected = row(&stage, job(1)).await;
    assert_eq!(copy.bulk_job(job(1)).await.unwrap(), Some(expected));
    let kept = copy.bulk_items(job(1), &[], None, 9).await.unwrap();
    assert_eq!(kept, items(&stage, job(1)).await);
    copy.close().await;
}
