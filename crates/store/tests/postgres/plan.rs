//! How the server goes about claims, and about looking for work: along the index, however much waits for
//! a later time.

use std::time::Duration;

use refire_core::time::Timestamp;
use refire_store::postgres::Scratch;
use refire_store::{Bounds, Claim, ClaimTimers, LIMIT_MAX, Part, Store, Want};
use tokio_postgres::{Client, Config, NoTls};

use crate::stage::{self, Stage, admission, claimed, node};

/// Timers that are due much later.
const LATER: i64 = 100_000;

/// Timers that are claimed at once. If that cost their square, the statement would run into its time
/// limit.
const CROWD: u32 = 30_000;

/// Blocks that claims may look at; all that waits has more rows than a hundred times this.
const BLOCKS_MAX: i64 = 1_000;

/// The blocks of a table and its indexes that were looked at so far, and rows that were read from
/// end to end.
const LOOKED_AT: &str = "SELECT (heap_blks_hit + heap_blks_read + idx_blks_hit
        + idx_blks_read)::bigint, seq_tup_read::bigint
      FROM pg_statio_user_tables JOIN pg_stat_user_tables USING (relid)
     WHERE pg_statio_user_tables.relname = 'work'";

const END: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = $1";

const IS_THERE: &str = "SELECT 1 FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = $1";

/// Puts timers into the table, each a microsecond after the other.
async fn fill(client: &Client, from: Timestamp, count: i64) {
    let sql =
        "INSERT INTO work (execution, step, attempt, is_retry, workflow, priority, due_at, begun)
         SELECT gen_random_uuid(), 'a', 2, true, workflows.key, 1 + n % 10, $1 + n, false
           FROM generate_series(1, $2::bigint) AS n, workflows";
    let from = from.as_micros();
    client.execute(sql, &[&from, &count]).await.unwrap();
}

async fn connection(url: &str, name: &str) -> Client {
    let mut config: Config = url.parse().unwrap();
    config.application_name(name);
    let (client, driver) = config.connect(NoTls).await.unwrap();
    tokio::spawn(driver);
    client
}

