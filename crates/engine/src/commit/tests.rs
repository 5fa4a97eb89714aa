//! Two committers on one store: what one knows of an execution is of the past once the other has
//! moved it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::{ParseOptions, StepId, Workflow};
use refire_core::execution::{
    Began, Cancel, Command, Execution, Outcome, Refusal, Report, Start, Status, StepStatus, start,
};
use refire_core::failure::Failure;
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_store::model::{Disk, Faults, Model, Moment, NoFaults, Verdict};
use refire_store::{Batch, Executions, NotWritten, Part, PutWorkflow, ReadError, Store};
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::request::Unsettled;
use super::unit::Unit;
use super::{
    AdmitRequest, AdmitTerms, AfterCommit, BatchEnd, CommandError, CommitTimes, Committer,
    FollowUp, Request, Returned, Tools, Written, lanes,
};
use crate::aside::{Aside, SEARCH_BYTES_MAX};
use crate::caller::Caller;
use crate::catalog::Catalog;
use crate::clock::{Clock, SystemClock};
use crate::context::Context;
use crate::entropy::SystemEntropy;
use crate::limit::{Limits, Slots};
use crate::lock::Mutex;
use crate::maintenance::Retention;
use crate::membership::{Membership, NodeSettings};
use crate::secret::EnvironmentSecrets;
use crate::step::Clients;
use crate::step::local::LocalTasks;
use crate::target::{HttpAnswer, HttpRequest, Tether};
use crate::task::Board;
use crate::waiter::Waiters;

const SOURCE: &str = "id: orders
output: \"${steps.a.output}\"
steps:
  - {id: a, type: local, config: {task: t}}
  - {id: b, type: local, config: {task: t}, needs: []}
";
const ID: ExecutionId = ExecutionId::from_bytes([7; 16]);

/// Nothing runs here.
struct Nobody;

impl AfterCommit for Nobody {
    fn written(&self, _: &Written, _: Vec<FollowUp>) {}
    fn refused(&self, _: ExecutionId) {}
    fn must_stop(&self) {}
}

/// And nothing is called.
struct NoTarget;

#[async_trait]
impl Caller for NoTarget {
    async fn call(&self, _: HttpRequest) -> Result<HttpAnswer, Failure> {
        unreachable!("nothing runs")
    }
}

/// Counts what a committer reads.
#[derive(Default)]
struct Loads(AtomicU32);

