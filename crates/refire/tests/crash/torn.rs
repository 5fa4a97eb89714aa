//! TORN: a log that ends in the middle, and bits that turned over. What is read is a prefix of what
//! was written, or damage that is named; never a panic, and never a state that no log leads to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use refire_core::execution::Event;
use refire_core::id::ExecutionId;
use refire_retry::Seed;
use refire_store::Store;
use reqwest::Method;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::client::Client;
use crate::export::all_end;
use crate::load::{ClientLog, plan, send};
use crate::node::Node;
use crate::rest::{Examiner, Wrong, damage, words};
use crate::script::Story;
use crate::target::{Mood, Target};
use crate::{alone, is_long, workflows};

/// The log is cut after each of these many bytes.
const CUT_EVERY: usize = 512;
/// Cuts all over the log.
const CUTS_SPREAD: usize = 12;
/// The long form makes every cut in so many bytes at its end.
const CUT_ALL_BYTES: u64 = 128 << 10;
/// Seeds of turned bits, in the short form and in the long one.
const FLIPS: (u64, u64) = (15, 1_000);
/// Those of them that a whole server is started on.
const SERVED: (u64, u64) = (4, 60);
/// Requests before the checkpoint, and after it, so that there is something in the log.
const REQUESTS: (u64, u64) = (80, 30);
/// How long everything may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// The files of a server that was killed, and every log in them.
struct Original {
    home: TempDir,
    logs: BTreeMap<ExecutionId, Vec<Event>>,
}

impl Original {
    /// A database with a story in its file and more in its log.
    async fn make() -> Self {
        let home = tempdir().unwrap();
        let target = Target::start(Mood::AsAsked).await;
        let mut node = Node::new(home.path(), &home.path().join("data"));
        node.start();
        let client = Client::new(node.door());
        workflows(&client, &target).await;
        Story::default().play(&mut node, &client).await;
        let log = ClientLog::default();
        for beat in 1_000..1_000 + REQUESTS.0 {
            send(&client, plan(beat), &log).await;
        }
        all_end(&client, ENDS_WITHIN).await.unwrap();
        node.stop();
        node.start();
        for beat in 2_000..2_000 + REQUESTS.1 {
            send(&client, plan(beat), &log).await;
        }
        all_end(&client, ENDS_WITHIN).await.unwrap();
        node.kill();
        let copy = tempdir().unwrap();
        let database = Files::copy(home.path(), copy.path()).database;
        let mut examiner = Examiner::open(&database).unwrap();
        let mut logs = BTreeMap::new();
        for id in examiner.ids().await.unwrap() {
            logs.insert(id, examiner.execution(id).await.unwrap());
        }
        Self { home, logs }
    }
}

/// A copy of the files that can be damaged.
struct Files {
    database: PathBuf,
    log: PathBuf,
}

impl Files {
    /// The index of the log is left out: the next start makes it anew.
    fn copy(from: &Path, to: &Path) -> Self {
        let folder = to.join("data");
        std::fs::create_dir(&folder).unwrap();
        let files = Self {
            database: folder.join("refire.db"),
            log: folder.join("refire.db-wal"),
        };
        std::fs::copy(from.join("data/refire.db"), &files.database).unwrap();
        std::fs::copy(from.join("data/refire.db-wal"), &files.log).unwrap();
        files
    }

    /// Turns one bit over, by the seed: three of four in the file, the others in its log.
    fn flip(&self, seed: u64) -> Flip {
        let path = if seed.is_multiple_of(4) {
            &self.log
        } else {
            &self.database
        };
        let mut bytes = std::fs::read(path).unwrap();
        let place = Seed::new(seed).mix(b"place").draw();
        let place = place.below(bytes.len() as u64);
        let bit = Seed::new(seed).mix(b"bit").draw().below(8);
        bytes[usize::try_from(place).unwrap()] ^= 1 << bit;
        std::fs::write(path, bytes).unwrap();
        Flip {
            is_in_log: *path == self.log,
            words: format!(
                "seed {seed}: bit {bit} of byte {place} of {}",
                path.display()
            ),
        }
    }
}

/// A bit that was turned over.
struct Flip {
    is_in_log: bool,
    words: String,
}

