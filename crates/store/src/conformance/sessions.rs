//! Sessions of the console: found by their secret's hash, begun by a link once, and gone when they end.

use std::time::Duration;

use refire_core::session::SessionKind;
use refire_core::time::Timestamp;

use super::Lab;
use super::stage::{BEGINNING, Stage};
use crate::{Part, PartOutcome, SESSIONS_MAX, SecretHash, SessionChange, SessionRow};

fn at(seconds: u64) -> Timestamp {
    BEGINNING.plus(Duration::from_secs(seconds))
}

/// One that ends so many seconds after the beginning.
fn row(id: SecretHash, kind: SessionKind, ends: u64) -> SessionRow {
    SessionRow {
        id,
        kind,
        key_hash: [200; 32],
        actor: "anna \u{0} é".to_owned(),
        created_at: at(0),
        ends_at: at(ends),
    }
}

impl Stage {
    /// Changes sessions; whether what that needs was there.
    async fn session(&mut self, change: SessionChange) -> bool {
        match self.commit_one(Part::ChangeSession(change)).await {
            PartOutcome::Touched(was) => was,
            other => panic!("{other:?}"),
        }
    }

    async fn begin_session(&mut self, row: &SessionRow, link: Option<SecretHash>) -> bool {
        let row = row.clone();
        self.session(SessionChange::Open { row, link }).await
    }

    async fn found(&self, id: SecretHash) -> Option<SessionRow> {
        self.store.session(&id).await.unwrap()
    }
}

pub async fn a_session_is_found_until_it_ends(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let mut one = row([1; 32], SessionKind::Session, 100);
    assert_eq!(stage.found(one.id).await, None);
    assert!(stage.begin_session(&one, None).await);
    assert_eq!(stage.found(one.id).await, Some(one.clone()));
    one.ends_at = at(400);
    let extend = |id| SessionChange::Extend {
        id,
        ends_at: at(400),
    };
    assert!(stage.session(extend(one.id)).await);
    assert!(!stage.session(extend([9; 32])).await);
    assert_eq!(stage.found(one.id).await, Some(one.clone()));
    assert_eq!(stage.found([9; 32]).await, None, "that makes none");
    stage.store.close().await;
    stage = Stage::open(lab).await;
    assert_eq!(stage.found(one.id).await, Some(one.clone()));
    let end = SessionChange::End { id: one.id };
    assert!(stage.session(end.clone()).await);
    assert!(!stage.session(end).await);
    assert_eq!(stage.found(one.id).await, None);
}

pub async fn a_link_is_taken_once(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let link = row([1; 32], SessionKind::Link, 100);
    assert!(stage.begin_session(&link, None).await);
    assert_eq!(stage.found(link.id).await, Some(link.clone()));
    let (first, second) = (
        row([2; 32], SessionKind::Session, 100),
        row([3; 32], SessionKind::Session, 100),
    );
    let open = |row: &SessionRow| {
        Part::ChangeSession(SessionChange::Open {
            row: row.clone(),
            link: Some(link.id),
        })
    };
    let outcomes = stage.commit(vec![open(&first), open(&second)]).await;
    assert_eq!(
        outcomes,
        [PartOutcome::Touched(true), PartOutcome::Touched(false)]
    );
    assert_eq!(stage.found(link.id).await, None);
    assert_eq!(stage.found(first.id).await, Some(first));
    assert_eq!(stage.found(second.id).await, None, "refused whole");
    let third = row([4; 32], SessionKind::Session, 100);
    assert!(!stage.begin_session(&third, Some([9; 32])).await);
}

pub async fn ended_sessions_go_with_the_next(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    for (id, ends) in [([1; 32], 50), ([2; 32], 60), ([3; 32], 61)] {
        let one = row(id, SessionKind::Session, ends);
        assert!(stage.begin_session(&one, None).await);
    }
    stage.wait(60);
    assert!(stage.found([1; 32]).await.is_some(), "nobody has looked");
    let next = row([4; 32], SessionKind::Session, 500);
    assert!(stage.begin_session(&next, None).await);
    for (id, is_there) in [([1; 32], false), ([2; 32], false), ([3; 32], true)] {
        assert_eq!(stage.found(id).await.is_some(), is_there, "{}", id[0]);
    }
    assert!(stage.found(next.id).await.is_some());
}

pub async fn only_so_many_sessions_stay(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let id = |n: usize| {
        let mut id = [0; 32];
        id[24..].copy_from_slice(&(n as u64).to_be_bytes());
        id
    };
    // All end at the same time but the first, which ends before.
    for chunk in (0..SESSIONS_MAX).collect::<Vec<_>>().chunks(500) {
        let parts = chunk.iter().map(|n| {
            let row = row(id(*n), SessionKind::Link, 1_000 + u64::from(*n > 0));
            Part::ChangeSession(SessionChange::Open { row, link: None })
        });
        stage.commit(parts.collect()).await;
    }
    assert!(stage.found(id(0)).await.is_some());
    let late = row(id(SESSIONS_MAX), SessionKind::Link, 2_000);
    assert!(stage.begin_session(&late, None).await);
    assert!(stage.found(late.id).await.is_some());
    assert_eq!(stage.found(id(0)).await, None, "the one that ends first");
    assert!(stage.found(id(SESSIONS_MAX - 1)).await.is_some());
    let short = row([255; 32], SessionKind::Link, 10);
    assert!(stage.begin_session(&short, None).await);
    assert_eq!(stage.found(short.id).await, None, "it ends before the rest");
}

pub async fn a_backup_has_no_sessions(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let one = row([1; 32], SessionKind::Session, 100);
    assert!(stage.begin_session(&one, None).await);
    let target = lab.directory().join("copy");
    stage.store.backup(&target, &|_, _| {}).await.unwrap();
    let copy = lab.open_backup(&target).await;
    assert_eq!(copy.session(&one.id).await.unwrap(), None);
    copy.close().await;
    assert_eq!(stage.found(one.id).await, Some(one), "it goes on here");
}
