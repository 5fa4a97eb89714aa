//! Very many triggers of one server: what they cost while none is due, and how soon ten thousand
//! that are due in the same second have all begun.

use std::collections::HashSet;
use std::path::Path;

use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;
use refire_store::Store;
use refire_store::postgres::Scratch;
use tokio::task::JoinSet;

use crate::postgres;
use crate::prelude::*;
use crate::process::Server;

const REPEATS: u32 = 3;
/// Triggers of the server.
pub(crate) const TRIGGERS: usize = 100_000;
/// Those that are due in the same second.
pub(crate) const DUE: usize = 10_000;
/// How often those are due.
const EVERY: Duration = Duration::from_secs(45);
/// From making them to the first time, so that the server is up and has been watched.
const FIRST_IN: Duration = Duration::from_secs(50);
/// The idle server is watched for so long.
const IDLE: Duration = Duration::from_secs(20);
/// It is left alone for so long before that, and so long before they are due again.
const SETTLE: Duration = Duration::from_secs(15);
/// Triggers that are being made at once.
const MAKERS: usize = 256;
/// Months are this long on average, in milliseconds.
const MONTH_MS: i64 = 2_629_800_000;
/// Calls that came so much before their time came too early, in milliseconds: the clocks of the
/// server and of the measurement agree no better.
const EARLY_MAX_MS: f64 = 2.0;

/// The number of a trigger and when its call arrived, in microseconds since 1970.
type Arrivals = Arc<Mutex<Vec<(usize, i64)>>>;

/// Prints `cron` on SQLite.
pub(crate) async fn report() -> anyhow::Result<()> {
    let (dir, clock) = (place::fresh()?, Arc::new(SystemClock::new()));
    let below = embedded::sqlite(dir.path(), &clock)?;
    measure("sqlite", &clock, below, dir.path(), None).await
}

/// Prints `cron` on PostgreSQL.
pub(crate) async fn on_postgres() -> anyhow::Result<()> {
    let (dir, clock) = (place::fresh()?, Arc::new(SystemClock::new()));
    let scratch = Scratch::new();
    let below = postgres::open(&scratch).await?;
    measure("postgres", &clock, below, dir.path(), Some(&scratch.url())).await
}

async fn measure(
    store: &str,
    clock: &Arc<SystemClock>,
    below: Arc<dyn Store>,
    dir: &Path,
    database: Option<&str>,
) -> anyhow::Result<()> {
    let arrivals = Arrivals::default();
    let (heard, now) = (Arc::clone(&arrivals), Arc::clone(clock));
    let target = Target::start_and_tell(Manner::AtOnce, move |body| {
        let at = now.now().as_micros();
        let mut heard = locked(&heard);
        heard.extend(embedded::number(body).map(|number| (number, at)));
    });
    let target = target.await?;
    // Made by an engine in this process, which leaves before the server comes.
    let (own, limits) = (Arc::clone(clock), Limits::default());
    let maker = Embedded::start_on(below, own, &target.workflow(), None, limits).await?;
    let (first, made_s) = make_all(&maker, clock, FIRST_IN, EVERY).await?;
    maker.stop().await;
    let server = Server::start(dir, database)?;
    let (mut idle, mut bursts) = (Repeats::default(), Bursts::default());
    let what = format_args!("cron on {store}: {TRIGGERS} triggers");
    for repeat in repeats(REPEATS, what) {
        let due = first.plus(EVERY * repeat);
        idle.add(watch(&server, clock, due).await?);
        bursts.add(&arrivals, clock, due).await?;
    }
    Line::new("cron", "idle")
        .word("store", store)
        .word("triggers", TRIGGERS)
        .figure("cpu_percent", &idle)
        .figure("made_s", &made_s.into())
        .figure("rss_mb", &server.process.rss_mb()?.into())
        .goal("cpu_percent", Goal::Below(5.0))
        .print();
    bursts.print(store, &server)
}

/// Processor time in percent of a core over [`IDLE`], which ends a while before they are due.
async fn watch(server: &Server, clock: &SystemClock, due: Timestamp) -> anyhow::Result<f64> {
    let begin = due.minus(SETTLE / 3).minus(IDLE);
    let wait = begin.since(clock.now());
    anyhow::ensure!(
        !wait.is_zero(),
        "making the triggers or working them off took too long to watch the idle server"
    );
    tokio::time::sleep(wait).await;
    let before = server.process.cpu_time()?;
    tokio::time::sleep(IDLE).await;
    let used = server.process.cpu_time()? - before;
    Ok(used.as_secs_f64() / IDLE.as_secs_f64() * 100.0)
}

