//! The admin key: given, found, or made at the first start; and put in place of another one.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use refire_engine::entropy::{Entropy, SystemEntropy};
use refire_store::postgres::Postgres;

use super::store::Opened;
use crate::api::{AdminKey, Look};
use crate::config::ServeConfig;

/// In the data directory; the command line on the same machine finds it there.
const FILE: &str = "admin.key";
/// Only the server's user reads it.
const MODE: u32 = 0o600;
/// Random bytes of a key.
const BYTES: usize = 32;
/// A given key that is shorter is refused.
const LENGTH_MIN: usize = 16;
/// The setting of a shared database that holds the key's SHA-256.
const SETTING: &str = "admin_key_sha256";

/// Where the admin key is, for whoever needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// In the data directory, where the command line finds it by itself.
    Kept,
    /// In `REFIRE_ADMIN_KEY`, and in no file.
    Given,
    /// With other nodes: the database has its hash, and this directory has no such key.
    Elsewhere,
}

/// The admin key of this run.
pub(super) struct Obtained {
    /// What requests are compared with.
    pub(super) hash: AdminKey,
    /// The key itself and where it was written, if it was made just now.
    pub(super) new: Option<(String, PathBuf)>,
    /// Where it is.
    pub(super) origin: Origin,
}

impl Obtained {
    fn known(key: &str) -> Self {
        Self {
            hash: AdminKey::new(key),
            new: None,
            origin: Origin::Kept,
        }
    }
}

/// Refuses a key that cannot be used, before anything is started with it.
pub(super) fn refuse_unusable(config: &ServeConfig) -> anyhow::Result<()> {
    if let Some(key) = &config.admin_key {
        return check(key);
    }
    let path = config.data_dir.join(FILE);
    match read(&path)? {
        Some(text) => usable(&path, &text),
        None => Ok(()),
    }
}

/// The key to use. It may be made here and is shown once, so nothing that can fail may come between
/// this and the greeting.
pub(super) async fn obtain(config: &ServeConfig, store: &Opened) -> anyhow::Result<Obtained> {
    match (store, &config.admin_key) {
        (Opened::Postgres(store), _) => agree(config, store)
            .await
            .context("the admin key of the database"),
        (Opened::Sqlite(_), Some(key)) => given(key),
        (Opened::Sqlite(_), None) => kept(&config.data_dir.join(FILE)),
    }
}

/// The key to use where several nodes share a database: the one that the first of them made, whose
/// hash all find there. One that is given goes over it.
async fn agree(config: &ServeConfig, store: &Postgres) -> anyhow::Result<Obtained> {
    let standing = store.setting(SETTING).await?;
    if let Some(key) = &config.admin_key {
        let own = given(key)?;
        if standing.is_some_and(|hash| hash != own.hash.as_bytes()) {
            tracing::warn!(
                "REFIRE_ADMIN_KEY is not the key in the database: nodes without it accept another, until \
                 `refire admin-key rotate` is run with this variable"
            );
        }
        return Ok(own);
    }
    let path = config.data_dir.join(FILE);
    if let Some(hash) = standing {
        let own = read(&path)?.map(|text| found(&path, &text)).transpose()?;
        return standing_key(&hash, own, &path);
    }
    // On disk before the others hear of it: the hash of a key that nobody has would lock all out.
    let own = kept(&path)?;
    let hash = match store
        .put_setting_if_absent(SETTING, own.hash.as_bytes())
        .await
    {
        Ok(hash) => hash,
        Err(error) => {
            // Nobody was shown it, and the next start shows only a key that it makes itself.
            if let Some((_, file)) = &own.new {
                let _ = std::fs::remove_file(file);
            }
            return Err(error.into());
        }
    };
    if let (Some((_, file)), true) = (&own.new, hash != own.hash.as_bytes()) {
        // Another node was first; a key that opens nothing would only mislead.
        let _ = std::fs::remove_file(file);
        return standing_key(&hash, None, &path);
    }
    standing_key(&hash, Some(own), &path)
}

