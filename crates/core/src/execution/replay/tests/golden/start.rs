//! How executions begin: triggers, keys, priorities, delays and settings of their own.

use std::time::Duration;

use super::history::History;
use crate::definition::RetrySettings;
use crate::execution::decide::tests::fixture::BEGINNING;
use crate::execution::{Trigger, TriggerKind};

/// A start by a trigger of that kind.
fn triggered(kind: TriggerKind) -> Trigger {
    Trigger {
        kind,
        id: Some("trg_nightly".to_owned()),
        by: None,
        scheduled_at: None,
        cycle: None,
        awaits_end: false,
    }
}

fn one_step(name: &'static str) -> History {
    History::new(name, "", &["a"], |run| {
        run.ok("a", "1");
    })
}

pub(super) fn histories() -> Vec<History> {
    let mut all = vec![
        one_step("an idempotency key")
            .starting(|start| start.idempotency_key = Some("order-7 \u{1f511}".to_owned())),
        one_step("the first priority").starting(|start| start.priority = 1),
        one_step("the last priority").starting(|start| start.priority = 10),
        one_step("a later version of the definition").starting(|start| start.workflow_version = 17),
        one_step("the largest seed").starting(|start| start.seed = u64::MAX),
        one_step("nobody started it").starting(|start| start.trigger = Trigger::manual(None)),
        one_step("started by a schedule")
            .starting(|start| start.trigger = triggered(TriggerKind::Schedule)),
        one_step("started by a webhook")
            .starting(|start| start.trigger = triggered(TriggerKind::Webhook)),
        one_step("started by a message")
            .starting(|start| start.trigger = triggered(TriggerKind::Amqp)),
        History::new(
            "started by cron for a planned time",
            "output: \"${trigger.scheduled_at}\"",
            &["a"],
            |run| {
                run.ok("a", "1");
            },
        )
        .starting(|start| {
            start.trigger = Trigger {
                scheduled_at: Some(BEGINNING.minus(Duration::from_micros(1_500))),
                ..triggered(TriggerKind::Cron)
            };
        })
        .edit("${trigger.scheduled_at}", "${trigger.type}"),
    ];
    all.extend(delayed());
    all.extend(settings());
    all
}

fn delayed() -> Vec<History> {
    let later = |history: History| {
        history.starting(|start| {
            start.delay_until = Some(BEGINNING.plus(Duration::from_secs(90)));
        })
    };
    vec![
        later(History::new("a delayed start", "", &["a", "b"], |run| {
            run.ok("a", "1").ok("b", "2");
        })),
        later(History::new(
            "a delayed start that is cancelled",
            "",
            &["a"],
            |run| {
                run.wait(1_000).cancel();
            },
        )),
        later(History::new(
            "a delayed start that is paused beyond its time",
            "",
            &["a"],
            |run| {
                run.pause().wait(200_000).resume().ok("a", "1");
            },
        )),
        History::new("a delay that is over already", "", &["a"], |run| {
            run.ok("a", "1");
        })
        .starting(|start| start.delay_until = Some(BEGINNING.minus(Duration::from_secs(1)))),
    ]
}

fn settings() -> Vec<History> {
    vec![
        History::new(
            "the trigger's settings over the workflow's",
            "retry: {maxRetries: 1, initialDelay: 1s, jitter: none}",
            &["a", "b | retry: {initialDelay: 7s}"],
            |run| {
                run.fail("a", "418").fail("a", "503").ok("a", "1");
                run.fail("b", "503").ok("b", "2");
            },
        )
        .starting(|start| {
            let text = "{maxRetries: 4, initialDelay: 100ms, multiplier: 1.1, maxDelay: 10s, \
                        maxElapsed: 1h, jitter: {type: proportional, ratio: 0.3}, \
                        strategy: exponential, retryOn: {statuses: [418, 5xx], errors: [tls]}, \
                        failOn: {statuses: [501]}}";
            start.retry = Some(RetrySettings::parse(text).unwrap());
        })
        .edit("initialDelay: 7s", "initialDelay: 8s"),
        History::new(
            "the trigger turns retries off",
            "",
            &["a", "b | retry: {maxRetries: 1}"],
            |run| {
                run.ok("a", "1").fail("b", "503").fail("b", "503");
            },
        )
        .starting(|start| start.retry = Some(RetrySettings::disabled()))
        .edit(",  retry: {maxRetries: 1}", ""),
        History::new(
            "keys of limits without a value",
            "concurrency: {key: \"${input.tenant}\", maxPerKey: 1}\nrateLimit: {max: 5, per: 1s, key: \"${input.tenant}\"}",
            &["a"],
            |run| {
                run.ok("a", "1");
            },
        )
        .edit("{max: 5, per: 1s, key: \"${input.tenant}\"}", "{max: 5, per: 1s, key: \"x\"}"),
        History::new(
            "keys of limits that are no text",
            "concurrency: {key: \"${input.tenant}\", maxPerKey: 1}\nrateLimit: {max: 5, per: 1s, key: \"${input.name}\"}",
            &["a"],
            |run| {
                run.ok("a", "1");
            },
        )
        .input(r#"{"tenant":{"id":[7,8]},"name":"Ann \u0000"}"#)
        .edit("{max: 5, per: 1s, key: \"${input.name}\"}", "{max: 5, per: 1s}"),
    ]
}
