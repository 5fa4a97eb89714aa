//! A disk that several processes have open at once.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::id::NodeId;
use refire_core::time::Timestamp;
use refire_store::model::{Disk, Faults, Finding, Model, Moment, NoFaults, Verdict};
use refire_store::{Batch, CommitError, Joining, Lease, News, Nodes, NotWritten, ReadError, Store};
use tokio::sync::Notify;

use crate::own::{Gate, batch, has, is_durable, never, once};
use crate::restless_clock;

const ONE: NodeId = NodeId::from_bytes([1; 16]);
const OTHER: NodeId = NodeId::from_bytes([2; 16]);
const LEASE: Duration = Duration::from_secs(15);

fn joining(id: NodeId) -> Joining {
    Joining {
        id,
        name: "a machine".to_owned(),
        address: String::new(),
        version: "1".to_owned(),
        lease: LEASE,
    }
}

fn batch_of(node: NodeId, name: &str) -> Batch {
    Batch {
        lease: Some(node),
        ..batch(name)
    }
}

/// A disk whose clock is set by the test, and two processes on it that have joined.
struct Two {
    disk: Arc<Disk>,
    now_ms: Arc<AtomicI64>,
    one: Model,
    other: Model,
}

impl Two {
    async fn with(faults: Arc<dyn Faults>) -> Self {
        let now_ms = Arc::new(AtomicI64::new(1_800_000_000_000));
        let clock = Arc::clone(&now_ms);
        let disk = Disk::shared(Arc::new(move || {
            Timestamp::from_millis(clock.load(Ordering::Relaxed))
        }));
        let one = disk.open(faults);
        let other = disk.open(Arc::new(NoFaults));
        // What a caller thinks the time is does not matter.
        let wrong = Timestamp::from_millis(0);
        one.join(&joining(ONE), wrong).await.unwrap();
        other.join(&joining(OTHER), wrong).await.unwrap();
        Self {
            disk,
            now_ms,
            one,
            other,
        }
    }

    fn wait(&self, time: Duration) {
        let ms = i64::try_from(time.as_millis()).unwrap();
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
    }
}

fn is_lease_lost(ended: &Result<Vec<refire_store::PartOutcome>, CommitError>) -> bool {
    let reason = match ended {
        Err(CommitError::NotWritten { reason, .. }) => Some(*reason),
        _ => None,
    };
    reason == Some(NotWritten::LeaseLost)
}

#[tokio::test]
async fn processes_see_what_others_write_and_die_alone() {
    let Two {
        disk, one, other, ..
    } = Two::with(Arc::new(NoFaults)).await;
    assert!(one.is_shared() && !Disk::new().open(Arc::new(NoFaults)).is_shared());
    one.commit(&batch_of(ONE, "a")).await.unwrap();
    assert!(has(&other, "a").await);
    one.die();
    never(one.commit(&batch_of(ONE, "b"))).await;
    other.commit(&batch_of(OTHER, "c")).await.unwrap();
    assert!(is_durable(&disk, "c") && !is_durable(&disk, "b"));
    let next = disk.open(Arc::new(NoFaults));
    assert!(has(&next, "c").await && has(&other, "a").await);
}

#[tokio::test]
async fn leases_go_by_the_disks_own_clock() {
    let two = Two::with(Arc::new(NoFaults)).await;
    let now = || Timestamp::from_millis(two.now_ms.load(Ordering::Relaxed));
    let late = Timestamp::from_millis(4_000_000_000_000);
    assert!(two.other.reap(OTHER, late).await.unwrap().is_empty());
    two.wait(LEASE / 2);
    let renewed = two.one.renew(ONE, LEASE, late).await.unwrap();
    assert_eq!(renewed, Lease::Held { now: Some(now()) });
    two.wait(LEASE / 2 + Duration::from_secs(1));
    assert_eq!(two.one.reap(ONE, late).await.unwrap(), [OTHER]);
    let renewed = two.other.renew(OTHER, LEASE, late).await.unwrap();
    assert_eq!(renewed, Lease::Lost);
}

/// The commit is on its way when its node is reaped.
#[tokio::test]
async fn a_reap_excludes_what_is_in_flight() {
    let gate = Arc::new(Gate(Moment::Applied, Notify::new()));
    let two = Two::with(gate.clone()).await;
    let first = batch_of(ONE, "a");
    let mut committing = two.one.commit(&first);
    tokio::select! {
        biased;
        answer = &mut committing => panic!("it did not wait: {answer:?}"),
        () = tokio::task::yield_now() => {}
    }
    two.wait(LEASE * 2);
    let now = Timestamp::from_millis(0);
    assert_eq!(two.other.reap(OTHER, now).await.unwrap(), [ONE]);
    gate.1.notify_one();
    let ended = committing.await;
    assert!(is_lease_lost(&ended), "{ended:?}");
    assert!(!is_durable(&two.disk, "a"));
}

/// What is under way is written although its process dies.
#[tokio::test]
async fn what_was_sent_does_not_die_with_its_sender() {
    let gate = Arc::new(Gate(Moment::Applied, Notify::new()));
    let two = Two::with(gate.clone()).await;
    let first = batch_of(ONE, "a");
    let mut committing = two.one.commit(&first);
    tokio::select! {
        biased;
        answer = &mut committing => panic!("it did not wait: {answer:?}"),
        () = tokio::task::yield_now() => {}
    }
    two.one.die();
    gate.1.notify_one();
    never(committing).await;
    assert!(is_durable(&two.disk, "a"));
}

