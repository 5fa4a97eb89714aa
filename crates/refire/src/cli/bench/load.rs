//! Puts the server under load: connections that send, answers that are counted, an end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::interrupt::Interrupts;
use super::pace::{End, Pace};
use super::payload::Payload;
use super::progress::Progress;
use super::tally::{Expected, Tally};
use super::wire::{Line, Origin};

/// A connection of a closed loop that was refused waits so long before it asks again, so that a
/// server in trouble is not kept busy with refusing.
const PAUSE: Duration = Duration::from_millis(100);
/// How long answers may still come after an interrupt.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// How long planned requests that found no free connection may still be sent after their time.
const LATE_WITHIN: Duration = Duration::from_secs(10);
/// Executions that one phase may make: their ids are kept to look for each, and each takes about
/// two kilobytes of the server's disk.
pub(super) const EXECUTIONS_MAX: u64 = 10_000_000;
/// Between two looks at the figures.
const TICK: Duration = Duration::from_millis(100);

/// What every connection works with.
pub(super) struct Load {
    pub(super) origin: Arc<Origin>,
    pub(super) payload: Payload,
    pub(super) expected: Expected,
    pub(super) connections: usize,
    /// Requests per second of an open loop.
    pub(super) rate: Option<f64>,
}

/// Why a phase ended before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Early {
    /// Somebody asked for it.
    Interrupted,
    /// No run makes more executions than this one has made.
    Enough,
}

/// How a phase went.
pub(super) struct Phase {
    pub(super) tally: Tally,
    /// From its begin to its last answer.
    pub(super) took: Duration,
    /// Planned requests that never found a connection.
    pub(super) not_sent: u64,
    /// Why it ended before its end.
    pub(super) early: Option<Early>,
    /// The connections, for the next phase.
    pub(super) lines: Vec<Line>,
}

/// What the connections of one phase share.
struct Shared {
    load: Arc<Load>,
    pace: Pace,
    tally: Mutex<Tally>,
}

impl Load {
    /// Connections that have not been made yet.
    pub(super) fn lines(&self) -> Vec<Line> {
        let line = || Line::new(Arc::clone(&self.origin));
        std::iter::repeat_with(line)
            .take(self.connections)
            .collect()
    }

    /// Sends until the end, or until somebody interrupts.
    pub(super) async fn run(
        self: &Arc<Self>,
        lines: Vec<Line>,
        end: End,
        progress: &mut Progress,
        interrupts: &mut Interrupts,
    ) -> anyhow::Result<Phase> {
        let stop = CancellationToken::new();
        // Planning goes on no longer than this, however it ends.
        let _planning = stop.clone().drop_guard();
        let pace = match self.rate {
            None => Pace::closed(end, stop.clone()),
            Some(rate) => Pace::open(end, rate, self.connections, stop.clone())?,
        };
        let shared = Arc::new(Shared {
            load: Arc::clone(self),
            pace,
            tally: Mutex::default(),
        });
        let mut running = JoinSet::new();
        for line in lines {
            running.spawn(send(Arc::clone(&shared), line));
        }
        let mut lines = Vec::with_capacity(running.len());
        let mut early = None;
        let late = late(&shared.pace);
        // Until then answers may still come; far away as long as nobody interrupts.
        let mut given_up = None;
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                ended = running.join_next() => match ended {
                    Some(Ok(line)) => lines.push(line),
                    Some(Err(_)) => {}
                    None => break,
                },
                _ = tick.tick() => {
                    let tally = shared.tally();
                    progress.show(&shared.pace, &tally);
                    if tally.accepted.len() as u64 >= EXECUTIONS_MAX {
                        early = early.or(Some(Early::Enough));
                        stop.cancel();
                    }
                }
                () = until(late) , if !stop.is_cancelled() => stop.cancel(),
                () = interrupts.next(), if !running.is_empty() => {
                    given_up = match early.replace(Early::Interrupted) {
                        Some(Early::Interrupted) => Some(Instant::now()),
                        _ => Some(Instant::now() + ANSWERS_WITHIN),
                    };
                    stop.cancel();
                }
                () = until(given_up), if given_up.is_some() => {
                    running.abort_all();
                    given_up = None;
                }
            }
        }
        progress.show(&shared.pace, &shared.tally());
        let (not_sent, took) = (shared.pace.not_sent(), shared.pace.begun().elapsed());
        Ok(Phase {
            tally: std::mem::take(&mut *shared.tally()),
            took,
            not_sent: if early.is_some() { 0 } else { not_sent },
            early,
            lines,
        })
    }
}

impl Shared {
    fn tally(&self) -> std::sync::MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When planned requests are given up.
fn late(pace: &Pace) -> Option<Instant> {
    let expected = pace.expected().filter(|_| pace.is_open());
    expected.map(|expected| pace.begun() + expected + LATE_WITHIN)
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// One connection: sends when it is its turn, and notes what came of it.
async fn send(shared: Arc<Shared>, mut line: Line) -> Line {
    let load = &shared.load;
    while let Some(planned) = shared.pace.next().await {
        let request = load.payload.next(&load.origin);
        shared.tally().requests.sent += 1;
        let answer = line.ask(request).await;
        let fine = shared
            .tally()
            .note(planned.elapsed(), answer, load.expected);
        if !fine && !shared.pace.is_open() {
            tokio::time::sleep(PAUSE).await;
        }
    }
    line
}
