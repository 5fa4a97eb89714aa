//! People are told: small worlds of two nodes that die at any moment while letters come in storms. Every letter is
//! counted in a message, each group begins once, and its end is told once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::json::Json;
use refire_core::planted::{Defect, choose};
use refire_core::time::Timestamp;
use refire_engine::caller::Caller;
use refire_engine::clock::Clock;
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::vault::{MasterKey, Vault};
use refire_engine::{Engine, NodeSettings, Submission};
use refire_store::model::{Disk, Faults, Finding, Model, Moment, Verdict};
use refire_store::{Batch, NotWritten, Part, ReadError, Store};
use serde_json::Value;
use tokio::time::{Instant, sleep};

/// Worlds of a run.
const SEEDS: u64 = 12;
const WORKFLOWS: u64 = 3;
/// Turns of a world before everything heals.
const TURNS: u64 = 24;
const CHANNEL: &str = "{name: ops, type: webhook, config: {url: 'https://hooks.example/ops'}}";

/// Small dice.
struct Dice(Mutex<u64>);

impl Dice {
    fn below(&self, bound: u64) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state % bound
    }
}

struct WorldClock(Instant);

impl Clock for WorldClock {
    fn now(&self) -> Timestamp {
        let lived = i64::try_from(self.0.elapsed().as_millis()).unwrap();
        Timestamp::from_millis(1_767_225_600_000 + lived)
    }
}

/// Now and then the disk takes nothing that has to do with groups.
struct Trouble(Arc<Dice>, Arc<Mutex<bool>>);

#[async_trait]
impl Faults for Trouble {
    async fn commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        let is_group = batch
            .parts
            .iter()
            .any(|part| matches!(part, Part::MoveGroups(_)));
        let is_healed = *self.1.lock().unwrap();
        match is_group && !is_healed && moment == Moment::Arrived && self.0.below(6) == 0 {
            true => Verdict::Refuse(NotWritten::Unavailable),
            false => Verdict::Go,
        }
    }

    async fn lost(&self, _: &Batch) -> Finding {
        Finding::Known
    }

    async fn read(&self, _: &'static str) -> Result<(), ReadError> {
        Ok(())
    }

    async fn answer(&self, _: &'static str) -> Result<(), ReadError> {
        Ok(())
    }
}

/// What people got, by the message's id, and services that fail.
#[derive(Default)]
struct Services {
    got: Mutex<BTreeMap<String, Value>>,
    dice: Mutex<Option<Arc<Dice>>>,
}

#[async_trait]
impl Caller for Services {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        sleep(Duration::from_millis(50)).await;
        if !request.url.contains("hooks.example") {
            return Err(Failure::new(ErrorClass::HttpStatus, "404").with_code("404"));
        }
        let is_down = self
            .dice
            .lock()
            .unwrap()
            .as_ref()
            .is_some_and(|dice| dice.below(4) == 0);
        if is_down {
            return Err(Failure::new(ErrorClass::ConnectionRefused, "down"));
        }
        let body: Value = serde_json::from_slice(&request.body.unwrap()).unwrap();
        let id = body["data"]["id"].as_str().unwrap().to_owned();
        self.got.lock().unwrap().insert(id, body);
        Ok(HttpAnswer::new(202, Json::parse("{}").unwrap()))
    }
}

struct World {
    disk: Arc<Disk>,
    services: Arc<Services>,
    dice: Arc<Dice>,
    is_healed: Arc<Mutex<bool>>,
    began: Instant,
}

impl World {
    async fn node(&self, name: &str) -> (Arc<Engine>, Arc<Model>) {
        let faults = Trouble(Arc::clone(&self.dice), Arc::clone(&self.is_healed));
        let model = Arc::new(self.disk.open(Arc::new(faults)));
        let store: Arc<dyn Store> = Arc::clone(&model) as Arc<dyn Store>;
        let settings = NodeSettings {
            name: name.to_owned(),
            ..NodeSettings::default()
        };
        let caller: Arc<dyn Caller> = Arc::clone(&self.services) as Arc<dyn Caller>;
        let engine = Engine::builder(store)
            .clock(Arc::new(WorldClock(self.began)))
            .caller(caller)
            .vault(Vault::new(MasterKey::new([7; 32]), None))
            .node(settings)
            .commit_on_runtime()
            .start();
        (engine.await.unwrap(), model)
    }
}

fn workflow(n: u64) -> WorkflowId {
    WorkflowId::new(format!("w{n}")).unwrap()
}

