//! Alerts, their rules, and silences.

use refire_core::alert::SILENCES_MAX;
use refire_core::id::SilenceId;
use rusqlite::{OptionalExtension, Result, params};

use super::Pen;
use crate::sqlite::columns::signed;
use crate::table::rows::{AlertRows, AlertRules, SilenceRows};
use crate::table::statement::statements;
use crate::{AlertChange, AlertRuleChange, PartOutcome, SilenceRow};

statements! {
    PUT: sqlite(alert: AlertRows) =
        "INSERT INTO alert_state ({alert.names}) VALUES ({alert.values})
     ON CONFLICT (rule, subject) DO UPDATE SET {alert.replaced!rule,subject}";

    PUT_RULE: sqlite(rule: AlertRules) =
        "INSERT INTO alert_rules ({rule.names}) VALUES ({rule.values})
     ON CONFLICT (id) DO UPDATE SET {rule.replaced!id}";

    PUT_SILENCE: sqlite(silence: SilenceRows) =
        "INSERT INTO silences ({silence.names}) VALUES ({silence.values})
     ON CONFLICT (id) DO UPDATE SET {silence.replaced!id}";
}

/// Of too many the ones that end first.
const CUT_SILENCES: &str = "DELETE FROM silences WHERE id IN (
         SELECT id FROM silences ORDER BY ends_at DESC, id LIMIT -1 OFFSET ?1)";

impl Pen<'_> {
    pub(super) fn change_alerts(&mut self, changes: &[AlertChange]) -> Result<PartOutcome> {
        let changed = changes.iter().map(|change| self.change_alert(change));
        Ok(PartOutcome::Changed(changed.collect::<Result<_>>()?))
    }

    fn change_alert(&mut self, change: &AlertChange) -> Result<bool> {
        let key = params![change.rule.as_bytes(), change.subject];
        let rev: Option<i64> = self
            .prepare("SELECT rev FROM alert_state WHERE rule = ?1 AND subject = ?2")?
            .query_row(key, |row| row.get(0))
            .optional()?;
        if rev.unwrap_or(0) != signed(change.seen) {
            return Ok(false);
        }
        match &change.to {
            Some(row) => self.write(&PUT, |to| AlertRows::bind(to, 1, row))?,
            None => self
                .prepare("DELETE FROM alert_state WHERE rule = ?1 AND subject = ?2")?
                .execute(key)?,
        };
        self.append_notices(&change.notices)?;
        Ok(true)
    }

    pub(super) fn change_alert_rule(&mut self, change: &AlertRuleChange) -> Result<PartOutcome> {
        let id = change.id.as_bytes();
        let version: Option<u32> = self
            .prepare("SELECT version FROM alert_rules WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        if version.unwrap_or(0) != change.seen {
            return Ok(PartOutcome::Conflict);
        }
        let Some(row) = &change.to else {
            let mut remove = self.prepare("DELETE FROM alert_rules WHERE id = ?1")?;
            remove.execute([id])?;
            return Ok(PartOutcome::Done);
        };
        let is_taken = row.deleted_at.is_none()
            && self
                .prepare(
                    "SELECT 1 FROM alert_rules
                      WHERE name = ?1 AND id <> ?2 AND deleted_at IS NULL",
                )?
                .exists(params![row.name, id])?;
        if is_taken {
            return Ok(PartOutcome::NameTaken);
        }
        self.write(&PUT_RULE, |to| AlertRules::bind(to, 1, row))?;
        Ok(PartOutcome::Done)
    }

    pub(super) fn put_silence(&mut self, row: &SilenceRow) -> Result<PartOutcome> {
        self.write(&PUT_SILENCE, |to| SilenceRows::bind(to, 1, row))?;
        let most = signed(SILENCES_MAX as u64);
        self.prepare(CUT_SILENCES)?.execute([most])?;
        Ok(PartOutcome::Done)
    }

    pub(super) fn remove_silence(&mut self, id: SilenceId) -> Result<PartOutcome> {
        let mut remove = self.prepare("DELETE FROM silences WHERE id = ?1")?;
        Ok(PartOutcome::Touched(remove.execute([id.as_bytes()])? > 0))
    }
}
