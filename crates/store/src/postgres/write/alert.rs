//! Alerts, their rules, and silences.

use std::collections::{BTreeMap, BTreeSet};

use refire_core::alert::SILENCES_MAX;
use refire_core::id::{AlertRuleId, SilenceId};

use super::link::{Link, Query, values};
use super::{Failed, notice};
use crate::postgres::columns::uuid;
use crate::table::column::{Foreign, Id};
use crate::table::rows::{AlertRows, AlertRules, SilenceRows};
use crate::table::statement::statements;
use crate::{AlertChange, AlertRuleChange, PartOutcome, SilenceRow};

/// Held until the commit ends, so that what is not there yet is not made by two nodes at once. "alerts" in
/// ASCII.
const ALONE: &str = "SELECT pg_advisory_xact_lock(x'616c65727473'::bigint)";

statements! {
    REVS: postgres(rules, subjects) = "SELECT rule, subject, rev FROM alert_state
     WHERE (rule, subject) IN (SELECT * FROM unnest({rules}::uuid[], {subjects}::bytea[]))";

    PUT: postgres(alerts: AlertRows) =
        "INSERT INTO alert_state ({alerts.names}) SELECT * FROM {alerts}
     ORDER BY given.rule, given.subject
     ON CONFLICT (rule, subject) DO UPDATE SET {alerts.replaced!rule,subject}";

    REMOVE: postgres(rules, subjects) = "DELETE FROM alert_state
     WHERE (rule, subject) IN (SELECT * FROM unnest({rules}::uuid[], {subjects}::bytea[]))";

    PUT_RULE: postgres(rules: AlertRules) =
        "INSERT INTO alert_rules ({rules.names}) SELECT * FROM {rules}
     ON CONFLICT (id) DO UPDATE SET {rules.replaced!id}";

    PUT_SILENCE: postgres(silences: SilenceRows) =
        "INSERT INTO silences ({silences.names}) SELECT * FROM {silences}
     ON CONFLICT (id) DO UPDATE SET {silences.replaced!id}";

    /// Of too many the ones that end first.
    CUT_SILENCES: postgres(most) = "DELETE FROM silences WHERE id IN (
         SELECT id FROM silences ORDER BY ends_at DESC, id OFFSET {most})";
}

const VERSION: &str = "SELECT version FROM alert_rules WHERE id = $1";

const IS_TAKEN: &str =
    "SELECT id FROM alert_rules WHERE name = $1 AND id <> $2 AND deleted_at IS NULL";

const REMOVE_RULE: &str = "DELETE FROM alert_rules WHERE id = $1";

const REMOVE_SILENCE: &str = "DELETE FROM silences WHERE id = $1 RETURNING id";

async fn alone(link: &mut Link) -> Result<(), Failed> {
    link.ask(Query::new(ALONE, Vec::new())).await?;
    Ok(())
}

pub(super) async fn change(
    link: &mut Link,
    changes: &[AlertChange],
) -> Result<PartOutcome, Failed> {
    alone(link).await?;
    let rules: Vec<Id> = changes.iter().map(|it| it.rule.into()).collect();
    let subjects: Vec<Foreign<'_>> = changes.iter().map(|it| Foreign(&it.subject)).collect();
    let known = Query::new(&REVS, values![rules, subjects]);
    let known: Vec<((AlertRuleId, String), u64)> = link.rows(known).await?;
    let known: BTreeMap<(AlertRuleId, String), u64> = known.into_iter().collect();
    let is_so = |change: &AlertChange| {
        let key = (change.rule, change.subject.clone());
        known.get(&key).copied().unwrap_or(0) == change.seen
    };
    let changed: Vec<bool> = changes.iter().map(is_so).collect();
    let (mut rows, mut gone) = (AlertRows::default(), BTreeSet::new());
    for (change, _) in changes.iter().zip(&changed).filter(|(_, is_so)| **is_so) {
        notice::append(link, &change.notices).await?;
        match &change.to {
            Some(row) => rows.push(row),
            None => {
                gone.insert((change.rule, change.subject.as_str()));
            }
        }
    }
    link.ask(Query::new(&PUT, rows.values())).await?;
    if !gone.is_empty() {
        let rules: Vec<Id> = gone.iter().map(|(rule, _)| (*rule).into()).collect();
        let subjects: Vec<Foreign<'_>> = gone.iter().map(|(_, it)| Foreign(it)).collect();
        link.ask(Query::new(&REMOVE, values![rules, subjects]))
            .await?;
    }
    Ok(PartOutcome::Changed(changed))
}

pub(super) async fn change_rule(
    link: &mut Link,
    change: &AlertRuleChange,
) -> Result<PartOutcome, Failed> {
    alone(link).await?;
    let id = uuid(change.id.as_bytes());
    let version: Vec<u32> = link.rows(Query::new(VERSION, values![id])).await?;
    if version.first().copied().unwrap_or(0) != change.seen {
        return Ok(PartOutcome::Conflict);
    }
    let Some(row) = &change.to else {
        link.ask(Query::new(REMOVE_RULE, values![id])).await?;
        return Ok(PartOutcome::Done);
    };
    if row.deleted_at.is_none() {
        let taken = Query::new(IS_TAKEN, values![Foreign(&row.name), id]);
        if !link.ask(taken).await?.is_empty() {
            return Ok(PartOutcome::NameTaken);
        }
    }
    let mut rows = AlertRules::default();
    rows.push(row);
    link.ask(Query::new(&PUT_RULE, rows.values())).await?;
    Ok(PartOutcome::Done)
}

pub(super) async fn put_silence(link: &mut Link, row: &SilenceRow) -> Result<PartOutcome, Failed> {
    alone(link).await?;
    let mut rows = SilenceRows::default();
    rows.push(row);
    link.ask(Query::new(&PUT_SILENCE, rows.values())).await?;
    let most = i64::try_from(SILENCES_MAX).unwrap_or(i64::MAX);
    link.ask(Query::new(&CUT_SILENCES, values![most])).await?;
    Ok(PartOutcome::Done)
}

pub(super) async fn remove_silence(link: &mut Link, id: SilenceId) -> Result<PartOutcome, Failed> {
    let id = uuid(id.as_bytes());
    let gone = link.ask(Query::new(REMOVE_SILENCE, values![id])).await?;
    Ok(PartOutcome::Touched(!gone.is_empty()))
}
