//! Sessions of the console.

use rusqlite::{Result, params};

use super::Pen;
use crate::session::SESSIONS_MAX;
use crate::sqlite::columns::signed;
use crate::table::rows::SessionRows;
use crate::table::statement::statements;
use crate::{PartOutcome, SecretHash, SessionChange, SessionRow};

statements! {
    PUT: sqlite(session: SessionRows) =
        "INSERT INTO sessions ({session.names}) VALUES ({session.values})
     ON CONFLICT (id) DO UPDATE SET {session.replaced!id}";
}

/// Those that have ended, and of too many the ones that end first.
const CUT: &str = "DELETE FROM sessions WHERE ends_at <= ?1 OR id IN (
         SELECT id FROM sessions ORDER BY ends_at DESC, id LIMIT -1 OFFSET ?2)";

impl Pen<'_> {
    pub(super) fn change_session(&mut self, change: &SessionChange) -> Result<PartOutcome> {
        let is_touched = match change {
            SessionChange::Open { row, link } => self.open_session(row, link.as_ref())?,
            SessionChange::Extend { id, ends_at } => {
                self.prepare("UPDATE sessions SET ends_at = ?2 WHERE id = ?1")?
                    .execute(params![id, ends_at.as_micros()])?
                    > 0
            }
            SessionChange::End { id } => self.remove_session(id)?,
        };
        Ok(PartOutcome::Touched(is_touched))
    }

    fn open_session(&mut self, row: &SessionRow, link: Option<&SecretHash>) -> Result<bool> {
        if let Some(link) = link
            && !self.remove_session(link)?
        {
            return Ok(false);
        }
        self.write(&PUT, |to| SessionRows::bind(to, 1, row))?;
        let most = signed(SESSIONS_MAX as u64);
        self.prepare(CUT)?
            .execute(params![self.now.as_micros(), most])?;
        Ok(true)
    }

    fn remove_session(&self, id: &SecretHash) -> Result<bool> {
        let mut remove = self.prepare("DELETE FROM sessions WHERE id = ?1")?;
        Ok(remove.execute([id])? > 0)
    }
}