impl Loads {
    fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Faults for Loads {
    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        if what == "load" {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

async fn committer(store: &Arc<Model>) -> Committer {
    committer_that_searches(store, SEARCH_BYTES_MAX).await
}

async fn committer_that_searches(store: &Arc<Model>, search_bytes_max: usize) -> Committer {
    let store: Arc<dyn Store> = Arc::<Model>::clone(store);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let entropy = Arc::new(SystemEntropy::default());
    let (settings, tether) = (NodeSettings::default(), Tether::default());
    let joined = Membership::join(
        Arc::clone(&store),
        Arc::clone(&clock),
        entropy.clone(),
        settings,
        tether,
    );
    let (queue, _) = lanes();
    let context = Context {
        breakers: crate::breaker::Desk::default(),
        notices: crate::notify::Wanted::default(),
        tally: crate::tally::Tally::default(),
        alerts_every: Duration::from_secs(10),
        address: String::new(),
        catalog: Arc::new(Catalog::new(Arc::clone(&store))),
        store,
        slots: Slots::new(Limits::default(), false),
        clock,
        entropy,
        membership: joined.await.unwrap(),
        queue,
        aside: Aside::on_runtime().at_once_up_to(search_bytes_max),
        waiters: Waiters::default(),
        commit_times: CommitTimes::default(),
        tasks: Board::default(),
        clients: Clients {
            http: Arc::new(NoTarget),
            local: LocalTasks::default(),
            secrets: Arc::new(EnvironmentSecrets),
            issuer: crate::callback::Issuer::default(),
            own: std::sync::OnceLock::new(),
            guard: crate::target::Guard::new(crate::target::Allow::Nothing),
        },
        vault: None,
        retention: Retention::default(),
        closing: CancellationToken::new(),
        stopping: CancellationToken::new(),
        broken: CancellationToken::new(),
        listeners: Mutex::default(),
    };
    Committer::new(Tools {
        context: Arc::new(context),
        after: Arc::new(Nobody),
        overlap_from: 1,
    })
}

/// Decides, writes and answers these, as often as it takes.
async fn work_off(committer: &mut Committer, requests: Vec<Request>) {
    committer.waiting.extend(requests);
    loop {
        committer.send_what_may_go();
        let Some(returned) = committer.under_way.next().await else {
            break;
        };
        assert_eq!(committer.settle(returned), BatchEnd::Settled);
    }
}

/// A request for an execution whose two steps run.
async fn admission(committer: &Committer) -> Request {
    let now = committer.tools.clock.now();
    let workflow = Workflow::parse(SOURCE, &ParseOptions::default()).unwrap();
    let put = PutWorkflow {
        id: workflow.id.clone(),
        name: "orders".to_owned(),
        content_hash: [1; 32],
        source: SOURCE.to_owned(),
        by: "ada".to_owned(),
        expected: None,
    };
    let parts = vec![Part::PutWorkflow(Box::new(put))];
    let batch = Batch {
        commit_id: [1; 16],
        lease: None,
        now,
        parts,
    };
    committer.tools.store.commit(&batch).await.unwrap();
    let decision = start(
        &workflow,
        Start::plain(ID, 42, Json::parse("{}").unwrap()),
        now,
    );
    let admit = AdmitRequest {
        id: ID,
        workflow: Arc::new(workflow),
        decision: Box::new(decision),
        terms: AdmitTerms::default(),
    };
    Request::Admit(vec![admit])
}

/// It is admitted by the committer; its state then.
async fn admitted(committer: &mut Committer) -> Arc<Execution> {
    let request = admission(committer).await;
    let Request::Admit(all) = &request else {
        panic!("it is an admission");
    };
    let state = Arc::new(all[0].decision.state.clone());
    work_off(committer, vec![request]).await;
    state
}

async fn ask_all(
    committer: &mut Committer,
    asked: Vec<(Command, Option<Arc<Execution>>)>,
) -> Vec<Result<Arc<Execution>, CommandError>> {
    let (mut requests, mut answers) = (Vec::new(), Vec::new());
    for (command, known) in asked {
        let (reply, answer) = oneshot::channel();
        requests.push(Request::Command {
            id: ID,
            command: Box::new(command),
            known,
            decided: None,
            reply: Some(reply),
            permit: None,
            seen: None,
        });
        answers.push(answer);
    }
    work_off(committer, requests).await;
    let mut heard = Vec::new();
    for answer in answers {
        heard.push(answer.await.unwrap().map_err(|unsettled| match unsettled {
            Unsettled::Not(error) => error,
            Unsettled::TooHeavy(..) => CommandError::Refused(Refusal::TooHeavy),
        }));
    }
    heard
}

async fn ask(
    committer: &mut Committer,
    command: Command,
    known: Option<Arc<Execution>>,
) -> Result<Arc<Execution>, CommandError> {
    let mut heard = ask_all(committer, vec![(command, known)]).await;
    heard.pop().unwrap()
}

fn done(step: &str) -> Command {
    Command::Report(Report {
        step: StepId::new(step).unwrap(),
        attempt: 1,
        began: Began::Called(SystemClock::new().now()),
        duration_ms: 1,
        outcome: Outcome::Succeeded(Json::parse("1").unwrap()),
        mapped: None,
    })
}

#[tokio::test]
async fn what_would_search_much_is_left_to_the_sender() {
    let store = Arc::new(Disk::new().open(Arc::new(NoFaults)));
    let mut committer = committer_that_searches(&store, 0).await;
    admitted(&mut committer).await;
    // The first end reads nothing; the second is followed by the output.
    assert!(ask(&mut committer, done("a"), None).await.is_ok());
    let heard = ask(&mut committer, done("b"), None).await;
    assert_eq!(heard, Err(CommandError::Refused(Refusal::TooHeavy)));
    let stored = store.load(ID).await.unwrap().unwrap();
    assert!(!stored.state.status.is_terminal(), "nothing was written");
}

/// A disk that has no room for what moves executions.
struct Full;

#[async_trait]
impl Faults for Full {
    async fn commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        let moves = |part: &Part| matches!(part, Part::Advance(_));
        match moment == Moment::Arrived && batch.parts.iter().any(moves) {
            true => Verdict::Refuse(NotWritten::Full),
            false => Verdict::Go,
        }
    }
}

#[tokio::test]
async fn a_state_that_is_not_durable_is_given_to_nobody() {
    let store = Arc::new(Disk::new().open(Arc::new(Full)));
    let mut committer = committer_that_searches(&store, 0).await;
    admitted(&mut committer).await;
    // In one batch: the second comes after the first, on a state that is never written. Decided on that,
    // it would fit an execution in which something else has happened by then.
    let both = vec![(done("a"), None), (done("b"), None)];
    for heard in ask_all(&mut committer, both).await {
        assert!(matches!(heard, Err(CommandError::Failed(_))), "{heard:?}");
    }
}

#[tokio::test]
async fn a_cancel_counts_what_began_by_a_clock_that_is_ahead() {
    let store = Arc::new(Disk::new().open(Arc::new(NoFaults)));
    let mut committer = committer(&store).await;
    let state = admitted(&mut committer).await;
    let workflow = Arc::new(Workflow::parse(SOURCE, &ParseOptions::default()).unwrap());
    let now = committer.tools.clock.now();
    let soon = now.plus(Duration::from_millis(40));
    let mut work = store.load(ID).await.unwrap().unwrap().work;
    for row in &mut work {
        (row.begun, row.begun_at) = (true, Some(soon));
    }
    // Begun ahead of its time, so that it is called on time.
    (work[1].begun_at, work[1].due_at) = (Some(now), Some(soon));
    let mut cancel = Cancel::by(None);
    let mut unit = Unit::execution(ID, state, workflow, Some(work));
    unit.tell_what_runs(&mut cancel, &[], now);
    let begun: Vec<_> = cancel
        .begun
        .iter()
        .map(|begun| (begun.step.as_ref(), begun.began.at()))
        .collect();
    assert_eq!(begun, [("a", Some(now))]);
}

const PAUSE: Command = Command::Pause { by: None };
const RESUME: Command = Command::Resume { by: None };

#[tokio::test]
async fn a_known_state_saves_the_read_and_one_of_the_past_changes_nothing() {
    let disk = Disk::new();
    let loads = Arc::new(Loads::default());
    let store = Arc::new(disk.open(loads.clone()));
    let (mut here, mut there) = (committer(&store).await, committer(&store).await);
    let first = admitted(&mut here).await;
    // What it knows is true still.
    let state = ask(&mut there, done("b"), Some(Arc::clone(&first))).await;
    assert_eq!(state.unwrap().status, Status::Pending);
    assert_eq!(loads.count(), 0);
    // The other one's copy is of the past now: so it is decided on what became of it.
    let state = ask(&mut here, done("a"), None).await.unwrap();
    assert_eq!(state.status, Status::Completed);
    assert_eq!(loads.count(), 1);
    // A late result, with what was known when its attempt began.
    let mut late = committer(&store).await;
    let answer = ask(&mut late, done("a"), Some(first)).await;
    let ended = CommandError::Refused(Refusal::Ended(Status::Completed));
    assert_eq!(answer.unwrap_err(), ended);
    assert_eq!(disk.durable().log(ID).count() as u64, state.version);
}

#[tokio::test]
async fn what_is_refused_is_refused_by_the_stores_own_state() {
    let disk = Disk::new();
    let store = Arc::new(disk.open(Arc::new(NoFaults)));
    let (mut here, mut there) = (committer(&store).await, committer(&store).await);
    admitted(&mut here).await;
    ask(&mut there, PAUSE, None).await.unwrap();
    // Here it is known as not paused, and a refusal would be wrong.
    let state = ask(&mut here, RESUME, None).await.unwrap();
    assert_eq!(state.paused_at, None);
    // There it is known as paused, and saying so would be wrong.
    let state = ask(&mut there, PAUSE, None).await.unwrap();
    assert_eq!(state.status, Status::Paused);
    let log = disk.durable();
    let names: Vec<_> = log.log(ID).map(|event| event.name.to_string()).collect();
    let turns = ["EXECUTION_PAUSED", "EXECUTION_RESUMED", "EXECUTION_PAUSED"];
    assert_eq!(names[names.len() - 3..], turns);
}

#[tokio::test]
async fn a_refusal_beside_a_decision_waits_for_the_store_too() {
    let disk = Disk::new();
    let store = Arc::new(disk.open(Arc::new(NoFaults)));
    let (mut here, mut there) = (committer(&store).await, committer(&store).await);
    admitted(&mut here).await;
    ask(&mut there, PAUSE, None).await.unwrap();
    let asked = vec![(done("a"), None), (RESUME, None)];
    let heard = ask_all(&mut here, asked).await;
    assert!(heard.iter().all(Result::is_ok), "{heard:?}");
    let state = heard[1].as_ref().unwrap();
    assert_eq!(state.paused_at, None);
    let step = state.step(&StepId::new("a").unwrap()).unwrap();
    assert_eq!(step.status, StepStatus::Completed);
    // And one that stays refused says so.
    let asked = vec![(done("a"), None), (done("b"), None)];
    let heard = ask_all(&mut here, asked).await;
    let CommandError::Refused(Refusal::NotLive { .. }) = heard[0].as_ref().unwrap_err() else {
        panic!("{heard:?}");
    };
    assert_eq!(heard[1].as_ref().unwrap().status, Status::Completed);
}

/// Holds up what the store does, until it is let go.
struct HeldUp {
    answers: Semaphore,
    loads: Semaphore,
}

#[async_trait]
impl Faults for HeldUp {
    async fn commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        let admits = |part: &Part| matches!(part, Part::Admit(_));
        if moment == Moment::Durable && batch.parts.iter().any(admits) {
            self.answers.acquire().await.unwrap().forget();
        }
        Verdict::Go
    }

    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        if what == "load" {
            self.loads.acquire().await.unwrap().forget();
        }
        Ok(())
    }
}

