//! What came of the requests, counted as the answers come in.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use refire_client::model::{BatchResult, ExecutionStatus, Page, Problem};
use refire_core::id::ExecutionId;
use serde::{Deserialize, Serialize};

use super::wire::{Answer, Trouble};

/// Latencies are kept to one part in a thousand.
const DIGITS: u8 = 3;
/// The longest latency told apart, in microseconds: an hour.
const LATENCY_MAX_US: u64 = 3_600_000_000;
/// Kinds of trouble told apart; more would be the same one with a number in its text.
const KINDS_MAX: usize = 50;

/// Latencies in microseconds.
#[derive(Debug, Clone)]
pub(super) struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LATENCY_MAX_US, DIGITS);
        Self(histogram.expect("the bounds are a range"))
    }
}

impl Latencies {
    /// Adds one.
    pub(super) fn add(&mut self, latency: Duration) {
        let us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.0.saturating_record(us.max(1));
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.0.len()
    }

    /// So large a share is not slower than this, in microseconds.
    pub(super) fn at(&self, share: f64) -> u64 {
        self.0.value_at_quantile(share).min(self.0.max())
    }
}

/// A kind of refusal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Refusal {
    /// The HTTP status.
    pub(super) status: u16,
    /// The error code, if it was an answer of this API.
    pub(super) code: Option<String>,
    /// What the code means.
    pub(super) title: Option<String>,
    /// Whether the server said when to come back.
    pub(super) retry_after: bool,
}

/// Requests, as they are counted and reported.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Requests {
    pub(super) sent: u64,
    /// Answered with 2xx.
    pub(super) accepted: u64,
    /// Answered otherwise.
    pub(super) rejected: u64,
    /// Sent, but never answered: whether they were accepted is not known.
    pub(super) unanswered: u64,
    /// There was no connection: certainly nothing was started.
    pub(super) not_connected: u64,
    /// Planned, but no connection was free for ten seconds after the end.
    pub(super) not_sent: u64,
}

/// What came of one phase of a run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) requests: Requests,
    /// Answers that came before the execution had ended, though they were to wait for it.
    pub(super) not_ended: u64,
    /// The executions that were accepted.
    pub(super) accepted: Vec<ExecutionId>,
    /// Why requests and items of batches were refused.
    pub(super) refusals: BTreeMap<Refusal, u64>,
    /// Why there was no answer, or no connection.
    pub(super) troubles: BTreeMap<String, u64>,
    /// How long answers of 2xx took.
    pub(super) latencies: Latencies,
}

/// The part of an answer that counts, whether it is an accepted execution or a finished one.
#[derive(Deserialize)]
struct Started {
    execution_id: ExecutionId,
    status: ExecutionStatus,
}

impl Tally {
    /// The requests, when no more of them are sent or answered.
    pub(super) fn requests(&self, not_sent: u64) -> Requests {
        let requests = self.requests.clone();
        let settled = requests.accepted + requests.rejected + requests.not_connected;
        Requests {
            unanswered: requests.sent.saturating_sub(settled),
            not_sent,
            ..requests
        }
    }

    /// Whatever did not go well.
    pub(super) fn errors(&self) -> u64 {
        let refused: u64 = self.refusals.values().sum();
        let troubled: u64 = self.troubles.values().sum();
        refused + troubled.max(self.requests.not_connected)
    }

    /// Notes what came of one request; whether it went well.
    pub(super) fn note(
        &mut self,
        latency: Duration,
        answer: Result<Answer, Trouble>,
        shape: Expected,
    ) -> bool {
        match answer {
            Ok(answer) if answer.status.is_success() => {
                let fine = self.accept(&answer, shape);
                if fine {
                    self.requests.accepted += 1;
                    self.latencies.add(latency);
                } else {
                    self.requests.rejected += 1;
                    self.refuse(&answer, None);
                }
                fine
            }
            Ok(answer) => {
                self.requests.rejected += 1;
                let problem = serde_json::from_slice::<Problem>(&answer.body).ok();
                self.refuse(&answer, problem);
                false
            }
            Err(Trouble::NotConnected(why)) => {
                self.requests.not_connected += 1;
                count(&mut self.troubles, why);
                false
            }
            Err(Trouble::Unanswered(why)) => {
                count(&mut self.troubles, why);
                false
            }
        }
    }

    /// Takes the executions of an answer; false if it is not an answer of this API.
    fn accept(&mut self, answer: &Answer, shape: Expected) -> bool {
        match shape {
            Expected::Batch => self.accept_batch(answer),
            Expected::Accepted | Expected::Ended => {
                let Ok(started) = serde_json::from_slice::<Started>(&answer.body) else {
                    return false;
                };
                let ended = started.status.is_over();
                if shape == Expected::Ended && !ended {
                    self.not_ended += 1;
                }
                self.accepted.push(started.execution_id);
                true
            }
        }
    }

