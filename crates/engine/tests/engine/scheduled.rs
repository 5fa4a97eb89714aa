//! Scheduled tasks: many who ask at once get each a cycle of their own, or the same task.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::Arc;

use futures_util::future::join_all;
use refire_core::failure::ErrorClass;
use refire_core::json::Json;
use refire_engine::Engine;
use refire_engine::scheduled::{HistoryFilter, ScheduledError};
use refire_store::model::{Disk, NoFaults};

use crate::fixture::{Answer, World, check, end, stop_at_once};
use crate::triggers::with_vault;

fn source(schedule: &str) -> String {
    format!(
        r#"{{{schedule},"taskConfig":{{"taskType":"custom","callbackWindow":0,"taskPayload":{{"n":1}},
            "targetConfig":{{"triggerType":"http","url":"https://t.example/a"}}}}}}"#
    )
}

fn daily() -> String {
    source(r#""scheduleType":"daily","scheduleConfig":{"time":"09:00"}"#)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_runs_a_task_gets_a_cycle_of_his_own() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let made = engine
        .scheduled()
        .create(&daily(), None, "ann")
        .await
        .unwrap();
    let id = made.view.row.id;
    let asked = (0..20).map(|_| engine.scheduled().run(id, "ann"));
    let runs = join_all(asked).await;
    let mut cycles = BTreeSet::new();
    for run in runs {
        let run = run.unwrap();
        cycles.insert(run.cycle);
        let stored = end(&engine, run.execution).await;
        let origin = stored.state.origin.unwrap();
        assert_eq!(origin.trigger.cycle, Some(run.cycle));
        check(&engine, run.execution).await;
    }
    assert_eq!(cycles, (1..=20).collect(), "none twice, none left out");
    let all = engine
        .scheduled()
        .history(id, &HistoryFilter::default(), None, 50)
        .await
        .unwrap();
    assert_eq!((all.records.len(), all.next), (20, None));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_at_the_same_time_makes_one_task() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let now = source(r#""scheduleType":"immediate""#);
    let asked = (0..10).map(|_| engine.scheduled().create(&now, Some("k"), "ann"));
    let made: Vec<_> = join_all(asked)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(made.iter().filter(|one| one.is_new).count(), 1);
    let ids: BTreeSet<_> = made.iter().map(|one| one.view.row.id).collect();
    assert_eq!(ids.len(), 1);
    world.targets.called("/a", 1).await;
    let other = engine.scheduled().create(&daily(), Some("k"), "ann").await;
    assert!(
        matches!(other, Err(ScheduledError::KeyUsed(_))),
        "{other:?}"
    );
    engine.stop().await;
    assert_eq!(world.targets.seen("/a").len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_and_its_cycles_survive_a_restart() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    let second = source(r#""scheduleType":"cron","scheduleConfig":{"cron":"* * * * * *"}"#);
    let made = engine
        .scheduled()
        .create(&second, None, "ann")
        .await
        .unwrap();
    let id = made.view.row.id;
    world.targets.called("/a", 1).await;
    stop_at_once(engine).await;
    let engine = world.engine_with(with_vault);
    world.targets.called("/a", 3).await;
    engine.scheduled().pause(id).await.unwrap();
    let view = engine.scheduled().get(id).await.unwrap();
    let all = engine
        .scheduled()
        .history(id, &HistoryFilter::default(), None, 100)
        .await
        .unwrap();
    let cycles: BTreeSet<_> = all
        .records
        .iter()
        .filter_map(|one| one.record.cycle)
        .collect();
    assert_eq!(cycles, (1..=view.state.cycles).collect());
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_that_meets_a_run_leaves_nothing_open() {
    let world = World::new();
    let engine = world.engine_with(with_vault);
    world.targets.script("/a", &[Answer::Held]);
    let made = engine
        .scheduled()
        .create(&daily(), None, "ann")
        .await
        .unwrap();
    let id = made.view.row.id;
    let (runs, cancelled) = tokio::join!(
        join_all((0..5).map(|_| engine.scheduled().run(id, "ann"))),
        engine.scheduled().cancel(id, false, "ann"),
    );
    cancelled.unwrap();
    for run in runs {
        match run {
            Ok(run) => {
                end(&engine, run.execution).await;
            }
            Err(error) => assert!(matches!(error, ScheduledError::Cancelled), "{error}"),
        }
    }
    engine.stop().await;
}

#[tokio::test]
async fn nobody_inside_is_asked_how_a_task_goes() {
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let port = inside.local_addr().unwrap().port();
    let store = Arc::new(Disk::new().open(Arc::new(NoFaults)));
    let engine = Engine::builder(store).start().await.unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let query = format!(r#"{{"type":"http","config":{{"url":"http://{host}:{port}/"}}}}"#);
        let asked = engine.scheduled().ask(&Json::parse(query).unwrap()).await;
        let Err(ScheduledError::NotAsked(failure)) = asked else {
            panic!("{asked:?}");
        };
        assert_eq!(failure.class, ErrorClass::AddressRefused, "{failure:?}");
    }
    assert!(inside.accept().is_err(), "nobody came");
    engine.stop().await;
}
