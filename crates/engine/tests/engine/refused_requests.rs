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
        let received = engine
            .webhooks()
            .receive(address(&trigger), &request)
            .await
            .unwrap();
        assert!(matches!(received, Received::Filtered(_)), "{received:?}");
        let request = logged(&engine, id, RequestStatus::Filtered, 1).await.id;
        let mended = engine
            .triggers()
            .change(id, r#"{"filters":[]}"#, CatchUp::No);
        mended.await.unwrap();
        // One of them has chosen it, another one judges all that there are.
        let ways = [Equals::Apart, Equals::Same].into_iter().cycle().take(16);
        let all = ways.map(|equals| engine.webhooks().recheck(id, request, equals));
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
        engine
            .webhooks()
            .receive(address(&trigger), &later)
            .await
            .unwrap();
        logged(&engine, id, RequestStatus::Error, 1).await;
        let row = engine.store().request(request).await.unwrap().unwrap();
        assert_eq!(
            (row.status, row.execution),
            (RequestStatus::Triggered, Some(started[0]))
        );
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_do_not_push_out_what_is_sent_to_a_disabled_webhook() {
    // More than a ring has room for.
    const STRANGERS: usize = 1_200;
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let locked = r#"{"trigger_type":"webhook","authentication":"api_key","enabled":false,
        "rate_limit":{"per_second":1,"burst":3}}"#;
    let trigger = create(&engine, &workflow, locked).await;
    let (id, webhook) = (trigger.view.row.id, address(&trigger));
    let key = trigger.secret.as_ref().unwrap().reveal().to_owned();
    let sent = incoming(r#"{"n":1}"#, vec![("x-api-key".to_owned(), key)]);
    let strange = incoming(r#"{"n":1}"#, Vec::new());
    let send = async |request: &Incoming| {
        let received = engine.webhooks().receive(webhook, request).await.unwrap();
        assert_eq!(received, Received::NotFound);
    };
    send(&sent).await;
    for n in 0..STRANGERS {
        send(&strange).await;
        if n % 100 == 0 {
            engine.webhooks().flush().await;
        }
    }
    // Nor does the sender, if it sends more than it may.
    for _ in 0..20 {
        send(&sent).await;
    }
    engine.webhooks().flush().await;
    let filter = RequestFilter::default();
    let all = engine.store().requests(id, &filter, None, 100);
    let all = all.await.unwrap();
    assert!((1..10).contains(&all.len()), "{}", all.len());
    let row = engine.store().request(all[all.len() - 1].id).await.unwrap();
    let row = row.unwrap();
    assert_eq!(row.body.as_deref(), Some(&sent.body[..]));
    assert_eq!(
        row.error.as_deref(),
        Some("the trigger was disabled when it came")
    );
    // What a person tries is in the log all the same.
    let tried = Incoming {
        is_test: true,
        ..strange
    };
    send(&tried).await;
    let row = logged(&engine, id, RequestStatus::Disabled, all.len() + 1).await;
    assert_eq!((row.is_test, row.body), (true, None));
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
        .webhooks()
        .receive(webhook, &incoming(&body, Vec::new()))
        .await
        .unwrap();
    let long = logged(&engine, id, RequestStatus::Filtered, 1).await;
    assert_eq!(long.body.as_deref(), Some(body.as_bytes()));

    let named = vec![("x-from".to_owned(), "crm".to_owned())];
    let unread = |unread| Incoming {
        unread: Some(unread),
        ..incoming(r#"{"n":2,"#, named.clone())
    };
    let received = engine
        .webhooks()
        .receive(webhook, &unread(Unread::TooLarge(5_000_000)))
        .await;
    assert_eq!(received.unwrap(), Received::TooLarge);
    let large = logged(&engine, id, RequestStatus::TooLarge, 1).await;
    let beginning = Some(&br#"{"n":2,"#[..]);
    assert_eq!(
        (large.body.as_deref(), large.body_bytes),
        (beginning, 5_000_000)
    );
    let reason = large.error.clone().unwrap();
    assert!(
        reason.contains("only its beginning was kept, so it cannot be run"),
        "{reason}"
    );
    let headers = LoggedHeaders::read(&large).unwrap().headers;
    assert!(headers.contains(&named[0]), "{headers:?}");
    let again = engine.webhooks().recheck(id, large.id, Equals::Apart).await;
    assert!(matches!(again, Err(TriggerError::NotKept)), "{again:?}");

    let slow = Unread::Broken("the body did not arrive".to_owned());
    let received = engine
        .webhooks()
        .receive(webhook, &unread(slow))
        .await
        .unwrap();
    assert_eq!(received, Received::Broken);
    let broken = logged(&engine, id, RequestStatus::Error, 1).await;
    assert_eq!(broken.error.as_deref(), Some("the body did not arrive"));

    let change = async |patch| {
        let changed = engine.triggers().change(id, patch, CatchUp::No).await;
        changed.unwrap();
    };
    change(r#"{"filters":[]}"#).await;
    let again = engine
        .webhooks()
        .recheck(id, long.id, Equals::Apart)
        .await
        .unwrap();
    assert!(matches!(again, Received::Triggered(_)), "{again:?}");
    change(r#"{"enabled":false}"#).await;
    let request = incoming(&body, Vec::new());
    let received = engine.webhooks().receive(webhook, &request).await.unwrap();
    assert_eq!(received, Received::NotFound);
    let off = logged(&engine, id, RequestStatus::Disabled, 1).await;
    assert_eq!(off.body.as_deref(), Some(body.as_bytes()));
    let again = engine.webhooks().recheck(id, off.id, Equals::Apart).await;
    assert!(matches!(again, Err(TriggerError::Disabled)), "{again:?}");
    change(r#"{"enabled":true}"#).await;
    let again = engine.webhooks().recheck(id, off.id, Equals::Apart).await;
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
        match engine.webhooks().receive(webhook, stranger).await.unwrap() {
            Received::Refused { .. } => {}
            Received::RateLimited(_) => limited += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(limited > 0, "strangers have a limit, too");
    let row = logged(&engine, id, RequestStatus::RateLimited, 1).await;
    assert_eq!(row.body, None);
    let reason = row.error.unwrap();
    let expected = "too many requests from strangers; this webhook accepts 100 at once and then 1 per \
                    second; the body was not kept";
    assert_eq!(reason, expected);
    let mut started = 0;
    for n in 0..200 {
        if n == 150 {
            // What was counted still counts after a change.
            let patch = r#"{"idempotency_window":"1d"}"#;
            let changed = engine.triggers().change(id, patch, CatchUp::No).await;
            changed.unwrap();
        }
        let request = signed(&trigger, &secret, "{}", engine.now());
        match engine.webhooks().receive(webhook, &request).await.unwrap() {
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
    let received = engine.webhooks().receive(webhook, &request).await;
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
        .triggers()
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
        .webhooks()
        .recheck(id, row.id, Equals::Apart)
        .await
        .unwrap();
    assert!(matches!(again, Received::Triggered(_)), "{again:?}");
    engine.stop().await;
}

/// A request that a filter stops, and what becomes of it after changes.
struct Rechecked {
    settings: &'static str,
    is_signed: bool,
    query: &'static str,
    /// What is changed beside filters and secret.
    change: &'static str,
    runs: bool,
}

const SIGNED: Rechecked = Rechecked {
    settings: r#""authentication":"hmac""#,
    is_signed: true,
    query: "",
    change: "",
    runs: true,
};

const RECHECKED: [Rechecked; 7] = [
    SIGNED,
    Rechecked {
        settings: r#""authentication":"api_key""#,
        ..SIGNED
    },
    // It failed then: it must pass now.
    Rechecked {
        is_signed: false,
        runs: false,
        ..SIGNED
    },
    // Another list of addresses counts as everything else does.
    Rechecked {
        change: r#","ip_allow":["192.0.2.0/24"]"#,
        runs: false,
        ..SIGNED
    },
    // A handshake is answered before anything is verified.
    Rechecked {
        settings: r#""authentication":"hmac","challenge":"microsoft_graph""#,
        is_signed: false,
        query: "validationToken=x",
        runs: false,
        ..SIGNED
    },
    // Nothing was checked.
    Rechecked {
        settings: r#""authentication":"none""#,
        is_signed: false,
        change: r#","authentication":"hmac""#,
        runs: false,
        ..SIGNED
    },
    // What was signed is not what is to be signed now.
    Rechecked {
        change: r#","authentication":"github""#,
        runs: false,
        ..SIGNED
    },
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_verified_when_it_came_runs_after_its_secret_was_changed_and_nothing_else_does() {
    const FILTERS: &str = r#""filters":[{"json_path":"$.n","operator":"equals","value":2}]"#;
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    for (at, case) in RECHECKED.iter().enumerate() {
        let settings = case.settings;
        let json = format!(r#"{{"trigger_type":"webhook",{FILTERS},{settings}}}"#);
        let trigger = create(&engine, &workflow, &json).await;
        let id = trigger.view.row.id;
        let body = r#"{"n":1}"#;
        let request = match &trigger.secret {
            Some(secret) if case.is_signed => signed(&trigger, secret, body, engine.now()),
            _ => incoming(body, Vec::new()),
        };
        let request = Incoming {
            query: case.query.to_owned(),
            ..request
        };
        let received = engine
            .webhooks()
            .receive(address(&trigger), &request)
            .await
            .unwrap();
        let row = logged(&engine, id, received.logged_as(), 1).await;
        let change = format!(r#"{{"filters":[]{}}}"#, case.change);
        let changed = engine.triggers().change(id, &change, CatchUp::No).await;
        changed.unwrap();
        let rotation = Rotation {
            keep_previous_for: Duration::ZERO,
            end_previous: true,
            ..Rotation::default()
        };
        engine.triggers().rotate_secret(id, rotation).await.unwrap();
        let again = engine.webhooks().recheck(id, row.id, Equals::Apart).await;
        let again = again.unwrap();
        let is_refused = |status| {
            matches!(
                status,
                Received::Refused {
                    status: 401 | 403,
                    ..
                }
            )
        };
        match case.runs {
            true => assert!(matches!(again, Received::Triggered(_)), "{at}: {again:?}"),
            false => assert!(is_refused(again.clone()), "{at}: {again:?}"),
        }
    }
    engine.stop().await;
}
