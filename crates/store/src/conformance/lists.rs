//! Lists of executions: newest first, by what a person sees.

use refire_core::execution::{Cancel, Command, Status};
use refire_core::id::ExecutionId;

use super::Lab;
use super::stage::{Run, Stage, begin_by_node, http, two_steps, workflow_id};
use crate::{ExecutionFilter, PartOutcome, Stretch, Summary, Want};

pub(super) async fn list(stage: &Stage, filter: &ExecutionFilter) -> Vec<Summary> {
    let stretch = Stretch::new(None, 100);
    let listed = stage.store.executions(filter, &stretch).await.unwrap();
    assert_eq!(listed.searched_to, None);
    listed.rows
}

pub(super) fn ids(summaries: &[Summary]) -> Vec<ExecutionId> {
    summaries.iter().map(|summary| summary.id).collect()
}

pub(super) fn by_status(statuses: &[Status]) -> ExecutionFilter {
    ExecutionFilter {
        statuses: statuses.to_vec(),
        ..ExecutionFilter::default()
    }
}

/// One execution of each kind, named by the status that a person sees.
pub(super) async fn cast(stage: &mut Stage, workflow: &str) -> Vec<(Status, Run)> {
    let workflow = stage.save(&two_steps(workflow)).await;
    let mut cast = Vec::new();
    let mut running = stage.admit(&workflow, "{}").await;
    let begun = stage.begin_next(&workflow).await;
    running.work = [(begun.step.clone(), begun)].into();
    cast.push((Status::Running, running));
    cast.push((Status::Pending, stage.admit(&workflow, "{}").await));
    let mut retrying = stage.admit(&workflow, "{}").await;
    stage.fail(&mut retrying, "a", http("503")).await;
    cast.push((Status::Retrying, retrying));
    let mut paused = stage.admit(&workflow, "{}").await;
    stage.send(&mut paused, Command::Pause { by: None }).await;
    cast.push((Status::Paused, paused));
    let mut completed = stage.admit(&workflow, "{}").await;
    stage.succeed(&mut completed, "a", "1").await;
    stage.succeed(&mut completed, "b", "2").await;
    cast.push((Status::Completed, completed));
    cast.push((Status::Dlq, stage.dead_letter(&workflow, "404").await));
    let mut cancelled = stage.admit(&workflow, "{}").await;
    stage
        .send(&mut cancelled, Command::Cancel(Cancel::by(None)))
        .await;
    cast.push((Status::Cancelled, cancelled));
    cast
}

