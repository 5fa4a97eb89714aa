//! Nodes: leases, and what their loss means.

use std::time::Duration;

use super::Lab;
use super::stage::{NODE, OTHER_NODE, Stage, begin_by_node, joining, side_by_side, two_steps};
use crate::{
    Begin, Claim, CommitError, Lease, NotWritten, Part, PartOutcome, Release, Want, WorkChange,
    WorkRow,
};

fn is_lease_lost<T>(ended: &Result<T, CommitError>) -> bool {
    matches!(
        ended,
        Err(CommitError::NotWritten {
            reason: NotWritten::LeaseLost,
            ..
        })
    )
}

pub async fn a_node_is_seen_until_it_leaves(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    assert!(stage.store.nodes().await.unwrap().is_empty());
    assert!(!stage.store.has_lease(NODE).await.unwrap());
    stage.join(NODE).await;
    assert!(stage.store.has_lease(NODE).await.unwrap());
    assert!(!stage.store.has_lease(OTHER_NODE).await.unwrap());
    let workflow = stage.save(&side_by_side("orders", &["a", "b", "c"])).await;
    stage.admit(&workflow, "{}").await;
    let claimed = stage.claim(vec![Want::any(workflow.id.clone(), 2)]).await;
    let begin = begin_by_node(vec![(claimed[0].key(), 1)]);
    stage.commit_one(begin).await;
    let nodes = stage.store.nodes().await.unwrap();
    let [node] = nodes.as_slice() else {
        panic!("{nodes:?}");
    };
    let expected = joining(NODE, 3_600);
    assert_eq!(
        (node.id, &node.name, &node.address, &node.version),
        (NODE, &expected.name, &expected.address, &expected.version)
    );
    assert_eq!((node.running, node.holding), (1, 1));
    assert_eq!(node.renewed_at, node.started_at);
    let lease = node.expires_at.since(node.renewed_at);
    assert_eq!(lease, Duration::from_secs(3_600));
    stage.wait(5);
    let renewed = stage.store.renew(NODE, Duration::from_secs(60), stage.now);
    assert!(matches!(renewed.await, Ok(Lease::Held { .. })));
    let nodes = stage.store.nodes().await.unwrap();
    assert!(nodes[0].renewed_at > nodes[0].started_at, "{nodes:?}");
    stage.store.leave(NODE).await.unwrap();
    assert!(stage.store.nodes().await.unwrap().is_empty());
    assert!(!stage.store.has_lease(NODE).await.unwrap());
    let renewed = stage.store.renew(NODE, Duration::from_secs(60), stage.now);
    assert_eq!(renewed.await.unwrap(), Lease::Lost);
}

pub async fn only_the_expired_are_reaped(lab: &dyn Lab) {
    let stage = Stage::open(lab).await;
    stage.join(OTHER_NODE).await;
    let store = &stage.store;
    let expired = joining(NODE, 0);
    store.join(&expired, stage.now).await.unwrap();
    let by_itself = store.reap(NODE, stage.now).await.unwrap();
    assert!(by_itself.is_empty(), "nobody removes itself: {by_itself:?}");
    assert_eq!(store.reap(OTHER_NODE, stage.now).await.unwrap(), [NODE]);
    assert!(store.reap(OTHER_NODE, stage.now).await.unwrap().is_empty());
    let renewed = store.renew(NODE, Duration::from_secs(60), stage.now).await;
    assert_eq!(renewed.unwrap(), Lease::Lost);
    let left = store.nodes().await.unwrap();
    assert_eq!(
        left.iter().map(|node| node.id).collect::<Vec<_>>(),
        [OTHER_NODE]
    );
}

pub async fn without_a_lease_nothing_is_written(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    stage.lease = Some(NODE);
    let with = stage.plain_start("{}");
    let (run, admit) = stage.start(&workflow, with);
    let part = Part::Admit(Box::new(admit));
    let before = stage.try_commit(vec![part.clone()]).await;
    assert!(is_lease_lost(&before), "{before:?}");
    stage.join(NODE).await;
    assert_eq!(stage.commit_one(part).await, PartOutcome::Done);
    stage.check(&run).await;
    stage.store.leave(NODE).await.unwrap();
    let claim = Claim {
        node: NODE,
        wants: vec![Want::any(workflow.id.clone(), 1)],
    };
    let after = stage.try_commit(vec![Part::Claim(claim)]).await;
    assert!(is_lease_lost(&after), "{after:?}");
    let put = stage.try_commit(Vec::new()).await;
    assert!(
        put.is_ok() || is_lease_lost(&put),
        "an empty batch: {put:?}"
    );
    stage.check(&run).await;
}

pub async fn the_dead_leave_orphans(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    stage.join(NODE).await;
    stage.join(OTHER_NODE).await;
    let workflow = stage.save(&side_by_side("orders", &["a", "b"])).await;
    stage.admit(&workflow, "{}").await;
    let claimed = stage.claim(vec![Want::any(workflow.id.clone(), 2)]).await;
    let begin = begin_by_node(vec![(claimed[0].key(), 1)]);
    stage.commit_one(begin).await;
    assert!(stage.store.orphans(None, 10).await.unwrap().is_empty());
    stage.store.leave(NODE).await.unwrap();
    let orphans = stage.store.orphans(None, 10).await.unwrap();
    let begun: Vec<bool> = orphans.iter().map(|row| row.begun).collect();
    assert_eq!(begun, [true, false]);
    // Another node gives back what was only held, in the name of the dead one.
    stage.lease = Some(OTHER_NODE);
    let work = vec![(orphans[1].key(), None)];
    let release = Part::Release(Release { node: NODE, work });
    assert_eq!(stage.commit_one(release).await, PartOutcome::Done);
    let left = stage.store.orphans(None, 10).await.unwrap();
    assert_eq!(left, orphans[..1]);
}

pub async fn another_nodes_work_does_not_begin(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a", "b"])).await;
    let mut run = stage.admit(&workflow, "{}").await;
    let owned = |step: &str, owner| {
        WorkChange::Put(WorkRow {
            owner: Some(owner),
            ..run.work[step].clone()
        })
    };
    let changes = vec![owned("a", NODE), owned("b", OTHER_NODE)];
    super::work::change(&mut stage, &mut run, changes).await;
    let work = ["a", "b"].map(|step| (run.work[step].key(), 1)).to_vec();
    let begin = Begin {
        node: OTHER_NODE,
        work,
    };
    let outcome = stage.commit_one(Part::Begin(begin)).await;
    assert_eq!(outcome, PartOutcome::Begun(vec![false, true]));
}

pub async fn an_old_version_is_not_admitted(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let newer = stage.save(&side_by_side("orders", &["a", "b"])).await;
    let with = stage.plain_start("{}");
    let (_, mut admit) = stage.start(&workflow, with);
    admit.only_newest = true;
    let part = Part::Admit(Box::new(admit.clone()));
    assert_eq!(stage.commit_one(part).await, PartOutcome::NotNewest);
    assert!(stage.store.execution(admit.row.id).await.unwrap().is_none());
    admit.only_newest = false;
    let part = Part::Admit(Box::new(admit));
    assert_eq!(stage.commit_one(part).await, PartOutcome::Done);
    let with = stage.plain_start("{}");
    let with = refire_core::execution::Start {
        workflow_version: 2,
        ..with
    };
    let (run, mut admit) = stage.start(&newer, with);
    admit.only_newest = true;
    let part = Part::Admit(Box::new(admit));
    assert_eq!(stage.commit_one(part).await, PartOutcome::Done);
    stage.check(&run).await;
}
