//! Events as no execution would write them: any kind, with any content.

use proptest::prelude::*;

use crate::callback::CallbackStatus;
use crate::dead_letter::Reason;
use crate::definition::{JitterSetting, RetrySettings, StepId, WorkflowId};
use crate::execution::decide::RULES;
use crate::execution::decide::tests::fixture::step_id;
use crate::execution::event::{
    CallAnswered, CallbackReceived, CompensationCause, CompensationCompleted, CompensationFailed,
    CompensationStarted, DeadLettered, Event, EventKind, ExecutionCancelled, ExecutionCompleted,
    ExecutionFailed, ExecutionPaused, ExecutionResumed, ExecutionStarted, ExternalTaskCreated,
    ExternalTaskLocked, ExternalTaskReleased, Lineage, Mapped, RetryScheduled, SkipReason,
    StepCompleted, StepFailed, StepLost, StepScheduled, StepSkipped, StepStarted, TimerFired,
    Trigger, TriggerKind, Unknown,
};
use crate::failure::{ErrorClass, Failure};
use crate::id::{DlqId, ExecutionId, NodeId};
use crate::json::Json;
use crate::time::Timestamp;

fn any_step() -> impl Strategy<Value = StepId> {
    prop::sample::select(vec!["a", "b", "undo_a", "elsewhere"]).prop_map(step_id)
}

fn any_time() -> impl Strategy<Value = Timestamp> {
    // All moments that a calendar has a text for, from year 1 to 9999.
    (-62_135_596_800_000_000i64..253_402_207_200_000_000).prop_map(Timestamp::from_micros)
}

fn any_json() -> impl Strategy<Value = Json> {
    prop::sample::select(vec![
        "null",
        "true",
        "12345678901234567890123",
        r#"{"b":1,"a":{"deep":[1.50,"\u0000"]}}"#,
        r#""text""#,
        "[]",
    ])
    .prop_map(|text| Json::parse(text).unwrap())
}

fn any_failure() -> impl Strategy<Value = Failure> {
    (
        prop::sample::select(ErrorClass::ALL.to_vec()),
        prop::option::of("[0-9]{3}"),
        ".{0,20}",
        any::<bool>(),
        prop::option::of(".{0,20}"),
        prop::option::of(any::<u64>()),
        prop::option::of("[a-z]{1,9}:[0-9]{4}"),
    )
        .prop_map(
            |(class, code, message, retryable, response, retry_after_ms, target)| {
                let causes = vec![message.clone()];
                Failure {
                    class,
                    code,
                    message,
                    retryable,
                    causes,
                    response,
                    retry_after_ms,
                    target,
                }
            },
        )
}

fn any_by() -> impl Strategy<Value = Option<String>> {
    prop::option::of(".{0,8}")
}

fn any_mapped() -> impl Strategy<Value = Vec<(String, Mapped)>> {
    let part = prop_oneof![
        Just(Mapped::Nothing),
        any::<(u32, u32)>().prop_map(|(start, len)| Mapped::One(start, len)),
        prop::collection::vec(any::<(u32, u32)>(), 0..3).prop_map(Mapped::Many),
    ];
    prop::collection::vec((".{0,5}", part), 0..3)
}

fn any_start() -> impl Strategy<Value = EventKind> {
    let numbers = (any::<bool>(), 0u32..20, 1.0f64..10.0, 0.0f64..1.0);
    let retry = prop::option::of(numbers).prop_map(|settings| {
        settings.map(|(enabled, max, multiplier, ratio)| RetrySettings {
            enabled: Some(enabled),
            max_retries: Some(max),
            multiplier: Some(multiplier),
            jitter: Some(JitterSetting::Proportional(ratio)),
            ..RetrySettings::default()
        })
    });
    (
        any::<([u8; 16], u32, u64, u8, bool)>(),
        any_json(),
        any_by(),
        retry,
        prop::option::of(any_time()),
        prop::option::of(any::<[u8; 16]>()),
    )
        .prop_map(
            |((id, version, seed, priority, automatic), input, by, retry, time, letter)| {
                let id = ExecutionId::from_bytes(id);
                EventKind::ExecutionStarted(Box::new(ExecutionStarted {
                    id,
                    workflow: WorkflowId::new("w").unwrap(),
                    workflow_version: version,
                    rules: RULES,
                    seed,
                    input,
                    trigger: Trigger {
                        kind: TriggerKind::Cron,
                        id: by.clone(),
                        by,
                        scheduled_at: time,
                        cycle: None,
                        awaits_end: false,
                    },
                    priority,
                    lineage: Lineage {
                        letter: letter.map(DlqId::from_bytes),
                        ..Lineage::first(id)
                    },
                    automatic_retries: automatic,
                    retry,
                    delay_until: time,
                    idempotency_key: None,
                    limit_key: None,
                    rate_key: None,
                    trace: None,
                }))
            },
        )
}

