//! Targets that die and come back, in virtual time, on one node and on two: nothing is called in vain, nothing is
//! lost, and no attempt is used up by waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::breaker::{Forced, Phase};
use refire_core::execution::Status;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_engine::breaker::{ActError, TargetAct, TargetFilter};
use refire_engine::caller::Caller;
use refire_engine::clock::Clock;
use refire_engine::limit::{HostLimit, Limits};
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::{Engine, NodeSettings};
use refire_store::model::{Disk, NoFaults};
use refire_store::{LetterFilter, Store};
use tokio::time::{Instant, sleep};

use crate::fixture::{apply, check, start};

/// The clock of a world whose time is the runtime's.
struct Virtual(Instant);

impl Clock for Virtual {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000).plus(self.0.elapsed())
    }
}

/// One service, which is dead or alive, and what it saw.
#[derive(Default)]
struct Service {
    is_dead: AtomicBool,
    answers_429: AtomicBool,
    calls: std::sync::Mutex<Vec<(Instant, String)>>,
    in_flight: std::sync::Mutex<(usize, usize)>,
}

impl Service {
    fn calls(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    fn calls_since(&self, since: Instant) -> usize {
        let calls = self.calls.lock().unwrap();
        calls.iter().filter(|(at, _)| *at >= since).count()
    }

    /// The most calls at once since this was last asked.
    fn most_at_once(&self) -> usize {
        let mut in_flight = self.in_flight.lock().unwrap();
        let most = in_flight.1;
        in_flight.1 = in_flight.0;
        most
    }
}

#[async_trait]
impl Caller for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        let call = (Instant::now(), request.url.clone());
        self.calls.lock().unwrap().push(call);
        {
            let mut in_flight = self.in_flight.lock().unwrap();
            in_flight.0 += 1;
            in_flight.1 = in_flight.1.max(in_flight.0);
        }
        sleep(Duration::from_millis(20)).await;
        self.in_flight.lock().unwrap().0 -= 1;
        if self.is_dead.load(Ordering::Relaxed) && !request.url.contains("healthy") {
            let message = "connection refused by t.example";
            return Err(Failure::new(ErrorClass::ConnectionRefused, message));
        }
        if self.answers_429.load(Ordering::Relaxed) {
            let message = "the target answered 429";
            return Err(Failure::new(ErrorClass::HttpStatus, message).with_code("429"));
        }
        let output = Json::parse("{\"status\":200,\"body\":{}}").unwrap();
        Ok(HttpAnswer::new(200, output))
    }
}

struct World {
    disk: Arc<Disk>,
    clock: Arc<Virtual>,
    service: Arc<Service>,
}

impl World {
    fn new(is_shared: bool) -> Self {
        let clock = Arc::new(Virtual(Instant::now()));
        let now = Arc::clone(&clock);
        let disk = match is_shared {
            true => Disk::shared(Arc::new(move || now.now())),
            false => Disk::new(),
        };
        let service = Arc::default();
        Self {
            disk,
            clock,
            service,
        }
    }

    async fn node(&self, limits: Limits) -> Arc<Engine> {
        let store: Arc<dyn Store> = Arc::new(self.disk.open(Arc::new(NoFaults)));
        let caller: Arc<dyn Caller> = self.service.clone();
        let builder = Engine::builder(store).caller(caller).limits(limits);
        let builder = builder.clock(self.clock.clone()).commit_on_runtime();
        let node = NodeSettings::default();
        builder.node(node).start().await.unwrap()
    }

    fn dies(&self, is_dead: bool) {
        self.service.is_dead.store(is_dead, Ordering::Relaxed);
    }
}

/// Starts so many.
async fn many(engine: &Engine, source: &str, count: usize) -> Vec<ExecutionId> {
    let workflow = apply(engine, source).await;
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(start(engine, &workflow, "{\"host\":\"t.example\"}").await);
    }
    ids
}

/// A workflow that retries, and does not wait for long.
fn source(id: &str, url: &str) -> String {
    format!(
        "id: {id}\nretry: {{ maxRetries: 10, initialDelay: 200ms, strategy: fixed, jitter: none }}\n\
         steps: [{{ id: a, type: http, config: {{ url: '{url}' }} }}]"
    )
}

async fn phase(engine: &Engine, host: &str) -> Phase {
    engine.targets().target(host).await.unwrap().breaker.phase
}

