//! Starting with very many unfinished executions: how long until the server says that it is ready,
//! and until it has accepted something new.

use std::path::Path;
use std::process::Command;

use async_trait::async_trait;
use refire_client::Execute;
use refire_core::failure::Failure;

use crate::prelude::*;
use crate::process::Server;

const REPEATS: u32 = 3;
/// Executions that have not ended.
const UNFINISHED: usize = 100_000;
/// Of ten of them, so many wait for a time far away; the others are due.
const WAITING_OF_TEN: usize = 5;
const MUCH_LATER: Duration = Duration::from_secs(3_600);

/// Prints `start`.
pub(crate) async fn report() -> anyhow::Result<()> {
    // Never answers, so that what is unfinished stays so.
    let target = Target::start(Manner::Never).await?;
    let dir = place::fresh()?;
    say(format_args!(
        "start: making {UNFINISHED} unfinished executions"
    ));
    let url = format!("http://{}/", target.address);
    let made = Command::new(std::env::current_exe()?)
        .arg("inner:unfinished")
        .arg(dir.path())
        .arg(&url)
        .status()?;
    anyhow::ensure!(made.success(), "the unfinished executions were not made");
    let (mut ready, mut accepted, mut rss_mb) = <(Repeats, Repeats, Repeats)>::default();
    for _ in repeats(REPEATS, "start") {
        let began = Instant::now();
        let server = Server::start(dir.path(), None)?;
        let api = server.client()?;
        is_ready(&server).await?;
        ready.add(began.elapsed().as_secs_f64());
        api.execute(WORKFLOW, &Execute::default()).await?;
        accepted.add(began.elapsed().as_secs_f64());
        // Recovery goes on beside; what it holds at most is part of the answer.
        tokio::time::sleep(Duration::from_secs(3)).await;
        rss_mb.add(server.process.rss_mb()?);
    }
    Line::new("start", "refire")
        .word("unfinished", UNFINISHED)
        .figure("ready_s", &ready)
        .figure("first_2xx_s", &accepted)
        .figure("rss_mb", &rss_mb)
        .goal("ready_s", Goal::Below(2.0))
        .goal("first_2xx_s", Goal::Below(2.0))
        .print();
    Ok(())
}

async fn is_ready(server: &Server) -> anyhow::Result<()> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(server.process.address).await?;
    let request = "GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    anyhow::ensure!(
        crate::wire::status(&answer) == 200,
        "the server is not ready"
    );
    Ok(())
}

/// A target that never answers.
struct Silence;

#[async_trait]
impl Caller for Silence {
    async fn call(&self, _: HttpRequest) -> Result<HttpAnswer, Failure> {
        std::future::pending().await
    }
}

/// Fills a data directory as a server leaves it that is killed under load: some attempts have
/// begun, many wait for a slot, many for their time. The caller then ends the process.
pub(crate) async fn fill(dir: &Path, url: &str) -> anyhow::Result<()> {
    let clock = Arc::new(SystemClock::new());
    let silence = Some(Arc::new(Silence) as _);
    let embedded = Embedded::start_in(dir, clock, &target::workflow(url), silence).await?;
    for chunk in 0..UNFINISHED / TOGETHER {
        let many = (0..TOGETHER).map(|n| {
            let waits = n % 10 < WAITING_OF_TEN;
            let later = Duration::from_millis((chunk * TOGETHER + n) as u64);
            embedded.submission(n, waits.then_some(MUCH_LATER + later))
        });
        embedded.submit_all(many.collect()).await?;
    }
    Ok(())
}