fn any_step_kind() -> impl Strategy<Value = EventKind> {
    let reason = || prop::sample::select(Reason::ALL.to_vec());
    prop_oneof![
        prop::option::of(any_time())
            .prop_map(|due_at| EventKind::StepScheduled(StepScheduled { due_at })),
        (
            any_time(),
            prop::option::of(any_json()),
            any::<Option<u64>>(),
            prop::option::of(any_time())
        )
            .prop_map(|(started_at, answer, duration_ms, waits_until)| {
                EventKind::StepStarted(StepStarted {
                    started_at,
                    answer,
                    duration_ms,
                    waits_until,
                })
            }),
        (
            prop::option::of(any_json()),
            any_mapped(),
            any::<Option<u64>>(),
            any::<Option<[u8; 16]>>()
        )
            .prop_map(
                |(output, mapped, duration_ms, from)| EventKind::StepCompleted(StepCompleted {
                    answer: output.is_none().then_some(3),
                    output,
                    mapped,
                    duration_ms,
                    carried_from: from.map(ExecutionId::from_bytes),
                })
            ),
        (
            any_failure(),
            prop::option::of(reason()),
            any::<Option<u64>>()
        )
            .prop_map(
                |(error, last, duration_ms)| EventKind::StepFailed(StepFailed {
                    error,
                    last,
                    duration_ms
                })
            ),
        any::<(Option<[u8; 16]>, bool)>().prop_map(|(node, begun)| EventKind::StepLost(StepLost {
            node: node.map(NodeId::from_bytes),
            begun
        })),
        prop::sample::select(vec![SkipReason::When, SkipReason::Failing])
            .prop_map(|because| EventKind::StepSkipped(StepSkipped { because })),
        any_time().prop_map(|due_at| EventKind::RetryScheduled(RetryScheduled { due_at })),
        (any_time(), any_time(), any::<bool>()).prop_map(|(due_at, fired_at, early)| {
            EventKind::TimerFired(TimerFired {
                due_at,
                fired_at,
                early,
                by: early.then(|| "ada".to_owned()),
            })
        }),
        any_outside_kind(),
        any_undoing_kind(),
    ]
}

/// What workers and targets outside do.
fn any_outside_kind() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        ("[a-z]{1,9}", any::<u8>(), prop::option::of(any_json())).prop_map(
            |(task_type, priority, input)| {
                EventKind::ExternalTaskCreated(ExternalTaskCreated {
                    task_type,
                    priority,
                    input,
                })
            }
        ),
        (any_by(), any_time()).prop_map(|(worker_id, locked_at)| {
            EventKind::ExternalTaskLocked(ExternalTaskLocked {
                worker_id,
                locked_at,
            })
        }),
        prop::sample::select(ErrorClass::ALL.to_vec()).prop_map(|because| {
            EventKind::ExternalTaskReleased(ExternalTaskReleased { because })
        }),
        (
            prop::sample::select(CallbackStatus::ALL.to_vec()),
            any::<Option<u8>>(),
            any::<Option<String>>(),
            any::<bool>()
        )
            .prop_map(|(status, progress, progress_message, early)| {
                EventKind::CallbackReceived(CallbackReceived {
                    status,
                    progress,
                    progress_message,
                    early,
                })
            }),
        (
            prop::option::of(any_json()),
            prop::option::of(any_failure()),
            any::<Option<u64>>()
        )
            .prop_map(|(answer, error, duration_ms)| {
                EventKind::CallAnswered(CallAnswered {
                    answer,
                    error,
                    duration_ms,
                })
            }),
    ]
}

fn any_undoing_kind() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        (any_step(), any::<bool>(), any_by()).prop_map(|(undoes, cancel, by)| {
            let cause = if cancel {
                CompensationCause::Cancel
            } else {
                CompensationCause::Failure
            };
            EventKind::CompensationStarted(CompensationStarted { undoes, cause, by })
        }),
        (any_step(), prop::option::of(any_json())).prop_map(|(undoes, output)| {
            EventKind::CompensationCompleted(CompensationCompleted {
                undoes,
                answer: output.is_none().then_some(3),
                output,
            })
        }),
        (any_step(), any_failure()).prop_map(|(undoes, error)| {
            EventKind::CompensationFailed(CompensationFailed { undoes, error })
        }),
    ]
}

fn any_whole_kind() -> impl Strategy<Value = EventKind> {
    let reason = prop::sample::select(Reason::ALL.to_vec());
    prop_oneof![
        any_start(),
        any_by().prop_map(|by| EventKind::ExecutionPaused(ExecutionPaused { by })),
        any_by().prop_map(|by| EventKind::ExecutionResumed(ExecutionResumed { by })),
        (any::<[u8; 16]>(), reason).prop_map(|(id, reason)| {
            EventKind::DeadLettered(DeadLettered {
                dlq_id: DlqId::from_bytes(id),
                reason,
            })
        }),
        (
            prop::option::of(any_json()),
            prop::option::of(any_step()),
            prop::collection::vec(any_step(), 0..3)
        )
            .prop_map(|(output, output_of, outputs_of)| {
                let completed = ExecutionCompleted {
                    output,
                    output_of,
                    outputs_of,
                };
                EventKind::ExecutionCompleted(completed)
            }),
        any_failure().prop_map(|error| EventKind::ExecutionFailed(ExecutionFailed { error })),
        any_by().prop_map(|by| EventKind::ExecutionCancelled(ExecutionCancelled { by })),
        (
            "[A-Z_]{20,24}",
            any::<u16>(),
            prop::collection::vec(any::<u8>(), 0..8)
        )
            .prop_map(|(name, v, payload)| EventKind::Unknown(Unknown {
                name,
                v,
                payload
            })),
    ]
}

/// Any event at all.
pub(super) fn any_event() -> impl Strategy<Value = Event> {
    (
        0u64..1_000_000,
        any_time(),
        prop::option::of(any_step()),
        prop::option::of(prop_oneof![0u32..4, Just(u32::MAX)]),
        prop::option::of(any::<u64>()),
        any_by(),
        prop_oneof![2 => any_step_kind(), 1 => any_whole_kind()],
    )
        .prop_map(
            |(sequence, at, step, attempt, backoff_ms, reason, kind)| Event {
                sequence,
                at,
                step,
                attempt,
                backoff_ms,
                reason,
                kind,
            },
        )
}
