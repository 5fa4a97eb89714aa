//! From SQLite to PostgreSQL and back: nothing is lost on the way, and nothing is mixed up.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use refire_core::time::Timestamp;
use refire_store::model::{Disk, NoFaults};
use refire_store::postgres::{Options, Postgres, Scratch};
use refire_store::sqlite::{self, Sqlite};
use refire_store::{
    Catalog, ExecutionFilter, Executions, Joining, LIMIT_MAX, Letters, Nodes, ReadError, Store,
    Stretch,
};

use crate::equal::assert_equal;
use crate::history::{History, NODES};

/// Histories of a usual run; `SEEDS=n` plays so many.
const SEEDS: u64 = 4;
/// Batches of a history.
const BATCHES: u32 = 80;

fn options(scratch: &Scratch) -> Options {
    Options::new(&scratch.url()).unwrap()
}

fn sqlite_at(path: &Path, now: Timestamp) -> Sqlite {
    Sqlite::open(path, &sqlite::Options::new(now)).unwrap()
}

/// Plays a random history into an SQLite file, and says when it ended.
pub(crate) async fn play(seed: u64, directory: &Path) -> (PathBuf, Timestamp) {
    let path = directory.join("original.db");
    let mut history = History::new(seed);
    let store = sqlite_at(&path, history.now);
    let disk = Disk::new();
    let model = disk.open(std::sync::Arc::new(NoFaults));
    for _ in 0..BATCHES {
        let batch = history.batch(disk.durable());
        let expected = model.commit(&batch).await;
        let written = store.commit(&batch).await;
        assert_eq!(written.is_ok(), expected.is_ok());
    }
    store.close().await;
    (path, history.now)
}

fn deaf(_: u64, _: u64) {}

async fn there_and_back(seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let (path, now) = play(seed, directory.path()).await;
    let scratch = Scratch::empty();
    let heard = Mutex::new(Vec::new());
    let hear = |done, all| heard.lock().unwrap().push((done, all));
    let rows = Postgres::import(&options(&scratch), &path, &hear)
        .await
        .unwrap();
    assert_eq!(heard.lock().unwrap().last(), Some(&(rows, rows)));
    let original = sqlite_at(&path, now);
    let imported = Postgres::open(&options(&scratch)).await.unwrap();
    assert_equal(&imported, &original, now).await;
    let copied = directory.path().join("copy.db");
    imported.backup(&copied, &deaf).await.unwrap();
    imported.close().await;
    let copy = sqlite_at(&copied, now);
    assert_equal(&copy, &original, now).await;
    copy.close().await;
    original.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_was_carried_over_and_back_gives_equal_answers() {
    let seeds = std::env::var("SEEDS").map_or(SEEDS, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        println!("history {seed}");
        there_and_back(seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_import_needs_an_empty_database() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _) = play(1, directory.path()).await;
    let scratch = Scratch::empty();
    let options = options(&scratch);
    let store = Postgres::open(&options).await.unwrap();
    let node = Joining {
        id: NODES[0],
        name: "here".to_owned(),
        address: String::new(),
        version: "1".to_owned(),
        lease: std::time::Duration::from_secs(60),
    };
    store.join(&node, Timestamp::from_micros(0)).await.unwrap();
    let refused = Postgres::import(&options, &path, &deaf).await;
    assert!(is_refused(refused, "a node is using it"));
    store.leave(node.id).await.unwrap();
    Postgres::import(&options, &path, &deaf).await.unwrap();
    let all = ExecutionFilter::default();
    let before = store
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    let refused = Postgres::import(&options, &path, &deaf).await;
    assert!(is_refused(refused, "there are workflows"));
    let after = store
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    assert_eq!(after, before);
    store.close().await;
}

fn is_refused(import: Result<u64, ReadError>, why: &str) -> bool {
    match import {
        Err(ReadError::File { what, source }) => {
            what.contains("not empty") && source.to_string() == why
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_file_that_cannot_be_used_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (path, now) = play(2, directory.path()).await;
    let scratch = Scratch::empty();
    let in_use = sqlite_at(&path, now);
    let refused = Postgres::import(&options(&scratch), &path, &deaf).await;
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("in use by another process"), "{said}");
    in_use.close().await;
    let missing = directory.path().join("missing.db");
    let empty = directory.path().join("empty.db");
    std::fs::write(&empty, "").unwrap();
    let text = directory.path().join("text.db");
    std::fs::write(
        &text,
        "no database at all, but long enough to look at".repeat(99),
    )
    .unwrap();
    let newer = directory.path().join("newer.db");
    std::fs::copy(&path, &newer).unwrap();
    let sql = "INSERT INTO schema_migrations VALUES (9999, 'of tomorrow', x'00', 0)";
    let connection = rusqlite::Connection::open(&newer).unwrap();
    connection.execute(sql, []).unwrap();
    drop(connection);
    for unusable in [&missing, &empty, &text, &newer] {
        let refused = Postgres::import(&options(&scratch), unusable, &deaf).await;
        assert!(refused.is_err(), "{unusable:?}");
    }
    assert!(!missing.exists(), "it is not made");
    assert_eq!(empty.metadata().unwrap().len(), 0, "it is not changed");
    // Not even a table was made.
    let pending = Postgres::pending(&options(&scratch)).await.unwrap();
    assert_eq!(pending[0].name, "0001_initial");
    Postgres::import(&options(&scratch), &path, &deaf)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_damaged_file_leaves_the_database_empty() {
    let directory = tempfile::tempdir().unwrap();
    let (path, now) = play(3, directory.path()).await;
    let scratch = Scratch::empty();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let damage = "UPDATE executions SET priority = 100000 WHERE rowid =
                      (SELECT max(rowid) FROM executions)";
    assert_eq!(connection.execute(damage, []).unwrap(), 1);
    drop(connection);
    let broken = Postgres::import(&options(&scratch), &path, &deaf).await;
    assert!(broken.is_err(), "{broken:?}");
    let store = Postgres::open(&options(&scratch)).await.unwrap();
    assert!(store.workflows(None, 10).await.unwrap().is_empty());
    assert!(
        store
            .letters(&refire_store::LetterFilter::default(), None, 1)
            .await
            .unwrap()
            .is_empty()
    );
    store.close().await;
    sqlite_at(&path, now).close().await;
}
