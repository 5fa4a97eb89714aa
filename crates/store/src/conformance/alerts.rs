//! Alerts change by comparison, rules have names of their own, silences are kept in bounds.

use std::time::Duration;

use refire_core::alert::{Alert, Phase, RuleKind, SILENCES_MAX, Told};
use refire_core::definition::WorkflowId;
use refire_core::id::{AlertId, AlertRuleId, NoticeId, SilenceId};
use refire_core::notify::{Facts, NoticeKind};
use refire_core::time::Timestamp;

use super::Lab;
use super::stage::{BEGINNING, Stage};
use crate::{
    AlertChange, AlertFilter, AlertRow, AlertRuleChange, AlertRuleRow, NewNotice, Part,
    PartOutcome, Prune, SilenceRow,
};

fn at(seconds: u64) -> Timestamp {
    BEGINNING.plus(Duration::from_secs(seconds))
}

fn rule(number: u8) -> AlertRuleId {
    AlertRuleId::from_bytes([number; 16])
}

/// One that began so many seconds after the beginning.
fn row(rule_number: u8, subject: &str, rev: u64, phase: Phase, since: u64) -> AlertRow {
    AlertRow {
        rule: rule(rule_number),
        subject: subject.to_owned(),
        rev,
        name: "é \u{0}".to_owned(),
        kind: RuleKind::FailureRate,
        workflow: WorkflowId::new("w").ok(),
        threshold: Some(-5),
        alert: Alert {
            id: AlertId::from_bytes([rule_number + u8::try_from(since).unwrap(); 16]),
            phase,
            began_at: at(0),
            since: at(since),
            value: 42_500,
            told: Told::Firing,
            told_at: Some(at(since)),
            is_muted: true,
            acked: Some((at(1), "ann \u{0}".to_owned())),
            updated_at: at(since),
        },
    }
}

fn notice(number: u8) -> NewNotice {
    NewNotice {
        id: NoticeId::from_bytes([number; 16]),
        kind: NoticeKind::AlertFiring,
        workflow: None,
        subject: "s".to_owned(),
        facts: Facts::new("n", at(0)),
    }
}

fn put(seen: u64, row: AlertRow, notices: Vec<NewNotice>) -> AlertChange {
    AlertChange {
        rule: row.rule,
        subject: row.subject.clone(),
        seen,
        to: Some(row),
        notices,
    }
}

impl Stage {
    async fn alerts(&mut self, changes: Vec<AlertChange>) -> Vec<bool> {
        match self.commit_one(Part::ChangeAlerts(changes)).await {
            PartOutcome::Changed(changed) => changed,
            other => panic!("{other:?}"),
        }
    }

    async fn rule(&mut self, id: u8, seen: u32, name: Option<(&str, bool)>) -> PartOutcome {
        let to = name.map(|(name, is_deleted)| AlertRuleRow {
            id: rule(id),
            name: name.to_owned(),
            version: seen + 1,
            settings: vec![0, 255, id],
            created_at: at(1),
            updated_at: at(2),
            deleted_at: is_deleted.then(|| at(3)),
        });
        let id = rule(id);
        self.commit_one(Part::ChangeAlertRule(AlertRuleChange { id, seen, to }))
            .await
    }
}

pub async fn a_change_needs_what_it_saw(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let (one, other) = (
        row(1, "a", 1, Phase::Firing, 1),
        row(1, "ü\u{0}", 1, Phase::Pending, 2),
    );
    let changes = vec![
        put(0, one.clone(), vec![notice(1)]),
        put(3, other.clone(), vec![notice(2)]),
    ];
    assert_eq!(stage.alerts(changes).await, [true, false]);
    let known = stage.store.alert_states().await.unwrap();
    assert_eq!(known, std::slice::from_ref(&one));
    assert_eq!(stage.store.notices(9).await.unwrap(), [notice(1)]);
    // Another node that saw the same is refused, and what it would say is not said.
    let again = vec![put(0, one.clone(), vec![notice(3)])];
    assert_eq!(stage.alerts(again).await, [false]);
    assert_eq!(stage.store.notices(9).await.unwrap(), [notice(1)]);
    let over = row(1, "a", 2, Phase::Resolved, 5);
    let changes = vec![
        put(1, over.clone(), vec![notice(4)]),
        put(0, other.clone(), Vec::new()),
    ];
    assert_eq!(stage.alerts(changes).await, [true, true]);
    let all = stage.store.alert_states().await.unwrap();
    assert_eq!(all, [over.clone(), other.clone()]);
    let gone = |seen| AlertChange {
        rule: rule(1),
        subject: other.subject.clone(),
        seen,
        to: None,
        notices: Vec::new(),
    };
    assert_eq!(stage.alerts(vec![gone(2)]).await, [false]);
    assert_eq!(stage.alerts(vec![gone(1)]).await, [true]);
    assert_eq!(stage.store.alert_states().await.unwrap(), [over]);
}

