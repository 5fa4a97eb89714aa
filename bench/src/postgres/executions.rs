//! One-step executions by 64 callers, on one node and on three, by turns with pgbench.

use refire_store::postgres::Scratch;

use super::baseline::Baseline;
use super::node;
use crate::executions::Series;
use crate::prelude::*;

const REPEATS: u32 = 5;
/// How long the callers go on, and pgbench.
const FOR: Duration = Duration::from_secs(5);
/// Callers at once, and clients of pgbench.
const CALLERS: [usize; 2] = [64, 1];
/// The most of them: where the goal is set.
const MANY: usize = 64;
const NODES: [usize; 2] = [1, 3];

pub(crate) async fn report() -> anyhow::Result<()> {
    let for_baseline = Scratch::new();
    let baseline = Baseline::prepare(&for_baseline.url())?;
    for callers in CALLERS {
        for nodes in NODES {
            let mut series = Series::default();
            let (mut tps, mut ratio) = <(Repeats, Repeats)>::default();
            let what = format_args!("postgres: {callers} callers, {nodes} nodes");
            for _ in repeats(REPEATS, what) {
                let limit = tokio::task::block_in_place(|| baseline.tps(callers, FOR))?;
                tps.add(limit);
                ratio.add(measure(callers, nodes, &mut series).await? / limit);
            }
            print(callers, nodes, &series, &tps, &ratio);
        }
    }
    Ok(())
}

fn print(callers: usize, nodes: usize, series: &Series, tps: &Repeats, ratio: &Repeats) {
    let mut line = Line::new("PG", "executions")
        .word("callers", callers)
        .word("nodes", nodes)
        .figure("admitted_s", &series.admitted_s)
        .figure("completed_s", &series.completed_s)
        .latency(&series.latency)
        .figure("cpu_us", &series.cpu_us)
        .figure("pgbench_tps", tps)
        .figure("ratio", ratio);
    if callers == MANY {
        line = line.goal("ratio", Goal::AtLeast(2.0));
    }
    line.print();
}

/// One repeat; admissions per second.
async fn measure(callers: usize, count: usize, series: &mut Series) -> anyhow::Result<f64> {
    let scratch = Scratch::new();
    let mut nodes: Vec<Embedded> = Vec::with_capacity(count);
    for _ in 0..count {
        let caller = Arc::new(AtOnce::new());
        let workflow = target::workflow_to_nowhere();
        nodes.push(node(&scratch, &workflow, Some(caller), Limits::default()).await?);
    }
    series.add(nodes, callers, FOR).await
}
