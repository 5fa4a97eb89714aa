//! Requests that the committer has taken in and not yet decided: in order of arrival, held back while
//! a batch on its way changes what they are about.

use std::collections::{HashMap, HashSet, VecDeque};

use refire_core::id::ExecutionId;
use refire_store::Part;

use super::lane::{BATCH_BYTES_MAX, BATCH_REQUESTS_MAX};
use super::request::{Cause, CommitFailure, Request};
use super::under_way::{Concerns, UnderWay};

/// Times a command is decided again because its execution had moved: by another node, or between
/// an attempt's beginning and its result.
const CONFLICTS_MAX: u32 = 5;
/// Requests of one batch: what two lanes give at once.
const REQUESTS_MAX: usize = 2 * BATCH_REQUESTS_MAX;
/// Bytes of one batch.
const BYTES_MAX: usize = 2 * BATCH_BYTES_MAX;

#[derive(Default)]
struct Load {
    weight: usize,
    bytes: usize,
}

impl Load {
    fn add(&mut self, request: &Request) {
        self.weight += request.weight();
        self.bytes += request.bytes();
    }

    /// Whether one more fits into a batch.
    fn fits(&self) -> bool {
        self.weight < REQUESTS_MAX && self.bytes < BYTES_MAX
    }
}

/// See the module.
pub(super) struct Waiting {
    /// With a batch on its way, the next sets out when so many requests can be in it.
    overlap_from: usize,
    requests: VecDeque<Request>,
    /// Of all of them, as parts and bytes.
    load: Load,
    /// Those among them that concern everything.
    alone: usize,
    /// How often executions had moved when they were to be changed.
    conflicts: HashMap<ExecutionId, u32>,
}

