//! Sessions of the console and links that begin one: their rows, and how they change. A row has the hash of
//! a secret and of the key that it was made by, never one of the two.

use refire_core::session::SessionKind;
use refire_core::time::Timestamp;

use crate::column::read_from;
use crate::layer::store_trait;
use crate::task::numbered;

/// Sessions and links that are kept; of more the ones that end first go.
pub const SESSIONS_MAX: usize = 1_000;

/// The SHA-256 of a secret.
pub type SecretHash = [u8; 32];

/// The row of a session or of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The hash of its secret.
    pub id: SecretHash,
    /// What the secret opens.
    pub kind: SessionKind,
    /// The hash of the key that it was made by, and ends with.
    pub key_hash: SecretHash,
    /// Who.
    pub actor: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends.
    pub ends_at: Timestamp,
}

read_from! {
    SessionRow {
        id: "id",
        kind: "kind",
        key_hash: "key_hash",
        actor: "actor",
        created_at: "created_at",
        ends_at: "ends_at";
    }
}

numbered!(SessionKind);

/// A change of sessions. The outcome says whether what it needs was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChange {
    /// One begins; those that have ended by then go.
    Open {
        /// Its row.
        row: SessionRow,
        /// The link that it takes, which must be there.
        link: Option<SecretHash>,
    },
    /// One ends later.
    Extend {
        /// Which.
        id: SecretHash,
        /// When.
        ends_at: Timestamp,
    },
    /// One ends now.
    End {
        /// Which.
        id: SecretHash,
    },
}

store_trait! {
    /// Sessions of the console.
    pub trait Sessions {
        /// The row of a secret.
        async fn session(&self, id: &SecretHash) -> Result<Option<SessionRow>, ReadError>;
    }
}
