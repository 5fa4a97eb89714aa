//! Clients run planned times of the past, several at once, while the trigger goes on.

use std::collections::BTreeSet;

use refire_core::definition::WorkflowId;
use refire_core::id::TriggerId;
use refire_core::trigger::CatchUp;
use refire_engine::trigger::Backfill;

use super::*;

/// A trigger of every second that has this too.
async fn every_second(engine: &Engine, more: &str) -> TriggerId {
    engine
        .definitions()
        .apply(FLOW, None, "somebody")
        .await
        .unwrap();
    let settings = format!(r#"{{"trigger_type":"schedule","every":"1s"{more}}}"#);
    let workflow = WorkflowId::new("w").unwrap();
    let made = engine
        .triggers()
        .create(&workflow, &settings)
        .await
        .unwrap();
    made.view.row.id
}

async fn from_the_beginning(engine: &Engine, id: TriggerId, only_missed: bool) -> Backfill {
    let view = engine.triggers().get(id).await.unwrap();
    let moment = Duration::from_micros(1);
    Backfill {
        from: view.row.created_at.plus(moment),
        to: engine.now(),
        only_missed,
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_is_run_once_although_several_people_run_it() {
    let scene = Scene::new();
    let engine = scene.start().await;
    let id = every_second(&engine, "").await;
    engine.triggers().disable(id).await.unwrap();
    sleep(Duration::from_millis(5_500)).await;
    let (_, pause) = engine.triggers().enable(id, CatchUp::No).await.unwrap();
    assert_eq!(pause.slots, 5);
    let range = from_the_beginning(&engine, id, true).await;
    let fill = |by: &str| engine.triggers().backfill(id, range, Some(by.to_owned()));
    let (one, other) = tokio::join!(fill("one"), fill("other"));
    let started: Vec<Timestamp> = [one.unwrap(), other.unwrap()]
        .iter()
        .flatten()
        .map(|(slot, _)| *slot)
        .collect();
    let slots: BTreeSet<Timestamp> = started.iter().copied().collect();
    assert_eq!((started.len(), slots.len()), (5, 5), "{started:?}");
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_the_execution_before_it_is_not_past() {
    let scene = Scene::new();
    let engine = scene.start().await;
    let id = every_second(&engine, r#","overlap":"buffer_one""#).await;
    sleep(Duration::from_millis(3_500)).await;
    let state = engine.triggers().get(id).await.unwrap().state.unwrap();
    assert!(state.running.is_some(), "{state:?}");
    let waiting = state.buffered.unwrap();
    let range = from_the_beginning(&engine, id, false).await;
    let slots = engine.triggers().backfill_slots(id, range).await.unwrap();
    assert_eq!(slots.len(), 2, "{slots:?}");
    assert!(!slots.contains(&waiting));
}
