//! What the cases play on: a store, a clock, and executions that core's own decisions move.
//!
//! Every run keeps what the store should say about it, so that a case can ask "is it so?".

use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::{ParseOptions, StepId, Workflow, WorkflowId};
use refire_core::execution::{
    Began, Command, Event, Outcome, Report, Start, Trigger, decide, start,
};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{ExecutionId, NodeId, time_ordered};
use refire_core::json::Json;
use refire_core::time::Timestamp;

use super::Lab;
pub(super) use super::execution::Run;
use crate::{
    Admit, Advance, Batch, Begin, Claim, CommitError, EventFilter, ExecutionRow, Joining,
    LIMIT_MAX, Lease, Part, PartOutcome, PutWorkflow, Store, Want, WorkKey, WorkRow,
};

/// When every case begins.
pub(super) const BEGINNING: Timestamp = Timestamp::from_millis(1_800_000_000_000);
/// The node that the cases speak for.
pub(super) const NODE: NodeId = NodeId::from_bytes([7; 16]);
/// A node that died.
pub(super) const OTHER_NODE: NodeId = NodeId::from_bytes([9; 16]);

/// See the module.
pub(super) struct Stage {
    pub(super) store: Arc<dyn Store>,
    pub(super) now: Timestamp,
    /// A snapshot is written with every so many commits of an execution; 0 = with none.
    pub(super) snapshot_every: u64,
    /// Who commits, if it is a node.
    pub(super) lease: Option<NodeId>,
    serial: u32,
}

/// Two steps, the second after the first; two retries, ten seconds and twenty.
pub(super) fn two_steps(id: &str) -> String {
    format!(
        "id: {id}\nname: The {id}\n\
         retry: {{maxRetries: 2, initialDelay: 10s, strategy: exponential, jitter: none}}\n\
         steps:\n\
         \x20 - {{id: a, type: local, config: {{task: t}}}}\n\
         \x20 - {{id: b, type: local, config: {{task: t}}, needs: [a]}}\n"
    )
}

/// Steps that may run side by side.
pub(super) fn side_by_side(id: &str, steps: &[&str]) -> String {
    let mut source = format!("id: {id}\nretry: {{maxRetries: 1, jitter: none}}\nsteps:\n");
    for step in steps {
        source += &format!("  - {{id: {step}, type: local, config: {{task: t}}, needs: []}}\n");
    }
    source
}

pub(super) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

pub(super) fn workflow_id(id: &str) -> WorkflowId {
    WorkflowId::new(id).unwrap()
}

/// A node with a lease of so many seconds.
pub(super) fn joining(id: NodeId, seconds: u64) -> Joining {
    Joining {
        id,
        name: "machine".to_owned(),
        address: "127.0.0.1:7373".to_owned(),
        version: "0.1.0".to_owned(),
        lease: Duration::from_secs(seconds),
    }
}

/// These attempts of [`NODE`] begin.
pub(super) fn begin_by_node(work: Vec<(WorkKey, u32)>) -> Part {
    Part::Begin(Begin { node: NODE, work })
}

/// A status such as `503`, which is retried if it is one of the usual ones.
pub(super) fn http(status: &str) -> Failure {
    Failure::new(
        ErrorClass::HttpStatus,
        format!("the target answered {status}"),
    )
    .with_code(status)
}

impl Stage {
    pub(super) async fn open(lab: &dyn Lab) -> Self {
        Self {
            store: lab.open().await,
            now: BEGINNING,
            snapshot_every: 1,
            serial: 0,
            lease: None,
        }
    }

    /// A process becomes a node, for an hour.
    pub(super) async fn join(&self, id: NodeId) {
        let lease = self.store.join(&joining(id, 3_600), self.now).await;
        assert!(matches!(lease, Ok(Lease::Held { .. })), "{lease:?}");
    }

