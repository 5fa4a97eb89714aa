//! The committer: the only writer of executions.
//!
//! What is queued is a command, not a decision. For each batch the committer takes the state of
//! every execution concerned, lets core decide command by command, and writes everything in one
//! transaction. Answers go out after that transaction is durable, never before. A reader who
//! knows this file knows where every change of state happens.

mod cache;
mod command;
mod decide;
mod lane;
#[cfg(feature = "planted")]
mod planted;
mod request;
mod rows;
mod settle;
#[cfg(test)]
mod tests;
mod times;
mod trouble;
mod under_way;
mod unit;
mod waiting;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use refire_core::execution::Execution;
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_store::{CommitError, NotWritten, PartOutcome};

use cache::Cache;
pub(crate) use decide::Tools;
pub(crate) use lane::Queue;
pub(crate) use lane::{Lanes, lanes};
pub(crate) use request::{AdmitRequest, AdmitTerms, Admitted, Cause, Request};
pub use request::{CommandError, CommitFailure, in_words};
pub(crate) use rows::TIMER_OWNED_WITHIN;
use settle::Settling;
pub(crate) use settle::{AfterCommit, Written};
pub(crate) use times::CommitTimes;
use trouble::Trouble;
use under_way::{Concerns, Group, Returned, UnderWay};
pub(crate) use unit::FollowUp;
use unit::Unit;
use waiting::Waiting;

/// An answer from a shared store that took longer is old: others may have cancelled or paused what it
/// tells of, and what they said about it came when nobody here knew it.
const FRESH_FOR: Duration = Duration::from_millis(250);

/// See the module.
pub(crate) struct Committer {
    tools: Arc<Tools>,
    cache: Cache,
    trouble: Trouble,
    waiting: Waiting,
    under_way: UnderWay,
}

/// How a batch ended, as far as the loop needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchEnd {
    /// The store answered for every part.
    Settled,
    /// It is not known what is durable: this process must stop and start again from the disk.
    MustStop,
}

impl Committer {
    pub(crate) fn new(tools: Tools) -> Self {
        let overlap_from = tools.overlap_from;
        Self {
            under_way: UnderWay::to(tools.store.as_ref()),
            tools: Arc::new(tools),
            cache: Cache::default(),
            trouble: Trouble::default(),
            waiting: Waiting::new(overlap_from),
        }
    }

    /// Works until the lanes are closed and empty, or until the store's state is not known.
    pub(crate) async fn run(mut self, mut lanes: Lanes) -> BatchEnd {
        let mut is_open = true;
        loop {
            self.send_what_may_go();
            if lanes.is_empty() && self.under_way.is_empty() {
                self.tools.store.idle();
            }
            let is_busy = !self.under_way.is_empty() || !self.waiting.is_empty();
            let takes_more = is_open && self.under_way.has_room() && self.waiting.has_room();
            tokio::select! {
                biased;
                Some(returned) = self.under_way.next() => {
                    if self.settle(returned) == BatchEnd::MustStop {
                        tracing::error!("a commit's outcome is unknown; stopping so that the disk decides");
                        self.tools.after.must_stop();
                        self.waiting.refuse_all(&CommitFailure::Unavailable);
                        lanes.refuse_all(|| CommitFailure::Unavailable);
                        return BatchEnd::MustStop;
                    }
                    // What came back may have had something put into the lanes since they were empty.
                    is_open = true;
                }
                more = lanes.next(is_busy), if takes_more => match more {
                    Some(requests) => self.waiting.extend(requests),
                    None => is_open = false,
                },
                else => break,
            }
        }
        lanes.refuse_all(|| CommitFailure::Stopping);
        BatchEnd::Settled
    }

    /// Sends the requests that need not wait for a batch on its way.
    fn send_what_may_go(&mut self) {
        while let Some((requests, concerns)) = self.waiting.next(&self.under_way) {
            if !self.tools.membership.is_member() {
                // It joins again soon, under another id.
                refuse_all(requests, &CommitFailure::Unavailable);
                self.waiting.again(&concerns.executions, Vec::new());
                continue;
            }
            self.send(requests, concerns);
        }
    }