/// The answer is lost at a moment, once; then this is found out.
struct Lossy(Moment, Mutex<Option<Verdict>>, Finding);

#[async_trait]
impl Faults for Lossy {
    async fn commit(&self, moment: Moment, _batch: &Batch) -> Verdict {
        let mut verdict = self.1.lock().unwrap();
        let mine = verdict.take_if(|_| moment == self.0);
        mine.unwrap_or(Verdict::Go)
    }

    async fn lost(&self, _batch: &Batch) -> Finding {
        self.2
    }
}

fn lossy(moment: Moment, durable: bool, finding: Finding) -> Arc<Lossy> {
    let verdict = Mutex::new(Some(Verdict::Unknown { durable }));
    Arc::new(Lossy(moment, verdict, finding))
}

#[tokio::test]
async fn a_lost_answer_is_found_out_and_the_batch_is_written_once() {
    for (moment, durable) in [
        (Moment::Arrived, false),
        (Moment::Arrived, true),
        (Moment::Applied, false),
        (Moment::Applied, true),
        (Moment::Durable, true),
    ] {
        let two = Two::with(lossy(moment, durable, Finding::Known)).await;
        let saved = two.one.commit(&batch_of(ONE, "a")).await.unwrap();
        let once = refire_store::PartOutcome::Saved {
            version: 1,
            created: true,
        };
        assert_eq!(saved, [once], "{moment:?} {durable}");
        assert!(two.disk.arrive().is_empty(), "nothing is on its way");
    }
}

#[tokio::test]
async fn a_process_that_finds_nothing_out_goes_on() {
    for (moment, durable) in [
        (Moment::Arrived, false),
        (Moment::Applied, true),
        (Moment::Durable, true),
    ] {
        let two = Two::with(lossy(moment, durable, Finding::Nothing)).await;
        let ended = two.one.commit(&batch_of(ONE, "a")).await;
        assert!(matches!(ended, Err(CommitError::Unknown(_))), "{ended:?}");
        two.one.commit(&batch_of(ONE, "b")).await.unwrap();
        let is_late = durable && moment != Moment::Durable;
        assert_eq!(is_durable(&two.disk, "a"), durable && !is_late);
        assert_eq!(two.disk.arrive().len(), usize::from(is_late));
        assert_eq!(is_durable(&two.disk, "a"), durable);
    }
}

#[tokio::test]
async fn what_arrives_after_its_nodes_end_is_refused() {
    let faults = lossy(Moment::Arrived, true, Finding::Nothing);
    let two = Two::with(faults).await;
    let ended = two.one.commit(&batch_of(ONE, "a")).await;
    assert!(matches!(ended, Err(CommitError::Unknown(_))), "{ended:?}");
    two.other.leave(ONE).await.unwrap();
    assert!(two.disk.arrive().is_empty());
    assert!(!is_durable(&two.disk, "a"));
}

/// Hears only of missed news.
struct HardOfHearing;

#[async_trait]
impl Faults for HardOfHearing {
    async fn news(&self, news: News) -> Option<News> {
        (news == News::Work).then_some(News::Missed)
    }
}

#[tokio::test]
async fn news_are_for_the_others_and_as_their_faults_say() {
    let disk = Disk::shared(restless_clock());
    let one = disk.open(Arc::new(NoFaults));
    let other = disk.open(Arc::new(HardOfHearing));
    let third = disk.open(Arc::new(NoFaults));
    let definition = News::Definition(crate::own::id("a"));
    for news in [&definition, &News::Work, &News::Work] {
        one.tell(news.clone());
    }
    assert_eq!(third.news().await, definition);
    assert_eq!(third.news().await, News::Work);
    never(third.news()).await;
    assert_eq!(other.news().await, News::Missed);
    never(one.news()).await;
}

/// The answer to one question is lost.
struct Deaf(&'static str);

#[async_trait]
impl Faults for Deaf {
    async fn answer(&self, what: &'static str) -> Result<(), ReadError> {
        match what == self.0 {
            true => Err(ReadError::Unavailable("the answer is lost".into())),
            false => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_reap_whose_answer_is_lost_is_done() {
    let two = Two::with(Arc::new(Deaf("reap"))).await;
    two.wait(LEASE * 2);
    let now = Timestamp::from_millis(0);
    let reaped = two.one.reap(ONE, now).await;
    assert!(matches!(reaped, Err(ReadError::Unavailable(_))));
    let renewed = two.other.renew(OTHER, LEASE, now).await.unwrap();
    assert_eq!(renewed, Lease::Lost);
}

#[tokio::test]
async fn a_refusal_leaves_nothing_for_anybody() {
    let refused = Verdict::Refuse(NotWritten::Unavailable);
    for moment in [Moment::Arrived, Moment::Applied] {
        let two = Two::with(once(moment, refused)).await;
        assert!(two.one.commit(&batch_of(ONE, "a")).await.is_err());
        assert!(!has(&two.other, "a").await);
        two.one.commit(&batch_of(ONE, "a")).await.unwrap();
        assert!(has(&two.other, "a").await);
    }
}
