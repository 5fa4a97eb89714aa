//! B4, timers: how late the target hears of what was due, while very many other timers wait, and
//! what all of them cost while nothing is due.

use std::sync::atomic::{AtomicI64, Ordering};

use refire_core::time::Timestamp;
use refire_store::Store;

use crate::prelude::*;

const REPEATS: usize = 3;
/// Timers that wait and are not due while this runs.
const PENDING: usize = 100_000;
/// The first of them is due then, the others after it.
const PENDING_FROM: Duration = Duration::from_secs(3_600);
/// Timers that come due.
const DUE: usize = 10_000;
/// The time over which they do.
const OVER: Duration = Duration::from_secs(10);
/// Between two such windows.
const BETWEEN: Duration = Duration::from_secs(2);
/// When the first window of near timers opens: those are in memory from their beginning.
const NEAR: Duration = Duration::from_secs(2);
/// When the first window of far ones opens: those are in the store alone for a while.
const FAR: Duration = Duration::from_secs(36);
/// How long the idle process is watched.
const IDLE: Duration = Duration::from_secs(10);
/// How late timers may be.
const LATENESS: Lateness = Lateness {
    p50_ms: Some(2.0),
    p99_ms: 10.0,
};
/// Rest before that, for what is still under way.
const SETTLE: Duration = Duration::from_secs(2);

/// When each numbered call was due and when it arrived, in microseconds since 1970.
struct Times {
    due: Vec<AtomicI64>,
    arrived: Vec<AtomicI64>,
}

/// Goals of lateness.
#[derive(Clone, Copy)]
pub(crate) struct Lateness {
    /// Of half of the timers, where that is a goal.
    pub(crate) p50_ms: Option<f64>,
    /// Of all but one in a hundred.
    pub(crate) p99_ms: f64,
}

/// Prints `B4`.
pub(crate) async fn report() -> anyhow::Result<()> {
    let clock = Arc::new(SystemClock::new());
    let dir = place::fresh()?;
    let below = embedded::sqlite(dir.path(), &clock)?;
    lateness("B4", &clock, LATENESS, below).await
}

/// Measures an engine on a store.
pub(crate) async fn lateness(
    table: &'static str,
    clock: &Arc<SystemClock>,
    goals: Lateness,
    below: Arc<dyn Store>,
) -> anyhow::Result<()> {
    let numbers = 2 * REPEATS * DUE;
    let moments = || (0..numbers).map(|_| AtomicI64::new(0)).collect();
    let times = Arc::new(Times {
        due: moments(),
        arrived: moments(),
    });
    let (heard, now) = (Arc::clone(&times), Arc::clone(clock));
    let target = Target::start_and_tell(Manner::AtOnce, move |body| {
        let arrived = embedded::number(body).and_then(|number| heard.arrived.get(number));
        if let Some(arrived) = arrived {
            arrived.store(now.now().as_micros(), Ordering::Relaxed);
        }
    });
    let target = target.await?;
    let (own, limits) = (Arc::clone(clock), Limits::default());
    let embedded = Embedded::start_on(below, own, &target.workflow(), None, limits).await?;
    let filled = fill(&embedded).await?;
    say(format_args!(
        "timers: {PENDING} wait; far ones are due in {FAR:?}"
    ));
    windows(&embedded, clock, &times, 0, FAR).await?;
    idle(table, filled).await?;
    fired(&target, REPEATS * DUE).await?;
    print(table, "far", &times, 0, goals)?;
    say(format_args!("timers: near ones are due in {NEAR:?}"));
    windows(&embedded, clock, &times, REPEATS, NEAR).await?;
    fired(&target, 2 * REPEATS * DUE).await?;
    print(table, "near", &times, REPEATS, goals)?;
    embedded.stop().await;
    Ok(())
}

/// Submits those that only wait; how many per second.
async fn fill(embedded: &Embedded) -> anyhow::Result<f64> {
    let began = Instant::now();
    for chunk in 0..PENDING / TOGETHER {
        let many = (0..TOGETHER).map(|n| {
            let later = Duration::from_millis((chunk * TOGETHER + n) as u64);
            embedded.submission(usize::MAX >> 32, Some(PENDING_FROM + later))
        });
        embedded.submit_all(many.collect()).await?;
    }
    Ok(PENDING as f64 / began.elapsed().as_secs_f64())
}

