//! Sessions of the console.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Pen;
use crate::model::change::Change;
use crate::session::SESSIONS_MAX;
use crate::{PartOutcome, SecretHash, SessionChange, SessionRow};

impl Pen<'_> {
    pub(super) fn change_session(&mut self, change: &SessionChange) -> PartOutcome {
        PartOutcome::Touched(match change {
            SessionChange::Open { row, link } => self.open_session(row, link.as_ref()),
            SessionChange::Extend { id, ends_at } => {
                let known = self.image.sessions.get(id).cloned();
                known.is_some_and(|known| {
                    let mut row = (*known).clone();
                    row.ends_at = *ends_at;
                    self.put_session(row);
                    true
                })
            }
            SessionChange::End { id } => self.remove_session(id),
        })
    }

    fn open_session(&mut self, row: &SessionRow, link: Option<&SecretHash>) -> bool {
        if let Some(link) = link
            && !self.remove_session(link)
        {
            return false;
        }
        self.put_session(row.clone());
        let now = self.now;
        let mut rows: Vec<_> = self.image.sessions.values().cloned().collect();
        rows.sort_by_key(|row| (Reverse(row.ends_at), row.id));
        for (place, row) in rows.iter().enumerate() {
            if place >= SESSIONS_MAX || row.ends_at <= now {
                self.remove_session(&row.id);
            }
        }
        true
    }

    fn put_session(&mut self, row: SessionRow) {
        self.change(Change::Session(row.id, Some(Arc::new(row))));
    }

    fn remove_session(&mut self, id: &SecretHash) -> bool {
        let was = self.image.sessions.contains_key(id);
        self.change(Change::Session(*id, None));
        was
    }
}
