//! A small world of targets that call back: early, late, twice at once, with the token of an attempt that is
//! over, or never; and of a process that crashes in between. Whatever a seed rolls, every word that was
//! answered with yes is in the log, there is one last word, and everything comes to its end. Defects that
//! are switched on must be found.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::execution::{EventKind, fold};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::planted::{Defect, choose};
use refire_core::time::Timestamp;
use refire_engine::caller::Caller;
use refire_engine::clock::Clock;
use refire_engine::entropy::Entropy;
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::vault::{MasterKey, Vault};
use refire_engine::{Accepted, Engine, Submission};
use refire_store::model::{Disk, NoFaults};
use tokio::time::{Instant, sleep};

const SOURCE: &str = "
id: w
retry: {maxRetries: 2, initialDelay: 5s, jitter: none, retryOn: {statuses: [500]}}
steps:
  - {id: a, type: http, callback: {window: 40s}, config: {method: POST, url: 'http://x.example/', body: {token: '${callback.token}', attempt: '${step.attempt}'}}}
  - {id: b, type: http, callback: {window: 20s}, config: {method: POST, url: 'http://x.example/', body: {token: '${callback.token}', attempt: '${step.attempt}'}}}
";
/// Seeds of every run.
const SEEDS: u64 = 150;
/// A defect must be found within so many seeds.
const FOUND_WITHIN: u64 = 300;
const EXECUTIONS: usize = 4;
const LIVES_MAX: u64 = 5;
/// Longer than all attempts and windows together.
const ALL_ENDED_WITHIN: Duration = Duration::from_secs(1_800);

/// Something that a target will say.
#[derive(Clone)]
struct Word {
    at: Timestamp,
    token: String,
    said: &'static str,
    /// Tells it from all others.
    message: String,
}

/// What outlives processes: the targets, and what they heard.
struct World {
    dice: Mutex<u64>,
    words: Mutex<Vec<Word>>,
    /// Words that were answered with yes, by their messages.
    taken: Mutex<BTreeMap<String, Word>>,
}

impl World {
    fn roll(&self, below: u64) -> u64 {
        let mut state = self.dice.lock().unwrap();
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % below
    }

    /// What the target of a call will say; some of it at the same moment, some far too late.
    fn plan(&self, token: &str, now: Timestamp) {
        for _ in 0..self.roll(5) {
            let at = now.plus(Duration::from_millis(match self.roll(4) {
                0 => self.roll(3_000),
                1 | 2 => self.roll(30_000),
                _ => self.roll(90_000),
            }));
            for _ in 0..=self.roll(2) {
                let said = ["processing", "processing", "success", "failed"];
                let mut words = self.words.lock().unwrap();
                let message = format!("word {}", words.len());
                words.push(Word {
                    at,
                    token: token.to_owned(),
                    said: said[usize::try_from(self.roll(4)).unwrap()],
                    message,
                });
            }
        }
    }
}

impl Entropy for World {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill_with(|| u8::try_from(self.roll(256)).unwrap());
    }
}

struct VirtualClock {
    base: Timestamp,
    began: Instant,
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.base.plus(self.began.elapsed())
    }
}

struct Targets {
    world: Arc<World>,
    clock: Arc<VirtualClock>,
}

#[async_trait]
impl Caller for Targets {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        let body: serde_json::Value = serde_json::from_slice(&request.body.unwrap()).unwrap();
        let token = body["token"].as_str().unwrap();
        self.world.plan(token, self.clock.now());
        sleep(Duration::from_millis(self.world.roll(3_000))).await;
        match self.world.roll(6) {
            0 => {
                let failure = Failure::new(ErrorClass::HttpStatus, "500").with_code("500");
                Err(failure)
            }
            1 => Err(Failure::new(ErrorClass::ReadTimeout, "no answer")),
            _ => Ok(HttpAnswer::new(
                202,
                Json::parse(r#"{"status":202}"#).unwrap(),
            )),
        }
    }
}