impl Waiting {
    pub(super) fn new(overlap_from: usize) -> Self {
        Self {
            overlap_from: overlap_from.max(1),
            requests: VecDeque::new(),
            load: Load::default(),
            alone: 0,
            conflicts: HashMap::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Whether more may be taken in.
    pub(super) fn has_room(&self) -> bool {
        self.load.weight < BATCH_REQUESTS_MAX && self.load.bytes < BATCH_BYTES_MAX
    }

    pub(super) fn extend(&mut self, requests: Vec<Request>) {
        requests.iter().for_each(|request| self.count(request));
        self.requests.extend(requests);
    }

    fn count(&mut self, request: &Request) {
        self.load.add(request);
        self.alone += usize::from(concerns_everything(request));
    }

    /// A batch has come back: those of its requests that must be decided again go first.
    pub(super) fn again(&mut self, executions: &HashSet<ExecutionId>, again: Vec<Request>) {
        let moved: HashSet<ExecutionId> = again.iter().filter_map(Request::execution).collect();
        self.conflicts
            .retain(|id, _| !executions.contains(id) || moved.contains(id));
        for id in &moved {
            *self.conflicts.entry(*id).or_default() += 1;
        }
        for request in again.into_iter().rev() {
            let count = request.execution().and_then(|id| self.conflicts.get(&id));
            if count.is_some_and(|count| *count > CONFLICTS_MAX) {
                request.refuse(&CommitFailure::Contended);
            } else {
                self.count(&request);
                self.requests.push_front(request);
            }
        }
        self.conflicts.retain(|_, count| *count <= CONFLICTS_MAX);
    }

    /// The next batch, if one may set out now.
    pub(super) fn next(&mut self, under_way: &UnderWay) -> Option<(Vec<Request>, Concerns)> {
        if !under_way.has_room() {
            return None;
        }
        if under_way.is_empty() {
            let apart = under_way.is_shared();
            return (!self.is_empty()).then(|| self.take_first(apart));
        }
        // What concerns everything has its turn when all are back, and is not passed over till then.
        if self.requests.len() < self.overlap_from || self.alone > 0 {
            return None;
        }
        let (mut held, mut load) = (HashSet::new(), Load::default());
        let mut is_free = |request: &Request| {
            let mut is_free = load.fits();
            each_execution(request, |id| {
                is_free &= !under_way.concerns(id) && !held.contains(&id);
            });
            if !is_free {
                // Those behind it that are about the same stay behind it.
                each_execution(request, |id| {
                    held.insert(id);
                });
            } else {
                load.add(request);
            }
            is_free
        };
        let free: Vec<bool> = self.requests.iter().map(&mut is_free).collect();
        if free.iter().filter(|free| **free).count() < self.overlap_from {
            return None;
        }
        let mut free = free.into_iter();
        let all = self.take_all();
        let (now, later) = all.into_iter().partition(|_| free.next().unwrap_or(false));
        self.extend(later);
        let concerns = concerns_of(&now);
        Some((now, concerns))
    }

    /// As many as fit into a batch, in order. Where it matters how often the store is asked, what asks
    /// before it writes goes apart from what is sent in one go.
    fn take_first(&mut self, apart: bool) -> (Vec<Request>, Concerns) {
        let mut now = self.take_all();
        let mut load = Load::default();
        let mut first = None;
        let end = now.iter().position(|request| {
            let asks = apart && asks_first(request);
            let fits = load.fits() && *first.get_or_insert(asks) == asks;
            load.add(request);
            !fits
        });
        let later = now.split_off(end.unwrap_or(now.len()));
        self.extend(later);
        let concerns = concerns_of(&now);
        (now, concerns)
    }

    fn take_all(&mut self) -> Vec<Request> {
        (self.load, self.alone) = (Load::default(), 0);
        Vec::from(std::mem::take(&mut self.requests))
    }

    /// Answers everything without committing it.
    pub(super) fn refuse_all(&mut self, failure: &CommitFailure) {
        for request in self.take_all() {
            request.refuse(failure);
        }
    }
}

fn concerns_of(requests: &[Request]) -> Concerns {
    let mut concerns = Concerns::default();
    for request in requests {
        concerns.everything |= concerns_everything(request);
        each_execution(request, |id| {
            concerns.executions.insert(id);
        });
    }
    concerns
}

/// Whether a request changes what no list of executions tells, as claims, definitions and dead letters
/// do.
fn concerns_everything(request: &Request) -> bool {
    match request {
        Request::Part { part, .. } => {
            // Workers that wait take what nobody else is about to change, without waiting for it.
            !matches!(
                part,
                Part::Begin(_)
                    | Part::Release(_)
                    | Part::Fire(_)
                    | Part::LockTasks(_)
                    | Part::TouchTask(_)
            )
        }
        Request::Admit(_) => asks_first(request),
        Request::Command { .. } => false,
    }
}

/// Whether a store asks questions before it writes this, so that the transaction stays open meanwhile.
/// Of a command this is not known before it is decided; few of them settle a letter.
fn asks_first(request: &Request) -> bool {
    match request {
        Request::Part { part, .. } => part.asks_first(),
        Request::Admit(all) => all.iter().any(|admit| {
            let cause = admit.terms.cause.as_ref();
            admit.terms.letter.is_some()
                || admit.terms.bulk.is_some()
                || matches!(cause, Some(Cause::Scheduled(_) | Cause::Told(_)))
        }),
        Request::Command { .. } => false,
    }
}

/// The executions whose order of changes matters to a request. A new one too: others may read it from
/// the store, and want to change it, before this node has heard that it is there.
fn each_execution(request: &Request, mut each: impl FnMut(ExecutionId)) {
    match request {
        Request::Command { id, .. } => each(*id),
        Request::Part { part, .. } => match part {
            Part::Begin(begin) => begin.work.iter().for_each(|(key, _)| each(key.execution)),
            Part::Release(release) => release.work.iter().for_each(|(key, _)| each(key.execution)),
            Part::TouchTask(touch) => each(touch.id.execution),
            _ => {}
        },
        Request::Admit(all) => all.iter().for_each(|admit| each(admit.id)),
    }
}

#[cfg(test)]
mod tests {
    use refire_core::execution::Command;
    use refire_core::id::NodeId;
    use refire_core::time::Timestamp;
    use refire_store::model::{Disk, NoFaults};
    use refire_store::{Claim, Release, WorkKey};
    use tokio::sync::oneshot;

    use super::super::request::{CommandError, Unsettled};
    use super::super::under_way::Returned;
    use super::*;

    const NODE: NodeId = NodeId::from_bytes([9; 16]);

    fn id(number: u8) -> ExecutionId {
        ExecutionId::from_bytes([number; 16])
    }

    fn command(number: u8) -> Request {
        Request::Command {
            id: id(number),
            command: Box::new(Command::Pause { by: None }),
            known: None,
            decided: None,
            reply: None,
            permit: None,
            seen: None,
        }
    }

    fn release(number: u8) -> Request {
        let key = WorkKey {
            execution: id(number),
            step: "a".to_owned(),
        };
        let work = vec![(key, None)];
        let part = Part::Release(Release { node: NODE, work });
        Request::Part { part, reply: None }
    }

    fn claim() -> Request {
        let part = Part::Claim(Claim {
            node: NODE,
            wants: Vec::new(),
        });
        Request::Part { part, reply: None }
    }

    fn shared() -> UnderWay {
        let clock = std::sync::Arc::new(|| Timestamp::from_micros(0));
        UnderWay::to(&Disk::shared(clock).open(std::sync::Arc::new(NoFaults)))
    }

    fn own() -> UnderWay {
        UnderWay::to(&Disk::new().open(std::sync::Arc::new(NoFaults)))
    }

    /// Sends the next batch, if one may go; it never comes back. The executions of it.
    fn send(waiting: &mut Waiting, under_way: &mut UnderWay) -> Option<Vec<ExecutionId>> {
        let (requests, concerns) = waiting.next(under_way)?;
        let mut executions = Vec::new();
        for request in &requests {
            each_execution(request, |id| executions.push(id));
        }
        under_way.send(concerns, std::future::pending());
        Some(executions)
    }

    #[test]
    fn what_a_batch_on_its_way_changes_waits_with_all_that_comes_after_it() {
        let (mut waiting, mut under_way) = (Waiting::new(1), shared());
        waiting.extend(vec![command(1), command(2)]);
        assert_eq!(send(&mut waiting, &mut under_way).unwrap(), [id(1), id(2)]);
        // The release of 3 is free, but must not overtake a command that is held with it.
        let mut both = release(3);
        if let Request::Part {
            part: Part::Release(release),
            ..
        } = &mut both
        {
            let other = WorkKey {
                execution: id(2),
                step: "a".to_owned(),
            };
            release.work.push((other, None));
        }
        waiting.extend(vec![command(2), both, command(3), command(4), release(5)]);
        assert_eq!(send(&mut waiting, &mut under_way).unwrap(), [id(4), id(5)]);
        assert!(
            send(&mut waiting, &mut under_way).is_none(),
            "two are under way"
        );
        assert_eq!(waiting.requests.len(), 3);
    }

    #[test]
    fn what_concerns_everything_goes_alone_and_is_not_passed_over() {
        let (mut waiting, mut under_way) = (Waiting::new(1), shared());
        waiting.extend(vec![command(1)]);
        send(&mut waiting, &mut under_way).unwrap();
        waiting.extend(vec![claim(), command(2)]);
        assert!(send(&mut waiting, &mut under_way).is_none());
        let mut under_way = shared();
        assert_eq!(send(&mut waiting, &mut under_way).unwrap(), [id(2)]);
        waiting.extend(vec![command(3)]);
        assert!(send(&mut waiting, &mut under_way).is_none());
        assert!(under_way.concerns(id(3)));
    }

    #[test]
    fn what_asks_first_is_not_sent_with_the_others() {
        let chore = || Request::Part {
            part: Part::LogRequests(Vec::new()),
            reply: None,
        };
        let all = || vec![command(1), claim(), chore(), chore(), command(2)];
        let batches = |mut under_way: UnderWay| {
            let mut waiting = Waiting::new(1);
            waiting.extend(all());
            let mut sizes = Vec::new();
            while let Some((requests, _)) = waiting.next(&under_way) {
                sizes.push(requests.len());
                under_way = match under_way.is_shared() {
                    true => shared(),
                    false => own(),
                };
            }
            sizes
        };
        assert_eq!(batches(shared()), [2, 2, 1]);
        assert_eq!(batches(own()), [5]);
    }

    #[test]
    fn a_second_batch_sets_out_when_it_is_worth_it() {
        let (mut waiting, mut under_way) = (Waiting::new(3), shared());
        waiting.extend(vec![command(1)]);
        send(&mut waiting, &mut under_way).unwrap();
        waiting.extend(vec![command(1), command(2), command(3)]);
        assert!(send(&mut waiting, &mut under_way).is_none(), "two are free");
        waiting.extend(vec![command(4)]);
        assert_eq!(send(&mut waiting, &mut under_way).unwrap().len(), 3);
    }

    #[test]
    fn a_store_of_ones_own_gets_one_batch_at_a_time() {
        let (mut waiting, mut under_way) = (Waiting::new(1), own());
        waiting.extend(vec![command(1)]);
        send(&mut waiting, &mut under_way).unwrap();
        waiting.extend(vec![command(2)]);
        assert!(send(&mut waiting, &mut under_way).is_none());
    }

    #[tokio::test]
    async fn a_batch_that_comes_back_sets_its_executions_free() {
        let (mut waiting, mut under_way) = (Waiting::new(1), shared());
        waiting.extend(vec![command(1)]);
        let (requests, concerns) = waiting.next(&under_way).unwrap();
        let executions = concerns.executions.clone();
        under_way.send(concerns, async move {
            Returned {
                node: NODE,
                now: Timestamp::from_micros(0),
                executions,
                again: requests,
                groups: Vec::new(),
            }
        });
        waiting.extend(vec![command(1)]);
        assert!(waiting.next(&under_way).is_none());
        let returned = under_way.next().await.unwrap();
        waiting.again(&returned.executions, returned.again);
        assert_eq!(waiting.next(&under_way).unwrap().0.len(), 2);
    }

    #[tokio::test]
    async fn an_execution_that_others_keep_moving_is_given_up() {
        let mut waiting = Waiting::new(1);
        let (reply, answer) = oneshot::channel();
        let mut request = command(1);
        if let Request::Command { reply: to, .. } = &mut request {
            *to = Some(reply);
        }
        waiting.extend(vec![request]);
        for _ in 0..=CONFLICTS_MAX {
            let (requests, concerns) = waiting.take_first(true);
            assert_eq!(requests.len(), 1);
            waiting.again(&concerns.executions, requests);
        }
        let heard = answer.await.unwrap().unwrap_err();
        let contended = Unsettled::Not(CommandError::Failed(CommitFailure::Contended));
        assert_eq!(format!("{heard:?}"), format!("{contended:?}"));
        assert!(waiting.is_empty() && waiting.conflicts.is_empty());
    }
}
