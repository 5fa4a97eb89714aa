//! Triggers at work: slots fire once and on time, alone and among nodes; overlaps and pauses are in the
//! ledger; webhooks start one execution per key and keep what they refuse.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::WorkflowId;
use refire_core::execution::Status;
use refire_core::id::{TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{CatchUp, Kind};
use refire_core::webhook::{Secret, sign};
use refire_engine::caller::Caller;
use refire_engine::entropy::SystemEntropy;
use refire_engine::trigger::{
    Backfill, Equals, Incoming, NewTrigger, Received, Rotation, TriggerError,
};
use refire_engine::vault::{MasterKey, Vault};
use refire_engine::{Builder, Engine, NodeSettings};
use refire_store::model::{Disk, Faults, NoFaults};
use refire_store::{News, RequestFilter, RequestStatus, SlotFilter, SlotRow, SlotStatus, Store};

use crate::fixture::{Answer, Targets, World, apply, end, reaches, within};

pub(crate) const SOURCE: &str = r#"
id: w
steps:
  - { id: a, type: http, config: { method: POST, url: "https://t.example/a", body: "${input}" } }
"#;

/// A new secret, and the old one ends.
const AT_ONCE: Rotation<'static> = Rotation {
    secret: None,
    keep_previous_for: Duration::ZERO,
    end_previous: false,
};

pub(crate) fn with_vault(builder: Builder) -> Builder {
    let key = MasterKey::random(&SystemEntropy::default());
    builder.vault(Vault::new(key, None))
}

pub(crate) async fn create(engine: &Engine, workflow: &WorkflowId, source: &str) -> NewTrigger {
    let created = engine.triggers().create(workflow, source).await;
    created.unwrap_or_else(|error| panic!("{source}: {error:?}"))
}

async fn ledger(engine: &Engine, trigger: TriggerId) -> Vec<SlotRow> {
    let mut rows = engine
        .store()
        .slots(trigger, &SlotFilter::default(), None, 200)
        .await
        .unwrap();
    rows.reverse();
    rows
}

