//! Load over real HTTP, in a closed loop: each connection sends its next request when the answer to
//! the last is there.
//!
//! `wrk` makes it where it is installed, because it costs least; else a small client of our own.

mod own;
mod wrk;

use std::net::SocketAddr;
use std::time::Duration;

/// The request that is sent again and again.
#[derive(Debug, Clone)]
pub(crate) struct Shot {
    pub(crate) to: SocketAddr,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// A header whose value is another one each time.
    pub(crate) unique: Option<&'static str>,
}

/// Digits of a unique header's value.
const UNIQUE_DIGITS: usize = 20;

/// What a load came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loaded {
    /// Answers of any kind.
    pub(crate) answers: u64,
    pub(crate) req_s: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Answers that were no 2xx, and connections that broke.
    pub(crate) errors: u64,
}

/// Who makes the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Wrk,
    Own,
}

impl Client {
    /// The best there is on this machine.
    pub(crate) fn best() -> Self {
        if wrk::is_installed() {
            Self::Wrk
        } else {
            Self::Own
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::Own => "own",
        }
    }

    /// Sends the request over so many connections for so long.
    pub(crate) async fn load(
        self,
        shot: &Shot,
        connections: usize,
        wanted: Duration,
    ) -> anyhow::Result<Loaded> {
        let shot = shot.clone();
        let work = move || match self {
            Self::Wrk => wrk::load(&shot, connections, wanted),
            Self::Own => own::load(&shot, connections, wanted),
        };
        tokio::task::spawn_blocking(work).await?
    }
}
