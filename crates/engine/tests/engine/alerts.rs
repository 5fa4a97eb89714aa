//! Alerts from end to end: a workflow that fails is told once, and once when it is over, whichever node looks.

use std::sync::Arc;
use std::time::Duration;

use refire_core::alert::Phase;
use refire_core::definition::WorkflowId;
use refire_engine::alert::AlertError;
use refire_engine::breaker::TargetAct;
use refire_engine::caller::Caller;
use refire_engine::clock::{Clock, SystemClock};
use refire_engine::vault::{MasterKey, Vault};
use refire_engine::{Builder, Engine, NodeSettings};
use refire_store::model::{Disk, NoFaults};
use refire_store::{AlertFilter, AlertRow, MinuteFilter, Store};

use crate::fixture::{Answer, Targets, World, apply, run, stop_at_once, within};

const SOURCE: &str = r#"
id: w
retry: false
steps:
  - { id: a, type: http, config: { method: POST, url: "https://t.example/a" } }
"#;
const RULE: &str = "{name: Half fail, kind: failure_rate, window: 10m, above: 50, min_count: 3}";
const CHANNEL: &str = "{name: ops, type: webhook, kinds: [alert.firing, alert.resolved], config: {url: 'https://hooks.example/ops'}}";
const EVERY: Duration = Duration::from_millis(100);

fn alerting(builder: Builder, targets: &Arc<Targets>) -> Builder {
    let caller: Arc<dyn Caller> = targets.clone();
    let vault = Vault::new(MasterKey::new([7; 32]), None);
    builder.caller(caller).vault(vault).alerts_every(EVERY)
}

async fn node(disk: &Arc<Disk>, targets: &Arc<Targets>, name: &str) -> Arc<Engine> {
    let store: Arc<dyn Store> = Arc::new(disk.open(Arc::new(NoFaults)));
    let settings = NodeSettings {
        name: name.to_owned(),
        lease: Duration::from_millis(900),
        ..NodeSettings::default()
    };
    let builder = alerting(Engine::builder(store), targets).node(settings);
    builder.start().await.unwrap()
}

/// Only the rule of the test is looked at.
async fn only(engine: &Engine, rule: &str) {
    for built_in in engine.alerts().rules().await.unwrap() {
        engine.alerts().remove_rule(built_in.id).await.unwrap();
    }
    engine.alerts().create_rule(rule).await.unwrap();
}

async fn fail(engine: &Engine, targets: &Targets, workflow: &WorkflowId, times: usize) {
    for _ in 0..times {
        targets.script("/a", &[Answer::Status(400)]);
        run(engine, workflow, "{}").await;
    }
}

async fn alerts(engine: &Engine) -> Vec<AlertRow> {
    let all = AlertFilter::default();
    engine.alerts().list(&all, None, 10).await.unwrap()
}