/// What was seen when they were due.
#[derive(Default)]
struct Bursts {
    first_ms: Repeats,
    all_ms: Repeats,
    early_ms: Repeats,
    latency: Latency,
}

impl Bursts {
    /// Waits until all have begun that are due then.
    async fn add(
        &mut self,
        arrivals: &Arrivals,
        clock: &SystemClock,
        due: Timestamp,
    ) -> anyhow::Result<()> {
        let seen = || std::mem::take(&mut *locked(arrivals));
        tokio::time::sleep(due.since(clock.now())).await;
        let mut all = Vec::with_capacity(DUE);
        embedded::until(|| {
            all.extend(seen());
            all.len() >= DUE
        })
        .await?;
        // Whatever begins twice does so soon.
        tokio::time::sleep(SETTLE / 3).await;
        all.extend(seen());
        let numbers: HashSet<usize> = all.iter().map(|(number, _)| *number).collect();
        anyhow::ensure!(
            numbers.len() == DUE && all.len() == DUE,
            "{} triggers began {} times, not {DUE} once each",
            numbers.len(),
            all.len()
        );
        let (mut waits, mut early) = (Waits::default(), Duration::ZERO);
        for (_, at) in all {
            let at = Timestamp::from_micros(at);
            waits.add(at.since(due));
            early = early.max(due.since(at));
        }
        self.first_ms.add(waits.percentile_ms(0.0));
        self.all_ms.add(waits.percentile_ms(1.0));
        self.early_ms.add(early.as_secs_f64() * 1_000.0);
        self.latency.add(&waits);
        Ok(())
    }

    fn print(&self, store: &str, server: &Server) -> anyhow::Result<()> {
        Line::new("cron", "burst")
            .word("store", store)
            .word("triggers", TRIGGERS)
            .word("due", DUE)
            .figure("all_ms", &self.all_ms)
            .figure("first_ms", &self.first_ms)
            .latency(&self.latency)
            .figure("early_max_ms", &self.early_ms)
            .figure("rss_mb", &server.process.rss_mb()?.into())
            .goal("all_ms", Goal::Below(5_000.0))
            .goal("first_ms", Goal::Below(50.0))
            .goal("early_max_ms", Goal::Below(EARLY_MAX_MS))
            .print();
        Ok(())
    }
}

/// What a trigger's settings can say.
fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.as_micros() / 1_000_000 * 1_000_000)
}

/// Triggers that are due once a year, half a year from now, at different minutes.
fn later(now: Timestamp) -> impl Fn(usize) -> String {
    let month = (now.as_micros() / 1_000 / MONTH_MS + 6) % 12 + 1;
    move |n| {
        let (minute, hour, day) = (n % 60, n / 60 % 24, n / 1_440 % 28 + 1);
        format!(
            r#"{{"trigger_type":"cron","cron_expression":"{minute} {hour} {day} {month} *","timezone":"Asia/Taipei","input":{{"number":{n}}}}}"#
        )
    }
}

/// Triggers that are all due at this moment, and then again and again.
fn often(first: Timestamp, every: Duration) -> impl Fn(usize) -> String {
    move |n| {
        format!(
            r#"{{"trigger_type":"schedule","every":"{}s","anchor":"{first}","start":"{first}","input":{{"number":{n}}}}}"#,
            every.as_secs()
        )
    }
}

/// Makes all triggers; when some of them are due first, and how many were made per second.
pub(crate) async fn make_all(
    maker: &Embedded,
    clock: &SystemClock,
    first_in: Duration,
    every: Duration,
) -> anyhow::Result<(Timestamp, f64)> {
    let began = Instant::now();
    make(maker, later(clock.now()), TRIGGERS - DUE).await?;
    let first = whole_second(clock.now().plus(first_in));
    make(maker, often(first, every), DUE).await?;
    Ok((first, TRIGGERS as f64 / began.elapsed().as_secs_f64()))
}

/// Makes triggers, many at once.
async fn make(
    maker: &Embedded,
    settings: impl Fn(usize) -> String,
    count: usize,
) -> anyhow::Result<()> {
    async fn one(engine: Arc<Engine>, workflow: WorkflowId, text: String) -> anyhow::Result<()> {
        engine.triggers().create(&workflow, &text).await?;
        Ok(())
    }
    let mut under_way = JoinSet::new();
    for n in 0..count {
        if under_way.len() >= MAKERS
            && let Some(made) = under_way.join_next().await
        {
            made??;
        }
        let (engine, workflow) = (Arc::clone(&maker.engine), maker.workflow.clone());
        under_way.spawn(one(engine, workflow, settings(n)));
    }
    for made in under_way.join_all().await {
        made?;
    }
    Ok(())
}
