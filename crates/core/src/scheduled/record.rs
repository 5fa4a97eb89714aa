//! What became of the attempts of a task's execution, as its log tells it: one record for each.

use crate::callback::CallbackStatus;
use crate::execution::{Event, EventKind};
use crate::failure::{ErrorClass, Failure};
use crate::json::{Json, ObjectBuilder, Segment};
use crate::scheduled::STEP;
use crate::time::Timestamp;

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The attempt, counted from 1.
    pub attempt: u32,
    /// The cycle that it belongs to.
    pub cycle: Option<u64>,
    /// Whether the cycle was tried before.
    pub is_retry: bool,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was over.
    pub completed_at: Option<Timestamp>,
    /// How the call went; none while it is under way.
    pub trigger_status: Option<TriggerStatus>,
    /// What it came back with: `{status, body}` or `{error}`.
    pub trigger_result: Option<Json>,
    /// How the task went, as far as anybody knows.
    pub execution_status: ExecutionStatus,
    /// How far its target was, in percent, when it called back first or last.
    pub progress: Option<u8>,
    /// The same in its words.
    pub progress_message: Option<String>,
    /// What its target said at last that came of it.
    pub result: Option<Json>,
    /// When something was last heard of it.
    pub updated_at: Timestamp,
}

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TriggerStatus {
    /// The target accepted it.
    Success,
    /// It did not, or could not be reached.
    Failed,
    /// It did not answer in time.
    Timeout,
}

impl TriggerStatus {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
        }
    }
}

/// How a task went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExecutionStatus {
    /// It is being called, or was accepted and nothing more was said.
    Pending,
    /// Its target has said that it is at it.
    Processing,
    /// Its target has said that it went well.
    Success,
    /// Its target has said that it failed, or somebody cancelled it.
    Failed,
    /// Its target did not answer in time.
    Timeout,
    /// Its target could not be called, or did not accept it.
    TriggerFailed,
}

impl ExecutionStatus {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Processing,
        Self::Success,
        Self::Failed,
        Self::Timeout,
        Self::TriggerFailed,
    ];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::TriggerFailed => "trigger_failed",
        }
    }
}

impl Record {
    /// About how much it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of = |value: &Option<Json>| value.as_ref().map_or(0, |value| value.as_str().len());
        of(&self.trigger_result) + of(&self.result)
    }
}

/// The records of an execution, by attempt. An attempt whose time has not come yet has none.
#[must_use]
pub fn records(events: &[Event], now: Timestamp) -> Vec<Record> {
    let mut fold = Fold::default();
    for event in events {
        fold.take(event);
    }
    fold.records
        .retain(|record| record.started_at <= now || record.trigger_status.is_some());
    fold.records
}

#[derive(Default)]
struct Fold {
    cycle: Option<u64>,
    is_repeated: bool,
    records: Vec<Record>,
}