/// Waits until the ledger has so many rows, and gives it.
async fn ledger_of(engine: &Engine, trigger: TriggerId, rows: usize) -> Vec<SlotRow> {
    within(async {
        loop {
            let ledger = ledger(engine, trigger).await;
            if ledger.len() >= rows {
                return ledger;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

/// The words of a ledger.
fn words(ledger: &[SlotRow]) -> Vec<String> {
    let word = |row: &SlotRow| match row.slot.outcome.reason() {
        Some(reason) => format!("{} {reason}", row.slot.outcome.status().name()),
        None => row.slot.outcome.status().name().to_owned(),
    };
    ledger.iter().map(word).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_slot_starts_one_execution_that_knows_it() {
    let world = World::new();
    let engine = world.engine();
    let workflow = apply(&engine, SOURCE).await;
    let every = r#"{"trigger_type":"schedule","every":"1s","input":{"n":1}}"#;
    let trigger = create(&engine, &workflow, every).await.view.row.id;
    let ledger = ledger_of(&engine, trigger, 3).await;
    assert!(
        ledger
            .iter()
            .all(|row| row.slot.outcome.status() == SlotStatus::Fired)
    );
    for pair in ledger.windows(2) {
        let apart = pair[1].slot.nominal.since(pair[0].slot.nominal);
        assert_eq!(apart, Duration::from_secs(1));
    }
    for row in &ledger {
        let stored = end(&engine, row.slot.execution.unwrap()).await;
        let origin = stored.state.origin.unwrap();
        assert_eq!(origin.trigger.id, Some(trigger.to_string()));
        assert_eq!(origin.trigger.scheduled_at, Some(row.slot.nominal));
        let late = origin.created_at.since(row.slot.nominal);
        assert!(late < Duration::from_secs(1), "late by {late:?}");
    }
    assert_eq!(world.targets.seen("/a")[0].body, r#"{"n":1}"#);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_overlaps_is_skipped_buffered_or_takes_over() {
    let world = World::new();
    let engine = world.engine();
    for (overlap, second) in [
        ("skip", "skipped overlap"),
        // The slot that was kept is started less than a second after its time.
        ("buffer_one", "fired"),
        ("cancel_previous", "fired"),
    ] {
        let source = SOURCE.replace("id: w", &format!("id: {overlap}"));
        let workflow = apply(&engine, &source.replace("/a\"", &format!("/{overlap}\""))).await;
        world
            .targets
            .script(&format!("/{overlap}"), &[Answer::Held]);
        let every = format!(r#"{{"trigger_type":"schedule","every":"1s","overlap":"{overlap}"}}"#);
        let trigger = create(&engine, &workflow, &every).await.view.row.id;
        let first = ledger_of(&engine, trigger, 1).await[0]
            .slot
            .execution
            .unwrap();
        if overlap == "cancel_previous" {
            reaches(&engine, first, Status::Cancelled).await;
        } else {
            // Until the next slot has come.
            within(async {
                loop {
                    let state = engine.triggers().get(trigger).await.unwrap().state.unwrap();
                    let has_passed = ledger(&engine, trigger).await.len() > 1;
                    if state.buffered.is_some() || has_passed {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            })
            .await;
            world.targets.open_gate(1);
            end(&engine, first).await;
        }
        let ledger = ledger_of(&engine, trigger, 2).await;
        assert_eq!(words(&ledger)[..2], ["fired".to_owned(), second.to_owned()]);
        engine.triggers().delete(trigger).await.unwrap();
    }
    engine.stop_within(Duration::from_millis(50)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_is_one_row_and_can_be_filled_afterwards() {
    let world = World::new();
    let engine = world.engine();
    let workflow = apply(&engine, SOURCE).await;
    let every = r#"{"trigger_type":"schedule","every":"1s"}"#;
    let trigger = create(&engine, &workflow, every).await.view.row.id;
    ledger_of(&engine, trigger, 1).await;
    let change = async |text| {
        engine
            .triggers()
            .change(trigger, text, CatchUp::No)
            .await
            .unwrap()
    };
    let disabled = change(r#"{"enabled":false}"#).await.view;
    assert_eq!(disabled.state.unwrap().due_at, None);
    let before = ledger(&engine, trigger).await.len();
    tokio::time::sleep(Duration::from_millis(2_300)).await;
    assert_eq!(
        ledger(&engine, trigger).await.len(),
        before,
        "nothing happens"
    );
    change(r#"{"enabled":true}"#).await;
    let all = ledger(&engine, trigger).await;
    let pause = all
        .iter()
        .find(|row| row.slot.outcome.reason() == Some("paused"));
    let pause = pause.expect("the pause is in the ledger").slot;
    assert!(pause.count >= 2, "{pause:?}");
    let range = Backfill {
        from: pause.nominal,
        to: pause.to,
        only_missed: true,
    };
    let started = engine
        .triggers()
        .backfill(trigger, range, None)
        .await
        .unwrap();
    assert_eq!(started.len() as u64, pause.count);
    let slots: HashSet<Timestamp> = started.iter().map(|(slot, _)| *slot).collect();
    assert_eq!(slots.len(), started.len());
    let again = engine
        .triggers()
        .backfill(trigger, range, None)
        .await
        .unwrap();
    assert!(again.is_empty(), "only what is still missing: {again:?}");
    engine.stop().await;
}

/// A node on a shared disk.
async fn node(disk: &Arc<Disk>, targets: &Arc<Targets>, name: &str) -> Arc<Engine> {
    let store: Arc<dyn Store> = Arc::new(disk.open(Arc::new(NoFaults)));
    let caller: Arc<dyn Caller> = targets.clone();
    let settings = NodeSettings {
        name: name.to_owned(),
        lease: Duration::from_secs(3),
        ..NodeSettings::default()
    };
    let builder = Engine::builder(store).caller(caller).node(settings);
    builder.start().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn among_nodes_each_slot_fires_once_although_the_first_one_goes() {
    let clock = refire_engine::clock::SystemClock::new();
    let disk = Disk::shared(Arc::new(move || refire_engine::clock::Clock::now(&clock)));
    let targets = Targets::new();
    let first = node(&disk, &targets, "first").await;
    let second = node(&disk, &targets, "second").await;
    let workflow = apply(&first, SOURCE).await;
    let every = r#"{"trigger_type":"schedule","every":"1s"}"#;
    let trigger = create(&first, &workflow, every).await.view.row.id;
    ledger_of(&second, trigger, 2).await;
    first.stop().await;
    let ledger = ledger_of(&second, trigger, 5).await;
    let slots: HashSet<Timestamp> = ledger.iter().map(|row| row.slot.nominal).collect();
    assert_eq!(slots.len(), ledger.len(), "none twice");
    for pair in ledger.windows(2) {
        let apart = pair[1].slot.nominal.since(pair[0].slot.nominal);
        assert_eq!(apart, Duration::from_secs(1), "none is missing");
    }
    second.stop().await;
}

pub(crate) fn incoming(body: &str, headers: Vec<(String, String)>) -> Incoming {
    let json = ("content-type".to_owned(), "application/json".to_owned());
    let headers = headers.into_iter().chain([json]);
    Incoming {
        source: IpAddr::V4(Ipv4Addr::LOCALHOST),
        query: String::new(),
        headers: headers
            .map(|(name, value)| (name, value.into_bytes()))
            .collect(),
        body: body.as_bytes().to_vec(),
        unread: None,
        is_test: false,
    }
}

/// A request that the trigger's sender would send.
pub(crate) fn signed(trigger: &NewTrigger, secret: &Secret, body: &str, at: Timestamp) -> Incoming {
    let Kind::Webhook(settings) = &trigger.view.trigger.as_ref().unwrap().settings.kind else {
        panic!("it is a webhook");
    };
    let authentication = &settings.authentication;
    incoming(
        body,
        sign(authentication, Some(secret), "msg_1", at, body.as_bytes()),
    )
}

async fn receive(engine: &Engine, trigger: &NewTrigger, request: &Incoming) -> Received {
    let webhook = address(trigger);
    engine.webhooks().receive(webhook, request).await.unwrap()
}

pub(crate) fn address(trigger: &NewTrigger) -> WebhookId {
    trigger.view.row.webhook.expect("a webhook has an address")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signed_request_starts_one_execution_and_repeats_find_it() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let hmac = r#"{"trigger_type":"webhook","authentication":"hmac",
        "filters":[{"json_path":"$.event","operator":"equals","value":"created"}]}"#;
    let trigger = create(&engine, &workflow, hmac).await;
    let secret = trigger.secret.clone().expect("it is told once");
    let body = r#"{"event":"created","idempotency_key":"k1", "n":12345678901234567890}"#;
    let request = signed(&trigger, &secret, body, engine.now());
    let all = futures_util::future::join_all((0..50).map(|_| {
        let (engine, request, webhook) = (&engine, &request, address(&trigger));
        async move { engine.webhooks().receive(webhook, request).await.unwrap() }
    }));
    let all = all.await;
    let started: Vec<_> = all
        .iter()
        .filter_map(|received| match received {
            Received::Triggered(id) => Some(*id),
            _ => None,
        })
        .collect();
    assert_eq!(started.len(), 1, "{all:?}");
    let is_repeat = |received: &&Received| {
        matches!(received, Received::AlreadyProcessed { execution, body_differs: false }
            if *execution == started[0])
    };
    assert_eq!(all.iter().filter(is_repeat).count(), 49);
    end(&engine, started[0]).await;
    assert_eq!(world.targets.seen("/a")[0].body, body, "byte for byte");

    let other = signed(
        &trigger,
        &secret,
        &body.replace("n\":1", "n\":2"),
        engine.now(),
    );
    let differs = receive(&engine, &trigger, &other).await;
    assert!(matches!(
        differs,
        Received::AlreadyProcessed {
            body_differs: true,
            ..
        }
    ));
    let deleted = signed(&trigger, &secret, r#"{"event":"deleted"}"#, engine.now());
    let filtered = receive(&engine, &trigger, &deleted).await;
    assert!(matches!(filtered, Received::Filtered(_)), "{filtered:?}");
    let unsigned = engine
        .webhooks()
        .receive(address(&trigger), &incoming(body, Vec::new()))
        .await;
    assert!(matches!(
        unsigned.unwrap(),
        Received::Refused { status: 401, .. }
    ));
    let nobody = WebhookId::from_bytes([7; 16]);
    assert_eq!(
        engine.webhooks().receive(nobody, &request).await.unwrap(),
        Received::NotFound
    );
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_refused_can_be_checked_again_and_run() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let hmac = r#"{"trigger_type":"webhook","authentication":"hmac"}"#;
    let trigger = create(&engine, &workflow, hmac).await;
    let id = trigger.view.row.id;
    // The sender was told another secret.
    let told = "another secret, long enough to be one";
    let its = Secret::new(told, refire_core::webhook::Method::Hmac).unwrap();
    let request = signed(&trigger, &its, r#"{"n":1}"#, engine.now());
    let refused = receive(&engine, &trigger, &request).await;
    assert!(
        matches!(refused, Received::Refused { status: 401, .. }),
        "{refused:?}"
    );
    let logged = within(async {
        loop {
            let filter = RequestFilter::default();
            let rows = engine
                .store()
                .requests(id, &filter, None, 10)
                .await
                .unwrap();
            match rows.into_iter().next() {
                Some(row) => return row,
                None => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    })
    .await;
    assert_eq!(logged.status, RequestStatus::AuthFailed);
    let still = engine
        .webhooks()
        .recheck(id, logged.id, Equals::Apart)
        .await
        .unwrap();
    assert!(
        matches!(still, Received::Refused { status: 401, .. }),
        "{still:?}"
    );
    engine
        .triggers()
        .rotate_secret(
            id,
            Rotation {
                secret: Some(told),
                ..AT_ONCE
            },
        )
        .await
        .unwrap();
    let Received::Triggered(execution) = engine
        .webhooks()
        .recheck(id, logged.id, Equals::Apart)
        .await
        .unwrap()
    else {
        panic!("it passes now");
    };
    end(&engine, execution).await;
    let row = engine.store().request(logged.id).await.unwrap().unwrap();
    assert_eq!(
        (row.status, row.execution),
        (RequestStatus::Triggered, Some(execution))
    );
    let again = engine
        .webhooks()
        .recheck(id, logged.id, Equals::Apart)
        .await
        .unwrap();
    assert!(
        matches!(again, Received::AlreadyProcessed { .. }),
        "{again:?}"
    );
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_has_leaked_ends_at_once_and_the_one_before_it_too() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let hmac = r#"{"trigger_type":"webhook","authentication":"hmac"}"#;
    let trigger = create(&engine, &workflow, hmac).await;
    let id = trigger.view.row.id;
    let first = trigger.secret.clone().unwrap();
    let second = engine
        .triggers()
        .rotate_secret(id, Rotation::default())
        .await
        .unwrap();
    let second = second.secret.unwrap();
    let refused = engine
        .triggers()
        .rotate_secret(id, Rotation::default())
        .await;
    assert!(
        matches!(refused, Err(TriggerError::PreviousSecret { .. })),
        "{refused:?}"
    );
    let third = engine.triggers().rotate_secret(id, AT_ONCE).await.unwrap();
    let third = third.secret.unwrap();
    for (secret, is_good) in [(first, false), (second, false), (third, true)] {
        let request = signed(&trigger, &secret, "{}", engine.now());
        let received = receive(&engine, &trigger, &request).await;
        assert_eq!(
            matches!(received, Received::Triggered(_)),
            is_good,
            "{received:?}"
        );
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_that_is_not_watched_any_more_is_not_overdue() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let watched = r#"{"trigger_type":"webhook","authentication":"none",
        "dead_man":{"success_within":"1s"}}"#;
    let id = create(&engine, &workflow, watched).await.view.row.id;
    let ledger = ledger_of(&engine, id, 1).await;
    assert_eq!(ledger[0].slot.outcome.status(), SlotStatus::Overdue);
    let alarmed = async || {
        let state = engine.store().trigger_state(id).await.unwrap().unwrap();
        state.alarmed_at.is_some()
    };
    assert!(alarmed().await);
    let patch = r#"{"idempotency_window":"1d"}"#;
    let changed = engine.triggers().change(id, patch, CatchUp::No).await;
    changed.unwrap();
    assert!(alarmed().await, "another change ends nothing");
    let patch = r#"{"dead_man":null}"#;
    let changed = engine.triggers().change(id, patch, CatchUp::No).await;
    changed.unwrap();
    assert!(!alarmed().await);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_that_is_off_or_limited_starts_nothing() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let workflow = apply(&engine, SOURCE).await;
    let open = r#"{"trigger_type":"webhook","authentication":"none",
        "rate_limit":{"per_second":1,"burst":2}}"#;
    let trigger = create(&engine, &workflow, open).await;
    assert!(trigger.secret.is_none());
    let request = incoming("{}", Vec::new());
    for _ in 0..2 {
        let received = receive(&engine, &trigger, &request).await;
        assert!(matches!(received, Received::Triggered(_)), "{received:?}");
    }
    let third = receive(&engine, &trigger, &request).await;
    let Received::RateLimited(after) = third else {
        panic!("{third:?}");
    };
    assert!(after <= Duration::from_secs(1) && !after.is_zero());
    let id = trigger.view.row.id;
    let off = engine
        .triggers()
        .change(id, r#"{"enabled":false}"#, CatchUp::No)
        .await;
    off.unwrap();
    let received = receive(&engine, &trigger, &request).await;
    assert_eq!(received, Received::NotFound);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_need_a_master_key_and_are_sealed() {
    let world = World::new();
    let engine = world.engine();
    let workflow = apply(&engine, SOURCE).await;
    let given = "a canary that must be seen nowhere";
    let hmac =
        format!(r#"{{"trigger_type":"webhook","authentication":"hmac","secret":"{given}"}}"#);
    let refused = engine.triggers().create(&workflow, &hmac).await;
    assert!(
        matches!(refused, Err(TriggerError::NoMasterKey)),
        "{refused:?}"
    );
    engine.stop().await;
    drop(engine);
    let engine = world.engine_with(with_vault);
    let trigger = create(&engine, &workflow, &hmac).await;
    let row = &trigger.view.row;
    let has = |bytes: &[u8]| {
        bytes
            .windows(given.len())
            .any(|part| part == given.as_bytes())
    };
    assert!(!has(&row.settings) && !has(row.secrets.as_ref().unwrap()));
    assert!(!format!("{trigger:?}").contains(given));
    engine.stop().await;
    for entry in std::fs::read_dir(world.dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(!has(&bytes), "{}", path.display());
    }
}

/// A node that hears nothing.
struct Deaf;

#[async_trait::async_trait]
impl Faults for Deaf {
    async fn news(&self, _: News) -> Option<News> {
        None
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_is_changed_on_one_node_counts_on_one_that_was_not_told() {
    let clock = refire_engine::clock::SystemClock::new();
    let disk = Disk::shared(Arc::new(move || refire_engine::clock::Clock::now(&clock)));
    let node = async |faults: Arc<dyn Faults>| {
        let store: Arc<dyn Store> = Arc::new(disk.open(faults));
        let caller: Arc<dyn Caller> = Targets::new();
        let vault = Vault::new(MasterKey::new([7; 32]), None);
        let builder = Engine::builder(store).caller(caller).vault(vault);
        builder.start().await.unwrap()
    };
    let (one, deaf) = (node(Arc::new(NoFaults)).await, node(Arc::new(Deaf)).await);
    let workflow = apply(&one, SOURCE).await;
    let hmac = r#"{"trigger_type":"webhook","authentication":"hmac"}"#;
    let trigger = create(&one, &workflow, hmac).await;
    let old = trigger.secret.clone().unwrap();
    let received = deaf
        .webhooks()
        .receive(address(&trigger), &signed(&trigger, &old, "{}", deaf.now()))
        .await;
    assert!(matches!(received.unwrap(), Received::Triggered(_)));
    let id = trigger.view.row.id;
    let rotated = one.triggers().rotate_secret(id, AT_ONCE).await.unwrap();
    let new = rotated.secret.unwrap();
    within(async {
        loop {
            let request = signed(&trigger, &new, "{}", deaf.now());
            match receive(&deaf, &trigger, &request).await {
                Received::Triggered(_) => return,
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    })
    .await;
    one.stop().await;
    deaf.stop().await;
}
