//! Repeats of one kind of server under load over HTTP, and the limits that stand beside the product.

use std::time::{Duration, Instant};

use refire_client::model::ExecutionStatus;
use refire_client::query::{ExecutionQuery, Paging};

use crate::limit::{self, Work};
use crate::line::Line;
use crate::load::{Client, Loaded, Shot};
use crate::process::{self, Process, Server};
use crate::rows;
use crate::sample::{Latency, Repeats};

/// How long each load goes on.
const FOR: Duration = Duration::from_secs(3);
/// How long a fresh server is warmed up.
const WARM_UP: Duration = Duration::from_millis(300);

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

/// What a load asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) connections: usize,
    /// Whether the executions run and end while the load goes on. Else they wait, so that the way in
    /// is measured alone.
    pub(crate) runs: bool,
    /// Whether each request has a key of its own.
    pub(crate) keys: bool,
}

impl Ask {
    pub(crate) fn new(connections: usize, runs: bool, keys: bool) -> Self {
        Self {
            connections,
            runs,
            keys,
        }
    }
}

/// Repeats of one kind of server with so many connections.
#[derive(Default)]
pub(crate) struct Series {
    pub(crate) req_s: Repeats,
    pub(crate) latency: Latency,
    pub(crate) rss_mb: Repeats,
    pub(crate) ratio: Repeats,
    pub(crate) completed_s: Repeats,
    pub(crate) cpu_us: Repeats,
    pub(crate) errors: u64,
}

impl Series {
    /// What a load came to; `cpu_before` is what the process had used when it began.
    pub(crate) fn add(
        &mut self,
        loaded: &Loaded,
        process: &Process,
        cpu_before: Duration,
    ) -> anyhow::Result<()> {
        let cpu = process.cpu_time()? - cpu_before;
        self.cpu_us
            .add(cpu.as_secs_f64() * 1e6 / loaded.answers as f64);
        self.req_s.add(loaded.req_s);
        self.latency.p50_ms.add(loaded.p50_ms);
        self.latency.p99_ms.add(loaded.p99_ms);
        self.rss_mb.add(process.rss_mb()?);
        self.errors += loaded.errors;
        Ok(())
    }

    /// One repeat of the product under load; requests per second, and how many were completed if they
    /// are to run.
    pub(crate) async fn load(
        &mut self,
        client: Client,
        server: &Server,
        mut shot: Shot,
        ask: Ask,
    ) -> anyhow::Result<(f64, Option<f64>)> {
        let api = server.client()?;
        Client::Own.load(&shot, ask.connections, WARM_UP).await?;
        shot.unique = ask.keys.then_some(KEY);
        if ask.runs {
            completed(&api).await?;
        }
        let cpu = server.process.cpu_time()?;
        let began = Instant::now();
        let loaded = client.load(&shot, ask.connections, FOR).await?;
        let mut rate = None;
        if ask.runs {
            completed(&api).await?;
            let completed_s = loaded.answers as f64 / began.elapsed().as_secs_f64();
            self.completed_s.add(completed_s);
            rate = Some(completed_s);
        }
        self.add(&loaded, &server.process, cpu)?;
        Ok((loaded.req_s, rate))
    }

    /// The line of a server that is no product.
    pub(crate) fn print_limit(&self, client: Client, work: Work, connections: usize) {
        Line::new("B1", "limit")
            .word("kind", work.name())
            .word("c", connections)
            .figure("req_s", &self.req_s)
            .latency(&self.latency)
            .figure("cpu_us", &self.cpu_us)
            .figure("rss_mb", &self.rss_mb)
            .word("errors", self.errors)
            .word("client", client.name())
            .print();
    }
}

/// One repeat of a limit; requests per second.
pub(crate) async fn measure_limit(
    client: Client,
    work: Work,
    connections: usize,
    series: &mut Series,
) -> anyhow::Result<f64> {
    let (process, _dir) = process::limit(work)?;
    let body = rows::body();
    let shot = Shot {
        to: process.address,
        path: "/".to_owned(),
        headers: vec![(limit::SIGNATURE.to_owned(), limit::sign(&body)?)],
        body,
        unique: None,
    };
    Client::Own.load(&shot, connections, WARM_UP).await?;
    let cpu = process.cpu_time()?;
    let loaded = client.load(&shot, connections, FOR).await?;
    series.add(&loaded, &process, cpu)?;
    Ok(loaded.req_s)
}

/// Returns when no execution is open.
async fn completed(api: &refire_client::Client) -> anyhow::Result<()> {
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
