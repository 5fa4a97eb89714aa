//! Circuit breakers: a change counts if the row is still the one that it was decided on. And what waits for a
//! target: work that is due, and dead letters.

use std::time::Duration;

use refire_core::breaker::{Breaker, Forced, Move, Phase};
use refire_core::id::NodeId;

use super::Lab;
use super::stage::{NODE, Run, Stage, http, side_by_side, two_steps, workflow_id};
use crate::{
    BREAKERS_MAX, ChangeBreaker, LIMIT_MAX, LetterFilter, LetterRow, Part, PartOutcome, Want,
};

const HOST: &str = "api.example.com";

fn part(breaker: &Breaker) -> Part {
    let breaker = breaker.clone();
    let notices = Vec::new();
    Part::ChangeBreaker(Box::new(ChangeBreaker { breaker, notices }))
}

fn force(to: Forced) -> Move {
    let by = "anna \u{0} é".to_owned();
    Move::Force { to, by }
}

impl Stage {
    /// Writes a breaker; whether it follows what is there.
    async fn put_breaker(&mut self, breaker: &Breaker) -> bool {
        match self.commit_one(part(breaker)).await {
            PartOutcome::Touched(was) => was,
            other => panic!("{other:?}"),
        }
    }

    async fn found_breaker(&self, host: &str) -> Option<Breaker> {
        self.store.breaker(host).await.unwrap()
    }

    /// Moves a breaker as core says, and writes it.
    async fn moved(&mut self, breaker: &Breaker, step: Move) -> Breaker {
        let next = breaker.after(&step, self.now).unwrap();
        assert!(self.put_breaker(&next).await, "{step:?}");
        assert_eq!(self.found_breaker(&next.host).await, Some(next.clone()));
        next
    }
}

pub async fn a_breaker_moves_by_its_revision(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    assert_eq!(stage.found_breaker(HOST).await, None);
    let cause = "5 calls in a row failed, the last one by dns".to_owned();
    let closed = Breaker::closed(HOST);
    let open = stage.moved(&closed, Move::Trip { cause }).await;
    assert!(!stage.put_breaker(&open).await, "not twice");
    let mut ahead = open.clone();
    ahead.rev += 2;
    assert!(!stage.put_breaker(&ahead).await, "one is missing between");
    stage.wait(20);
    let timeout = Duration::from_secs(30);
    let probing = stage
        .moved(
            &open,
            Move::Claim {
                node: NODE,
                timeout,
            },
        )
        .await;
    assert!(probing.probe.is_some());
    let forced = stage.moved(&probing, force(Forced::Open)).await;
    stage.store.close().await;
    stage = Stage::open(lab).await;
    assert_eq!(stage.found_breaker(HOST).await, Some(forced.clone()));
    let closed = stage.moved(&forced, force(Forced::Closed)).await;
    let by = String::new();
    stage.moved(&closed, Move::Reset { by }).await;
}

pub async fn those_that_stand_are_found(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    assert!(stage.store.standing_breakers().await.unwrap().is_empty());
    let cause = String::new;
    let mut standing = Vec::new();
    for host in ["b.example:8080", "[2001:db8::1]:8443", "a.example"] {
        let trip = Move::Trip { cause: cause() };
        standing.push(stage.moved(&Breaker::closed(host), trip).await);
    }
    standing.push(
        stage
            .moved(&Breaker::closed("c"), force(Forced::Closed))
            .await,
    );
    let by = "x".to_owned();
    let gone = stage.moved(&standing.remove(0), Move::Reset { by }).await;
    assert_eq!(gone.phase, Phase::Closed);
    standing.sort_by(|a, b| a.host.cmp(&b.host));
    assert_eq!(stage.store.standing_breakers().await.unwrap(), standing);
}

pub async fn one_of_two_moves_counts(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let cause = String::new();
    let open = stage
        .moved(&Breaker::closed(HOST), Move::Trip { cause })
        .await;
    stage.wait(20);
    let claim = |node: NodeId| {
        let timeout = Duration::from_secs(1);
        let step = Move::Claim { node, timeout };
        open.after(&step, stage.now).unwrap()
    };
    let (mine, theirs) = (claim(NODE), claim(NodeId::from_bytes([9; 16])));
    let outcomes = stage.commit(vec![part(&mine), part(&theirs)]).await;
    assert_eq!(
        outcomes,
        [PartOutcome::Touched(true), PartOutcome::Touched(false)]
    );
    assert_eq!(stage.found_breaker(HOST).await, Some(mine));
    // Also where there is no row yet.
    let first = |by: &str| {
        let (to, by) = (Forced::Open, by.to_owned());
        let step = Move::Force { to, by };
        Breaker::closed("new").after(&step, stage.now).unwrap()
    };
    let (one, other) = (first("ann"), first("bob"));
    let outcomes = stage.commit(vec![part(&one), part(&other)]).await;
    assert_eq!(
        outcomes,
        [PartOutcome::Touched(true), PartOutcome::Touched(false)]
    );
    assert_eq!(stage.found_breaker("new").await, Some(one));
}

pub async fn breakers_are_listed_by_host(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    for host in ["b", "a:80", "B", "a"] {
        stage
            .moved(&Breaker::closed(host), force(Forced::Closed))
            .await;
    }
    let hosts = |rows: Vec<Breaker>| rows.into_iter().map(|row| row.host).collect::<Vec<_>>();
    let all = stage.store.breakers(None, LIMIT_MAX).await.unwrap();
    assert_eq!(hosts(all), ["B", "a", "a:80", "b"]);
    let some = stage.store.breakers(Some("a"), 1).await.unwrap();
    assert_eq!(hosts(some), ["a:80"]);
    assert!(stage.store.breakers(Some("b"), 9).await.unwrap().is_empty());
}

