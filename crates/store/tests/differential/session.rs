//! What happens to sessions of the console.

use refire_core::session::SessionKind;
use refire_store::{Part, SecretHash, SessionChange, SessionRow};

use crate::history::History;

impl History {
    pub(crate) fn any_session(&mut self) -> SecretHash {
        [u8::try_from(self.dice.below(5)).unwrap(); 32]
    }

    pub(crate) fn session_part(&mut self) -> Part {
        let id = self.any_session();
        let (created_at, ends_at) = (self.about_now(60), self.about_now(60));
        Part::ChangeSession(match self.dice.below(4) {
            0 => SessionChange::End { id },
            1 => SessionChange::Extend { id, ends_at },
            _ => SessionChange::Open {
                link: self.dice.one_in(3).then(|| self.any_session()),
                row: SessionRow {
                    id,
                    kind: *self.dice.pick_from(SessionKind::ALL.iter()).unwrap(),
                    key_hash: [7; 32],
                    actor: self.dice.pick(&["admin", "ü\"\u{0}"]).to_owned(),
                    created_at,
                    ends_at,
                },
            },
        })
    }
}