    /// Time goes by.
    pub(super) fn wait(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    /// A new id, later than all before.
    pub(super) fn id(&mut self) -> ExecutionId {
        self.serial += 1;
        let mut entropy = [0; 10];
        entropy[6..].copy_from_slice(&self.serial.to_be_bytes());
        let millis = u64::try_from(self.now.as_millis()).unwrap();
        ExecutionId::from_bytes(time_ordered(millis, entropy))
    }

    /// Tries to commit.
    pub(super) async fn try_commit(
        &mut self,
        parts: Vec<Part>,
    ) -> Result<Vec<PartOutcome>, CommitError> {
        self.serial += 1;
        let mut commit_id = [0; 16];
        commit_id[12..].copy_from_slice(&self.serial.to_be_bytes());
        let count = parts.len();
        let outcomes = self
            .store
            .commit(&Batch {
                commit_id,
                lease: self.lease,
                now: self.now,
                parts,
            })
            .await?;
        assert_eq!(outcomes.len(), count, "each part has its outcome");
        Ok(outcomes)
    }

    /// Commits what must be possible.
    pub(super) async fn commit(&mut self, parts: Vec<Part>) -> Vec<PartOutcome> {
        self.try_commit(parts).await.unwrap()
    }

    /// Commits one part.
    pub(super) async fn commit_one(&mut self, part: Part) -> PartOutcome {
        self.commit(vec![part]).await.pop().unwrap()
    }

    /// Saves a definition and gives the workflow.
    pub(super) async fn save(&mut self, source: &str) -> Workflow {
        let (put, workflow) = definition(source);
        let outcome = self.commit_one(Part::PutWorkflow(Box::new(put))).await;
        assert!(matches!(outcome, PartOutcome::Saved { .. }), "{outcome:?}");
        workflow
    }

    /// A start with this input, and nothing special.
    pub(super) fn plain_start(&mut self, input: &str) -> Start {
        let id = self.id();
        Start {
            trigger: Trigger::manual(Some("ada".to_owned())),
            ..Start::plain(id, 42, json(input))
        }
    }

    /// Decides a start; the caller commits it.
    pub(super) fn start(&mut self, workflow: &Workflow, with: Start) -> (Run, Admit) {
        let mut run = Run::new(with.id, workflow);
        let decision = start(workflow, with, self.now);
        let origin = decision.state.origin.clone().unwrap();
        let advance = run.take(decision, self.snapshot_every);
        let row = ExecutionRow {
            id: run.id,
            workflow: origin.workflow,
            workflow_version: origin.workflow_version,
            trigger: origin.trigger.kind.name(),
            trigger_id: origin.trigger.object(),
            priority: origin.priority,
            created_at: origin.created_at,
            parent: origin.lineage.parent,
            root: origin.lineage.root,
            update: advance.update,
        };
        let admit = Admit {
            row,
            events: advance.events,
            work: advance.work,
            tasks: advance.tasks,
            claim: None,
            letter: None,
            only_newest: false,
            trigger: None,
            request: None,
            new_letter: advance.new_letter,
            settle: advance.settle,
            end: None,
            bulk: None,
            notices: Vec::new(),
        };
        (run, admit)
    }

    /// Admits an execution with this input.
    pub(super) async fn admit(&mut self, workflow: &Workflow, input: &str) -> Run {
        let with = self.plain_start(input);
        let (run, admit) = self.start(workflow, with);
        let outcome = self.commit_one(Part::Admit(Box::new(admit))).await;
        assert_eq!(outcome, PartOutcome::Done);
        run
    }

    /// Claims work and gives the rows.
    pub(super) async fn claim(&mut self, wants: Vec<Want>) -> Vec<WorkRow> {
        let claim = Part::Claim(Claim { node: NODE, wants });
        match self.commit_one(claim).await {
            PartOutcome::Claimed(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    /// Claims the next work of a workflow and begins it.
    pub(super) async fn begin_next(&mut self, workflow: &Workflow) -> WorkRow {
        let mut rows = self.claim(vec![Want::any(workflow.id.clone(), 1)]).await;
        let mut row = rows.pop().expect("there is work");
        let begin = begin_by_node(vec![(row.key(), row.attempt)]);
        assert_eq!(self.commit_one(begin).await, PartOutcome::Begun(vec![true]));
        (row.begun, row.begun_at) = (true, Some(self.now));
        row
    }

    /// Decides a command that must be accepted; the caller commits it.
    pub(super) fn decide(&mut self, run: &mut Run, command: Command) -> Advance {
        let decision = decide(&run.workflow, &run.state, command, self.now).unwrap();
        run.take(decision, self.snapshot_every)
    }

    /// Decides a command and commits it.
    pub(super) async fn send(&mut self, run: &mut Run, command: Command) {
        let advance = self.decide(run, command);
        let outcome = self.commit_one(Part::Advance(Box::new(advance))).await;
        assert_eq!(outcome, PartOutcome::Done);
    }

    /// The step's live attempt ends well.
    pub(super) async fn succeed(&mut self, run: &mut Run, step: &str, output: &str) {
        let report = self.report(run, step, Outcome::Succeeded(json(output)));
        self.send(run, report).await;
    }

    /// The step's live attempt fails.
    pub(super) async fn fail(&mut self, run: &mut Run, step: &str, failure: Failure) {
        let report = self.report(run, step, Outcome::Failed(failure));
        self.send(run, report).await;
    }

    /// The report of the step's live attempt.
    pub(super) fn report(&self, run: &Run, step: &str, outcome: Outcome) -> Command {
        let step = StepId::new(step).unwrap();
        let attempt = run.state.step(&step).unwrap().attempt;
        Command::Report(Report {
            step,
            attempt,
            began: Began::Called(self.now),
            duration_ms: 5,
            outcome,
            mapped: None,
        })
    }

    /// Runs an execution into a dead letter: its first step fails and is not retried.
    pub(super) async fn dead_letter(&mut self, workflow: &Workflow, status: &str) -> Run {
        let mut run = self.admit(workflow, "{\"n\":1}").await;
        self.fail(&mut run, "a", http(status)).await;
        assert!(run.state.dlq_id.is_some(), "{status} is not retried");
        run
    }

    /// Asserts that the store says of an execution what it should.
    pub(super) async fn check(&self, run: &Run) {
        let stored = self
            .store
            .execution(run.id)
            .await
            .unwrap()
            .expect("it is there");
        assert_eq!(stored.id, run.id);
        assert_eq!(stored.state, run.state, "the state is the fold of the log");
        let expected: Vec<WorkRow> = run.work.values().cloned().collect();
        assert_eq!(stored.work, expected, "the work is what the decisions left");
        let loaded = self.store.load(run.id).await.unwrap();
        assert_eq!(loaded, Some(stored), "the committer sees the same");
        let all = EventFilter::default();
        let rows = self
            .store
            .history(run.id, &all, 0, LIMIT_MAX)
            .await
            .unwrap();
        let expected: Vec<_> = run.log.iter().map(Event::encode).collect();
        assert_eq!(rows, expected, "the log is what was decided");
    }

    /// Asserts that the store knows nothing of an execution.
    pub(super) async fn check_absent(&self, id: ExecutionId) {
        assert_eq!(self.store.execution(id).await.unwrap(), None);
        assert_eq!(self.store.load(id).await.unwrap(), None);
        let rows = self
            .store
            .history(id, &EventFilter::default(), 0, LIMIT_MAX)
            .await
            .unwrap();
        assert_eq!(rows, Vec::new());
    }
}

/// A definition as it is saved, and the workflow that it is.
pub(super) fn definition(source: &str) -> (PutWorkflow, Workflow) {
    use sha2::Digest;
    // Also what only the server can save.
    let options = ParseOptions {
        stored: true,
        ..ParseOptions::default()
    };
    let workflow = Workflow::parse(source, &options).unwrap();
    let put = PutWorkflow {
        id: workflow.id.clone(),
        name: workflow.name.clone(),
        content_hash: sha2::Sha256::digest(source.as_bytes()).into(),
        source: source.to_owned(),
        by: "ada".to_owned(),
        expected: None,
    };
    (put, workflow)
}
