//! Random histories over a wire that breaks: what is there in the end is what the model holds, and
//! whoever was told that something is written was told the truth.
//!
//! What was lost is told exactly where it is in the commit's mark, which is so for all that stands alone.
//! The rest is told from what it left: where a later part of the same batch has changed that again, the
//! words may differ, but never about whether an execution was admitted or moved.

use std::collections::HashSet;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use refire_store::model::{Disk, NoFaults};
use refire_store::postgres::Scratch;
use refire_store::{
    EventFilter, LIMIT_MAX, LetterFilter, Part, PartOutcome, RequestFilter, SlotFilter, Store,
};

use crate::history::History;
use crate::proxy::{Cut, Proxy};
use crate::stage;

/// Histories of a usual run.
const HISTORIES: u64 = 6;
/// Batches of one history.
const BATCHES: u32 = 60;
/// Kinds of parts that always stand alone, or do so in some cases; claims are told by their rows.
const KINDS_IN_MARKS: usize = 22;

fn cut(n: u32) -> Option<Cut> {
    match n % 4 {
        0 | 1 => Some(Cut::AfterCommit),
        2 => Some(Cut::Middle(n)),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn histories_survive_lost_answers() {
    let seeds = std::env::var("SEEDS").map_or(HISTORIES, |seeds| seeds.parse().unwrap());
    let mut told = HashSet::new();
    for seed in 0..seeds {
        history(seed, &mut told).await;
    }
    assert!(
        told.len() == KINDS_IN_MARKS || seeds < HISTORIES,
        "the answers about {} kinds were lost and told exactly",
        told.len()
    );
}

async fn history(seed: u64, told: &mut HashSet<Discriminant<Part>>) {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let disk = Disk::new();
    let model = disk.open(Arc::new(NoFaults));
    let mut history = History::new(seed);
    for n in 0..BATCHES {
        let batch = history.batch(disk.durable());
        if let Some(cut) = cut(n) {
            proxy.cut(cut);
        }
        let found = store.commit(&batch).await;
        let expected = model.commit(&batch).await;
        assert_eq!(found.is_ok(), expected.is_ok(), "seed {seed}, batch {n}");
        let (Ok(found), Ok(expected)) = (found, expected) else {
            continue;
        };
        let prunes = batch
            .parts
            .iter()
            .any(|part| matches!(part, Part::Prune(_)));
        for ((part, found), expected) in batch.parts.iter().zip(&found).zip(&expected) {
            if part.asks_first() && !matches!(part, Part::Claim(_)) {
                assert_eq!(found, expected, "seed {seed}, batch {n}: {part:#?}");
                told.extend(cut(n).map(|_| discriminant(part)));
            }
            let is_done = |outcome: &PartOutcome| *outcome == PartOutcome::Done;
            if leaves_a_trace(part) && !prunes {
                let (found, expected) = (is_done(found), is_done(expected));
                assert_eq!(found, expected, "seed {seed}, batch {n}: {part:#?}");
            }
        }
    }
    assert!(proxy.cuts() > BATCHES / 4, "{} cuts", proxy.cuts());
    check(&store, &model, &disk, seed).await;
    store.close().await;
}

/// Whether it can be told from what is there that it was written. The histories also forge moves
/// that begin at a version which their events do not follow: another part with the same events may
/// be taken for such a one.
fn leaves_a_trace(part: &Part) -> bool {
    match part {
        Part::Admit(_) => true,
        Part::Fire(fire) => fire.admission.is_some(),
        Part::Advance(advance) => advance.events[0].sequence == advance.expected_version + 1,
        _ => false,
    }
}

async fn check(store: &dyn Store, model: &dyn Store, disk: &Disk, seed: u64) {
    let (every, all) = (EventFilter::default(), LetterFilter::default());
    for id in disk.durable().executions.keys() {
        let (found, expected) = (store.load(*id).await, model.load(*id).await);
        assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
        let found = store.history(*id, &every, 0, LIMIT_MAX).await;
        let expected = model.history(*id, &every, 0, LIMIT_MAX).await;
        assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
    }
    let found = store.workers(None, LIMIT_MAX).await;
    let expected = model.workers(None, LIMIT_MAX).await;
    assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
    let requests = RequestFilter::default();
    for id in disk.durable().triggers.keys() {
        let (found, expected) = (store.trigger(*id).await, model.trigger(*id).await);
        assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
        let found = store.trigger_state(*id).await;
        let expected = model.trigger_state(*id).await;
        assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
        let found = store
            .slots(*id, &SlotFilter::default(), None, LIMIT_MAX)
            .await;
        let expected = model
            .slots(*id, &SlotFilter::default(), None, LIMIT_MAX)
            .await;
        assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
        let found = store.requests(*id, &requests, None, LIMIT_MAX).await;
        let expected = model.requests(*id, &requests, None, LIMIT_MAX).await;
        assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
    }
    let found = store.letters(&all, None, LIMIT_MAX).await;
    let expected = model.letters(&all, None, LIMIT_MAX).await;
    assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
    let found = store.letter_summary(&all).await;
    let expected = model.letter_summary(&all).await;
    assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
    let found = store.orphans(None, LIMIT_MAX).await;
    let expected = model.orphans(None, LIMIT_MAX).await;
    assert_eq!(found.unwrap(), expected.unwrap(), "seed {seed}");
}
