//! Circuit breakers of targets.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{Failed, Pen};
use crate::breaker::BREAKERS_MAX;
use crate::model::change::Change;
use crate::{ChangeBreaker, PartOutcome};

impl Pen<'_> {
    pub(super) fn change_breaker(&mut self, change: &ChangeBreaker) -> Result<PartOutcome, Failed> {
        let host = &change.breaker.host;
        let rev = self.image.breakers.get(host).map_or(0, |row| row.rev);
        if rev != change.expected() {
            return Ok(PartOutcome::Touched(false));
        }
        let row = Arc::new(change.breaker.clone());
        self.change(Change::Breaker(host.clone(), Some(row)));
        if self.image.breakers.len() > BREAKERS_MAX {
            let rows = self.image.breakers.values();
            let mut closed: Vec<_> = rows.filter(|row| row.is_plain()).cloned().collect();
            closed.sort_by_key(|row| (Reverse(row.changed_at), row.host.clone()));
            for row in closed.iter().skip(BREAKERS_MAX) {
                self.change(Change::Breaker(row.host.clone(), None));
            }
        }
        self.append_notices(&change.notices)?;
        Ok(PartOutcome::Touched(true))
    }
}
