//! SQLite, PostgreSQL and the model are told the same and asked the same: random histories, equal
//! answers.
//!
//! `SEED=n` plays one history again, `SEEDS=n` plays so many. PostgreSQL takes part in fewer of them
//! unless told otherwise: each needs a database of its own.

#![expect(clippy::unwrap_used, reason = "these are tests, their setup included")]

#[path = "differential/alert.rs"]
mod alert;
#[path = "differential/breaker.rs"]
mod breaker;
#[path = "differential/bulk.rs"]
mod bulk;
#[path = "differential/callback.rs"]
mod callback;
#[path = "differential/decision.rs"]
mod decision;
#[path = "differential/definition.rs"]
mod definition;
#[path = "differential/dice.rs"]
mod dice;
#[path = "differential/history.rs"]
mod history;
#[path = "differential/question.rs"]
mod question;
#[path = "differential/scheduled.rs"]
mod scheduled;
#[path = "differential/session.rs"]
mod session;
#[path = "differential/task.rs"]
mod task;
#[path = "differential/trigger.rs"]
mod trigger;
#[path = "differential/work.rs"]
mod work;
#[path = "differential/worker.rs"]
mod worker;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use history::History;
use question::Stores;
use refire_store::model::{Disk, NoFaults};
use refire_store::postgres::{self, Postgres, Scratch};
use refire_store::sqlite::{Options, Sqlite, Synchronous};
use refire_store::{CommitError, PartOutcome, Store};

/// Histories of a usual run.
const SEEDS: u64 = 200;
/// Histories of a usual run in which PostgreSQL takes part.
const SEEDS_WITH_POSTGRES: u64 = 16;
/// Batches of one history.
const BATCHES: u32 = 60;
/// Questions after each batch.
const QUESTIONS: u32 = 3;
/// Tests among which the histories are divided.
const TESTS: usize = 4;
/// The same for those with PostgreSQL.
const TESTS_WITH_POSTGRES: usize = 2;

/// Says how to play a history again, when its test fails.
struct Played(u64);

impl Drop for Played {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "the histories differ: play this one again with SEED={}",
                self.0
            );
        }
    }
}

/// How often each end of a part was seen: histories in which nothing happens prove nothing.
#[derive(Default)]
struct Tally(RefCell<BTreeMap<&'static str, u64>>);

/// What a usual run must see.
const ENDS: [&str; 22] = [
    "begun",
    "changed",
    "claimed",
    "conflict",
    "done",
    "duplicate",
    "duplicate with another body",
    "item done",
    "letter not pending",
    "locked",
    "name taken",
    "no letter",
    "no such trigger",
    "no such workflow",
    "not newest",
    "open executions",
    "pruned",
    "saved",
    "saved before",
    "statement failed",
    "touched",
    "trigger moved",
];

impl Tally {
    fn count(&self, ended: &Result<Vec<PartOutcome>, String>) {
        let mut tally = self.0.borrow_mut();
        let mut add = |end| *tally.entry(end).or_default() += 1;
        match ended {
            Ok(outcomes) => outcomes.iter().filter_map(end).for_each(add),
            Err(_) => add("statement failed"),
        }
    }
}

/// The word for an outcome; those that changed nothing have none.
fn end(outcome: &PartOutcome) -> Option<&'static str> {
    Some(match outcome {
        PartOutcome::Done => "done",
        PartOutcome::Conflict => "conflict",
        PartOutcome::Duplicate {
            body_differs: false,
            ..
        } => "duplicate",
        PartOutcome::Duplicate { .. } => "duplicate with another body",
        PartOutcome::LetterNotPending(Some(_)) => "letter not pending",
        PartOutcome::LetterNotPending(None) => "no letter",
        PartOutcome::Claimed(rows) if !rows.is_empty() => "claimed",
        PartOutcome::Begun(rows) if rows.contains(&true) => "begun",
        PartOutcome::Saved { created: true, .. } => "saved",
        PartOutcome::Saved { .. } => "saved before",
        PartOutcome::OpenExecutions(_) => "open executions",
        PartOutcome::NoSuchWorkflow => "no such workflow",
        PartOutcome::NotNewest => "not newest",
        PartOutcome::ItemDone => "item done",
        PartOutcome::TriggerMoved => "trigger moved",
        PartOutcome::NoSuchTrigger => "no such trigger",
        PartOutcome::Pruned { removed, .. } if *removed > 0 => "pruned",
        PartOutcome::Locked(rows) if !rows.is_empty() => "locked",
        PartOutcome::Touched(true) => "touched",
        PartOutcome::Changed(changed) if changed.contains(&true) => "changed",
        PartOutcome::NameTaken => "name taken",
        PartOutcome::Claimed(_)
        | PartOutcome::Begun(_)
        | PartOutcome::Locked(_)
        | PartOutcome::Touched(_)
        | PartOutcome::Changed(_)
        | PartOutcome::Pruned { .. } => {
            return None;
        }
    })
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a seed is a number"))
}

