//! What no index answers is searched for a while, and then says how far it came.

use refire_core::execution::{Status, TriggerKind};
use refire_core::id::ExecutionId;

use super::Lab;
use super::lists::{by_status, cast, ids};
use super::stage::{Stage, http, two_steps};
use crate::{ExecutionFilter, Stretch};

/// Executions of every status, each of which says something else about its error.
async fn crowd(stage: &mut Stage) {
    for workflow in ["orders", "refunds", "returns"] {
        cast(stage, workflow).await;
    }
    let workflow = stage.save(&two_steps("failing")).await;
    for code in ["501", "404", "502", "410", "503"] {
        let mut run = stage.admit(&workflow, "{}").await;
        stage.fail(&mut run, "a", http(code)).await;
    }
}

fn filters() -> Vec<ExecutionFilter> {
    let all = ExecutionFilter::default;
    vec![
        all(),
        by_status(&[Status::Pending, Status::Dlq, Status::Retrying]),
        ExecutionFilter {
            statuses: vec![Status::Completed],
            ..all()
        },
        ExecutionFilter {
            text: Some("404".to_owned()),
            ..all()
        },
        ExecutionFilter {
            text: Some("ret".to_owned()),
            ..all()
        },
        ExecutionFilter {
            error_types: vec!["http_status".to_owned()],
            ..all()
        },
        ExecutionFilter {
            trigger_kinds: vec![TriggerKind::Cron],
            ..all()
        },
    ]
}

pub async fn a_search_stops_and_goes_on(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    crowd(&mut stage).await;
    for filter in filters() {
        let whole = Stretch::new(None, 100);
        let whole = stage.store.executions(&filter, &whole).await.unwrap();
        assert_eq!(whole.searched_to, None, "{filter:?}");
        for looks in [1, 2, 5] {
            let (mut found, mut searched): (Vec<ExecutionId>, Vec<ExecutionId>) =
                Default::default();
            loop {
                let stretch = Stretch {
                    before: searched.last().copied(),
                    limit: 100,
                    looks,
                };
                let part = stage.store.executions(&filter, &stretch).await.unwrap();
                assert!(part.rows.len() <= looks as usize);
                found.extend(ids(&part.rows));
                let Some(to) = part.searched_to else { break };
                assert!(found.last().is_none_or(|last| *last >= to));
                searched.push(to);
            }
            assert_eq!(found, ids(&whole.rows), "{looks}: {filter:?}");
            assert!(searched.is_sorted_by(|a, b| a > b), "{searched:?}");
        }
    }
}

pub async fn the_shortest_way_is_taken(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let [quiet, noisy] = ["quiet", "noisy"].map(two_steps);
    let (quiet, noisy) = (stage.save(&quiet).await, stage.save(&noisy).await);
    let wanted = stage.dead_letter(&quiet, "404").await;
    for _ in 0..30 {
        stage.dead_letter(&noisy, "404").await;
    }
    let filter = ExecutionFilter {
        statuses: vec![Status::Dlq],
        ..ExecutionFilter::of_workflow(quiet.id.clone())
    };
    let stretch = Stretch {
        before: None,
        limit: 5,
        looks: 20,
    };
    let found = stage.store.executions(&filter, &stretch).await.unwrap();
    assert_eq!(
        (ids(&found.rows), found.searched_to),
        (vec![wanted.id], None)
    );
    let counted = stage.store.count_executions(&filter, 20).await.unwrap();
    assert_eq!((counted.total(), counted.is_exact), (1, true));
}

pub async fn a_list_that_is_full_says_nothing(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    crowd(&mut stage).await;
    let all = ExecutionFilter::default();
    for (limit, looks, is_cut) in [(3, 3, false), (3, 4, false), (4, 3, true)] {
        let stretch = Stretch {
            before: None,
            limit,
            looks,
        };
        let part = stage.store.executions(&all, &stretch).await.unwrap();
        assert_eq!(part.rows.len(), limit.min(looks) as usize);
        assert_eq!(part.searched_to.is_some(), is_cut);
        let last = part.rows.last().map(|row| row.id);
        assert_eq!(part.next(limit), last, "it goes on behind the last one");
    }
    let nothing = stage
        .store
        .executions(&all, &Stretch::new(None, 0))
        .await
        .unwrap();
    assert_eq!(nothing.rows, []);
}

pub async fn counts_stop(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    crowd(&mut stage).await;
    let all = ExecutionFilter::default();
    let whole = stage
        .store
        .executions(&all, &Stretch::new(None, 100))
        .await
        .unwrap();
    let count = u32::try_from(whole.rows.len()).unwrap();
    for up_to in [0, 1, count - 1, count, count + 1] {
        let counted = stage.store.count_executions(&all, up_to).await.unwrap();
        assert_eq!(counted.total(), u64::from(up_to.min(count)));
        assert_eq!(counted.is_exact, up_to >= count, "{up_to} of {count}");
        assert_eq!(counted.searched_to, None);
        for (status, number) in counted.by_status {
            let newest = whole.rows.iter().take(up_to as usize);
            let same = newest.filter(|row| row.status() == status).count();
            assert_eq!(number, same as u64, "{status}");
        }
    }
}

pub async fn counts_say_how_far_they_came(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    crowd(&mut stage).await;
    let filter = ExecutionFilter {
        trigger_kinds: vec![TriggerKind::Cron],
        ..ExecutionFilter::default()
    };
    let counted = stage.store.count_executions(&filter, 4).await.unwrap();
    assert_eq!((counted.total(), counted.is_exact), (0, false));
    let all = ExecutionFilter::default();
    let five = stage
        .store
        .executions(&all, &Stretch::new(None, 5))
        .await
        .unwrap();
    let fifth = five.rows.last().map(|row| row.id);
    assert_eq!(counted.searched_to, fifth, "one more than may be counted");
}