/// Waits until a breaker stands so.
async fn stands(engine: &Engine, host: &str, wanted: Phase, within: u64) {
    let until = Instant::now() + Duration::from_secs(within);
    while phase(engine, host).await != wanted {
        assert!(Instant::now() < until, "not {wanted:?}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// All end well within this, with as many attempts as calls were made.
async fn all_end(engine: &Engine, ids: &[ExecutionId], within: u64) {
    let until = Instant::now() + Duration::from_secs(within);
    for id in ids {
        loop {
            let stored = engine.store().execution(*id).await.unwrap().unwrap();
            if stored.state.status.is_terminal() {
                assert_eq!(stored.state.status, Status::Completed);
                break;
            }
            assert!(Instant::now() < until, "{:?}", stored.work);
            sleep(Duration::from_millis(100)).await;
        }
        check(engine, *id).await;
    }
}

/// Attempts of all of them, by their logs.
async fn attempts(engine: &Engine, ids: &[ExecutionId]) -> usize {
    let mut count = 0;
    for id in ids {
        let stored = engine.store().execution(*id).await.unwrap().unwrap();
        let steps = stored.state.steps.values();
        count += steps.map(|step| step.attempt as usize).sum::<usize>();
    }
    count
}

#[tokio::test(start_paused = true)]
async fn a_hundred_workflows_leave_a_dead_host_alone_and_all_end_when_it_is_back() {
    let world = World::new(false);
    world.dies(true);
    let engine = world.node(Limits::default()).await;
    let mut ids = Vec::new();
    for n in 0..100 {
        let source = source(&format!("w{n}"), "https://t.example/x");
        ids.extend(many(&engine, &source, 1).await);
    }
    stands(&engine, "t.example", Phase::Open, 5).await;
    sleep(Duration::from_millis(500)).await;
    let opened = Instant::now();
    sleep(Duration::from_secs(80)).await;
    // About 15 and 30 seconds: two openings have passed, the third is not over.
    let probes = world.service.calls_since(opened);
    assert!((2..=3).contains(&probes), "{probes} calls tried it");
    let target = engine.targets().target("t.example").await.unwrap();
    assert_eq!(target.parked.count, 100);
    assert_eq!(target.breaker.times as usize, probes + 1);
    assert_eq!(target.workflows.len(), 100);
    let stored = engine.store().execution(ids[0]).await.unwrap().unwrap();
    let origin = stored.state.origin.as_ref().unwrap();
    let workflow = engine.catalog().of(origin).await.unwrap();
    let parked = engine.targets().parked(&stored.state, &workflow, |_| false);
    assert_eq!(parked.unwrap().host, "t.example");
    world.dies(false);
    all_end(&engine, &ids, 200).await;
    assert_eq!(
        attempts(&engine, &ids).await,
        world.service.calls(),
        "nothing was used up"
    );
    stands(&engine, "t.example", Phase::Closed, 120).await;
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn two_nodes_try_a_dead_host_with_one_call() {
    let world = World::new(true);
    world.dies(true);
    let (one, other) = (
        world.node(Limits::default()).await,
        world.node(Limits::default()).await,
    );
    let mut ids = many(&one, &source("w", "https://t.example/x"), 60).await;
    ids.extend(many(&other, &source("v", "https://t.example/y"), 60).await);
    stands(&one, "t.example", Phase::Open, 5).await;
    // The other hears of it, and what was under way ends.
    sleep(Duration::from_millis(1_500)).await;
    let opened = Instant::now();
    sleep(Duration::from_secs(120)).await;
    let probes = world.service.calls_since(opened);
    assert!((2..=4).contains(&probes), "{probes} calls tried it");
    world.service.most_at_once();
    world.dies(false);
    stands(&one, "t.example", Phase::Closing, 200).await;
    let closing = Instant::now();
    let mut most = 0;
    while closing.elapsed() < Duration::from_secs(4) {
        sleep(Duration::from_millis(100)).await;
        most = most.max(world.service.most_at_once());
    }
    assert!(most <= 3, "{most} at once, at first");
    all_end(&one, &ids, 200).await;
    assert_eq!(attempts(&one, &ids).await, world.service.calls());
    stands(&other, "t.example", Phase::Closed, 120).await;
    one.stop().await;
    other.stop().await;
}

#[tokio::test(start_paused = true)]
async fn hosts_from_templates_are_left_alone_too_and_others_go_on() {
    let world = World::new(false);
    world.dies(true);
    let engine = world.node(Limits::default()).await;
    let ids = many(&engine, &source("w", "https://${input.host}/x"), 40).await;
    stands(&engine, "t.example", Phase::Open, 5).await;
    sleep(Duration::from_secs(2)).await;
    let opened = Instant::now();
    let fine = many(&engine, &source("h", "https://healthy.example/x"), 20).await;
    all_end(&engine, &fine, 5).await;
    sleep(Duration::from_secs(8)).await;
    assert_eq!(world.service.calls_since(opened), fine.len());
    world.dies(false);
    all_end(&engine, &ids, 200).await;
    let all: Vec<ExecutionId> = ids.into_iter().chain(fine).collect();
    assert_eq!(attempts(&engine, &all).await, world.service.calls());
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_person_says_survives_a_restart() {
    let world = World::new(false);
    let engine = world.node(Limits::default()).await;
    apply(&engine, &source("w", "https://t.example:443/x")).await;
    let targets = engine.targets();
    assert_eq!(
        targets.find("T.Example:443").await.unwrap(),
        Ok(Some("t.example".to_owned()))
    );
    assert_eq!(targets.find("nobody.example").await.unwrap(), Ok(None));
    targets
        .find("a/b")
        .await
        .unwrap()
        .expect_err("it is no host");
    let probe = targets.act("t.example", TargetAct::Probe, "ann").await;
    assert!(
        matches!(probe, Err(ActError::NotOpen("closed"))),
        "{probe:?}"
    );
    for _ in 0..2 {
        let opened = targets
            .act("t.example", TargetAct::Open, "ann")
            .await
            .unwrap();
        assert_eq!(opened.breaker.forced, Some(Forced::Open));
        assert_eq!(
            (opened.breaker.rev, opened.breaker.until),
            (1, None),
            "once"
        );
    }
    let probe = targets.act("t.example", TargetAct::Probe, "ann").await;
    assert!(matches!(probe, Err(ActError::KeptOpen)), "{probe:?}");
    engine.stop().await;
    let engine = world.node(Limits::default()).await;
    let ids = many(&engine, &source("w", "https://t.example:443/x"), 5).await;
    sleep(Duration::from_secs(600)).await;
    assert_eq!(world.service.calls(), 0);
    let standing = TargetFilter {
        phases: vec![Phase::Open],
        text: None,
    };
    let listed = engine.targets().list(&standing, None, 10).await.unwrap();
    assert_eq!((listed.len(), listed[0].parked.count), (1, 5));
    engine
        .targets()
        .act("t.example", TargetAct::Close, "ann")
        .await
        .unwrap();
    all_end(&engine, &ids, 5).await;
    // Closed for good: whatever fails.
    world.dies(true);
    let ids = many(&engine, &source("v", "https://t.example/x"), 20).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(phase(&engine, "t.example").await, Phase::Closed);
    let before = world.service.calls();
    assert!(before >= 25, "{before}");
    engine
        .targets()
        .act("t.example", TargetAct::Reset, "ann")
        .await
        .unwrap();
    stands(&engine, "t.example", Phase::Open, 20).await;
    world.dies(false);
    engine
        .targets()
        .act("t.example", TargetAct::Probe, "ann")
        .await
        .unwrap();
    stands(&engine, "t.example", Phase::Closing, 5).await;
    drop(ids);
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_open_is_left_alone_after_a_restart() {
    let world = World::new(false);
    world.dies(true);
    let engine = world.node(Limits::default()).await;
    let ids = many(&engine, &source("w", "https://t.example/x"), 10).await;
    stands(&engine, "t.example", Phase::Open, 5).await;
    engine.stop().await;
    let before = world.service.calls();
    let engine = world.node(Limits::default()).await;
    sleep(Duration::from_secs(5)).await;
    assert_eq!(world.service.calls(), before);
    world.dies(false);
    all_end(&engine, &ids, 100).await;
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_never_open_a_breaker_but_are_made_later() {
    let world = World::new(false);
    world.service.answers_429.store(true, Ordering::Relaxed);
    let engine = world.node(Limits::default()).await;
    let ids = many(&engine, &source("w", "https://t.example/x"), 20).await;
    sleep(Duration::from_secs(5)).await;
    assert_eq!(phase(&engine, "t.example").await, Phase::Closed);
    let calls = world.service.calls();
    assert!(
        (20..100).contains(&calls),
        "{calls}: the waits are 20s by now"
    );
    world.service.answers_429.store(false, Ordering::Relaxed);
    all_end(&engine, &ids, 60).await;
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn breakers_can_be_turned_off() {
    let world = World::new(false);
    world.dies(true);
    let off = Limits {
        breakers: false,
        ..Limits::default()
    };
    let host = HostLimit {
        breaker: Some(false),
        ..HostLimit::default()
    };
    let only_this = Limits {
        hosts: [("t.example".to_owned(), host)].into(),
        ..Limits::default()
    };
    for limits in [off, only_this] {
        let engine = world.node(limits).await;
        let before = world.service.calls();
        let ids = many(&engine, &source("w", "https://t.example/x"), 10).await;
        sleep(Duration::from_secs(300)).await;
        assert_eq!(world.service.calls() - before, 10 * 11);
        let filter = LetterFilter {
            target: Some("t.example".to_owned()),
            ..LetterFilter::default()
        };
        let letters = engine.store().letters(&filter, None, 100).await.unwrap();
        assert!(letters.len() >= ids.len());
        let has_breakers = engine.targets().are_breakers_on();
        let act = engine
            .targets()
            .act("t.example", TargetAct::Open, "ann")
            .await;
        assert_eq!(matches!(act, Err(ActError::Off)), !has_breakers);
        if has_breakers {
            engine
                .targets()
                .act("t.example", TargetAct::Reset, "ann")
                .await
                .unwrap();
        }
        engine.stop().await;
    }
}
