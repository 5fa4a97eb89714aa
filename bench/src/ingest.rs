//! B1, ingest over real HTTP: requests that are answered when they are durable, beside servers that
//! do the least that could be done.

use std::time::{Duration, Instant};

use refire_client::model::ExecutionStatus;
use refire_client::query::{ExecutionQuery, Paging};

use crate::limit::Work;
use crate::line::{Goal, Line};
use crate::load::{Client, Shot};
use crate::process::Server;
use crate::progress::say;
use crate::series::{FOR, Series, WARM_UP, measure_limit};
use crate::target::{Manner, Target, WORKFLOW};
use crate::{place, rows};

const REPEATS: usize = 3;
/// Connections at once, and the requests per second that are the goal.
const CONNECTIONS: [(usize, f64); 3] = [(1, 2_000.0), (16, 13_000.0), (64, 20_000.0)];
/// The most connections: where goals of latency and memory are set.
const MANY: usize = 64;
/// Executions admitted and completed per second that are the goal with many connections.
const COMPLETED_GOAL: f64 = 8_000.0;
/// Between two looks at whether everything has been completed.
const GLANCE: Duration = Duration::from_millis(10);
/// How long a server may take to complete what it has admitted.
const COMPLETE_WITHIN: Duration = Duration::from_secs(60);
const KEY: &str = "idempotency-key";
/// The statuses of executions that have not ended.
const OPEN: [ExecutionStatus; 3] = [
    ExecutionStatus::Pending,
    ExecutionStatus::Running,
    ExecutionStatus::Retrying,
];

/// What the product is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    /// Admission alone: the execution begins in an hour.
    Admit,
    /// The same with another idempotency key each time.
    AdmitWithKey,
    /// The execution calls a target on this machine and ends.
    Complete,
}

#[derive(Default)]
struct Round {
    at_once: Series,
    row: Series,
    limit: Series,
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
        for repeat in 1..=REPEATS {
            say(format_args!(
                "ingest: {connections} connections, {repeat} of {REPEATS}"
            ));
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
    measure_limit(client, Work::Nothing, connections, &mut round.at_once).await?;
    measure_limit(client, Work::Rows(1), connections, &mut round.row).await?;
    let limit = measure_limit(client, Work::Rows(6), connections, &mut round.limit).await?;
    let admit = &mut round.admit;
    let admitted = measure_product(client, target, Ask::Admit, connections, admit).await?;
    admit.ratio.add(admitted / limit);
    if connections == MANY {
        let with_key = &mut round.with_key;
        let ask = Ask::AdmitWithKey;
        let admitted = measure_product(client, target, ask, connections, with_key).await?;
        with_key.ratio.add(admitted / limit);
    }
    let complete = &mut round.complete;
    let completed = measure_product(client, target, Ask::Complete, connections, complete).await?;
    complete.ratio.add(completed / limit);
    Ok(())
}

/// The rate that counts: of admissions, or of completions where that is what was asked for.
async fn measure_product(
    client: Client,
    target: &Target,
    ask: Ask,
    connections: usize,
    series: &mut Series,
) -> anyhow::Result<f64> {
    let dir = place::fresh()?;
    let server = Server::start(dir.path())?;
    let api = server.client()?;
    api.apply_workflow(WORKFLOW, &target.workflow()).await?;
    let delay = if ask == Ask::Complete {
        ""
    } else {
        "?delay=1h"
    };
    let mut shot = Shot {
        to: server.process.address,
        path: format!("/api/workflows/{WORKFLOW}/execute{delay}"),
        headers: server.headers(),
        body: rows::body(),
        unique: None,
    };
    Client::Own.load(&shot, connections, WARM_UP).await?;
    if ask == Ask::AdmitWithKey {
        shot.unique = Some(KEY);
    }
    if ask == Ask::Complete {
        completed(&api).await?;
    }
    let cpu = server.process.cpu_time()?;
    let began = Instant::now();
    let loaded = client.load(&shot, connections, FOR).await?;
    let mut rate = loaded.req_s;
    if ask == Ask::Complete {
        completed(&api).await?;
        rate = loaded.answers as f64 / began.elapsed().as_secs_f64();
        series.completed_s.add(rate);
    }
    series.add(&loaded, &server.process, cpu)?;
    Ok(rate)
}

/// Returns when no execution is open.
pub(crate) async fn completed(api: &refire_client::Client) -> anyhow::Result<()> {
    let until = Instant::now() + COMPLETE_WITHIN;
    let open = ExecutionQuery {
        status: OPEN.to_vec(),
        ..ExecutionQuery::default()
    };
    while !api
        .executions(&open, &Paging::first(1))
        .await?
        .items
        .is_empty()
    {
        anyhow::ensure!(
            Instant::now() < until,
            "the server does not complete its executions"
        );
        tokio::time::sleep(GLANCE).await;
    }
    Ok(())
}

fn print(client: Client, connections: usize, goal: f64, round: &Round) {
    for (work, series) in [
        (Work::Nothing, &round.at_once),
        (Work::Rows(1), &round.row),
        (Work::Rows(6), &round.limit),
    ] {
        series.print_limit(client, work, connections);
    }
    let product = |table: &str, subject: &str, series: &Series| {
        let mut line = Line::new(table, subject).word("c", connections);
        if subject == "completed" {
            line = line.figure("completed_s", &series.completed_s);
        }
        line.figure("req_s", &series.req_s)
            .latency(&series.latency)
            .figure("limit_req_s", &round.limit.req_s)
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
