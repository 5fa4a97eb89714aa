//! Lists of dead letters: filters and pages.

use std::time::Duration;

use refire_core::dead_letter::LetterStatus;
use refire_core::failure::{ErrorClass, Failure};

use super::Lab;
use super::letters::letter;
use super::stage::{Stage, http, two_steps, workflow_id};
use crate::{LetterFilter, LetterRow, Part};

/// Letters of two workflows with different failures, a minute apart; some given up.
pub(super) async fn queue(stage: &mut Stage) -> Vec<LetterRow> {
    let orders = stage.save(&two_steps("orders")).await;
    let refunds = stage.save(&two_steps("refunds")).await;
    let mut letters = Vec::new();
    for n in 0..12 {
        let workflow = if n % 3 == 0 { &refunds } else { &orders };
        let mut run = stage.admit(workflow, "{}").await;
        let mut failure = http(["404", "410"][n % 2]);
        if n % 4 == 3 {
            failure = Failure::new(ErrorClass::Tls, "das Zertifikat ist UNGÜLTIG, 100%_sicher");
        }
        stage.fail(&mut run, "a", failure).await;
        let id = run.state.dlq_id.unwrap();
        if n % 5 == 0 {
            stage
                .commit_one(Part::DeleteLetter {
                    id,
                    by: "eve".to_owned(),
                })
                .await;
        }
        letters.push(letter(stage, &run).await);
        stage.wait(60);
    }
    letters.reverse();
    letters
}

pub(super) fn filters(letters: &[LetterRow]) -> Vec<LetterFilter> {
    let pending = vec![LetterStatus::Pending, LetterStatus::Retrying];
    let text = |text: &str| LetterFilter {
        text: Some(text.to_owned()),
        ..LetterFilter::default()
    };
    let orders = LetterFilter {
        workflow: Some(workflow_id("orders")),
        ..LetterFilter::default()
    };
    let tls = LetterFilter {
        error_types: vec!["tls".to_owned()],
        ..LetterFilter::default()
    };
    let both = LetterFilter {
        error_types: ["tls", "nobody", "http_status"].map(str::to_owned).to_vec(),
        ..LetterFilter::default()
    };
    let (newest, oldest) = (letters[2].failed_at, letters[9].failed_at);
    let just_after = oldest.plus(Duration::from_micros(1));
    vec![
        LetterFilter::default(),
        orders.clone(),
        tls.clone(),
        both.clone(),
        LetterFilter {
            workflow: orders.workflow.clone(),
            statuses: pending.clone(),
            ..both
        },
        LetterFilter {
            error_types: tls.error_types.clone(),
            ..orders.clone()
        },
        LetterFilter {
            statuses: pending.clone(),
            ..LetterFilter::default()
        },
        LetterFilter {
            statuses: vec![LetterStatus::Deleted],
            ..orders.clone()
        },
        LetterFilter {
            statuses: pending,
            ..tls
        },
        LetterFilter {
            statuses: vec![LetterStatus::Resolved],
            ..LetterFilter::default()
        },
        LetterFilter {
            from: Some(oldest),
            to: Some(newest),
            ..LetterFilter::default()
        },
        LetterFilter {
            from: Some(just_after),
            ..orders
        },
        LetterFilter {
            fingerprint: Some(letters[0].fingerprint),
            ..LetterFilter::default()
        },
        text("ungültig"),
        text("100%_s"),
        text("0%s"),
        text("REFUND"),
        text("410"),
        text("nothing says this"),
        LetterFilter {
            workflow: Some(workflow_id("nobody")),
            ..LetterFilter::default()
        },
        LetterFilter {
            error_types: vec!["nobody".to_owned()],
            ..LetterFilter::default()
        },
    ]
}

pub async fn filters_choose_letters(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let letters = queue(&mut stage).await;
    for filter in filters(&letters) {
        let expected: Vec<_> = letters
            .iter()
            .filter(|letter| filter.passes(letter))
            .cloned()
            .collect();
        let found = stage.store.letters(&filter, None, 100).await.unwrap();
        assert_eq!(found, expected, "{filter:?}");
    }
}

pub async fn pages_of_letters_meet(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let letters = queue(&mut stage).await;
    for filter in filters(&letters) {
        let mut found: Vec<LetterRow> = Vec::new();
        loop {
            let before = found.last().map(|letter| letter.id);
            let page = stage.store.letters(&filter, before, 2).await.unwrap();
            assert!(page.len() <= 2);
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        let expected: Vec<_> = letters
            .iter()
            .filter(|letter| filter.passes(letter))
            .cloned()
            .collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}