/// Submits the timers of all windows of one kind.
async fn windows(
    embedded: &Embedded,
    clock: &SystemClock,
    times: &Times,
    first: usize,
    opens: Duration,
) -> anyhow::Result<()> {
    let opens = clock.now().plus(opens);
    for window in first..first + REPEATS {
        let nth = u32::try_from(window - first)?;
        let opens = opens.plus((OVER + BETWEEN) * nth);
        for chunk in 0..DUE / TOGETHER {
            let now = clock.now();
            let many = (chunk * TOGETHER..(chunk + 1) * TOGETHER).map(|n| {
                let due = opens.plus(OVER.mul_f64(n as f64 / DUE as f64));
                embedded.submission(window * DUE + n, Some(due.since(now)))
            });
            let accepted = embedded.submit_all(many.collect()).await?;
            for (n, one) in accepted.iter().enumerate() {
                let number = window * DUE + chunk * TOGETHER + n;
                times.due[number].store(due(one)?.as_micros(), Ordering::Relaxed);
            }
        }
    }
    Ok(())
}

/// When the execution's step is due, as recorded.
fn due(accepted: &refire_engine::Accepted) -> anyhow::Result<Timestamp> {
    let refire_engine::Accepted::New { state, .. } = accepted else {
        anyhow::bail!("a new execution was taken for another");
    };
    let due = state.steps.iter().find_map(|(_, step)| step.due_at);
    due.ok_or_else(|| anyhow::anyhow!("a delayed step has no due time"))
}

/// Processor time while everything waits.
async fn idle(table: &str, filled: f64) -> anyhow::Result<()> {
    tokio::time::sleep(SETTLE).await;
    let own = std::process::id();
    let before = machine::cpu_time(own)?;
    tokio::time::sleep(IDLE).await;
    let used = machine::cpu_time(own)? - before;
    Line::new(table, "idle")
        .word("pending", PENDING)
        .figure(
            "cpu_percent",
            &(used.as_secs_f64() / IDLE.as_secs_f64() * 100.0).into(),
        )
        .figure("fill_s", &filled.into())
        .figure("rss_mb", &machine::rss_mb(own)?.into())
        .goal("cpu_percent", Goal::Below(1.0))
        .print();
    Ok(())
}

async fn fired(target: &Target, count: usize) -> anyhow::Result<()> {
    embedded::until(|| target.calls() >= count as u64).await
}

/// A call may arrive this much before its time, in milliseconds: the clocks of the store and of the
/// measurement agree no better.
const EARLY_MAX_MS: f64 = 2.0;

fn print(
    table: &str,
    kind: &str,
    times: &Times,
    first: usize,
    goals: Lateness,
) -> anyhow::Result<()> {
    let mut latency = Latency::default();
    let mut slowest = Repeats::default();
    let mut earliest = Repeats::default();
    for window in first..first + REPEATS {
        let mut waits = Waits::default();
        let mut early = Duration::ZERO;
        for number in window * DUE..(window + 1) * DUE {
            let at = |moments: &[AtomicI64]| {
                Timestamp::from_micros(moments[number].load(Ordering::Relaxed))
            };
            let (arrived, due) = (at(&times.arrived), at(&times.due));
            waits.add(arrived.since(due));
            // What comes too early is not late, and must not pass for punctual.
            early = early.max(due.since(arrived));
        }
        earliest.add(early.as_secs_f64() * 1_000.0);
        latency.add(&waits);
        slowest.add(waits.percentile_ms(1.0));
    }
    let line = Line::new(table, "lateness")
        .word("timers", kind)
        .word("pending", PENDING)
        .word("due", DUE)
        .word("over_s", OVER.as_secs())
        .latency(&latency)
        .figure("max_ms", &slowest)
        .figure("early_max_ms", &earliest)
        .figure("rss_mb", &machine::rss_mb(std::process::id())?.into())
        .goal("early_max_ms", Goal::Below(EARLY_MAX_MS))
        .goal("p99_ms", Goal::Below(goals.p99_ms));
    match goals.p50_ms {
        Some(p50_ms) => line.goal("p50_ms", Goal::Below(p50_ms)).print(),
        None => line.print(),
    }
    Ok(())
}
