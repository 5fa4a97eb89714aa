//! Alerts, their rules, and silences.

use std::cmp::Reverse;
use std::sync::Arc;

use refire_core::alert::SILENCES_MAX;
use refire_core::id::SilenceId;

use super::{Failed, Pen};
use crate::model::change::Change;
use crate::{AlertChange, AlertRuleChange, PartOutcome, SilenceRow};

impl Pen<'_> {
    pub(super) fn change_alerts(&mut self, changes: &[AlertChange]) -> Result<PartOutcome, Failed> {
        let changed = changes.iter().map(|change| self.change_alert(change));
        Ok(PartOutcome::Changed(changed.collect::<Result<_, _>>()?))
    }

    fn change_alert(&mut self, change: &AlertChange) -> Result<bool, Failed> {
        let key = (change.rule, change.subject.clone());
        let rev = self.image.alerts.get(&key).map_or(0, |row| row.rev);
        let is_so = rev == change.seen;
        if is_so {
            let row = change.to.clone().map(Arc::new);
            self.change(Change::Alert(key, row));
            self.append_notices(&change.notices)?;
        }
        Ok(is_so)
    }

    pub(super) fn change_alert_rule(&mut self, change: &AlertRuleChange) -> PartOutcome {
        let known = self.image.alert_rules.get(&change.id);
        if known.map_or(0, |row| row.version) != change.seen {
            return PartOutcome::Conflict;
        }
        let is_live = change.to.as_ref().filter(|row| row.deleted_at.is_none());
        if let Some(row) = is_live {
            let mut others = self.image.alert_rules.values();
            if others.any(|it| it.deleted_at.is_none() && it.id != row.id && it.name == row.name) {
                return PartOutcome::NameTaken;
            }
        }
        let row = change.to.clone().map(Arc::new);
        self.change(Change::AlertRule(change.id, row));
        PartOutcome::Done
    }

    pub(super) fn put_silence(&mut self, row: &SilenceRow) -> PartOutcome {
        self.change(Change::Silence(row.id, Some(Arc::new(row.clone()))));
        let mut rows: Vec<_> = self.image.silences.values().cloned().collect();
        rows.sort_by_key(|row| (Reverse(row.ends_at), row.id));
        for row in rows.iter().skip(SILENCES_MAX) {
            self.change(Change::Silence(row.id, None));
        }
        PartOutcome::Done
    }

    pub(super) fn remove_silence(&mut self, id: SilenceId) -> PartOutcome {
        let was = self.image.silences.contains_key(&id);
        self.change(Change::Silence(id, None));
        PartOutcome::Touched(was)
    }
}
