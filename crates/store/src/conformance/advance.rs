//! Moves of executions: the right version or nothing, and neighbours that are not disturbed.

use refire_core::execution::{Cancel, Command, Outcome};

use super::Lab;
use super::execution::Run;
use super::stage::{Stage, http, json, side_by_side, two_steps};
use crate::{Advance, CommitError, NotWritten, Part, PartOutcome};

fn part(advance: Advance) -> Part {
    Part::Advance(Box::new(advance))
}

/// A move that was decided on an older version is refused whole; the others are written.
pub async fn a_wrong_version_is_refused_alone(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(stage.admit(&workflow, "{}").await);
    }
    // Somebody cancels the second while a result for it is decided on the state before.
    let mut late = runs[1].clone();
    stage
        .send(&mut runs[1], Command::Cancel(Cancel::by(None)))
        .await;
    let mut parts = Vec::new();
    for run in [&mut runs[0], &mut late] {
        let report = stage.report(run, "a", Outcome::Failed(http("404")));
        parts.push(part(stage.decide(run, report)));
    }
    let report = stage.report(&runs[2], "a", Outcome::Succeeded(json("{\"ok\":true}")));
    parts.push(part(stage.decide(&mut runs[2], report)));
    let outcomes = stage.commit(parts).await;
    assert_eq!(
        outcomes,
        [PartOutcome::Done, PartOutcome::Conflict, PartOutcome::Done]
    );
    for run in &runs {
        stage.check(run).await;
    }
    let letter = late.state.dlq_id.expect("the late decision made a letter");
    assert_eq!(
        stage.store.letter(letter).await.unwrap(),
        None,
        "which was not written"
    );
}

/// What is not there cannot move.
pub async fn an_unknown_execution_is_refused(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let with = stage.plain_start("{}");
    let (mut run, _) = stage.start(&workflow, with);
    let report = stage.report(&run, "a", Outcome::Succeeded(json("1")));
    let advance = stage.decide(&mut run, report);
    assert_eq!(stage.commit_one(part(advance)).await, PartOutcome::Conflict);
    stage.check_absent(run.id).await;
}

/// What ends an execution together with its running attempts names them: if others have begun
/// meanwhile, or these were given back, it is refused and decided again.
pub async fn a_change_of_what_has_begun_is_noticed(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a", "b"])).await;
    let mut run = stage.admit(&workflow, "{}").await;
    let row = stage.begin_next(&workflow).await;
    let (step, attempt) = (row.step.as_str(), row.attempt);
    run.work.insert(row.step.clone(), row.clone());
    let before = run.clone();
    let cancel = |run: &mut Run, stage: &mut Stage, begun: &[(&str, u32)]| {
        let mut advance = stage.decide(run, Command::Cancel(Cancel::by(None)));
        let begun = begun
            .iter()
            .map(|(step, attempt)| ((*step).to_owned(), *attempt));
        advance.begun = Some(begun.collect());
        part(advance)
    };
    let neither = if step == "a" { "b" } else { "a" };
    for wrong in [
        &[][..],
        &[(neither, 1)],
        &[(step, 2)],
        &[("a", 1), ("b", 1)],
    ] {
        let late = cancel(&mut before.clone(), &mut stage, wrong);
        assert_eq!(
            stage.commit_one(late).await,
            PartOutcome::Conflict,
            "{wrong:?}"
        );
        stage.check(&run).await;
    }
    // A neighbour in the same batch is not held up.
    let mut other = stage.admit(&workflow, "{}").await;
    let none_begun = cancel(&mut other, &mut stage, &[]);
    let right = cancel(&mut run, &mut stage, &[(step, attempt)]);
    let outcomes = stage.commit(vec![none_begun, right]).await;
    assert_eq!(outcomes, vec![PartOutcome::Done; 2]);
    stage.check(&run).await;
    stage.check(&other).await;
}

/// A batch may admit an execution and move it on, in order.
pub async fn several_moves_in_one_batch(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let with = stage.plain_start("{}");
    let (mut run, admit) = stage.start(&workflow, with);
    let mut parts = vec![Part::Admit(Box::new(admit))];
    for step in ["a", "b"] {
        let report = stage.report(&run, step, Outcome::Succeeded(json("{}")));
        parts.push(part(stage.decide(&mut run, report)));
    }
    assert_eq!(stage.commit(parts).await, vec![PartOutcome::Done; 3]);
    assert!(run.state.status.is_terminal());
    stage.check(&run).await;
}

/// A statement that fails because of its data takes the batch with it, whole; without the
/// culprit the rest can be written.
pub async fn a_failing_statement_leaves_nothing(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut run = stage.admit(&workflow, "{}").await;
    let before = run.clone();
    let with = stage.plain_start("{}");
    let (neighbour, admit) = stage.start(&workflow, with);
    let report = stage.report(&run, "a", Outcome::Succeeded(json("{}")));
    let mut broken = stage.decide(&mut run, report);
    // A number that is taken: no decision makes this.
    broken.events[0].sequence = 1;
    let admission = Part::Admit(Box::new(admit));
    let parts = vec![admission.clone(), part(broken)];
    match stage.try_commit(parts).await {
        Err(CommitError::NotWritten {
            reason: NotWritten::Statement,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    stage.check(&before).await;
    stage.check_absent(neighbour.id).await;
    assert_eq!(stage.commit_one(admission).await, PartOutcome::Done);
    stage.check(&neighbour).await;
}