/// One process, from its start to its crash, or to the end of everything. What is wrong, if anything.
async fn live(
    world: &Arc<World>,
    disk: &Arc<Disk>,
    base: Timestamp,
    (ids, lasts): (&mut Vec<ExecutionId>, Option<Duration>),
) -> (Timestamp, Option<String>) {
    let clock = Arc::new(VirtualClock {
        base,
        began: Instant::now(),
    });
    let targets = Targets {
        world: Arc::clone(world),
        clock: Arc::clone(&clock),
    };
    let engine = Engine::builder(Arc::new(disk.open(Arc::new(NoFaults))))
        .clock(clock.clone())
        .entropy(Arc::clone(world) as Arc<dyn Entropy>)
        .caller(Arc::new(targets))
        .vault(Vault::new(MasterKey::new([7; 32]), None))
        .address("http://refire.example".to_owned())
        .commit_on_runtime()
        .start()
        .await
        .unwrap();
    if ids.is_empty() {
        let applied = engine.definitions().apply(SOURCE, None, "sim").await;
        let id = applied.unwrap().definition.workflow.id.clone();
        for _ in 0..EXECUTIONS {
            let submission = Submission::manual(id.clone(), Json::empty_object());
            let Ok(Accepted::New { id, .. }) = engine.executions().submit(submission).await else {
                panic!("it is accepted");
            };
            ids.push(id);
        }
    }
    let speaking = tokio::spawn(speak(Arc::clone(world), Arc::clone(&engine), clock.clone()));
    let wrong = match lasts {
        Some(lasts) => {
            sleep(lasts).await;
            None
        }
        None => {
            sleep(ALL_ENDED_WITHIN).await;
            judge(world, &engine, ids).await.err()
        }
    };
    speaking.abort();
    (clock.now(), wrong)
}

