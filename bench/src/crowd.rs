//! Very many triggers in one store, without a server and without anybody who runs what they start:
//! how fast they are made, asked for and fired, and requests with keys written down, beside plain
//! admissions.

use std::net::{IpAddr, Ipv4Addr};

use anyhow::Context;
use refire_core::id::WebhookId;
use refire_engine::trigger::{Incoming, Received};
use refire_store::postgres::Scratch;
use refire_store::{Store, Triggers};

use crate::cron::{DUE, TRIGGERS, make_all};
use crate::postgres;
use crate::prelude::*;

const REPEATS: u32 = 3;
/// Times that the due ones are asked for.
const QUESTIONS: usize = 200;
/// As many as the engine asks for.
const ASKED_FOR: u32 = 500;
/// From making them to the first time that they are due; what else is measured comes before it.
const FIRST_IN: Duration = Duration::from_secs(45);
/// How often they are due.
const EVERY: Duration = Duration::from_secs(40);
/// Executions admitted and requests sent at once.
const AT_ONCE: usize = 500;

/// Prints `crowd` on SQLite.
pub(crate) async fn report() -> anyhow::Result<()> {
    let dir = place::fresh()?;
    let store = embedded::sqlite(dir.path(), &SystemClock::new())?;
    measure("sqlite", store).await
}

/// Prints `crowd` on PostgreSQL.
pub(crate) async fn on_postgres() -> anyhow::Result<()> {
    let scratch = Scratch::new();
    measure("postgres", postgres::open(&scratch).await?).await
}

async fn measure(name: &str, below: Arc<dyn Store>) -> anyhow::Result<()> {
    let clock = Arc::new(SystemClock::new());
    let limits = embedded::no_room();
    let workflow = target::workflow_to_nowhere();
    let one = Embedded::start_on(below, Arc::clone(&clock), &workflow, None, limits).await?;
    say(format_args!(
        "crowd on {name}: {TRIGGERS} triggers are made"
    ));
    let (first, made_s) = make_all(&one, &clock, FIRST_IN, EVERY).await?;
    let mut waits = Waits::default();
    for _ in 0..QUESTIONS {
        let began = Instant::now();
        let due = one.store.due_triggers(first, ASKED_FOR).await?;
        anyhow::ensure!(due.len() == ASKED_FOR as usize, "{} are due", due.len());
        waits.add(began.elapsed());
    }
    let mut latency = Latency::default();
    latency.add(&waits);
    let hook = webhook(&one).await?;
    let (mut fires, mut plain, mut requests) = <(Repeats, Repeats, Repeats)>::default();
    for repeat in repeats(REPEATS, format_args!("crowd on {name}")) {
        plain.add(admissions(&one).await?);
        requests.add(keyed(&one, hook, repeat).await?);
        let due = first.plus(EVERY * repeat);
        anyhow::ensure!(clock.now() < due, "what comes before it took too long");
        let expected = u64::from(repeat + 1) * DUE as u64;
        embedded::until(|| one.store.fires().0 >= expected).await?;
        let took = one.store.fires().1.context("nothing was fired")?;
        fires.add(DUE as f64 / took.as_secs_f64());
    }
    Line::new("crowd", "engine")
        .word("store", name)
        .word("triggers", TRIGGERS)
        .figure("fires_s", &fires)
        .figure("plain_s", &plain)
        .figure("keyed_requests_s", &requests)
        .figure("made_s", &made_s.into())
        .figure("due_p50_ms", &latency.p50_ms)
        .figure("due_p99_ms", &latency.p99_ms)
        .print();
    one.stop().await;
    Ok(())
}

async fn admissions(one: &Embedded) -> anyhow::Result<f64> {
    let began = Instant::now();
    for chunk in 0..DUE / AT_ONCE {
        let many = (0..AT_ONCE).map(|n| one.submission(chunk * AT_ONCE + n, None));
        one.submit_all(many.collect()).await?;
    }
    Ok(DUE as f64 / began.elapsed().as_secs_f64())
}

async fn webhook(one: &Embedded) -> anyhow::Result<WebhookId> {
    let settings = r#"{"trigger_type":"webhook","authentication":"none"}"#;
    let made = one
        .engine
        .triggers()
        .create(&one.workflow, settings)
        .await?;
    made.view.row.webhook.context("it has no address")
}

/// Requests with a key each.
async fn keyed(one: &Embedded, hook: WebhookId, round: u32) -> anyhow::Result<f64> {
    let began = Instant::now();
    let senders = (0..AT_ONCE).map(|sender| {
        tokio::spawn(send(
            Arc::clone(&one.engine),
            hook,
            format!("{round}-{sender}"),
        ))
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await??;
    }
    Ok(DUE as f64 / began.elapsed().as_secs_f64())
}

async fn send(engine: Arc<Engine>, hook: WebhookId, name: String) -> anyhow::Result<()> {
    for n in 0..DUE / AT_ONCE {
        let incoming = Incoming {
            source: IpAddr::V4(Ipv4Addr::LOCALHOST),
            query: String::new(),
            headers: vec![("idempotency-key".to_owned(), format!("{name}-{n}").into())],
            body: rows::body(),
            unread: None,
            is_test: false,
        };
        let received = engine.webhooks().receive(hook, &incoming).await?;
        anyhow::ensure!(matches!(received, Received::Triggered(_)), "{received:?}");
    }
    Ok(())
}
