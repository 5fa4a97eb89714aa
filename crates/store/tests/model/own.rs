//! What only the model has: faults, crashes, and a disk that answers too early.

use std::future::Future;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;
use refire_store::model::{Disk, Faults, Model, Moment, NoFaults, Verdict};
use refire_store::{
    Batch, Catalog, CommitError, NotWritten, Part, PartOutcome, PutWorkflow, ReadError, Store,
};
use tokio::sync::Notify;

pub(crate) fn id(name: &str) -> WorkflowId {
    WorkflowId::new(name).unwrap()
}

/// Saves a workflow: the smallest thing that can be seen again.
pub(crate) fn batch(name: &str) -> Batch {
    let put = PutWorkflow {
        id: id(name),
        name: name.to_owned(),
        content_hash: [1; 32],
        source: "text".to_owned(),
        by: "ada".to_owned(),
        expected: None,
    };
    Batch {
        commit_id: [1; 16],
        lease: None,
        now: Timestamp::from_millis(1_800_000_000_000),
        parts: vec![Part::PutWorkflow(Box::new(put))],
    }
}

pub(crate) async fn has(store: &Model, name: &str) -> bool {
    store.workflow(&id(name)).await.unwrap().is_some()
}

pub(crate) fn is_durable(disk: &Disk, name: &str) -> bool {
    disk.durable().workflows.contains_key(&id(name))
}

fn open(disk: &Arc<Disk>) -> Model {
    disk.open(Arc::new(NoFaults))
}

/// Asserts that a call never returns. Nothing in a dead process waits for anything else, so one
/// look is enough.
pub(crate) async fn never<T: std::fmt::Debug>(call: impl Future<Output = T>) {
    tokio::select! {
        biased;
        answer = call => panic!("a dead process was answered: {answer:?}"),
        () = tokio::task::yield_now() => {}
    }
}

/// The power goes at a moment.
struct CrashAt(Moment, Arc<Disk>);

#[async_trait]
impl Faults for CrashAt {
    async fn commit(&self, moment: Moment, _batch: &Batch) -> Verdict {
        if moment == self.0 {
            self.1.crash();
        }
        Verdict::Go
    }
}

/// One verdict at one moment, and only once.
pub(crate) struct Once(Moment, Mutex<Option<Verdict>>);

#[async_trait]
impl Faults for Once {
    async fn commit(&self, moment: Moment, _batch: &Batch) -> Verdict {
        let mut verdict = self.1.lock().unwrap();
        let mine = verdict.take_if(|_| moment == self.0);
        mine.unwrap_or(Verdict::Go)
    }
}

pub(crate) fn once(moment: Moment, verdict: Verdict) -> Arc<Once> {
    Arc::new(Once(moment, Mutex::new(Some(verdict))))
}

#[tokio::test]
async fn a_crash_drops_what_is_not_durable() {
    for (moment, survives) in [
        (Moment::Arrived, false),
        (Moment::Applied, false),
        (Moment::Durable, true),
    ] {
        let disk = Disk::new();
        open(&disk).commit(&batch("earlier")).await.unwrap();
        let store = disk.open(Arc::new(CrashAt(moment, Arc::clone(&disk))));
        never(store.commit(&batch("new"))).await;
        assert_eq!(is_durable(&disk, "new"), survives, "{moment:?}");
        never(store.workflow(&id("new"))).await;
        let next = open(&disk);
        assert!(has(&next, "earlier").await);
        assert_eq!(has(&next, "new").await, survives, "{moment:?}");
    }
}

#[tokio::test]
async fn a_new_process_ends_the_one_before() {
    let disk = Disk::new();
    let first = open(&disk);
    first.commit(&batch("a")).await.unwrap();
    let second = open(&disk);
    never(first.commit(&batch("b"))).await;
    never(first.workflow(&id("a"))).await;
    never(first.close()).await;
    assert!(has(&second, "a").await);
    assert!(!has(&second, "b").await);
}