/// What a damaged copy showed.
#[derive(Debug, Default)]
struct Seen {
    /// Events that are there, by execution.
    events: BTreeMap<ExecutionId, usize>,
    /// Executions of which there is nothing.
    gone: Vec<ExecutionId>,
    /// Damage that was named.
    reported: Vec<String>,
}

impl Original {
    /// Reads a damaged copy. Whatever it gives out must be the beginning of the true log.
    async fn read(&self, database: &Path, context: &str) -> Seen {
        let mut seen = Seen::default();
        let mut examiner = match Examiner::open(database) {
            Ok(examiner) => examiner,
            Err(error) => {
                seen.report(words(&error), context);
                return seen;
            }
        };
        for (id, log) in &self.logs {
            match examiner.execution(*id).await {
                Ok(read) => {
                    let is_prefix = read.len() <= log.len() && read[..] == log[..read.len()];
                    assert!(is_prefix, "{context}: {id} reads {read:?}, was {log:?}");
                    seen.events.insert(*id, read.len());
                }
                Err(Wrong::Absent) => seen.gone.push(*id),
                Err(Wrong::Reported(what)) => seen.report(what, context),
                Err(Wrong::Unsound(what)) => panic!("{context}: {id}: {what}"),
            }
        }
        match examiner.ids().await {
            Ok(ids) => {
                let strange = ids.iter().find(|id| !self.logs.contains_key(*id));
                // A turned bit can make one id another; then SQLite knows of it.
                assert!(
                    strange.is_none() || !damage(database).is_empty(),
                    "{context}: {strange:?} was never made"
                );
            }
            Err(error) => seen.report(words(&error), context),
        }
        examiner.store.close().await;
        seen
    }
}

impl Seen {
    fn report(&mut self, what: String, context: &str) {
        assert!(!what.contains("panic"), "{context}: {what}");
        self.reported.push(what);
    }
}

#[tokio::test]
async fn a_log_cut_anywhere_leaves_a_prefix() {
    let _alone = alone().await;
    let original = Original::make().await;
    let length = original.home.path().join("data/refire.db-wal");
    let length = length.metadata().unwrap().len();
    let all: Vec<u64> = (0..length).step_by(CUT_EVERY).collect();
    let step = all.len().div_ceil(CUTS_SPREAD);
    let all_from = if is_long() {
        length.saturating_sub(CUT_ALL_BYTES)
    } else {
        length
    };
    let is_made = |(number, cut): &(usize, u64)| number.is_multiple_of(step) || *cut >= all_from;
    let mut before = BTreeMap::new();
    let mut kept = Vec::new();
    for (_, cut) in all.into_iter().enumerate().filter(is_made) {
        let copy = tempdir().unwrap();
        let files = Files::copy(original.home.path(), copy.path());
        let file = std::fs::File::options().write(true).open(&files.log);
        file.unwrap().set_len(cut).unwrap();
        let context = format!("cut at {cut} of {length}");
        let seen = original.read(&files.database, &context).await;
        assert_eq!(seen.reported, Vec::<String>::new(), "{context}");
        assert_eq!(damage(&files.database), Vec::<String>::new(), "{context}");
        // A longer log holds at least what the shorter one did.
        for (id, events) in before {
            let now = seen.events.get(&id).copied().unwrap_or(0);
            assert!(
                now >= events,
                "{context}: {id} had {events} events, now {now}"
            );
        }
        before = seen.events;
        kept.push(before.values().sum::<usize>());
    }
    let whole: usize = original.logs.values().map(Vec::len).sum();
    println!(
        "TORN: {} cuts, events left: {kept:?} of {whole}",
        kept.len()
    );
    assert!(
        kept.iter().any(|events| *events < whole),
        "no cut cut anything off"
    );
}

