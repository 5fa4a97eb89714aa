//! The master key, which seals what is secret in the database: given, found, or made at the first
//! start. It is never in the database; nodes that share one need the same key.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use refire_engine::Engine;
use refire_engine::entropy::SystemEntropy;
use refire_engine::vault::Resealed;
use refire_engine::vault::{MASTER_KEY_BYTES, MasterKey, Vault};
use refire_store::postgres::Postgres;
use refire_store::sqlite::Sqlite;
use refire_store::{LIMIT_MAX, Store, TriggerFilter};

use super::key;
use super::store::Opened;
use crate::config::ServeConfig;

/// In the data directory.
const FILE: &str = "master.key";
/// The setting of a shared database that tells keys apart. It does not help to guess one.
const SETTING: &str = "master_key_id";

/// In place of a previous key: there is none any more, and what it sealed is given up.
const LOST: &str = "lost";

/// What seals on this store.
pub(super) async fn settle(config: &ServeConfig, store: &Opened) -> anyhow::Result<Option<Vault>> {
    match store {
        Opened::Sqlite(store) => obtain(config, store).await.map(Some),
        Opened::Postgres(store) => agree(config, store).await,
    }
}

/// What seals where this server is the only one. A key that opens nothing of what is sealed is refused,
/// and none is made in place of one that is missing.
async fn obtain(config: &ServeConfig, store: &Sqlite) -> anyhow::Result<Vault> {
    let previous = previous(config)?;
    let is_given_up = matches!(previous, Previous::Lost);
    let previous = previous.key();
    let path = config.data_dir.join(FILE);
    let current = match &config.master_keys.current {
        Some(text) => read("REFIRE_MASTER_KEY", text)?,
        None => kept_or_new(&path, store, is_given_up).await?,
    };
    let vault = Vault::new(current, previous);
    if !is_given_up {
        refuse_another(&vault, &path, store).await?;
    }
    Ok(vault)
}

/// The key in the file. A new one is made only where nothing is sealed yet, or was given up.
async fn kept_or_new(
    path: &Path,
    store: &dyn Store,
    is_given_up: bool,
) -> anyhow::Result<MasterKey> {
    if key::read(path)?.is_none() && !is_given_up && any_sealed(store, |_| true).await? {
        return Err(anyhow!(refusal(Wrong::Missing, path, store.is_shared())));
    }
    kept(path)
}

/// Refuses keys that open nothing of what is sealed.
async fn refuse_another(vault: &Vault, path: &Path, store: &dyn Store) -> anyhow::Result<()> {
    let is_another = !any_sealed(store, |sealed| vault.knows(sealed)).await?
        && any_sealed(store, |_| true).await?;
    if is_another {
        return Err(anyhow!(refusal(Wrong::Another, path, store.is_shared())));
    }
    Ok(())
}

/// Whether the secrets of a trigger are sealed in this way.
async fn any_sealed(store: &dyn Store, is_asked: impl Fn(&[u8]) -> bool) -> anyhow::Result<bool> {
    let mut after = None;
    loop {
        let filter = TriggerFilter::default();
        let rows = store.triggers(&filter, after, LIMIT_MAX).await?;
        let Some(last) = rows.last() else {
            return Ok(false);
        };
        after = Some(last.id);
        let mut sealed = rows.iter().filter_map(|row| row.secrets.as_deref());
        if sealed.any(&is_asked) {
            return Ok(true);
        }
    }
}

/// What is wrong with the master key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// There is none, and secrets are sealed.
    Missing,
    /// It is not the one that sealed them.
    Another,
}

/// Why the server does not start, and what to do, in the words of its kind of store.
fn refusal(wrong: Wrong, path: &Path, is_shared: bool) -> String {
    let path = path.display();
    let what = match (wrong, is_shared) {
        (Wrong::Missing, _) => {
            "there is no master key here, and the secrets of webhooks in the database need the one that \
             encrypted them"
        }
        (Wrong::Another, false) => "this master key is not the one of the database",
        (Wrong::Another, true) => "the master key of this node is not the one of the database",
    };
    let how = if is_shared {
        format!(
            "start all nodes with the same REFIRE_MASTER_KEY, or copy the master.key of another node \
             (after a move from SQLite: of the old data directory) to {path}"
        )
    } else {
        format!(
            "copy the master.key that belongs to this database to {path}, or set REFIRE_MASTER_KEY to \
             what is in it"
        )
    };
    let changed = match wrong {
        Wrong::Missing => "",
        Wrong::Another => {
            ". If you are changing the key, set REFIRE_MASTER_KEY_PREVIOUS to the old one"
        }
    };
    format!(
        "{what}: {how}{changed}. If it is lost for good, start with REFIRE_MASTER_KEY_PREVIOUS={LOST} and \
         give the webhooks new secrets"
    )
}