/// Plays every fourth history, beginning with this one: four tests can run at the same time.
fn play_from(first: u64) {
    let tally = play_every(first, TESTS, SEEDS, false);
    if let Some(tally) = tally {
        assert!(tally.keys().eq(&ENDS), "every end is seen");
    }
}

/// Plays histories on PostgreSQL, too.
fn play_with_postgres_from(first: u64) {
    play_every(first, TESTS_WITH_POSTGRES, SEEDS_WITH_POSTGRES, true);
}

/// What was seen, if it was a usual run or a longer one.
fn play_every(
    first: u64,
    step: usize,
    usual: u64,
    with_postgres: bool,
) -> Option<BTreeMap<&'static str, u64>> {
    let (only, seeds) = (number("SEED"), number("SEEDS").unwrap_or(usual));
    let tally = Tally::default();
    for seed in (first..seeds.max(only.map_or(0, |only| only + 1))).step_by(step) {
        if only.is_none_or(|only| only == seed) {
            play(seed, &tally, with_postgres);
        }
    }
    let tally = tally.0.into_inner();
    println!("{tally:#?}");
    (only.is_none() && seeds >= usual).then_some(tally)
}

#[test]
fn equal_histories_have_equal_answers() {
    play_from(0);
}

#[test]
fn equal_histories_have_equal_answers_2() {
    play_from(1);
}

#[test]
fn equal_histories_have_equal_answers_3() {
    play_from(2);
}

#[test]
fn equal_histories_have_equal_answers_4() {
    play_from(3);
}

#[test]
fn equal_histories_have_equal_answers_on_postgres() {
    play_with_postgres_from(0);
}

#[test]
fn equal_histories_have_equal_answers_on_postgres_2() {
    play_with_postgres_from(1);
}

fn play(seed: u64, tally: &Tally, with_postgres: bool) {
    let _played = Played(seed);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let database = with_postgres.then(Scratch::new);
    runtime.block_on(history(seed, tally, database.as_ref()));
}

async fn open(
    directory: &Path,
    disk: &Arc<Disk>,
    database: Option<&Scratch>,
    history: &History,
) -> Stores {
    let options = Options {
        synchronous: Synchronous::Normal,
        readers: 1,
        ..Options::new(history.now)
    };
    let postgres = match database {
        Some(database) => {
            let options = postgres::Options::new(&database.url()).unwrap();
            Some(Postgres::open(&options).await.unwrap())
        }
        None => None,
    };
    Stores {
        sqlite: Sqlite::open_in(directory, &options).unwrap(),
        model: disk.open(Arc::new(NoFaults)),
        postgres,
    }
}

async fn history(seed: u64, tally: &Tally, database: Option<&Scratch>) {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::new();
    let mut history = History::new(seed);
    let mut stores = open(directory.path(), &disk, database, &history).await;
    let reopens_at = history.dice.small(4 * u64::from(BATCHES));
    for n in 0..BATCHES {
        let batch = history.batch(disk.durable());
        let found = comparable(stores.sqlite.commit(&batch).await);
        let expected = comparable(stores.model.commit(&batch).await);
        assert_eq!(found, expected, "batch {n}: {batch:#?}");
        if let Some(postgres) = &stores.postgres {
            let found = comparable(postgres.commit(&batch).await);
            assert_eq!(found, expected, "batch {n} on PostgreSQL: {batch:#?}");
        }
        tally.count(&found);
        let known = disk.durable();
        for _ in 0..QUESTIONS {
            stores.ask(&mut history, &known).await;
        }
        if n == reopens_at {
            stores.close().await;
            stores = open(directory.path(), &disk, database, &history).await;
        }
    }
    stores.ask_everything(&disk.durable()).await;
    stores.close().await;
}

/// How a commit ended, without the words of the database.
fn comparable(ended: Result<Vec<PartOutcome>, CommitError>) -> Result<Vec<PartOutcome>, String> {
    ended.map_err(|error| match error {
        CommitError::NotWritten { reason, .. } => format!("{reason:?}"),
        CommitError::Unknown(_) => "unknown".to_owned(),
    })
}