/// The database's key counts, whatever is kept here.
fn standing_key(hash: &[u8], own: Option<Obtained>, path: &Path) -> anyhow::Result<Obtained> {
    let Some(standing) = AdminKey::from_hash(hash) else {
        bail!(
            "the hash of the admin key in the database is damaged: it has {} bytes",
            hash.len()
        );
    };
    match own {
        Some(own) if own.hash.as_bytes() == hash => Ok(own),
        other => {
            if other.is_some() {
                tracing::warn!(
                    path = %path.display(),
                    "the admin key in this file is not the one of the database, which counts: write \
                     the right key into it, or remove it"
                );
            }
            Ok(Obtained {
                hash: standing,
                new: None,
                origin: Origin::Elsewhere,
            })
        }
    }
}

/// Refuses a given key that is none.
pub(crate) fn check(key: &str) -> anyhow::Result<()> {
    if key.len() < LENGTH_MIN || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!("REFIRE_ADMIN_KEY: a key has at least {LENGTH_MIN} characters and no spaces");
    }
    Ok(())
}

/// How a key that may be changed while the server runs is read again.
pub(super) fn look(config: &ServeConfig, store: &Opened, origin: Origin) -> Option<Look> {
    match (origin, store) {
        (Origin::Given, _) => None,
        (_, Opened::Sqlite(_)) => {
            let path = config.data_dir.join(FILE);
            Some(Box::new(move || {
                let text = read(&path).ok().flatten();
                let found = text.filter(|text| text.len() >= LENGTH_MIN);
                Box::pin(std::future::ready(found.map(|text| AdminKey::new(&text))))
            }))
        }
        (_, Opened::Postgres(store)) => {
            let store = Arc::clone(store);
            Some(Box::new(move || {
                let store = Arc::clone(&store);
                Box::pin(async move {
                    let hash = store.setting(SETTING).await.ok().flatten();
                    hash.and_then(|hash| AdminKey::from_hash(&hash))
                })
            }))
        }
    }
}

/// Puts the hash of a key into a shared database; the one that was there.
pub(crate) async fn put(store: &Postgres, key: &str) -> anyhow::Result<Vec<u8>> {
    let old = store.setting(SETTING).await?;
    let hash = AdminKey::new(key);
    store.put_setting(SETTING, hash.as_bytes()).await?;
    Ok(old.unwrap_or_default())
}

/// Whether a hash is that of a key.
pub(crate) fn is_of(hash: &[u8], key: &str) -> bool {
    AdminKey::new(key).as_bytes() == hash
}

fn given(key: &str) -> anyhow::Result<Obtained> {
    check(key)?;
    Ok(Obtained {
        origin: Origin::Given,
        ..Obtained::known(key)
    })
}

/// The key in the file, which is made if it is not there.
fn kept(path: &Path) -> anyhow::Result<Obtained> {
    let (text, is_new) = read_or_make(path, "the admin key", make)?;
    if !is_new {
        return found(path, &text);
    }
    Ok(Obtained {
        new: Some((text.clone(), path.to_owned())),
        ..Obtained::known(&text)
    })
}

/// The text of a key's file, and whether it was made just now.
pub(super) fn read_or_make(
    path: &Path,
    what: &str,
    make: impl FnOnce() -> String,
) -> anyhow::Result<(String, bool)> {
    if let Some(text) = read(path)? {
        return Ok((text, false));
    }
    let text = make();
    let written = write(path, &text)
        .with_context(|| format!("{what} cannot be written to {}", path.display()))?;
    match written {
        true => Ok((text, true)),
        // Another server has just made one in the same place.
        false => Ok((read(path)?.unwrap_or_default(), false)),
    }
}

pub(crate) fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(error).with_context(|| format!("the key in {} cannot be read", path.display()))
        }
    }
}

