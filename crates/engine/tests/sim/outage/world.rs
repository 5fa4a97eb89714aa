//! One world: nodes on a shared disk in virtual time, hosts that are down for a while, and the judge of every call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::breaker::{Breaker, Phase};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{ExecutionId, NodeId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_engine::caller::Caller;
use refire_engine::clock::Clock;
use refire_engine::entropy::Entropy;
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::{Accepted, Engine, NodeSettings, Submission};
use refire_store::model::{Disk, Faults, Moment, Verdict};
use refire_store::{Batch, News, NotWritten, ReadError, Store};
use tokio::time::{Instant, sleep};

use crate::dice::Dice;

/// How long a node that is well may not know yet that a host is left alone.
const KNOWN_WITHIN: Duration = Duration::from_millis(1_500);
/// The same where commits are refused and news are lost.
const KNOWN_WITHIN_IN_TROUBLE: Duration = Duration::from_secs(8);
/// When everything must have come to its end, after the hosts are back.
const ENDS_WITHIN: Duration = Duration::from_secs(600);
/// Calls at once that a node may begin with when a host is back.
const RAMP_FIRST: u32 = 2;
const RAMP_DOUBLES_EVERY: Duration = Duration::from_secs(5);
const LEASE: Duration = Duration::from_secs(6);

/// A promise that did not hold.
#[derive(Debug, Clone)]
pub(crate) struct Broken {
    pub(crate) check: &'static str,
    pub(crate) what: String,
}

/// What the hosts and the judge know.
struct Town {
    dice: Mutex<Dice>,
    began: Instant,
    disk: Mutex<Option<Arc<Disk>>>,
    down: Mutex<BTreeSet<String>>,
    is_troubled: bool,
    /// Commits are refused, news lost.
    has_trouble_now: AtomicBool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// Calls in flight: host, node, when.
    in_flight: BTreeMap<u64, (String, NodeId, Instant)>,
    calls: u64,
    failed_of: BTreeMap<ExecutionId, u32>,
    /// When each host was first seen open.
    opened: BTreeMap<String, ((Option<Timestamp>, u32), Instant)>,
    /// When each was first seen to come back.
    closing: BTreeMap<String, (u64, Instant)>,
    /// Who tried which host, by the revision of the breaker.
    tried: BTreeSet<(String, u64)>,
    broken: Option<Broken>,
}

impl Town {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000).plus(self.began.elapsed())
    }

    fn breaker(&self, host: &str) -> Option<Breaker> {
        let disk = self.disk.lock().unwrap().clone()?;
        disk.look(|image| image.breakers.get(host).map(|row| (**row).clone()))
    }

    fn breaks(&self, check: &'static str, what: String) {
        let mut seen = self.seen.lock().unwrap();
        seen.broken.get_or_insert(Broken { check, what });
    }

    /// Judges a call the moment it arrives.
    fn arrives(&self, host: &str, node: NodeId) {
        let (now, row) = (Instant::now(), self.breaker(host));
        let mut seen = self.seen.lock().unwrap();
        let Some(row) = row else { return };
        let verdict = match row.phase {
            Phase::Open => seen.may_call_open(&row, (host, now), self.patience()),
            Phase::Probing if row.is_probed_by(node) => {
                match seen.tried.insert((host.to_owned(), row.rev)) {
                    true => Ok(()),
                    false => Err(("one call tries an open host", "its node tries it twice")),
                }
            }
            Phase::Probing => seen
                .may_call_open(&row, (host, now), self.patience())
                .map_err(|_| ("one call tries an open host", "another node tries it")),
            Phase::Closing => seen.may_return(&row, (host, node, now)),
            Phase::Closed => Ok(()),
        };
        if let Err((check, what)) = verdict {
            let what = format!("{what}: {host} at {:?}, {row:?}", self.began.elapsed());
            seen.broken.get_or_insert(Broken { check, what });
        }
    }

    fn patience(&self) -> Duration {
        match self.is_troubled {
            true => KNOWN_WITHIN_IN_TROUBLE,
            false => KNOWN_WITHIN,
        }
    }

    /// What a host does.
    async fn answers(&self, host: &str) -> bool {
        let took = *self.dice.lock().unwrap().pick(&[1, 5, 20, 80, 300]);
        sleep(Duration::from_millis(took)).await;
        !self.down.lock().unwrap().contains(host)
    }
}

