//! Requests at a fixed rate, whether or not the server keeps up, and a log of what came back.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::{Answer, Client};

/// Requests that may wait for their answers at once; beyond that a beat is left out.
const OUTSTANDING_MAX: usize = 500;
/// Requests that are repeated at once.
const REPEATED_AT_ONCE: usize = 16;
/// Bytes that make an input as large as an everyday one.
const PADDING: usize = 900;

/// One request as its sender saw it.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) plan: Plan,
    pub(crate) sent_at: Instant,
    pub(crate) answered_at: Instant,
    pub(crate) answer: Answer,
}

/// What all senders saw.
#[derive(Clone, Default)]
pub(crate) struct ClientLog(Arc<Mutex<Vec<Sent>>>);

impl ClientLog {
    pub(crate) fn add(&self, sent: Sent) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(sent);
    }

    /// Everything that has ended so far.
    pub(crate) fn entries(&self) -> Vec<Sent> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A log of its own with the same entries.
    pub(crate) fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.entries())))
    }

    /// When the first request that was sent after `since` was accepted.
    pub(crate) fn first_accepted_after(&self, since: Instant) -> Option<Instant> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted = entries
            .iter()
            .filter(|sent| sent.sent_at >= since && sent.answer.execution().is_some());
        accepted.map(|sent| sent.answered_at).min()
    }
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The number in its input.
    pub(crate) request: u64,
    pub(crate) workflow: &'static str,
    pub(crate) key: Option<String>,
    /// How the target is to answer, if it listens to that.
    pub(crate) fate: Option<&'static str>,
}

/// How far back a repetition reaches.
const BACK: u64 = 5;

/// The plan of a beat: most requests are new and have a key; some have none, some repeat an
/// earlier one with its key, and some use an earlier key for another input.
pub(crate) fn plan(beat: u64) -> Plan {
    let earlier = beat.saturating_sub(BACK);
    let (request, key) = match beat % 20 {
        3 => (beat, None),
        12 => (earlier, Some(earlier)),
        18 => (beat, Some(earlier)),
        _ => (beat, Some(beat)),
    };
    Plan {
        request,
        workflow: if request.is_multiple_of(5) {
            "two"
        } else {
            "one"
        },
        key: key.map(|number| format!("key-{number}")),
        fate: None,
    }
}

/// The input of a plan: the same request gives the same bytes.
fn input(plan: &Plan) -> String {
    let padding = "x".repeat(PADDING);
    let mut input = json!({ "request": plan.request, "padding": padding });
    if let Some(fate) = plan.fate {
        input["fate"] = fate.into();
    }
    input.to_string()
}

/// A load that goes on until it is stopped.
pub(crate) struct Load {
    log: ClientLog,
    stop: CancellationToken,
    beats: JoinHandle<Beats>,
}

/// How the load went.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Beats {
    pub(crate) sent: u64,
    /// Beats on which too many requests were outstanding.
    pub(crate) left_out: u64,
}

impl Load {
    /// Sends so many requests a second.
    pub(crate) fn start(client: Client, rate: u32) -> Self {
        let (log, stop) = (ClientLog::default(), CancellationToken::new());
        let beats = tokio::spawn(beat(client, rate, log.clone(), stop.clone()));
        Self { log, stop, beats }
    }

    pub(crate) fn log(&self) -> &ClientLog {
        &self.log
    }

    /// Sends no more and waits for the answers that are due.
    pub(crate) async fn stop(self) -> (ClientLog, Beats) {
        self.stop.cancel();
        let beats = self.beats.await.unwrap();
        (self.log, beats)
    }
}

async fn beat(client: Client, rate: u32, log: ClientLog, stop: CancellationToken) -> Beats {
    let mut every = tokio::time::interval(Duration::from_secs(1) / rate);
    every.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let room = Arc::new(Semaphore::new(OUTSTANDING_MAX));
    let tracker = TaskTracker::new();
    let mut beats = Beats::default();
    for number in 1.. {
        tokio::select! {
            _ = every.tick() => {}
            () = stop.cancelled() => break,
        }
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            beats.left_out += 1;
            continue;
        };
        beats.sent += 1;
        let (client, log) = (client.clone(), log.clone());
        tracker.spawn(async move {
            send(&client, plan(number), &log).await;
            drop(place);
        });
    }
    tracker.close();
    tracker.wait().await;
    beats
}

/// Sends one request and notes what came of it.
pub(crate) async fn send(client: &Client, plan: Plan, log: &ClientLog) -> Answer {
    let sent_at = Instant::now();
    let key = plan.key.as_deref();
    let answer = client.execute(plan.workflow, key, input(&plan)).await;
    log.add(Sent {
        plan,
        sent_at,
        answered_at: Instant::now(),
        answer: answer.clone(),
    });
    answer
}

/// Repeats requests with a key whose fate is open, as a careful client does; each gets a certain
/// answer now. How many.
pub(crate) async fn repeat_open(client: &Client, log: &ClientLog, max: usize) -> usize {
    let open = log.entries().into_iter();
    let open = open.filter(|sent| sent.answer.is_open() && sent.plan.key.is_some());
    let repeat = |sent: Sent| async move {
        let answer = send(client, sent.plan, log).await;
        assert!(!answer.is_open(), "the repetition got {answer:?}");
    };
    let repeated = futures_util::stream::iter(open.take(max).map(repeat));
    repeated.buffer_unordered(REPEATED_AT_ONCE).count().await
}