impl Fold {
    fn take(&mut self, event: &Event) {
        match &event.kind {
            EventKind::ExecutionStarted(started) => {
                self.cycle = started.trigger.cycle;
                self.is_repeated = started.lineage.parent.is_some();
            }
            EventKind::ExecutionCancelled(_) => self.cancelled(event.at),
            _ => {}
        }
        let (Some(step), Some(attempt)) = (&event.step, event.attempt) else {
            return;
        };
        if step.as_str() != STEP {
            return;
        }
        match &event.kind {
            EventKind::StepScheduled(scheduled) => {
                self.open(attempt, scheduled.due_at.unwrap_or(event.at));
            }
            EventKind::RetryScheduled(retry) => {
                self.open(attempt, retry.due_at);
            }
            EventKind::StepStarted(started) => {
                let record = self.open(attempt, started.started_at);
                record.started_at = started.started_at;
                record.updated_at = record.updated_at.max(event.at);
                if let Some(output) = &started.answer {
                    record.accepted(Some(output));
                }
            }
            EventKind::CallbackReceived(said) => {
                let record = self.open(attempt, event.at);
                record.accepted(None);
                record.execution_status = match said.status {
                    CallbackStatus::Pending => ExecutionStatus::Pending,
                    CallbackStatus::Processing => ExecutionStatus::Processing,
                    CallbackStatus::Success => ExecutionStatus::Success,
                    CallbackStatus::Failed => ExecutionStatus::Failed,
                };
                record.progress = said.progress.or(record.progress);
                if said.progress_message.is_some() {
                    record.progress_message.clone_from(&said.progress_message);
                }
                record.updated_at = record.updated_at.max(event.at);
            }
            EventKind::CallAnswered(answered) => {
                let record = self.open(attempt, event.at);
                if let Some(failure) = &answered.error {
                    record.trigger_result = Some(error(failure));
                } else {
                    record.accepted(answered.answer.as_ref());
                }
                record.updated_at = record.updated_at.max(event.at);
            }
            EventKind::StepCompleted(completed) => {
                let record = self.open(attempt, event.at);
                // What a target said at last is in its callback; only an answer is the call's own.
                let is_said = record.execution_status == ExecutionStatus::Success;
                record.accepted(completed.output.as_ref().filter(|_| !is_said));
                let said = completed.output.as_ref().filter(|_| is_said);
                record.result = said.and_then(result_of);
                record.ended(event.at);
            }
            EventKind::StepFailed(failed) => {
                self.open(attempt, event.at).failed(&failed.error, event.at)
            }
            EventKind::StepLost(_) => {
                let lost = Failure::new(ErrorClass::NodeLost, "the node died during the attempt");
                self.open(attempt, event.at).failed(&lost, event.at);
            }
            _ => {}
        }
    }

    /// The record of an attempt.
    fn open(&mut self, attempt: u32, at: Timestamp) -> &mut Record {
        let place = self
            .records
            .iter()
            .position(|known| known.attempt == attempt);
        let place = place.unwrap_or_else(|| {
            self.records.push(Record {
                attempt,
                cycle: self.cycle,
                is_retry: self.is_repeated || attempt > 1,
                started_at: at,
                completed_at: None,
                trigger_status: None,
                trigger_result: None,
                execution_status: ExecutionStatus::Pending,
                progress: None,
                progress_message: None,
                result: None,
                updated_at: at,
            });
            self.records.len() - 1
        });
        &mut self.records[place]
    }

    /// Whatever was under way is not any more.
    fn cancelled(&mut self, at: Timestamp) {
        self.records
            .retain(|record| record.started_at <= at || record.trigger_status.is_some());
        if let Some(last) = self.records.last_mut()
            && last.completed_at.is_none()
        {
            last.execution_status = ExecutionStatus::Failed;
            let error = ObjectBuilder::new().text("error", "cancelled").build();
            last.trigger_result.get_or_insert(error);
            last.ended(at);
        }
    }
}

impl Record {
    fn ended(&mut self, at: Timestamp) {
        self.completed_at = Some(at);
        self.updated_at = self.updated_at.max(at);
    }

    /// The target has accepted the task, with this answer if it is known.
    fn accepted(&mut self, output: Option<&Json>) {
        self.trigger_status = Some(TriggerStatus::Success);
        if let Some(output) = output {
            self.trigger_result = Some(answer(output));
        }
    }

    fn failed(&mut self, failure: &Failure, at: Timestamp) {
        if failure.class == ErrorClass::CallbackFailed {
            self.accepted(None);
            self.execution_status = ExecutionStatus::Failed;
            let said = failure.response.as_deref();
            let said = said.and_then(|said| Json::parse(said).ok());
            self.result = said.as_ref().and_then(result_of);
            return self.ended(at);
        }
        if self.execution_status == ExecutionStatus::Processing {
            // It had said that it was at it; its answer says otherwise.
            self.execution_status = ExecutionStatus::Failed;
            self.trigger_result = Some(error(failure));
            return self.ended(at);
        }
        let is_late = matches!(
            failure.class,
            ErrorClass::ConnectTimeout | ErrorClass::ReadTimeout
        );
        (self.trigger_status, self.execution_status) = match is_late {
            true => (Some(TriggerStatus::Timeout), ExecutionStatus::Timeout),
            false => (Some(TriggerStatus::Failed), ExecutionStatus::TriggerFailed),
        };
        self.trigger_result = Some(error(failure));
        self.ended(at);
    }
}