/// Says what is to be said when its time has come, all of one moment at once.
async fn speak(world: Arc<World>, engine: Arc<Engine>, clock: Arc<VirtualClock>) {
    let mut said = 0;
    loop {
        let due: Vec<Word> = {
            let mut words = world.words.lock().unwrap();
            let is_due = |word: &Word| word.at <= clock.now();
            // Those that are said move to the front, and stay.
            words[said..].sort_by_key(|word| word.at);
            let due: Vec<Word> = words[said..]
                .iter()
                .take_while(|word| is_due(word))
                .cloned()
                .collect();
            said += due.len();
            due
        };
        for word in due {
            let (world, engine) = (Arc::clone(&world), Arc::clone(&engine));
            tokio::spawn(async move {
                let body =
                    serde_json::json!({"status": word.said, "progressMessage": word.message});
                let body = Json::parse(body.to_string()).unwrap();
                let Ok(awaiting) = engine.callbacks().find(&word.token).await else {
                    return;
                };
                if engine.callbacks().receive(&awaiting, &body).await.is_ok() {
                    let mut taken = world.taken.lock().unwrap();
                    taken.insert(word.message.clone(), word);
                }
            });
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// What must hold when all is said.
async fn judge(world: &World, engine: &Engine, ids: &[ExecutionId]) -> Result<(), String> {
    let taken = world.taken.lock().unwrap().clone();
    let mut last_words: BTreeMap<&str, usize> = BTreeMap::new();
    for word in taken.values().filter(|word| word.said != "processing") {
        *last_words.entry(&word.token).or_default() += 1;
    }
    if let Some((token, count)) = last_words.iter().find(|(_, count)| **count > 1) {
        return Err(format!("one last word: {count} of {token}"));
    }
    let mut recorded = BTreeMap::new();
    for id in ids {
        let log = engine.executions().log(*id).await.unwrap();
        let stored = engine.store().execution(*id).await.unwrap().unwrap();
        if fold(&log) != stored.state {
            return Err("the fold of the log is the state".to_owned());
        }
        if !stored.state.status.is_terminal() {
            return Err(format!("everything ends: {:?}", stored.state.status));
        }
        if !engine
            .executions()
            .replay(*id, None)
            .await
            .unwrap()
            .is_identical()
        {
            return Err("replay is identical".to_owned());
        }
        let rows = engine.callbacks().of(*id).await.unwrap();
        if rows.iter().any(|row| row.wake_at.is_some()) {
            return Err("nothing waits after the end".to_owned());
        }
        let mut ends = BTreeMap::new();
        for event in &log {
            let key = (event.step.clone().map(|it| it.to_string()), event.attempt);
            match &event.kind {
                EventKind::CallbackReceived(received) if received.status.is_final() => {
                    let message = received.progress_message.clone().unwrap();
                    let row = rows.iter().find(|row| {
                        Some(&row.step) == key.0.as_ref() && Some(row.attempt) == key.1
                    });
                    let row = row.ok_or("every attempt that was called back has a row")?;
                    if row.message.as_ref() != Some(&message) {
                        return Err(format!("nothing is written after the last word: {row:?}"));
                    }
                    recorded.insert(message, event.attempt);
                }
                EventKind::StepCompleted(_) | EventKind::StepFailed(_) => {
                    *ends.entry(key).or_insert(0) += 1;
                }
                _ => {}
            }
        }
        if let Some((key, _)) = ends.iter().find(|(_, count)| **count > 1) {
            return Err(format!("an attempt ends once: {key:?}"));
        }
    }
    for word in taken.values().filter(|word| word.said != "processing") {
        let Some(attempt) = recorded.get(&word.message) else {
            return Err(format!("what was answered is recorded: {}", word.message));
        };
        // The attempt is the last four of the 22 bytes that a token begins with.
        let awaiting = engine.callbacks().find(&word.token).await.unwrap();
        if *attempt != Some(awaiting.attempt()) {
            return Err("a word is about its own attempt".to_owned());
        }
    }
    Ok(())
}

/// A whole world; what is wrong with it, if anything.
fn run(seed: u64) -> Option<String> {
    let world = Arc::new(World {
        dice: Mutex::new(seed),
        words: Mutex::default(),
        taken: Mutex::default(),
    });
    let disk = Disk::new();
    let (mut now, mut ids) = (Timestamp::from_millis(1_800_000_000_000), Vec::new());
    let crashes = world.roll(LIVES_MAX);
    for life in 0..=crashes {
        let lasts = Duration::from_millis(1_000 + world.roll(40_000));
        let lasts = (life < crashes).then_some(lasts);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let lived = live(&world, &disk, now, (&mut ids, lasts));
        let (until, wrong) = runtime.block_on(lived);
        if wrong.is_some() {
            return wrong;
        }
        now = until;
        // Whatever it was about to do is gone with it.
        drop(runtime);
        disk.crash();
    }
    None
}

#[test]
fn whatever_targets_say_there_is_one_last_word() {
    for seed in 0..SEEDS {
        assert_eq!(run(seed), None, "seed {seed}");
    }
}

/// Runs seeds with this defect until one of these checks notices.
fn is_found(defect: Defect, checks: &[&str]) {
    for seed in 0..FOUND_WITHIN {
        choose(Some(defect));
        let wrong = run(seed);
        choose(None);
        if let Some(wrong) = wrong {
            println!("{defect:?} is found by seed {seed}: {wrong}");
            assert!(
                checks.iter().any(|check| wrong.starts_with(check)),
                "{wrong}"
            );
            return;
        }
    }
    panic!("{FOUND_WITHIN} seeds do not find {defect:?}");
}

#[test]
fn a_second_last_word_is_found() {
    let checks = [
        "one last word",
        "an attempt ends once",
        "nothing is written after",
        "replay is",
    ];
    is_found(Defect::FinalTwice, &checks);
}

#[test]
fn a_forgotten_window_is_found() {
    is_found(Defect::WindowForgotten, &["everything ends"]);
}

#[test]
fn a_word_for_another_attempt_is_found() {
    let checks = [
        "a word is about its own attempt",
        "what was answered is recorded",
        "one last word",
    ];
    is_found(Defect::LostTokenTaken, &checks);
}

#[test]
fn progress_after_the_end_is_found() {
    is_found(Defect::ProgressAfterEnd, &["nothing is written after"]);
}
