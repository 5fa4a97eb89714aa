//! Sessions of the console: begun with a key or with a link that was made by one, used, ended.
//!
//! A secret leaves this file once, to whom it was made for; the store has its hash. Whether the key that a
//! session was made by is still good is for others to say.

use std::collections::HashSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use refire_core::session::{SessionKind, moved_end};
use refire_store::{Part, PartOutcome, ReadError, SecretHash, SessionChange, SessionRow};
use sha2::{Digest, Sha256};

use crate::commit::CommitFailure;
use crate::context::Context;
use crate::lock::Mutex;
use crate::vital::Vital;

/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// Sessions of the console.
pub struct Sessions {
    context: Arc<Context>,
    /// Those whose end is being moved on: a page that asks for ten things at once writes it once.
    moving: Mutex<HashSet<SecretHash>>,
}

/// Who makes a session or a link.
#[derive(Debug, Clone)]
pub struct Maker {
    /// The hash of the key; what is made ends with it.
    pub key_hash: SecretHash,
    /// The key's name.
    pub actor: String,
}

/// A session or a link that was just made.
#[derive(Debug)]
pub struct Made {
    /// What opens it; it is nowhere else.
    pub secret: String,
    /// Its row.
    pub row: SessionRow,
}

impl Sessions {
    pub(crate) fn open(context: &Arc<Context>, _: &Vital) -> Arc<Self> {
        Arc::new(Self {
            context: Arc::clone(context),
            moving: Mutex::default(),
        })
    }

    /// Begins a session for somebody who has shown a key.
    pub async fn begin(&self, maker: Maker) -> Result<Made, CommitFailure> {
        let made = self.make(SessionKind::Session, maker, None).await?;
        made.ok_or_else(|| CommitFailure::unexpected("outcome", &SessionKind::Session))
    }

    /// Makes a link that begins a session, once.
    pub async fn link(&self, maker: Maker) -> Result<Made, CommitFailure> {
        let made = self.make(SessionKind::Link, maker, None).await?;
        made.ok_or_else(|| CommitFailure::unexpected("outcome", &SessionKind::Link))
    }

    /// Begins a session in the place of a link; none if somebody else has taken it meanwhile.
    pub async fn take(&self, link: SessionRow) -> Result<Option<Made>, CommitFailure> {
        let maker = Maker {
            key_hash: link.key_hash,
            actor: link.actor,
        };
        self.make(SessionKind::Session, maker, Some(link.id)).await
    }

    async fn make(
        &self,
        kind: SessionKind,
        maker: Maker,
        link: Option<SecretHash>,
    ) -> Result<Option<Made>, CommitFailure> {
        self.context.is_open()?;
        let mut bytes = [0; SECRET_BYTES];
        self.context.entropy.fill(&mut bytes);
        let secret = BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let now = self.context.now();
        let row = SessionRow {
            id: hash(&secret),
            kind,
            key_hash: maker.key_hash,
            actor: maker.actor,
            created_at: now,
            ends_at: kind.first_end(now),
        };
        let open = SessionChange::Open {
            row: row.clone(),
            link,
        };
        Ok(self.change(open).await?.then_some(Made { secret, row }))
    }

    /// The session or the link that a secret opens now.
    pub async fn find(
        &self,
        kind: SessionKind,
        secret: &str,
    ) -> Result<Option<SessionRow>, ReadError> {
        let found = self.context.store.session(&hash(secret)).await?;
        let now = self.context.now();
        Ok(found.filter(|row| row.kind == kind && row.ends_at > now))
    }

    /// A session is used: its end moves on, now and then. A node that stops, or cannot write, leaves it.
    pub async fn keep(&self, row: &mut SessionRow) {
        let moved = moved_end(row.created_at, row.ends_at, self.context.now());
        let Some(ends_at) = moved.filter(|_| self.context.is_open().is_ok()) else {
            return;
        };
        let Some(_moving) = Moving::begin(&self.moving, row.id) else {
            return;
        };
        let extend = SessionChange::Extend {
            id: row.id,
            ends_at,
        };
        match self.change(extend).await {
            Ok(true) => row.ends_at = ends_at,
            Ok(false) => {}
            Err(failure) => tracing::debug!(%failure, "the end of a session was not moved on"),
        }
    }

    /// Ends a session, on all nodes.
    pub async fn end(&self, id: SecretHash) -> Result<(), CommitFailure> {
        self.context.is_open()?;
        self.change(SessionChange::End { id }).await.map(drop)
    }

    async fn change(&self, change: SessionChange) -> Result<bool, CommitFailure> {
        match self.context.queue.part(Part::ChangeSession(change)).await? {
            PartOutcome::Touched(was) => Ok(was),
            other => Err(CommitFailure::unexpected("outcome", &other)),
        }
    }
}

/// A session whose end is being moved on, until this is dropped.
struct Moving<'a>(&'a Mutex<HashSet<SecretHash>>, SecretHash);

impl<'a> Moving<'a> {
    fn begin(moving: &'a Mutex<HashSet<SecretHash>>, id: SecretHash) -> Option<Self> {
        moving.lock().insert(id).then_some(Self(moving, id))
    }
}

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

fn hash(secret: &str) -> SecretHash {
    Sha256::digest(secret.as_bytes()).into()
}
