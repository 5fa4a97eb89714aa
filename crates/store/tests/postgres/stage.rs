//! What the tests of several nodes play with: a workflow, and executions that move.

use refire_core::definition::{ParseOptions, StepId, Workflow};
use refire_core::execution::{Began, Command, Execution, Outcome, Report, Start, decide, start};
use refire_core::id::{ExecutionId, LockToken, NodeId, TaskId, time_ordered};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_store::postgres::{Options, Postgres};
use refire_store::{
    Admit, Advance, Batch, Claim, IdempotencyClaim, Joining, KnownBy, LockTasks, Part, PartOutcome,
    PutWorkflow, SeenTask, Store, TaskHolder, TaskRow, Touch, TouchTask, Want, WantedTasks,
    WorkRow,
};
use std::time::Duration;

use crate::decision::{self, Looks};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const SOURCE: &str = "id: orders\nsteps:\n\
    \x20 - {id: a, type: local, config: {task: t}}\n\
    \x20 - {id: b, type: local, config: {task: t}, needs: [a]}\n";

/// Two tasks for workers, side by side.
const TASKS: &str = "id: orders\nsteps:\n\
    \x20 - {id: a, type: external_task, config: {taskType: x}, needs: []}\n\
    \x20 - {id: b, type: external_task, config: {taskType: y}, needs: []}\n";

pub(crate) fn workflow() -> Workflow {
    parse(SOURCE)
}

fn parse(source: &str) -> Workflow {
    Workflow::parse(source, &ParseOptions::default()).unwrap()
}

pub(crate) fn node(n: u8) -> NodeId {
    NodeId::from_bytes([n; 16])
}

pub(crate) async fn open(url: &str) -> Postgres {
    Postgres::open(&Options::new(url).unwrap()).await.unwrap()
}

/// Makes batches and ids that nobody else makes.
pub(crate) struct Stage {
    pub(crate) workflow: Workflow,
    source: &'static str,
    /// Tells the batches and ids of different stages apart.
    number: u8,
    serial: u32,
    pub(crate) lease: Option<NodeId>,
}

impl Stage {
    pub(crate) fn new(number: u8) -> Self {
        Self::of(SOURCE, number)
    }

    /// The same whose steps are tasks for workers.
    pub(crate) fn with_tasks(number: u8) -> Self {
        Self::of(TASKS, number)
    }

    fn of(source: &'static str, number: u8) -> Self {
        Self {
            workflow: parse(source),
            source,
            number,
            serial: 0,
            lease: None,
        }
    }

    pub(crate) fn id(&mut self) -> ExecutionId {
        self.serial += 1;
        let mut entropy = [self.number; 10];
        entropy[2..6].copy_from_slice(&self.serial.to_be_bytes());
        ExecutionId::from_bytes(time_ordered(1_800_000_000_000, entropy))
    }

    pub(crate) fn batch(&mut self, parts: Vec<Part>) -> Batch {
        self.serial += 1;
        let mut commit_id = [self.number; 16];
        commit_id[4..8].copy_from_slice(&self.serial.to_be_bytes());
        Batch {
            commit_id,
            lease: self.lease,
            now: NOW,
            parts,
        }
    }

    pub(crate) async fn save(&mut self, store: &dyn Store) {
        let batch = self.batch(vec![self.put()]);
        store.commit(&batch).await.unwrap();
    }

    pub(crate) fn put(&self) -> Part {
        Part::PutWorkflow(Box::new(PutWorkflow {
            id: self.workflow.id.clone(),
            name: "orders".to_owned(),
            content_hash: [1; 32],
            source: self.source.to_owned(),
            by: "ada".to_owned(),
            expected: None,
        }))
    }

    /// A new execution.
    pub(crate) fn start(&mut self, input: &str) -> (Run, Admit) {
        let id = self.id();
        let with = Start::plain(id, 42, Json::parse(input).unwrap());
        let decision = start(&self.workflow, with, NOW);
        let looks = Looks {
            has_snapshot: true,
            owner: None,
            worker: None,
        };
        let admit = decision::admit(id, (&self.workflow, &decision), &looks);
        (
            Run {
                id,
                state: decision.state,
            },
            admit,
        )
    }