/// A committer on a shared store that is held up, with an admission that is durable there and not
/// answered.
async fn unanswered() -> (Arc<HeldUp>, Committer) {
    let held_up = Arc::new(HeldUp {
        answers: Semaphore::new(0),
        loads: Semaphore::new(0),
    });
    let disk = Disk::shared(Arc::new(|| SystemClock::new().now()));
    let store = Arc::new(disk.open(held_up.clone()));
    let mut committer = committer(&store).await;
    let request = admission(&committer).await;
    committer.waiting.extend(vec![request]);
    committer.send_what_may_go();
    assert!(comes_back(&mut committer).await.is_none());
    assert_eq!(disk.durable().executions.len(), 1);
    (held_up, committer)
}

/// The batch that comes back without anything being waited for.
async fn comes_back(committer: &mut Committer) -> Option<Returned> {
    tokio::select! {
        biased;
        returned = committer.under_way.next() => returned,
        () = tokio::time::sleep(Duration::from_secs(60)) => None,
    }
}

fn pause(id: ExecutionId) -> Request {
    Request::Command {
        id,
        command: Box::new(PAUSE),
        known: None,
        decided: None,
        reply: None,
        permit: None,
        seen: None,
    }
}

#[tokio::test(start_paused = true)]
async fn who_reads_of_a_new_execution_before_its_node_has_heard_waits_for_that() {
    let (held_up, mut committer) = unanswered().await;
    held_up.loads.add_permits(9);
    committer.waiting.extend(vec![pause(ID)]);
    committer.send_what_may_go();
    assert!(!committer.waiting.is_empty(), "it is held back");
    assert!(comes_back(&mut committer).await.is_none());
    held_up.answers.add_permits(1);
    let admitted = comes_back(&mut committer).await.unwrap();
    committer.settle(admitted);
    committer.send_what_may_go();
    assert!(committer.waiting.is_empty());
    let paused = comes_back(&mut committer).await.unwrap();
    committer.settle(paused);
    assert_eq!(committer.cache.take(&ID).unwrap().status, Status::Paused);
}

#[tokio::test(start_paused = true)]
async fn a_slow_read_for_one_batch_holds_up_no_other() {
    let (held_up, mut committer) = unanswered().await;
    committer
        .waiting
        .extend(vec![pause(ExecutionId::from_bytes([8; 16]))]);
    committer.send_what_may_go();
    assert!(committer.waiting.is_empty(), "it has set out");
    assert!(comes_back(&mut committer).await.is_none());
    held_up.answers.add_permits(1);
    let admitted = comes_back(&mut committer).await.unwrap();
    assert!(admitted.executions.contains(&ID));
    held_up.loads.add_permits(1);
    assert!(comes_back(&mut committer).await.is_some());
}
