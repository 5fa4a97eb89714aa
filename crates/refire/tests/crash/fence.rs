//! FENCE: workers stand still past their locks, others take over, and the late ones come back as if
//! nothing had happened. Whatever they say is refused, and every task ends once.

use std::time::Duration;

use futures_util::future::join_all;
use refire_core::time::Timestamp;
use refire_engine::clock::{Clock, SystemClock};
use tempfile::tempdir;
use tokio_util::sync::CancellationToken;

use crate::check::{Evidence, must_hold};
use crate::client::Client;
use crate::cluster::Cluster;
use crate::export::all_end;
use crate::load::{ClientLog, Plan, send};
use crate::node::Node;
use crate::worker::{Account, Handed, Saying, Told, Worker};
use crate::{alone, fleet, fold, is_long, rest};

/// Tasks at a time: rounds that go on together.
const AT_ONCE: u64 = 50;
/// Turns of so many rounds, in the short form and in the long one.
const TURNS: (u64, u64) = (1, 20);
/// Of those at a time, so many are of workers that do not even read the answer to their poll.
const FROZEN: u64 = 5;
/// How long those stand still: longer than a lock.
const FROZEN_FOR: Duration = Duration::from_millis(1_500);
/// Beside them, so many say that they are done just when their locks run out.
const EDGE: u64 = 12;
/// Between two of those, beginning before the end of the lock.
const EDGE_APART: Duration = Duration::from_millis(5);
/// Tasks that a worker takes at once.
const TAKES: u32 = 5;
/// Workers that take over.
const SUCCESSORS: u32 = 10;
/// For how long a successor asks for its lock, in seconds: longer than a late one needs to say everything.
const EXTENDED_BY: u32 = 30;
/// Everything that a worker can say.
const SAYINGS: [Saying; 5] = [
    Saying::Heartbeat,
    Saying::Extend { seconds: 10 },
    Saying::Unlock,
    Saying::Fail { retryable: true },
    Saying::Complete,
];
/// How long everything may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// Locks of a second, and as many attempts as it takes.
async fn workflow(client: &Client, id: &str) {
    let definition = format!(
        "id: {id}\nretry: {{ initialDelay: 50ms, strategy: fixed, jitter: none }}\nsteps:\n  - id: only\n    \
         type: external_task\n    config:\n      taskType: {id}\n      retries: 100\n      \
         lockDuration: 1s\n      timeout: 300s\n"
    );
    client.apply(id, &definition).await;
}

async fn start(client: &Client, log: &ClientLog, workflow: &'static str, first: u64, count: u64) {
    let begin = |request| {
        let plan = Plan {
            request,
            workflow,
            key: None,
            fate: None,
        };
        send(client, plan, log)
    };
    for answer in join_all((first..first + count).map(begin)).await {
        assert!(answer.execution().is_some(), "{answer:?}");
    }
}

/// Some workers take all tasks and fall silent, a few of them after a sign of life.
async fn fall_silent(client: &Client, account: &Account, turn: u64) {
    let (count, taken) = (AT_ONCE - FROZEN, account.handed().len());
    let goal = taken + usize::try_from(count).unwrap();
    let mut number = 0;
    while account.handed().len() < goal {
        number += 1;
        let worker = Worker::new(client, format!("silent-{turn}-{number}"), account);
        let left = u32::try_from(goal - account.handed().len()).unwrap();
        for handed in worker.poll("fenced", TAKES.min(left), 10).await {
            if number % 3 == 0 {
                worker.say(&handed, Saying::Heartbeat).await;
            }
        }
    }
}

/// The rest is taken by workers that stand still before they know it.
async fn freeze(client: &Client, account: &Account, turn: u64) {
    let freeze = |number| {
        let worker = Worker::new(client, format!("frozen-{turn}-{number}"), account);
        async move { worker.poll_frozen("fenced", FROZEN_FOR).await }
    };
    join_all((0..FROZEN).map(freeze)).await;
}

/// Takes over what others had, and is the late ones when it has it.
async fn take_over(worker: Worker, stop: CancellationToken) -> u64 {
    let mut refused = 0;
    while !stop.is_cancelled() {
        for handed in worker.poll("fenced", 1, 1).await {
            let extend = Saying::Extend {
                seconds: EXTENDED_BY,
            };
            if worker.say(&handed, extend).await != Told::Taken {
                // This machine was so busy that it is one of the late ones itself.
                continue;
            }
            refused += come_back(&worker, &handed, &SAYINGS).await;
            assert_eq!(worker.say(&handed, Saying::Complete).await, Told::Taken);
            refused += come_back(&worker, &handed, &[Saying::Complete]).await;
        }
    }
    refused
}

/// All who had the task before say everything, in vain; how often.
async fn come_back(worker: &Worker, now: &Handed, sayings: &[Saying]) -> u64 {
    let handed = worker.account.handed().into_iter();
    let late = handed.filter(|one| one.task == now.task && one.token != now.token);
    let mut refused = 0;
    for one in late {
        for saying in sayings {
            let told = worker.say(&one, *saying).await;
            let late = (&one, saying);
            assert_eq!(told, Told::Refused(409), "{late:?} while {now:?} has it");
            refused += 1;
        }
    }
    refused
}

