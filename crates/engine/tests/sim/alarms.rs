//! A small world of its own for alerts: nodes that share a disk come, die and go, answers of the disk are lost,
//! a workflow fails for a while, and people make silences. Whatever happens, whoever was told that an alert fires
//! is told so once, and once that it is over.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::alert::{Phase, Told};
use refire_core::definition::WorkflowId;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::AlertId;
use refire_core::json::Json;
use refire_core::notify::NoticeKind;
use refire_core::planted::{Defect, choose};
use refire_core::time::Timestamp;
use refire_engine::caller::Caller;
use refire_engine::clock::Clock;
use refire_engine::entropy::Entropy;
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::vault::{MasterKey, Vault};
use refire_engine::{Engine, NodeSettings, Submission};
use refire_store::model::{Disk, Faults, Model, Moment, Verdict};
use refire_store::{Batch, Part, Store};
use tokio::time::{Instant, sleep, timeout};

use crate::dice::Dice;
use crate::world::BEGINNING_US;

/// Worlds of a usual run.
const WORLDS: u64 = 6;
/// A defect must be found within so many.
const WORLDS_MAX: u64 = 40;
/// What happens in one.
const DEEDS: u32 = 30;
/// Nodes at once.
const NODES_MAX: usize = 3;
/// Answers of the disk that are lost, of a thousand.
const LOST: u32 = 40;

const SOURCE: &str =
    "{id: w, retry: false, steps: [{id: a, type: http, config: {url: 'https://t.example/a'}}]}";
const RULE: &str =
    "{name: r, kind: failure_rate, window: 1m, above: 50, min_count: 3, repeat: 30d}";
const CHANNEL: &str = "{name: ops, type: webhook, config: {url: 'https://hooks.example/ops'}}";

/// Virtual time.
struct WorldClock(Instant);

fn since(began: Instant) -> Timestamp {
    Timestamp::from_micros(BEGINNING_US).plus(began.elapsed())
}

impl Clock for WorldClock {
    fn now(&self) -> Timestamp {
        since(self.0)
    }
}

struct WorldEntropy(Arc<Mutex<Dice>>);

impl Entropy for WorldEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().unwrap().fill(bytes);
    }
}

/// The only service; it fails for a while.
struct Service(Arc<AtomicBool>);

#[async_trait]
impl Caller for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        let fails = self.0.load(Ordering::Relaxed) && request.url.contains("t.example");
        if fails {
            let failure = Failure::new(ErrorClass::HttpStatus, "the target answered 400");
            return Err(failure.with_code("400"));
        }
        let output = Json::parse(r#"{"status":200,"body":{}}"#).unwrap();
        Ok(HttpAnswer::new(200, output))
    }
}

/// Notices that became durable: of which alert, and whether it fires.
#[derive(Default)]
struct Heard(Mutex<BTreeMap<AlertId, Vec<bool>>>);

/// Loses answers, and hears every notice at the moment it is durable.
struct Ear {
    disk: Arc<Disk>,
    dice: Arc<Mutex<Dice>>,
    heard: Arc<Heard>,
}

#[async_trait]
impl Faults for Ear {
    async fn commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        if moment != Moment::Durable {
            return Verdict::Go;
        }
        for part in &batch.parts {
            let Part::ChangeAlerts(changes) = part else {
                continue;
            };
            for change in changes {
                for notice in &change.notices {
                    let is_there = self
                        .disk
                        .look(|image| image.notices.contains_key(&notice.id));
                    if let Some(row) = change.to.as_ref().filter(|_| is_there) {
                        let mut heard = self.heard.0.lock().unwrap();
                        let of_alert = heard.entry(row.alert.id).or_default();
                        of_alert.push(notice.kind == NoticeKind::AlertFiring);
                    }
                }
            }
        }
        match self.dice.lock().unwrap().chance(LOST) {
            true => Verdict::Unknown { durable: true },
            false => Verdict::Go,
        }
    }
}

struct World {
    disk: Arc<Disk>,
    began: Instant,
    dice: Arc<Mutex<Dice>>,
    entropy: Arc<Mutex<Dice>>,
    fails: Arc<AtomicBool>,
    heard: Arc<Heard>,
    nodes: Vec<(Arc<Engine>, Arc<Model>)>,
}

impl World {
    fn new(seed: u64) -> Self {
        let began = Instant::now();
        Self {
            disk: Disk::shared(Arc::new(move || since(began))),
            began,
            dice: Arc::new(Mutex::new(Dice::new(seed, "alarms"))),
            entropy: Arc::new(Mutex::new(Dice::new(seed, "entropy"))),
            fails: Arc::default(),
            heard: Arc::default(),
            nodes: Vec::new(),
        }
    }

    fn below(&self, n: u64) -> u64 {
        self.dice.lock().unwrap().below(n)
    }