pub async fn only_so_many_closed_breakers_stay(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let row = |n: usize| Breaker {
        changed_at: stage.now.plus(Duration::from_secs(n as u64)),
        rev: 1,
        ..Breaker::closed(&format!("h{n:05}"))
    };
    let open = Breaker {
        phase: Phase::Open,
        ..row(0)
    };
    let rows: Vec<Breaker> = (1..=BREAKERS_MAX).map(row).collect();
    assert!(stage.put_breaker(&open).await);
    for chunk in rows.chunks(500) {
        stage.commit(chunk.iter().map(part).collect()).await;
    }
    assert_eq!(stage.found_breaker("h00001").await, Some(rows[0].clone()));
    let late = Breaker {
        changed_at: stage.now.plus(Duration::from_secs(90_000)),
        rev: 1,
        ..Breaker::closed("late")
    };
    assert!(stage.put_breaker(&late).await);
    assert_eq!(stage.found_breaker("h00001").await, None, "longest ago");
    assert!(stage.found_breaker("h00002").await.is_some());
    assert_eq!(
        stage.found_breaker("h00000").await,
        Some(open),
        "it is not closed"
    );
    assert!(stage.found_breaker("late").await.is_some());
}

pub async fn a_backup_has_breakers(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let forced = stage
        .moved(&Breaker::closed(HOST), force(Forced::Open))
        .await;
    let target = lab.directory().join("copy");
    stage.store.backup(&target, &|_, _| {}).await.unwrap();
    let copy = lab.open_backup(&target).await;
    assert_eq!(copy.breaker(HOST).await.unwrap(), Some(forced));
    copy.close().await;
}

pub async fn work_that_waits_for_a_target_is_counted(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a", "b", "c"])).await;
    for _ in 0..3 {
        stage.admit(&workflow, "{}").await;
    }
    let other = stage.save(&side_by_side("others", &["a"])).await;
    stage.admit(&other, "{}").await;
    let counted = async |stage: &Stage, steps: &[&str], max: u32| {
        let (id, now) = (workflow_id("orders"), stage.now);
        let found = stage.store.waiting_work(&id, steps, now, max).await;
        found.unwrap()
    };
    stage.wait(1);
    assert_eq!(counted(&stage, &["a", "b"], 100).await, 6);
    assert_eq!(counted(&stage, &["a", "b"], 5).await, 5);
    assert_eq!(counted(&stage, &["c", "nobody"], 100).await, 3);
    assert_eq!(counted(&stage, &[], 100).await, 0);
    let claimed = stage.claim(vec![Want::any(workflow_id("orders"), 2)]).await;
    assert_eq!(claimed.len(), 2);
    assert_eq!(
        counted(&stage, &["a", "b", "c"], 100).await,
        7,
        "somebody has these"
    );
    let (nobody, now) = (workflow_id("nobody"), stage.now);
    let none = stage.store.waiting_work(&nobody, &["a"], now, 9).await;
    assert_eq!(none.unwrap(), 0);
}

async fn letter_of(stage: &mut Stage, workflow: &str, target: Option<&str>) -> Run {
    let workflow = stage.save(&two_steps(workflow)).await;
    let mut run = stage.admit(&workflow, "{}").await;
    let mut failure = http("404");
    failure.target = target.map(str::to_owned);
    stage.fail(&mut run, "a", failure).await;
    stage.wait(60);
    run
}

pub async fn letters_are_found_by_their_target(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let mut of_host = Vec::new();
    for target in [Some(HOST), Some("b.example"), None, Some(HOST)] {
        let run = letter_of(&mut stage, "orders", target).await;
        of_host.extend((target == Some(HOST)).then(|| run.state.dlq_id.unwrap()));
    }
    let in_other = letter_of(&mut stage, "others", Some(HOST)).await;
    let other = in_other.state.dlq_id.unwrap();
    of_host.reverse();
    let filter = LetterFilter {
        target: Some(HOST.to_owned()),
        ..LetterFilter::default()
    };
    let found = async |stage: &Stage, filter: &LetterFilter| {
        let rows = stage.store.letters(filter, None, 9).await.unwrap();
        let count = stage.store.letter_summary(filter).await.unwrap().count;
        assert_eq!(rows.len() as u64, count);
        rows
    };
    let ids = |rows: Vec<LetterRow>| rows.iter().map(|row| row.id).collect::<Vec<_>>();
    let rows = found(&stage, &filter).await;
    assert_eq!(rows[1].failure.target.as_deref(), Some(HOST));
    assert_eq!(ids(rows), [other, of_host[0], of_host[1]]);
    let orders = LetterFilter {
        workflow: Some(workflow_id("orders")),
        ..filter.clone()
    };
    assert_eq!(ids(found(&stage, &orders).await), of_host);
    let text = LetterFilter {
        text: Some("others".to_owned()),
        ..filter.clone()
    };
    assert_eq!(ids(found(&stage, &text).await), [other]);
    let nobody = LetterFilter {
        target: Some("c".to_owned()),
        ..filter.clone()
    };
    assert!(found(&stage, &nobody).await.is_empty());
    let counted = async |stage: &Stage, from, max| {
        let found = stage.store.letters_of_target(HOST, from, max).await;
        found.unwrap()
    };
    assert_eq!(counted(&stage, None, 9).await, 3);
    assert_eq!(counted(&stage, None, 2).await, 2);
    let from = stage.now.minus(Duration::from_secs(90));
    assert_eq!(counted(&stage, Some(from), 9).await, 1);
    let by = "eve".to_owned();
    stage.commit_one(Part::DeleteLetter { id: other, by }).await;
    assert_eq!(counted(&stage, None, 9).await, 2);
}
