//! Answers about bulk jobs that get lost: what was done for a thing is told as it was written, and done once.

use std::time::Duration;

use refire_core::bulk::{Action, ItemOutcome, LetterWork};
use refire_core::dead_letter::RetryFrom;
use refire_core::execution::Outcome;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{BulkId, DlqId, ItemId};
use refire_store::postgres::Scratch;
use refire_store::{
    Admit, BulkItem, BulkJobs, BulkLetters, BulkOptions, BulkPart, BulkStep, BulkWish, LetterRetry,
    Letters, NewBulk, Part, PartOutcome, Selection, Store,
};

use crate::proxy::{Cut, Proxy};
use crate::stage::{self, Stage, admission, node, part};

/// Where commits are cut: all ways to lose an answer, and one that does not.
const CUTS: [Option<Cut>; 6] = [
    Some(Cut::AfterCommit),
    Some(Cut::BeforeCommit),
    Some(Cut::Middle(3)),
    Some(Cut::Middle(9)),
    Some(Cut::Middle(15)),
    None,
];

/// An execution that failed for good.
pub(crate) async fn dead(stage: &mut Stage, store: &dyn Store) -> DlqId {
    let (mut run, admit) = stage.start("{}");
    let batch = stage.batch(vec![admission(admit)]);
    store.commit(&batch).await.unwrap();
    let failure = Failure::new(ErrorClass::HttpStatus, "the target answered 404");
    let failed = Outcome::Failed(failure.with_code("404"));
    let failed = stage.report(&mut run, "a", failed);
    let batch = stage.batch(vec![part(failed)]);
    store.commit(&batch).await.unwrap();
    run.state.dlq_id.unwrap()
}

/// A retry of a letter for a job.
pub(crate) fn retry(stage: &mut Stage, job: BulkId, letter: DlqId) -> Admit {
    let (_, mut admit) = stage.start("{}");
    admit.letter = Some(LetterRetry {
        id: letter,
        by: "bob".to_owned(),
        expected_generation: 0,
        generation: 0,
        from: RetryFrom::Start,
        edited: false,
    });
    let item = letter.into();
    admit.bulk = Some(BulkItem { job, item });
    admit
}

pub(crate) fn create(job: BulkId) -> Part {
    Part::Bulk(BulkPart::Create(Box::new(NewBulk {
        id: job,
        action: Action::Retry,
        wish: BulkWish {
            selection: Selection::Ids(Vec::new()),
            options: BulkOptions::default(),
        },
        total: None,
        rate: 50,
        by: "bob".to_owned(),
    })))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_lost_of_a_job_is_told_as_it_was_written() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    stage::join(&store, node(7), Duration::from_secs(600)).await;
    stage.lease = Some(node(7));
    stage.save(&store).await;
    for (round, cut) in (1..).zip(CUTS) {
        let job = BulkId::from_bytes([round; 16]);
        let lose = || cut.into_iter().for_each(|cut| proxy.cut(cut));
        let [first, second, third] = [
            dead(&mut stage, &store).await,
            dead(&mut stage, &store).await,
            dead(&mut stage, &store).await,
        ];

        lose();
        let batch = stage.batch(vec![create(job)]);
        assert_eq!(
            store.commit(&batch).await.unwrap(),
            [PartOutcome::Done],
            "{cut:?}"
        );

        lose();
        let admits = [first, second, first].map(|letter| admission(retry(&mut stage, job, letter)));
        let batch = stage.batch(admits.to_vec());
        let outcomes = store.commit(&batch).await.unwrap();
        let expected = [PartOutcome::Done, PartOutcome::Done, PartOutcome::ItemDone];
        assert_eq!(outcomes, expected, "{cut:?}");
        for letter in [first, second] {
            let retries = store.letter_retries(letter, 9).await.unwrap();
            assert_eq!(retries.len(), 1, "once, {cut:?}");
        }

        lose();
        let step = BulkStep {
            job,
            rev: 1,
            items: Vec::new(),
            letters: Some(BulkLetters {
                ids: vec![third, second],
                work: LetterWork::Delete,
                by: "bob".to_owned(),
            }),
            cursor: Some(ItemId::END),
            ends: true,
        };
        let step = || Part::Bulk(BulkPart::Step(Box::new(step.clone())));
        let batch = stage.batch(vec![step(), step()]);
        let outcomes = store.commit(&batch).await.unwrap();
        let expected = [PartOutcome::Touched(true), PartOutcome::Touched(false)];
        assert_eq!(outcomes, expected, "{cut:?}");
        let row = store.bulk_job(job).await.unwrap().unwrap();
        assert_eq!(
            (row.counts.ok, row.counts.all(), row.rev),
            (3, 3, 2),
            "{cut:?}"
        );
        let items = store
            .bulk_items(job, &[ItemOutcome::Ok], None, 9)
            .await
            .unwrap();
        assert_eq!(items.len(), 3, "{cut:?}");
    }
    assert!(proxy.cuts() >= 12, "{}", proxy.cuts());
    store.close().await;
}
