//! B2, executions admitted and completed together with the engine inside the program: what each
//! caller waits for, and how often an execution is written.

use crate::prelude::*;
use crate::watched::Counts;

const REPEATS: u32 = 3;
/// How long the callers go on.
const FOR: Duration = Duration::from_secs(2);
/// Callers at once.
const CALLERS: [usize; 3] = [1, 16, 64];
/// The most callers: where the goal is set.
const MANY: usize = 64;

/// Repeats of callers who submit executions.
#[derive(Default)]
pub(crate) struct Series {
    pub(crate) admitted_s: Repeats,
    pub(crate) completed_s: Repeats,
    pub(crate) latency: Latency,
    commits: Repeats,
    fsyncs: Repeats,
    pub(crate) cpu_us: Repeats,
}

impl Series {
    /// One repeat: so many callers submit to these nodes by turns for so long, and everything ends;
    /// admissions per second.
    pub(crate) async fn add(
        &mut self,
        nodes: Vec<Embedded>,
        callers: usize,
        wanted: Duration,
    ) -> anyhow::Result<f64> {
        let own = std::process::id();
        let counts = || {
            let all = nodes.iter().map(|node| node.store.counts());
            all.fold(Counts::default(), |sum, one| sum + one)
        };
        let (before, cpu) = (counts(), machine::cpu_time(own)?);
        let began = Instant::now();
        let tasks: Vec<_> = (0..callers)
            .map(|caller| {
                let node = &nodes[caller % nodes.len()];
                let submission = node.submission(caller, None);
                tokio::spawn(submit_for(Arc::clone(&node.engine), submission, wanted))
            })
            .collect();
        let mut waits = Waits::default();
        for task in tasks {
            waits.extend(task.await??);
        }
        let all = waits.len() as f64;
        let admitted_s = all / began.elapsed().as_secs_f64();
        embedded::until(|| counts().ended >= waits.len() as u64).await?;
        self.admitted_s.add(admitted_s);
        self.completed_s.add(all / began.elapsed().as_secs_f64());
        self.latency.add(&waits);
        let (after, cpu) = (counts(), machine::cpu_time(own)? - cpu);
        self.cpu_us.add(cpu.as_secs_f64() * 1e6 / all);
        self.commits.add((after.moves - before.moves) as f64 / all);
        let transactions = after.transactions - before.transactions;
        self.fsyncs.add(transactions as f64 / all);
        for node in nodes {
            node.stop().await;
        }
        Ok(admitted_s)
    }
}

/// Prints `B2 executions`.
pub(crate) async fn report() -> anyhow::Result<()> {
    let target = Target::start(Manner::AtOnce).await?;
    for callers in CALLERS {
        let (mut without, mut over_http) = <(Series, Series)>::default();
        for _ in repeats(REPEATS, format_args!("executions: {callers} callers")) {
            let caller = Some(Arc::new(AtOnce::new()) as _);
            let alone = Embedded::start(&target::workflow_to_nowhere(), caller).await?;
            without.add(vec![alone], callers, FOR).await?;
            let calling = Embedded::start(&target.workflow(), None).await?;
            over_http.add(vec![calling], callers, FOR).await?;
        }
        // Without calls, what is left is the engine; the others go to a target on this machine.
        print(callers, "none", &without)?;
        print(callers, "http", &over_http)?;
    }
    Ok(())
}

fn print(callers: usize, calls: &str, series: &Series) -> anyhow::Result<()> {
    let mut line = Line::new("B2", "executions")
        .word("callers", callers)
        .word("calls", calls)
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

/// Submits one after the other, for so long.
async fn submit_for(
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
