//! Signed requests to a webhook of the real server on PostgreSQL, by turns with pgbench.

use std::time::Duration;

use refire_store::postgres::Scratch;

use super::baseline::Baseline;
use crate::line::{Goal, Line};
use crate::load::Client;
use crate::progress::say;
use crate::sample::Repeats;
use crate::series::Series;
use crate::webhooks::{Ask, measure};

const REPEATS: usize = 3;
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
        let ask = Ask {
            connections: CONNECTIONS,
            runs,
            keys,
        };
        let (mut series, mut tps) = (Series::default(), Repeats::default());
        for repeat in 1..=REPEATS {
            say(format_args!(
                "postgres: {CONNECTIONS} connections to a webhook, {}, {repeat} of {REPEATS}",
                ask.work()
            ));
            let limit = tokio::task::block_in_place(|| baseline.tps(CONNECTIONS, FOR))?;
            let scratch = Scratch::new();
            let taken = measure(client, ask, Some(&scratch.url()), &mut series).await?;
            tps.add(limit);
            series.ratio.add(taken / limit);
        }
        let mut line = Line::new("PG", "webhook")
            .word("c", CONNECTIONS)
            .word("work", ask.work())
            .word("keys", if keys { "unique" } else { "none" })
            .figure("req_s", &series.req_s)
            .latency(&series.latency)
            .figure("pgbench_tps", &tps)
            .figure("ratio", &series.ratio);
        if runs {
            line = line.figure("completed_s", &series.completed_s);
        }
        line.figure("cpu_us", &series.cpu_us)
            .figure("rss_mb", &series.rss_mb)
            .figure("errors", &(series.errors as f64).into())
            .word("client", client.name())
            .goal("req_s", Goal::AtLeast(GOAL))
            .goal("errors", Goal::Below(1.0))
            .print();
    }
    Ok(())
}