#[tokio::test]
async fn a_bit_that_turned_over_is_harmless_or_named() {
    let _alone = alone().await;
    let original = Original::make().await;
    let seeds = if is_long() { FLIPS.1 } else { FLIPS.0 };
    let (mut harmless, mut shorter, mut named) = (0, 0, 0);
    for seed in 0..seeds {
        let copy = tempdir().unwrap();
        let files = Files::copy(original.home.path(), copy.path());
        let Flip { is_in_log, words } = files.flip(seed);
        let seen = original.read(&files.database, &words).await;
        let is_whole =
            |(id, log): (&ExecutionId, &Vec<Event>)| seen.events.get(id) == Some(&log.len());
        if !seen.reported.is_empty() {
            named += 1;
        } else if original.logs.iter().all(is_whole) {
            harmless += 1;
        } else if is_in_log {
            // The log counts up to the damage.
            shorter += 1;
        } else {
            let found = damage(&files.database);
            assert!(!found.is_empty(), "{words}: gone without a word: {seen:?}");
            named += 1;
        }
    }
    println!(
        "TORN: {seeds} bits turned over: {harmless} harmless, {shorter} shortened the log, {named} named"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_on_damaged_files_serves_what_is_sound_and_names_the_rest() {
    let _alone = alone().await;
    let original = Original::make().await;
    let seeds = if is_long() { SERVED.1 } else { SERVED.0 };
    let (mut started, mut refused, mut named) = (0, 0, 0);
    for seed in 10_000..10_000 + seeds {
        let copy = tempdir().unwrap();
        let files = Files::copy(original.home.path(), copy.path());
        let words = files.flip(seed).words;
        let mut node = Node::new(copy.path(), &copy.path().join("data"));
        match node.try_start() {
            Ok(()) => {
                started += 1;
                let client = Client::new(node.door());
                for id in original.logs.keys() {
                    named += usize::from(serve(&client, *id, &words).await);
                }
                node.stop();
            }
            Err(end) => {
                refused += 1;
                assert_eq!(end.status.code(), Some(1), "{words}: {}", end.log);
                assert!(end.log.contains("refire.db"), "{words}: {}", end.log);
            }
        }
        let log = node.log();
        assert!(!log.contains("panicked"), "{words}: {log}");
    }
    println!(
        "TORN: {started} servers started, {refused} refused to, {named} answers named the damage"
    );
}

/// What is done to a file, and what the server says to it.
type Case = (&'static str, fn(&mut Vec<u8>), &'static str);

/// Damage to the file as a whole is found at the start.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_file_that_is_no_database_any_more_is_refused_by_name() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let target = Target::start(Mood::Good).await;
    let mut node = Node::new(home.path(), &home.path().join("data"));
    node.start();
    workflows(&Client::new(node.door()), &target).await;
    node.stop();
    let sound = std::fs::read(node.database()).unwrap();
    let cases: [Case; 5] = [
        (
            "another magic",
            |bytes| bytes[0] ^= 1,
            "is not a Refire database",
        ),
        (
            "another owner",
            |bytes| bytes[68] ^= 1,
            "is not a Refire database",
        ),
        (
            "no first page",
            |bytes| bytes[..4_096].fill(0),
            "is not a Refire database",
        ),
        (
            "no schema",
            |bytes| bytes[100..4_096].fill(0),
            "holds something unreadable",
        ),
        (
            "half of it",
            |bytes| bytes.truncate(bytes.len() / 2),
            "holds something unreadable",
        ),
    ];
    for (name, damage, said) in cases {
        let mut bytes = sound.clone();
        damage(&mut bytes);
        std::fs::write(node.database(), bytes).unwrap();
        let end = node.try_start().expect_err(name);
        assert_eq!(end.status.code(), Some(1), "{name}: {}", end.log);
        let last = end.log.rsplit("stopped").next().unwrap_or_default();
        assert!(last.contains(said), "{name}: {last}");
        assert!(!last.contains("panicked"), "{name}: {last}");
    }
    std::fs::write(node.database(), &sound).unwrap();
    node.start();
}

/// Asks for an execution and its replay; whether the damage was named.
async fn serve(client: &Client, id: ExecutionId, context: &str) -> bool {
    let mut named = false;
    let paths = [
        (Method::GET, format!("/api/executions/{id}")),
        (Method::POST, format!("/api/executions/{id}/replay")),
    ];
    for (method, path) in paths {
        match client.try_read::<Value>(method, &path).await {
            Ok(answer) => assert_ne!(answer["identical"], false, "{context}: {answer}"),
            Err(why) if why.starts_with("404") => {}
            Err(why) => {
                assert!(why.contains("RF0030"), "{context}: {path}: {why}");
                named = true;
            }
        }
    }
    named
}