pub async fn newest_come_first_page_by_page(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    stage.snapshot_every = 2;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut runs = Vec::new();
    for n in 0..7 {
        let mut run = stage.admit(&workflow, "{}").await;
        if n % 2 == 0 {
            stage.succeed(&mut run, "a", "1").await;
        }
        runs.push(run);
    }
    runs.reverse();
    let mut found: Vec<Summary> = Vec::new();
    loop {
        let before = found.last().map(|summary| summary.id);
        let page = stage
            .store
            .executions(&ExecutionFilter::default(), &Stretch::new(before, 3))
            .await
            .unwrap()
            .rows;
        assert!(page.len() <= 3);
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    assert_eq!(
        ids(&found),
        runs.iter().map(|run| run.id).collect::<Vec<_>>()
    );
    for (summary, run) in found.iter().zip(&runs) {
        assert_eq!(summary.state, run.state);
    }
}

pub async fn each_status_lists_its_own(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let mut cast = cast(&mut stage, "orders").await;
    cast.reverse();
    for (_, run) in &cast {
        stage.check(run).await;
    }
    for status in Status::ALL {
        let found = list(&stage, &by_status(&[status])).await;
        let expected: Vec<_> = cast
            .iter()
            .filter(|(shown, _)| *shown == status)
            .map(|(_, run)| run.id)
            .collect();
        assert_eq!(ids(&found), expected, "{status}");
        assert!(found.iter().all(|summary| summary.status() == status));
    }
    let everyone: Vec<_> = cast.iter().map(|(_, run)| run.id).collect();
    assert_eq!(ids(&list(&stage, &by_status(&Status::ALL)).await), everyone);
    assert_eq!(
        ids(&list(&stage, &ExecutionFilter::default()).await),
        everyone
    );
    let twice = by_status(&[Status::Dlq, Status::Pending, Status::Dlq]);
    assert_eq!(
        list(&stage, &twice).await.len(),
        2,
        "naming a status twice changes nothing"
    );
    let pages = [None, Some(everyone[2])].map(|before| (before, by_status(&Status::ALL)));
    for (before, filter) in pages {
        let stretch = Stretch::new(before, 3);
        let page = stage.store.executions(&filter, &stretch).await.unwrap();
        let from = before.map_or(0, |_| 3);
        assert_eq!(ids(&page.rows), everyone[from..from + 3]);
    }
}

pub async fn begun_work_shows_as_running(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut retrying = stage.admit(&workflow, "{}").await;
    stage.fail(&mut retrying, "a", http("503")).await;
    assert_eq!(
        ids(&list(&stage, &by_status(&[Status::Retrying])).await),
        [retrying.id]
    );
    stage.wait(10);
    let claimed = stage.claim(vec![Want::any(workflow.id.clone(), 1)]).await;
    assert_eq!(
        ids(&list(&stage, &by_status(&[Status::Retrying])).await),
        [retrying.id],
        "what is owned has not begun"
    );
    let begin = begin_by_node(vec![(claimed[0].key(), 2)]);
    assert_eq!(
        stage.commit_one(begin).await,
        PartOutcome::Begun(vec![true])
    );
    assert_eq!(
        list(&stage, &by_status(&[Status::Retrying])).await,
        Vec::new()
    );
    let running = list(&stage, &by_status(&[Status::Running])).await;
    assert_eq!(ids(&running), [retrying.id]);
    assert!(running[0].begun && running[0].status() == Status::Running);
    let began = Some(stage.now);
    assert_eq!(running[0].running_since, began);
    stage.wait(10);
    let stored = stage.store.execution(retrying.id).await.unwrap().unwrap();
    assert_eq!(stored.status(), Status::Running);
    assert_eq!(stored.running_since(), began);
    let alone = stage.store.summaries(&[retrying.id]).await.unwrap();
    assert_eq!(alone[0].as_ref().unwrap().running_since, began);
}

pub async fn filters_combine(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let mut everyone = Vec::new();
    for workflow in ["orders", "refunds"] {
        everyone.extend(
            cast(&mut stage, workflow)
                .await
                .into_iter()
                .map(|one| (workflow, one)),
        );
    }
    everyone.reverse();
    let some = [
        Status::Pending,
        Status::Running,
        Status::Retrying,
        Status::Completed,
    ];
    for workflow in [None, Some("orders"), Some("refunds"), Some("nobody-knows")] {
        for statuses in [
            &[][..],
            &[Status::Dlq],
            &[Status::Running],
            &some,
            &Status::ALL,
        ] {
            for retried in [false, true] {
                let filter = ExecutionFilter {
                    workflows: workflow
                        .map(|name| workflow_id(name).into())
                        .into_iter()
                        .collect(),
                    statuses: statuses.to_vec(),
                    retried,
                    ..ExecutionFilter::default()
                };
                let passes = |(of, (status, _)): &&(&str, (Status, Run))| {
                    workflow.is_none_or(|workflow| workflow == *of)
                        && (statuses.is_empty() || statuses.contains(status))
                        && (!retried || *status == Status::Retrying)
                };
                let expected: Vec<_> = everyone
                    .iter()
                    .filter(passes)
                    .map(|(_, (_, run))| run.id)
                    .collect();
                let found = ids(&list(&stage, &filter).await);
                assert_eq!(found, expected, "{filter:?}");
                let counted = stage.store.count_executions(&filter, 100).await.unwrap();
                assert!(counted.is_exact, "{filter:?}");
                assert_eq!(counted.total(), expected.len() as u64, "{filter:?}");
            }
        }
    }
}