/// What a target's last word says that came of it.
fn result_of(said: &Json) -> Option<Json> {
    said.at(&[Segment::Key("result".into())])
}

/// `{status, body}` of an answer.
fn answer(output: &Json) -> Json {
    let mut result = ObjectBuilder::new();
    for key in ["status", "body"] {
        let value = output.at(&[Segment::Key(key.into())]);
        result.push(key, &value.unwrap_or_else(Json::null));
    }
    result.build()
}

/// `{status, body}` of an answer that says failure, with what is wrong; `{error}` where there was none.
fn error(failure: &Failure) -> Json {
    let status = failure.code.as_deref().and_then(|code| code.parse().ok());
    let mut result = ObjectBuilder::new();
    if let Some(status) = status.filter(|_| failure.class == ErrorClass::HttpStatus) {
        result = result.number("status", status);
        let body = failure.response.as_deref().unwrap_or_default();
        let body = Json::parse(body).unwrap_or_else(|_| Json::string(body));
        result.push("body", &body);
    }
    let error = ObjectBuilder::new()
        .text("type", failure.class.name())
        .text("message", &failure.message)
        .build();
    result.json("error", &error).build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::StepId;
    use crate::execution::event::{
        CallAnswered, CallbackReceived, ExecutionCancelled, RetryScheduled, StepCompleted,
        StepFailed, StepLost, StepScheduled, StepStarted,
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    fn event(seconds: i64, attempt: u32, kind: EventKind) -> Event {
        Event {
            sequence: 1,
            at: at(seconds),
            step: Some(StepId::new(STEP).unwrap()),
            attempt: Some(attempt),
            backoff_ms: None,
            reason: None,
            kind,
        }
    }

    fn scheduled() -> Event {
        event(
            1,
            1,
            EventKind::StepScheduled(StepScheduled { due_at: None }),
        )
    }

    fn started(answer: Option<&str>) -> Event {
        let started = StepStarted {
            answer: answer.map(json),
            waits_until: answer.map(|_| at(99)),
            ..StepStarted::at(at(2))
        };
        event(3, 1, EventKind::StepStarted(started))
    }

    fn said(status: CallbackStatus, progress: u8) -> Event {
        let said = CallbackReceived {
            status,
            progress: Some(progress),
            progress_message: Some(format!("{progress} of 100")),
            early: false,
        };
        event(4, 1, EventKind::CallbackReceived(said))
    }

    fn answered(failure: Failure) -> Event {
        let answered = CallAnswered {
            answer: None,
            error: Some(failure),
            duration_ms: None,
        };
        event(5, 1, EventKind::CallAnswered(answered))
    }

    fn completed(output: Option<&str>) -> Event {
        let completed = StepCompleted {
            output: output.map(json),
            answer: output.is_none().then_some(3),
            mapped: Vec::new(),
            duration_ms: None,
            carried_from: None,
        };
        event(6, 1, EventKind::StepCompleted(completed))
    }

    fn failed(failure: Failure) -> Event {
        let failed = StepFailed {
            error: failure,
            last: None,
            duration_ms: None,
        };
        event(6, 1, EventKind::StepFailed(failed))
    }

    fn status(code: &str) -> Failure {
        let failure = Failure::new(ErrorClass::HttpStatus, "no").with_code(code);
        Failure {
            response: Some("{\"a\":1}".to_owned()),
            ..failure
        }
    }

    const ANSWER: &str = r#"{"status":202,"headers":{},"body":{"id":7}}"#;

    #[expect(clippy::too_many_lines, reason = "a table")]
    #[test]
    fn each_history_is_a_record_in_words() {
        use CallbackStatus::{Failed, Processing, Success};
        let late = || Failure::new(ErrorClass::ReadTimeout, "late");
        let callback_failed = || Failure::new(ErrorClass::CallbackFailed, "no room");
        let lost = StepLost {
            node: None,
            begun: true,
        };
        let table: Vec<(Vec<Event>, Option<&str>, &str, bool)> = vec![
            (vec![scheduled()], None, "pending", false),
            (
                vec![scheduled(), started(Some(ANSWER))],
                Some("success"),
                "pending",
                false,
            ),
            (
                vec![scheduled(), started(Some(ANSWER)), said(Processing, 5)],
                Some("success"),
                "processing",
                false,
            ),
            (
                vec![
                    scheduled(),
                    started(Some(ANSWER)),
                    said(Success, 100),
                    completed(Some("{\"status\":\"success\"}")),
                ],
                Some("success"),
                "success",
                true,
            ),
            (
                vec![
                    scheduled(),
                    started(Some(ANSWER)),
                    said(Failed, 5),
                    failed(callback_failed()),
                ],
                Some("success"),
                "failed",
                true,
            ),
            (
                vec![scheduled(), started(Some(ANSWER)), completed(None)],
                Some("success"),
                "pending",
                true,
            ),
            (
                vec![scheduled(), said(Processing, 1), answered(late())],
                Some("success"),
                "processing",
                false,
            ),
            (
                vec![scheduled(), said(Processing, 1), failed(status("500"))],
                Some("success"),
                "failed",
                true,
            ),
            (
                vec![scheduled(), started(None), completed(Some(ANSWER))],
                Some("success"),
                "pending",
                true,
            ),
            (
                vec![scheduled(), started(None), failed(status("500"))],
                Some("failed"),
                "trigger_failed",
                true,
            ),
            (
                vec![scheduled(), started(None), failed(late())],
                Some("timeout"),
                "timeout",
                true,
            ),
            (
                vec![scheduled(), event(6, 1, EventKind::StepLost(lost))],
                Some("failed"),
                "trigger_failed",
                true,
            ),
        ];
        for (events, trigger, execution, is_over) in table {
            let [record] = &records(&events, at(9))[..] else {
                panic!("one record of {events:?}");
            };
            let found = record.trigger_status.map(TriggerStatus::name);
            assert_eq!(found, trigger, "{events:?}");
            assert_eq!(record.execution_status.name(), execution, "{events:?}");
            assert_eq!(record.completed_at.is_some(), is_over, "{events:?}");
        }
    }

    #[test]
    fn a_record_has_what_came_back() {
        let result = |events: &[Event]| {
            let record = records(events, at(9)).remove(0);
            record
                .trigger_result
                .map(|result| result.as_str().to_owned())
        };
        let accepted = r#"{"status":202,"body":{"id":7}}"#;
        let events = [scheduled(), started(Some(ANSWER))];
        assert_eq!(result(&events).as_deref(), Some(accepted));
        let late = Failure::new(ErrorClass::Dns, "unknown name");
        let said = r#"{"error":{"type":"dns","message":"unknown name"}}"#;
        assert_eq!(result(&[scheduled(), failed(late)]).as_deref(), Some(said));
        let refused = result(&[scheduled(), failed(status("422"))]).unwrap();
        assert!(
            refused.starts_with(r#"{"status":422,"body":{"a":1},"#),
            "{refused}"
        );
    }

    #[test]
    fn an_attempt_to_come_has_no_record_yet() {
        let retry = RetryScheduled { due_at: at(60) };
        let retry = event(6, 2, EventKind::RetryScheduled(retry));
        let events = [scheduled(), failed(status("500")), retry];
        assert_eq!(records(&events, at(59)).len(), 1);
        let both = records(&events, at(60));
        assert_eq!((both[1].attempt, both[1].is_retry), (2, true));
        assert_eq!((both[1].trigger_status, both[1].started_at), (None, at(60)));
    }

    #[test]
    fn what_was_under_way_is_over_with_a_cancel() {
        let cancelled = ExecutionCancelled { by: None };
        let mut cancelled = event(7, 1, EventKind::ExecutionCancelled(cancelled));
        (cancelled.step, cancelled.attempt) = (None, None);
        let record = records(&[scheduled(), cancelled], at(9)).remove(0);
        assert_eq!(record.execution_status, ExecutionStatus::Failed);
        assert_eq!(record.completed_at, Some(at(7)));
    }
}
