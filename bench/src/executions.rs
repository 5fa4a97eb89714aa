//! B2, executions admitted and completed together with the engine inside the program: what each
//! caller waits for, and how often an execution is written.

use std::sync::Arc;
use std::time::{Duration, Instant};

use refire_engine::{Engine, Submission};

use crate::embedded::{AtOnce, Embedded};
use crate::line::{Goal, Line};
use crate::machine;
use crate::progress::say;
use crate::sample::{Latency, Repeats, Waits};
use crate::target::{self, Manner, Target};

const REPEATS: usize = 3;
/// How long the callers go on.
const FOR: Duration = Duration::from_secs(2);
/// Callers at once.
const CALLERS: [usize; 3] = [1, 16, 64];
/// The most callers: where the goal is set.
const MANY: usize = 64;
const NOWHERE: &str = "https://target.example/";

/// Where the calls of executions go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// Nowhere: what is left is the engine.
    None,
    /// To a target on this machine, over HTTP.
    Http,
}

impl Calls {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Http => "http",
        }
    }
}

#[derive(Default)]
struct Series {
    admitted_s: Repeats,
    completed_s: Repeats,
    latency: Latency,
    commits: Repeats,
    fsyncs: Repeats,
    cpu_us: Repeats,
}

/// Prints `B2 executions`.
pub(crate) async fn report() -> anyhow::Result<()> {
    let target = Target::start(Manner::AtOnce).await?;
    for callers in CALLERS {
        let mut without = Series::default();
        let mut over_http = Series::default();
        for repeat in 1..=REPEATS {
            for (calls, series) in [(Calls::None, &mut without), (Calls::Http, &mut over_http)] {
                let name = calls.name();
                say(format_args!(
                    "executions: {callers} callers, calls {name}, {repeat} of {REPEATS}"
                ));
                measure(callers, calls, &target, series).await?;
            }
        }
        print(callers, Calls::None, &without)?;
        print(callers, Calls::Http, &over_http)?;
    }
    Ok(())
}

fn print(callers: usize, calls: Calls, series: &Series) -> anyhow::Result<()> {
    let mut line = Line::new("B2", "executions")
        .word("callers", callers)
        .word("calls", calls.name())
        .figure("completed_s", &series.completed_s)
        .figure("admitted_s", &series.admitted_s)
        .latency(&series.latency)
        .figure("cpu_us", &series.cpu_us)
        .figure("commits_per_execution", &series.commits)
        .figure("fsyncs_per_execution", &series.fsyncs)
        .figure("rss_mb", &machine::rss_mb(std::process::id())?.into())
        .goal("commits_per_execution", Goal::Below(2.01));
    if callers == MANY {
        line = line.goal("completed_s", Goal::AtLeast(8_000.0));
    }
    line.print();
    Ok(())
}

async fn measure(
    callers: usize,
    calls: Calls,
    target: &Target,
    series: &mut Series,
) -> anyhow::Result<()> {
    let embedded = match calls {
        Calls::None => {
            let caller = Arc::new(AtOnce::new());
            Embedded::start(&target::workflow(NOWHERE), Some(caller)).await?
        }
        Calls::Http => Embedded::start(&target.workflow(), None).await?,
    };
    let own = std::process::id();
    let (before, cpu) = (embedded.store.counts(), machine::cpu_time(own)?);
    let began = Instant::now();
    let mut tasks = Vec::new();
    for caller in 0..callers {
        let submission = embedded.submission(caller, None);
        tasks.push(tokio::spawn(submit_for(
            Arc::clone(&embedded.engine),
            submission,
            FOR,
        )));
    }
    let mut waits = Waits::default();
    for task in tasks {
        waits.extend(task.await??);
    }
    let count = waits.len() as f64;
    series.admitted_s.add(count / began.elapsed().as_secs_f64());
    embedded.ended(waits.len() as u64).await?;
    series
        .completed_s
        .add(count / began.elapsed().as_secs_f64());
    series.latency.add(&waits);
    let after = embedded.store.counts();
    let cpu = machine::cpu_time(own)? - cpu;
    series.cpu_us.add(cpu.as_secs_f64() * 1e6 / count);
    series
        .commits
        .add((after.moves - before.moves) as f64 / count);
    series
        .fsyncs
        .add((after.transactions - before.transactions) as f64 / count);
    embedded.stop().await;
    Ok(())
}

/// Submits one after the other, for so long.
pub(crate) async fn submit_for(
    engine: Arc<Engine>,
    submission: Submission,
    wanted: Duration,
) -> anyhow::Result<Waits> {
    let mut waits = Waits::default();
    let began = Instant::now();
    while began.elapsed() < wanted {
        let one = Instant::now();
        engine.executions().submit(submission.clone()).await?;
        waits.add(one.elapsed());
    }
    Ok(waits)
}