/// What seals where several nodes share a database: all need the same key. A node without it runs, but
/// cannot use what is sealed. Where no key is agreed about yet, as after a move from another database, a
/// node must have the one that sealed what is there.
async fn agree(config: &ServeConfig, store: &Postgres) -> anyhow::Result<Option<Vault>> {
    let previous = previous(config)?;
    let is_given_up = matches!(previous, Previous::Lost);
    let previous = previous.key();
    let standing = store.setting(SETTING).await?.filter(|_| !is_given_up);
    let path = config.data_dir.join(FILE);
    let current = match (&config.master_keys.current, &standing) {
        (Some(text), _) => read("REFIRE_MASTER_KEY", text)?,
        (None, None) => kept_or_new(&path, store, is_given_up).await?,
        (None, Some(_)) => match key::read(&path)? {
            Some(text) => found(&path, &text)?,
            None => {
                tracing::warn!(
                    path = %path.display(),
                    "this node has no master key, so webhooks with secrets do not work here: start \
                     it with the REFIRE_MASTER_KEY of the others, or copy their master.key to this path"
                );
                return Ok(None);
            }
        },
    };
    let vault = Vault::new(current, previous);
    let standing = match standing {
        Some(standing) => standing,
        None if is_given_up => {
            store.put_setting(SETTING, vault.key_id()).await?;
            return Ok(Some(vault));
        }
        None => {
            // Before the others hear of it: they would refuse the right key from then on.
            refuse_another(&vault, &path, store).await?;
            let own = vault.key_id();
            store.put_setting_if_absent(SETTING, own).await?
        }
    };
    if !vault.has_key(&standing) {
        return Err(anyhow!(refusal(Wrong::Another, &path, true)));
    }
    Ok(Some(vault))
}

/// A change of the master key that is under way.
pub(super) struct Change {
    /// Which key is the new one.
    key_id: Vec<u8>,
    /// Where the nodes agree about it.
    shared: Option<Arc<Postgres>>,
}

impl Change {
    /// None if there is no previous key.
    pub(super) fn of(vault: Option<&Vault>, store: &Opened) -> Option<Self> {
        let vault = vault.filter(|vault| vault.is_changing())?;
        Some(Self {
            key_id: vault.key_id().to_vec(),
            shared: match store {
                Opened::Sqlite(_) => None,
                Opened::Postgres(store) => Some(Arc::clone(store)),
            },
        })
    }

    /// Seals everything with the new key, and says whether the previous one can be dropped.
    pub(super) async fn carry_out(self, engine: Arc<Engine>) {
        let resealed = match reseal(&engine).await {
            Ok(resealed) => resealed,
            Err(error) => {
                let error = &*error as &dyn Error;
                tracing::error!(
                    error,
                    "not all secrets are sealed with the new master key yet"
                );
                return;
            }
        };
        if let Some(store) = &self.shared
            && let Err(error) = store.put_setting(SETTING, &self.key_id).await
        {
            let error = &error as &dyn Error;
            tracing::error!(error, "the database does not know the new master key yet");
            return;
        }
        let Resealed { sealed, closed } = resealed;
        if closed > 0 {
            tracing::warn!(
                sealed,
                closed,
                "some secrets open with neither master key: find the key that sealed them, or give \
                 their triggers and channels new ones; the other ones were sealed with the new key"
            );
            return;
        }
        if self.shared.is_none() {
            tracing::info!(
                sealed,
                closed,
                "so many secrets were sealed with the new master key; \
                 REFIRE_MASTER_KEY_PREVIOUS can be dropped now"
            );
            return;
        }
        tracing::info!(
            sealed,
            closed,
            "so many secrets were sealed with the new master key; when all nodes have started with it, \
             REFIRE_MASTER_KEY_PREVIOUS can be dropped"
        );
    }
}

/// Everything that is kept sealed.
async fn reseal(engine: &Engine) -> Result<Resealed, Box<dyn Error + Send + Sync>> {
    let triggers = engine.triggers().reseal_secrets().await?;
    let queries = engine.callbacks().reseal_queries().await?;
    let channels = engine.notifications().reseal_secrets().await?;
    Ok(triggers + queries + channels)
}

