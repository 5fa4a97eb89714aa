//! Requests to webhooks that start nothing at first: what the log keeps of them, and that whoever judges
//! them again starts them once.

use std::time::Duration;

use refire_core::id::TriggerId;
use refire_core::trigger::CatchUp;
use refire_engine::Engine;
use refire_engine::trigger::{
    Equals, Incoming, LoggedHeaders, Received, Rotation, TriggerError, Unread,
};
use refire_store::{RequestFilter, RequestRow, RequestStatus};

use crate::fixture::{World, apply, within};
use crate::triggers::{SOURCE, address, create, incoming, signed, with_vault};

/// Waits until the log has so many requests with this status, and gives the newest in full.
async fn logged(
    engine: &Engine,
    trigger: TriggerId,
    status: RequestStatus,
    count: usize,
) -> RequestRow {
    let filter = RequestFilter {
        statuses: vec![status],
        ..RequestFilter::default()
    };
    within(async {
        loop {
            let rows = engine.store().requests(trigger, &filter, None, 100).await;
            let rows = rows.unwrap();
            if rows.len() >= count {
                let row = engine.store().request(rows[0].id).await;
                return row.unwrap().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_who_judge_a_request_again_at_once_start_it_once() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let strict = r#"{"trigger_type":"webhook","authentication":"none",
        "filters":[{"json_path":"$.n","operator":"equals","value":2}]}"#;
    for body in [r#"{"n":1}"#, r#"{"n":1,"idempotency_key":"k"}"#] {
        let trigger = create(&engine, &workflow, strict).await;
        let id = trigger.view.row.id;
        let request = incoming(body, Vec::new());
        let received = engine.receive(address(&trigger), &request).await.unwrap();
        assert!(matches!(received, Received::Filtered(_)), "{received:?}");
        let request = logged(&engine, id, RequestStatus::Filtered, 1).await.id;
        let mended = engine.change_trigger(id, r#"{"filters":[]}"#, CatchUp::No);
        mended.await.unwrap();
        // One of them has chosen it, another one judges all that there are.
        let ways = [Equals::Apart, Equals::Same].into_iter().cycle().take(16);
        let all = ways.map(|equals| engine.recheck_request(id, request, equals));
        let all = futures_util::future::join_all(all).await;
        let mut started = Vec::new();
        let mut found = Vec::new();
        for received in all {
            match received.unwrap() {
                Received::Triggered(execution) => started.push(execution),
                Received::AlreadyProcessed { execution, .. } => found.push(execution),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(started.len(), 1, "{body}");
        assert!(found.iter().all(|execution| *execution == started[0]));
        // What the others would log would have been written by the time that this is.
        let later = incoming("{", Vec::new());
        engine.receive(address(&trigger), &later).await.unwrap();
        logged(&engine, id, RequestStatus::Error, 1).await;
        let row = engine.store().request(request).await.unwrap().unwrap();
        assert_eq!(
            (row.status, row.execution),
            (RequestStatus::Triggered, Some(started[0]))
        );
    }
    engine.stop().await;
}

/// A webhook that takes what has `n` 2, and whoever sends to it.
struct Hook {
    engine: std::sync::Arc<Engine>,
    id: TriggerId,
    webhook: refire_core::id::WebhookId,
}

impl Hook {
    async fn new(world: &World) -> Self {
        let engine = world.engine_with(with_vault);
        let workflow = apply(&engine, SOURCE).await;
        let strict = r#"{"trigger_type":"webhook","authentication":"none",
            "filters":[{"json_path":"$.n","operator":"equals","value":2}]}"#;
        let trigger = create(&engine, &workflow, strict).await;
        Self {
            id: trigger.view.row.id,
            webhook: address(&trigger),
            engine,
        }
    }

    async fn send(&self, body: &str) -> Received {
        let request = incoming(body, Vec::new());
        self.engine.receive(self.webhook, &request).await.unwrap()
    }

    async fn mend(&self) {
        let mended = self
            .engine
            .change_trigger(self.id, r#"{"filters":[]}"#, CatchUp::No);
        mended.await.unwrap();
    }

    /// The requests with a status, oldest first. What was answered before is in the log.
    async fn log(&self, status: RequestStatus) -> Vec<RequestRow> {
        self.engine.flush_requests().await;
        let filter = RequestFilter {
            statuses: vec![status],
            ..RequestFilter::default()
        };
        let store = self.engine.store();
        let mut rows = store.requests(self.id, &filter, None, 100).await.unwrap();
        rows.reverse();
        rows
    }

    async fn recheck(&self, row: &RequestRow, equals: Equals) -> Received {
        let again = self.engine.recheck_request(self.id, row.id, equals).await;
        again.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_requests_without_a_name_are_started_once() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    for body in [r#"{"n":1}"#, r#"{"n":3}"#, r#"{"n":1}"#, r#"{"n":1}"#] {
        hook.send(body).await;
    }
    let refused = hook.log(RequestStatus::Filtered).await;
    assert_eq!(refused.len(), 4, "what was answered is in the log");
    hook.mend().await;
    let mut started = Vec::new();
    for row in &refused {
        match hook.recheck(row, Equals::Same).await {
            Received::Triggered(execution) => started.push(execution),
            Received::AlreadyProcessed { execution, .. } => assert_eq!(execution, started[0]),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(started.len(), 2);
    // The log has them as what they are, so that nobody comes upon them again.
    assert_eq!(hook.log(RequestStatus::Filtered).await, []);
    let repeats = hook.log(RequestStatus::Duplicate).await;
    let executions: Vec<_> = repeats.iter().map(|row| row.execution).collect();
    assert_eq!(executions, [Some(started[0]); 2]);
    // Somebody who has chosen this one wants it.
    let chosen = hook.recheck(&refused[3], Equals::Apart).await;
    assert!(matches!(chosen, Received::Triggered(_)), "{chosen:?}");
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_its_sender_has_repeated_with_success_is_not_started_again() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    let (event, other) = (r#"{"n":2,"odd":true}"#, r#"{"n":2,"odd":null}"#);
    // An equal one that was taken before is another event: its sender had no reason to repeat it.
    let earlier = hook.send(other).await;
    assert!(matches!(earlier, Received::Triggered(_)), "{earlier:?}");
    let patch = r#"{"filters":[{"json_path":"$.n","operator":"equals","value":7}]}"#;
    let spoilt = hook.engine.change_trigger(hook.id, patch, CatchUp::No);
    spoilt.await.unwrap();
    for body in [event, event, event, other] {
        hook.send(body).await;
    }
    hook.mend().await;
    let Received::Triggered(live) = hook.send(event).await else {
        panic!("it passes now");
    };
    let refused = hook.log(RequestStatus::Filtered).await;
    for row in &refused[..3] {
        let expected = Received::AlreadyProcessed {
            execution: live,
            body_differs: false,
        };
        assert_eq!(hook.recheck(row, Equals::Same).await, expected);
    }
    let second = hook.recheck(&refused[3], Equals::Same).await;
    assert!(matches!(second, Received::Triggered(_)), "{second:?}");
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_equal_event_that_comes_later_is_another_one() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    let strict = r#"{"filters":[{"json_path":"$.n","operator":"equals","value":2}]}"#;
    for _ in 0..2 {
        let spoilt = hook.engine.change_trigger(hook.id, strict, CatchUp::No);
        spoilt.await.unwrap();
        hook.send(r#"{"n":1}"#).await;
        hook.mend().await;
        let refused = hook.log(RequestStatus::Filtered).await;
        let started = hook.recheck(&refused[0], Equals::Same).await;
        assert!(matches!(started, Received::Triggered(_)), "{started:?}");
    }
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repetition_is_found_among_many_of_its_length() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    let bodies = (100..250).map(|number| format!(r#"{{"n":1,"number":{number}}}"#));
    let bodies: Vec<String> = bodies.collect();
    for body in &bodies {
        hook.send(body).await;
    }
    let refused = hook.log(RequestStatus::Filtered).await;
    hook.mend().await;
    let mut live = None;
    for body in &bodies {
        live = Some(hook.send(body).await);
    }
    let Some(Received::Triggered(execution)) = live else {
        panic!("it passes now");
    };
    let found = hook.recheck(refused.last().unwrap(), Equals::Same).await;
    let expected = Received::AlreadyProcessed {
        execution,
        body_differs: false,
    };
    assert_eq!(found, expected);
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_strangers_send_to_a_disabled_webhook_is_not_kept() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let locked = r#"{"trigger_type":"webhook","authentication":"api_key","enabled":false}"#;
    let trigger = create(&engine, &workflow, locked).await;
    let key = trigger.secret.as_ref().unwrap().reveal().to_owned();
    let sender = vec![("x-api-key".to_owned(), key)];
    for (headers, is_kept) in [(Vec::new(), false), (sender, true)] {
        let request = incoming(r#"{"n":1}"#, headers);
        let received = engine.receive(address(&trigger), &request).await.unwrap();
        assert_eq!(received, Received::NotFound);
        let count = if is_kept { 2 } else { 1 };
        let row = logged(&engine, trigger.view.row.id, RequestStatus::Disabled, count).await;
        assert_eq!(row.body.is_some(), is_kept);
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_be_judged_again_is_kept_whole_and_the_rest_is_not() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let strict = r#"{"trigger_type":"webhook","authentication":"none",
        "filters":[{"json_path":"$.n","operator":"equals","value":2}]}"#;
    let trigger = create(&engine, &workflow, strict).await;
    let (id, webhook) = (trigger.view.row.id, address(&trigger));
    let body = format!(r#"{{"n":1,"text":"{}"}}"#, "x".repeat(900 * 1_024));
    engine
        .receive(webhook, &incoming(&body, Vec::new()))
        .await
        .unwrap();
    let long = logged(&engine, id, RequestStatus::Filtered, 1).await;
    assert_eq!(long.body.as_deref(), Some(body.as_bytes()));

    let named = vec![("x-from".to_owned(), "crm".to_owned())];
    let unread = |unread| Incoming {
        unread: Some(unread),
        ..incoming("", named.clone())
    };
    let received = engine
        .receive(webhook, &unread(Unread::TooLarge(5_000_000)))
        .await;
    assert_eq!(received.unwrap(), Received::TooLarge);
    let large = logged(&engine, id, RequestStatus::TooLarge, 1).await;
    assert_eq!((large.body.as_deref(), large.body_bytes), (None, 5_000_000));
    let reason = large.error.clone().unwrap();
    assert!(reason.contains("only the head was kept"), "{reason}");
    let headers = LoggedHeaders::read(&large).unwrap().headers;
    assert!(headers.contains(&named[0]), "{headers:?}");
    let again = engine.recheck_request(id, large.id, Equals::Apart).await;
    assert!(matches!(again, Err(TriggerError::NotKept)), "{again:?}");

    let slow = Unread::Broken("the body did not arrive".to_owned());
    let received = engine.receive(webhook, &unread(slow)).await.unwrap();
    assert_eq!(received, Received::Broken);
    let broken = logged(&engine, id, RequestStatus::Error, 1).await;
    assert_eq!(broken.error.as_deref(), Some("the body did not arrive"));

    let change = async |patch| {
        let changed = engine.change_trigger(id, patch, CatchUp::No).await;
        changed.unwrap();
    };
    change(r#"{"filters":[]}"#).await;
    let again = engine
        .recheck_request(id, long.id, Equals::Apart)
        .await
        .unwrap();
    assert!(matches!(again, Received::Triggered(_)), "{again:?}");
    change(r#"{"enabled":false}"#).await;
    let request = incoming(&body, Vec::new());
    let received = engine.receive(webhook, &request).await.unwrap();
    assert_eq!(received, Received::NotFound);
    let off = logged(&engine, id, RequestStatus::Disabled, 1).await;
    assert_eq!(off.body.as_deref(), Some(body.as_bytes()));
    let again = engine.recheck_request(id, off.id, Equals::Apart).await;
    assert!(matches!(again, Err(TriggerError::Disabled)), "{again:?}");
    change(r#"{"enabled":true}"#).await;
    let again = engine.recheck_request(id, off.id, Equals::Apart).await;
    assert!(matches!(again, Ok(Received::Triggered(_))), "{again:?}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_do_not_use_up_the_limit_of_the_sender() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    // A hundred at once, then one a second.
    let limited = r#"{"trigger_type":"webhook","authentication":"hmac",
        "rate_limit":{"per_second":1,"burst":100},"ip_allow":["127.0.0.0/8"]}"#;
    let trigger = create(&engine, &workflow, limited).await;
    let (id, webhook) = (trigger.view.row.id, address(&trigger));
    let secret = trigger.secret.clone().unwrap();
    let unsigned = incoming("{}", Vec::new());
    let from_elsewhere = Incoming {
        source: "192.0.2.7".parse().unwrap(),
        ..signed(&trigger, &secret, "{}", engine.now())
    };
    let mut limited = 0;
    for n in 0..400 {
        let stranger = if n % 2 == 0 {
            &unsigned
        } else {
            &from_elsewhere
        };
        match engine.receive(webhook, stranger).await.unwrap() {
            Received::Refused { .. } => {}
            Received::RateLimited(_) => limited += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(limited > 0, "strangers have a limit, too");
    let row = logged(&engine, id, RequestStatus::RateLimited, 1).await;
    assert_eq!(row.body, None);
    let mut started = 0;
    for n in 0..200 {
        if n == 150 {
            // What was counted still counts after a change.
            let patch = r#"{"idempotency_window":"1d"}"#;
            let changed = engine.change_trigger(id, patch, CatchUp::No).await;
            changed.unwrap();
        }
        let request = signed(&trigger, &secret, "{}", engine.now());
        match engine.receive(webhook, &request).await.unwrap() {
            Received::Triggered(_) => started += 1,
            Received::RateLimited(_) => {}
            other => panic!("{other:?}"),
        }
    }
    // As many as at once, and those of the seconds that passed meanwhile.
    assert!((100..140).contains(&started), "{started}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_goes_wrong_on_our_side_is_in_the_log() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let hmac = r#"{"trigger_type":"webhook","authentication":"hmac"}"#;
    let trigger = create(&engine, &workflow, hmac).await;
    let (id, webhook) = (trigger.view.row.id, address(&trigger));
    let secret = trigger.secret.clone().unwrap();
    engine.stop().await;
    drop(engine);
    // Another master key.
    let engine = world.engine_with(with_vault);
    let request = signed(&trigger, &secret, "{}", engine.now());
    let received = engine.receive(webhook, &request).await;
    assert!(received.is_err(), "{received:?}");
    let row = logged(&engine, id, RequestStatus::Error, 1).await;
    assert_eq!(row.body.as_deref(), Some(&b"{}"[..]));
    assert!(
        row.error
            .unwrap()
            .contains("sealed with another master key")
    );
    let row = engine.store().request(row.id).await.unwrap().unwrap();
    // Without the trigger's settings nobody knows which headers are secret.
    let headers = LoggedHeaders::read(&row).unwrap();
    assert_eq!((headers.headers.len(), headers.left_out), (0, 2));
    engine
        .rotate_secret(
            id,
            Rotation {
                secret: Some(secret.reveal()),
                keep_previous_for: Duration::ZERO,
                ..Rotation::default()
            },
        )
        .await
        .unwrap();
    let again = engine
        .recheck_request(id, row.id, Equals::Apart)
        .await
        .unwrap();
    assert!(matches!(again, Received::Triggered(_)), "{again:?}");
    engine.stop().await;
}