type Judged = Result<(), (&'static str, &'static str)>;

impl Seen {
    /// A host that is left alone is called only by who cannot know it yet.
    fn may_call_open(&mut self, row: &Breaker, at: (&str, Instant), patience: Duration) -> Judged {
        let (host, now) = at;
        // The row as it is says when it opened; how long ago that is counts from when it was first seen so.
        let opening = (row.opened_at, row.times);
        let known = self.opened.get(host).filter(|(known, _)| *known == opening);
        let since = known.map_or(now, |(_, since)| *since);
        self.opened.insert(host.to_owned(), (opening, since));
        match now - since <= patience {
            true => Ok(()),
            false => Err((
                "an open host gets only the call that tries it",
                "it is called",
            )),
        }
    }

    fn may_return(&mut self, row: &Breaker, at: (&str, NodeId, Instant)) -> Judged {
        let (host, node, now) = at;
        let known = self.closing.get(host).filter(|(rev, _)| *rev == row.rev);
        let since = known.map_or(now, |(_, since)| *since);
        self.closing.insert(host.to_owned(), (row.rev, since));
        let others = self
            .in_flight
            .values()
            .filter(|(other, by, began)| other == host && *by == node && *began >= since);
        let doublings = (now - since).as_secs() / RAMP_DOUBLES_EVERY.as_secs();
        let most = RAMP_FIRST << doublings.min(10);
        match u32::try_from(others.count()).unwrap() < most {
            true => Ok(()),
            false => Err(("calls return by the ramp", "too many at once")),
        }
    }
}

/// A process.
struct Process {
    town: Arc<Town>,
    is_dead: AtomicBool,
    node: Mutex<Option<NodeId>>,
}

impl Process {
    /// Nothing goes on in a process that is dead.
    async fn alive(&self) {
        if self.is_dead.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }

    fn trouble(&self, per_mille: u32) -> bool {
        self.town.has_trouble_now.load(Ordering::Relaxed)
            && self.town.dice.lock().unwrap().chance(per_mille)
    }
}

struct OfProcess(Arc<Process>);

#[async_trait]
impl Faults for OfProcess {
    async fn commit(&self, moment: Moment, _: &Batch) -> Verdict {
        self.0.alive().await;
        match moment == Moment::Arrived && self.0.trouble(40) {
            true => Verdict::Refuse(NotWritten::Unavailable),
            false => Verdict::Go,
        }
    }

    async fn read(&self, _: &'static str) -> Result<(), ReadError> {
        self.0.alive().await;
        match self.0.trouble(20) {
            true => Err(ReadError::Unavailable("it is made to fail".into())),
            false => Ok(()),
        }
    }

    async fn news(&self, news: News) -> Option<News> {
        self.0.alive().await;
        (!self.0.trouble(500)).then_some(news)
    }
}

struct Targets(Arc<Process>);

