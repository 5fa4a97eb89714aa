//! Callbacks of targets: their rows with the moves of their executions, what targets say of how far they
//! are, and what becomes of them.

use std::time::Duration;

use refire_core::callback::{CallbackStatus, Noted};
use refire_core::definition::StepId;
use refire_core::execution::{Callback, Cancel, Command, Outcome, Said};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::ExecutionId;

use super::Lab;
use super::stage::{Run, Stage, json};
use crate::{
    CallbackKey, CallbackRow, CallbackTouch, OldExecutions, Part, PartOutcome, Prune, TouchCallback,
};

const SOURCE: &str = "
id: reports
retry: {initialDelay: 10s, jitter: none}
steps:
  - {id: a, type: http, config: {url: 'https://x.example/'}, callback: {window: 60s}, needs: []}
  - {id: b, type: http, config: {url: 'https://x.example/'}, callback: {window: 30s}, needs: []}
";

async fn one(lab: &dyn Lab) -> (Stage, Run) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(SOURCE).await;
    let run = stage.admit(&workflow, "{}").await;
    (stage, run)
}

fn key(execution: ExecutionId, step_no: u16, attempt: u32) -> CallbackKey {
    CallbackKey {
        execution,
        step_no,
        attempt,
    }
}

fn noted(progress: u8) -> Noted {
    Noted {
        progress: Some(progress),
        message: Some(format!("at \u{0} {progress}")),
        extra: Some(json(r#"{"batch":[1.50]}"#)),
        query_config: Some(vec![0, 255, progress]),
    }
}

fn failed() -> Said {
    Said::Failed(Failure::new(ErrorClass::CallbackFailed, "no \u{0} room"))
}

impl Stage {
    async fn callback(&self, key: CallbackKey) -> CallbackRow {
        self.store.callback(key).await.unwrap().unwrap()
    }

    async fn say(&mut self, run: &mut Run, step: &str, said: Said, noted: Noted) {
        let step = StepId::new(step).unwrap();
        let attempt = run.state.step(&step).unwrap().attempt;
        let callback = Callback {
            step,
            attempt,
            began: Some(self.now),
            said,
            mapped: None,
            noted,
        };
        self.send(run, Command::Callback(callback)).await;
    }

    async fn note(&mut self, key: CallbackKey, noted: Noted) -> bool {
        self.touch_callback(key, CallbackTouch::Noted(noted)).await
    }

    async fn touch_callback(&mut self, key: CallbackKey, touch: CallbackTouch) -> bool {
        let part = Part::TouchCallback(TouchCallback { key, touch });
        match self.commit_one(part).await {
            PartOutcome::Touched(was) => was,
            other => panic!("{other:?}"),
        }
    }

    /// The rows that wait, as the log says.
    async fn check_open(&self, run: &Run) {
        let rows = self.store.callbacks(run.id).await.unwrap();
        let open: Vec<_> = rows
            .iter()
            .filter_map(|row| Some((row.step.clone(), row.attempt, row.status, row.wake_at?)))
            .collect();
        let waits = run.state.steps.iter().filter_map(|(id, step)| {
            let awaited = step.awaited.as_ref()?;
            Some((id.to_string(), step.attempt, awaited.status, awaited.until))
        });
        assert_eq!(
            open,
            waits.collect::<Vec<_>>(),
            "the rows are what the log says"
        );
        self.check(run).await;
    }
}

pub async fn a_wait_is_found_again(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab).await;
    let report = Outcome::Accepted(json(r#"{"status":202}"#), vec![9, 0]);
    let command = stage.report(&run, "a", report);
    stage.send(&mut run, command).await;
    stage.check_open(&run).await;
    let row = stage.callback(key(run.id, 0, 1)).await;
    let until = stage.now.plus(Duration::from_secs(60));
    assert_eq!((row.step.as_str(), row.workflow.as_ref()), ("a", "reports"));
    assert_eq!(
        (row.status, row.until, row.wake_at),
        (CallbackStatus::Pending, until, Some(until))
    );
    assert_eq!((row.progress, row.message, row.extra), (None, None, None));
    assert_eq!(row.query_config, Some(vec![9, 0]));
    assert_eq!((row.created_at, row.updated_at), (stage.now, stage.now));
    for other in [
        key(run.id, 0, 2),
        key(run.id, 1, 1),
        key(ExecutionId::from_bytes([3; 16]), 0, 1),
    ] {
        assert_eq!(stage.store.callback(other).await.unwrap(), None);
    }
}

pub async fn what_is_sealed_is_sealed_anew(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab).await;
    let report = Outcome::Accepted(json("{}"), vec![9, 0]);
    let command = stage.report(&run, "a", report);
    stage.send(&mut run, command).await;
    let of = key(run.id, 0, 1);
    let row = stage.callback(of).await;
    let sealed = |from: &[u8]| CallbackTouch::Sealed {
        from: from.to_vec(),
        to: vec![7],
    };
    assert_eq!(stage.store.sealed_callbacks(None, 5).await.unwrap(), [row]);
    assert_eq!(stage.store.sealed_callbacks(Some(of), 5).await.unwrap(), []);
    assert!(
        !stage.touch_callback(of, sealed(&[9])).await,
        "it is something else by now"
    );
    assert!(
        !stage
            .touch_callback(key(run.id, 0, 2), sealed(&[9, 0]))
            .await
    );
    // Whether its attempt waits still does not matter.
    stage
        .say(&mut run, "a", Said::Success(json("{}")), Noted::default())
        .await;
    let ended = stage.callback(of).await;
    assert!(stage.touch_callback(of, sealed(&[9, 0])).await);
    let anew = CallbackRow {
        query_config: Some(vec![7]),
        ..ended
    };
    assert_eq!(stage.callback(of).await, anew, "and nothing else changes");
}

pub async fn what_a_target_says_is_kept(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab).await;
    stage.succeed(&mut run, "a", "{}").await;
    let of = key(run.id, 0, 1);
    assert!(
        !stage.note(of, noted(1)).await,
        "it has not said that it is at it"
    );
    stage.wait(5);
    stage.say(&mut run, "a", Said::Processing, noted(10)).await;
    stage.check_open(&run).await;
    let row = stage.callback(of).await;
    assert_eq!(
        (row.status, row.progress),
        (CallbackStatus::Processing, Some(10))
    );
    assert_eq!(row.message.as_deref(), Some("at \u{0} 10"));
    assert_eq!(row.extra.as_deref(), Some(r#"{"batch":[1.50]}"#));
    assert_eq!(row.query_config, Some(vec![0, 255, 10]));
    stage.wait(5);
    let progress = Noted {
        progress: Some(65),
        ..Noted::default()
    };
    assert!(stage.note(of, progress).await);
    let row = stage.callback(of).await;
    assert_eq!((row.progress, row.updated_at), (Some(65), stage.now));
    assert_eq!(
        row.message.as_deref(),
        Some("at \u{0} 10"),
        "what is not said stays"
    );
    stage.check_open(&run).await;
    stage
        .say(&mut run, "a", Said::Success(json("{}")), Noted::default())
        .await;
    stage.check_open(&run).await;
    let row = stage.callback(of).await;
    assert_eq!(
        (row.status, row.wake_at, row.progress),
        (CallbackStatus::Success, None, Some(65))
    );
    assert_eq!(row.query_config, Some(vec![0, 255, 10]));
    assert!(!stage.note(of, noted(99)).await, "the last word was said");
    assert!(!stage.note(key(run.id, 0, 7), noted(99)).await);
    assert_eq!(stage.callback(of).await.progress, Some(65));
}

pub async fn each_attempt_has_its_row(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab).await;
    stage.succeed(&mut run, "a", "{}").await;
    stage.say(&mut run, "a", failed(), noted(3)).await;
    stage.check_open(&run).await;
    stage.wait(10_000);
    // Before the answer of the second.
    stage.say(&mut run, "a", Said::Processing, noted(4)).await;
    stage.check_open(&run).await;
    let rows = stage.store.callbacks(run.id).await.unwrap();
    let said: Vec<_> = rows
        .iter()
        .map(|row| (row.attempt, row.status, row.progress))
        .collect();
    let expected = [
        (1, CallbackStatus::Failed, Some(3)),
        (2, CallbackStatus::Processing, Some(4)),
    ];
    assert_eq!(said, expected);
}

pub async fn windows_are_found_in_their_order(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab).await;
    assert_eq!(stage.store.next_callback_due().await.unwrap(), None);
    stage.succeed(&mut run, "a", "{}").await;
    stage.succeed(&mut run, "b", "{}").await;
    let at = |seconds| stage.now.plus(Duration::from_secs(seconds));
    let (soon, later) = (at(30), at(60));
    assert_eq!(stage.store.next_callback_due().await.unwrap(), Some(soon));
    let due = async |stage: &Stage, by, limit| {
        let rows = stage.store.due_callbacks(by, limit).await.unwrap();
        rows.into_iter().map(|row| row.step).collect::<Vec<_>>()
    };
    assert_eq!(due(&stage, at(29), 10).await, Vec::<String>::new());
    assert_eq!(due(&stage, soon, 10).await, ["b"]);
    assert_eq!(due(&stage, later, 10).await, ["b", "a"]);
    assert_eq!(due(&stage, later, 1).await, ["b"]);
    stage.wait(30_000);
    let over = Command::WindowOver {
        step: StepId::new("b").unwrap(),
        attempt: 1,
    };
    stage.send(&mut run, over).await;
    stage.check_open(&run).await;
    assert_eq!(due(&stage, later, 10).await, ["a"]);
    assert_eq!(stage.store.next_callback_due().await.unwrap(), Some(later));
    let row = stage.callback(key(run.id, 1, 1)).await;
    assert_eq!(
        (row.status, row.until),
        (CallbackStatus::Pending, soon),
        "it keeps its word"
    );
}

pub async fn a_cancel_closes_all(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab).await;
    stage.succeed(&mut run, "a", "{}").await;
    stage.say(&mut run, "b", Said::Processing, noted(1)).await;
    stage
        .send(&mut run, Command::Cancel(Cancel::by(None)))
        .await;
    stage.check_open(&run).await;
    let rows = stage.store.callbacks(run.id).await.unwrap();
    let said: Vec<_> = rows.iter().map(|row| (row.status, row.wake_at)).collect();
    let expected = [
        (CallbackStatus::Pending, None),
        (CallbackStatus::Processing, None),
    ];
    assert_eq!(said, expected);
    assert!(!stage.note(key(run.id, 1, 1), noted(2)).await);
    assert_eq!(stage.store.next_callback_due().await.unwrap(), None);
}

