//! Events as no execution would write them: any kind, with any content, in any order.

use refire_core::dead_letter::Reason;
use refire_core::definition::{JitterSetting, RetrySettings, StepId, WorkflowId};
use refire_core::execution::event::{
    CompensationCause, CompensationCompleted, CompensationFailed, CompensationStarted,
    DeadLettered, ExecutionCancelled, ExecutionCompleted, ExecutionFailed, ExecutionPaused,
    ExecutionResumed, ExecutionStarted, Mapped, RetryScheduled, SkipReason, StepCompleted,
    StepFailed, StepLost, StepScheduled, StepSkipped, StepStarted, TimerFired, Unknown,
};
use refire_core::execution::{Event, EventKind, Lineage, RULES, Trigger, TriggerKind};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{DlqId, ExecutionId, NodeId};
use refire_core::json::Json;
use refire_core::time::Timestamp;

use super::choices::Choices;

const VALUES: [&str; 6] = [
    "null",
    "true",
    "12345678901234567890123",
    r#"{"b":1,"a":{"deep":[1.50,"\u0000"]}}"#,
    r#""text""#,
    "[[],{}]",
];

/// When logs begin.
pub(crate) const BEGINNING: Timestamp = Timestamp::from_millis(1_800_000_000_000);

pub(crate) fn step(choices: &mut Choices<'_>) -> StepId {
    let name = choices.pick(&["a", "b", "undo_a", "elsewhere"]);
    StepId::new(name).expect("a name")
}

pub(crate) fn value(choices: &mut Choices<'_>) -> Json {
    Json::parse(choices.pick(&VALUES)).expect("it is JSON")
}

pub(crate) fn failure(choices: &mut Choices<'_>) -> Failure {
    let mut failure = Failure::new(choices.pick(&ErrorClass::ALL), choices.text());
    failure.code = choices.maybe(|choices| choices.pick(&["503", "400", "E-1"]).to_owned());
    failure.retryable = choices.flag();
    failure.causes = choices.maybe(Choices::text).into_iter().collect();
    failure.response = choices.maybe(Choices::text);
    failure.retry_after_ms = choices.maybe(Choices::number);
    failure
}

/// The next event of a log. Most numbers follow on each other, some do not.
pub(crate) fn event(choices: &mut Choices<'_>, before: Option<&Event>) -> Event {
    let (sequence, at) = before.map_or((0, BEGINNING), |event| (event.sequence, event.at));
    let follows = choices.byte() < 240;
    Event {
        sequence: if follows {
            sequence.saturating_add(1)
        } else {
            choices.number()
        },
        at: choices.moment(at),
        step: choices.maybe(step),
        attempt: choices.maybe(Choices::small),
        backoff_ms: choices.maybe(Choices::number),
        reason: choices.maybe(Choices::text),
        kind: kind(choices, at),
    }
}

fn kind(choices: &mut Choices<'_>, now: Timestamp) -> EventKind {
    match choices.below(19) {
        0 => EventKind::ExecutionStarted(Box::new(started(choices, now))),
        1 => EventKind::StepScheduled(StepScheduled {
            due_at: choices.maybe(|choices| choices.moment(now)),
        }),
        2 => EventKind::StepStarted(StepStarted {
            started_at: choices.moment(now),
            answer: choices.maybe(value),
            duration_ms: choices.maybe(Choices::number),
            waits_until: choices.maybe(|choices| choices.moment(now)),
        }),
        3 => EventKind::StepCompleted(StepCompleted {
            output: choices.maybe(value),
            answer: choices.maybe(Choices::number),
            mapped: mapped(choices),
            duration_ms: choices.maybe(Choices::number),
            carried_from: choices.maybe(|choices| ExecutionId::from_bytes(choices.id())),
        }),
        4 => EventKind::StepFailed(StepFailed {
            error: failure(choices),
            last: choices.maybe(|choices| choices.pick(&Reason::ALL)),
            duration_ms: choices.maybe(Choices::number),
        }),
        5 => EventKind::StepLost(StepLost {
            node: choices.maybe(|choices| NodeId::from_bytes(choices.id())),
            begun: choices.flag(),
        }),
        6 => EventKind::StepSkipped(StepSkipped {
            because: choices.pick(&[SkipReason::When, SkipReason::Failing]),
        }),
        7 => EventKind::RetryScheduled(RetryScheduled {
            due_at: choices.moment(now),
        }),
        8 => EventKind::TimerFired(TimerFired {
            due_at: choices.moment(now),
            fired_at: choices.moment(now),
            early: false,
            by: None,
        }),
        kind => ending(choices, kind),
    }
}