pub async fn alerts_are_listed_newest_first(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let rows = [
        row(1, "a", 1, Phase::Firing, 1),
        row(2, "a", 1, Phase::Resolved, 2),
        row(2, "b", 1, Phase::Pending, 3),
    ];
    let changes = rows.iter().map(|row| put(0, row.clone(), Vec::new()));
    stage.alerts(changes.collect()).await;
    let store = &stage.store;
    let listed = async |filter: AlertFilter, before| {
        let rows = store.alerts(&filter, before, 9).await.unwrap();
        rows.into_iter().map(|row| row.alert.id).collect::<Vec<_>>()
    };
    let [a, b, c] = rows.each_ref().map(|row| row.alert.id);
    assert_eq!(listed(AlertFilter::default(), None).await, [c, b, a]);
    assert_eq!(listed(AlertFilter::default(), Some(b)).await, [a]);
    let open = AlertFilter {
        phases: vec![Phase::Pending, Phase::Firing],
        ..AlertFilter::default()
    };
    assert_eq!(listed(open, None).await, [c, a]);
    let about = AlertFilter {
        rule: Some(rule(2)),
        subject: Some("a".to_owned()),
        ..AlertFilter::default()
    };
    assert_eq!(listed(about, None).await, [b]);
    assert_eq!(store.alert(b).await.unwrap(), Some(rows[1].clone()));
    let none = AlertId::from_bytes([99; 16]);
    assert_eq!(store.alert(none).await.unwrap(), None);
}

pub async fn what_has_been_over_for_long_goes(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let rows = [
        row(1, "old", 1, Phase::Resolved, 1),
        row(1, "older", 1, Phase::Resolved, 0),
        row(1, "fires", 1, Phase::Firing, 1),
        row(1, "new", 1, Phase::Resolved, 9),
    ];
    let changes = rows.iter().map(|row| put(0, row.clone(), Vec::new()));
    stage.alerts(changes.collect()).await;
    let mut left = Vec::new();
    for _ in 0..2 {
        let (before, limit) = (at(5), 1);
        let pruned = stage.commit_one(Part::Prune(Prune::Alerts { before, limit }));
        assert_eq!(pruned.await, PartOutcome::pruned(1));
        let rows = stage.store.alert_states().await.unwrap();
        left.push(rows.into_iter().map(|row| row.subject).collect::<Vec<_>>());
    }
    assert_eq!(left[0], ["fires", "new", "old"]);
    assert_eq!(left[1], ["fires", "new"]);
}

pub async fn a_rule_has_a_name_of_its_own(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let done = PartOutcome::Done;
    assert_eq!(stage.rule(1, 0, Some(("a", false))).await, done);
    assert_eq!(
        stage.rule(1, 0, Some(("a", false))).await,
        PartOutcome::Conflict
    );
    assert_eq!(
        stage.rule(2, 0, Some(("a", false))).await,
        PartOutcome::NameTaken
    );
    assert_eq!(stage.rule(2, 0, Some(("b", false))).await, done);
    assert_eq!(stage.rule(1, 1, Some(("a", true))).await, done);
    assert_eq!(stage.rule(2, 1, Some(("a", false))).await, done);
    assert_eq!(
        stage.rule(1, 2, Some(("a", false))).await,
        PartOutcome::NameTaken
    );
    let rows = stage.store.alert_rules().await.unwrap();
    let names: Vec<_> = rows
        .iter()
        .map(|row| (row.name.as_str(), row.version, row.deleted_at.is_some()))
        .collect();
    assert_eq!(names, [("a", 2, true), ("a", 2, false)]);
    assert_eq!(rows[0].settings, [0, 255, 1]);
    assert_eq!(stage.rule(2, 1, None).await, PartOutcome::Conflict);
    assert_eq!(stage.rule(2, 2, None).await, done);
    assert_eq!(stage.store.alert_rules().await.unwrap().len(), 1);
}

pub async fn silences_are_kept_in_bounds(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let silence = |number: u64, ends: u64| {
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&number.to_be_bytes());
        SilenceRow {
            id: SilenceId::from_bytes(bytes),
            rule: (number == 1).then(|| rule(3)),
            subject: (number == 2).then(|| "é\u{0}".to_owned()),
            starts_at: at(0),
            ends_at: at(ends),
            comment: Some("\u{0}".to_owned()),
            created_by: "ann".to_owned(),
            created_at: at(1),
        }
    };
    let one = silence(1, 10);
    let put = |row: &SilenceRow| Part::PutSilence(row.clone());
    assert_eq!(stage.commit_one(put(&one)).await, PartOutcome::Done);
    let longer = silence(1, 20);
    assert_eq!(stage.commit_one(put(&longer)).await, PartOutcome::Done);
    assert_eq!(
        stage.commit_one(put(&silence(2, 5))).await,
        PartOutcome::Done
    );
    let both = [longer.clone(), silence(2, 5)];
    assert_eq!(stage.store.silences().await.unwrap(), both);
    let most = SILENCES_MAX as u64;
    let parts = (3..most + 2).map(|number| put(&silence(number, 30)));
    stage.commit(parts.collect()).await;
    let all = stage.store.silences().await.unwrap();
    assert_eq!(all.len(), SILENCES_MAX);
    assert_eq!(all.last(), Some(&longer), "the one that ends first went");
    let remove = || Part::RemoveSilence { id: longer.id };
    assert_eq!(stage.commit_one(remove()).await, PartOutcome::Touched(true));
    assert_eq!(
        stage.commit_one(remove()).await,
        PartOutcome::Touched(false)
    );
}

pub async fn a_backup_has_the_alerts(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let alert = row(1, "a", 1, Phase::Firing, 1);
    stage.alerts(vec![put(0, alert.clone(), Vec::new())]).await;
    stage.rule(1, 0, Some(("a", false))).await;
    let path = lab.directory().join("copy.db");
    stage.store.backup(&path, &|_, _| {}).await.unwrap();
    let copy = lab.open_backup(&path).await;
    assert_eq!(copy.alert_states().await.unwrap(), [alert]);
    assert_eq!(copy.alert_rules().await.unwrap().len(), 1);
    copy.close().await;
}