/// Waits until the only alert is in a phase.
async fn reaches(engine: &Engine, phase: Phase) -> AlertRow {
    within(async {
        loop {
            if let [row] = &alerts(engine).await[..]
                && row.alert.phase == phase
            {
                return row.clone();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

/// The kinds of the messages that have arrived.
fn told(targets: &Targets) -> Vec<&'static str> {
    let kind = |body: &str| match () {
        () if body.contains("alert.resolved") => "resolved",
        () if body.contains("alert.firing") => "firing",
        () => panic!("{body}"),
    };
    let seen = targets.seen("/ops");
    seen.iter().map(|seen| kind(&seen.body)).collect()
}

async fn is_told(targets: &Targets, expected: &[&str]) {
    within(async {
        while told(targets).len() < expected.len() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    assert_eq!(told(targets), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workflow_that_fails_is_told_once_also_when_the_node_that_looks_dies() {
    let clock = SystemClock::new();
    let disk = Disk::shared(Arc::new(move || clock.now()));
    let targets = Targets::new();
    let one = node(&disk, &targets, "one").await;
    let other = node(&disk, &targets, "other").await;
    one.notifications().create(CHANNEL).await.unwrap();
    only(&one, RULE).await;
    let workflow = apply(&one, SOURCE).await;
    fail(&one, &targets, &workflow, 2).await;
    fail(&other, &targets, &workflow, 2).await;
    let fired = reaches(&other, Phase::Firing).await;
    assert_eq!((fired.subject.as_str(), fired.alert.value), ("w", 100_000));
    is_told(&targets, &["firing"]).await;
    stop_at_once(one).await;
    targets.script("/a", &[Answer::Ok("{}")]);
    for _ in 0..10 {
        run(&other, &workflow, "{}").await;
    }
    let over = reaches(&other, Phase::Resolved).await;
    assert_eq!(over.alert.id, fired.alert.id);
    is_told(&targets, &["firing", "resolved"]).await;
    tokio::time::sleep(EVERY * 4).await;
    is_told(&targets, &["firing", "resolved"]).await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_is_left_alone_is_told_until_it_is_not() {
    let world = World::new();
    let engine = world.engine_with(|builder| alerting(builder, &world.targets));
    only(&engine, "{name: Held back, kind: breaker_open}").await;
    apply(&engine, SOURCE).await;
    let act = async |act| engine.targets().act("t.example", act, "ann").await.unwrap();
    act(TargetAct::Open).await;
    let fired = reaches(&engine, Phase::Firing).await;
    assert_eq!(fired.subject, "t.example");
    act(TargetAct::Reset).await;
    let over = reaches(&engine, Phase::Resolved).await;
    assert_eq!(over.alert.id, fired.alert.id);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_channel_it_is_shown_and_told_as_soon_as_there_is_one() {
    let world = World::new();
    let engine = world.engine_with(|builder| alerting(builder, &world.targets));
    only(&engine, RULE).await;
    let workflow = apply(&engine, SOURCE).await;
    fail(&engine, &world.targets, &workflow, 3).await;
    let fired = reaches(&engine, Phase::Firing).await;
    assert!(fired.alert.is_muted && fired.alert.told_at.is_none());
    let trouble = engine.trouble().await.unwrap().troubles;
    assert!(trouble.iter().any(|it| it.kind.name() == "alert_firing"));
    // A silence hides it from the channel, and what still fires at its end is told.
    let silence = engine.alerts().create_silence(
        "{rule: Half fail, subject: w, ends_at: 2099-01-01T00:00:00Z}",
        "ann",
    );
    assert!(
        matches!(silence.await, Err(AlertError::Invalid(_))),
        "a year at most"
    );
    let ends_at = engine.now().plus(Duration::from_secs(3_600));
    let text = format!("{{rule: Half fail, subject: w, ends_at: '{ends_at}'}}");
    let silence = engine.alerts().create_silence(&text, "ann").await.unwrap();
    engine.notifications().create(CHANNEL).await.unwrap();
    tokio::time::sleep(EVERY * 5).await;
    assert!(told(&world.targets).is_empty());
    engine.alerts().remove_silence(silence.id).await.unwrap();
    is_told(&world.targets, &["firing"]).await;
    let acked = engine.alerts().acknowledge(fired.alert.id, "ann");
    assert_eq!(acked.await.unwrap().alert.acked.unwrap().1, "ann");
    // A rule that is gone finds nothing.
    let rules = engine.alerts().rules().await.unwrap();
    engine.alerts().remove_rule(rules[0].id).await.unwrap();
    reaches(&engine, Phase::Resolved).await;
    is_told(&world.targets, &["firing", "resolved"]).await;
    let late = engine.alerts().acknowledge(fired.alert.id, "ann").await;
    assert!(late.is_ok(), "it was acknowledged before");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_are_counted_and_outlive_the_engine() {
    let world = World::new();
    let engine = world.engine();
    let source = SOURCE.replace(
        "retry: false",
        "retry: {maxRetries: 2, initialDelay: 1ms, jitter: none}",
    );
    let workflow = apply(&engine, &source).await;
    world
        .targets
        .script("/a", &[Answer::Status(503), Answer::Ok("{}")]);
    run(&engine, &workflow, "{}").await;
    world
        .targets
        .script("/a", &[const { Answer::Status(503) }; 3]);
    run(&engine, &workflow, "{}").await;
    let filter = MinuteFilter {
        workflow: Some(workflow),
        from: engine.now().minus(Duration::from_secs(600)),
        to: engine.now().plus(Duration::from_secs(60)),
    };
    let total = async |engine: &Engine| {
        let points = engine
            .stats()
            .points(&filter, Duration::from_secs(60))
            .await;
        let mut total = refire_core::minute::Minute::default();
        points.unwrap().iter().for_each(|(_, it)| total.add(it));
        total
    };
    let counted = total(&engine).await;
    assert_eq!(
        (counted.started, counted.completed, counted.failed),
        (2, 1, 1)
    );
    assert_eq!(
        (counted.retries, counted.recovered, counted.given_up),
        (3, 1, 1)
    );
    assert_eq!((counted.dead_lettered, counted.cancelled), (1, 0));
    assert!(counted.duration_max_ms <= counted.duration_ms);
    engine.stop().await;
    drop(engine);
    let again = world.engine();
    assert_eq!(total(&again).await, counted);
    again.stop().await;
}
