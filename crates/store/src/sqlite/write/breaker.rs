//! Circuit breakers of targets.

use refire_core::breaker::Phase;
use rusqlite::{OptionalExtension as _, Result, params};

use super::Pen;
use crate::breaker::BREAKERS_MAX;
use crate::sqlite::columns::signed;
use crate::table::rows::BreakerRows;
use crate::table::statement::statements;
use crate::{ChangeBreaker, PartOutcome};

statements! {
    PUT: sqlite(breaker: BreakerRows) =
        "INSERT INTO breakers ({breaker.names}) VALUES ({breaker.values})
     ON CONFLICT (host) DO UPDATE SET {breaker.replaced!host}";
}

/// Of too many the closed ones that changed longest ago.
const CUT: &str = "DELETE FROM breakers WHERE (SELECT count(*) FROM breakers) > ?2 AND host IN (
         SELECT host FROM breakers WHERE state = ?1 AND forced IS NULL
          ORDER BY changed_at DESC, host LIMIT -1 OFFSET ?2)";

impl Pen<'_> {
    pub(super) fn change_breaker(&mut self, change: &ChangeBreaker) -> Result<PartOutcome> {
        let host = &change.breaker.host;
        let rev: Option<i64> = self
            .prepare("SELECT rev FROM breakers WHERE host = ?1")?
            .query_row([host], |row| row.get(0))
            .optional()?;
        if rev.unwrap_or(0) != signed(change.expected()) {
            return Ok(PartOutcome::Touched(false));
        }
        self.write(&PUT, |to| BreakerRows::bind(to, 1, &change.breaker))?;
        let most = signed(BREAKERS_MAX as u64);
        self.prepare(CUT)?
            .execute(params![Phase::Closed as i16, most])?;
        self.append_notices(&change.notices)?;
        Ok(PartOutcome::Touched(true))
    }
}
