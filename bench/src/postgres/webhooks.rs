//! Signed requests to a webhook of the real server on PostgreSQL, by turns with pgbench.

use refire_store::postgres::Scratch;

use super::baseline::Baseline;
use crate::load::Client;
use crate::prelude::*;
use crate::series::{Ask, Series};
use crate::webhooks::measure;

const REPEATS: u32 = 3;
/// How long pgbench goes on.
const FOR: Duration = Duration::from_secs(3);
const CONNECTIONS: usize = 64;
/// Requests per second that are the goal.
const GOAL: f64 = 4_000.0;

/// Prints `PG webhook`.
pub(crate) async fn report() -> anyhow::Result<()> {
    let client = Client::best();
    let for_baseline = Scratch::new();
    let baseline = Baseline::prepare(&for_baseline.url())?;
    for (runs, keys) in [(true, false), (false, false), (true, true)] {
        let ask = Ask::new(CONNECTIONS, runs, keys);
        let (mut series, mut tps) = (Series::default(), Repeats::default());
        let work = ask.work();
        let what = format_args!("postgres: {CONNECTIONS} connections to a webhook, {work}");
        for _ in repeats(REPEATS, what) {
            let limit = tokio::task::block_in_place(|| baseline.tps(CONNECTIONS, FOR))?;
            let scratch = Scratch::new();
            let taken = measure(client, ask, Some(&scratch.url()), &mut series).await?;
            tps.add(limit);
            series.ratio.add(taken / limit);
        }
        let line = Line::new("PG", "webhook")
            .word("c", CONNECTIONS)
            .word("work", work)
            .word("keys", if keys { "unique" } else { "none" });
        ask.line(line, client, ("pgbench_tps", &tps), &series)
            .goal("req_s", Goal::AtLeast(GOAL))
            .goal("errors", Goal::Below(1.0))
            .print();
    }
    Ok(())
}