#[tokio::test]
async fn an_unknown_end_is_for_the_next_process_to_see() {
    for (moment, durable) in [
        (Moment::Arrived, false),
        (Moment::Arrived, true),
        (Moment::Applied, false),
        (Moment::Applied, true),
        (Moment::Durable, true),
    ] {
        let disk = Disk::new();
        let store = disk.open(once(moment, Verdict::Unknown { durable }));
        match store.commit(&batch("a")).await {
            Err(CommitError::Unknown(_)) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(has(&store, "a").await, moment == Moment::Durable);
        assert_eq!(is_durable(&disk, "a"), durable);
        match store.commit(&batch("b")).await {
            Err(CommitError::NotWritten {
                reason: NotWritten::Unavailable,
                ..
            }) => {}
            other => panic!("nothing may be built on it: {other:?}"),
        }
        let next = open(&disk);
        assert_eq!(has(&next, "a").await, durable, "{moment:?}");
        assert!(!has(&next, "b").await);
        next.commit(&batch("c")).await.unwrap();
        disk.crash();
        assert_eq!(is_durable(&disk, "a"), durable, "{moment:?}");
    }
}

#[tokio::test]
async fn a_refusal_leaves_nothing() {
    for moment in [Moment::Arrived, Moment::Applied] {
        let disk = Disk::new();
        let store = disk.open(once(moment, Verdict::Refuse(NotWritten::Full)));
        match store.commit(&batch("a")).await {
            Err(CommitError::NotWritten {
                reason: NotWritten::Full,
                ..
            }) => {}
            other => panic!("{other:?}"),
        }
        assert!(!has(&store, "a").await);
        let again = store.commit(&batch("a")).await.unwrap();
        let saved = PartOutcome::Saved {
            version: 1,
            created: true,
        };
        assert_eq!(again, [saved]);
        assert!(is_durable(&disk, "a"));
    }
}

/// Waits at one moment until it is told to go on.
pub(crate) struct Gate(pub(crate) Moment, pub(crate) Notify);

#[async_trait]
impl Faults for Gate {
    async fn commit(&self, moment: Moment, _batch: &Batch) -> Verdict {
        if moment == self.0 {
            self.1.notified().await;
        }
        Verdict::Go
    }
}

#[tokio::test]
async fn reads_see_only_what_is_durable() {
    for (moment, is_seen) in [(Moment::Applied, false), (Moment::Durable, true)] {
        let disk = Disk::new();
        let gate = Arc::new(Gate(moment, Notify::new()));
        let store = disk.open(gate.clone());
        let first = batch("a");
        let mut committing = store.commit(&first);
        tokio::select! {
            biased;
            answer = &mut committing => panic!("it did not wait: {answer:?}"),
            seen = has(&store, "a") => assert_eq!(seen, is_seen, "{moment:?}"),
        }
        assert_eq!(is_durable(&disk, "a"), is_seen);
        gate.1.notify_one();
        committing.await.unwrap();
        assert!(has(&store, "a").await);
    }
}

#[tokio::test]
async fn a_lazy_disk_loses_what_it_answered() {
    let disk = Disk::new_lazy(3);
    let store = open(&disk);
    for name in ["a", "b", "c", "d", "e"] {
        store.commit(&batch(name)).await.unwrap();
        assert!(has(&store, name).await);
    }
    assert!(is_durable(&disk, "c"), "the third one takes all along");
    assert!(!is_durable(&disk, "d"));
    let next = open(&disk);
    assert!(has(&next, "e").await, "a killed process loses nothing");
    disk.crash();
    let next = open(&disk);
    assert!(has(&next, "c").await);
    assert!(!has(&next, "d").await && !has(&next, "e").await);
    next.commit(&batch("f")).await.unwrap();
    next.close().await;
    disk.crash();
    assert!(is_durable(&disk, "f"), "closing makes durable");
}

/// Every read fails.
struct Blind;

#[async_trait]
impl Faults for Blind {
    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        Err(ReadError::Unavailable(what.into()))
    }
}

#[tokio::test]
async fn failing_reads_are_told() {
    let store = Disk::new().open(Arc::new(Blind));
    store.commit(&batch("a")).await.unwrap();
    match store.workflow(&id("a")).await {
        Err(ReadError::Unavailable(what)) => assert_eq!(what.to_string(), "workflow"),
        other => panic!("{other:?}"),
    }
}