/// Workers that are done just when their locks run out: either they are heard, or somebody else does it.
async fn at_the_edge(client: &Client, account: &Account) -> (u64, u64) {
    let clock = SystemClock::new();
    let one = |number: u64| {
        let worker = Worker::new(client, format!("edge-{number}"), account);
        let clock = &clock;
        async move {
            let (mut heard, mut late) = (0, 0);
            let apart = EDGE_APART * u32::try_from(number).unwrap();
            for handed in worker.poll("edge", 1, 10).await {
                let at = handed
                    .lock_until
                    .plus(apart)
                    .minus(EDGE_APART * u32::try_from(EDGE / 2).unwrap());
                sleep_until(clock, at).await;
                match worker.say(&handed, Saying::Complete).await {
                    Told::Taken => heard += 1,
                    Told::Refused(409) => late += 1,
                    other => panic!("{handed:?} was told {other:?}"),
                }
            }
            (heard, late)
        }
    };
    let all = join_all((0..EDGE).map(one)).await;
    let (heard, late) = all
        .into_iter()
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let worker = Worker::new(client, "edge-after", account);
    for _ in 0..late {
        // What was late is done by somebody else.
        for handed in worker.poll("edge", 1, 10).await {
            worker.say(&handed, Saying::Complete).await;
        }
    }
    (heard, late)
}

async fn sleep_until(clock: &SystemClock, at: Timestamp) {
    let now = clock.now();
    if now < at {
        tokio::time::sleep(at.since(now)).await;
    }
}

/// Plays all rounds; the evidence, and what was seen.
async fn fence(client: &Client) -> (Evidence, String) {
    let (account, log) = (Account::default(), ClientLog::default());
    workflow(client, "fenced").await;
    workflow(client, "edge").await;
    let turns = if is_long() { TURNS.1 } else { TURNS.0 };
    let (mut refused, mut heard, mut late) = (0, 0, 0);
    for turn in 0..turns {
        let first = turn * (AT_ONCE + EDGE);
        let frozen = {
            start(client, &log, "fenced", first, AT_ONCE - FROZEN).await;
            fall_silent(client, &account, turn).await;
            start(client, &log, "fenced", first + AT_ONCE - FROZEN, FROZEN).await;
            freeze(client, &account, turn)
        };
        start(client, &log, "edge", first + AT_ONCE, EDGE).await;
        let edge = at_the_edge(client, &account);
        let ((), (heard_now, late_now)) = tokio::join!(frozen, edge);
        (heard, late) = (heard + heard_now, late + late_now);
        let stop = CancellationToken::new();
        let successors = (0..SUCCESSORS).map(|number| {
            let worker = Worker::new(client, format!("successor-{turn}-{number}"), &account);
            tokio::spawn(take_over(worker, stop.clone()))
        });
        let successors: Vec<_> = successors.collect();
        let ended = all_end(client, ENDS_WITHIN).await;
        stop.cancel();
        for successor in successors {
            refused += successor.await.unwrap();
        }
        assert!(ended.is_some(), "not all ended");
    }
    let mut evidence = Evidence::of_workers(client, &log, account).await;
    evidence.retries_max = 99;
    must_hold(&evidence);
    let rounds = turns * AT_ONCE;
    let fenced = evidence
        .account
        .handed()
        .into_iter()
        .filter(|one| one.attempt > 1 && one.worker.starts_with("successor"));
    let seen = format!(
        "{rounds} rounds, {} taken over, {refused} late words refused; at the edge {heard} heard and {late} late",
        fenced.count(),
    );
    // Each late worker says six things.
    assert!(refused >= rounds * 6, "{seen}");
    (evidence, seen)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_late_worker_changes_nothing() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let mut node = Node::new(home.path(), &home.path().join("data"));
    tokio::task::block_in_place(|| node.start());
    let (evidence, seen) = fence(&Client::new(node.door())).await;
    println!("FENCE: {seen}");
    tokio::task::block_in_place(|| node.stop());
    let content = rest::examine(&node.database()).await;
    assert!(content.wrong.is_empty(), "{:#?}", content.wrong);
    assert_eq!(content.executions.len(), evidence.export.executions.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_late_worker_changes_nothing_on_several_nodes() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let cluster = tokio::task::block_in_place(Cluster::start);
    let mut nodes = ["first", "second"].map(|name| {
        let mut node = fleet::node(&home, &cluster, name, "15s");
        tokio::task::block_in_place(|| node.start());
        node
    });
    let client = Client::spread(nodes.iter().map(|node| node.door()).collect());
    let (evidence, seen) = fence(&client).await;
    for node in &mut nodes {
        tokio::task::block_in_place(|| node.stop());
    }
    let folded = fold::must_be_what_is_stored(&cluster.url).await;
    println!("FENCE on two nodes: {seen}; {folded:?}");
    assert_eq!(folded.executions, evidence.export.executions.len());
}