/// What is said of the key before this one.
enum Previous {
    None,
    Key(MasterKey),
    Lost,
}

impl Previous {
    fn key(self) -> Option<MasterKey> {
        match self {
            Self::Key(key) => Some(key),
            Self::None | Self::Lost => None,
        }
    }
}

fn previous(config: &ServeConfig) -> anyhow::Result<Previous> {
    match config.master_keys.previous.as_deref() {
        None => Ok(Previous::None),
        Some(text) if text.trim() == LOST => Ok(Previous::Lost),
        Some(text) => read("REFIRE_MASTER_KEY_PREVIOUS", text).map(Previous::Key),
    }
}

/// The key that was found in the file.
fn found(path: &Path, text: &str) -> anyhow::Result<MasterKey> {
    key::warn_if_open(path, "the master key");
    read(&path.display().to_string(), text)
}

/// The key in the file, which is made if it is not there.
fn kept(path: &Path) -> anyhow::Result<MasterKey> {
    let make = || {
        let made = MasterKey::random(&SystemEntropy::default());
        BASE64_STANDARD_NO_PAD.encode(made.reveal())
    };
    let (text, is_new) = key::read_or_make(path, "the master key", make)?;
    if is_new {
        tracing::info!(
            path = path.display().to_string(),
            "created a master key; keep a copy of it, separate from backups of the database"
        );
    }
    found(path, &text)
}

/// 32 bytes in base64 or hex. The text is never shown.
fn read(name: &str, text: &str) -> anyhow::Result<MasterKey> {
    let text = text.trim();
    let hex = || {
        let digits = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
        (text.len() == 2 * MASTER_KEY_BYTES && text.is_ascii())
            .then(|| {
                (0..text.len())
                    .step_by(2)
                    .map(digits)
                    .collect::<Option<Vec<u8>>>()
            })
            .flatten()
    };
    let bare = text.trim_end_matches('=');
    let base64 = || {
        let standard = BASE64_STANDARD_NO_PAD.decode(bare).ok();
        standard.or_else(|| BASE64_URL_SAFE_NO_PAD.decode(bare).ok())
    };
    let bytes = hex().or_else(base64).unwrap_or_default();
    match <[u8; MASTER_KEY_BYTES]>::try_from(bytes) {
        Ok(bytes) => Ok(MasterKey::new(bytes)),
        Err(_) => bail!(
            "{name}: a master key is {MASTER_KEY_BYTES} random bytes in base64 or hex; \
             `openssl rand -base64 32` makes one"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read_and_nothing_else() {
        let hex = "ab".repeat(MASTER_KEY_BYTES);
        let base64 = BASE64_STANDARD_NO_PAD.encode([0xab; MASTER_KEY_BYTES]);
        let url_safe = BASE64_URL_SAFE_NO_PAD.encode([0xab; MASTER_KEY_BYTES]);
        let id = read("k", &hex).unwrap().id().to_vec();
        for text in [
            base64.clone(),
            format!("{base64}=\n"),
            url_safe,
            hex.to_uppercase(),
        ] {
            assert_eq!(read("k", &text).unwrap().id(), id);
        }
        for text in ["", "secret", &hex[2..], &format!("{hex}00")] {
            let error = read("REFIRE_MASTER_KEY", text).unwrap_err().to_string();
            assert!(error.starts_with("REFIRE_MASTER_KEY: a master key is 32 random bytes"));
            assert!(text.is_empty() || !error.contains(text), "it is not shown");
        }
    }

    #[test]
    fn a_refusal_speaks_of_nodes_only_where_there_can_be_some() {
        let path = Path::new("/data/master.key");
        for wrong in [Wrong::Missing, Wrong::Another] {
            let alone = refusal(wrong, path, false);
            assert!(!alone.contains("node"), "{alone}");
            let shared = refusal(wrong, path, true);
            assert!(shared.contains("all nodes"), "{shared}");
            for text in [alone, shared] {
                for way in [
                    "to /data/master.key",
                    "REFIRE_MASTER_KEY",
                    "REFIRE_MASTER_KEY_PREVIOUS=lost",
                ] {
                    assert!(text.contains(way), "{way}: {text}");
                }
            }
        }
    }

    #[test]
    fn it_is_made_once_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        let made = kept(&path).unwrap();
        assert_eq!(kept(&path).unwrap().id(), made.id());
    }
}