    /// Deciding is a part of the way: it may have to read, and must not keep others from coming back.
    fn send(&mut self, requests: Vec<Request>, concerns: Concerns) {
        let now = self.tools.clock.now();
        let node = self.tools.membership.id();
        let at_hand = self.at_hand(&requests);
        let tools = Arc::clone(&self.tools);
        let executions = concerns.executions.clone();
        self.under_way.send(concerns, async move {
            let mut again = Vec::new();
            let units = tools.decide_all(at_hand, requests, node, now, &mut again);
            let units = units.await;
            let groups = under_way::write(&tools, units, node, now).await;
            Returned {
                node,
                now,
                executions,
                again,
                groups,
            }
        });
    }

    /// The cached states of what these requests are about. Whoever changes them puts them there again.
    fn at_hand(&mut self, requests: &[Request]) -> HashMap<ExecutionId, Arc<Execution>> {
        let ids = requests.iter().filter_map(Request::execution);
        let states = ids.filter_map(|id| Some((id, self.cache.take(&id)?)));
        states.collect()
    }

    /// Answers a batch that has come back.
    fn settle(&mut self, returned: Returned) -> BatchEnd {
        let Returned {
            node,
            now,
            executions,
            mut again,
            groups,
        } = returned;
        let mut end = BatchEnd::Settled;
        for Group { units, written } in groups {
            match written {
                Ok(outcomes) => {
                    if !outcomes.is_empty() {
                        self.trouble.written();
                    }
                    self.answer(units, outcomes, now, &mut again);
                }
                Err(CommitError::NotWritten {
                    reason: NotWritten::LeaseLost,
                    ..
                }) => {
                    self.tools.membership.lost(node);
                    fail(units, &CommitFailure::Unavailable);
                }
                Err(CommitError::NotWritten { reason, source }) => {
                    self.trouble.not_written(reason, source.as_ref());
                    fail(units, &CommitFailure::not_written(reason, source.as_ref()));
                }
                Err(CommitError::Unknown(source)) => {
                    let error: &(dyn std::error::Error + 'static) = source.as_ref();
                    tracing::error!(error, "it is not known whether a commit was written");
                    fail(units, &CommitFailure::Unknown);
                    end = self.is_in_doubt(node);
                }
            }
        }
        if end == BatchEnd::MustStop {
            refuse_all(again, &CommitFailure::Unavailable);
        } else {
            self.waiting.again(&executions, again);
        }
        end
    }

    /// Nobody knows what this node committed.
    fn is_in_doubt(&self, node: NodeId) -> BatchEnd {
        if !self.tools.store.is_shared() {
            return BatchEnd::MustStop;
        }
        #[cfg(feature = "planted")]
        if planted::forgets_unknown() {
            return BatchEnd::Settled;
        }
        // Whatever it made this node own is not known here. Under a new id the store tells it like
        // any other work of a node that is gone.
        self.tools.membership.lost(node);
        BatchEnd::Settled
    }

    /// Hands each unit its outcome: replies, cache, dispatch.
    fn answer(
        &mut self,
        units: Vec<Unit>,
        outcomes: Vec<PartOutcome>,
        now: Timestamp,
        again: &mut Vec<Request>,
    ) {
        let mut outcomes = outcomes.into_iter();
        let age = self.tools.clock.now().since(now);
        let mut settling = Settling {
            cache: &mut self.cache,
            now,
            is_old: self.tools.store.is_shared() && age > FRESH_FOR,
            after: self.tools.after.as_ref(),
        };
        for unit in units {
            let outcome = if unit.has_part() {
                outcomes.next()
            } else {
                None
            };
            settle::settle(unit, outcome, &mut settling, again);
        }
    }
}

/// The states they were decided on were taken out of the cache and stay out.
fn fail(units: Vec<Unit>, failure: &CommitFailure) {
    for unit in units {
        unit.fail(failure);
    }
}

fn refuse_all(requests: Vec<Request>, failure: &CommitFailure) {
    for request in requests {
        request.refuse(failure);
    }
}