    /// A step of an execution has an end.
    pub(crate) fn report(&self, run: &mut Run, step: &str, outcome: Outcome) -> Advance {
        self.ended(run, step, Began::Called(NOW), outcome)
    }

    /// A worker's task has an end, as it was seen.
    pub(crate) fn end(&self, run: &mut Run, seen: &TaskRow, outcome: Outcome) -> Advance {
        let began = Began::Fetched {
            worker: seen.worker.clone(),
            at: NOW,
        };
        let mut advance = self.ended(run, &seen.step, began, outcome);
        advance.seen = Some(SeenTask {
            step: seen.step_no,
            rev: seen.rev,
        });
        advance
    }

    fn ended(&self, run: &mut Run, step: &str, began: Began, outcome: Outcome) -> Advance {
        let step = StepId::new(step).unwrap();
        let command = Command::Report(Report {
            attempt: run.state.step(&step).unwrap().attempt,
            step,
            began,
            duration_ms: 5,
            outcome,
            mapped: None,
        });
        self.decide(run, command)
    }

    pub(crate) fn succeed(&self, run: &mut Run, step: &str) -> Advance {
        self.report(
            run,
            step,
            Outcome::Succeeded(Json::parse("{\"ok\":1}").unwrap()),
        )
    }

    pub(crate) fn decide(&self, run: &mut Run, command: Command) -> Advance {
        let decision = decide(&self.workflow, &run.state, command, NOW).unwrap();
        let looks = Looks {
            has_snapshot: true,
            owner: None,
            worker: None,
        };
        let advance = decision::advance(
            run.id,
            run.state.version,
            (&self.workflow, &decision),
            &looks,
        );
        run.state = decision.state;
        advance
    }

    pub(crate) fn claim(&self, node: NodeId, up_to: u32) -> Part {
        Part::Claim(Claim {
            node,
            wants: vec![Want::any(self.workflow.id.clone(), up_to)],
        })
    }
}

/// An execution, as it should be.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) id: ExecutionId,
    pub(crate) state: Execution,
}

pub(crate) fn part(advance: Advance) -> Part {
    Part::Advance(Box::new(advance))
}

pub(crate) fn admission(admit: Admit) -> Part {
    Part::Admit(Box::new(admit))
}

pub(crate) fn key(n: u8) -> IdempotencyClaim {
    IdempotencyClaim {
        scope: "orders".to_owned(),
        key_hash: [n; 16],
        body_hash: [n; 8],
        expires_at: NOW.plus(Duration::from_secs(60)),
        over: None,
    }
}

/// Locks one task of a type for each of these.
pub(crate) fn lock(task_type: &str, tokens: &[u8]) -> Part {
    let holder = |number: &u8| TaskHolder {
        token: token(*number),
        worker: None,
        worker_type: None,
    };
    Part::LockTasks(LockTasks {
        wanted: vec![WantedTasks {
            types: vec![task_type.to_owned()],
            holders: tokens.iter().map(holder).collect(),
        }],
        place: 0,
    })
}

pub(crate) fn token(number: u8) -> LockToken {
    LockToken::from_bytes([number; 16])
}

/// A worker's word about a task that it has by this lock.
pub(crate) fn touch(id: TaskId, number: u8, touch: Touch) -> Part {
    let known = KnownBy::Token(token(number));
    Part::TouchTask(TouchTask { id, known, touch })
}

pub(crate) const BEAT: Touch = Touch::Heartbeat {
    progress: None,
    message: None,
};

pub(crate) fn locked(outcome: &PartOutcome) -> &[TaskRow] {
    match outcome {
        PartOutcome::Locked(rows) => rows,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn claimed(outcome: &PartOutcome) -> &[WorkRow] {
    match outcome {
        PartOutcome::Claimed(rows) => rows,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn join(store: &dyn Store, id: NodeId, lease: Duration) {
    let node = Joining {
        id,
        name: "machine".to_owned(),
        address: String::new(),
        version: "0.1.0".to_owned(),
        lease,
    };
    store.join(&node, NOW).await.unwrap();
}