pub async fn a_move_that_is_refused_leaves_its_callbacks(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab).await;
    stage.succeed(&mut run, "a", "{}").await;
    let mut old = run.clone();
    stage.say(&mut run, "a", Said::Processing, noted(1)).await;
    let late = Callback {
        step: StepId::new("a").unwrap(),
        attempt: 1,
        began: None,
        said: failed(),
        mapped: None,
        noted: noted(2),
    };
    let late = stage.decide(&mut old, Command::Callback(late));
    let outcome = stage.commit_one(Part::Advance(Box::new(late))).await;
    assert_eq!(outcome, PartOutcome::Conflict);
    stage.check_open(&run).await;
    assert_eq!(stage.callback(key(run.id, 0, 1)).await.progress, Some(1));
}

pub async fn callbacks_go_with_their_execution(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab).await;
    stage.succeed(&mut run, "a", "{}").await;
    stage
        .send(&mut run, Command::Cancel(Cancel::by(None)))
        .await;
    stage.wait(10);
    let prune = Prune::Executions(OldExecutions {
        statuses: vec![run.state.status],
        before: stage.now,
        workflow: None,
        after: None,
        limit: 10,
    });
    stage.commit_one(Part::Prune(prune)).await;
    assert_eq!(stage.store.callbacks(run.id).await.unwrap(), []);
}

pub async fn a_workflow_that_waits_is_not_deleted(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab).await;
    stage.succeed(&mut run, "a", "{}").await;
    stage.succeed(&mut run, "b", "{}").await;
    assert!(run.work.is_empty(), "no node has anything to do");
    let counts = stage.store.open_counts(None).await.unwrap();
    assert_eq!(counts.executions, 1);
    let delete = || Part::DeleteWorkflow {
        id: super::stage::workflow_id("reports"),
    };
    let outcome = stage.commit_one(delete()).await;
    assert_eq!(outcome, PartOutcome::OpenExecutions(1));
    stage
        .send(&mut run, Command::Cancel(Cancel::by(None)))
        .await;
    assert_eq!(stage.commit_one(delete()).await, PartOutcome::Done);
}