fn ending(choices: &mut Choices<'_>, kind: usize) -> EventKind {
    match kind {
        9 => EventKind::CompensationStarted(CompensationStarted {
            undoes: step(choices),
            cause: choices.pick(&[CompensationCause::Failure, CompensationCause::Cancel]),
            by: choices.maybe(Choices::text),
        }),
        10 => EventKind::CompensationCompleted(CompensationCompleted {
            undoes: step(choices),
            output: choices.maybe(value),
            answer: choices.maybe(Choices::number),
        }),
        11 => EventKind::CompensationFailed(CompensationFailed {
            undoes: step(choices),
            error: failure(choices),
        }),
        12 => EventKind::ExecutionPaused(ExecutionPaused {
            by: choices.maybe(Choices::text),
        }),
        13 => EventKind::ExecutionResumed(ExecutionResumed {
            by: choices.maybe(Choices::text),
        }),
        14 => EventKind::DeadLettered(DeadLettered {
            dlq_id: DlqId::from_bytes(choices.id()),
            reason: choices.pick(&Reason::ALL),
        }),
        15 => EventKind::ExecutionCompleted(ExecutionCompleted {
            output: choices.maybe(value),
            output_of: choices.maybe(step),
            outputs_of: choices.maybe(step).into_iter().collect(),
        }),
        16 => EventKind::ExecutionFailed(ExecutionFailed {
            error: failure(choices),
        }),
        17 => EventKind::ExecutionCancelled(ExecutionCancelled {
            by: choices.maybe(Choices::text),
        }),
        _ => EventKind::Unknown(Unknown {
            name: "LATER".to_owned(),
            v: 1,
            payload: choices.text().into_bytes(),
        }),
    }
}

fn started(choices: &mut Choices<'_>, now: Timestamp) -> ExecutionStarted {
    let id = ExecutionId::from_bytes(choices.id());
    ExecutionStarted {
        id,
        workflow: WorkflowId::new("w").expect("a name"),
        workflow_version: choices.small(),
        // Mostly rules that can be decided by.
        rules: if choices.byte() < 250 {
            RULES
        } else {
            RULES + 1
        },
        seed: choices.number(),
        input: value(choices),
        trigger: Trigger {
            kind: choices.pick(&[TriggerKind::Manual, TriggerKind::Cron]),
            id: choices.maybe(Choices::text),
            by: choices.maybe(Choices::text),
            scheduled_at: choices.maybe(|choices| choices.moment(now)),
            cycle: None,
            awaits_end: false,
        },
        priority: choices.byte(),
        lineage: Lineage {
            letter: choices.maybe(|choices| DlqId::from_bytes(choices.id())),
            generation: choices.small(),
            ..Lineage::first(id)
        },
        automatic_retries: choices.flag(),
        retry: choices.maybe(|choices| RetrySettings {
            enabled: choices.maybe(Choices::flag),
            max_retries: choices.maybe(Choices::small),
            multiplier: choices.maybe(|choices| f64::from(choices.small()) / 3.0),
            jitter: choices.maybe(|choices| {
                let ratio = f64::from(choices.byte()) / 100.0;
                choices.pick(&[
                    JitterSetting::None,
                    JitterSetting::Full,
                    JitterSetting::Equal,
                    JitterSetting::Decorrelated,
                    JitterSetting::Additive,
                    JitterSetting::Proportional(ratio),
                ])
            }),
            ..RetrySettings::default()
        }),
        delay_until: choices.maybe(|choices| choices.moment(now)),
        idempotency_key: choices.maybe(Choices::text),
        limit_key: choices.maybe(Choices::text),
        rate_key: choices.maybe(Choices::text),
        trace: None,
    }
}

fn mapped(choices: &mut Choices<'_>) -> Vec<(String, Mapped)> {
    let part = |choices: &mut Choices<'_>| (choices.small(), choices.small());
    let all = (0..choices.below(3)).map(|_| {
        let key = choices.pick(&["x", "go", ""]).to_owned();
        let mapped = match choices.below(3) {
            0 => Mapped::Nothing,
            1 => {
                let (start, length) = part(choices);
                Mapped::One(start, length)
            }
            _ => Mapped::Many(vec![part(choices), part(choices)]),
        };
        (key, mapped)
    });
    all.collect()
}