    fn accept_batch(&mut self, answer: &Answer) -> bool {
        let Ok(page) = serde_json::from_slice::<Page<BatchResult>>(&answer.body) else {
            return false;
        };
        for item in page.items {
            let id = item
                .accepted
                .and_then(|accepted| accepted.execution_id.parse().ok());
            match (id, item.problem) {
                (Some(id), _) => self.accepted.push(id),
                (None, problem) => self.refuse(answer, problem),
            }
        }
        true
    }

    fn refuse(&mut self, answer: &Answer, problem: Option<Problem>) {
        let status = problem.as_ref().map(|problem| problem.status);
        let (code, title) = problem.map(|problem| (problem.code, problem.title)).unzip();
        let refusal = Refusal {
            status: status.unwrap_or_else(|| answer.status.as_u16()),
            code,
            title,
            retry_after: answer.retry_after,
        };
        count(&mut self.refusals, refusal);
    }
}

/// Counts a kind, unless there are too many kinds already; the total is counted elsewhere.
fn count<K: Ord>(kinds: &mut BTreeMap<K, u64>, kind: K) {
    if kinds.len() < KINDS_MAX || kinds.contains_key(&kind) {
        *kinds.entry(kind).or_insert(0) += 1;
    }
}

/// What a good answer looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// One accepted execution.
    Accepted,
    /// One execution that has ended.
    Ended,
    /// A result for each of many.
    Batch,
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::StatusCode;

    use super::*;

    const ID: &str = "exec_01j9x8w7v6t5s4r3q2p1n0m9k8";
    const MS: Duration = Duration::from_millis(1);

    fn answer(status: u16, body: &str) -> Result<Answer, Trouble> {
        Ok(Answer {
            status: StatusCode::from_u16(status).unwrap(),
            retry_after: status == 503,
            body: Bytes::copy_from_slice(body.as_bytes()),
        })
    }

    #[test]
    fn answers_are_told_apart() {
        let mut tally = Tally::default();
        tally.requests.sent = 7;
        let accepted = format!(r#"{{"execution_id":"{ID}","status":"pending"}}"#);
        assert!(tally.note(MS, answer(202, &accepted), Expected::Accepted));
        assert!(tally.note(MS, answer(202, &accepted), Expected::Ended));
        let problem = r#"{"type":"t","title":"busy","status":503,"code":"RF0026","detail":"d"}"#;
        assert!(!tally.note(MS, answer(503, problem), Expected::Accepted));
        assert!(!tally.note(MS, answer(200, "<html>"), Expected::Accepted));
        let refused = Err(Trouble::NotConnected("refused".to_owned()));
        assert!(!tally.note(MS, refused, Expected::Accepted));
        let lost = Err(Trouble::Unanswered("reset".to_owned()));
        assert!(!tally.note(MS, lost, Expected::Accepted));
        let requests = tally.requests(0);
        assert_eq!((requests.accepted, requests.rejected), (2, 2));
        assert_eq!(tally.not_ended, 1);
        assert_eq!((requests.not_connected, requests.unanswered), (1, 2));
        assert_eq!(tally.accepted.len(), 2);
        assert_eq!(tally.errors(), 4, "a request in flight is no error yet");
        let codes: Vec<_> = tally.refusals.keys().map(|one| one.code.clone()).collect();
        assert_eq!(codes, [None, Some("RF0026".to_owned())]);
    }

    #[test]
    fn a_batch_counts_each_of_its_items() {
        let mut tally = Tally::default();
        let body = format!(
            r#"{{"items":[{{"accepted":{{"execution_id":"{ID}","status":"pending"}}}},
                {{"problem":{{"type":"t","title":"full","status":507,"code":"RF0029","detail":"d"}}}}],
                "next_cursor":null}}"#
        );
        assert!(tally.note(MS, answer(202, &body), Expected::Batch));
        assert_eq!(
            (
                tally.requests.accepted,
                tally.accepted.len(),
                tally.errors()
            ),
            (1, 1, 1)
        );
        assert_eq!(tally.refusals.keys().next().unwrap().status, 507);
    }

    #[test]
    fn shares_of_latencies() {
        let mut latencies = Latencies::default();
        assert_eq!((latencies.at(0.5), latencies.at(1.0)), (0, 0));
        for ms in 1..=1_000 {
            latencies.add(Duration::from_millis(ms));
        }
        latencies.add(Duration::from_secs(90_000));
        let near = |us: u64, ms: u64| us.abs_diff(ms * 1_000) <= ms;
        assert!(near(latencies.at(0.5), 501), "{}", latencies.at(0.5));
        assert!(near(latencies.at(0.99), 991), "{}", latencies.at(0.99));
        assert!(
            latencies.at(1.0) >= LATENCY_MAX_US,
            "too long is the longest"
        );
        assert_eq!(latencies.len(), 1_001);
    }
}
