//! B1, ingest over real HTTP: requests that are answered when they are durable, beside servers that
//! do the least that could be done.

use crate::limit::Work;
use crate::load::{Client, Shot};
use crate::prelude::*;
use crate::process::Server;
use crate::series::{Ask, Series, measure_limit};

const REPEATS: u32 = 3;
/// Connections at once, and the requests per second that are the goal.
const CONNECTIONS: [(usize, f64); 3] = [(1, 2_000.0), (16, 13_000.0), (64, 20_000.0)];
/// The most connections: where goals of latency and memory are set.
const MANY: usize = 64;
/// Executions admitted and completed per second that are the goal with many connections.
const COMPLETED_GOAL: f64 = 8_000.0;
/// What stands beside the product; the last one is the limit that it is compared with.
const LIMITS: [Work; 3] = [Work::Nothing, Work::Rows(1), Work::Rows(6)];

#[derive(Default)]
struct Round {
    limits: [Series; 3],
    admit: Series,
    with_key: Series,
    complete: Series,
}

/// Prints `B1` for the limits and for the product.
pub(crate) async fn report() -> anyhow::Result<()> {
    let client = Client::best();
    let target = Target::start(Manner::AtOnce).await?;
    for (connections, goal) in CONNECTIONS {
        let mut round = Round::default();
        for _ in repeats(REPEATS, format_args!("ingest: {connections} connections")) {
            repeat_once(client, &target, connections, &mut round).await?;
        }
        print(client, connections, goal, &round);
    }
    Ok(())
}

async fn repeat_once(
    client: Client,
    target: &Target,
    connections: usize,
    round: &mut Round,
) -> anyhow::Result<()> {
    let mut limit = 0.0;
    for (work, series) in LIMITS.into_iter().zip(&mut round.limits) {
        limit = measure_limit(client, work, connections, series).await?;
    }
    let ask = |runs, keys| Ask::new(connections, runs, keys);
    let mut asks = vec![
        (ask(false, false), &mut round.admit),
        (ask(true, false), &mut round.complete),
    ];
    if connections == MANY {
        asks.insert(1, (ask(false, true), &mut round.with_key));
    }
    for (ask, series) in asks {
        let rate = measure_product(client, target, ask, None, series).await?;
        series.ratio.add(rate / limit);
    }
    Ok(())
}

/// `B1 completed` with many connections, once; for what is measured beside it.
pub(crate) async fn measure_completed(
    client: Client,
    target: &Target,
    database: Option<&str>,
    series: &mut Series,
) -> anyhow::Result<f64> {
    let ask = Ask::new(MANY, true, false);
    measure_product(client, target, ask, database, series).await
}

/// The rate that counts: of admissions, or of completions where that is what was asked for.
async fn measure_product(
    client: Client,
    target: &Target,
    ask: Ask,
    database: Option<&str>,
    series: &mut Series,
) -> anyhow::Result<f64> {
    let dir = place::fresh()?;
    let server = Server::start(dir.path(), database)?;
    let api = server.client()?;
    api.apply_workflow(WORKFLOW, &target.workflow(), None)
        .await?;
    // An execution that is only admitted begins in an hour; one that runs calls a target and ends.
    let delay = if ask.runs { "" } else { "?delay=1h" };
    let shot = Shot {
        to: server.process.address,
        path: format!("/api/workflows/{WORKFLOW}/execute{delay}"),
        headers: server.headers(),
        body: rows::body(),
        unique: None,
    };
    let (admitted, completed) = series.load(client, &server, shot, ask).await?;
    Ok(completed.unwrap_or(admitted))
}

fn print(client: Client, connections: usize, goal: f64, round: &Round) {
    for (work, series) in LIMITS.into_iter().zip(&round.limits) {
        series.print_limit(client, work, connections);
    }
    let product = |table: &str, subject: &str, series: &Series| {
        let mut line = Line::new(table, subject).word("c", connections);
        if subject == "completed" {
            line = line.figure("completed_s", &series.completed_s);
        }
        line.figure("req_s", &series.req_s)
            .latency(&series.latency)
            .figure("limit_req_s", &round.limits[2].req_s)
            .figure("ratio", &series.ratio)
            .figure("cpu_us", &series.cpu_us)
            .figure("rss_mb", &series.rss_mb)
            .word("errors", series.errors)
            .word("client", client.name())
    };
    let mut admit = product("B1", "refire", &round.admit).goal("req_s", Goal::AtLeast(goal));
    let mut complete = product("B1", "completed", &round.complete);
    if connections == MANY {
        admit = admit
            .goal("ratio", Goal::AtLeast(0.5))
            .goal("p99_ms", Goal::Below(25.0))
            .goal("rss_mb", Goal::Below(150.0));
        complete = complete.goal("completed_s", Goal::AtLeast(COMPLETED_GOAL));
        product("B1k", "refire", &round.with_key)
            .goal("ratio", Goal::AtLeast(0.35))
            .print();
    }
    admit.print();
    complete.print();
}
