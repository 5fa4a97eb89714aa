//! B1, signed requests to a webhook of the real server, answered when their executions are durable,
//! beside the limit: the least that a server could do for them.

use anyhow::Context;

use crate::limit::{self, Work};
use crate::load::{Client, Shot};
use crate::prelude::*;
use crate::process::Server;
use crate::series::{Ask, Series, measure_limit};

const REPEATS: usize = 3;
/// Connections at once, and the requests per second that are the goal.
const CONNECTIONS: [(usize, f64); 3] = [(1, 2_000.0), (16, 13_000.0), (MANY, 20_000.0)];
/// The connections for which goals of latency and memory are set.
const MANY: usize = 64;
/// Connections of a crowd of senders.
const CROWD: usize = 1_000;
/// How long all but one in a hundred requests of a crowd may take, in milliseconds.
const CROWD_P99_MS: f64 = 250.0;
const SIGNATURE: &str = "x-signature";

impl Ask {
    /// `work=runs` in lines.
    pub(crate) fn work(self) -> &'static str {
        if self.runs { "runs" } else { "waits" }
    }

    fn table(self) -> &'static str {
        if self.keys { "B1k" } else { "B1" }
    }

    /// A line of requests to a webhook, beside what was measured by turns with them.
    pub(crate) fn line(
        self,
        line: Line,
        client: Client,
        (beside, limit): (&'static str, &Repeats),
        series: &Series,
    ) -> Line {
        let mut line = line
            .figure("req_s", &series.req_s)
            .latency(&series.latency)
            .figure(beside, limit)
            .figure("ratio", &series.ratio);
        if self.runs {
            line = line.figure("completed_s", &series.completed_s);
        }
        line.figure("cpu_us", &series.cpu_us)
            .figure("rss_mb", &series.rss_mb)
            .figure("errors", &(series.errors as f64).into())
            .word("client", client.name())
    }

    /// The same beside the limit.
    fn line_beside(self, client: Client, limit: &Series, series: &Series) -> Line {
        let line = Line::new(self.table(), "webhook")
            .word("c", self.connections)
            .word("work", self.work());
        self.line(line, client, ("limit_req_s", &limit.req_s), series)
    }
}

/// Prints `B1 webhook` and `B1k webhook`, and the limit of the same turns.
pub(crate) async fn report() -> anyhow::Result<()> {
    let client = Client::best();
    for (connections, goal) in CONNECTIONS {
        let ask = |runs, keys| Ask::new(connections, runs, keys);
        let mut asks = vec![ask(false, false), ask(true, false)];
        if connections == MANY {
            asks.extend([ask(false, true), ask(true, true)]);
        }
        let (limit, all) = by_turns(client, &asks).await?;
        limit.print_limit(client, Work::Rows(6), connections);
        for (ask, series) in asks.iter().zip(&all) {
            let line = ask.line_beside(client, &limit, series);
            let line = match (connections, ask.keys) {
                (MANY, false) => line
                    .goal("req_s", Goal::AtLeast(goal))
                    .goal("ratio", Goal::AtLeast(0.5))
                    .goal("p99_ms", Goal::Below(25.0))
                    .goal("rss_mb", Goal::Below(150.0)),
                (MANY, true) => line.goal("ratio", Goal::AtLeast(0.35)),
                _ => line.goal("req_s", Goal::AtLeast(goal)),
            };
            line.print();
        }
    }
    let crowd = Ask::new(CROWD, true, false);
    let (limit, all) = by_turns(client, &[crowd]).await?;
    for series in &all {
        crowd
            .line_beside(client, &limit, series)
            .goal("errors", Goal::Below(1.0))
            .goal("p99_ms", Goal::Below(CROWD_P99_MS))
            .print();
    }
    Ok(())
}

/// The limit and each of these, one after the other, several times.
async fn by_turns(client: Client, asks: &[Ask]) -> anyhow::Result<(Series, Vec<Series>)> {
    let mut limit = Series::default();
    let mut all: Vec<Series> = asks.iter().map(|_| Series::default()).collect();
    for repeat in 1..=REPEATS {
        for (ask, series) in asks.iter().zip(&mut all) {
            let connections = ask.connections;
            say(format_args!(
                "webhooks: {connections} connections, {} {}, {repeat} of {REPEATS}",
                ask.table(),
                ask.work()
            ));
            // Beside each of them, because the disk of one minute is not that of the next.
            let most = measure_limit(client, Work::Rows(6), connections, &mut limit).await?;
            let taken = measure(client, *ask, None, series).await?;
            series.ratio.add(taken / most);
        }
    }
    Ok((limit, all))
}

/// One repeat on a fresh server, on a data directory of its own or on this database; requests per
/// second.
pub(crate) async fn measure(
    client: Client,
    ask: Ask,
    database: Option<&str>,
    series: &mut Series,
) -> anyhow::Result<f64> {
    let manner = if ask.runs {
        Manner::AtOnce
    } else {
        Manner::Never
    };
    let target = Target::start(manner).await?;
    let mut workflow = target.workflow();
    if !ask.runs {
        workflow.push_str("concurrency: { max: 1 }\n");
    }
    let dir = place::fresh()?;
    let server = Server::start(dir.path(), database)?;
    let api = server.client()?;
    api.apply_workflow(WORKFLOW, &workflow, None).await?;
    let shot = shot(&server, &api).await?;
    let (taken, _) = series.load(client, &server, shot, ask).await?;
    Ok(taken)
}

/// A signed request to a new webhook.
async fn shot(server: &Server, api: &refire_client::Client) -> anyhow::Result<Shot> {
    let settings = format!(
        r#"{{"trigger_type":"webhook","authentication":"hmac","signature_header":"{SIGNATURE}","secret":"{}"}}"#,
        std::str::from_utf8(limit::SECRET)?
    );
    let trigger = api.create_trigger(WORKFLOW, &settings).await?;
    let webhook = trigger.about.webhook_id.context("it has no address")?;
    let body = rows::body();
    Ok(Shot {
        to: server.process.address,
        path: format!("/webhooks/{webhook}"),
        headers: vec![
            (SIGNATURE.to_owned(), limit::sign(&body)?),
            ("content-type".to_owned(), "application/json".to_owned()),
        ],
        body,
        unique: None,
    })
}