    async fn join(&mut self) {
        let ear = Ear {
            disk: Arc::clone(&self.disk),
            dice: Arc::clone(&self.dice),
            heard: Arc::clone(&self.heard),
        };
        let model = Arc::new(self.disk.open(Arc::new(ear)));
        let store: Arc<dyn Store> = model.clone();
        let engine = Engine::builder(store)
            .clock(Arc::new(WorldClock(self.began)))
            .entropy(Arc::new(WorldEntropy(Arc::clone(&self.entropy))))
            .caller(Arc::new(Service(Arc::clone(&self.fails))))
            .vault(Vault::new(MasterKey::new([7; 32]), None))
            .node(NodeSettings::default())
            .commit_on_runtime()
            .start();
        if let Ok(Ok(engine)) = timeout(Duration::from_secs(60), engine).await {
            self.nodes.push((engine, model));
        }
    }

    fn node(&self) -> Option<&Engine> {
        let at = self.below(self.nodes.len() as u64);
        let (engine, _) = self.nodes.get(usize::try_from(at).unwrap())?;
        Some(engine)
    }

    /// Executions through any node.
    async fn run(&self, count: u64) {
        for _ in 0..count {
            let Some(engine) = self.node() else { return };
            let workflow = WorkflowId::new("w").unwrap();
            let started = Submission::manual(workflow, Json::empty_object());
            let _ = timeout(Duration::from_secs(5), engine.executions().submit(started)).await;
        }
    }

    async fn deed(&mut self) {
        match self.below(10) {
            0 if self.nodes.len() > 1 => {
                let at = usize::try_from(self.below(self.nodes.len() as u64)).unwrap();
                let (engine, model) = self.nodes.remove(at);
                model.die();
                // A process that is gone does nothing any more.
                std::mem::forget(engine);
            }
            1 if self.nodes.len() > 1 => {
                let (engine, _) = self.nodes.remove(0);
                let _ = timeout(Duration::from_secs(30), engine.stop()).await;
            }
            0..3 if self.nodes.len() < NODES_MAX => self.join().await,
            3..5 => self.fails.store(true, Ordering::Relaxed),
            5 => self.fails.store(false, Ordering::Relaxed),
            6 => {
                let ends_at = since(self.began).plus(Duration::from_secs(self.below(90) + 1));
                let text = format!("{{ends_at: '{ends_at}'}}");
                if let Some(engine) = self.node() {
                    let made = engine.alerts().create_silence(&text, "ann");
                    let _ = timeout(Duration::from_secs(5), made).await;
                }
            }
            _ => {}
        }
        self.run(3 + self.below(4)).await;
        sleep(Duration::from_secs(self.below(40))).await;
    }

    async fn live(&mut self) {
        self.join().await;
        let engine = Arc::clone(&self.nodes[0].0);
        engine
            .definitions()
            .apply(SOURCE, None, "ann")
            .await
            .unwrap();
        engine.notifications().create(CHANNEL).await.unwrap();
        for rule in engine.alerts().rules().await.unwrap() {
            engine.alerts().remove_rule(rule.id).await.unwrap();
        }
        engine.alerts().create_rule(RULE).await.unwrap();
        drop(engine);
        for _ in 0..DEEDS {
            self.deed().await;
        }
        if self.nodes.is_empty() {
            self.join().await;
        }
        // Whatever was wrong is over: no window reaches back that far.
        sleep(Duration::from_secs(600)).await;
    }

    /// What is wrong with what was told, and how many alerts were told of.
    fn judged(&self) -> Result<usize, String> {
        let heard = self.heard.0.lock().unwrap();
        for (alert, said) in heard.iter() {
            // What still fires at the end of a silence is told again.
            let silences = self.disk.look(|image| image.silences.len());
            if said.len() > 2 + silences {
                return Err(format!("{alert} is told too often: {said:?}"));
            }
            let ends = said.iter().filter(|fires| !**fires).count();
            if said.first() != Some(&true) || said.last() != Some(&false) || ends != 1 {
                return Err(format!("{alert}: {said:?}"));
            }
        }
        let left = self.disk.look(|image| {
            let mut rows = image.alerts.values();
            rows.find(|row| row.alert.phase != Phase::Resolved || row.alert.told == Told::Firing)
                .cloned()
        });
        match left {
            Some(row) => Err(format!("its end is not told: {row:?}")),
            None => Ok(heard.len()),
        }
    }
}

fn play(seed: u64) -> Result<usize, String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    let judged = runtime.block_on(async {
        let mut world = World::new(seed);
        world.live().await;
        world.judged()
    });
    runtime.shutdown_background();
    judged
}

#[test]
fn whoever_is_told_of_an_alert_is_told_once_and_of_its_end() {
    let mut told = 0;
    for seed in 0..WORLDS {
        let judged = play(seed);
        told += judged.unwrap_or_else(|what| panic!("world {seed}: {what}"));
    }
    assert!(
        told > 5,
        "worlds in which nothing happens prove nothing: {told}"
    );
}

#[test]
fn an_alert_that_is_told_twice_is_found() {
    for seed in 0..WORLDS_MAX {
        choose(Some(Defect::FiringTwice));
        let judged = play(seed);
        choose(None);
        if let Err(what) = judged {
            println!("it is found by world {seed}: {what}");
            assert!(what.contains("too often"), "{what}");
            return;
        }
    }
    panic!("no world finds it");
}
