//! What a node owns and has forgotten, it finds again; what it knows it leaves alone.

use refire_core::planted::{Defect, choose};

use super::*;

/// A disk for one process, and one that others could use too.
fn scenes() -> [Arc<Scene>; 2] {
    let clock = SceneClock(Instant::now(), 0);
    let shared = Disk::shared(Arc::new(move || clock.now()));
    [Scene::new(), Scene::on(shared)]
}

async fn submitted(engine: &Engine, delay_ms: u64) -> ExecutionId {
    engine
        .definitions()
        .apply(FLOW, None, "somebody")
        .await
        .unwrap();
    match engine.executions().submit(wish(delay_ms)).await.unwrap() {
        Accepted::New { id, .. } => id,
        Accepted::Duplicate { .. } => panic!("there was no key"),
    }
}

/// Its target was called once, and nothing else happens any more.
async fn ends_well(scene: &Scene, engine: &Engine, id: ExecutionId) {
    scene.gate.add_permits(1);
    assert_eq!(ended(engine, id).await, Status::Completed);
    sleep(Duration::from_secs(200)).await;
    assert_eq!((scene.calls(), engine.free_slots()), (1, SLOTS));
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_was_forgotten_is_found_again() {
    for scene in scenes() {
        let engine = scene.start().await;
        choose(Some(Defect::ClaimForgotten));
        // So far away that it is claimed before it comes due.
        let id = submitted(&engine, 40_000).await;
        sleep(Duration::from_secs(45)).await;
        let row = scene.disk.durable().work_of(id).next().cloned().unwrap();
        assert_eq!((row.owner, row.begun), (Some(engine.node()), false));
        sleep(Duration::from_secs(20)).await;
        assert_eq!((scene.calls(), engine.found_again()), (0, 0), "seen once");
        sleep(Duration::from_secs(30)).await;
        assert_eq!((scene.calls(), engine.found_again()), (1, 1));
        choose(None);
        ends_well(&scene, &engine, id).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_forgotten_counts_as_lost() {
    for scene in scenes() {
        let engine = scene.start().await;
        choose(Some(Defect::AttemptForgotten));
        let id = submitted(&engine, 0).await;
        sleep(Duration::from_secs(45)).await;
        let row = scene.disk.durable().work_of(id).next().cloned().unwrap();
        assert_eq!((row.owner, row.begun), (Some(engine.node()), true));
        assert_eq!((scene.calls(), engine.found_again()), (0, 0), "seen once");
        sleep(Duration::from_secs(30)).await;
        assert_eq!((scene.calls(), engine.found_again()), (1, 1));
        choose(None);
        let log = engine.executions().log(id).await.unwrap();
        let lost = log.iter().filter(|event| event.kind.name() == "STEP_LOST");
        assert_eq!(lost.count(), 1);
        ends_well(&scene, &engine, id).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_runs_or_waits_is_not_forgotten() {
    for scene in scenes() {
        let engine = scene.start().await;
        let id = submitted(&engine, 40_000).await;
        // It is claimed, and cannot be begun.
        scene.fail(&["states"]);
        sleep(Duration::from_secs(300)).await;
        assert_eq!((scene.calls(), engine.found_again()), (0, 0));
        scene.fail(&[]);
        sleep(Duration::from_secs(300)).await;
        assert_eq!((scene.calls(), engine.found_again()), (1, 0), "it runs");
        ends_well(&scene, &engine, id).await;
        assert_eq!(engine.found_again(), 0);
    }
}
