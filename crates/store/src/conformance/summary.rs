//! The overview of dead letters says what a walk over them would.

use std::collections::BTreeMap;
use std::time::Duration;

use refire_core::dead_letter::LetterStatus;

use super::Lab;
use super::letter_lists::{filters, queue};
use super::letters::retry;
use super::stage::{Stage, http, two_steps};
use crate::{LetterFilter, LetterGroup, LetterRow, LetterSummary, Part, PartOutcome};

/// What an overview of these letters is.
fn walk<'a>(letters: impl Iterator<Item = &'a LetterRow>) -> LetterSummary {
    let mut summary = LetterSummary::default();
    let mut groups = BTreeMap::new();
    for letter in letters {
        summary.count += 1;
        let failed_at = letter.failed_at;
        summary.oldest = Some(
            summary
                .oldest
                .map_or(failed_at, |oldest| oldest.min(failed_at)),
        );
        summary.newest = Some(
            summary
                .newest
                .map_or(failed_at, |newest| newest.max(failed_at)),
        );
        let failure = &letter.failure;
        let group = (
            letter.workflow.clone(),
            failure.class.name(),
            failure.code.clone().filter(|code| !code.is_empty()),
        );
        *groups.entry(group).or_insert(0) += 1;
    }
    let groups = groups
        .into_iter()
        .map(|((workflow, error_type, error_code), count)| LetterGroup {
            workflow,
            error_type: error_type.to_owned(),
            error_code,
            count,
        });
    summary.groups = groups.collect();
    summary
        .groups
        .sort_by_key(|group| std::cmp::Reverse(group.count));
    summary
}

pub async fn counts_equal_the_walk(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let letters = queue(&mut stage).await;
    for filter in filters(&letters) {
        let expected = walk(letters.iter().filter(|letter| filter.passes(letter)));
        let found = stage.store.letter_summary(&filter).await.unwrap();
        assert_eq!(found, expected, "{filter:?}");
    }
    for from in letters.iter().map(|letter| letter.failed_at) {
        let is_new = |letter: &&LetterRow| letter.failed_at.as_millis() >= from.as_millis();
        let expected = letters.iter().filter(is_new).count() as u64;
        for max in [2, 1_000] {
            let found = stage.store.letters_since(from, max).await.unwrap();
            assert_eq!(found, expected.min(max.into()), "{from} {max}");
        }
    }
}

/// Letters of one millisecond, in an order that their ids do not have; some with an empty code.
pub async fn a_crowded_millisecond_is_told_exactly(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    for n in 0..20 {
        let mut run = stage.admit(&workflow, "{}").await;
        let mut failure = http(["404", ""][n % 2]);
        if n % 4 == 0 {
            failure.code = None;
        }
        stage.fail(&mut run, "a", failure).await;
        stage.now = stage.now.plus(Duration::from_micros(7));
    }
    let end = stage.now.plus(Duration::from_secs(1));
    // The first is answered by counters, the second by a walk.
    let filters = [None, Some(end)].map(|to| LetterFilter {
        to,
        ..LetterFilter::default()
    });
    for filter in filters {
        let letters = stage.store.letters(&filter, None, 100).await.unwrap();
        assert_eq!(letters.len(), 20);
        let found = stage.store.letter_summary(&filter).await.unwrap();
        assert_eq!(found, walk(letters.iter()), "{filter:?}");
    }
}

pub async fn settling_moves_the_counts(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut failed = Vec::new();
    for _ in 0..3 {
        failed.push(stage.dead_letter(&workflow, "404").await);
        stage.wait(1);
    }
    let counts = async |stage: &Stage| {
        let mut counts = Vec::new();
        for status in LetterStatus::ALL {
            let filter = LetterFilter {
                statuses: vec![status],
                ..LetterFilter::default()
            };
            let summary = stage.store.letter_summary(&filter).await.unwrap();
            let letters = stage.store.letters(&filter, None, 100).await.unwrap();
            assert_eq!(summary, walk(letters.iter()), "{status:?}");
            counts.push(summary.count);
        }
        counts
    };
    assert_eq!(
        counts(&stage).await,
        [3, 0, 0, 0],
        "pending, retrying, resolved, deleted"
    );
    let mut runs = Vec::new();
    for failed in &failed[..2] {
        let (run, admit) = retry(&mut stage, &workflow, failed);
        assert_eq!(
            stage.commit_one(Part::Admit(Box::new(admit))).await,
            PartOutcome::Done
        );
        runs.push(run);
    }
    assert_eq!(counts(&stage).await, [1, 2, 0, 0]);
    stage.fail(&mut runs[0], "a", http("404")).await;
    stage.succeed(&mut runs[1], "a", "1").await;
    stage.succeed(&mut runs[1], "b", "1").await;
    assert_eq!(counts(&stage).await, [2, 0, 1, 0]);
    let id = failed[2].state.dlq_id.unwrap();
    stage
        .commit_one(Part::DeleteLetter {
            id,
            by: "eve".to_owned(),
        })
        .await;
    assert_eq!(counts(&stage).await, [1, 0, 1, 1]);
}

pub async fn an_empty_queue_counts_nothing(lab: &dyn Lab) {
    let stage = Stage::open(lab).await;
    let found = stage
        .store
        .letter_summary(&LetterFilter::default())
        .await
        .unwrap();
    assert_eq!(found, LetterSummary::default());
}
