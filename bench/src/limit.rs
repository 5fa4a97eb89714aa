//! The limit: the least that a server could do to answer durably. One handler, one HMAC, a bounded
//! channel, and one thread that takes all that waits into one transaction, commits it with full
//! fsync and answers. It runs as a process of its own, as the server does.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::extract::State;
use axum::routing::post;
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, StatusCode};
use sha2::Sha256;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;

use crate::rows::{self, Scribe};

/// Requests that may wait for the writer.
const WAITING_MAX: usize = 4_096;
/// Requests in one transaction.
const TOGETHER_MAX: usize = 1_024;
/// What requests are signed with.
pub(crate) const SECRET: &[u8] = b"a secret of thirty-two bytes, ok";
/// The header of the signature.
pub(crate) const SIGNATURE: &str = "x-signature";

/// How much a limit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Answers at once.
    Nothing,
    /// Checks the signature and writes so many rows.
    Rows(usize),
}

impl Work {
    /// Its word in lines and arguments.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Nothing => "at_once".to_owned(),
            Self::Rows(rows) => format!("rows{rows}"),
        }
    }
}

impl FromStr for Work {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text.strip_prefix("rows") {
            Some(rows) => Ok(Self::Rows(rows.parse()?)),
            None if text == "at_once" => Ok(Self::Nothing),
            None => anyhow::bail!("`{text}` is no limit"),
        }
    }
}

struct Job {
    body: Bytes,
    done: oneshot::Sender<()>,
}

/// Serves until the process is ended. Says where, in the words of the product's server.
pub(crate) async fn serve(work: Work, dir: PathBuf) -> anyhow::Result<()> {
    let router = match work {
        Work::Nothing => Router::new().route("/", post(|_: Bytes| async { StatusCode::ACCEPTED })),
        Work::Rows(rows) => {
            let (jobs, waiting) = mpsc::channel(WAITING_MAX);
            let writer = std::thread::Builder::new().name("limit-writer".to_owned());
            writer.spawn(move || {
                if let Err(error) = write(&dir, waiting, rows) {
                    eprintln!("the limit's writer ended: {error:#}");
                }
            })?;
            let key = Hmac::<Sha256>::new_from_slice(SECRET).context("a key of any length")?;
            Router::new()
                .route("/", post(accept))
                .with_state(Arc::new((key, jobs)))
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("The limit is ready at http://{}", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

async fn accept(
    State(state): State<Arc<(Hmac<Sha256>, Sender<Job>)>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let (key, jobs) = state.as_ref();
    let presented = headers
        .get(SIGNATURE)
        .and_then(|value| unhex(value.as_bytes()));
    let mut mac = key.clone();
    mac.update(&body);
    if presented.is_none_or(|presented| mac.verify_slice(&presented).is_err()) {
        return StatusCode::UNAUTHORIZED;
    }
    let (done, answer) = oneshot::channel();
    if jobs.send(Job { body, done }).await.is_err() || answer.await.is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    StatusCode::ACCEPTED
}

/// Takes all that waits into one transaction, again and again. Never waits to fill one.
fn write(dir: &Path, mut waiting: Receiver<Job>, rows: usize) -> anyhow::Result<()> {
    let connection = rows::open(&dir.join("limit.db"))?;
    let mut scribe = Scribe::new(&connection)?;
    let mut jobs = Vec::with_capacity(TOGETHER_MAX);
    while waiting.blocking_recv_many(&mut jobs, TOGETHER_MAX) > 0 {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for job in &jobs {
            scribe.request(&job.body, rows)?;
        }
        connection.execute_batch("COMMIT")?;
        for job in jobs.drain(..) {
            // A client that went away is not told.
            let _ = job.done.send(());
        }
    }
    Ok(())
}

/// The signature of a body, in hex.
pub(crate) fn sign(body: &[u8]) -> anyhow::Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).context("a key of any length")?;
    mac.update(body);
    let bytes = mac.finalize().into_bytes();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    text.chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for work in [Work::Nothing, Work::Rows(1), Work::Rows(6)] {
            assert_eq!(work.name().parse::<Work>().unwrap(), work);
        }
        assert!("seven".parse::<Work>().is_err());
    }

    #[tokio::test]
    async fn a_signed_request_is_written_and_a_forged_one_is_not() {
        let (jobs, mut waiting) = mpsc::channel(1);
        let key = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
        let state = State(Arc::new((key, jobs)));
        let writer = tokio::spawn(async move {
            let job: Job = waiting.recv().await.unwrap();
            job.done.send(()).unwrap();
            job.body
        });
        let mut headers = HeaderMap::new();
        headers.insert(SIGNATURE, sign(b"other").unwrap().parse().unwrap());
        let forged = accept(state.clone(), headers.clone(), Bytes::from_static(b"body")).await;
        assert_eq!(forged, StatusCode::UNAUTHORIZED);
        headers.insert(SIGNATURE, sign(b"body").unwrap().parse().unwrap());
        let genuine = accept(state, headers, Bytes::from_static(b"body")).await;
        assert_eq!(genuine, StatusCode::ACCEPTED);
        assert_eq!(writer.await.unwrap(), "body");
    }
}
