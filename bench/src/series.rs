//! Repeats of one kind of server under load over HTTP, and the limits that stand beside the product.

use std::time::Duration;

use crate::limit::{self, Work};
use crate::line::Line;
use crate::load::{Client, Loaded, Shot};
use crate::process::{self, Process};
use crate::rows;
use crate::sample::{Latency, Repeats};

/// How long each load goes on.
pub(crate) const FOR: Duration = Duration::from_secs(3);
/// How long a fresh server is warmed up.
pub(crate) const WARM_UP: Duration = Duration::from_millis(300);

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