#[async_trait]
impl Caller for Targets {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        self.0.alive().await;
        let town = &self.0.town;
        let host = request.url.split('/').nth(2).unwrap_or_default().to_owned();
        let node = self
            .0
            .node
            .lock()
            .unwrap()
            .unwrap_or(NodeId::from_bytes([0; 16]));
        town.arrives(&host, node);
        let number = {
            let mut seen = town.seen.lock().unwrap();
            seen.calls += 1;
            let number = seen.calls;
            let call = (host.clone(), node, Instant::now());
            seen.in_flight.insert(number, call);
            number
        };
        let is_up = town.answers(&host).await;
        town.seen.lock().unwrap().in_flight.remove(&number);
        self.0.alive().await;
        if is_up {
            let output = Json::parse("{\"status\":200,\"headers\":{},\"body\":{}}").unwrap();
            return Ok(HttpAnswer::new(200, output));
        }
        let header = |name: &str| {
            let found = request.headers.iter().find(|(given, _)| given == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let execution = header("X-Refire-Execution").parse().unwrap();
        let mut seen = town.seen.lock().unwrap();
        *seen.failed_of.entry(execution).or_default() += 1;
        Err(Failure::new(ErrorClass::ConnectionRefused, "it refuses"))
    }
}

struct TownClock(Arc<Town>);

impl Clock for TownClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

struct TownEntropy(Arc<Town>);

impl Entropy for TownEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.dice.lock().unwrap().fill(bytes);
    }
}

const HOSTS: [&str; 2] = ["h0.example", "h1.example"];

/// Workflows that call one host, both, or one from a template. Nothing is given up for long.
fn sources() -> [String; 3] {
    let retry = "retry: { maxRetries: 10, initialDelay: 300ms, strategy: fixed, jitter: none }";
    let step = |id: &str, url: &str| {
        format!(
            "  - {{ id: {id}, type: http, config: {{ method: POST, url: \"{url}\", timeout: 2s }} }}\n"
        )
    };
    let one = step("a", "https://h0.example/a");
    let both = one.clone() + &step("b", "https://h1.example/b");
    let any = step("a", "https://${input.host}/a");
    [("one", one), ("both", both), ("any", any)]
        .map(|(id, steps)| format!("id: {id}\n{retry}\nsteps:\n{steps}"))
}

/// Plays a world to its end; how often a host was tried.
pub(crate) fn play(seed: u64) -> Result<usize, Broken> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let played = runtime.block_on(run(seed));
    runtime.shutdown_background();
    played
}

async fn start(town: &Arc<Town>, disk: &Arc<Disk>) -> (Arc<Process>, Arc<Engine>) {
    loop {
        let process = Arc::new(Process {
            town: Arc::clone(town),
            is_dead: AtomicBool::new(false),
            node: Mutex::default(),
        });
        let faults = Arc::new(OfProcess(Arc::clone(&process)));
        let store: Arc<dyn Store> = Arc::new(disk.open(faults));
        let node = NodeSettings {
            lease: LEASE,
            ..NodeSettings::default()
        };
        let builder = Engine::builder(store)
            .clock(Arc::new(TownClock(Arc::clone(town))))
            .entropy(Arc::new(TownEntropy(Arc::clone(town))))
            .caller(Arc::new(Targets(Arc::clone(&process))))
            .node(node)
            .commit_on_runtime();
        if let Ok(engine) = builder.start().await {
            *process.node.lock().unwrap() = Some(engine.node());
            return (process, engine);
        }
        sleep(Duration::from_millis(200)).await;
    }
}

async fn run(seed: u64) -> Result<usize, Broken> {
    let mut dice = Dice::new(seed, "outage");
    let is_troubled = dice.chance(400);
    let town = Arc::new(Town {
        dice: Mutex::new(Dice::new(seed, "town")),
        began: Instant::now(),
        disk: Mutex::default(),
        down: Mutex::default(),
        is_troubled,
        has_trouble_now: AtomicBool::new(false),
        seen: Mutex::default(),
    });
    let clock = Arc::clone(&town);
    let disk = Disk::shared(Arc::new(move || clock.now()));
    *town.disk.lock().unwrap() = Some(Arc::clone(&disk));
    let count = *dice.pick(&[1, 2, 2, 3]);
    let mut nodes = Vec::new();
    for _ in 0..count {
        nodes.push(start(&town, &disk).await);
    }
    for source in sources() {
        let saved = nodes[0].1.definitions().apply(&source, None, "test").await;
        saved.unwrap_or_else(|error| panic!("{error:?}"));
    }
    town.has_trouble_now.store(is_troubled, Ordering::Relaxed);
    let ids = trouble(&town, &disk, (&mut nodes, &mut dice)).await;
    town.has_trouble_now.store(false, Ordering::Relaxed);
    town.down.lock().unwrap().clear();
    let (_, engine) = &nodes[0];
    settle(&town, engine, &ids).await;
    let seen = town.seen.lock().unwrap();
    match &seen.broken {
        Some(broken) => Err(broken.clone()),
        None => Ok(seen.tried.len()),
    }
}