fn usable(path: &Path, key: &str) -> anyhow::Result<()> {
    if key.len() < LENGTH_MIN {
        bail!(
            "{} holds no key; remove the file to have a new one made",
            path.display()
        );
    }
    Ok(())
}

fn found(path: &Path, key: &str) -> anyhow::Result<Obtained> {
    usable(path, key)?;
    warn_if_open(path, "the admin key");
    Ok(Obtained::known(key))
}

/// Says so when others than the server's user can read a key.
pub(super) fn warn_if_open(path: &Path, what: &str) {
    let mode = path
        .metadata()
        .map_or(0, |metadata| metadata.permissions().mode());
    if mode & 0o077 != 0 {
        tracing::warn!(path = %path.display(), "others on this machine can read {what}");
    }
}

/// A new key.
pub(crate) fn make() -> String {
    let mut bytes = [0; BYTES];
    SystemEntropy::default().fill(&mut bytes);
    format!("rf_{}", BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// Written under another name first, so that there is never half a key.
fn write_partial(path: &Path, key: &str) -> std::io::Result<(PathBuf, File)> {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    // A stale one may have another owner or mode; ours is made anew.
    let _ = std::fs::remove_file(&partial);
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(&partial)?;
    writeln!(file, "{key}")?;
    file.sync_all()?;
    Ok((partial, file))
}

/// The name of a file is on disk too.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
}

/// Puts a key in place of the one in the file. It belongs to whom the old one did, so that the server
/// can read it though another user wrote it.
pub(crate) fn replace(path: &Path, key: &str) -> std::io::Result<()> {
    let (partial, file) = write_partial(path, key)?;
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let owned = path.metadata().or_else(|_| folder.metadata());
    let given = match owned {
        Ok(owned) if owned.uid() != file.metadata()?.uid() => {
            fchown(&file, Some(owned.uid()), Some(owned.gid()))
        }
        _ => Ok(()),
    };
    if let Err(error) = given.and_then(|()| std::fs::rename(&partial, path)) {
        let _ = std::fs::remove_file(&partial);
        return Err(error);
    }
    sync_folder(path)
}

/// On disk with its name before it is shown, since it is shown only once. Whether it was: a key that is
/// there stays.
fn write(path: &Path, key: &str) -> std::io::Result<bool> {
    let (partial, _) = write_partial(path, key)?;
    match std::fs::hard_link(&partial, path) {
        Ok(()) => std::fs::remove_file(&partial)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            std::fs::remove_file(&partial)?;
            return Ok(false);
        }
        // Not every file system has a second name for a file.
        Err(_) => std::fs::rename(&partial, path)?,
    }
    sync_folder(path)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_long_and_random() {
        let (a, b) = (make(), make());
        assert_ne!(a, b);
        assert_eq!((a.len(), a.starts_with("rf_")), (46, true));
    }

    #[test]
    fn it_is_kept_for_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        assert!(write(&path, "rf_0123456789abcdef").unwrap());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, MODE);
        let again = write(&path, "rf_another_that_comes_late").unwrap();
        assert!(!again, "the first one stays");
        let text = read(&path).unwrap().unwrap();
        assert_eq!(text, "rf_0123456789abcdef");
        assert!(found(&path, &text).is_ok() && found(&path, "").is_err());
        replace(&path, "rf_another_in_its_place").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), "rf_another_in_its_place");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, MODE);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_key_of_the_database_counts() {
        let path = Path::new("admin.key");
        let hash = AdminKey::new("rf_of_the_first_node");
        let same = Some(Obtained::known("rf_of_the_first_node"));
        let same = standing_key(hash.as_bytes(), same, path).unwrap();
        assert_eq!(same.origin, Origin::Kept);
        for own in [None, Some(Obtained::known("rf_of_another_life"))] {
            let standing = standing_key(hash.as_bytes(), own, path).unwrap();
            assert_eq!(standing.origin, Origin::Elsewhere);
            assert_eq!(standing.hash.as_bytes(), hash.as_bytes());
        }
        assert!(standing_key(b"short", None, path).is_err());
    }
}