/// What was looked at when this connection is over: it tells its figures at its end.
async fn looked_at(client: &Client, end: &str) -> (i64, i64) {
    client.query(END, &[&end]).await.unwrap();
    while !client.query(IS_THERE, &[&end]).await.unwrap().is_empty() {}
    let row = client.query_one(LOOKED_AT, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test]
async fn later_timers_cost_a_claim_nothing() {
    let database = Scratch::new();
    let store = stage::open(&database.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let timers = Part::ClaimTimers(ClaimTimers {
        node: node(7),
        until: stage::NOW.plus(Duration::from_secs(30)),
        up_to: 10,
    });
    let mut bounded = Want::any(stage.workflow.id.clone(), 4);
    bounded.retries_up_to = 1;
    let bounded = Part::Claim(Claim {
        node: node(7),
        wants: vec![bounded],
    });
    // With room for more executions, and without: then only those in flight are looked at.
    let [roomy, full] = [1_000, 1].map(|max| {
        let bounds = Bounds {
            max: Some(max),
            max_per_key: Some(max),
        };
        let want = Want {
            bounds: Some(bounds),
            ..Want::any(stage.workflow.id.clone(), 2)
        };
        Part::Claim(Claim {
            node: node(7),
            wants: vec![want],
        })
    });
    let claims = [
        (stage.claim(node(7), 4), 4),
        (timers, 0),
        (bounded, 4),
        (roomy, 2),
        (full, 0),
    ];
    let ready: Vec<Part> = (0..20).map(|_| admission(stage.start("{}").1)).collect();
    let batch = stage.batch(ready);
    store.commit(&batch).await.unwrap();
    let claim = async |stage: &mut Stage| {
        for (claim, count) in &claims {
            let batch = stage.batch(vec![claim.clone()]);
            let outcomes = store.commit(&batch).await.unwrap();
            assert_eq!(claimed(&outcomes[0]).len(), *count);
        }
    };
    // Plans are made while the table is nearly empty, as on a new system, and then kept.
    claim(&mut stage).await;
    let filler = connection(&database.url(), "filler").await;
    let later = stage::NOW.plus(Duration::from_secs(3_600));
    fill(&filler, later, LATER).await;
    let watcher = connection(&database.url(), "watcher").await;
    let before = looked_at(&watcher, "filler").await;
    claim(&mut stage).await;
    let after = looked_at(&watcher, "refire commits").await;
    let (blocks, rows) = (after.0 - before.0, after.1 - before.1);
    assert!(blocks > 0, "the figures were told");
    assert!(blocks < BLOCKS_MAX, "{blocks} blocks");
    assert_eq!(rows, 0, "nothing is read from end to end");
    store.close().await;
}

#[tokio::test]
async fn a_crowd_of_timers_is_claimed_at_once() {
    let database = Scratch::new();
    let store = stage::open(&database.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let filler = connection(&database.url(), "filler").await;
    fill(&filler, stage::NOW, CROWD.into()).await;
    let batch = stage.batch(vec![Part::ClaimTimers(ClaimTimers {
        node: node(7),
        until: stage::NOW.plus(Duration::from_secs(30)),
        up_to: CROWD,
    })]);
    let outcomes = store.commit(&batch).await.unwrap();
    let rows = claimed(&outcomes[0]);
    assert_eq!(rows.len(), CROWD as usize);
    assert!(rows.is_sorted_by_key(|row| row.due_at));
    store.close().await;
}

/// What the server knows about the table when it plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// How it was when nearly nothing was in it.
    Past,
    Present,
}

/// Looks that are made before the server keeps the plan of one.
const LOOKS: usize = 10;

/// What a node looks for every second: work that is ready, work of dead nodes, its own that is due.
async fn look(store: &dyn Store, stage: &Stage) {
    let ready = store.ready_workflows(stage::NOW).await.unwrap();
    assert_eq!(ready, std::slice::from_ref(&stage.workflow.id));
    let owners = |rows: Vec<refire_store::WorkRow>| -> Vec<_> {
        rows.into_iter().map(|row| row.owner.unwrap()).collect()
    };
    let orphans = store.orphans(None, LIMIT_MAX).await.unwrap();
    assert_eq!(owners(orphans), [node(9); 4]);
    let due = store
        .owned_due(node(7), stage::NOW, None, LIMIT_MAX)
        .await
        .unwrap();
    assert_eq!(owners(due), [node(7); 4]);
}

#[tokio::test]
async fn later_timers_cost_those_who_look_for_work_nothing() {
    for known in [Known::Nothing, Known::Past, Known::Present] {
        let database = Scratch::new();
        let store = stage::open(&database.url()).await;
        let mut stage = Stage::new(1);
        stage::join(&store, node(7), Duration::from_secs(600)).await;
        stage.save(&store).await;
        let ready: Vec<Part> = (0..20).map(|_| admission(stage.start("{}").1)).collect();
        let batch = stage.batch(ready);
        store.commit(&batch).await.unwrap();
        // One of them lives, the other was never there.
        for owner in [node(7), node(9)] {
            let batch = stage.batch(vec![stage.claim(owner, 4)]);
            store.commit(&batch).await.unwrap();
        }
        let filler = connection(&database.url(), "filler").await;
        if known == Known::Past {
            filler.batch_execute("ANALYZE work").await.unwrap();
        }
        for _ in 0..LOOKS {
            look(&store, &stage).await;
        }
        let later = stage::NOW.plus(Duration::from_secs(3_600));
        fill(&filler, later, LATER).await;
        if known == Known::Present {
            filler.batch_execute("ANALYZE work").await.unwrap();
        }
        let watcher = connection(&database.url(), "watcher").await;
        let before = looked_at(&watcher, "filler").await;
        for _ in 0..LOOKS {
            look(&store, &stage).await;
        }
        let after = looked_at(&watcher, "refire dispatch").await;
        let (blocks, rows) = (after.0 - before.0, after.1 - before.1);
        assert!(blocks > 0, "{known:?}: the figures were told");
        assert!(blocks < BLOCKS_MAX, "{known:?}: {blocks} blocks");
        assert_eq!(rows, 0, "{known:?}: nothing is read from end to end");
        store.close().await;
    }
}