/// A node: its process, and its engine.
type Node = (Arc<Process>, Arc<Engine>);

/// Hosts go down and come back, nodes die and others come, and people start executions all the time.
async fn trouble(
    town: &Arc<Town>,
    disk: &Arc<Disk>,
    (nodes, dice): (&mut Vec<Node>, &mut Dice),
) -> Vec<ExecutionId> {
    let mut ids = Vec::new();
    let kills = dice.chance(400);
    for _ in 0..dice.between(30, 60) {
        match dice.below(10) {
            0..3 => {
                let host = (*dice.pick(&HOSTS)).to_owned();
                town.down.lock().unwrap().insert(host);
            }
            3 => town.down.lock().unwrap().clear(),
            4 if kills && nodes.len() > 1 => {
                let dead = usize::try_from(dice.below(nodes.len() as u64)).unwrap();
                nodes[dead].0.is_dead.store(true, Ordering::Relaxed);
                nodes[dead] = start(town, disk).await;
            }
            _ => {
                let name = *dice.pick(&["one", "one", "both", "any"]);
                let (host, by) = (*dice.pick(&HOSTS), dice.below(nodes.len() as u64));
                let engine = &nodes[usize::try_from(by).unwrap()].1;
                for _ in 0..dice.between(1, 12) {
                    let input = Json::parse(format!("{{\"host\":\"{host}\"}}")).unwrap();
                    let wish = Submission::manual(name.parse().unwrap(), input);
                    if let Ok(Accepted::New { id, .. }) = engine.executions().submit(wish).await {
                        ids.push(id);
                    }
                }
            }
        }
        let pause = *dice.pick(&[50, 500, 2_000, 8_000, 20_000]);
        sleep(Duration::from_millis(pause)).await;
    }
    ids
}

/// All is well: everything must come to its end.
async fn settle(town: &Town, engine: &Engine, ids: &[ExecutionId]) {
    let until = Instant::now() + ENDS_WITHIN;
    for id in ids {
        loop {
            let stored = engine.store().execution(*id).await.unwrap().unwrap();
            if stored.state.status.is_terminal() {
                break;
            }
            if Instant::now() > until {
                let what = format!("{id} is {:?}, {:?}", stored.state.status, stored.work);
                return town.breaks("everything comes to its end", what);
            }
            sleep(Duration::from_millis(500)).await;
        }
        let log = engine.executions().log(*id).await.unwrap();
        let failed = log
            .iter()
            .filter(|event| event.kind.name() == "STEP_FAILED");
        let calls = town.seen.lock().unwrap().failed_of.get(id).copied();
        let failed = u32::try_from(failed.count()).unwrap();
        if failed > calls.unwrap_or(0) {
            let what = format!("{id} has {failed} failures and {calls:?} calls that failed");
            return town.breaks("every failure is a call", what);
        }
    }
    for host in HOSTS {
        while town
            .breaker(host)
            .is_some_and(|row| row.phase != Phase::Closed)
        {
            // Nobody tries a host that nothing is due for.
            let is_waiting = town
                .breaker(host)
                .is_some_and(|row| row.phase == Phase::Open);
            if is_waiting {
                break;
            }
            if Instant::now() > until {
                return town.breaks("every breaker closes", format!("{:?}", town.breaker(host)));
            }
            sleep(Duration::from_secs(1)).await;
        }
    }
}
