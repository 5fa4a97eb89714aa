//! States: whatever snapshots were written, what is read is the fold of the log.

use refire_core::execution::Command;

use super::Lab;
use super::stage::{Stage, http, side_by_side, two_steps};

/// A history with retries, a pause and parallel steps; checked after every commit.
async fn play(lab: &dyn Lab, snapshot_every: u64) {
    let mut stage = Stage::open(lab).await;
    stage.snapshot_every = snapshot_every;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut run = stage.admit(&workflow, "{\"customer\":{\"id\":7}}").await;
    stage.check(&run).await;
    for delay in [10, 20] {
        stage.fail(&mut run, "a", http("503")).await;
        stage.check(&run).await;
        stage.wait(delay);
    }
    stage
        .send(
            &mut run,
            Command::Pause {
                by: Some("ada".to_owned()),
            },
        )
        .await;
    stage.check(&run).await;
    stage.wait(3_600);
    stage.send(&mut run, Command::Resume { by: None }).await;
    stage.check(&run).await;
    stage.succeed(&mut run, "a", "{\"total\":12.50}").await;
    stage.check(&run).await;
    stage.succeed(&mut run, "b", "[1,2,3]").await;
    stage.check(&run).await;
    assert!(run.state.status.is_terminal());

    let workflow = stage
        .save(&side_by_side("wide", &["a", "b", "c", "d"]))
        .await;
    let mut run = stage.admit(&workflow, "null").await;
    for step in ["c", "a", "d"] {
        stage.succeed(&mut run, step, "\"done\"").await;
        stage.check(&run).await;
    }
    stage.fail(&mut run, "b", http("404")).await;
    stage.check(&run).await;
    assert!(run.state.dlq_id.is_some());
}

pub async fn a_snapshot_with_every_commit(lab: &dyn Lab) {
    play(lab, 1).await;
}

pub async fn a_snapshot_now_and_then(lab: &dyn Lab) {
    play(lab, 3).await;
}

pub async fn no_snapshot_at_all(lab: &dyn Lab) {
    play(lab, 0).await;
}