/// Plays a world; what was found.
async fn play(seed: u64) -> Result<(), String> {
    let began = Instant::now();
    let clock = WorldClock(began);
    let dice = Arc::new(Dice(Mutex::new(seed * 7_919 + 1)));
    let world = World {
        disk: Disk::shared(Arc::new(move || clock.now())),
        services: Arc::default(),
        dice: Arc::clone(&dice),
        is_healed: Arc::default(),
        began,
    };
    *world.services.dice.lock().unwrap() = Some(Arc::clone(&dice));
    let mut nodes = [world.node("a").await, world.node("b").await];
    // Only letters are told of here.
    for rule in nodes[0].0.alerts().rules().await.unwrap() {
        nodes[0].0.alerts().remove_rule(rule.id).await.unwrap();
    }
    nodes[0].0.notifications().create(CHANNEL).await.unwrap();
    for n in 0..WORKFLOWS {
        let source = format!(
            "id: w{n}\nretry: false\nsteps:\n  - {{ id: a, type: http, config: {{ method: POST, url: \"https://t.example/a\" }} }}\n"
        );
        nodes[0]
            .0
            .definitions()
            .apply(&source, None, "somebody")
            .await
            .unwrap();
    }
    sleep(Duration::from_secs(3)).await;
    for _ in 0..TURNS {
        let at = usize::try_from(dice.below(2)).unwrap();
        match dice.below(6) {
            0 => {
                nodes[at].1.die();
                nodes[at] = world.node("again").await;
            }
            _ => {
                let id = workflow(dice.below(WORKFLOWS));
                for _ in 0..1 + dice.below(8) {
                    let wish = Submission::manual(id.clone(), Json::parse("{}").unwrap());
                    let _ = nodes[at].0.executions().submit(wish).await;
                }
            }
        }
        sleep(Duration::from_millis(100 + dice.below(20_000))).await;
    }
    *world.is_healed.lock().unwrap() = true;
    *world.services.dice.lock().unwrap() = None;
    // Long enough for the slowest group, and for a message that is tried again.
    sleep(Duration::from_secs(1_500)).await;
    let letters = counted(&world).await;
    told(&world, &letters)?;
    for (_, filed) in world.disk.durable().letters {
        let _ = nodes[0]
            .0
            .letters()
            .delete(filed.letter.id, "somebody")
            .await;
    }
    sleep(Duration::from_secs(400)).await;
    ended(&world, &letters)
}

/// Letters by workflow.
async fn counted(world: &World) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for filed in world.disk.durable().letters.values() {
        *counts.entry(filed.letter.workflow.to_string()).or_default() += 1;
    }
    counts
}

fn told(world: &World, letters: &BTreeMap<String, u64>) -> Result<(), String> {
    let image = world.disk.durable();
    if !image.notices.is_empty() {
        return Err(format!("{} notices were left behind", image.notices.len()));
    }
    let got = world.services.got.lock().unwrap();
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    let mut firsts: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
    for (id, body) in got.iter() {
        let data = &body["data"];
        let name = data["workflow"].as_str().unwrap_or_default().to_owned();
        let count = data["count"].as_u64().unwrap_or(0);
        let known = most.entry(name.clone()).or_default();
        *known = (*known).max(count);
        if data["phase"] == "first" {
            firsts.entry(name).or_default().insert(id);
        }
    }
    for (name, count) in letters {
        let told = most.get(name).copied().unwrap_or(0);
        if told != *count {
            return Err(format!(
                "{name} has {count} letters, and people were told of {told}"
            ));
        }
        let begun = firsts.get(name).map_or(0, BTreeSet::len);
        if begun != 1 {
            return Err(format!("{name} began {begun} times"));
        }
    }
    Ok(())
}

/// Each group that had letters is over, and that was told once.
fn ended(world: &World, letters: &BTreeMap<String, u64>) -> Result<(), String> {
    let got = world.services.got.lock().unwrap();
    for name in letters.keys() {
        let is_end = |body: &&Value| {
            body["type"] == "dead_letter.resolved" && body["data"]["workflow"] == name.as_str()
        };
        let ends = got.values().filter(is_end).count();
        if ends != 1 {
            return Err(format!("the end of {name} was told {ends} times"));
        }
    }
    Ok(())
}

fn run(seed: u64, defect: Option<Defect>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    choose(defect);
    let found = runtime.block_on(play(seed));
    choose(None);
    found
}

/// `SEED=n` plays one.
#[test]
fn every_letter_is_told_of_whoever_dies() {
    let only: Option<u64> = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seeds = only.map_or(0..SEEDS, |seed| seed..seed + 1);
    for seed in seeds {
        if let Err(found) = run(seed, None) {
            panic!("SEED={seed}: {found}");
        }
    }
}

#[test]
fn a_notice_that_is_lost_is_noticed() {
    assert!((0..SEEDS).any(|seed| run(seed, Some(Defect::NoticeLost)).is_err()));
}

#[test]
fn a_group_that_is_forgotten_is_noticed() {
    assert!((0..SEEDS).any(|seed| run(seed, Some(Defect::GroupForgotten)).is_err()));
}
