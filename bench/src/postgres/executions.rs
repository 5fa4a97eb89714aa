//! One-step executions by 64 callers, on one node and on three, by turns with pgbench.

use std::sync::Arc;
use std::time::{Duration, Instant};

use refire_engine::limit::Limits;
use refire_store::postgres::Scratch;

use super::baseline::Baseline;
use super::node;
use crate::embedded::{AtOnce, Embedded};
use crate::executions::submit_for;
use crate::line::{Goal, Line};
use crate::machine;
use crate::progress::say;
use crate::sample::{Latency, Repeats, Waits};
use crate::target;

const REPEATS: usize = 5;
/// How long the callers go on, and pgbench.
const FOR: Duration = Duration::from_secs(5);
/// Callers at once, and clients of pgbench.
const CALLERS: [usize; 2] = [64, 1];
/// The most of them: where the goal is set.
const MANY: usize = 64;
const NODES: [usize; 2] = [1, 3];
const NOWHERE: &str = "https://target.example/";

#[derive(Default)]
struct Series {
    admitted_s: Repeats,
    completed_s: Repeats,
    latency: Latency,
    cpu_us: Repeats,
    tps: Repeats,
    ratio: Repeats,
}

pub(crate) async fn report() -> anyhow::Result<()> {
    let for_baseline = Scratch::new();
    let baseline = Baseline::prepare(&for_baseline.url())?;
    for callers in CALLERS {
        for nodes in NODES {
            let mut series = Series::default();
            for repeat in 1..=REPEATS {
                say(format_args!(
                    "postgres: {callers} callers, {nodes} nodes, {repeat} of {REPEATS}"
                ));
                let tps = tokio::task::block_in_place(|| baseline.tps(callers, FOR))?;
                measure(callers, nodes, tps, &mut series).await?;
            }
            print(callers, nodes, &series);
        }
    }
    Ok(())
}

fn print(callers: usize, nodes: usize, series: &Series) {
    let mut line = Line::new("PG", "executions")
        .word("callers", callers)
        .word("nodes", nodes)
        .figure("admitted_s", &series.admitted_s)
        .figure("completed_s", &series.completed_s)
        .latency(&series.latency)
        .figure("cpu_us", &series.cpu_us)
        .figure("pgbench_tps", &series.tps)
        .figure("ratio", &series.ratio);
    if callers == MANY {
        line = line.goal("ratio", Goal::AtLeast(2.0));
    }
    line.print();
}

async fn measure(
    callers: usize,
    count: usize,
    tps: f64,
    series: &mut Series,
) -> anyhow::Result<()> {
    let scratch = Scratch::new();
    let mut nodes: Vec<Embedded> = Vec::with_capacity(count);
    for _ in 0..count {
        let caller = Arc::new(AtOnce::new());
        let workflow = target::workflow(NOWHERE);
        nodes.push(node(&scratch, &workflow, Some(caller), Limits::default()).await?);
    }
    let own = std::process::id();
    let (cpu, began) = (machine::cpu_time(own)?, Instant::now());
    let tasks: Vec<_> = (0..callers)
        .map(|caller| {
            let node = &nodes[caller % nodes.len()];
            let submission = node.submission(caller, None);
            tokio::spawn(submit_for(Arc::clone(&node.engine), submission, FOR))
        })
        .collect();
    let mut waits = Waits::default();
    for task in tasks {
        waits.extend(task.await??);
    }
    let all = waits.len() as f64;
    let admitted_s = all / began.elapsed().as_secs_f64();
    let ended = || {
        nodes
            .iter()
            .map(|node| node.store.counts().ended)
            .sum::<u64>()
    };
    crate::embedded::until(|| ended() >= waits.len() as u64).await?;
    series.completed_s.add(all / began.elapsed().as_secs_f64());
    series.admitted_s.add(admitted_s);
    series.latency.add(&waits);
    let cpu = machine::cpu_time(own)? - cpu;
    series.cpu_us.add(cpu.as_secs_f64() * 1e6 / all);
    series.tps.add(tps);
    series.ratio.add(admitted_s / tps);
    for node in nodes {
        node.stop().await;
    }
    Ok(())
}
